"""Numbers over runs, against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quickstudy.base.measure import Score
from quickstudy.report.intervals import band, difference, estimate, scaled, stream


def rng() -> np.random.Generator:
    return stream(["a", "b"], "test")


def values(*numbers: float) -> dict[tuple[int, int], float]:
    return {(0, index): number for index, number in enumerate(numbers)}


def test_estimate_by_hand() -> None:
    found = estimate([4.0, 1.0, 3.0, 2.0], rng())
    assert found is not None
    assert (found.n, found.mean, found.median) == (4, 2.5, 2.5)
    assert (found.lower_quartile, found.upper_quartile) == (1.75, 3.25)
    assert found.sd == pytest.approx(math.sqrt(5 / 3))
    assert found.interval is not None
    # The standard error is 0.65 with the divisor the bootstrap uses (n): sqrt(1.25 / 4) = 0.56; 1.96 of them is 1.1.
    assert found.interval.low == pytest.approx(2.5 - 1.1, abs=0.2)
    assert found.interval.high == pytest.approx(2.5 + 1.1, abs=0.2)


def test_one_run_has_no_interval() -> None:
    found = estimate([0.5], rng())
    assert found is not None
    assert (found.n, found.mean, found.sd, found.interval) == (1, 0.5, None, None)


def test_never_has_a_median_but_no_mean() -> None:
    found = estimate([5.0, 3.0, math.inf], rng())
    assert found is not None
    assert (found.mean, found.interval, found.median, found.lower_quartile) == (None, None, 5.0, 4.0)
    assert found.upper_quartile == math.inf


def test_a_missing_value_is_no_value() -> None:
    found = estimate([math.nan, 2.0, 4.0], rng())
    assert found is not None
    assert (found.n, found.mean) == (2, 3.0)
    assert estimate([math.nan], rng()) is None


def test_pairs_that_always_differ_by_the_same_have_a_sharp_difference() -> None:
    one, other = values(0.3, 0.9, 0.5), values(0.2, 0.8, 0.4)
    found = difference(one, other, rng())
    assert found.value == pytest.approx(0.1)
    assert found.interval == pytest.approx((0.1, 0.1))


def test_runs_of_other_seeds_are_not_pairs() -> None:
    other = {(1, index): number for index, number in enumerate((0.2, 0.8, 0.4))}
    found = difference(values(0.3, 0.9, 0.5), other, rng())
    assert found.value == pytest.approx(0.1)
    assert found.interval is not None
    assert found.interval.low < -0.1
    assert found.interval.high > 0.3


def test_scaled_by_hand() -> None:
    found = scaled(values(0.4, 0.6), values(0.2, 0.2), values(1.0, 1.0), rng())
    assert found.value == pytest.approx((0.5 - 0.2) / (1.0 - 0.2))
    # Two runs, resampled: both 0.4 or both 0.6 in a quarter of the cases each.
    assert found.interval == pytest.approx((0.25, 0.5))


@pytest.mark.parametrize(("oracle", "defined"), [(0.519, False), (0.481, False), (0.521, True), (0.4, True)])
def test_scale_needs_room_between_control_and_oracle(oracle: float, defined: bool) -> None:
    found = scaled(values(0.6, 0.6), values(0.5, 0.5), values(oracle, oracle), rng())
    assert (found.value is not None) == defined
    assert defined or "closer than 0.02" in found.reason


def test_scale_of_single_runs_has_no_interval() -> None:
    found = scaled(values(0.5), values(0.0), values(1.0), rng())
    assert (found.value, found.interval) == (0.5, None)


def test_infinite_values_have_no_contrast() -> None:
    assert difference(values(math.inf), values(1.0), rng()).value is None
    assert scaled(values(1.0), values(math.inf), values(2.0), rng()).value is None


def test_band_by_hand() -> None:
    curve = band("accuracy", "sequences", np.array([1.0, 2.0]), np.array([[0.0, 0.5], [1.0, 0.5]]), rng())
    assert curve.mean == (0.5, 0.5)
    assert curve.low == (0.0, 0.5)
    assert curve.high == (1.0, 0.5)


def test_streams_depend_on_the_set_of_keys_and_the_purpose_only() -> None:
    first, again = stream(["a", "b"], "x").random(), stream(["b", "a"], "x").random()
    assert first == again
    assert first != stream(["a", "b"], "y").random()
    assert first != stream(["a", "c"], "x").random()


def test_medians_have_differences_where_means_have_none() -> None:
    never = math.inf
    found = difference(values(*[5.0] * 6), values(*[never] * 6), rng(), statistic="median")
    assert (found.value, found.interval, found.n) == (-never, (-never, -never), 6)
    alike = difference(values(never, never), values(never, never), rng(), statistic="median")
    assert (alike.value, alike.interval) == (0.0, (0.0, 0.0))
    mixed = difference(values(1.0, 2.0, 3.0, never), values(0.0, 0.0, 0.0, 0.0), rng(), statistic="median")
    assert mixed.value == 2.5
    assert mixed.interval is not None
    assert mixed.interval.high == never


def test_means_are_geometric_where_orders_of_magnitude_count() -> None:
    error = Score("error", better="lower", read="log")
    found = estimate([1e-9, 1e-7], rng(), error)
    assert found is not None
    assert (found.mean, found.median) == (pytest.approx(1e-8), pytest.approx(1e-8))
    assert found.interval == (pytest.approx(1e-9), pytest.approx(1e-7))
    assert difference(values(1e-9, 1e-9), values(1e-6, 1e-6), rng(), error).value == pytest.approx(-3)
    place = scaled(values(1e-3, 1e-3), values(1.0, 1.0), values(1e-4, 1e-4), rng(), error)
    assert place.value == pytest.approx(0.75)
    exact = estimate([0.0, 1e-9, 0.0], rng(), error)
    assert exact is not None
    assert (exact.mean, exact.median) == (None, 0.0)
