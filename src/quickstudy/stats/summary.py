"""The usual numbers about the values of several runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from quickstudy.base.errors import UsageError


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
