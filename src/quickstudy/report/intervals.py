"""Estimates, intervals and contrasts over the runs of a report.

Every interval is a 95 % percentile bootstrap over runs. Its random stream is named by the keys of the runs and the
purpose, so that the same records give the same report, whatever else stands in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import digest
from quickstudy.report.model import Contrast, Curve, Estimate
from quickstudy.stats.bootstrap import Interval, mean_band, mean_interval
from quickstudy.stats.summary import summarise

Floats = NDArray[np.float64]
Values = Mapping[tuple[int, int], float]
"""Finite values of one score by (root seed, repetition)."""

RESAMPLES = 2000
CLOSEST = 0.02
"""Best control and oracle must be this far apart, or there is no scale between them."""
_NOT_FINITE = "a run has no finite score"


def stream(keys: Sequence[str], purpose: str) -> np.random.Generator:
    """The random stream for one interval."""
    return np.random.Generator(np.random.PCG64(int(digest([sorted(keys), purpose])[:32], 16)))


def estimate(values: Sequence[float], rng: np.random.Generator) -> Estimate | None:
    """One score over runs, None when no run has a value."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return None
    found = summarise(known)
    finite = all(map(math.isfinite, known))
    several = finite and len(known) > 1
    return Estimate(
        n=found.n,
        mean=found.mean if finite else None,
        sd=found.sd if several else None,
        median=found.median,
        lower_quartile=found.lower_quartile,
        upper_quartile=found.upper_quartile,
        interval=mean_interval(known, rng=rng, resamples=RESAMPLES) if several else None,
    )


def band(quantity: str, unit: str, steps: Floats, values: Floats, rng: np.random.Generator) -> Curve:
    """The mean curve of (run, point) values with the interval of every point."""
    mean = values.mean(axis=0)
    low, high = mean_band(values, rng=rng, resamples=RESAMPLES) if len(values) > 1 else (mean, mean)
    parts = (tuple(part.tolist()) for part in (steps, mean, low, high))
    return Curve(quantity, unit, len(values), *parts)


def difference(one: Values, other: Values, rng: np.random.Generator) -> Contrast:
    """Mean of one minus mean of the other. Runs with the same seeds saw the same data and are compared in pairs."""
    if not _all_finite(one, other):
        return Contrast(None, reason=_NOT_FINITE)
    value = float(np.mean(list(one.values())) - np.mean(list(other.values())))
    n = min(len(one), len(other))
    if n < 2:
        return Contrast(value, n=n)
    if set(one) == set(other):
        pairs = [one[seed] - other[seed] for seed in sorted(one)]
        return Contrast(value, mean_interval(pairs, rng=rng, resamples=RESAMPLES), n=n)
    first, second = _resampled_means([one, other], rng)
    return Contrast(value, _interval(first - second), n=n)


def scaled(own: Values, control: Values, oracle: Values, rng: np.random.Generator) -> Contrast:
    """(own - control) / (oracle - control) of the means: 0 at the best control, 1 at the oracle."""
    samples = [own, control, oracle]
    if not _all_finite(*samples):
        return Contrast(None, reason=_NOT_FINITE)
    mine, floor, ceiling = (float(np.mean(list(sample.values()))) for sample in samples)
    if abs(ceiling - floor) < CLOSEST:
        return Contrast(
            None, reason=f"the oracle ({ceiling:.3f}) and the best control ({floor:.3f}) are closer than {CLOSEST}"
        )
    value = (mine - floor) / (ceiling - floor)
    n = min(map(len, samples))
    if n < 2:
        return Contrast(value, n=n)
    draws = _resampled_means(samples, rng)
    span = draws[2] - draws[1]
    kept = span != 0
    return Contrast(value, _interval((draws[0] - draws[1])[kept] / span[kept]) if kept.any() else None, n=n)


def _resampled_means(samples: Sequence[Values], rng: np.random.Generator) -> list[Floats]:
    """Means of runs drawn again with replacement, for each sample; the same runs where all share their seeds."""
    arrays = [np.array([sample[seed] for seed in sorted(sample)], dtype=np.float64) for sample in samples]
    shared = all(set(sample) == set(samples[0]) for sample in samples)
    drawn: list[NDArray[np.int64]] = []
    for array in arrays:
        drawn.append(drawn[0] if shared and drawn else rng.integers(0, len(array), size=(RESAMPLES, len(array))))
    return [array[runs].mean(axis=1) for array, runs in zip(arrays, drawn, strict=True)]


def _interval(draws: Floats) -> Interval:
    low, high = np.quantile(draws, (0.025, 0.975))
    return Interval(float(low), float(high))


def _all_finite(*samples: Values) -> bool:
    return all(sample and all(map(math.isfinite, sample.values())) for sample in samples)
