"""The one reader of results folders: for resuming, for reports and for the web.

All journals are merged by key. Of several records of one run `ok` comes before `not-applicable`
before `failed`, then the one that was started last; so runs that were repeated, by two processes or
on two machines, are never shown twice. Several records of one run, which a later scoring of its
trace adds, are merged into one: of every measure the scores of the highest version, of equal
versions those that were made last.
"""

from __future__ import annotations

import contextlib
import gc
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from quickstudy.base.canonical import canonical
from quickstudy.base.record import FAILED, NOT_APPLICABLE, OK, Record
from quickstudy.base.renaming import Renaming
from quickstudy.runs.journal_lines import read_lines

_RANKS = {OK: 2, NOT_APPLICABLE: 1, FAILED: 0}


@dataclass(frozen=True)
class Damage:
    """Something in a results folder that is not as it should be.

    file: relative to the folder; line: from 1, or None for the whole file; problem: what is wrong
    with it.
    """

    file: str
    line: int | None
    problem: str

    def __str__(self) -> str:
        return f"{self.file}{f', line {self.line}' if self.line else ''}: {self.problem}"


@dataclass(frozen=True)
class Reading:
    """What a results folder holds.

    records: by key, ordered by task, learner, convention, root and repetition. torn: journals whose
    last line was cut off, which is what a killed process leaves and no cause for alarm. damage:
    what else is wrong; those lines are left out. lines: records before merging.
    """

    records: Mapping[str, Record] = field(default_factory=dict)
    torn: int = 0
    damage: tuple[Damage, ...] = ()
    lines: int = 0

    def statuses(self) -> dict[str, str]:
        """Status by key; without the runs that failed because something is missing that may be
        installed next time.
        """
        return {key: record.status for key, record in self.records.items() if not record.passing}


def read_results(folder: str | pathlib.Path, *, expected: bool = False) -> Reading:
    """Read all journals of a folder. expected: a folder without any is a UsageError; otherwise it
    is empty.
    """
    folder = pathlib.Path(folder)
    best: dict[str, tuple[tuple[int, float, str, int], Record]] = {}
    damage: list[Damage] = []
    torn = lines = 0
    with uncollected():
        for line in read_lines(folder, expected=expected):
            if line.record is None:
                torn += line.torn
                if not line.torn:
                    damage.append(Damage(line.file, line.number or None, line.problem))
                continue
            lines += 1
            order = (_RANKS[line.record.status], line.record.started, line.file, line.number)
            known = best.get(line.key)
            if known is not None and _one_run(known[1], line.record):
                best[line.key] = max(order, known[0]), _merged(known[1], line.record)
            elif known is None or order > known[0]:
                best[line.key] = order, line.record
    renaming = Renaming()
    records = {
        key: renaming.canonical(record)
        for key, (_, record) in sorted(best.items(), key=lambda item: _place(item[0], item[1][1]))
    }
    return Reading(records, torn, tuple(damage), lines)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """While Python does not look for garbage: there is none, and to look through all that was read
    so far, again and again, takes a quarter of the time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if (
                not gc.get_freeze_count()
            ):  # what there is now counts as old: else all of it is looked through at once
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def joined(known: Record | None, other: Record) -> Record:
    """What counts of two records of one key in two folders: `ok` before `not-applicable` before
    `failed`, then the first; of the very same run, in a folder and in a copy of it, the scores of
    both.
    """
    if known is None or _RANKS[other.status] > _RANKS[known.status]:
        return other
    return _merged(known, other) if _one_run(known, other) else known


def _one_run(first: Record, second: Record) -> bool:
    """Whether two records of one key are of the very same run, and not of one that was made
    again.
    """
    return (first.status, first.where) == (second.status, second.where)


def _merged(first: Record, second: Record) -> Record:
    """One run out of two records of it, the same whichever comes first: each measure's scores, and
    how they are read, from the record that has them newer.
    """
    newest = {
        id: max(
            (record for record in (first, second) if id in record.scores),
            key=lambda one: _age(one.scores[id]),
        )
        for id in sorted({*first.scores, *second.scores})
    }
    scores = {id: record.scores[id] for id, record in newest.items()}
    if first.legend == second.legend:
        return replace(first, scores=scores)
    legend = max(first.legend, second.legend, key=lambda one: (len(one), canonical(one)))
    read = {
        id: record.legend["scores"][id]
        for id, record in newest.items()
        if id in record.legend.get("scores", {})
    }
    return replace(
        first, scores=scores, legend={**legend, "scores": {**legend.get("scores", {}), **read}}
    )


def _age(part: Mapping[str, Any]) -> tuple[float, float, str]:
    return float(part["version"]), float(part.get("scored", 0.0)), canonical(part)


def _place(key: str, record: Record) -> tuple[str, str, str, str, float, str]:
    what, labels = record.what, record.labels
    repetition = what.get("repetition")
    number = float(repetition) if isinstance(repetition, int) else -1.0
    names = (
        str(labels.get("task")),
        str(labels.get("learner")),
        str(what.get("convention")),
        str(what.get("root")),
    )
    return *names, number, key
