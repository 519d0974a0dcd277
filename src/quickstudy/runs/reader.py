"""The one reader of results folders: for resuming, for reports and for the web.

All journals are merged by key. Of several records of one run `ok` comes before `not-applicable` before `failed`, then
the one that was started last; so runs that were repeated, by two processes or on two machines, are never shown twice.
Records of one and the same run, which stands there again because its trace was scored again, are one: of every measure
the scores of the highest version, of equal versions those that were made last.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import hashlib
import json
import pathlib
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, BinaryIO

from quickstudy.base.canonical import CHECK, canonical, intact, spoken
from quickstudy.base.errors import UsageError
from quickstudy.base.legend import Legend
from quickstudy.base.record import FAILED, NOT_APPLICABLE, OK, Record, too_deep
from quickstudy.runs.folder import LEARNERS, RUNS, TRACES, check_format

LONGEST_LINE = 1 << 26
"""Bytes of a line that is read: 64 MiB, a thousand times what a record with an inline trace takes."""

_BUFFER = 1 << 20
_PLAIN = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
RANKS = {OK: 2, NOT_APPLICABLE: 1, FAILED: 0}
_KEPT = re.compile(rf"(?:{TRACES}|{LEARNERS})/[^./\\][^/\\]*\.npz")


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
    last line that was cut off. number: from 1; 0 for a file that cannot be read at all. A line that is too long to be
    read has no content. newer: whole, and of a later version: it is left out, and left where it is.
    """

    file: str
    number: int
    content: bytes
    record: Record | None = None
    key: str = ""
    problem: str = ""
    torn: bool = False
    newer: bool = False


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
    with uncollected():
        for line in read_lines(folder, expected=expected):
            if line.record is None:
                torn += line.torn
                if not line.torn:
                    damage.append(Damage(line.file, line.number or None, line.problem))
                continue
            lines += 1
            order = (RANKS[line.record.status], line.record.started, line.file, line.number)
            known = best.get(line.key)
            if known is not None and (known[1].status, known[1].where) == (line.record.status, line.record.where):
                best[line.key] = max(order, known[0]), merged(known[1], line.record)
            elif known is None or order > known[0]:
                best[line.key] = order, line.record
    records = {key: record for key, (_, record) in sorted(best.items(), key=lambda item: _place(item[0], item[1][1]))}
    return Reading(records, torn, tuple(damage), lines)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """While Python does not look for garbage: there is none, and to look through all that was read so far, again and
    again, takes a quarter of the time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


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
    files = _Known(folder)
    for path in sorted(runs.glob("*.jsonl")):
        yield from _file_lines(path, f"{RUNS}/{path.name}", files)


def merged(first: Record, second: Record) -> Record:
    """One run out of two records of it, the same whichever comes first: each measure's scores, and how they are read,
    from the record that has them newer.
    """
    newest = {
        id: max((record for record in (first, second) if id in record.scores), key=lambda one: _age(one.scores[id]))
        for id in sorted({*first.scores, *second.scores})
    }
    scores = {id: record.scores[id] for id, record in newest.items()}
    if first.legend == second.legend:
        return replace(first, scores=scores)
    legend = max(first.legend, second.legend, key=lambda one: (len(one), canonical(one)))
    read = {id: record.legend["scores"][id] for id, record in newest.items() if id in record.legend.get("scores", {})}
    return replace(first, scores=scores, legend={**legend, "scores": {**legend.get("scores", {}), **read}})


def _age(part: Mapping[str, Any]) -> tuple[float, float, str]:
    return float(part["version"]), float(part.get("scored", 0.0)), canonical(part)


def expect_results(folder: pathlib.Path) -> None:
    """Raise UsageError if nothing has ever been run into a folder."""
    if not (folder / RUNS).is_dir():
        raise UsageError(f"no results in {folder}; run something there first, or name another folder")


class _Known:
    """What is known of a folder while its lines are read.

    Traces and learners are listed once, and looked for again before one is called missing, since a run that goes on
    writes a trace, and then the line that names it, after the listing. Legends are looked at once: most runs share one.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._files = {f"{room}/{path.name}" for room in (TRACES, LEARNERS) for path in (folder / room).glob("*.npz")}
        self._legends: list[Mapping[str, Any]] = [{}]

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return name in self._files or (self._folder / name).is_file()

    def legend(self, legend: Mapping[str, Any]) -> Mapping[str, Any]:
        """An equal legend that was read before, the same for all, or this one."""
        return next((known for known in self._legends if known == legend), legend)

    def understands(self, legend: Mapping[str, Any]) -> bool:
        """Whether a record's legend can be read."""
        if legend in self._legends:
            return True
        if too_deep(legend):
            return False
        try:
            found = Legend.from_facts(legend)
            texts = [found.headline, found.second, found.question, found.once, found.again, *found.columns]
            for score in (score for scores in found.scores.values() for score in scores):
                texts += [score.title, score.unit, *score.words.values()]
        except (UsageError, TypeError, ValueError, AttributeError, KeyError):
            return False
        if not all(isinstance(text, str) for text in texts):
            return False
        self._legends = [legend, *self._legends[:7]]
        return True


