"""What is read off a learning curve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.measures.curve import (
    Curve,
    confirmed,
    final_accuracy,
    log_area,
    maximum_accuracy,
    threshold_times,
)


def test_threshold_times():
    steps, accuracy = [2, 5, 9], [0.5, 0.4, 0.75]
    assert threshold_times(steps, accuracy, [0.0, 0.5, 0.6, 0.75, 0.8]).tolist() == [
        2,
        2,
        9,
        9,
        math.inf,
    ]
    assert threshold_times(steps, accuracy, [0.5, 0.75], strict=True).tolist() == [9, math.inf]


def test_threshold_times_in_another_unit():
    times = threshold_times([1, 8], [0.1, 0.9], [0.1, 0.9, 1.0], time=lambda steps: steps / 2 + 0.5)
    assert times.tolist() == [1, 4.5, math.inf]


def test_thresholds_in_any_order():
    assert threshold_times([1, 2], [0.2, 0.6], [0.6, 0.1, 0.9]).tolist() == [2, 1, math.inf]


def test_final_and_maximum():
    assert final_accuracy([1, 2, 3], [0.2, 0.9, 0.4]) == 0.4
    assert maximum_accuracy([1, 2, 3], [0.2, 0.9, 0.4]) == 0.9


def test_log_area_worked():
    # Two doublings with mean accuracy 0.5 and 0.75.
    assert log_area([1, 2, 4], [0.0, 1.0, 0.5], before=0.9, end=4) == pytest.approx(
        0.625, rel=1e-14
    )
    # One decade at 0, two on the way from 0 to 1.
    assert log_area([1, 10, 1000], [0.0, 0.0, 1.0], before=0.9, end=1000) == pytest.approx(
        1 / 3, rel=1e-14
    )
    # A decade before the first test, one on the way from 0 to 1, one after the last.
    assert log_area([10, 100], [0.0, 1.0], before=0.3, end=1000) == pytest.approx(
        (0.3 + 0.5 + 1) / 3, rel=1e-14
    )


def test_log_area_of_one_evaluation():
    assert log_area([7], [0.3], before=0.3, end=100) == pytest.approx(0.3)
    assert log_area([0, 10], [0.9, 0.3], before=0.5, end=100) == pytest.approx(0.4)
    assert log_area([7], [0.3], before=0.1, end=1) == 0.3
    assert math.isnan(log_area([0], [0.9], before=0.5, end=10))


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
    st.floats(0, 1),
    st.integers(1, 50),
    st.integers(0, 9),
)
def test_log_area_laws(accuracy, before, first, rest):
    steps = np.arange(first, first + len(accuracy))
    end = int(steps[-1]) + rest
    area = log_area(steps, accuracy, before=before, end=end)
    assert min([before, *accuracy]) - 1e-12 <= area <= max([before, *accuracy]) + 1e-12
    # Another evaluation between two, on the line that was assumed there, changes nothing; nor does
    # one after the last.
    longer = log_area([*steps, end + 1], [*accuracy, accuracy[-1]], before=before, end=end)
    assert longer == pytest.approx(area, rel=1e-9, abs=1e-12)


def test_confirmed():
    assert confirmed([0.9, 0.5, 0.6, 0.7]).tolist() == [0.5, 0.5, 0.6, 0.7]
    assert confirmed([0.4]).tolist() == [0.4]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_confirmed_is_never_above(accuracy):
    assert (confirmed(accuracy) <= np.array(accuracy)).all()


def test_curve_without_the_untrained():
    learning = Curve.of([0, 3, 5], [0.1, 0.2, 0.3]).learning()
    assert learning is not None
    assert learning.steps.tolist() == [3, 5]
    assert Curve.of([0], [0.1]).learning() is None


@pytest.mark.parametrize(
    ("steps", "accuracy", "words"),
    [
        ([-1, 1], [0.1, 0.1], "evaluation 1: step must be a whole number, 0 or more, got -1"),
        ([1, 2.5], [0.1, 0.1], "evaluation 2: step must be a whole number, 0 or more, got 2.5"),
        (
            [1, math.inf],
            [0.1, 0.1],
            "evaluation 2: step must be a whole number, 0 or more, got inf",
        ),
        ([3, 1], [0.1, 0.1], r"evaluation 2: step must be above the one before \(3\), got 1"),
        ([1], [-0.25], "evaluation 1: accuracy must be between 0 and 1, got -0.25"),
        ([[1, 2]], [[0.1, 0.2]], "equally long sequences"),
    ],
)
def test_no_curve(steps, accuracy, words):
    with pytest.raises(UsageError, match=words):
        Curve.of(steps, accuracy)
