"""Curves on common steps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.report.curves import MOST_POINTS, align

CURVES = st.lists(
    st.lists(
        st.tuples(st.integers(1, 500), st.floats(0, 1)),
        min_size=1,
        max_size=30,
        unique_by=lambda point: point[0],
    ),
    min_size=1,
    max_size=5,
)


@given(CURVES)
def test_every_value_is_the_last_one_seen_by_then(curves: list[list[tuple[int, float]]]) -> None:
    steps, values = align([([s for s, _ in curve], [v for _, v in curve]) for curve in curves])
    assert steps[0] == max(min(s for s, _ in curve) for curve in curves)
    assert steps[-1] == max(s for curve in curves for s, _ in curve)
    for run, curve in enumerate(curves):
        for point, step in enumerate(steps):
            seen = [(s, v) for s, v in curve if s <= step]
            assert values[run, point] == max(seen)[1]


def test_long_curves_are_thinned_but_keep_their_ends_and_their_values() -> None:
    steps, values = align([(np.arange(1, 10_001), np.arange(1, 10_001) / 10_000)])
    assert 50 < len(steps) <= MOST_POINTS
    assert (steps[0], steps[-1]) == (1, 10_000)
    np.testing.assert_array_equal(values[0], steps / 10_000)


def test_points_that_are_not_numbers_are_left_out() -> None:
    steps, values = align([([1, 2, 3], [0.1, np.nan, 0.3])])
    assert (steps.tolist(), values.tolist()) == ([1, 3], [[0.1, 0.3]])
    assert align([])[0].size == 0
    assert align([([], [])])[0].size == 0
