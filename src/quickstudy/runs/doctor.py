"""Find damage in a results folder, and repair it. Nothing is thrown away that could hold a
result.

Cut and damaged lines, records without their traces, and files without their record go to
`damaged/`; what is good stays where it is. Only folders that are ours are looked at: with our
marker, or with one good record at least. Journals that a running process still writes are left
alone, and what is deleted are only files written aside, and calls that have ended, by processes
that are gone.
"""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from quickstudy.base.code_identity import content_version
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.record import FAILED
from quickstudy.runs.array_files import load_trace, read_arrays
from quickstudy.runs.checkpoints import keys_of
from quickstudy.runs.folder import (
    DAMAGED,
    LEARNERS,
    MARKER,
    ROOMS,
    RUNS,
    SOURCES,
    TRACES,
    UNFINISHED,
    move_aside,
    prepare_folder,
    read_marker,
    refuse_links,
    write_aside,
    written_aside,
)
from quickstudy.runs.journal import lock
from quickstudy.runs.journal_lines import Line, read_lines, write_lines
from quickstudy.runs.merge import Damage


def examine_folder(folder: str | pathlib.Path) -> list[Damage]:
    """Everything that is not as it should be, cut last lines and leftovers included. Changes
    nothing.
    """
    folder = pathlib.Path(folder)
    lines = _ours(folder)
    found = [Damage(MARKER, None, problem) for problem in _marker_faults(folder)]
    found += [
        Damage(line.file, line.number or None, line.problem)
        for line in lines
        if line.record is None
    ]
    left_over = [*_half_written(folder), *_finished(folder, lines)]
    files = [(path, "left over from a run that was killed") for path in left_over]
    files += [(path, "no record names it") for path in _orphans(folder, lines)]
    files += [(path, f"cannot be read ({why})") for path, why in _unreadable(folder, lines)]
    files += [(path, _ALTERED) for path in _altered(folder)]
    return [*found, *(Damage(_name(folder, path), None, problem) for path, problem in files)]


def repair(folder: str | pathlib.Path) -> list[str]:
    """Set aside what is damaged, so that the same command runs it again. Says what was done, one
    line each.
    """
    folder = pathlib.Path(folder)
    lines = _ours(folder)
    # Listed before the locks are asked for: who writes a file aside has locked a journal before.
    half_written = list(_half_written(folder))
    unread = [line.file for line in lines if not line.number]
    journals = [
        path
        for path in sorted((folder / RUNS).glob("*.jsonl"))
        if f"{RUNS}/{path.name}" not in unread
    ]
    busy = {path.name for path in journals if _in_use(path)}
    done = [
        f"{RUNS}/{name} is being written by a running process: left alone" for name in sorted(busy)
    ]
    for problem in _marker_faults(folder):
        done.append(_set_aside(folder, folder / MARKER, problem))
        prepare_folder(folder)
    for line in lines:
        if not line.number:
            done.append(_set_aside(folder, folder / line.file, line.problem))
    for path, why in _unreadable(folder, lines):
        done.append(_set_aside(folder, path, f"it cannot be read ({why})"))
    done += [_set_aside(folder, path, _ALTERED) for path in list(_altered(folder))]
    for name, group in groupby(_read(folder), key=lambda line: line.file):
        if pathlib.PurePath(name).name not in busy:
            done += _repair_journal(folder, name, list(group))
    if not busy:  # else these may be what the running process is just writing
        for path in [*half_written, *_finished(folder, _read(folder))]:
            path.unlink(missing_ok=True)
            done.append(f"removed {_name(folder, path)}, left over from a run that was killed")
        for path in _orphans(folder, _read(folder)):
            done.append(_set_aside(folder, path, "no record names it"))
    return done


def _read(folder: pathlib.Path) -> list[Line]:
    """All lines; one with an inline trace that cannot be read is damaged too."""
    return [_with_trace(folder, line) for line in read_lines(folder)]


def _ours(folder: pathlib.Path) -> list[Line]:
    """All lines of a folder. Raises UsageError if it is not ours."""
    if not folder.is_dir():
        raise UsageError(f"no folder {folder} to examine")
    refuse_links(folder)
    lines = _read(folder)
    # A folder put together by copying has no marker; its records then say whose it is.
    if not (folder / MARKER).exists() and not any(line.record for line in lines):
        raise UsageError(
            f"{folder} is not a results folder: it has neither {MARKER} nor one good record in"
            f" {RUNS}/"
        )
    return lines


def _with_trace(folder: pathlib.Path, line: Line) -> Line:
    if line.record is None or "arrays" not in line.record.trace or "file" in line.record.trace:
        return line
    try:
        load_trace(folder, line.record)
    except QuickstudyError as error:
        return replace(line, record=None, problem=str(error))
    return line


