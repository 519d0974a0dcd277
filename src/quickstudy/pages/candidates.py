"""The runs behind a choice of the best of many candidates, which is made on seeds of their own.

The candidates are the columns of the study. They are chosen on the root seed after the reported one (`choosing_seeds`
of the settings), by each score of the study, in the direction that is better by it. Only what is chosen, and the
published candidate, is then run on the reported seeds. The difference of the two is what choosing the best of many adds
to a score. Settings: `published`, the best candidates of a task as published, the best first; `criterion`, the score by
which the publication chose; `candidate`, what one is called.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from quickstudy.base.blocks import Made, Text
from quickstudy.base.catalogue import block
from quickstudy.base.errors import UsageError
from quickstudy.base.legend import Legend, read_legend
from quickstudy.base.study import Study, StudyRow
from quickstudy.pages.request import Request, Stage
from quickstudy.report.results import Runs, scores_of
from quickstudy.report.statistics import Values
from quickstudy.report.words import counted
from quickstudy.runs.setting import Setting


def choosing_seeds(study: Study) -> int:
    """How many seeds the candidates are chosen on."""
    return int(study.settings.get("choosing_seeds", 10))


def candidate(study: Study) -> str:
    """What a candidate is called: a rule, unless the settings say otherwise."""
    return str(study.settings.get("candidate", "rule"))


def criterion_of(study: Study) -> str:
    """The score by which the publication chose."""
    return str(study.settings.get("criterion", study.score))


def published_of(study: Study, row: StudyRow) -> list[str]:
    """The best candidates of a task as published, the best first; none for a task of which nothing was published."""
    return list(map(str, study.settings.get("published", {}).get(row.task, [])))


def setting_of(request: Request, row: StudyRow, column: str, root: int) -> Setting:
    """One candidate on one task."""
    learner = row.learner(column, request.convention)
    if learner is None:
        raise UsageError(f"{request.study.id}: no learner for {column} under the convention {request.convention}")
    return Setting(row.task, learner, request.convention, root, row.protocol)


@dataclass(frozen=True)
class TaskRuns:
    """The runs of one task by candidate. choosing: under the root seed after the reported one, as many as the study
    says. scores: those of which means are asked for. published: the best as published, if it is among the candidates.
    """

    row: StudyRow
    scores: Sequence[str]
    choosing: Mapping[str, Runs]
    reported: Mapping[str, Runs]
    published: str | None = None

    def values(self, column: str, score: str, reported: bool = False) -> Values:
        """One score of the runs of a candidate."""
        return scores_of((self.reported if reported else self.choosing).get(column, {}), score)

    @cached_property
    def compared(self) -> list[str]:
        """The candidates with the most choosing runs: one with fewer would have had fewer chances to fail."""
        most = max(map(len, self.choosing.values()), default=0)
        return [column for column, runs in self.choosing.items() if runs and len(runs) == most]

    @cached_property
    def means(self) -> Mapping[str, Mapping[str, float]]:
        """Mean over the choosing runs, by score and candidate; only where every run has a finite one."""
        return {score: self._mean(score) for score in self.scores}

    def _mean(self, score: str) -> dict[str, float]:
        found = {column: list(self.values(column, score).values()) for column in self.compared}
        read = self.legend.score(score)
        # fsum, so that candidates with the same scores in another order are level.
        whole = {
            column: read.value(math.fsum(map(read.place, values)) / len(values))
            for column, values in found.items()
            if len(values) == self.runs and all(map(math.isfinite, values))
        }
        return {column: mean for column, mean in whole.items() if math.isfinite(mean)}

    @cached_property
    def legend(self) -> Legend:
        """How its scores are read."""
        return read_legend(record for runs in self.choosing.values() for record in runs.values())

    @property
    def runs(self) -> int:
        """Choosing runs of each compared candidate."""
        return len(self.choosing[self.compared[0]]) if self.compared else 0

    def chosen(self, score: str) -> str | None:
        """The candidate with the best mean, the first among equals; None where nobody knows which is better."""
        means, sign = self.means[score], self.legend.score(score).sign
        return max(means, key=lambda column: sign * means[column]) if means and sign else None

    def rank(self, column: str, score: str) -> float | None:
        """1 for the best; candidates that are level share the mean of their places."""
        means, sign = self.means[score], self.legend.score(score).sign
        if column not in means or not sign:
            return None
        above = sum(sign * mean > sign * means[column] for mean in means.values())
        level = sum(mean == means[column] for mean in means.values())
        return above + (level + 1) / 2


def task_runs(request: Request) -> list[TaskRuns]:
    """What a folder holds, task by task; gone through once as long as it stays the same."""
    asked = request.study.id, request.convention, request.root, tuple(row.label for row in request.rows)
    return request.shelf.made(asked, lambda: _task_runs(request))


def _task_runs(request: Request) -> list[TaskRuns]:
    """Tasks and learners are looked up once each, not in all pairs."""
    study, found = request.study, request.found
    first, scores = request.rows[0], tuple(dict.fromkeys([*study.scores, criterion_of(study)]))
    learners = {
        column: found.identity(setting_of(request, first, column, request.root))["learner"] for column in study.columns
    }
    gathered = []
    for row in request.rows:
        what = found.identity(setting_of(request, row, study.columns[0], request.root))
        asked = {column: {**what, "learner": learner} for column, learner in learners.items()}
        reported = {column: found.like(one) for column, one in asked.items()}
        chosen_on = {
            column: {
                place: record
                for place, record in found.like({**one, "root": request.root + 1}).items()
                if place[1] < choosing_seeds(study)
            }
            for column, one in asked.items()
        }
        published = next((column for column in published_of(study, row)[:1] if column in study.columns), None)
        gathered.append(TaskRuns(row, scores, chosen_on, reported, published))
    return gathered


@block("candidates", version=1)
class Candidates:
    """How many candidates there are, what they are chosen on, and what is missing."""

    whole = True

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every candidate on the choosing seeds; then what was chosen, and the published ones, on the reported ones."""
        study = request.study
        every = [setting_of(request, row, column, request.root + 1) for row in request.rows for column in study.columns]
        yield Stage(every, choosing_seeds(study))
        reported = []
        for task in task_runs(request):
            known = {column for score in study.scores if (column := task.chosen(score)) is not None}
            wanted = known | ({task.published} if known and task.published else set())
            reported += [
                setting_of(request, task.row, column, request.root) for column in study.columns if column in wanted
            ]
        if reported:
            yield Stage(reported, request.seeds)

    def blocks(self, request: Request) -> Made:
        """One paragraph."""
        study, tasks = request.study, task_runs(request)
        one = candidate(study)
        runs = sum(len(runs) for task in tasks for runs in task.choosing.values())
        seeds = choosing_seeds(study)
        wanted = len(tasks) * len(study.columns) * seeds
        lines = [
            f"{counted(len(study.columns), one)} on {counted(len(tasks), 'task')}, convention {request.convention}. "
            f"{one.capitalize()}s are chosen on {counted(seeds, 'seed')} under root {request.root + 1} and reported on "
            f"others, under root {request.root}: nothing that is reported was used to choose."
        ]
        if runs < wanted:
            lines.append(f"{runs:,} of {wanted:,} choosing runs are there.")
        for task in tasks:
            absent = len(task.choosing) - len(task.compared)
            if not task.compared:
                lines.append(f"{task.row.label} has no runs yet.")
            elif absent:
                lines.append(
                    f"{task.row.label} compares {counted(len(task.compared), one)} with {counted(task.runs, 'run')} "
                    f"each; {absent} with fewer or none are left out."
                )
        facts = {"study": study.id, "version": study.version, "convention": request.convention}
        return Made([Text(" ".join(lines))], facts)
