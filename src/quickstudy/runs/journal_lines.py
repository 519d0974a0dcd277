"""Lines of journals: every one is read and checked by itself. A folder from elsewhere can hold
anything.
"""

from __future__ import annotations

import errno
import hashlib
import json
import marshal
import pathlib
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, BinaryIO

from quickstudy.base.canonical import CHECK, intact, spoken
from quickstudy.base.errors import UsageError
from quickstudy.base.record import STATUSES, Record, too_deep
from quickstudy.base.score_metadata import Legend
from quickstudy.runs.folder import LEARNERS, RUNS, TRACES, check_format, write_aside

LONGEST_LINE = 1 << 26
"""Bytes of a line that is read: 64 MiB, a thousand times what a record with an inline trace
takes.
"""
_BUFFER = 1 << 20
_MOST_SHARED = 20_000
_PLAIN = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_KEPT = re.compile(rf"(?:{TRACES}|{LEARNERS})/[^./\\][^/\\]*\.npz")


@dataclass(frozen=True)
class Line:
    """One line of a journal: its bytes, and either the record in it, with its key, or what is wrong
    with it. torn: a last line that was cut off. number: from 1; 0 for a file that cannot be read at
    all. A line that is too long to be read has no content. newer: whole, and of a later version: it
    is left out, and left where it is.
    """

    file: str
    number: int
    content: bytes
    record: Record | None = None
    key: str = ""
    problem: str = ""
    torn: bool = False
    newer: bool = False


def write_lines(path: pathlib.Path, writer: str, lines: Iterable[Line]) -> None:
    """Write lines unchanged, all of them or none."""
    content = b"".join(line.content + b"\n" for line in lines)
    write_aside(path, writer, lambda file: file.write(content))


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


def expect_results(folder: pathlib.Path) -> None:
    """Raise UsageError if nothing has ever been run into a folder."""
    if not (folder / RUNS).is_dir():
        raise UsageError(
            f"no results in {folder}; run something there first, or name another folder"
        )


class _Known:
    """The state of a folder while its lines are read.

    Traces and learners are listed once, and looked for again before one is called missing, since a
    run that goes on writes a trace, and then the line that names it, after the listing. Parts that
    are equal in many records (components, versions, facts, legends) are kept and checked once:
    100,000 records then take 0.6 GB instead of 1.8.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._files = {
            f"{room}/{path.name}"
            for room in (TRACES, LEARNERS)
            for path in (folder / room).glob("*.npz")
        }
        self._understood: dict[int, bool] = {}
        self._parts: dict[bytes, dict[str, Any]] = {}
        self.sound: dict[int, Any] = {}

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        return name in self._files or (self._folder / name).is_file()

    def shared(self, facts: dict[str, Any]) -> dict[str, Any]:
        """The facts of a line, with one object for all equal parts that were read so far."""
        found = {"legend": {}, **facts}
        for name in ("labels", "files", "legend"):
            if type(part := found.get(name)) is dict:
                found[name] = self._part(part)
        for name in ("what", "where", "cost", "trace"):  # of this record alone, but their entries
            if type(part := facts.get(name)) is dict:
                found[name] = self._entries(part)
        if type(scores := facts.get("scores")) is dict:
            found["scores"] = {
                sys.intern(id): {
                    sys.intern(name): _named(one) if type(one) is dict else one
                    for name, one in entry.items()
                }
                if type(entry) is dict
                else entry
                for id, entry in scores.items()
            }
        return found

    def _entries(self, own: dict[str, Any]) -> dict[str, Any]:
        return {
            sys.intern(name): one
            if type(one) is float or name == "arrays"
            else self._part(one)
            if type(one) is dict
            else sys.intern(one)
            if type(one) is str
            else one
            for name, one in own.items()
        }

    def _part(self, part: dict[str, Any]) -> dict[str, Any]:
        try:  # by its bytes: True is equal to 1, and another value
            mark = marshal.dumps(part, 2)
        except ValueError:  # nested too deeply, as its check will say
            return part
        if len(self._parts) >= _MOST_SHARED:
            return self._parts.get(mark, part)
        return self._parts.setdefault(mark, part)

    def understands(self, legend: Mapping[str, Any]) -> bool:
        """Whether a record's legend can be read, one that `shared` gave."""
        if id(legend) not in self._understood:
            self._understood[id(legend)] = _can_be_read(legend)
        return self._understood[id(legend)]


def _named(values: dict[str, Any]) -> dict[str, Any]:
    """A mapping with one object for each of its texts, which are those of many records."""
    return {
        sys.intern(name): sys.intern(one) if type(one) is str else one
        for name, one in values.items()
    }


def _can_be_read(legend: Mapping[str, Any]) -> bool:
    if too_deep(legend):
        return False
    try:
        found = Legend.from_facts(legend)
        texts = [
            found.headline,
            found.second,
            found.question,
            found.once,
            found.again,
            *found.columns,
        ]
        for score in (score for scores in found.scores.values() for score in scores):
            texts += [score.title, score.unit, *score.words.values()]
    except (UsageError, TypeError, ValueError, AttributeError, KeyError):
        return False
    return all(isinstance(text, str) for text in texts)


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
            yield (
                Line(name, number, content, problem="last line is cut off", torn=True)
                if torn
                else line
            )


_NOT_JSON = "not a line of JSON"


def _is_beginning(content: bytes) -> bool:
    """Whether bytes can be the first part of one record. A whole one with something after it, since
    the end of its line was overwritten, and zeros in place of lines are more than a last line cut
    off.
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
    except (ValueError, RecursionError) as error:  # includes bytes that are not text
        return Line(name, number, content, problem=f"{_NOT_JSON} ({error})")
    if not isinstance(facts, dict):
        return Line(name, number, content, problem="not a record (not a mapping)")
    try:
        record = Record.from_facts(known.shared(facts))
        key = _key(record)
        problem = _problem(facts, record, key, known) or (
            "" if intact(content, facts) else _CHANGED
        )
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as error:
        return Line(name, number, content, problem=f"not a record ({error})")
    if problem:
        # A kind of outcome that only a later version knows, in a line that guards itself.
        newer = problem == _unknown(record.status) and CHECK in facts and intact(content, facts)
        return Line(name, number, content, None, key, problem, newer=newer)
    if b"\\ud" in content:
        said = {
            part.name: spoken(getattr(record, part.name))
            for part in fields(record)
            if part.name != "what"
        }
        record = replace(record, **said)
    if record.saved is not None and not known.has(record.saved):
        record = replace(
            record, saved=None
        )  # its scores stand all the same: learners are large, and may be deleted
    vars(record)["key"] = key  # as it would find itself, which takes longer than all the rest
    return Line(name, number, content, record, key)


def _key(record: Record) -> str:
    """The record's key. What comes out of JSON is of plain types, unless a number in it is not
    finite.
    """
    try:
        text = _PLAIN.encode(record.what)
    except ValueError:
        return record.key
    return hashlib.sha256(text.encode()).hexdigest()


_CHANGED = "the checksum is not that of the line: something in it was changed"


def _unknown(status: str) -> str:
    return f'unknown status "{status}"; a later quickstudy may know it'


def _problem(facts: Mapping[str, Any], record: Record, key: str, known: _Known) -> str:
    if fault := next(record.faults(known.sound), ""):
        return f"not a record ({fault})"
    if record.status not in STATUSES:
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
