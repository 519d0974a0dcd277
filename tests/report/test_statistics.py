"""Numbers over runs, against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quickstudy.base.measure import Score
from quickstudy.report.curves import mean_curve
from quickstudy.report.statistics import (
    ABOVE,
    BELOW,
    LEVEL,
    advantage,
    best,
    difference,
    estimate,
    scaled,
    stream,
)

MEDIAN = Score("steps", better="lower", shown="median")


def values(*numbers: float) -> dict[tuple[int, int], float]:
    return {(0, index): number for index, number in enumerate(numbers)}


def test_estimate_by_hand() -> None:
    found = estimate([4.0, 1.0, 3.0, 2.0])
    assert found is not None
    assert (found.n, found.mean, found.median) == (4, 2.5, 2.5)
    assert (found.lower_quartile, found.upper_quartile) == (1.75, 3.25)
    assert found.sd == pytest.approx(math.sqrt(5 / 3))
    assert found.interval is not None
    # Student's quantile of three degrees; nothing is skewed.
    half = 3.182446 * math.sqrt(5 / 3 / 4)
    assert found.interval == pytest.approx((2.5 - half, 2.5 + half))
    # A score ends where its range does, unless the mean itself is beyond.
    narrow = estimate([4.0, 1.0, 3.0, 2.0], Score("s", better="higher", range=(1.0, 3.0)))
    assert narrow is not None
    assert narrow.interval == (1.0, 3.0)
    beyond = estimate([4.0, 1.0, 3.0, 2.0], Score("s", better="higher", range=(0.0, 2.0)))
    assert beyond is not None
    assert beyond.interval == pytest.approx((2.5 - half, 2.5))


def test_one_run_has_no_interval() -> None:
    found = estimate([0.5])
    assert found is not None
    assert (found.n, found.mean, found.sd, found.interval) == (1, 0.5, None, None)


def test_never_has_a_median_but_no_mean() -> None:
    found = estimate([5.0, 3.0, math.inf])
    assert found is not None
    assert (found.mean, found.interval, found.median, found.lower_quartile) == (
        None,
        None,
        5.0,
        4.0,
    )
    assert found.upper_quartile == math.inf


def test_a_missing_value_is_no_value() -> None:
    found = estimate([math.nan, 2.0, 4.0])
    assert found is not None
    assert (found.n, found.mean) == (2, 3.0)
    assert estimate([math.nan]) is None


def test_pairs_that_always_differ_by_the_same_have_a_sharp_difference() -> None:
    one, other = values(0.3, 0.9, 0.5), values(0.2, 0.8, 0.4)
    found = difference(one, other)
    assert found.value == pytest.approx(0.1)
    assert found.interval == pytest.approx((0.1, 0.1))


def test_runs_of_other_seeds_are_not_pairs() -> None:
    other = {(1, index): number for index, number in enumerate((0.2, 0.8, 0.4))}
    found = difference(values(0.3, 0.9, 0.5), other)
    assert found.value == pytest.approx(0.1)
    assert found.interval is not None
    assert found.interval.low < -0.1
    assert found.interval.high > 0.3


def test_scaled_by_hand() -> None:
    found = scaled(values(0.4, 0.6), values(0.2, 0.2), values(1.0, 1.0))
    assert found.value == pytest.approx((0.5 - 0.2) / (1.0 - 0.2))
    # Only its own mean varies, with an error of 0.1, on a scale of 0.8.
    half = 12.7062 * 0.1 / 0.8
    assert found.interval == pytest.approx((0.375 - half, 0.375 + half), rel=1e-4)


def test_the_scale_of_other_seeds_has_the_errors_of_all_three() -> None:
    own, control, oracle = [0.5, 0.6, 0.7], [0.1, 0.2, 0.3], [0.9, 1.0, 1.1]
    apart = [
        {(root, seed): value for seed, value in enumerate(found)}
        for root, found in enumerate((own, control, oracle))
    ]
    found = scaled(*apart)
    # s = 0.5: the derivatives are 1, -(1 - s) and -s, over 0.8; every mean has an error of 0.1 /
    # sqrt(3).
    error = 0.1 / math.sqrt(3) * math.sqrt(1 + 0.25 + 0.25) / 0.8
    assert found.interval == pytest.approx(
        (0.5 - 4.302653 * error, 0.5 + 4.302653 * error), rel=1e-6
    )
    # In pairs, what the three have in common is no error of the scale.
    assert scaled(values(*own), values(*control), values(*oracle)).interval == pytest.approx(
        (0.5, 0.5)
    )


def test_above_is_above_every_control_and_below_is_corrected_for_their_number() -> None:
    own = values(0.50, 0.51, 0.52, 0.50, 0.51, 0.52)
    flat = values(*[0.45] * 6)
    noisy = values(0.30, 0.60, 0.35, 0.55, 0.40, 0.44)
    higher = Score("s", better="higher")
    alone = advantage(own, {"flat": flat}, "flat", higher)
    assert alone == difference(own, flat)
    assert alone.standing == ABOVE
    # The noisy one has the lower mean and may yet be the better rule.
    both = advantage(own, {"flat": flat, "noisy": noisy}, "flat", higher)
    assert (both.value, both.standing) == (alone.value, LEVEL)
    assert both.interval is not None
    assert both.interval.low == pytest.approx(difference(own, noisy).interval.low)
    assert both.interval.high == pytest.approx(difference(own, flat, level=0.975).interval.high)
    # Where lower is better, all is the other way round.
    lower = Score("s", better="lower")
    mirrored = [{seed: -value for seed, value in found.items()} for found in (own, flat, noisy)]
    turned = advantage(mirrored[0], {"flat": mirrored[1], "noisy": mirrored[2]}, "flat", lower)
    assert turned.interval == pytest.approx(both.interval)


def test_the_best_goes_by_the_direction_and_ties_by_name() -> None:
    samples = {"b": values(0.2, 0.4), "a": values(0.3, 0.3), "c": values(0.1, 0.9), "none": {}}
    assert best(samples, Score("s", better="higher")) == "c"
    assert best(samples, Score("s", better="lower")) == "a"
    assert best(samples) is None
    assert best({"none": {}}, Score("s", better="higher")) is None
    # Infinity has no place in a sum: where one value is infinite, the median speaks.
    assert (
        best({"a": values(1.0, math.inf, 2.0), "b": values(3.0, 3.0)}, Score("s", better="lower"))
        == "a"
    )


def test_a_learner_that_is_as_good_as_its_controls_is_seldom_called_below_them() -> None:
    rng, below, above = np.random.default_rng(8), 0, 0
    higher = Score("s", better="higher")
    for _ in range(1500):
        own, *rules = (values(*row) for row in rng.normal(size=(5, 6)))
        controls = dict(zip("abcd", rules, strict=True))
        best = max(controls, key=lambda name: sum(controls[name].values()))
        standing = advantage(own, controls, best, higher).standing
        below, above = below + (standing == BELOW), above + (standing == ABOVE)
    # Nominal 0.025; with the best one alone, a bootstrap said below in 0.175 of the cases.
    assert below / 1500 < 0.035
    assert above / 1500 < 0.035


@pytest.mark.parametrize(
    ("oracle", "defined"), [(0.519, False), (0.481, False), (0.521, True), (0.4, True)]
)
def test_scale_needs_room_between_control_and_oracle(oracle: float, defined: bool) -> None:
    found = scaled(values(0.6, 0.6), values(0.5, 0.5), values(oracle, oracle))
    assert (found.value is not None) == defined
    assert defined or "closer than 0.02" in found.reason


def test_scale_of_single_runs_has_no_interval() -> None:
    found = scaled(values(0.5), values(0.0), values(1.0))
    assert (found.value, found.interval) == (0.5, None)


def test_infinite_values_are_compared_by_medians_and_have_no_scale() -> None:
    assert difference(values(math.inf, 3.0, 1.0), values(1.0, 2.0, 1.0)).value == 2.0
    assert difference({}, values(1.0)).value is None
    assert scaled(values(1.0), values(math.inf), values(2.0)).value is None


def test_band_by_hand() -> None:
    curve = mean_curve([([1, 2], [0.0, 0.5]), ([1, 2], [1.0, 0.5])], "accuracy", "sequences")
    assert curve is not None
    assert curve.mean == (0.5, 0.5)
    assert curve.low == (0.0, 0.5)
    assert curve.high == (1.0, 0.5)
    assert curve.deviation == pytest.approx((math.sqrt(0.5), 0.0))


def test_streams_depend_on_the_set_of_keys_and_the_purpose_only() -> None:
    first, again = stream(["a", "b"], "x").random(), stream(["b", "a"], "x").random()
    assert first == again
    assert first != stream(["a", "b"], "y").random()
    assert first != stream(["a", "c"], "x").random()


def test_medians_have_differences_where_means_have_none() -> None:
    never = math.inf
    found = difference(values(*[5.0] * 6), values(*[never] * 6), MEDIAN)
    assert (found.value, found.interval, found.n) == (-never, (-never, -never), 6)
    alike = difference(values(never, never), values(never, never), MEDIAN)
    # Below six pairs even the least and the greatest difference hold the true one less often than
    # is said.
    assert (alike.value, alike.interval) == (0.0, None)
    assert difference(values(*[never] * 6), values(*[never] * 6), MEDIAN).interval == (0.0, 0.0)
    mixed = difference(values(1.0, 2.0, 3.0, 4.0, 5.0, never), values(*[0.0] * 6), MEDIAN)
    assert (mixed.value, mixed.interval) == (3.5, (1.0, never))
    others = {(1, seed): 0.0 for seed in range(4)}
    assert difference(values(1.0, 2.0, 3.0, never), others, MEDIAN).interval == (1.0, never)


def test_six_pairs_of_medians_are_corrected_for_two_controls() -> None:
    steps = Score("steps", better="lower", shown="median")
    own, slow = values(*[50.0] * 6), values(*[1000.0] * 6)
    never, swift = values(*[math.inf] * 6), values(*[1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
    ahead = advantage(own, {"slow": slow, "never": never}, "slow", steps)
    assert (ahead.value, ahead.interval, ahead.standing) == (950.0, (950.0, 950.0), ABOVE)
    behind = advantage(own, {"slow": slow, "swift": swift}, "swift", steps)
    assert (behind.interval, behind.standing) == ((-49.0, -47.0), BELOW)
    # Four errors of 1 / 64 are more than 5 %: below the best is then said of who is below them all,
    # and no other.
    three = advantage(own, {"slow": slow, "swift": swift, "never": never}, "swift", steps)
    assert (three.interval, three.standing) == ((-49.0, math.inf), LEVEL)
    assert three.reason == "6 runs are too few to correct for 3 controls"
    last = advantage(never, {"slow": slow, "swift": swift, "own": own}, "swift", steps)
    assert last.standing == BELOW


def test_means_are_geometric_where_orders_of_magnitude_count() -> None:
    error = Score("error", better="lower", read="log")
    found = estimate([1e-9, 1e-7], error)
    assert found is not None
    assert (found.mean, found.median) == (pytest.approx(1e-8), pytest.approx(1e-8))
    # One order of magnitude to either side is the error of the two logarithms.
    assert found.interval == (
        pytest.approx(10 ** (-8 - 12.7062), rel=1e-3),
        pytest.approx(10 ** (-8 + 12.7062), rel=1e-3),
    )
    assert difference(values(1e-9, 1e-9), values(1e-6, 1e-6), error).value == pytest.approx(-3)
    exact = estimate([0.0, 1e-9, 0.0], error)
    assert exact is not None
    assert (exact.mean, exact.median) == (None, 0.0)


def test_an_exact_oracle_does_not_set_the_scale_of_an_error() -> None:
    error = Score("error", better="lower", read="log")
    rounded = [
        scaled(values(0.2, 0.2), values(0.5, 0.5), values(end, end), error).value
        for end in (1e-9, 1e-15)
    ]
    assert rounded == pytest.approx([0.6, 0.6])
    # 0.1 and 0.4 have the geometric mean 0.2; the error of their logarithm is that of log10 2.
    found = scaled(values(0.1, 0.4), values(0.5, 0.5), values(0.1, 0.1), error)
    half = 12.7062 * math.log(2) * 0.2 / 0.4
    assert found.value == pytest.approx(0.75)
    assert found.interval == pytest.approx((0.75 - half, 0.75 + half), rel=1e-4)
