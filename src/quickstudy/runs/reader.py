"""The one reader of results folders: for resuming, for reports and for the web.

All journals are merged by key. Of several records of one run `ok` comes before `not-applicable` before `failed`, then
the one that was started last; so runs that were repeated, by two processes or on two machines, are never shown twice.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from quickstudy.base.errors import UsageError
from quickstudy.base.record import FAILED, NOT_APPLICABLE, OK, Record
from quickstudy.runs.folder import LEARNERS, RUNS, TRACES, check_format

_RANKS = {OK: 2, NOT_APPLICABLE: 1, FAILED: 0}


@dataclass(frozen=True)
class Damage:
    """Something in a results folder that is not as it should be.

    file: relative to the folder; line: from 1, or None for the whole file; problem: what is wrong with it.
    """

    file: str
    line: int | None
    problem: str

    def __str__(self) -> str:
        return f"{self.file}{f', line {self.line}' if self.line else ''}: {self.problem}"


@dataclass(frozen=True)
class Line:
    """One line of a journal: its bytes, and either the record in it, with its key, or what is wrong with it. torn: a
    last line that was cut off.
    """

    file: str
    number: int
    content: bytes
    record: Record | None = None
    key: str = ""
    problem: str = ""
    torn: bool = False


@dataclass(frozen=True)
class Reading:
    """What a results folder holds.

    records: by key, ordered by task, learner, convention, root and repetition. torn: journals whose last line was cut
    off, which is what a killed process leaves and no cause for alarm. damage: what else is wrong; those lines are
    left out. lines: records before merging.
    """

    records: Mapping[str, Record] = field(default_factory=dict)
    torn: int = 0
    damage: tuple[Damage, ...] = ()
    lines: int = 0

    def statuses(self) -> dict[str, str]:
        """Status by key."""
        return {key: record.status for key, record in self.records.items()}


def read_results(folder: str | pathlib.Path, *, expected: bool = False) -> Reading:
    """Read all journals of a folder. expected: a folder without any is a UsageError; otherwise it is empty."""
    folder = pathlib.Path(folder)
    best: dict[str, tuple[tuple[int, float, str, int], Record]] = {}
    damage: list[Damage] = []
    torn = lines = 0
    for line in read_lines(folder, expected=expected):
        if line.record is None:
            torn += line.torn
            if not line.torn:
                damage.append(Damage(line.file, line.number, line.problem))
            continue
        lines += 1
        order = (_RANKS[line.record.status], _started(line.record), line.file, line.number)
        if line.key not in best or order > best[line.key][0]:
            best[line.key] = order, line.record
    records = {key: record for key, (_, record) in sorted(best.items(), key=lambda item: _place(item[0], item[1][1]))}
    return Reading(records, torn, tuple(damage), lines)


def read_lines(folder: pathlib.Path, *, expected: bool = False) -> Iterator[Line]:
    """Every line of every journal, in the order of file names, each checked by itself."""
    check_format(folder)
    runs = folder / RUNS
    if runs.exists() and not runs.is_dir():
        raise UsageError(f"{runs} is a file; {folder} is not a results folder")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, not a results folder")
    if expected:
        expect_results(folder)
    files = _Files(folder)
    for path in sorted(runs.glob("*.jsonl")):
        yield from _file_lines(path, f"{RUNS}/{path.name}", files)


def expect_results(folder: pathlib.Path) -> None:
    """Raise UsageError if nothing has ever been run into a folder."""
    if not (folder / RUNS).is_dir():
        raise UsageError(f"no results in {folder}; run something there first, or name another folder")


class _Files:
    """The traces and learners of a folder: listed once, and looked for again before one is called missing, since
    a run that goes on writes a trace, and then the line that names it, after the listing.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._known = {f"{room}/{path.name}" for room in (TRACES, LEARNERS) for path in (folder / room).glob("*.npz")}

    def __contains__(self, name: str) -> bool:
        return name in self._known or (self._folder / name).is_file()


def _file_lines(path: pathlib.Path, name: str, files: _Files) -> Iterator[Line]:
    try:
        *whole, tail = path.read_bytes().split(b"\n")
    except FileNotFoundError:  # repaired away while we were looking
        return
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    for number, content in enumerate(whole, start=1):
        yield _line(name, number, content, files)
    if tail:
        line = _line(name, len(whole) + 1, tail, files)
        # Only the newline may be missing; then nothing is lost.
        parsed = line.record is not None or not line.problem.startswith(_NOT_JSON)
        yield line if parsed else Line(name, line.number, tail, problem="last line is cut off", torn=True)


_NOT_JSON = "not a line of JSON"


def _line(name: str, number: int, content: bytes, files: _Files) -> Line:
    try:
        facts = json.loads(content.decode())
    except (ValueError, RecursionError) as error:  # includes bytes that are no text
        return Line(name, number, content, problem=f"{_NOT_JSON} ({error})")
    try:
        record = Record.from_facts(facts)
        key = record.key
        problem = _problem(facts, record, key, files)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        return Line(name, number, content, problem=f"not a record ({error})")
    return Line(name, number, content, None if problem else record, key, problem)


def _problem(facts: Mapping[str, Any], record: Record, key: str, files: _Files) -> str:
    for name in ("what", "where", "cost", "scores", "trace", "labels", "legend"):
        if not isinstance(getattr(record, name), Mapping):
            return f"not a record ({name} is not a mapping)"
    if record.status not in _RANKS:
        return f'unknown status "{record.status}"'
    if facts.get("key") != key:
        return f"the key {str(facts.get('key'))[:12]} does not belong to what was run ({key[:12]})"
    for kept in (record.trace.get("file"), record.saved):
        if kept is not None and kept not in files:
            return f"the file {kept} is missing"
    return ""


def _started(record: Record) -> float:
    started = record.where.get("started", 0.0)
    return float(started) if isinstance(started, int | float) else 0.0


def _place(key: str, record: Record) -> tuple[str, str, str, str, float, str]:
    what, labels = record.what, record.labels
    repetition = what.get("repetition")
    number = float(repetition) if isinstance(repetition, int) else -1.0
    names = str(labels.get("task")), str(labels.get("learner")), str(what.get("convention")), str(what.get("root"))
    return *names, number, key
