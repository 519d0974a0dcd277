"""What is wrong with a results folder, and the repair. Nothing is thrown away that could hold a result.

Cut and damaged lines, records without their files, and files without their record go to `damaged/`; what is good
stays where it is. Journals that a running process still writes are left alone.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from itertools import groupby

from quickstudy.base.errors import UsageError
from quickstudy.base.record import FAILED
from quickstudy.runs.folder import (
    DAMAGED,
    LEARNERS,
    MARKER,
    RUNS,
    SEALED,
    SOURCES,
    TEMPORARY,
    TRACES,
    UNFINISHED,
    prepare_folder,
    write_aside,
    writing_fault,
)
from quickstudy.runs.installation import Installation, Library, examine_installation
from quickstudy.runs.journal import lock
from quickstudy.runs.reader import Damage, Line, read_lines
from quickstudy.runs.traces import readable
from quickstudy.runs.unfinished import keys_of

__all__ = ["Damage", "Installation", "Library", "examine_folder", "examine_installation", "repair"]


def examine_folder(folder: str | pathlib.Path) -> list[Damage]:
    """Everything that is not as it should be, cut last lines and leftovers included. Changes nothing."""
    folder = _existing(folder)
    lines = list(read_lines(folder))
    found = [Damage(MARKER, None, problem) for problem in _marker_faults(folder)]
    found += [Damage(line.file, line.number, line.problem) for line in lines if line.record is None]
    left_over = _left_over(folder, lines)
    found += [Damage(_name(folder, path), None, "left over from a run that was killed") for path in left_over]
    found += [Damage(_name(folder, path), None, "no record names it") for path in _orphans(folder, lines)]
    found += [Damage(_name(folder, path), None, "cannot be read") for path in _unreadable(folder, lines)]
    return found


def repair(folder: str | pathlib.Path) -> list[str]:
    """Set aside what is damaged, so that the same command runs it again. Says what was done, one line each."""
    folder = _existing(folder)
    busy = {path.name for path in sorted((folder / RUNS).glob("*.jsonl")) if _in_use(path)}
    done = [f"{RUNS}/{name} is being written by a running process: left alone" for name in sorted(busy)]
    for problem in _marker_faults(folder):
        done.append(_set_aside(folder, folder / MARKER, problem))
        prepare_folder(folder)
    lines = list(read_lines(folder))
    for path in _unreadable(folder, lines):
        done.append(_set_aside(folder, path, "it cannot be read"))
    for name, group in groupby(list(read_lines(folder)), key=lambda line: line.file):
        if pathlib.PurePath(name).name not in busy:
            done += _repair_journal(folder, name, list(group))
    if not busy:  # else these may be what the running process is just writing
        for path in list(_left_over(folder, list(read_lines(folder)))):
            path.unlink(missing_ok=True)
            done.append(f"removed {_name(folder, path)}, left over from a run that was killed")
        for path in _orphans(folder, list(read_lines(folder))):
            done.append(_set_aside(folder, path, "no record names it"))
    return done


def _existing(folder: str | pathlib.Path) -> pathlib.Path:
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise UsageError(f"no folder {folder} to examine")
    if not (folder / RUNS).exists() and not (folder / MARKER).exists():
        raise UsageError(f"{folder} is not a results folder: it has neither {RUNS}/ nor {MARKER}")
    return folder


def _marker_faults(folder: pathlib.Path) -> list[str]:
    """What is wrong with the file that says how the folder is written; one that is missing is no fault."""
    try:
        found = json.loads((folder / MARKER).read_text(encoding="utf-8"))["format"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ["does not say the format of the folder"]
    return [] if isinstance(found, int) else [f"the format must be a whole number, got {found!r}"]


def _repair_journal(folder: pathlib.Path, name: str, lines: list[Line]) -> list[str]:
    bad = [line for line in lines if line.record is None]
    if not bad:
        return []
    good = [line for line in lines if line.record is not None]
    # First a safe place for what is taken out, then the journal without it: nothing is lost at any moment.
    target = _free(folder / DAMAGED / pathlib.PurePath(name).name)
    write_aside(target, "doctor", lambda file: file.write(b"".join(line.content + b"\n" for line in bad)))
    write_aside(folder / name, "doctor", lambda file: file.write(b"".join(line.content + b"\n" for line in good)))
    if not good:
        (folder / name).unlink()
    return [f"moved {name} line {line.number} to {_name(folder, target)}: {line.problem}" for line in bad]


def _set_aside(folder: pathlib.Path, path: pathlib.Path, why: str) -> str:
    target = _free(folder / DAMAGED / f"{path.parent.name}-{path.name}")
    try:
        target.parent.mkdir(exist_ok=True)
        path.rename(target)
    except OSError as error:
        raise writing_fault(error, target) from error
    return f"moved {_name(folder, path)} to {_name(folder, target)}: {why}"


def _free(path: pathlib.Path) -> pathlib.Path:
    """The path, or the first of path.2, path.3 ... that is not taken: an earlier repair keeps what it set aside."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free


def _in_use(path: pathlib.Path) -> bool:
    for mode in ("r+b", "rb"):  # some disks lock only what can be written, and some folders can only be read
        try:
            with open(path, mode, buffering=0) as file:
                return not lock(file)
        except OSError as error:
            fault = error
    raise UsageError(f"cannot read {path}: {fault.strerror}") from fault


def _left_over(folder: pathlib.Path, lines: list[Line]) -> Iterator[pathlib.Path]:
    """What a killed run has left, and nobody will read: files half written, and unfinished calls whose runs are there.

    An unfinished call whose runs are missing or failed is none: the same command goes on from it.
    """
    for room in (folder, *(folder / room for room in (RUNS, TRACES, LEARNERS, UNFINISHED, SEALED, DAMAGED, SOURCES))):
        yield from sorted(room.glob(f".*{TEMPORARY}"))
    finished = {line.record.key for line in lines if line.record and line.record.status != FAILED}
    for path in sorted((folder / UNFINISHED).glob("*.npz")):
        if finished.issuperset(keys_of(path)):  # also where it can no longer be read
            yield path


def _orphans(folder: pathlib.Path, lines: list[Line]) -> Iterator[pathlib.Path]:
    named = {name for line in lines if line.record for name in (line.record.trace.get("file"), line.record.saved)}
    for room in (TRACES, LEARNERS):
        for path in sorted((folder / room).glob("*.npz")):
            if f"{room}/{path.name}" not in named:
                yield path


def _unreadable(folder: pathlib.Path, lines: list[Line]) -> Iterator[pathlib.Path]:
    orphans = set(_orphans(folder, lines))
    for room in (TRACES, LEARNERS):
        for path in sorted((folder / room).glob("*.npz")):
            if path not in orphans and not readable(path):
                yield path


def _name(folder: pathlib.Path, path: pathlib.Path) -> str:
    return path.relative_to(folder).as_posix()
