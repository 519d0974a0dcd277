"""Curves on common steps."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.report.curves import MOST_POINTS, align
from quickstudy.report.svg import Frame, shorten, spread

CURVES = st.lists(
    st.lists(
        st.tuples(st.integers(1, 500), st.floats(0, 1)), min_size=1, max_size=30, unique_by=lambda point: point[0]
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


@given(st.lists(st.floats(0, 100), max_size=12), st.floats(0.1, 30))
def test_labels_keep_order_distance_and_bounds(wanted: list[float], gap: float) -> None:
    placed = spread(wanted, gap, 0, 100)
    room = min(gap, 100 / max(len(wanted) - 1, 1))
    ordered = [place for _, place in sorted(zip(wanted, placed, strict=True))]
    assert ordered == sorted(ordered)
    assert all(-1e-6 <= place <= 100 + 1e-6 for place in placed)
    assert all(second - first >= room - 1e-6 for first, second in pairwise(ordered))


def test_labels_with_room_stay_where_they_are() -> None:
    assert spread([80.0, 10.0, 40.0], 15, 0, 100) == [80.0, 10.0, 40.0]


def test_frame_is_logarithmic_in_x() -> None:
    frame = Frame(0.0, 0.0, 300.0, 100.0, 1.0, 1000.0)
    assert [round(frame.x(step), 6) for step in (1, 10, 100, 1000)] == [0, 100, 200, 300]
    assert [frame.y(value) for value in (0, 0.25, 1, 2)] == [100, 75, 0, 0]
    assert [step for step, major in frame.ticks() if major] == [1, 10, 100, 1000]
    assert [step for step, major in frame.ticks() if not major] == [2, 5, 20, 50, 200, 500]


@given(st.text(max_size=40), st.integers(3, 20))
def test_short_labels_are_short(label: str, longest: int) -> None:
    assert len(shorten(label, longest)) <= max(longest, 0)
    assert len(label) > longest or shorten(label, longest) == label
