"""Runs out of a results folder: all of them packed into one file, or some put aside.

A packed file, unpacked, is the folder again. Runs that are set aside go, with their traces and
trained learners, to `forgotten/1`, `forgotten/2` ...: each a results folder of its own, which every
verb can read. Copied back into the folder, its files are unchanged; nothing is deleted.
"""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import zipfile
from collections.abc import Collection
from itertools import groupby
from typing import BinaryIO

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.runs.checkpoints import keys_of
from quickstudy.runs.folder import (
    DAMAGED,
    FORGOTTEN,
    LEARNERS,
    MARKER,
    RUNS,
    SOURCES,
    TRACES,
    UNFINISHED,
    check_format,
    make_folder,
    prepare_folder,
    sync_folder,
    write_aside,
    write_output,
    writing_fault,
)
from quickstudy.runs.journal import lock
from quickstudy.runs.journal_lines import Line, read_lines, write_lines

_ALWAYS = (1980, 1, 1, 0, 0, 0)  # the same folder packs to the same bytes


def pack(folder: str | pathlib.Path, target: str | pathlib.Path | None = None) -> pathlib.Path:
    """Pack records, traces, trained learners, sources and what was set aside as damaged, but
    nothing derived, nothing unfinished and nothing forgotten.

    Gives the file's path.

    target: default FOLDER.zip, next to the folder; a device or a pipe is written into. Raises
    UsageError if it exists, if there is nothing to pack, and for a link in the folder that leads
    out of it.
    """
    folder = pathlib.Path(folder).resolve()
    if not (folder / RUNS).is_dir():
        raise UsageError(f"no results in {folder} to pack")
    check_format(folder)
    target = (
        pathlib.Path(target) if target is not None else folder.parent / f"{folder.name or RUNS}.zip"
    )
    if target.is_file() or target.is_dir():
        raise UsageError(f"{target} exists; remove it or name another file")
    write_output(target, lambda file: _write_archive(file, folder))
    return target


def _write_archive(file: BinaryIO, folder: pathlib.Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        # Journals before traces: a run may be going on, and a line is written after the trace that
        # it names.
        _add(archive, folder, sorted(folder.glob(MARKER)))
        _add(archive, folder, sorted((folder / RUNS).glob("*.jsonl")))
        for room in (TRACES, LEARNERS, SOURCES, DAMAGED):
            _add(
                archive,
                folder,
                sorted(path for path in (folder / room).glob("*") if not path.name.startswith(".")),
            )


def _add(archive: zipfile.ZipFile, folder: pathlib.Path, paths: list[pathlib.Path]) -> None:
    for path in paths:
        # A link to itself can be resolved in no way; one within the folder is packed as a file.
        if not os.path.realpath(path).startswith(f"{folder}{os.sep}") or not os.path.isfile(path):
            raise UsageError(
                f"{path} is not an ordinary file of the folder; restore the file, or remove it"
            )
        entry = zipfile.ZipInfo(
            f"{folder.name or RUNS}/{path.relative_to(folder).as_posix()}", _ALWAYS
        )
        entry.compress_type = zipfile.ZIP_STORED if path.suffix == ".npz" else zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        with archive.open(entry, "w", force_zip64=True) as member, open(path, "rb") as source:
            shutil.copyfileobj(source, member)


def forget(folder: str | pathlib.Path, keys: Collection[str]) -> pathlib.Path | None:
    """Put the runs of these keys aside, with every record of them. Gives where they are now; None
    if there are none.

    Raises QuickstudyError, with nothing changed, if a running process still writes one of the
    journals that hold them.
    """
    folder = pathlib.Path(folder)
    journals = {
        name: list(lines) for name, lines in groupby(read_lines(folder), key=lambda line: line.file)
    }
    touched = {
        name: lines for name, lines in journals.items() if any(_named(line, keys) for line in lines)
    }
    begun = [
        path
        for path in (folder / UNFINISHED).glob("*.npz")
        if not set(keys).isdisjoint(keys_of(path))
    ]
    if not touched and not begun:
        return None
    for name in touched:
        with open(folder / name, "r+b", buffering=0) as file:
            if not lock(file):
                raise QuickstudyError(
                    f"{folder / name} is being written by a running process; try again when it ends"
                )
    aside = _room(folder)
    # First a safe place for what is taken out, its files before their records; then the journals
    # without it; then the files that no other run names. At every moment each run is whole in one
    # of the two places.
    files = [
        path
        for key in keys
        for room in (TRACES, LEARNERS)
        for path in (folder / room).glob(f"{key}*.npz")
    ]
    for path in files:
        _double(path, aside / path.parent.name / path.name)
    for name, lines in touched.items():
        gone = [line for line in lines if _named(line, keys)]
        kept = [line for line in lines if not _named(line, keys)]
        for place, content in ((aside, gone), (folder, kept)):
            write_lines(place / name, str(os.getpid()), content)
        if not kept:
            (folder / name).unlink()
    for path in begun:  # what was made again would go on from the old
        _double(path, aside / UNFINISHED / path.name)
    for path in (*files, *begun):
        path.unlink(missing_ok=True)
    return aside


def _named(line: Line, keys: Collection[str]) -> bool:
    return line.record is not None and line.key in keys


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
    """A second name for a file, which is never changed; its copy, on a disk that has no second
    names.
    """
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
