"""The rules of the cellular automaton: which of them are each other's images, and the runs for a
choice of the best.

In Wolfram's numbering bit 4 left + 2 centre + right of a rule is the new cell. Reading the ring
backwards turns a rule into its mirror image; calling zero one and one zero turns it into its
complement. Both together give a third image.

The columns of an atlas are rules. They are chosen on the root seed after the reported one
(`choosing_seeds` of the settings), by each score of the study, in the direction that is better by
it. Only what is chosen, and the published rule, is then run on the reported seeds. The difference
of the two is what choosing the best of many adds to a score. Settings: `published`, the best rules
of a task as published, the best first; `criterion`, the score by which the publication chose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from quickstudy.base.blocks import Made, Text
from quickstudy.base.errors import UsageError
from quickstudy.base.registries import block
from quickstudy.base.score_metadata import Legend, read_legend
from quickstudy.base.study import Study, StudyRow
from quickstudy.pages.study_request import Request, Stage
from quickstudy.pages.table_helpers import first_by
from quickstudy.report.words import counted
from quickstudy.runs.results import ResultsTable, Runs, Values
from quickstudy.runs.run_spec import Setting

RULES = 256


def mirrored(rule: int) -> int:
    """The rule on the ring read backwards.

    >>> mirrored(110)
    124
    """
    return sum(
        (rule >> (4 * (place & 1) + (place & 2) + (place >> 2)) & 1) << place for place in range(8)
    )


def complemented(rule: int) -> int:
    """The rule with zeros and ones exchanged.

    >>> complemented(110)
    137
    """
    return sum((1 - (rule >> (7 - place) & 1)) << place for place in range(8))


def images(rule: int) -> tuple[int, int, int, int]:
    """The rule itself, its mirror image, its complement, and the mirror image of that.

    >>> images(110)
    (110, 124, 137, 193)
    """
    return rule, mirrored(rule), complemented(rule), mirrored(complemented(rule))


def families() -> list[tuple[int, int, int, int]]:
    """The images of the smallest rule of each of the 88 families, by that rule."""
    return [images(rule) for rule in range(RULES) if rule == min(images(rule))]


def criterion_of(study: Study) -> str:
    """The score by which the publication chose."""
    return str(study.settings.get("criterion", study.score))


def published_of(study: Study, row: StudyRow) -> list[str]:
    """The best rules of a task as published, the best first; none for a task of which nothing was
    published.
    """
    return list(map(str, study.settings.get("published", {}).get(row.task, [])))


@dataclass(frozen=True)
class TaskRuns:
    """The runs of one task by rule. choosing: under the root seed after the reported one, as many
    as the study sets. scores: those of which means are asked for. published: the best as published,
    if it is among the rules. results: what the runs are of.
    """

    row: StudyRow
    scores: Sequence[str]
    choosing: Mapping[str, Runs]
    reported: Mapping[str, Runs]
    published: str | None = None
    results: ResultsTable = field(default_factory=lambda: ResultsTable({}), repr=False)

    def values(self, rule: str | None, score: str, reported: bool = False) -> Values:
        """One score of the runs of a rule."""
        runs = (self.reported if reported else self.choosing).get(rule or "", {})
        return self.results.values(runs, score)

    @cached_property
    def compared(self) -> list[str]:
        """The rules with the most choosing runs: one with fewer would have had fewer chances to
        fail.
        """
        most = max(map(len, self.choosing.values()), default=0)
        return [rule for rule, runs in self.choosing.items() if runs and len(runs) == most]

    @cached_property
    def means(self) -> Mapping[str, Mapping[str, float]]:
        """Mean over the choosing runs, by score and rule; only where every run has a finite one."""
        found: dict[str, dict[str, float]] = {score: {} for score in self.scores}
        for score, means in found.items():
            read = self.legend.score(score)
            for rule in self.compared:
                values = list(self.values(rule, score).values())
                if len(values) == self.runs and all(map(math.isfinite, values)):
                    # fsum, so that rules with the same scores in another order are level.
                    mean = read.value(math.fsum(map(read.place, values)) / len(values))
                    means |= {rule: mean} if math.isfinite(mean) else {}
        return found

    @cached_property
    def legend(self) -> Legend:
        """How its scores are read."""
        return read_legend(record for runs in self.choosing.values() for record in runs.values())

    @property
    def runs(self) -> int:
        """Choosing runs of each compared rule."""
        return len(self.choosing[self.compared[0]]) if self.compared else 0

    def chosen(self, score: str) -> str | None:
        """The rule with the best mean, the first among equals; None if it is unknown which is
        better.
        """
        return first_by(self.means[score], self.legend.score(score).sign)

    def rank(self, rule: str | None, score: str) -> float | None:
        """1 for the best; rules that are level share the mean of their places."""
        means, sign = self.means[score], self.legend.score(score).sign
        if rule is None or rule not in means or not sign:
            return None
        above = sum(sign * mean > sign * means[rule] for mean in means.values())
        return above + (list(means.values()).count(means[rule]) + 1) / 2


def task_runs(request: Request) -> list[TaskRuns]:
    """What a folder holds, task by task; gone through once as long as it stays the same."""
    asked = (
        request.study.id,
        request.convention,
        request.root,
        tuple(row.label for row in request.rows),
    )
    return request.shelf.made(asked, lambda: _task_runs(request))


def _task_runs(request: Request) -> list[TaskRuns]:
    """Tasks and learners are looked up once each, not in all pairs."""
    study, found = request.study, request.results

    def runs(what: Mapping[str, Any], root: int, most: float = math.inf) -> dict[str, Runs]:
        known = {
            rule: found.like({**what, "learner": one, "root": root})
            for rule, one in learners.items()
        }
        return {
            rule: {at: run for at, run in own.items() if at[1] < most}
            for rule, own in known.items()
        }

    scores = tuple(dict.fromkeys([*study.scores, criterion_of(study)]))
    learners = {
        rule: found.identity(_setting(request, request.rows[0], rule))["learner"]
        for rule in study.columns
    }
    gathered = []
    for row in request.rows:
        what = found.identity(_setting(request, row, study.columns[0]))
        choosing = runs(what, request.root + 1, _choosing_seeds(study))
        published = next(
            (rule for rule in published_of(study, row)[:1] if rule in study.columns), None
        )
        reported = runs(what, request.root)
        gathered.append(TaskRuns(row, scores, choosing, reported, published, found))
    return gathered


def _setting(request: Request, row: StudyRow, rule: str, root: int = 0) -> Setting:
    """One rule on one task."""
    learner = row.learner(rule, request.convention)
    if learner is None:
        raise UsageError(
            f"{request.study.id}: no learner for {rule} under the convention {request.convention}"
        )
    return replace(request.setting(row, learner), root=root)


def _choosing_seeds(study: Study) -> int:
    return int(study.settings.get("choosing_seeds", 10))


@block("candidates", version=1)
class Candidates:
    """How many rules there are, what they are chosen on, and what is missing."""

    whole = True

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every rule on the choosing seeds; then what was chosen, and the published ones, on the
        reported ones. Raises UsageError for a column that is not a rule.
        """
        columns, root = request.study.columns, request.root
        if not all(column.isdigit() and int(column) < RULES for column in columns):
            raise UsageError(
                f"{request.study.id}: a column of an atlas is a rule from 0 to 255, got"
                f' "{columns[0]}"'
            )
        every = [_setting(request, row, rule, root + 1) for row in request.rows for rule in columns]
        yield Stage(every, _choosing_seeds(request.study))
        reported = []
        for task in task_runs(request):
            wanted = {task.chosen(score) for score in request.study.scores} - {None}
            wanted |= {task.published} if wanted else set()
            reported += [
                _setting(request, task.row, rule, root) for rule in columns if rule in wanted
            ]
        if reported:
            yield Stage(reported, request.seeds)

    def blocks(self, request: Request) -> Made:
        """One paragraph."""
        study, tasks, seeds = request.study, task_runs(request), _choosing_seeds(request.study)
        runs = sum(len(runs) for task in tasks for runs in task.choosing.values())
        wanted = len(tasks) * len(study.columns) * seeds
        lines = [
            f"{counted(len(study.columns), 'rule')} on {counted(len(tasks), 'task')}, convention"
            f" {request.convention}. Rules are chosen on {counted(seeds, 'seed')} under root"
            f" {request.root + 1} and reported on others, under root {request.root}: nothing that"
            " is reported was used to choose."
        ]
        if runs < wanted:
            lines.append(f"{runs:,} of {wanted:,} choosing runs are stored.")
        for task in tasks:
            absent = len(task.choosing) - len(task.compared)
            if not task.compared:
                lines.append(f"{task.row.label} has no runs yet.")
            elif absent:
                lines.append(
                    f"{task.row.label} compares {counted(len(task.compared), 'rule')} with"
                    f" {counted(task.runs, 'run')} each; {absent} with fewer or none are left out."
                )
        facts = {"study": study.id, "version": study.version, "convention": request.convention}
        return Made([Text(" ".join(lines))], facts)
