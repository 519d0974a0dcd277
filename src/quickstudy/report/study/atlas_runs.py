"""The runs behind an atlas: every rule on the choosing seeds, the chosen rules on the reported ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from quickstudy.base.errors import UsageError
from quickstudy.base.legend import Legend, read_legend
from quickstudy.base.study import Study, StudyRow
from quickstudy.report.results import Found, Runs, scores_of
from quickstudy.report.statistics import Values
from quickstudy.report.study.order import Order
from quickstudy.runs.job import Setting


def choosing_seeds(study: Study) -> int:
    """How many seeds the rules are chosen on."""
    return int(study.settings.get("choosing_seeds", 10))


def published_rules(study: Study, row: StudyRow) -> list[int]:
    """The best rules of a task as published, the best first; none for a task of which nothing was published."""
    return list(study.settings.get("published", {}).get(row.task, []))


def criterion_of(study: Study) -> str:
    """The score by which the publication chose."""
    return str(study.settings.get("criterion", study.score))


def rules_of(study: Study) -> list[int]:
    """The rules of a study: its columns are named by them."""
    if not all(column.isdigit() and int(column) < 256 for column in study.columns):
        raise UsageError(f'{study.id}: a column of an atlas is a rule from 0 to 255, got "{study.columns[0]}"')
    return sorted(map(int, study.columns))


def setting_of(order: Order, row: StudyRow, rule: int, root: int) -> Setting:
    """One rule on one task."""
    learner = row.learner(str(rule), order.convention)
    if learner is None:
        raise UsageError(f"{order.study.id}: no learner for rule {rule} under the convention {order.convention}")
    return Setting(row.task, learner, order.convention, root, row.protocol)


@dataclass(frozen=True)
class TaskRuns:
    """The runs of one task by rule. choosing: under the root seed after the reported one, as many as the study says.

    scores: those of which means are asked for.
    """

    row: StudyRow
    scores: Sequence[str]
    choosing: Mapping[int, Runs]
    reported: Mapping[int, Runs]

    def values(self, rule: int, score: str, reported: bool = False) -> Values:
        """One score of the runs of a rule."""
        return scores_of((self.reported if reported else self.choosing).get(rule, {}), score)

    @cached_property
    def compared(self) -> list[int]:
        """The rules with the most choosing runs: one with fewer would have had fewer chances to fail."""
        most = max(map(len, self.choosing.values()), default=0)
        return [rule for rule, runs in sorted(self.choosing.items()) if runs and len(runs) == most]

    def means(self, score: str) -> Mapping[int, float]:
        """Mean of a score over the choosing runs, by rule; only where every run has a finite one."""
        return self._means[score]

    @cached_property
    def _means(self) -> dict[str, dict[int, float]]:
        return {score: self._mean(score) for score in self.scores}

    def _mean(self, score: str) -> dict[int, float]:
        found = {rule: list(self.values(rule, score).values()) for rule in self.compared}
        read = self._legend.score(score)
        # fsum, so that rules with the same scores in another order are level.
        whole = {
            rule: read.value(math.fsum(map(read.place, values)) / len(values))
            for rule, values in found.items()
            if len(values) == self.runs and all(map(math.isfinite, values))
        }
        return {rule: mean for rule, mean in whole.items() if math.isfinite(mean)}

    @cached_property
    def _legend(self) -> Legend:
        return read_legend(record for runs in self.choosing.values() for record in runs.values())

    @property
    def runs(self) -> int:
        """Choosing runs of each compared rule."""
        return len(self.choosing[self.compared[0]]) if self.compared else 0

    def chosen(self, score: str) -> int | None:
        """The rule with the best mean, the smallest number among equals; None where nobody knows which is better."""
        means, sign = self.means(score), self._legend.score(score).sign
        return max(means, key=lambda rule: (sign * means[rule], -rule)) if means and sign else None

    def rank(self, rule: int, score: str) -> float | None:
        """1 for the best; rules that are level share the mean of their places."""
        means, sign = self.means(score), self._legend.score(score).sign
        if rule not in means or not sign:
            return None
        above = sum(sign * mean > sign * means[rule] for mean in means.values())
        level = sum(mean == means[rule] for mean in means.values())
        return above + (level + 1) / 2


def atlas_runs(order: Order, found: Found) -> list[TaskRuns]:
    """What a folder holds of an atlas, task by task. Tasks and learners are looked up once each, not in all pairs."""
    rules = rules_of(order.study)
    choosing = choosing_seeds(order.study)
    scores = tuple(dict.fromkeys([*order.study.scores, criterion_of(order.study)]))
    first = order.study.rows[0]
    learners = {}
    for rule in rules:
        setting = setting_of(order, first, rule, order.root)
        learners[rule] = found.identity(setting)["learner"]
    gathered = []
    for row in order.study.rows:
        setting = setting_of(order, row, rules[0], order.root)
        what = found.identity(setting)
        chosen_on, reported = {}, {}
        for rule in rules:
            asked = {**what, "learner": learners[rule]}
            reported[rule] = found.like(asked)
            runs = found.like({**asked, "root": order.root + 1})
            chosen_on[rule] = {place: record for place, record in runs.items() if place[1] < choosing}
        gathered.append(TaskRuns(row, scores, chosen_on, reported))
    return gathered


def wanted_rules(study: Study, task: TaskRuns) -> list[int]:
    """The rules whose reported runs are wanted: those chosen by any score of the study, and the published one."""
    chosen: Sequence[int | None] = [task.chosen(score) for score in study.scores]
    known = {rule for rule in chosen if rule is not None}
    published = [rule for rule in published_rules(study, task.row)[:1] if str(rule) in study.columns]
    return sorted(known.union(published)) if known else []
