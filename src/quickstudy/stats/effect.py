"""How large a difference is, apart from whether it is certain."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from quickstudy.base.errors import UsageError
from quickstudy.stats.paired import paired_differences


def cohens_d_paired(first: ArrayLike, second: ArrayLike) -> float:
    """Cohen's d_z: mean of the differences first - second over their standard deviation (divisor n - 1).

    nan for a single pair, for differences that are not finite, and when all pairs are equal; infinite, with the
    sign of the difference, when all pairs differ by the same amount.
    """
    differences = paired_differences(first, second)
    if len(differences) < 2 or not np.isfinite(differences).all():
        return math.nan
    mean = float(differences.mean())
    if np.ptp(differences) == 0:
        return math.copysign(math.inf, mean) if mean else math.nan
    return mean / float(differences.std(ddof=1))


def cliffs_delta(first: ArrayLike, second: ArrayLike) -> float:
    """Cliff's delta: P(first > second) - P(first < second) over all pairs of a value of each, from -1 to 1.

    Needs no pairing and no scale, so infinite values (a threshold never reached) are welcome; nan when any is nan.
    (1 + delta) / 2 is the A of Vargha and Delaney: the chance that a run of the first is above one of the second.
    """
    one, other = np.asarray(first, dtype=np.float64), np.sort(np.asarray(second, dtype=np.float64))
    if one.ndim != 1 or other.ndim != 1 or not len(one) or not len(other):
        raise UsageError(f"an effect needs two lists of numbers, got shapes {one.shape} and {other.shape}")
    if np.isnan(one).any() or np.isnan(other).any():
        return math.nan
    below = np.searchsorted(other, one, side="left").sum()
    above = (len(other) - np.searchsorted(other, one, side="right")).sum()
    return float((below - above) / (len(one) * len(other)))
