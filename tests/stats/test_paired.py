"""The paired permutation test: by hand, against SciPy, and its false alarms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.stats import paired
from quickstudy.stats.paired import (
    LARGEST_EXACT,
    paired_permutation_test,
    signed_ranks,
    stratified_sign_flips,
)


def test_three_pairs_by_hand():
    # Differences 1, 2, 3: only +++ and --- are as far from 0, so 2 of 8.
    found = paired_permutation_test([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], rng=0)
    assert (found.difference, found.p, found.pairs, found.exact) == (2.0, 0.25, 3, True)
    # Differences 1, 2, -3: the sum is 0, every flip is as far.
    assert paired_permutation_test([1.0, 2.0, 0.0], [0.0, 0.0, 3.0], rng=0).p == 1.0
    # Differences 1, 1, -1: |sum| is 1 or 3, never below 1.
    assert paired_permutation_test([1.0, 1.0, 0.0], [0.0, 0.0, 1.0], rng=0).p == 1.0


def test_equal_sums_count_as_equal():
    # 0.1 + 0.2 - 0.3 is not 0 in floats; whole numbers have no such trouble, and tenths of them
    # must give the same p.
    for whole in ([1, 2, -3], [-1, 2, 3], [5, -2, 3, 2, -5], [1, -4, 2, 2, 3, -1]):
        tenths = [value / 10 for value in whole]
        expected = paired_permutation_test(whole, np.zeros(len(whole)), rng=0).p
        assert paired_permutation_test(tenths, np.zeros(len(whole)), rng=0).p == expected


@pytest.mark.parametrize("pairs", [4, 9, LARGEST_EXACT])
def test_exact_the_same_as_scipy(pairs):
    rng = np.random.default_rng(pairs)
    first, second = rng.normal(0.4, size=pairs), rng.normal(size=pairs)
    reference = scipy.stats.permutation_test(
        (first, second), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    found = paired_permutation_test(first, second, rng=0)
    assert found.exact
    assert found.p == pytest.approx(reference.pvalue, rel=1e-12)
    assert found.difference == pytest.approx(reference.statistic, rel=1e-12)


def test_random_flips_agree_with_scipy():
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.3, size=LARGEST_EXACT + 6), rng.normal(size=LARGEST_EXACT + 6)
    found = paired_permutation_test(first, second, rng=2, resamples=20_000)
    reference = scipy.stats.permutation_test(
        (first, second),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(3),
    )
    assert not found.exact
    assert found.p == pytest.approx(reference.pvalue, abs=0.015)
    assert paired_permutation_test(first, second, rng=2, resamples=20_000) == found


def test_random_flips_never_give_zero():
    first = np.arange(1.0, 41.0)
    assert paired_permutation_test(first, np.zeros(40), rng=0, resamples=99).p == 0.01


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(-10, 10), st.floats(-10, 10)), min_size=1, max_size=10))
def test_laws(rows):
    first, second = zip(*rows, strict=True)
    found = paired_permutation_test(first, second, rng=0)
    assert 2 / 2 ** len(rows) <= found.p <= 1
    turned = paired_permutation_test(second, first, rng=0)
    assert (turned.difference, turned.p) == (-found.difference, found.p)


def test_false_alarms_are_as_rare_as_promised():
    rng = np.random.default_rng(8)
    alarms = [paired_permutation_test(*rng.normal(size=(2, 8)), rng=0).p <= 0.1 for _ in range(400)]
    assert 0.05 < np.mean(alarms) < 0.15


def test_not_finite():
    for value in (math.nan, math.inf):
        found = paired_permutation_test([1.0, value], [2.0, value], rng=0)
        assert math.isnan(found.p)
        assert math.isnan(found.difference)


def test_refused():
    for first, second in (([1.0], [1.0, 2.0]), ([], []), ([[1.0]], [[1.0]])):
        with pytest.raises(UsageError, match="two equally long lists"):
            paired_permutation_test(first, second, rng=0)
    with pytest.raises(UsageError, match="resamples must be at least 1, got 0"):
        paired_permutation_test([1.0], [2.0], rng=0, resamples=0)


def test_signed_ranks_by_hand():
    never = float("inf")
    assert signed_ranks([1, 5, never, never, 2], [3, 4, 1, never, 4]).tolist() == [
        -2.5,
        1,
        4,
        0,
        -2.5,
    ]
    assert signed_ranks([never, 1], [1, never]).tolist() == [1.5, -1.5]


def test_every_task_counts_the_same_and_every_pair_is_flipped():
    # Differences (1, 1) and (-100, 100): scaled, all have size 1 and their sum is 2.
    # The sum of 10 of 16 flips is not 0.
    found = stratified_sign_flips([[1.0, 1.0], [-100.0, 100.0]], rng=0)
    assert (found.difference, found.p, found.pairs, found.exact) == (0.5, 10 / 16, 4, True)
    assert (
        stratified_sign_flips([[0.0, 0.0], [1.0, 1.0]], rng=0).p == 0.5
    )  # a task that is level decides nothing
    assert math.isnan(stratified_sign_flips([[1.0], [math.inf]], rng=0).p)
    with pytest.raises(UsageError, match="at least one task"):
        stratified_sign_flips([], rng=0)


def test_flips_over_tasks_are_seldom_wrong_and_find_what_one_task_cannot():
    # Two tasks of very different spread and skew, six seeds each, corrected for three families.
    rng = np.random.default_rng(5)

    def found(shift):
        one, other = (
            rng.normal(shift, 1.0, 6),
            100 * (rng.exponential(size=6) - rng.exponential(size=6) + shift),
        )
        return stratified_sign_flips([one, other], rng=0).p <= 0.05 / 3

    assert np.mean([found(0.0) for _ in range(1000)]) < 0.03
    assert np.mean([found(2.0) for _ in range(300)]) > 0.9


def test_flips_that_are_drawn_in_parts_are_those_drawn_at_once(monkeypatch):
    differences = np.random.default_rng(1).normal(0.1, 1.0, size=(3, 17))
    whole = stratified_sign_flips(differences, rng=0, resamples=999)
    for most in (1, 210, 5_000):
        monkeypatch.setattr(paired, "FLIPS_AT_ONCE", most)
        assert stratified_sign_flips(differences, rng=0, resamples=999) == whole
