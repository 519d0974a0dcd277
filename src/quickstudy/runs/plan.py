"""The plan: cells in a fixed order, each with its key. Making a plan runs nothing.

More seeds, tasks or learners only add cells; a cell's key, and so its numbers, depend on nothing
but itself.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from quickstudy.base.canonical import digest
from quickstudy.base.errors import UsageError
from quickstudy.base.record import FAILED, Record
from quickstudy.base.registry import include, module_of, others_have
from quickstudy.learners.learner_spec import place
from quickstudy.runs.eta import MEASURED, RunTimes
from quickstudy.runs.merge import Reading
from quickstudy.runs.run_spec import Setting, check_control, identity, labels

EXAMINER = "quickstudy.runs.run_one:examine"
"""The function, as `module:function`, that turns a setting and repetitions into outcomes."""


@dataclass(frozen=True)
class Cell:
    """One repetition of one setting.

    task, learner, family, role: as shown to people. seconds: estimated; source: `measured` or
    `guessed`. programs: how many programs its setting needs compiled. beside: what it has in common
    with the cells that may run in one call with it on a GPU. wanted: how many these are in the
    plan. lanes: how many of them run side by side there, if its memory is large enough. room: the
    modules from outside this
    package that its task, learner and protocol come from. unfit: why its protocol cannot examine
    its task, so that the run will be not applicable; empty where it can.
    """

    key: str
    setting: Setting
    repetition: int
    task: str
    learner: str
    family: str
    role: str
    seconds: float
    source: str
    programs: int = 0
    wanted: int = 1
    lanes: int = 1
    room: tuple[str, ...] = ()
    unfit: str = ""
    beside: str = ""


@dataclass(frozen=True)
class Preview:
    """What a dry run prints. found: cells that need not run; measured: of those to do, how many
    have been measured here before, with other seeds; seconds: of these together, on one worker.
    """

    cells: int
    found: int
    to_do: int
    programs: int
    seconds: float
    measured: int


@dataclass(frozen=True)
class Plan:
    """Cells by task, then learner, then repetition. found: status by key of what the results folder
    already holds.

    includes: files that every worker imports first.
    """

    cells: tuple[Cell, ...]
    found: dict[str, str] = field(default_factory=dict)
    includes: tuple[str, ...] = ()
    examiner: str = EXAMINER

    def apart(self, cell: Cell) -> bool:
        """Whether a cell must not run in the process that made the plan, which has imported files
        of the plan that are not this cell's. A cell made of what no other process has runs there
        all the same.
        """
        return self._imported != set(cell.room) and all(map(others_have, cell.room))

    @cached_property
    def _imported(self) -> set[str]:
        return {
            *map(module_of, self.includes),
            *(module for cell in self.cells for module in cell.room),
        }

    def missing(
        self, found: dict[str, str] | None = None, *, retry_failed: bool = False
    ) -> list[Cell]:
        """The cells still to be run; found: what the folder holds now, if it may have changed since
        the plan.
        """
        found = self.found if found is None else found
        wanted = {None, FAILED} if retry_failed else {None}
        return [cell for cell in self.cells if found.get(cell.key) in wanted]

    def summary(self, *, retry_failed: bool = False) -> Preview:
        """Counts, programs to compile and estimated seconds."""
        missing = self.missing(retry_failed=retry_failed)
        # The rules of a task play by one program.
        own = [cell.learner if cell.role == "learner" else "" for cell in missing]
        programs: dict[tuple[str, str, str], int] = {}
        for cell, learner in zip(missing, own, strict=True):
            place = cell.task, learner, cell.setting.convention
            programs[place] = max(programs.get(place, 0), cell.programs)
        return Preview(
            cells=len(self.cells),
            found=len(self.cells) - len(missing),
            to_do=len(missing),
            programs=sum(programs.values()),
            seconds=sum(cell.seconds for cell in missing if cell.source == MEASURED),
            measured=sum(cell.source == MEASURED for cell in missing),
        )


def make_plan(
    settings: Iterable[Setting],
    repetitions: int | Sequence[int],
    *,
    reading: Reading | None = None,
    includes: Sequence[str | pathlib.Path] = (),
    examiner: str = EXAMINER,
    rules: int | None = None,
) -> Plan:
    """The plan of some settings, each with the repetitions 0 .. n-1 or with those named; controls
    and oracles with 0 .. rules-1, where that is given.

    Settings that are the same run under two spellings (`esn` and `esn:units=1800`) are one.
    reading: what the results folder holds, for estimates and for what is found. Raises UsageError
    for anything that does not exist.
    """
    for path in includes:
        include(path)
    numbers = list(range(repetitions)) if isinstance(repetitions, int) else sorted(set(repetitions))
    reading = reading or Reading()
    run_times = RunTimes.from_records(reading.records.values())
    cells: dict[str, Cell] = {}
    choices: dict[str, list[Any]] = {}
    called: dict[tuple[str, ...], tuple[str, Any]] = {}
    for typed in _ordered(list(settings)):
        where = place(typed.learner)
        setting = typed if where == typed.learner else replace(typed, learner=where)
        parts = setting.resolve()
        check_control(parts)
        names = labels(setting, parts)
        what = identity(setting, parts, 0)
        known, other = called.setdefault(
            (setting.convention, names["task"], names["learner"]), (typed.learner, what["learner"])
        )
        if other != what["learner"]:
            raise UsageError(
                f'two learners are called "{names["learner"]}": {known} and {typed.learner};'
                " rename one"
            )
        estimate = run_times.of(what, names["learner"])
        around = filter(_foreign, (type(setting).__module__, examiner.partition(":")[0]))
        room = tuple(sorted({*parts.outside, *around}))
        unfit = getattr(parts.protocol, "unfit", lambda task: "")(parts.task)
        shared = getattr(parts.learner, "shared", "")
        beside = digest({**what, "learner": shared or what["learner"]})
        programs = parts.learner.programs
        if programs and names["role"] == "learner":
            programs += getattr(parts.protocol, "programs", 0)
        is_rule = rules is not None and names["role"] != "learner"
        for repetition in range(rules or 0) if is_rule else numbers:
            key = digest({**what, "repetition": repetition})
            shown = (names["task"], names["learner"], names["family"], names["role"])
            cell = Cell(
                key, setting, repetition, *shown, *estimate, programs, 1, 1, room, unfit, beside
            )
            if cells.setdefault(key, cell) is cell:
                choices.setdefault(beside, []).append(parts.learner)
    absolute = tuple(str(pathlib.Path(path).expanduser().resolve()) for path in includes)
    sizes = {
        beside: (len(found), found[0].lanes(len(found), "gpu")) for beside, found in choices.items()
    }
    sized = (
        replace(cell, wanted=sizes[cell.beside][0], lanes=sizes[cell.beside][1])
        for cell in cells.values()
    )
    return Plan(tuple(sized), reading.statuses(), absolute, examiner)


def check_data(cells: Iterable[Cell]) -> None:
    """Raise UsageError, with the remedy, if the data of a task of these cells is not on this
    machine, or if something is missing that a learner needs.
    """
    tasks: dict[tuple[str, str], Setting] = {}
    learners: dict[tuple[str, str], Setting] = {}
    for cell in cells:
        tasks.setdefault((cell.task, cell.setting.convention), cell.setting)
        learners.setdefault((cell.learner, cell.setting.convention), cell.setting)
    for setting in tasks.values():
        getattr(setting.resolve().task, "ready", lambda: None)()
    for setting in learners.values():
        getattr(setting.resolve().learner, "ready", lambda: None)()


def failed_record(
    setting: Setting,
    repetition: int,
    reason: str,
    began: float,
    seconds: float,
    traceback: str = "",
) -> Record:
    """The record of a repetition whose outcome never came. began: seconds since the epoch."""
    parts = setting.resolve()
    where = {"started": round(began, 3), "seconds": round(seconds, 6)}
    what = identity(setting, parts, repetition)
    return Record(
        what, FAILED, reason, where=where, labels=labels(setting, parts), traceback=traceback
    )


def _foreign(module: str) -> bool:
    return module.partition(".")[0] != "quickstudy"


def _ordered(settings: list[Setting]) -> list[Setting]:
    tasks = {
        name: place
        for place, name in reversed(list(enumerate(setting.task for setting in settings)))
    }
    learners = {
        name: place
        for place, name in reversed(list(enumerate(setting.learner for setting in settings)))
    }
    return sorted(settings, key=lambda setting: (tasks[setting.task], learners[setting.learner]))
