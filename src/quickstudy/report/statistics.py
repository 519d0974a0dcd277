"""The statistics of a report, each once: a mean with its interval, a difference, what a learner is
ahead of the best control, its place between control and oracle, and how many runs a verdict needs.

Every interval is at 95 %, in closed form (`stats/intervals.py`): the same records give the same
intervals in every report. Intervals of means are cut at the ends of the score's range, those of
differences are not.

The metadata of a score decide how values are averaged: if it is read by orders of magnitude, means
are geometric, differences are of decimal logarithms, and so is the standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import digest
from quickstudy.base.measure import LOG, MEAN, MEDIAN, PLAIN, Score
from quickstudy.runs.results import Values
from quickstudy.stats.intervals import LEVEL as CONFIDENCE
from quickstudy.stats.intervals import (
    Interval,
    combined_interval,
    mean_interval,
    mean_of,
    median_interval,
    summarise,
)

ALPHA = 0.05
ABOVE, BELOW, LEVEL, UNTOLD = "above", "below", "level", "untold"
CLOSEST = 0.02
"""Best control and oracle must be this far apart, or there is no scale between them."""
_NOT_FINITE = "a run has no finite score"


def fewest(comparisons: int = 1) -> int:
    """The fewest pairs with which a test could tell two learners apart at 0.05, corrected for so
    many comparisons.

    An exact test of n pairs cannot give less than 2 / 2^n, and Holm multiplies the smallest by
    their number.

    >>> fewest(), fewest(10)
    (6, 9)
    """
    return math.ceil(1 + math.log2(comparisons / ALPHA))


FEWEST = fewest()
"""Runs, or pairs of runs, below which no verdict is given. A test could not separate so few
either.
"""


@dataclass(frozen=True)
class Estimate:
    """One score of one learner over its runs.

    n: runs that have a value (nan is none, infinity is one). mean, sd and interval (of the mean)
    are None where a value is infinite; sd and interval are None for one run. Median and quartiles
    may be infinite: "never" has a place in an order, though not in a sum. Where orders of magnitude
    count, the mean is the geometric one, a value of 0 has no place in it, and sd is of decimal
    logarithms.
    """

    n: int
    mean: float | None
    sd: float | None
    median: float
    lower_quartile: float
    upper_quartile: float
    interval: Interval | None

    def shown(self, score: Score) -> tuple[float, Interval | None]:
        """The number of a column: the mean with its interval, or the median where that is shown or
        there is no mean.
        """
        if score.shown == MEDIAN or self.mean is None:
            return self.median, None
        return self.mean, self.interval


@dataclass(frozen=True)
class Contrast:
    """A difference or ratio between learners. value is None where it is not defined, and reason
    then tells why; with a value, reason is the caveat of the interval.

    n: runs on each side, the fewer of the two; as many pairs where both have the same seeds.
    """

    value: float | None
    interval: Interval | None = None
    reason: str = ""
    n: int = 0

    @property
    def standing(self) -> str:
        """Above or below if the interval excludes 0, level if it contains 0, untold with too
        few runs.
        """
        if self.interval is None or self.n < FEWEST:
            return UNTOLD
        return ABOVE if self.interval.low > 0 else BELOW if self.interval.high < 0 else LEVEL

    def matters(self, score: Score) -> bool:
        """Whether its size is at least the smallest difference that does."""
        size = abs(self.value or 0.0)
        return size > 0 and size >= score.least


def stream(keys: Sequence[str], purpose: str) -> np.random.Generator:
    """The random stream for what is drawn about some runs: the same in every report."""
    return np.random.Generator(np.random.PCG64(int(digest([sorted(keys), purpose])[:32], 16)))


def estimate(values: Sequence[float], score: Score = PLAIN) -> Estimate | None:
    """One score over runs, None when no run has a value."""
    known = [score.place(value) for value in values if not math.isnan(value)]
    if not known:
        return None
    found = summarise(known)
    finite = all(map(math.isfinite, known))
    several = finite and len(known) > 1
    return Estimate(
        n=found.n,
        mean=score.value(found.mean) if finite else None,
        sd=found.sd if several else None,
        median=score.value(found.median),
        lower_quartile=score.value(found.lower_quartile),
        upper_quartile=score.value(found.upper_quartile),
        interval=_cut(mean_interval(known), found.mean, score) if several else None,
    )


def middle(values: Values, score: Score = PLAIN) -> float:
    """What one learner's values are compared by: their mean, or the median where that is shown or
    one is infinite.
    """
    found = summarise([score.place(value) for value in values.values()])
    return score.value(
        found.mean if score.shown == MEAN and math.isfinite(found.mean) else found.median
    )


def best(samples: Mapping[str, Values], score: Score = PLAIN) -> str | None:
    """The learner with the best mean or median, by name if two are equal; None without values,
    or if it is unknown which direction is better.
    """
    middles = {name: middle(values, score) for name, values in samples.items() if values}
    if not middles or not score.sign:
        return None
    return min(middles, key=lambda name: (-score.sign * middles[name], name))


def difference(
    one: Values, other: Values, score: Score = PLAIN, level: float = CONFIDENCE
) -> Contrast:
    """Mean of one minus that of the other, or median where the score is shown so. Runs with the
    same seeds saw the same data and are compared in pairs. If one of the two has an infinite value,
    medians are compared, even if no other learner has one; two equal infinities do not differ.
    """
    one, other = _places(one, score), _places(other, score)
    if not one or not other:
        return Contrast(None, reason=_NOT_FINITE)
    if score.shown == MEDIAN or not _all_finite(one, other):
        return _between_medians(one, other, level)
    value = mean_of(one.values()) - mean_of(other.values())
    n = min(len(one), len(other))
    if n < 2:
        return Contrast(value, n=n)
    if set(one) == set(other):
        return Contrast(
            value, mean_interval([one[seed] - other[seed] for seed in one], level=level), n=n
        )
    return Contrast(
        value,
        combined_interval([[*one.values()], [*other.values()]], [1.0, -1.0], level=level),
        n=n,
    )


def advantage(
    own: Values, controls: Mapping[str, Values], best: str, score: Score = PLAIN
) -> Contrast:
    """What a learner is ahead of the best control, positive when better. best: the one that looks
    best in these runs.

    Which control is truly the best is not known, so that the interval is of the distance from
    whichever it is: its low end is the lowest of those against each control; its high end the
    lowest of those at a level corrected for their number (Bonferroni). Then "above" means above all
    of them, and "below" is not reported merely because the luckiest was chosen.

    Few pairs have no interval of the median at that level. Their greatest difference is exceeded by
    the median with 1 / 2^n, so that it ends the interval where one such error below and one for
    each control make at most 5 % (two controls at six pairs). Where they make more, nothing
    corrects for the choice: the high end is then the highest of those against each control, which
    is below 0 for a learner below all of them; reason notes it.
    """

    def against(name: str, level: float = CONFIDENCE) -> Contrast:
        first, second = (own, controls[name]) if score.sign > 0 else (controls[name], own)
        return difference(first, second, score, level)

    rivals = [name for name, values in controls.items() if len(values) > 1]
    by_rival = {name: against(name) for name in {best: None, **dict.fromkeys(rivals)}}
    found = by_rival[best]
    corrected = 1 - (1 - CONFIDENCE) / max(1, len(rivals))
    gaps = [by_rival[name] for name in rivals if by_rival[name].interval]
    if found.interval is None or not gaps:
        return found
    low = min(gap.interval.low for gap in gaps if gap.interval)
    highs = [gap.interval.high for name in rivals if (gap := against(name, corrected)).interval]
    if highs:
        return Contrast(found.value, Interval(low, min(highs)), n=found.n)
    n = min(gap.n for gap in gaps)
    uncorrected = [gap.interval.high for gap in gaps if gap.interval]
    if (1 + len(gaps)) / 2**n <= 1 - CONFIDENCE:
        return Contrast(found.value, Interval(low, min(uncorrected)), n=found.n)
    reason = f"{n} runs are too few to correct for {len(gaps)} controls"
    return Contrast(found.value, Interval(low, max(uncorrected)), reason, found.n)


def scaled(own: Values, control: Values, oracle: Values, score: Score = PLAIN) -> Contrast:
    """(own - control) / (oracle - control) of the means: 0 at the best control, 1 at the oracle.

    Of errors, which are read by orders of magnitude, it is the share of the best control's error
    that is removed, from geometric means. On a logarithmic scale the place of an exact oracle,
    whose error is that of rounding, would set the number.

    The interval is that of a sum of the three means, to which the ratio comes near (delta method).
    """
    samples = [_places(sample, score) for sample in (own, control, oracle)]
    value, weights, reason = _scale(samples, score)
    n = min(map(len, samples))
    if value is None or n < 2:
        return Contrast(value, reason=reason, n=n if value is not None else 0)
    if all(set(sample) == set(samples[0]) for sample in samples):
        rows = np.array([[sample[seed] for sample in samples] for seed in samples[0]])
        around = mean_interval(rows @ weights)
    else:
        around = combined_interval([[*sample.values()] for sample in samples], weights.tolist())
    centre = math.fsum(weights * [mean_of(sample.values()) for sample in samples])
    return Contrast(value, Interval(value + around.low - centre, value + around.high - centre), n=n)


def scaled_mean(tasks: Sequence[tuple[Values, Values, Values, Score]]) -> Contrast:
    """The mean over tasks of `scaled`, each given as (own, control, oracle, score). Tasks that have
    no scale are left out, and reason counts them.

    The interval is over seeds, of which each counts with all its tasks at once: a seed that is
    lucky on several tasks is one piece of luck. It uses only the seeds that all learners have on
    every task; with fewer than two there is no interval.
    """
    sampled = [[_places(sample, score) for sample in three] for *three, score in tasks]
    scales = [_scale(samples, task[-1]) for samples, task in zip(sampled, tasks, strict=True)]
    known = [
        (samples, value, weights)
        for samples, (value, weights, _) in zip(sampled, scales, strict=True)
        if value is not None
    ]
    without = len(tasks) - len(known)
    reason = f"{without} of {len(tasks)} tasks have no scale" if without else ""
    if not known:
        return Contrast(None, reason=reason or "nothing was run")
    value = mean_of([one for _, one, _ in known])
    seeds = set.intersection(*(set(sample) for samples, *_ in known for sample in samples))
    if len(seeds) < 2:
        return Contrast(value, reason=reason, n=len(seeds))
    apart = [
        mean_of(
            [
                math.fsum(weights * [sample[seed] for sample in samples])
                for samples, _, weights in known
            ]
        )
        for seed in sorted(seeds)
    ]
    # Where some have more seeds than others, the sum over the common ones need not be 0.
    around, centre = mean_interval(apart), mean_of(apart)
    return Contrast(
        value,
        Interval(value + around.low - centre, value + around.high - centre),
        reason,
        len(seeds),
    )


def _scale(
    samples: Sequence[Values], score: Score
) -> tuple[float | None, NDArray[np.float64], str]:
    """Where the first mean lies between the two others, the weights of the three in the sum that
    the ratio comes near to, and why there is none.
    """
    if not _all_finite(*samples):
        return None, np.zeros(3), _NOT_FINITE
    mine, floor, ceiling = (mean_of(sample.values()) for sample in samples)
    if abs(ceiling - floor) < CLOSEST:
        ends = f"the oracle ({ceiling:.3f}) and the best control ({floor:.3f})"
        logarithms = "" if score.value(1.0) == 1.0 else ", in decimal logarithms,"
        return None, np.zeros(3), f"{ends}{logarithms} are closer than {CLOSEST}"
    own, control, oracle = map(score.value, (mine, floor, ceiling))
    value = (own - control) / (oracle - control)
    slopes = np.log(10) * np.array([own, control, oracle]) if score.read == LOG else np.ones(3)
    return value, slopes * np.array([1.0, value - 1.0, -value]) / (oracle - control), ""


def _between_medians(one: Values, other: Values, level: float) -> Contrast:
    """The interval of pairs is that of the median of their differences, and holds the difference of
    the medians; None below six. That of others is between the ends of the two medians' intervals,
    each at the level at which two that just do not touch are apart at the one wanted (two errors
    make one of sqrt(2)): 83 % for 95 %. None below four.
    """
    n = min(len(one), len(other))
    samples = list(one.values()), list(other.values())
    value = _less(*(summarise(sample).median for sample in samples))
    if set(one) == set(other):
        low, high = median_interval([_less(one[seed], other[seed]) for seed in one], level=level)
    else:
        normal = NormalDist()
        each = 2 * normal.cdf(normal.inv_cdf((1 + level) / 2) / math.sqrt(2)) - 1
        first, second = (median_interval(sample, level=each) for sample in samples)
        low, high = _less(first.low, second.high), _less(first.high, second.low)
    return Contrast(
        value, None if math.isnan(low) else Interval(min(low, value), max(high, value)), n=n
    )


def _less(one: float, other: float) -> float:
    """One minus the other; 0 where the two are infinite alike."""
    return 0.0 if one == other else one - other


def _cut(interval: Interval, mean: float, score: Score) -> Interval:
    """An interval of places as one of values, cut at the ends of the score's range unless the mean
    is beyond.
    """
    low, middle, high = map(score.value, (interval.low, mean, interval.high))
    return Interval(max(low, min(score.range[0], middle)), min(high, max(score.range[1], middle)))


def _places(values: Values, score: Score) -> Values:
    return {seed: score.place(value) for seed, value in values.items()}


def _all_finite(*samples: Values) -> bool:
    return all(sample and all(map(math.isfinite, sample.values())) for sample in samples)
