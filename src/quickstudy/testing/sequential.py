"""Whether a learner still learns, decided seed by seed: stop as soon as the result is clear."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from quickstudy.base.errors import UsageError

PASSED, FAILED, UNDECIDED, MORE = "passed", "failed", "undecided", "more"
LEAST_DEVIATION = 0.1
"""Spans of different seeds are taken to differ at least so much, in ln(1 + span): a few equal ones
say little.
"""


@dataclass(frozen=True)
class Rule:
    """When to stop, in terms of ln(1 + span).

    Passed: from `fewest` seeds on, as soon as their mean reaches the demand. Failed: as soon as the
    upper end of a t interval for the mean lies below the demand. Each of the looks may raise a
    false alarm with `alarm` over the number of looks, so that all of them together do with at most
    `alarm` where spans are normal. Undecided: neither within `most` seeds.
    """

    fewest: int = 2
    most: int = 8
    alarm: float = 0.01

    def __post_init__(self) -> None:
        if not 2 <= self.fewest <= self.most:
            raise UsageError(
                f"seeds must go from at least 2 to no fewer, got {self.fewest} to {self.most}"
            )
        if not 0 < self.alarm < 1:
            raise UsageError(f"alarm must lie between 0 and 1, got {self.alarm}")

    def decide(self, spans: Sequence[float], demand: float, before: Sequence[float] = ()) -> str:
        """What follows from the spans so far: PASSED, FAILED, UNDECIDED or MORE.

        Parameters
        ----------
        spans:
            One a seed.
        demand:
            The span that is demanded.
        before:
            Stored spans, where the demand is their mean: then it is uncertain as well.

        """
        count = len(spans)
        if count < self.fewest:
            return MORE
        own, wanted = np.log1p(spans), math.log1p(demand)
        if own.mean() >= wanted - 1e-9:
            return PASSED
        level = self.alarm / (self.most - self.fewest + 1)
        variance, freedom = _variance(own), count - 1
        square = variance / count
        if len(before) > 1:
            old = np.log1p(before)
            freedom = count + len(old) - 2
            pooled = ((count - 1) * variance + (len(old) - 1) * _variance(old)) / freedom
            square = pooled * (1 / count + 1 / len(old))
        if own.mean() + _quantile(freedom, level) * math.sqrt(square) < wanted:
            return FAILED
        return UNDECIDED if count >= self.most else MORE

    def go(
        self, run: Callable[[int], float], demand: float, before: Sequence[float] = ()
    ) -> tuple[str, list[float]]:
        """Run seed after seed until it is decided: the decision, and the spans."""
        spans: list[float] = []
        decision = MORE
        while decision == MORE:
            spans.append(run(len(spans)))
            decision = self.decide(spans, demand, before)
        return decision, spans


def mean_span(spans: Sequence[float]) -> float:
    """The mean of ln(1 + span), as a span."""
    return float(np.expm1(np.log1p(spans).mean()))


def _variance(values: np.ndarray) -> float:
    return max(float(values.var(ddof=1)), LEAST_DEVIATION**2)


@lru_cache
def _quantile(freedom: int, level: float) -> float:
    from scipy.stats import t

    return float(t.isf(level, freedom))
