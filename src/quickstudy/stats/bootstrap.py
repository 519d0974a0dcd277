"""Bootstrap intervals of a mean over runs, for one number per run or a whole learning curve at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError

METHODS = ("percentile", "bca")
_COLUMNS_AT_ONCE = 512


class Interval(NamedTuple):
    """Both ends of an interval of one mean."""

    low: float
    high: float


class Band(NamedTuple):
    """Both ends of an interval of the mean at every point."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]


def mean_interval(
    values: ArrayLike,
    *,
    rng: np.random.Generator | int,
    level: float = 0.95,
    resamples: int = 2000,
    method: str = "percentile",
) -> Interval:
    """Interval of the mean of one number per run. Arguments and edge cases as in `mean_band`."""
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1:
        raise UsageError(f"an interval needs one number per run, got shape {runs.shape}")
    band = mean_band(runs[:, None], rng=rng, level=level, resamples=resamples, method=method)
    return Interval(float(band.low[0]), float(band.high[0]))


def mean_band(
    values: ArrayLike,
    *,
    rng: np.random.Generator | int,
    level: float = 0.95,
    resamples: int = 2000,
    method: str = "percentile",
) -> Band:
    """Intervals of the mean over runs at every point, from values of shape (runs, points).

    rng: a generator, or the seed of one. level: the share of intervals that should hold the true mean. resamples: how
    many times as many runs are drawn again with replacement; a run is drawn whole, with all its points.
    method: `percentile`, or `bca` (corrected for bias and for a spread that changes with the mean; Efron 1987).

    nan where the interval is unknown: a single run, or a point with a value that is not finite. The interval of runs
    that all agree is that one value. The intervals are for each point by itself: they hold a whole true curve less
    often than `level`.
    """
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 2 or not len(runs):
        raise UsageError(f"a band needs values of shape (runs, points) with at least one run, got {runs.shape}")
    if not 0 < level < 1:
        raise UsageError(f"level must be between 0 and 1, got {level}")
    if resamples < 1:
        raise UsageError(f"resamples must be at least 1, got {resamples}")
    if method not in METHODS:
        raise UsageError(f'no bootstrap method "{method}"; known: {", ".join(METHODS)}')
    count, points = runs.shape
    low, high = np.full((2, points), np.nan)
    known = np.flatnonzero(np.isfinite(runs).all(axis=0)) if count > 1 else np.array([], dtype=np.int64)
    drawn = np.random.default_rng(rng).integers(0, count, size=(resamples, count))
    # How often each run was drawn: one matrix product then gives the means of all points.
    offsets = np.arange(resamples)[:, None] * count
    times = np.bincount((drawn + offsets).ravel(), minlength=resamples * count).reshape(resamples, count)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    for start in range(0, len(known), _COLUMNS_AT_ONCE):
        columns = known[start : start + _COLUMNS_AT_ONCE]
        part = runs[:, columns]
        # Means are taken around the observed mean, so that runs that agree give exactly their value.
        centre = part[0] + (part - part[0]).mean(axis=0)
        means = np.sort(times @ (part - centre) / count, axis=0)
        shares = (
            np.broadcast_to(tails[:, None], (2, len(columns))) if method == "percentile" else _bca(part, means, tails)
        )
        low[columns], high[columns] = centre + _quantiles(means, shares)
    return Band(low, high)


def _bca(runs: NDArray[np.float64], means: NDArray[np.float64], tails: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2, points): the shares of the resampled means (around the observed one) at which the corrected interval ends."""
    from scipy.special import ndtr, ndtri

    # A resample that is the runs again has the observed mean, up to rounding: with few runs that is a large share.
    rounding = 1e-12 * np.abs(runs).max(axis=0)
    below = ((means < -rounding).mean(axis=0) + (means <= rounding).mean(axis=0)) / 2
    # Leaving one run out of n moves the mean by (mean - value) / (n - 1); the factor cancels in the skewness.
    moved = runs - runs.mean(axis=0)
    spread = (moved**2).sum(axis=0) ** 1.5
    acceleration = np.divide((moved**3).sum(axis=0), 6 * spread, out=np.zeros_like(spread), where=spread > 0)
    # A resample share of exactly 0 or 1 would put the bias at infinity; half a resample is the nearest finite share.
    half = 0.5 / len(means)
    bias = ndtri(np.clip(below, half, 1 - half))
    shifted = bias + ndtri(tails)[:, None]
    return np.asarray(ndtr(bias + shifted / (1 - acceleration * shifted)), dtype=np.float64)


def _quantiles(ordered: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quantiles of sorted columns at different shares for each column, by linear interpolation."""
    place = (len(ordered) - 1) * shares
    below = np.floor(place).astype(np.int64)
    low = np.take_along_axis(ordered, below, axis=0)
    high = np.take_along_axis(ordered, np.minimum(below + 1, len(ordered) - 1), axis=0)
    return low + (place - below) * (high - low)
