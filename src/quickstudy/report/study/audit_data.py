"""What the sections of an audit share: the runs, by task, learner and convention, and how two of them compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.study import StudyRow
from quickstudy.base.trace import Trace
from quickstudy.report.enough import standing
from quickstudy.report.intervals import RESAMPLES, Values, estimate, stream
from quickstudy.report.model import CONTROL
from quickstudy.report.numbers import NOTHING, plus_minus
from quickstudy.report.study.found import Found, Runs, scores_of
from quickstudy.report.study.order import Order
from quickstudy.report.study.page import Part
from quickstudy.runs.plan import task_controls
from quickstudy.stats.bootstrap import Interval, mean_interval

CONVENTIONS = ("published", "corrected")


class Section(NamedTuple):
    """Parts of the page, and everything in them in plain JSON types."""

    parts: Sequence[Part]
    facts: Mapping[str, Any]


class Pair(NamedTuple):
    """The mean of one minus another over common seeds, its 95 % interval, and how many pairs there are."""

    value: float | None = None
    interval: Interval | None = None
    pairs: int = 0

    @property
    def standing(self) -> str:
        """Above or below where the interval says so, level where it holds 0, untold with too few pairs."""
        return standing(self.interval, self.pairs)


@dataclass(frozen=True)
class Audit:
    """An order and what its folder holds."""

    order: Order
    found: Found

    @property
    def rows(self) -> Sequence[StudyRow]:
        """The tasks."""
        return self.order.study.rows

    @property
    def columns(self) -> list[str]:
        """The models: columns that have a learner."""
        return [column for column in self.order.study.columns if any(column in row.learners for row in self.rows)]

    def setting(self, key: str, default: Any = None) -> Any:
        """An entry of the study's settings."""
        return self.order.study.settings.get(key, default)

    def runs(self, row: StudyRow, learner: str | None, convention: str) -> Runs:
        """The finished runs of a learner on the task of a row."""
        return {} if learner is None else self.found.of(self.order.setting(row, learner, convention))

    def values(self, row: StudyRow, learner: str | None, convention: str, score: str) -> Values:
        """One score of these runs."""
        return scores_of(self.runs(row, learner, convention), score)

    def traces(self, row: StudyRow, learner: str | None, convention: str) -> dict[tuple[int, int], Trace]:
        """Their learning curves; those that cannot be read are left out, as `quickstudy doctor` will say."""
        found = {}
        for place, record in self.runs(row, learner, convention).items():
            try:
                found[place] = self.found.trace(record)
            except QuickstudyError:
                continue
        return found

    def best_control(self, row: StudyRow, convention: str, score: str) -> tuple[str, Values] | None:
        """The control of a task with the highest mean of a score, and its values; the oracle is none."""
        found = {}
        for name in task_controls(row.task):
            runs = self.runs(row, name, convention)
            values = scores_of(runs, score)
            if values and all(record.labels["role"] == CONTROL for record in runs.values()):
                found[name] = values
        best = max(found, key=lambda name: (float(np.mean(list(found[name].values()))), name), default=None)
        return None if best is None else (best, found[best])


def compare(one: Values, other: Values, purpose: str) -> Pair:
    """One minus the other, over the seeds they share: runs of one seed have seen the same data."""
    seeds = sorted(set(one) & set(other))
    if not seeds:
        return Pair()
    pairs = np.array([one[seed] - other[seed] for seed in seeds])
    if len(seeds) < 2 or not np.isfinite(pairs).all():
        return Pair(float(pairs.mean()), None, len(seeds))
    rng = stream([f"{root}/{repetition}" for root, repetition in seeds], purpose)
    return Pair(float(pairs.mean()), mean_interval(pairs, rng=rng, resamples=RESAMPLES), len(seeds))


def mean_text(values: Values) -> str:
    """`0.213 ±0.020` over runs."""
    found = estimate(list(values.values()), stream([f"{root}/{number}" for root, number in values], "audit"))
    return NOTHING if found is None else plus_minus(found.mean, found.interval)


def mean_of(values: Values) -> float | None:
    """The mean over runs, None when there are none."""
    return float(np.mean(list(values.values()))) if values else None


def pair_text(pair: Pair) -> str:
    """`+0.012 ±0.005`."""
    if pair.value is None:
        return NOTHING
    return ("+" if pair.value > 0 else "") + plus_minus(pair.value, pair.interval)


def listed(names: Sequence[str]) -> str:
    """Names with commas, or "none"."""
    return ", ".join(names) if names else "none"
