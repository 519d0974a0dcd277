"""WADE under other choices of what its formula leaves open, from stored curves, and what that does to an order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.trace import Trace
from quickstudy.measures.curve import threshold_times
from quickstudy.measures.learning_curve import published_preset, training_sequences
from quickstudy.measures.wade import mean_efficiency

COUNTS = (2, 5, 10, 20, 50, 100, 1000)
_ROUNDING = 1e-12
"""What a threshold is moved by, so that rounding never decides about an accuracy that lies on it."""


@dataclass(frozen=True)
class Choice:
    """What WADE leaves open; as it stands, the published choice for the language tasks.

    count: number of thresholds. inequality: `>`, with thresholds 0, 1/n ... (n - 1)/n, or `≥`, with 1/n ... 1, as the
    formula is printed. start: where 0 of that scale lies, at accuracy `0`, or at `chance`, the accuracy of the best
    constant answer. time: `published`, or `sequences` for every learner. weights: `height` on the scale, or `equal`.
    """

    count: int = 100
    inequality: str = ">"
    start: str = "0"
    time: str = "published"
    weights: str = "height"


PUBLISHED = Choice()
OTHERS = {
    "thresholds up to 1, reached at ≥": replace(PUBLISHED, inequality="≥"),
    "thresholds from chance on": replace(PUBLISHED, start="chance"),
    "T in sequences for all": replace(PUBLISHED, time="sequences"),
    "equal weights": replace(PUBLISHED, weights="equal"),
}
"""One thing changed at a time."""


def choices() -> Iterator[Choice]:
    """All of them, crossed."""
    for form, weights, count in itertools.product(_forms(), ("height", "equal"), COUNTS):
        yield replace(form, weights=weights, count=count)


@dataclass(frozen=True)
class Shift:
    """What another choice does to the mean scores of the models on one task.

    order: models, best first. tau: Kendall's, of the two orders; nan with fewer than two models. swapped: pairs that
    have changed places. change: the largest of a mean score, by whose model.
    """

    order: tuple[str, ...]
    tau: float
    swapped: tuple[tuple[str, str], ...]
    change: float
    model: str


def shift(reference: Mapping[str, float], other: Mapping[str, float]) -> Shift:
    """From the mean scores under the published choice to those under another; models without a number are left out.

    >>> shift({"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 0.2, "b": 0.25, "c": 0.1}).swapped
    (('a', 'b'),)
    """
    from scipy.stats import kendalltau

    known = [model for model in reference if not math.isnan(reference[model]) and not math.isnan(other[model])]
    swapped = tuple(
        pair
        for pair in itertools.combinations(sorted(known, key=lambda model: -reference[model]), 2)
        if (reference[pair[0]] - reference[pair[1]]) * (other[pair[0]] - other[pair[1]]) < 0
    )
    tau = math.nan
    if len(known) > 1:
        tau = float(kendalltau([reference[model] for model in known], [other[model] for model in known]).statistic)
    changes = {model: other[model] - reference[model] for model in known}
    largest = max(changes, key=lambda model: abs(changes[model]), default="")
    order = tuple(sorted(known, key=lambda model: -other[model]))
    return Shift(order, tau, swapped, changes.get(largest, math.nan), largest)


def run_scores(traces: Sequence[Trace]) -> dict[Choice, list[float]]:
    """Some runs under every choice; nan where the grid begins at chance and that is not known, or 1."""
    runs = [scores(trace) for trace in traces]
    return {choice: [run[choice] for run in runs] for choice in choices()}


def scores(trace: Trace) -> dict[Choice, float]:
    """WADE of one run under every choice."""
    return {choice: value for form in _forms() for choice, value in _scored(form, trace)}


def _forms() -> Iterator[Choice]:
    """The choices apart from number and weights of the thresholds."""
    for inequality, start, time in itertools.product((">", "≥"), ("0", "chance"), ("published", "sequences")):
        yield Choice(0, inequality, start, time)


def _scored(form: Choice, trace: Trace) -> Iterator[tuple[Choice, float]]:
    chance = float(trace.facts.get("constant", math.nan)) if form.start == "chance" else 0.0
    strict = form.inequality == ">"
    time = training_sequences(trace) if form.time == "sequences" else published_preset(trace).time
    # The thresholds of all grids at once: reading the curve is most of the work.
    grids = [_heights(count, strict) for count in COUNTS]
    thresholds = np.concatenate([chance + (1 - chance) * heights for heights in grids])
    # Rounding must not decide about an accuracy that lies on a threshold; k/n from 0 is exact as it is.
    thresholds += 0.0 if chance == 0 else _ROUNDING if strict else -_ROUNDING
    times = threshold_times(trace.arrays["step"], trace.arrays["accuracy"], thresholds, strict=strict, time=time)
    for heights, reached in zip(grids, np.split(times, np.cumsum(COUNTS)[:-1]), strict=True):
        for weights, shares in (("height", heights), ("equal", np.ones(len(heights)))):
            value = mean_efficiency(shares, reached) if chance < 1 else math.nan
            yield replace(form, count=len(heights), weights=weights), value


def _heights(count: int, strict: bool) -> NDArray[np.float64]:
    """Where the thresholds lie between the start of the scale and 1. k/n is the float nearest to the fraction."""
    first = 0 if strict else 1
    return np.arange(first, first + count) / count