def _marker_faults(folder: pathlib.Path) -> list[str]:
    """Damage of the file with the format of the folder; a missing one is not damage."""
    try:
        read_marker(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [f"cannot be read ({error.strerror})"]
    except ValueError as error:
        return [str(error)]
    return []


def _repair_journal(folder: pathlib.Path, name: str, lines: list[Line]) -> list[str]:
    bad = [line for line in lines if line.record is None and not line.newer]
    if not bad:
        return []
    good = [line for line in lines if line.record is not None or line.newer]
    # First a safe place for what is taken out, then the journal without it: nothing is lost at any
    # moment.
    target = _free(folder / DAMAGED / pathlib.PurePath(name).name)
    if any(not line.content for line in bad):  # too long to be read: all of it is kept
        with open(folder / name, "rb") as whole:
            write_aside(target, "doctor", lambda file: shutil.copyfileobj(whole, file))
    else:
        write_lines(target, "doctor", bad)
    write_lines(folder / name, "doctor", good)
    if not good:
        (folder / name).unlink()
    return [
        f"moved {name} line {line.number} to {_name(folder, target)}: {line.problem}"
        for line in bad
    ]


def _set_aside(folder: pathlib.Path, path: pathlib.Path, why: str) -> str:
    target = _free(folder / DAMAGED / f"{path.parent.name}-{path.name}")
    move_aside(path, target)
    return f"moved {_name(folder, path)} to {_name(folder, target)}: {why}"


def _free(path: pathlib.Path) -> pathlib.Path:
    """The path, or the first of path.2, path.3 ... that is not taken: an earlier repair keeps what
    it set aside.
    """
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free


def _in_use(path: pathlib.Path) -> bool:
    for mode in (
        "r+b",
        "rb",
    ):  # some disks lock only what can be written, and some folders can only be read
        try:
            with open(path, mode, buffering=0) as file:
                return not lock(file)
        except FileNotFoundError:  # its process has ended, and left nothing
            return False
        except OSError as error:
            fault = error
    raise UsageError(f"cannot read {path}: {fault.strerror}") from fault


def _half_written(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Files that were written aside by a process that is gone."""
    for room in (folder, *(folder / room for room in ROOMS)):
        yield from (path for path in sorted(room.glob(".*")) if written_aside(path))


def _finished(folder: pathlib.Path, lines: list[Line]) -> Iterator[pathlib.Path]:
    """Checkpoints of calls whose runs are written, which will never be read. One whose runs are
    missing or failed is none: the same command goes on from it.
    """
    finished = {line.key for line in lines if line.record and line.record.status != FAILED}
    for path in sorted((folder / UNFINISHED).glob("*.npz")):
        if (keys := keys_of(path)) and finished.issuperset(keys):
            yield path


def _orphans(folder: pathlib.Path, lines: list[Line]) -> Iterator[pathlib.Path]:
    named = {
        name
        for line in lines
        if line.record
        for name in (line.record.trace.get("file"), line.record.saved)
    }
    for room in (TRACES, LEARNERS):
        for path in sorted((folder / room).glob("*.npz")):
            if f"{room}/{path.name}" not in named:
                yield path


def _unreadable(folder: pathlib.Path, lines: list[Line]) -> Iterator[tuple[pathlib.Path, str]]:
    """Files that cannot be read, with the reason. Where several records name a file, one must have
    its checksum.
    """
    said: dict[str, set[str | None]] = {}
    for line in lines:
        for name in (line.record.trace.get("file"), line.record.saved) if line.record else ():
            if name is not None:
                said.setdefault(name, set()).add(
                    line.record.files.get(name) if line.record else None
                )
    for name, sums in sorted(said.items()):
        faults = [
            fault for found in sorted(sums, key=str) if (fault := _fault(folder / name, found))
        ]
        if len(faults) == len(sums):
            yield folder / name, faults[0]
    for path in sorted((folder / UNFINISHED).glob("*.npz")):
        if not keys_of(path):
            yield path, _fault(path) or "it does not say what it is"


_ALTERED = "its content is not the one that it is named after"


def _altered(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """Kept code that is not what was run: a file is named after its content."""
    for path in sorted((folder / SOURCES).glob("*.py")):
        if not path.is_file() or content_version(path.read_bytes()) != path.stem:
            yield path


def _fault(path: pathlib.Path, sha256: str | None = None) -> str:
    try:
        read_arrays(path, sha256)
    except QuickstudyError as error:
        return str(error.__cause__).partition("\n")[0]
    return ""


def _name(folder: pathlib.Path, path: pathlib.Path) -> str:
    return path.relative_to(folder).as_posix()
