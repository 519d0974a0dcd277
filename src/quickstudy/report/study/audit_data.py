"""What the sections of an audit share: the runs, by task, learner and convention, and how two of them compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.blocks import CONTROL
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.measure import PLAIN, Score
from quickstudy.base.study import StudyRow
from quickstudy.base.trace import Trace
from quickstudy.report.numbers import NOTHING, plus_minus
from quickstudy.report.results import Found, Runs, scores_of
from quickstudy.report.statistics import ABOVE, BELOW, Contrast, Values, advantage, difference, estimate, middle
from quickstudy.report.study.order import Order
from quickstudy.report.study.page import Part
from quickstudy.runs.plan import task_controls

CONVENTIONS = ("published", "corrected")


class Section(NamedTuple):
    """Parts of the page, and everything in them in plain JSON types."""

    parts: Sequence[Part]
    facts: Mapping[str, Any]


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

    def controls(self, row: StudyRow, convention: str, score: str) -> dict[str, Values]:
        """The values of every control of a task, the best by its mean first; the oracle is none. Nothing where nobody
        knows which is better.
        """
        found, read = {}, self.found.score(score)
        for name in task_controls(row.task):
            runs = self.runs(row, name, convention)
            values = scores_of(runs, score)
            if values and all(record.labels["role"] == CONTROL for record in runs.values()):
                found[name] = values
        ranked = sorted(found, key=lambda name: (read.sign * middle(found[name], read), name), reverse=True)
        return {name: found[name] for name in ranked} if read.sign else {}


def compare(one: Values, other: Values, read: Score = PLAIN) -> Contrast:
    """One minus the other, over the seeds they share: runs of one seed have seen the same data. Where a score is not
    finite, medians are compared.
    """
    first, second = _shared(one, other)
    return difference(first, second, read)


def compare_with_best(own: Values, controls: Mapping[str, Values], read: Score) -> Contrast:
    """How far a model is ahead of the best of the controls, the first, over the seeds that the two share."""
    best = next(iter(controls))
    mine, _ = _shared(own, controls[best])
    rules = {name: _shared(values, mine)[0] for name, values in controls.items()}
    return advantage(mine, rules, best, read)


def _shared(one: Values, other: Values) -> tuple[Values, Values]:
    """The values of the seeds that both have."""
    seeds = sorted(set(one) & set(other))
    return {seed: one[seed] for seed in seeds}, {seed: other[seed] for seed in seeds}


def oriented(standing: str, read: Score) -> str:
    """What a standing means: above is better, where lower is better too."""
    return {ABOVE: BELOW, BELOW: ABOVE}.get(standing, standing) if read.sign < 0 else standing


def mean_text(values: Values) -> str:
    """`0.213 ±0.020` over runs."""
    found = estimate(list(values.values()))
    return NOTHING if found is None else plus_minus(found.mean, found.interval)


def mean_of(values: Values) -> float | None:
    """The mean over runs, None when there are none."""
    return float(np.mean(list(values.values()))) if values else None


def pair_text(pair: Contrast) -> str:
    """`+0.012 ±0.005`."""
    if pair.value is None:
        return NOTHING
    return ("+" if pair.value > 0 else "") + plus_minus(pair.value, pair.interval)


def listed(names: Sequence[str]) -> str:
    """Names with commas, or "none"."""
    return ", ".join(names) if names else "none"
