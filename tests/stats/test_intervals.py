"""Intervals of few runs: Student's where nothing is skewed, by hand where something is, and as wide
as they must be.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.stats.intervals import (
    combined_interval,
    mean_band,
    mean_interval,
    median_interval,
    student_quantile,
    summarise,
)

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
SCORES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, size: rng.normal(size=size), 0.0),
    "exponential": (lambda rng, size: rng.exponential(size=size), 1.0),
    "near the top": (lambda rng, size: rng.beta(9, 1, size), 0.9),
    "near 0": (lambda rng, size: rng.beta(0.5, 4, size), 0.5 / 4.5),
    "at both ends": (lambda rng, size: rng.beta(0.5, 0.5, size), 0.5),
    "accuracy of 240": (lambda rng, size: rng.binomial(240, 0.8, size) / 240, 0.8),
    "heavy tails": (lambda rng, size: rng.standard_t(3, size), 0.0),
}


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 6, 9, 30, 99, 1000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_quantiles_are_those_of_scipy(freedom: int, level: float) -> None:
    assert student_quantile(freedom, level) == pytest.approx(
        scipy.special.stdtrit(freedom, (1 + level) / 2), rel=1e-12
    )


def test_values_without_skewness_have_students_interval() -> None:
    values = np.array([0.2, 0.4, 0.5, 0.6, 0.8, 0.5])
    reference = scipy.stats.t.interval(0.95, 5, loc=0.5, scale=scipy.stats.sem(values))
    assert mean_interval(values) == pytest.approx(reference)


def test_the_longer_tail_has_the_longer_side_by_hand() -> None:
    # Mean 2; squares of the distances 4 1 1 0 0 16: variance 22/5, error² 22/30. Cubes -8 -1 -1 0 0
    # 64 sum to 54: third cumulant 6 × 54 / (5 × 4), that of the mean a 36th of it, which 1 + 10 / 6
    # makes 1.2.
    error, quantile = math.sqrt(22 / 30), 2.5705818356363
    longer = 1.2 / (22 / 30) * (1 + 2 * quantile**2) / 6
    low, high = mean_interval([0.0, 1.0, 1.0, 2.0, 2.0, 6.0])
    assert low == pytest.approx(2 - quantile * error)
    assert high == pytest.approx(2 + quantile * error + longer)
    # Upside down, the other side is the longer one.
    assert mean_interval([0.0, -1.0, -1.0, -2.0, -2.0, -6.0]) == pytest.approx((-high, -low))


def test_two_runs_have_students_interval() -> None:
    assert mean_interval([0.0, 1.0]) == pytest.approx(
        (0.5 - 12.7062 / 2, 0.5 + 12.7062 / 2), rel=1e-5
    )


@pytest.mark.parametrize("count", [2, 3, 7])
def test_runs_that_agree(count: int) -> None:
    assert mean_interval([0.1] * count) == (0.1, 0.1)


def test_unknown_for_a_single_run_and_where_a_value_is_not_finite() -> None:
    assert all(map(math.isnan, mean_interval([0.4])))
    curves = np.array([[0.1, math.nan, 0.3], [0.2, 0.2, math.inf], [0.4, 0.1, 0.2]])
    band = mean_band(curves)
    assert np.isnan(band.low).tolist() == np.isnan(band.high).tolist() == [False, True, True]
    assert (band.low[0], band.high[0]) == mean_interval(curves[:, 0])
    assert all(map(math.isnan, combined_interval([[0.1, 0.2], [0.3]], [1.0, -1.0])))


def test_independent_samples_by_hand() -> None:
    # Errors² 1/3 and 1/30 of samples without skewness; 2 degrees of freedom, those of the smaller
    # one.
    one, other = [1.0, 2.0, 3.0], [0.1, 0.1, 0.5, 0.5, 0.3]
    error = math.sqrt(1 / 3 + np.var(other, ddof=1) / 5)
    low, high = combined_interval([one, other], [1.0, -1.0])
    assert (low, high) == pytest.approx((1.7 - 4.302653 * error, 1.7 + 4.302653 * error), rel=1e-6)
    # One that does not vary has no say about the freedom.
    alone = mean_interval(other)
    assert combined_interval([[1.0, 1.0], other], [1.0, -1.0]) == pytest.approx(
        (1 - alone.high, 1 - alone.low)
    )


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20),
    st.floats(-10, 10).filter(lambda factor: abs(factor) > 1e-3),
    st.floats(-1e3, 1e3),
)
def test_an_interval_moves_with_its_values(
    values: list[float], factor: float, shift: float
) -> None:
    low, high = mean_interval(values)
    moved = [factor * value + shift for value in values]
    ends = sorted(factor * end + shift for end in (low, high))
    assert mean_interval(moved) == pytest.approx(tuple(ends), rel=1e-6, abs=1e-6)
    assert low <= np.mean(values) + 1e-9
    assert high >= np.mean(values) - 1e-9


@pytest.mark.parametrize("runs", [6, 10])
@pytest.mark.parametrize("name", SCORES)
def test_covers_the_true_mean(name: str, runs: int) -> None:
    draw, mean = SCORES[name]
    values = draw(np.random.default_rng(11), (runs, 20_000))
    band = mean_band(values)
    covered = ((band.low <= mean) & (mean <= band.high)).mean()
    assert 0.93 <= covered < 0.99
    # Not by being as wide as one likes: Student's, at most half as wide again on average.
    student = 2 * student_quantile(runs - 1) * values.std(axis=0, ddof=1) / math.sqrt(runs)
    assert (band.high - band.low).mean() < 1.75 * student.mean()


def test_the_median_lies_between_two_values() -> None:
    # Outside the least and the greatest of six with 2 / 64; the next ones would be 14 / 64.
    assert median_interval([3.0, 1.0, math.inf, 2.0, 5.0, 4.0]) == (1.0, math.inf)
    assert all(map(math.isnan, median_interval([1.0, 2.0, 3.0, 4.0, 5.0])))
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], level=0.75) == (2.0, 5.0)
    # Of nine, the second and the eighth: 2 (1 + 9) / 512 outside.
    assert median_interval(list(range(9))) == (1, 7)


def test_the_median_is_covered_whatever_the_distribution() -> None:
    values = np.random.default_rng(3).exponential(size=(4000, 12))
    found = np.array([median_interval(row) for row in values])
    assert ((found[:, 0] <= math.log(2)) & (math.log(2) <= found[:, 1])).mean() == pytest.approx(
        1 - 158 / 4096, abs=0.01
    )


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        ([], {}, "at least one run"),
        ([[0.1]], {}, "one number per run, got shape"),
        ([0.1, 0.2], {"level": 1.0}, "level must be between 0 and 1, got 1.0"),
    ],
)
def test_refused(values: list[float], options: dict[str, float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        mean_interval(values, **options)


@pytest.mark.parametrize(
    "values", [[1e308] * 3, [-1e308] * 3, [math.inf, 1.0], [math.inf, -math.inf], [1e308, -1e308]]
)
def test_the_largest_numbers_have_a_summary(values: list[float]) -> None:
    found = summarise(values)
    assert found.mean in (0.0, math.inf, -math.inf) or math.isnan(found.mean)
    assert (found.minimum, found.maximum) == (min(values), max(values))
    mean_interval(values)
