"""Put runs aside: old versions, slips of the finger, what is to be run again. Nothing is deleted.

What is forgotten goes, with its traces and trained learners, to `forgotten/1`, `forgotten/2` ...: each a results folder
of its own, which every verb can read. Copied back into the folder, its files are as they were.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import pathlib
import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import BinaryIO

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.record import FAILED, NOT_APPLICABLE, OK, Record
from quickstudy.runs.folder import (
    FORGOTTEN,
    LEARNERS,
    TRACES,
    UNFINISHED,
    make_folder,
    prepare_folder,
    sync_folder,
    write_aside,
    writing_fault,
)
from quickstudy.runs.identity import label_of, outdated, tables
from quickstudy.runs.journal import lock
from quickstudy.runs.reader import Line, read_lines
from quickstudy.runs.unfinished import keys_of


@dataclass(frozen=True)
class Selection:
    """Which runs are meant: those that fit all that is said. tasks, learners: patterns such as `language/*`, of what
    was typed or of what the report prints; statuses: `ok`, `failed`, `not-applicable`.
    """

    tasks: Sequence[str] = ()
    learners: Sequence[str] = ()
    statuses: Sequence[str] = ()

    def __post_init__(self) -> None:
        for status in self.statuses:
            if status not in (OK, FAILED, NOT_APPLICABLE):
                raise UsageError(f'no status "{status}"; known: {OK}, {FAILED}, {NOT_APPLICABLE}')

    def of(self, records: Iterable[Record]) -> list[Record]:
        """The records that fit."""
        chosen = []
        for table in tables(records):
            for alike in table.learners:
                first = alike.records[0]
                if _fits(self.tasks, (label_of(first, "task"), table.title)) and _fits(
                    self.learners, (label_of(first, "learner"), alike.title)
                ):
                    chosen += [one for one in alike.records if not self.statuses or one.status in self.statuses]
        return chosen


def shown(
    records: Sequence[Record], tasks: Sequence[str] = (), learners: Sequence[str] = (), latest: bool = False
) -> list[Record]:
    """What a report on some tasks and learners shows. Rules and oracles stay: learners are read beside them. latest:
    only the last version of everything.
    """
    kept = {id(record) for record in Selection(tasks).of(records)}
    if learners:
        kept &= {id(one) for one in Selection((), learners).of(records)} | {
            id(one) for one in records if one.labels.get("role", "learner") != "learner"
        }
    if latest:
        kept -= {id(record) for record in outdated(records)}
    return [record for record in records if id(record) in kept]


def _fits(patterns: Sequence[str], names: Collection[str]) -> bool:
    # The name itself first: brackets in a title are no pattern.
    return not patterns or any(
        name == pattern or fnmatch.fnmatchcase(name, pattern) for pattern in patterns for name in names
    )


def forget(folder: str | pathlib.Path, keys: Collection[str]) -> pathlib.Path | None:
    """Put the runs of these keys aside, with every record of them. Gives where they are now; None if there are none.

    Raises QuickstudyError, with nothing changed, if a running process still writes one of the journals that hold them.
    """
    folder = pathlib.Path(folder)
    journals = {name: list(lines) for name, lines in groupby(read_lines(folder), key=lambda line: line.file)}
    touched = {name: lines for name, lines in journals.items() if any(_named(line, keys) for line in lines)}
    begun = [path for path in (folder / UNFINISHED).glob("*.npz") if not set(keys).isdisjoint(keys_of(path))]
    if not touched and not begun:
        return None
    for name in touched:
        with open(folder / name, "r+b", buffering=0) as file:
            if not lock(file):
                raise QuickstudyError(f"{folder / name} is being written by a running process; try again when it ends")
    aside = _room(folder)
    # First a safe place for what is taken out, its files before their records; then the journals without it; then the
    # files that nobody else names. At every moment each run is whole in one of the two places.
    files = [path for key in keys for room in (TRACES, LEARNERS) for path in (folder / room).glob(f"{key}*.npz")]
    for path in files:
        _double(path, aside / path.parent.name / path.name)
    for name, lines in touched.items():
        gone = [line for line in lines if _named(line, keys)]
        kept = [line for line in lines if not _named(line, keys)]
        for place, content in ((aside, gone), (folder, kept)):
            write_aside(place / name, str(os.getpid()), functools.partial(_write, content))
        if not kept:
            (folder / name).unlink()
    for path in begun:  # what was made again would go on from the old
        _double(path, aside / UNFINISHED / path.name)
    for path in (*files, *begun):
        path.unlink(missing_ok=True)
    return aside


def _named(line: Line, keys: Collection[str]) -> bool:
    return line.record is not None and line.key in keys


def _write(lines: Sequence[Line], file: BinaryIO) -> None:
    file.write(b"".join(line.content + b"\n" for line in lines))


def _room(folder: pathlib.Path) -> pathlib.Path:
    number = 1
    while True:
        room = folder / FORGOTTEN / str(number)
        try:
            make_folder(room.parent)
            room.mkdir()
            sync_folder(room.parent)
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            raise writing_fault(error, room) from error
        prepare_folder(room)
        return room


def _double(path: pathlib.Path, target: pathlib.Path) -> None:
    """A second name for a file, which is never changed; its copy, on a disk that has no second names."""
    try:
        make_folder(target.parent)
        os.link(path, target)
        sync_folder(target.parent)
    except OSError:
        try:
            with open(path, "rb") as whole:
                write_aside(target, str(os.getpid()), functools.partial(shutil.copyfileobj, whole))
        except OSError as error:
            raise writing_fault(error, target) from error
