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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from quickstudy.base.blocks import Made, Text
from quickstudy.base.catalogue import block
from quickstudy.base.errors import UsageError
from quickstudy.base.legend import Legend, read_legend
from quickstudy.base.study import Study, StudyRow
from quickstudy.pages.cells import first_by
from quickstudy.pages.request import Request, Stage
from quickstudy.report.results import Runs, scores_of
from quickstudy.report.statistics import Values
from quickstudy.report.words import counted
from quickstudy.runs.setting import Setting


def choosing_seeds(study: Study) -> int:
    """How many seeds the candidates are chosen on."""
    return int(study.settings.get("choosing_seeds", 10))


def names_of(study: Study) -> tuple[str, str]:
    """What a candidate is called, a rule unless the settings say; the score by which the publication chose."""
    return str(study.settings.get("candidate", "rule")), str(study.settings.get("criterion", study.score))


def published_of(study: Study, row: StudyRow) -> list[str]:
    """The best candidates of a task as published, the best first; none for a task of which nothing was published."""
    return list(map(str, study.settings.get("published", {}).get(row.task, [])))


def setting_of(request: Request, row: StudyRow, column: str, root: int) -> Setting:
    """One candidate on one task."""
    learner = row.learner(column, request.convention)
    if learner is None:
        raise UsageError(f"{request.study.id}: no learner for {column} under the convention {request.convention}")
    return replace(request.setting(row, learner), root=root)


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

    def values(self, column: str | None, score: str, reported: bool = False) -> Values:
        """One score of the runs of a candidate."""
        return scores_of((self.reported if reported else self.choosing).get(column or "", {}), score)

    @cached_property
    def compared(self) -> list[str]:
        """The candidates with the most choosing runs: one with fewer would have had fewer chances to fail."""
        most = max(map(len, self.choosing.values()), default=0)
        return [column for column, runs in self.choosing.items() if runs and len(runs) == most]

    @cached_property
    def means(self) -> Mapping[str, Mapping[str, float]]:
        """Mean over the choosing runs, by score and candidate; only where every run has a finite one."""
        found: dict[str, dict[str, float]] = {score: {} for score in self.scores}
        for score, means in found.items():
            read = self.legend.score(score)
            for column in self.compared:
                values = list(self.values(column, score).values())
                if len(values) == self.runs and all(map(math.isfinite, values)):
                    # fsum, so that candidates with the same scores in another order are level.
                    mean = read.value(math.fsum(map(read.place, values)) / len(values))
                    means |= {column: mean} if math.isfinite(mean) else {}
        return found

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
        return first_by(self.means[score], self.legend.score(score).sign)

    def rank(self, column: str | None, score: str) -> float | None:
        """1 for the best; candidates that are level share the mean of their places."""
        means, sign = self.means[score], self.legend.score(score).sign
        if column is None or column not in means or not sign:
            return None
        above = sum(sign * mean > sign * means[column] for mean in means.values())
        return above + (list(means.values()).count(means[column]) + 1) / 2


def task_runs(request: Request) -> list[TaskRuns]:
    """What a folder holds, task by task; gone through once as long as it stays the same."""
    asked = request.study.id, request.convention, request.root, tuple(row.label for row in request.rows)
    return request.shelf.made(asked, lambda: _task_runs(request))


def _task_runs(request: Request) -> list[TaskRuns]:
    """Tasks and learners are looked up once each, not in all pairs."""
    study, found = request.study, request.found

    def identity(row: StudyRow, column: str) -> dict[str, Any]:
        return found.identity(setting_of(request, row, column, request.root))

    def runs(what: Mapping[str, Any], root: int, most: float = math.inf) -> dict[str, Runs]:
        known = {column: found.like({**what, "learner": one, "root": root}) for column, one in learners.items()}
        return {column: {at: run for at, run in own.items() if at[1] < most} for column, own in known.items()}

    scores = tuple(dict.fromkeys([*study.scores, names_of(study)[1]]))
    learners = {column: identity(request.rows[0], column)["learner"] for column in study.columns}
    gathered = []
    for row in request.rows:
        what = identity(row, study.columns[0])
        choosing = runs(what, request.root + 1, choosing_seeds(study))
        published = next((column for column in published_of(study, row)[:1] if column in study.columns), None)
        gathered.append(TaskRuns(row, scores, choosing, runs(what, request.root), published))
    return gathered


@block("candidates", version=1)
class Candidates:
    """How many candidates there are, what they are chosen on, and what is missing."""

    whole = True

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every candidate on the choosing seeds; then what was chosen, and the published ones, on the reported ones."""
        columns, root = request.study.columns, request.root
        every = [setting_of(request, row, column, root + 1) for row in request.rows for column in columns]
        yield Stage(every, choosing_seeds(request.study))
        reported = []
        for task in task_runs(request):
            wanted = {task.chosen(score) for score in request.study.scores} - {None}
            wanted |= {task.published} if wanted else set()
            reported += [setting_of(request, task.row, column, root) for column in columns if column in wanted]
        if reported:
            yield Stage(reported, request.seeds)

    def blocks(self, request: Request) -> Made:
        """One paragraph."""
        study, tasks, (one, _) = request.study, task_runs(request), names_of(request.study)
        seeds = choosing_seeds(study)
        runs = sum(len(runs) for task in tasks for runs in task.choosing.values())
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
