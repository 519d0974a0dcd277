"""Do two learners differ, given runs that share their seeds?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError

LARGEST_EXACT = 14
"""Up to this many pairs all 2^n sign flips are gone through."""


@dataclass(frozen=True)
class PairedTest:
    """difference: mean of first - second; p: two-sided; pairs: how many; exact: every sign flip was looked at.

    The smallest p that an exact test of n pairs can give is 2 / 2^n: below six pairs it cannot fall under 0.05.
    """

    difference: float
    p: float
    pairs: int
    exact: bool


def paired_differences(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """The differences first - second, pair by pair, of two equally long lists of at least one number."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape or not len(one):
        raise UsageError(f"pairs need two equally long lists of numbers, got shapes {one.shape} and {other.shape}")
    # inf - inf is nan, which is the honest answer and no reason for a warning.
    with np.errstate(invalid="ignore"):
        return one - other


def signed_ranks(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """The ranks of the sizes of the differences first - second, from 1, each with the sign of its difference.

    A test of them needs no more than an order: infinite differences are the largest, those that are level share the
    mean of their ranks, and a pair that does not differ, infinite alike or not, has rank 0.

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

    If the two did not differ, each pair could as well be the other way round: p is the share of the sign flips whose
    mean difference is at least as far from 0 as the observed one. Exact up to 14 pairs; beyond, `resamples` random
    flips and the observed one, (count + 1) / (resamples + 1). rng (a generator, or the seed of one) is used only there.
    difference and p are nan when a difference is not finite.
    """
    differences = paired_differences(first, second)
    if resamples < 1:
        raise UsageError(f"resamples must be at least 1, got {resamples}")
    pairs = len(differences)
    exact = pairs <= LARGEST_EXACT
    if not np.isfinite(differences).all():
        return PairedTest(math.nan, math.nan, pairs, exact)
    if exact:
        flips = (np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1
    else:
        flips = np.random.default_rng(rng).integers(0, 2, size=(resamples, pairs), dtype=np.int8)
    totals = np.abs((1 - 2.0 * flips) @ differences)
    # Equal totals may differ by the rounding of sums taken with other signs; they must count as equal.
    rounding = 1e-12 * np.abs(differences).sum()
    count = int((totals >= abs(differences.sum()) - rounding).sum())
    p = count / len(totals) if exact else (count + 1) / (resamples + 1)
    return PairedTest(float(differences.mean()), p, pairs, exact)
