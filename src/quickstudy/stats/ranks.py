"""Several learners over several tasks: mean ranks, Friedman's test, Nemenyi's critical difference;
the chance that one improves on another; the share of runs above every level.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError
from quickstudy.stats.paired import cliffs_delta

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """ranks: (learner,) mean over tasks, 1 is the best. p: of Friedman's test that no learner is
    better than another, nan where it cannot be made. critical: mean ranks further apart than this
    differ at 5 % (Nemenyi); nan likewise.
    """

    ranks: Floats
    tasks: int
    p: float
    critical: float


def ranking(values: ArrayLike) -> Ranking:
    """From values (task, learner) of which higher is better; those that are level share the mean of
    their ranks.

    Friedman's chi-square is corrected for ties, and approximate: with few tasks and learners it
    is weak. The critical difference is q sqrt(k (k + 1) / (6 N)), with q the 5 % point of the
    studentised range of k learners over the root of 2 (Demsar 2006).

    >>> ranking([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0]]).ranks.tolist()
    [1.0, 2.5, 2.5]
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise UsageError(f"ranks need values of shape (tasks, learners), got {table.shape}")
    if np.isnan(table).any():
        raise UsageError("ranks need a value of every learner on every task")
    ranks = np.stack([_ranked(-row) for row in table])
    tasks, learners = table.shape
    means = ranks.mean(axis=0)
    if tasks < 2 or learners < 2:
        return Ranking(means, tasks, math.nan, math.nan)
    from scipy.stats import chi2, studentized_range

    spread = (ranks - (learners + 1) / 2) ** 2
    within = spread.sum() / (tasks * (learners - 1))  # ties make it smaller
    statistic = tasks * ((means - (learners + 1) / 2) ** 2).sum() / within if within > 0 else 0.0
    quantile = float(studentized_range.ppf(0.95, learners, np.inf)) / math.sqrt(2)
    critical = quantile * math.sqrt(learners * (learners + 1) / (6 * tasks))
    return Ranking(means, tasks, float(chi2.sf(statistic, learners - 1)), critical)


def _ranked(row: Floats) -> Floats:
    """Ranks from 1, the smallest first."""
    below, level = (row[:, None] > row).sum(axis=1), (row[:, None] == row).sum(axis=1)
    return np.asarray(below + (level + 1) / 2, dtype=np.float64)


def improvement(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]], rng: np.random.Generator, resamples: int = 2000
) -> tuple[float, float, float]:
    """The chance that a run of the first is better than one of the second on a task drawn by
    chance, and its 95 % interval: (value, low, high). pairs: by task, the runs of both, higher is
    better.

    The mean over tasks of P(first > second) + P(level) / 2 (Agarwal et al. 2021). The interval is
    by resampling runs within each task; tasks are fixed, so it does not extend to tasks
    that were not run.
    """
    if not pairs:
        raise UsageError("an improvement needs at least one task")
    samples = [(np.asarray(one, np.float64), np.asarray(other, np.float64)) for one, other in pairs]
    value = float(np.mean([_chance(*both) for both in samples]))
    drawn = [
        np.mean([_chance(*(rng.choice(part, len(part)) for part in both)) for both in samples])
        for _ in range(resamples)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return value, float(low), float(high)


def _chance(one: Floats, other: Floats) -> float:
    return (1 + cliffs_delta(one, other)) / 2


def performance_profile(values: Mapping[str, Sequence[float]], levels: ArrayLike) -> Floats:
    """(level,) the share of runs above each level, every task counting the same. values: runs by
    task.

    >>> performance_profile({"a": [0.2, 0.8], "b": [1.0]}, [0.0, 0.5, 0.9]).tolist()
    [1.0, 0.75, 0.5]
    """
    wanted = np.asarray(levels, dtype=np.float64)
    if not values:
        raise UsageError("a performance profile needs at least one task")
    shares = [
        (np.asarray(runs, np.float64)[:, None] > wanted).mean(axis=0) for runs in values.values()
    ]
    return np.asarray(np.mean(shares, axis=0))
