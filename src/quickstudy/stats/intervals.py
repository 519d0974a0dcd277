"""Intervals of means and medians over few runs, in closed form: the same runs give the same
interval, nothing is drawn.

The interval of a mean is Student's, made longer on the side of the longer tail. With error e of the
mean, quantile q of Student's t, and skewness g of the mean (that of the runs over the root of their
number), it ends at

    mean - q e - s    and    mean + q e + s',    s + s' = |g| (1 + 2 q²) e / 6

where the whole of the second term is on the side to which the runs are skewed: Johnson's correction
(1978), of which only what lengthens is used. Few runs show less skewness than their source has, so
g is multiplied by 1 + 10 / n. At six runs that covers 93 % or more of normal, skewed and bounded
scores where 95 % is stated (`benchmarks/coverage.py`, and docs/explanation/intervals.md, with what
it does not cover); a percentile bootstrap covers 78 to 89 % there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

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


def student_interval(values: ArrayLike, *, level: float = LEVEL) -> Interval:
    """Student's interval of the mean, without the lengthening: for values on a scale where they are
    not skewed.

    Spans are averaged as ln(1 + span), which is such a scale. nan for fewer than two values.
    """
    runs = np.asarray(values, dtype=np.float64)
    if len(runs) < 2 or not np.isfinite(runs).all():
        return Interval(math.nan, math.nan)
    reach = student_quantile(len(runs) - 1, level) * float(runs.std(ddof=1)) / math.sqrt(len(runs))
    return Interval(float(runs.mean()) - reach, float(runs.mean()) + reach)


def combined_interval(
    samples: Sequence[ArrayLike], weights: Sequence[float], *, level: float = LEVEL
) -> Interval:
    """Interval of the sum of the samples' means, each times its weight: (1, -1) for a difference.

    The samples are independent of one another and may be of any sizes. The degrees of freedom are
    those of the smallest that varies: Welch's, which are more, cover 91 % of skewed scores at six
    runs.
    """
    _check(level)
    columns = [np.asarray(sample, dtype=np.float64) for sample in samples]
    for column in columns:
        if column.ndim != 1:
            raise UsageError(f"an interval needs one number per run, got shape {column.shape}")
        if not len(column):
            raise UsageError("an interval needs at least one run")
    runs = [column.tolist() for column in columns]
    if min(map(len, runs)) < 2 or not all(
        math.isfinite(value) for column in runs for value in column
    ):
        return Interval(math.nan, math.nan)
    parts = [
        (weight * mean, weight**2 * variance, weight**3 * third, len(column) - 1)
        for weight, column, (mean, variance, third) in zip(
            weights, runs, map(_moments, runs), strict=True
        )
    ]
    middle, variance, third = (sum(part[place] for part in parts) for place in range(3))
    if not variance > 0:
        return Interval(middle, middle)
    quantile = student_quantile(min(freedom for _, own, _, freedom in parts if own > 0), level)
    tail = (
        third / variance * (1 + 2 * quantile**2) / 6
    )  # skewness × error = third cumulant / variance
    reach = quantile * math.sqrt(variance)
    return Interval(middle - reach + min(tail, 0.0), middle + reach + max(tail, 0.0))


def mean_band(values: ArrayLike, *, level: float = LEVEL) -> Band:
    """Intervals of the mean over runs at every point, from values of shape (runs, points).

    level: the share of intervals that should hold the true mean. nan where the interval is unknown:
    a single run, or a point with a value that is not finite. The interval of runs that all agree is
    that one value; of two it is Student's, which is 12.7 errors to either side. The intervals are
    for each point by itself: they hold a whole true curve less often than `level`.
    """
    _check(level)
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 2 or not len(runs):
        raise UsageError(
            f"a band needs values of shape (runs, points) with at least one run, got {runs.shape}"
        )
    if len(runs) < 2:
        return Band(*np.full((2, runs.shape[1]), np.nan))
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite becomes nan
        middle, variance, third = _moments(list(runs))
        quantile = student_quantile(len(runs) - 1, level)
        reach = quantile * np.sqrt(variance)
        tail = (
            np.divide(third, variance, out=np.zeros_like(variance), where=variance > 0)
            * (1 + 2 * quantile**2)
            / 6
        )
        return Band(middle - reach + np.minimum(tail, 0.0), middle + reach + np.maximum(tail, 0.0))


def median_interval(values: ArrayLike, *, level: float = LEVEL) -> Interval:
    """Interval of the median between two of the values, which may be infinite: for any
    distribution, the true median lies outside with at most 1 - level. nan where even the least and
    the greatest hold it less often: below six values at 0.95.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    if ordered.ndim != 1 or not len(ordered):
        raise UsageError(
            f"an interval needs one number per run and at least one run, got shape {ordered.shape}"
        )
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
    """The t that the size of a Student variable exceeds with 1 - level. SciPy has it too, and takes
    0.2 s to import.

    >>> round(student_quantile(1), 3), round(student_quantile(5), 3)
    (12.706, 2.571)
    """
    low, high = 0.0, math.pi / 2
    # P(|T| <= t) is a finite sum of powers of the cosine of atan(t / sqrt(freedom)), and grows with
    # the angle.
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