def _file_lines(path: pathlib.Path, name: str, known: _Known) -> Iterator[Line]:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device might never end
            yield Line(name, 0, b"", problem="cannot be read (not an ordinary file)")
            return
        with path.open("rb", _BUFFER) as file:
            yield from _lines(file, name, known)
    except FileNotFoundError:
        if path.is_symlink():
            yield Line(name, 0, b"", problem="cannot be read (a link to nothing)")
        # Else repaired away while we were looking.
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM):
            raise UsageError(f"cannot read {path}: {error.strerror}") from error
        yield Line(name, 0, b"", problem=f"cannot be read ({error.strerror})")


def _lines(file: BinaryIO, name: str, known: _Known) -> Iterator[Line]:
    number = 0
    while content := file.readline(LONGEST_LINE):
        number += 1
        if content.endswith(b"\n"):
            yield _line(name, number, content[:-1], known)
        elif len(content) == LONGEST_LINE:
            while content and not content.endswith(b"\n"):
                content = file.readline(LONGEST_LINE)
            yield Line(name, number, b"", problem=f"longer than {LONGEST_LINE:,} bytes")
        else:
            line = _line(name, number, content, known)
            # Only the newline may be missing; then nothing is lost.
            torn = line.problem.startswith(_NOT_JSON) and _is_beginning(content)
            yield Line(name, number, content, problem="last line is cut off", torn=True) if torn else line


_NOT_JSON = "not a line of JSON"


def _is_beginning(content: bytes) -> bool:
    """Whether bytes can be the first part of one record. A whole one with something after it, since the end of its line
    was overwritten, and zeros in place of lines are more than a last line cut off.
    """
    if not content.startswith(b"{") or not content.isascii() or not content.decode().isprintable():
        return False
    try:
        json.JSONDecoder().raw_decode(content.decode())
    except ValueError:
        return True
    except RecursionError:
        pass
    return False


def _line(name: str, number: int, content: bytes, known: _Known) -> Line:
    try:
        facts = json.loads(content.decode())
    except (ValueError, RecursionError) as error:  # includes bytes that are no text
        return Line(name, number, content, problem=f"{_NOT_JSON} ({error})")
    if not isinstance(facts, dict):
        return Line(name, number, content, problem="not a record (not a mapping)")
    try:
        record = Record.from_facts({**facts, "legend": known.legend(facts.get("legend", {}))})
        key = _key(record)
        problem = _problem(facts, record, key, known) or ("" if intact(content, facts) else _CHANGED)
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as error:
        return Line(name, number, content, problem=f"not a record ({error})")
    if problem:
        # A kind of outcome that only a later version knows, in a line that guards itself.
        newer = problem == _unknown(record.status) and CHECK in facts and intact(content, facts)
        return Line(name, number, content, None, key, problem, newer=newer)
    if b"\\ud" in content:
        said = {part.name: spoken(getattr(record, part.name)) for part in fields(record) if part.name != "what"}
        record = replace(record, **said)
    if record.saved is not None and not known.has(record.saved):
        record = replace(record, saved=None)  # its scores stand all the same: learners are large, and may be deleted
    vars(record)["key"] = key  # as it would find itself, which takes longer than all the rest
    return Line(name, number, content, record, key)


def _key(record: Record) -> str:
    """The record's key. What comes out of JSON is of plain types, unless a number in it is not finite."""
    try:
        text = _PLAIN.encode(record.what)
    except ValueError:
        return record.key
    return hashlib.sha256(text.encode()).hexdigest()


_CHANGED = "the checksum is not that of the line: something in it was changed"


def _unknown(status: str) -> str:
    return f'unknown status "{status}"; a later quickstudy may know it'


def _problem(facts: Mapping[str, Any], record: Record, key: str, known: _Known) -> str:
    if fault := next(record.faults(), ""):
        return f"not a record ({fault})"
    if record.status not in RANKS:
        return _unknown(record.status)
    if facts.get("key") != key:
        return f"the key {str(facts.get('key'))[:12]} does not belong to what was run ({key[:12]})"
    if not known.understands(record.legend):
        return "not a record (its legend cannot be read)"
    trace = record.trace.get("file")
    for kept in (trace, record.saved):
        if kept is not None and not _KEPT.fullmatch(kept):
            return f"the file {kept[:80]!r} is none of the folder's"
    return f"the file {trace} is missing" if trace is not None and not known.has(trace) else ""


def _place(key: str, record: Record) -> tuple[str, str, str, str, float, str]:
    what, labels = record.what, record.labels
    repetition = what.get("repetition")
    number = float(repetition) if isinstance(repetition, int) else -1.0
    names = str(labels.get("task")), str(labels.get("learner")), str(what.get("convention")), str(what.get("root"))
    return *names, number, key
