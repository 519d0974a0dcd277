"""Intervals of means and medians over few runs, in closed form: the same runs give the same interval, nothing is drawn.

The interval of a mean is Student's, made longer on the side of the longer tail. With error e of the mean, quantile q
of Student's t, and skewness g of the mean (that of the runs over the root of their number), it ends at

    mean - q e - s    and    mean + q e + s',    s + s' = |g| (1 + 2 q²) e / 6

where the whole of the second term is on the side to which the runs are skewed: Johnson's correction (1978), of which
only what lengthens is used. Few runs show less skewness than their source has, so g is multiplied by 1 + 10 / n. At six
runs that covers 93 % or more of normal, skewed and bounded scores where 95 % is said (`benchmarks/coverage.py`, and
docs/explanation/intervals.md, with what it does not cover); a percentile bootstrap covers 78 to 89 % there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError

LEVEL = 0.95
UNSEEN = 10.0
"""Skewness that n runs do not show, as a share of what they show: this over n."""

Floats = NDArray[np.float64]


class Interval(NamedTuple):
    """Both ends of an interval of one number."""

    low: float
    high: float


class Band(NamedTuple):
    """Both ends of an interval of the mean at every point."""

    low: Floats
    high: Floats


def mean_interval(values: ArrayLike, *, level: float = LEVEL) -> Interval:
    """Interval of the mean of one number per run. Edge cases as in `mean_band`."""
    return combined_interval([values], [1.0], level=level)


def combined_interval(samples: Sequence[ArrayLike], weights: Sequence[float], *, level: float = LEVEL) -> Interval:
    """Interval of the sum of the samples' means, each times its weight: (1, -1) for a difference.

    The samples are independent of one another and may be of any sizes. The degrees of freedom are those of the smallest
    that varies: Welch's, which are more, cover 91 % of skewed scores at six runs.
    """
    columns = [np.asarray(sample, dtype=np.float64) for sample in samples]
    for column in columns:
        if column.ndim != 1:
            raise UsageError(f"an interval needs one number per run, got shape {column.shape}")
    band = _combined([column[:, None] for column in columns], weights, level)
    return Interval(float(band.low[0]), float(band.high[0]))


def mean_band(values: ArrayLike, *, level: float = LEVEL) -> Band:
    """Intervals of the mean over runs at every point, from values of shape (runs, points).

    level: the share of intervals that should hold the true mean. nan where the interval is unknown: a single run, or a
    point with a value that is not finite. The interval of runs that all agree is that one value; of two it is
    Student's, which is 12.7 errors to either side. The intervals are for each point by itself: they hold a whole true
    curve less often than `level`.
    """
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 2:
        raise UsageError(f"a band needs values of shape (runs, points) with at least one run, got {runs.shape}")
    return _combined([runs], [1.0], level)


def median_interval(values: ArrayLike, *, level: float = LEVEL) -> Interval:
    """Interval of the median between two of the values, which may be infinite: whatever their distribution, the true
    median lies outside with at most 1 - level. nan where even the least and the greatest hold it less often: below six
    values at 0.95.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if ordered.ndim != 1 or not len(ordered):
        raise UsageError(f"an interval needs one number per run and at least one run, got shape {ordered.shape}")
    _check(level)
    tail, left_out = 0.0, -1
    for below in range(len(ordered) // 2):
        tail += math.comb(len(ordered), below) / 2 ** len(ordered)
        if 2 * tail > 1 - level:
            break
        left_out = below
    if left_out < 0 or np.isnan(ordered).any():
        return Interval(math.nan, math.nan)
    return Interval(float(ordered[left_out]), float(ordered[-1 - left_out]))


@lru_cache(maxsize=1024)
def student_quantile(freedom: int, level: float = LEVEL) -> float:
    """The t that the size of a Student variable exceeds with 1 - level. SciPy has it too, and takes 0.2 s to import.

    >>> round(student_quantile(1), 3), round(student_quantile(5), 3)
    (12.706, 2.571)
    """
    low, high = 0.0, math.pi / 2
    # P(|T| <= t) is a finite sum of powers of the cosine of atan(t / sqrt(freedom)), and grows with the angle.
    for _ in range(52):
        angle = (low + high) / 2
        cosine, odd = math.cos(angle), freedom % 2
        term, total = math.sin(angle) * (cosine if odd else 1.0), 0.0
        for power in range(2 + odd, freedom + 1, 2):
            total += term
            term *= cosine**2 * (power - 1) / power
        share = (angle + total) * 2 / math.pi if odd else total
        low, high = (angle, high) if share < level else (low, angle)
    return math.tan((low + high) / 2) * math.sqrt(freedom)


def _combined(samples: Sequence[Floats], weights: Sequence[float], level: float) -> Band:
    """`combined_interval` at every point of samples of shape (runs, points)."""
    _check(level)
    if not all(map(len, samples)):
        raise UsageError("an interval needs at least one run")
    low, high = np.full((2, samples[0].shape[1]), np.nan)
    if min(map(len, samples)) < 2:
        return Band(low, high)
    known = np.isfinite(np.concatenate(samples)).all(axis=0)
    middle, variance, third = np.zeros((3, int(known.sum())))
    freedom = np.full(len(middle), max(map(len, samples)))
    for sample, weight in zip(samples, weights, strict=True):
        runs, count = sample[:, known], len(sample)
        # Around the first run, so that runs that agree give exactly their value and no spread.
        centre = runs[0] + (runs - runs[0]).sum(axis=0) / count
        apart = np.where((runs != runs[0]).any(axis=0), runs - centre, 0.0)
        own = weight**2 * (apart**2).sum(axis=0) / ((count - 1) * count)
        middle += weight * centre
        variance += own
        freedom = np.where(own > 0, np.minimum(freedom, count - 1), freedom)
        if count > 2:
            # The third cumulant of the mean, from the unbiased one of the runs; with 10 / n for what they do not show.
            cumulant = count * (apart**3).sum(axis=0) / ((count - 1) * (count - 2)) / count**2
            third += weight**3 * cumulant * (1 + UNSEEN / count)
    error = np.sqrt(variance)
    quantile = np.array([student_quantile(number, level) for number in np.where(variance > 0, freedom, 1).tolist()])
    # skewness × error = third cumulant / variance
    tail = np.divide(third, variance, out=np.zeros_like(third), where=variance > 0) * (1 + 2 * quantile**2) / 6
    low[known] = middle - quantile * error + np.minimum(tail, 0.0)
    high[known] = middle + quantile * error + np.maximum(tail, 0.0)
    return Band(low, high)


def _check(level: float) -> None:
    if not 0 < level < 1:
        raise UsageError(f"level must be between 0 and 1, got {level}")


@dataclass(frozen=True)
class Summary:
    """n: number of runs; sd: sample standard deviation (divisor n - 1).

    Nothing is left out. One nan makes every number nan. Infinite values (a threshold never reached) are the largest
    there are: median and quartiles stay finite as long as they do not touch one; the mean is infinite, the sd nan.
    """

    n: int
    mean: float
    sd: float
    median: float
    lower_quartile: float
    upper_quartile: float
    minimum: float
    maximum: float


def summarise(values: ArrayLike) -> Summary:
    """The summary of one number per run; sd is nan for a single run."""
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or not len(runs):
        raise UsageError(f"a summary needs one number per run and at least one run, got shape {runs.shape}")
    if np.isnan(runs).any():
        return Summary(len(runs), *[math.nan] * 7)
    ordered = np.sort(runs).tolist()
    spread = len(runs) > 1 and np.isfinite(runs).all()
    return Summary(
        n=len(runs),
        mean=float(runs.mean()) if np.isfinite(runs).all() else sum(ordered),
        sd=float(runs.std(ddof=1)) if spread else math.nan,
        median=_quantile(ordered, 0.5),
        lower_quartile=_quantile(ordered, 0.25),
        upper_quartile=_quantile(ordered, 0.75),
        minimum=ordered[0],
        maximum=ordered[-1],
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear interpolation between order statistics, as NumPy's default, but also where one of them is infinite."""
    place = (len(ordered) - 1) * share
    below = math.floor(place)
    low, high = ordered[below], ordered[math.ceil(place)]
    # Between minus infinity and any number there is no place but the former.
    return low if low == high or math.isinf(low) else low + (place - below) * (high - low)
