"""Where a learner stands in every family: each task between the best rule and the oracle, each family by their mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quickstudy.base import catalogue
from quickstudy.base.blocks import CONTROL, ORACLE, PERSON
from quickstudy.base.canonical import plain
from quickstudy.base.record import Record
from quickstudy.base.study import StudyRow
from quickstudy.learners.naming import fitted, without_place
from quickstudy.pages.profile.tuning import TUNED, Chosen, asked_on, chosen, family_of
from quickstudy.pages.request import Request
from quickstudy.report.build import build_report
from quickstudy.report.model import Row, TaskTable
from quickstudy.report.results import place_of
from quickstudy.report.statistics import Contrast, Values, scaled_mean
from quickstudy.runs.setting import task_controls
from quickstudy.runs.traces import load_trace


@dataclass(frozen=True)
class Task:
    """One task of a family. table: everything that was run on it, None where nothing was. own: the learner's row of it.
    left_out: parameters of the learner's name that it has not there. why: it has no place on the scale, in words.
    """

    label: str
    name: str
    table: TaskTable | None
    own: Row | None
    left_out: Sequence[str] = ()
    why: str = ""

    @property
    def scale(self) -> tuple[Values, Values, Values, Any] | None:
        """(own, control, oracle, score), None where one of them is missing."""
        if self.table is None or self.own is None or self.why:
            return None
        ends = [self.end(role) for role in (CONTROL, ORACLE)]
        if None in ends:
            return None
        values = [row.values(self.table.headline or "") for row in (self.own, *ends) if row is not None]
        return values[0], values[1], values[2], self.table.judged

    def end(self, role: str) -> Row | None:
        """The best control, or the oracle."""
        if self.table is None:
            return None
        return next((row for row in self.table.of_role(role) if row.learner == self.table.ends[role]), None)


@dataclass(frozen=True)
class Family:
    """One family. number: the mean of its tasks' `scaled`, with an interval over seeds. tuning: how its setting was
    chosen, where it was.
    """

    name: str
    question: str
    tasks: Sequence[Task]
    number: Contrast
    tuning: Chosen | None = None

    @property
    def unscaled(self) -> list[Task]:
        """The tasks that its number does not rest on."""
        return [task for task in self.tasks if task.why]

    @property
    def runs(self) -> int:
        """The fewest finished runs of the learner on a task that counts."""
        return min((len(task.own.finished) for task in self.tasks if task.own and not task.why), default=0)


@dataclass(frozen=True)
class Standing:
    """A learner in all families, under one ruleset."""

    learner: str
    ruleset: str
    families: Sequence[Family]
    notes: Sequence[str] = field(default_factory=tuple)


def name_in(request: Request, row: StudyRow, typed: str) -> tuple[str | None, tuple[str, ...], Chosen | None]:
    """What a learner is called on a row, None while its tuning has not been run; which parameters of the typed name it
    has not there; how it was chosen.
    """
    asked = asked_on(row.task, row.protocol, request.convention)
    if request.study.settings.get("ruleset") == TUNED:
        choice = chosen(request, typed, family_of(row))
        return (None if choice.name is None else fitted(choice.name, request.convention, asked).name), (), choice
    found = fitted(typed, request.convention, asked)
    return found.name, found.left_out, None


def standing(request: Request, typed: str, beside: Sequence[str] = ()) -> Standing:
    """Where a learner stands by what the folder holds now. beside: learners whose runs are in the tables too."""
    records = _by_place(request)
    families = []
    for family in dict.fromkeys(map(family_of, request.rows)):
        rows = [row for row in request.rows if family_of(row) == family]
        tasks = [_task(request, row, typed, beside, records) for row in rows]
        together = [scale for task in tasks if (scale := task.scale)]
        number = scaled_mean(together) if together else Contrast(None, reason="no task has a scale")
        tuning = name_in(request, rows[0], typed)[2]
        families.append(Family(family, _question(rows[0]), tasks, number, tuning))
    return Standing(without_place(typed), str(request.study.settings.get("ruleset", "")), families)


def _task(
    request: Request, row: StudyRow, typed: str, beside: Sequence[str], records: Mapping[str, list[Record]]
) -> Task:
    name, left_out, _ = name_in(request, row, typed)
    if name is None:
        return Task(row.label, row.task, None, None, left_out, "not tuned yet")
    others = [other for one in beside if (other := name_in(request, row, one)[0])]
    found: dict[str, Record] = {}
    for learner in (name, *others, *task_controls(row.task)):
        place = place_of(plain(request.found.identity(request.setting(row, learner))))
        found |= {record.key: record for record in records.get(place, [])}
    if not found:
        return Task(row.label, row.task, None, None, left_out, "not run yet")
    subject = plain(request.found.identity(request.setting(row, name)))
    found |= {record.key: record for one in records.values() for record in one if _played(record, subject)}
    tables = build_report(found.values(), lambda record: load_trace(request.folder, record)).tables
    wanted = plain(request.found.identity(request.setting(row, name))["learner"])
    own = next((one for one in tables[0].rows if plain(one.setting["learner"]) == wanted), None)
    return Task(row.label, row.task, tables[0], own, left_out, _why(own))


def _played(record: Record, subject: Mapping[str, Any]) -> bool:
    """Whether it is a person's session on a task."""
    alike = all(record.what[part] == subject[part] for part in ("task", "convention"))
    return alike and record.labels.get("role") == PERSON


def people_beside(found: Standing) -> list[Standing]:
    """Where everybody stands who has played a task of a card, by the same rules and oracles."""
    tables = [task.table for family in found.families for task in family.tasks if task.table]
    names = sorted({row.learner for table in tables for row in table.of_role(PERSON)})
    return [replace(found, learner=name, families=[_as_played(one, name) for one in found.families]) for name in names]


def _as_played(family: Family, name: str) -> Family:
    tasks = []
    for task in family.tasks:
        rows = task.table.of_role(PERSON) if task.table else ()
        own = next((row for row in rows if row.learner == name), None)
        tasks.append(replace(task, own=own, left_out=(), why=_why(own) if own else "not played"))
    together = [scale for task in tasks if (scale := task.scale)]
    number = scaled_mean(together) if together else Contrast(None, reason="no task played has a scale")
    return replace(family, tasks=tasks, number=number, tuning=None)


def _why(own: Row | None) -> str:
    """Why a learner has no place on the scale of a task; nothing where it has one."""
    if own is None:
        return "not run yet"
    if own.scaled.value is not None:
        return ""
    reasons = dict.fromkeys(f"{run.status}: {run.reason}" for run in own.unfinished)
    return "; ".join(reasons) if reasons and not own.finished else own.scaled.reason


def _question(row: StudyRow) -> str:
    return str(catalogue.protocol.get(family_of(row)).question)


def _by_place(request: Request) -> dict[str, list[Record]]:
    """All runs of the folder, failed ones too, by what was run apart from the repetition."""
    found: dict[str, list[Record]] = {}
    known = {"task", "learner", "protocol", "convention", "root", "repetition"}
    for record in request.shelf.reading().records.values():
        if known <= {*record.what}:
            found.setdefault(place_of(record.what), []).append(record)
    return found
