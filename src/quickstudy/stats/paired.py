"""Do two learners differ, given runs that share their seeds: the test, the size of the effect, many
tests at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError

FLIPS_AT_ONCE = 4_000_000
"""Signs in memory at a time."""
LARGEST_EXACT = 14
"""Up to this many pairs all 2^n sign flips are gone through."""


@dataclass(frozen=True)
class PairedTest:
    """difference: mean of first - second; p: two-sided; pairs: how many; exact: every sign flip was
    looked at.

    The smallest p that an exact test of n pairs can give is 2 / 2^n: below six pairs it cannot fall
    under 0.05.
    """

    difference: float
    p: float
    pairs: int
    exact: bool


def paired_differences(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """The differences first - second, pair by pair, of two equally long lists of at least one
    number.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape or not len(one):
        raise UsageError(
            f"pairs need two equally long lists of numbers, got shapes {one.shape} and"
            f" {other.shape}"
        )
    # inf - inf is nan, which is the honest answer and no reason for a warning.
    with np.errstate(invalid="ignore"):
        return one - other


def signed_ranks(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """The ranks of the sizes of the differences first - second, from 1, each with the sign of its
    difference.

    A test of them needs no more than an order: infinite differences are the largest, those that are
    level share the mean of their ranks, and a pair that does not differ, infinite alike or not, has
    rank 0.

    >>> signed_ranks([5.0, np.inf, 1.0, np.inf], [3.0, 2.0, 2.0, np.inf]).tolist()
    [2.0, 3.0, -1.0, 0.0]
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    differences = np.where(one == other, 0.0, paired_differences(one, other))
    sizes = np.abs(differences[differences != 0])
    below, above = (sizes[:, None] > sizes).sum(axis=1), (sizes[:, None] >= sizes).sum(axis=1)
    ranks = np.zeros(len(differences))
    ranks[differences != 0] = (below + above + 1) / 2
    return np.sign(differences) * ranks


def paired_permutation_test(
    first: ArrayLike, second: ArrayLike, *, rng: np.random.Generator | int, resamples: int = 9999
) -> PairedTest:
    """Permutation test of the mean difference of pairs, two-sided.

    If the two did not differ, each pair could as well be the other way round: p is the share of the
    sign flips whose mean difference is at least as far from 0 as the observed one. Exact up to 14
    pairs; beyond, `resamples` random flips and the observed one, (count + 1) / (resamples + 1). rng
    (a generator, or the seed of one) is used only there. difference and p are nan when a difference
    is not finite.
    """
    differences = paired_differences(first, second)
    if resamples < 1:
        raise UsageError(f"resamples must be at least 1, got {resamples}")
    if not np.isfinite(differences).all():
        return PairedTest(math.nan, math.nan, len(differences), len(differences) <= LARGEST_EXACT)
    return _flipped(differences, rng, resamples)


def stratified_sign_flips(
    strata: Sequence[ArrayLike], *, rng: np.random.Generator | int, resamples: int = 99_999
) -> PairedTest:
    """Do two learners differ over several tasks? strata: by task, the differences of its pairs,
    positive where the first is better.

    Runs of different tasks have separate random streams, so that every pair of every task can be
    flipped by itself: n pairs on each of k tasks have 2^(n k) flips, exact up to 14 pairs in all,
    `resamples` random ones beyond. Every task counts the same: its differences are divided by their
    root mean square, which no flip changes. `difference` is the mean of what remains, between -1
    and 1. It is nan, and so is p, where a difference is not finite.

    >>> # All six of one sign: 2 of 64.
    >>> stratified_sign_flips([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]], rng=0).p
    0.03125
    """
    if not len(strata):
        raise UsageError("a test over tasks needs at least one task")
    tasks = [np.asarray(one, dtype=np.float64) for one in strata]
    if any(one.ndim != 1 or not len(one) for one in tasks):
        raise UsageError(
            f"every task needs a list of differences, got shapes {[one.shape for one in tasks]}"
        )
    if resamples < 1:
        raise UsageError(f"resamples must be at least 1, got {resamples}")
    pairs = sum(map(len, tasks))
    if not all(np.isfinite(one).all() for one in tasks):
        return PairedTest(math.nan, math.nan, pairs, pairs <= LARGEST_EXACT)
    sizes = [math.sqrt(float(np.mean(one**2))) or 1.0 for one in tasks]
    return _flipped(
        np.concatenate([one / size for one, size in zip(tasks, sizes, strict=True)]), rng, resamples
    )


def _flipped(
    differences: NDArray[np.float64], rng: np.random.Generator | int, resamples: int
) -> PairedTest:
    """The share of sign flips that are as far from 0 as the differences themselves."""
    pairs = len(differences)
    exact = pairs <= LARGEST_EXACT
    if exact:
        flips = (np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1
        totals = np.abs((1 - 2.0 * flips) @ differences)
    else:
        rng, totals = np.random.default_rng(rng), np.empty(resamples)
        # In parts of so many that the stream is that of one array (four numbers share a word of
        # it): 100,000 flips of 1,000 pairs at once take 2 GB.
        most = max(4, FLIPS_AT_ONCE // pairs // 4 * 4)
        for start in range(0, resamples, most):
            size = min(most, resamples - start), pairs
            flips = rng.integers(0, 2, size=size, dtype=np.int8)
            totals[start : start + most] = np.abs((1 - 2.0 * flips) @ differences)
    # Equal totals may differ by the rounding of sums taken with other signs; they must count as
    # equal.
    rounding = 1e-12 * np.abs(differences).sum()
    count = int((totals >= abs(differences.sum()) - rounding).sum())
    p = count / len(totals) if exact else (count + 1) / (resamples + 1)
    return PairedTest(float(differences.mean()), p, pairs, exact)


def cohens_d_paired(first: ArrayLike, second: ArrayLike) -> float:
    """Cohen's d_z: mean of the differences first - second over their standard deviation (divisor n
    - 1).

    nan for a single pair, for differences that are not finite, and when all pairs are equal;
    infinite, with the sign of the difference, when all pairs differ by the same amount.
    """
    differences = paired_differences(first, second)
    if len(differences) < 2 or not np.isfinite(differences).all():
        return math.nan
    mean = float(differences.mean())
    if np.ptp(differences) == 0:
        return math.copysign(math.inf, mean) if mean else math.nan
    return mean / float(differences.std(ddof=1))


def cliffs_delta(first: ArrayLike, second: ArrayLike) -> float:
    """Cliff's delta: P(first > second) - P(first < second) over all pairs of a value of each, from
    -1 to 1.

    Needs no pairing and no scale, so infinite values (a threshold never reached) are welcome; nan
    when any is nan. (1 + delta) / 2 is the A of Vargha and Delaney: the chance that a run of the
    first is above one of the second.
    """
    one, other = np.asarray(first, dtype=np.float64), np.sort(np.asarray(second, dtype=np.float64))
    if one.ndim != 1 or other.ndim != 1 or not len(one) or not len(other):
        raise UsageError(
            f"an effect needs two lists of numbers, got shapes {one.shape} and {other.shape}"
        )
    if np.isnan(one).any() or np.isnan(other).any():
        return math.nan
    below = np.searchsorted(other, one, side="left").sum()
    above = (len(other) - np.searchsorted(other, one, side="right")).sum()
    return float((below - above) / (len(one) * len(other)))


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """p-values corrected for the number of comparisons by Holm's step-down method: the smallest p
    times m, the next times m - 1 ..., none below the one before.

    Holds the chance of any false positive as Bonferroni does, for any dependence, and is never the
    weaker one. Adjusted values are in the order of the input; nan (no test could be made) stays
    nan and still counts as a comparison.

    >>> holm([0.04, 0.01, 0.03])
    array([0.06, 0.03, 0.06])
    """
    values = _checked(p_values)
    order = np.argsort(values)  # nan last
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _checked(p_values: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1:
        raise UsageError(f"p-values must be a list, got shape {values.shape}")
    wrong = np.flatnonzero((values < 0) | (values > 1))
    if len(wrong):
        raise UsageError(
            f"p-value {wrong[0] + 1} must be between 0 and 1, got {float(values[wrong[0]])}"
        )
    return values
