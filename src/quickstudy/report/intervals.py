"""Estimates, intervals and contrasts over the runs of a report.

Every interval is a 95 % percentile bootstrap over runs. Its random stream is named by the keys of the runs and the
purpose, so that the same records give the same report, whatever else stands in it.

Values are read as their score says: of one that is read by orders of magnitude, means are geometric, differences are of
decimal logarithms, and so is the standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import digest
from quickstudy.base.measure import MEAN, MEDIAN, PLAIN, Score
from quickstudy.report.model import Contrast, Curve, Estimate
from quickstudy.stats.bootstrap import Interval, mean_band, mean_interval
from quickstudy.stats.summary import summarise

Floats = NDArray[np.float64]
Values = Mapping[tuple[int, int], float]
"""Values of one score by (root seed, repetition); none is nan."""

RESAMPLES = 2000
CLOSEST = 0.02
"""Best control and oracle must be this far apart, or there is no scale between them."""
_NOT_FINITE = "a run has no finite score"


def stream(keys: Sequence[str], purpose: str) -> np.random.Generator:
    """The random stream for one interval."""
    return np.random.Generator(np.random.PCG64(int(digest([sorted(keys), purpose])[:32], 16)))


def estimate(values: Sequence[float], rng: np.random.Generator, score: Score = PLAIN) -> Estimate | None:
    """One score over runs, None when no run has a value."""
    known = [score.place(value) for value in values if not math.isnan(value)]
    if not known:
        return None
    found = summarise(known)
    finite = all(map(math.isfinite, known))
    several = finite and len(known) > 1
    interval = mean_interval(known, rng=rng, resamples=RESAMPLES) if several else None
    return Estimate(
        n=found.n,
        mean=score.value(found.mean) if finite else None,
        sd=found.sd if several else None,
        median=score.value(found.median),
        lower_quartile=score.value(found.lower_quartile),
        upper_quartile=score.value(found.upper_quartile),
        interval=Interval(*map(score.value, interval)) if interval else None,
    )


def middle(values: Values, score: Score = PLAIN) -> float:
    """What one learner's values are compared by: their mean, or the median where that is shown or one is infinite."""
    found = summarise([score.place(value) for value in values.values()])
    return score.value(found.mean if score.shown == MEAN and math.isfinite(found.mean) else found.median)


def band(quantity: str, unit: str, steps: Floats, values: Floats, rng: np.random.Generator) -> Curve:
    """The mean curve of (run, point) values with the interval of every point."""
    mean = values.mean(axis=0)
    low, high = mean_band(values, rng=rng, resamples=RESAMPLES) if len(values) > 1 else (mean, mean)
    parts = (tuple(part.tolist()) for part in (steps, mean, low, high))
    return Curve(quantity, unit, len(values), *parts)


def difference(
    one: Values, other: Values, rng: np.random.Generator, score: Score = PLAIN, statistic: str = MEAN
) -> Contrast:
    """Mean (or median) of one minus that of the other. Runs with the same seeds saw the same data and are compared in
    pairs. Infinite values have medians only; two that are infinite alike do not differ.
    """
    one, other = _places(one, score), _places(other, score)
    if statistic == MEDIAN:
        return _between_medians(one, other, rng)
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


def scaled(own: Values, control: Values, oracle: Values, rng: np.random.Generator, score: Score = PLAIN) -> Contrast:
    """(own - control) / (oracle - control) of the means: 0 at the best control, 1 at the oracle."""
    samples = [_places(sample, score) for sample in (own, control, oracle)]
    if not _all_finite(*samples):
        return Contrast(None, reason=_NOT_FINITE)
    mine, floor, ceiling = (float(np.mean(list(sample.values()))) for sample in samples)
    if abs(ceiling - floor) < CLOSEST:
        ends = f"the oracle ({ceiling:.3f}) and the best control ({floor:.3f})"
        logarithms = "" if score.value(1.0) == 1.0 else ", in decimal logarithms,"
        return Contrast(None, reason=f"{ends}{logarithms} are closer than {CLOSEST}")
    value = (mine - floor) / (ceiling - floor)
    n = min(map(len, samples))
    if n < 2:
        return Contrast(value, n=n)
    draws = _resampled_means(samples, rng)
    span = draws[2] - draws[1]
    kept = span != 0
    return Contrast(value, _interval((draws[0] - draws[1])[kept] / span[kept]) if kept.any() else None, n=n)


def _between_medians(one: Values, other: Values, rng: np.random.Generator) -> Contrast:
    if not one or not other:
        return Contrast(None, reason=_NOT_FINITE)
    n = min(len(one), len(other))
    middles = [np.array([summarise(list(values.values())).median]) for values in (one, other)]
    value = float(_less(*middles)[0])
    if n < 2:
        return Contrast(value, n=n)
    first, second = (_medians(draws) for draws in _resampled([one, other], rng))
    draws = np.sort(_less(first, second))
    # Order statistics, without anything in between: there is no way half to infinity.
    low, high = draws[[int(0.025 * len(draws)), -1 - int(0.025 * len(draws))]]
    return Contrast(value, Interval(float(low), float(high)), n=n)


def _medians(draws: Floats) -> Floats:
    """(resample,): the median of every row; where it lies between two values, the one below that is infinite, or the
    middle of the two.
    """
    ordered = np.sort(draws, axis=1)
    half = draws.shape[1] // 2
    low, high = ordered[:, (draws.shape[1] - 1) // 2], ordered[:, half]
    with np.errstate(invalid="ignore"):  # infinite on both sides; not taken
        middle = low + (high - low) / 2
    return np.where((low == high) | np.isinf(low), low, middle)


def _less(one: Floats, other: Floats) -> Floats:
    """One minus the other; 0 where the two are infinite alike."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, one - other)


def _places(values: Values, score: Score) -> Values:
    return {seed: score.place(value) for seed, value in values.items()}


def _resampled_means(samples: Sequence[Values], rng: np.random.Generator) -> list[Floats]:
    """The means of `_resampled`."""
    return [draws.mean(axis=1) for draws in _resampled(samples, rng)]


def _resampled(samples: Sequence[Values], rng: np.random.Generator) -> list[Floats]:
    """(resample, run): runs drawn again with replacement, for each sample; the same where all share their seeds."""
    arrays = [np.array([sample[seed] for seed in sorted(sample)], dtype=np.float64) for sample in samples]
    shared = all(set(sample) == set(samples[0]) for sample in samples)
    drawn: list[NDArray[np.int64]] = []
    for array in arrays:
        drawn.append(drawn[0] if shared and drawn else rng.integers(0, len(array), size=(RESAMPLES, len(array))))
    return [array[runs] for array, runs in zip(arrays, drawn, strict=True)]


def _interval(draws: Floats) -> Interval:
    low, high = np.quantile(draws, (0.025, 0.975))
    return Interval(float(low), float(high))


def _all_finite(*samples: Values) -> bool:
    return all(sample and all(map(math.isfinite, sample.values())) for sample in samples)