def _moments(runs: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Of the mean of two runs or more, numbers or whole curves: itself, its variance, and its third
    cumulant, from the unbiased one of the runs, with 10 / n for what they do not show; that of two
    is 0.
    """
    count, first = len(runs), runs[0]
    # Around the first run, so that runs that agree give exactly their value and no spread.
    centre = first + sum(run - first for run in runs) / count
    apart = [run - centre for run in runs]
    variance = sum(one * one for one in apart) / ((count - 1) * count)
    share = (1 + UNSEEN / count) / ((count - 1) * (count - 2) * count) if count > 2 else 0.0
    return centre, variance, sum(one * one * one for one in apart) * share


def _check(level: float) -> None:
    if not 0 < level < 1:
        raise UsageError(f"level must be between 0 and 1, got {level}")


@dataclass(frozen=True)
class Summary:
    """n: number of runs; sd: sample standard deviation (divisor n - 1).

    Nothing is left out. One nan makes every number nan. Infinite values (a threshold never reached)
    are the largest there are: median and quartiles stay finite as long as they do not touch one;
    the mean is infinite, the sd nan.
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
        raise UsageError(
            f"a summary needs one number per run and at least one run, got shape {runs.shape}"
        )
    ordered = sorted(runs.tolist())
    if any(map(math.isnan, ordered)):
        return Summary(len(ordered), *[math.nan] * 7)
    finite = all(map(math.isfinite, ordered))
    mean = mean_of(ordered)
    squares = (
        math.fsum((value - mean) * (value - mean) for value in ordered) if finite else math.nan
    )
    return Summary(
        n=len(ordered),
        mean=mean,
        sd=math.sqrt(squares / (len(ordered) - 1)) if len(ordered) > 1 else math.nan,
        median=_quantile(ordered, 0.5),
        lower_quartile=_quantile(ordered, 0.25),
        upper_quartile=_quantile(ordered, 0.75),
        minimum=ordered[0],
        maximum=ordered[-1],
    )


def mean_of(values: Collection[float]) -> float:
    """The mean, to the last digit unless the sum has no place among the numbers."""
    try:
        return math.fsum(values) / len(values)
    except (OverflowError, ValueError):  # beyond the largest number; infinities of both signs
        return sum(values) / len(values)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear interpolation between order statistics, as NumPy's default, but also where one of them
    is infinite.
    """
    place = (len(ordered) - 1) * share
    below = math.floor(place)
    low, high = ordered[below], ordered[math.ceil(place)]
    # Between minus infinity and any number there is only the former.
    return low if low == high or math.isinf(low) else low + (place - below) * (high - low)
