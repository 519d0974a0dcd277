"""The results folder on disk: its rooms, its marker, and how a file gets into it whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pathlib
from collections.abc import Callable
from typing import BinaryIO

from quickstudy import __version__
from quickstudy.base.errors import QuickstudyError, UsageError

FORMAT = 1
MARKER = "quickstudy.json"
RUNS, TRACES, LEARNERS, UNFINISHED = "runs", "traces", "learners", "unfinished"
SEALED, DAMAGED = "sealed", "damaged"
SOURCES, FORGOTTEN = "sources", "forgotten"
TEMPORARY = ".tmp"

_USERS_MISTAKES = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ENOENT,
    errno.ENAMETOOLONG,
}


def writing_fault(error: OSError, path: str | os.PathLike[str]) -> QuickstudyError:
    """The one line that says why a file of the results folder could not be written, and what to do."""
    reason = error.strerror or str(error)
    if error.errno in _USERS_MISTAKES:
        return UsageError(f"cannot write {path}: {reason}; choose another folder")
    return QuickstudyError(f"cannot write {path}: {reason}; mend that, then give the same command again")


def prepare_folder(folder: pathlib.Path) -> None:
    """Make the folder, its rooms and its marker, where they are missing; UsageError if that cannot be."""
    check_format(folder)
    for room in (folder, folder / RUNS, folder / TRACES):
        try:
            room.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise UsageError(f"{room} is a file, not a folder; choose another folder for the results") from error
        except OSError as error:
            raise writing_fault(error, room) from error
    if not (folder / MARKER).exists():
        facts = json.dumps({"format": FORMAT, "quickstudy": __version__}) + "\n"
        write_aside(folder / MARKER, str(os.getpid()), lambda file: _write_all(file, facts.encode()))


def check_format(folder: pathlib.Path) -> None:
    """Raise UsageError if a later quickstudy has written the folder in a way that this one does not know."""
    try:
        found = json.loads((folder / MARKER).read_text())["format"]
    except (OSError, ValueError, KeyError, TypeError):
        return  # a folder put together by copying has no marker, and needs none
    if isinstance(found, int) and found > FORMAT:
        raise UsageError(
            f"{folder} has format {found}, this quickstudy reads up to {FORMAT}; install a later quickstudy"
        )


def write_aside(target: pathlib.Path, writer: str, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place, sync it, and rename it into its place: readers see all of it or nothing.

    writer: a name that no other process uses. Nothing stays behind when writing fails.
    """
    aside = target.with_name(f".{target.name}.{writer}{TEMPORARY}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(aside, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, target)
        _sync_folder(target.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise writing_fault(error, target) from error
        raise


def _write_all(file: BinaryIO, content: bytes) -> None:
    file.write(content)


def _sync_folder(folder: pathlib.Path) -> None:
    # Some systems cannot open or sync a folder; there the rename alone must do.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
