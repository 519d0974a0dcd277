"""The results folder on disk: its rooms, its marker, and how a file gets into it whole or not at
all.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import pathlib
import platform
import re
import stat
from collections.abc import Callable
from typing import BinaryIO

from quickstudy import __version__
from quickstudy.base.canonical import guarded, intact
from quickstudy.base.errors import QuickstudyError, UsageError

FORMAT = 1
MARKER = "quickstudy.json"
RUNS, TRACES, LEARNERS, UNFINISHED = "runs", "traces", "learners", "unfinished"
SEALED, DAMAGED = "sealed", "damaged"
SOURCES, FORGOTTEN = "sources", "forgotten"
ROOMS = (RUNS, TRACES, LEARNERS, UNFINISHED, SEALED, DAMAGED, SOURCES)
TEMPORARY = ".tmp"
_WRITTEN_ASIDE = re.compile(
    r"\..+\.(?:(?P<host>[A-Za-z0-9._-]+)-(?P<of>\d+)-[0-9a-z]+|(?P<pid>\d+)|doctor|pack)\.tmp"
)
_MARKER_BYTES = 1 << 16
"""More of a marker is not read: it has forty."""

_USERS_MISTAKES = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR),
    *(errno.EEXIST, errno.ENOENT, errno.ENAMETOOLONG),
}


def writing_fault(error: OSError, path: str | os.PathLike[str]) -> QuickstudyError:
    """The error for a file of the results folder that could not be written, with the remedy."""
    reason = error.strerror or str(error)
    if error.errno in _USERS_MISTAKES:
        return UsageError(f"cannot write {path}: {reason}; choose another folder")
    return QuickstudyError(f"cannot write {path}: {reason}; solve that, then repeat the command")


def prepare_folder(folder: pathlib.Path) -> None:
    """Make the folder, its rooms and its marker, where they are missing; UsageError if that cannot
    be.
    """
    if folder.resolve() == pathlib.Path(folder.resolve().anchor):
        raise UsageError(f"{folder} is the root of the disk; name a folder for the results")
    check_format(folder)
    refuse_links(folder)
    for room in (folder, folder / RUNS, folder / TRACES):
        try:
            make_folder(room)
        except FileExistsError as error:
            raise UsageError(
                f"{room} is a file, not a folder; choose another folder for the results"
            ) from error
        except OSError as error:
            raise writing_fault(error, room) from error
    if not (folder / MARKER).exists():
        facts = guarded({"format": FORMAT, "quickstudy": __version__}) + "\n"
        write_aside(folder / MARKER, str(os.getpid()), lambda file: file.write(facts.encode()))


def check_format(folder: pathlib.Path) -> None:
    """Raise UsageError if a later quickstudy has written the folder in a way that this one does not
    know.
    """
    try:
        found = read_marker(folder)
    except (OSError, ValueError):
        return  # a folder put together by copying has no marker, and needs none
    if found > FORMAT:
        raise UsageError(
            f"{folder} has format {found}, this quickstudy reads up to {FORMAT}; install a later"
            " quickstudy"
        )


def refuse_links(folder: pathlib.Path) -> None:
    """Raise UsageError if a room of the folder is a link: what we write, move or delete there would
    be outside the folder.
    """
    for room in (*ROOMS, FORGOTTEN):
        if (folder / room).is_symlink():
            raise UsageError(
                f"{folder / room} is a link; make it a folder of its own, or link the whole results"
                " folder"
            )


def read_marker(folder: pathlib.Path) -> int:
    """The format of a folder. Raises OSError if no file states it, and ValueError if the file
    cannot be parsed.
    """
    with open_ordinary(folder / MARKER) as file:
        content = file.read(_MARKER_BYTES)
    try:
        facts = json.loads(content.decode())
        found = facts["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("does not say the format of the folder") from None
    if not intact(content.rstrip(b"\n"), facts):
        raise ValueError("its checksum is not its own: something in it was changed")
    if not isinstance(found, int):
        raise ValueError(f"the format must be a whole number, got {str(found)[:80]!r}")
    return found


def open_ordinary(path: pathlib.Path) -> io.BufferedReader:
    """A file to read. Raises OSError for one that is not ordinary: a pipe or a device might never
    end.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not an ordinary file", str(path))
    return open(path, "rb")


def write_aside(target: pathlib.Path, writer: str, write: Callable[[BinaryIO], object]) -> None:
    """Write a temporary file in the same folder, sync it, and rename it: readers see all of the new
    file or nothing.

    writer: a name that no other process uses. Nothing remains when writing fails.
    """
    aside = target.with_name(f".{target.name}.{writer}{TEMPORARY}")
    try:
        make_folder(target.parent)
        with open(aside, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, target)
        sync_folder(target.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise writing_fault(error, target) from error
        raise


def move_aside(path: pathlib.Path, target: pathlib.Path) -> None:
    """Move a file within a results folder, into a room that is made if need be."""
    try:
        make_folder(target.parent)
        path.rename(target)
    except OSError as error:
        raise writing_fault(error, target) from error


def write_output(target: pathlib.Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file that a user has named: through a link into the file that it names, and directly
    into a device or a pipe; anything else to a temporary file that is renamed. Raises UsageError or
    QuickstudyError if it cannot be written.
    """
    if target.is_symlink() and not target.exists():
        raise UsageError(f"{target} is a link to nothing; remove it, or choose another file")
    try:
        ordinary = not target.exists() or stat.S_ISREG(target.stat().st_mode)
        # What a process has open is found there too, as an ordinary file: if it were replaced,
        # nothing would read it.
        if (
            not ordinary
            or target.absolute().is_relative_to("/dev")
            or target.absolute().is_relative_to("/proc")
        ):
            with open(target, "wb") as file:
                write(file)
            return
        target = target.resolve()
    except OSError as error:
        raise writing_fault(error, target) from error
    except RuntimeError as error:  # links in a circle, before Python 3.13
        raise UsageError(f"cannot write {target}: {error}; choose another file") from error
    write_aside(target, str(os.getpid()), write)


def written_aside(path: pathlib.Path) -> bool:
    """Whether a file is a leftover of `write_aside`: its name has our pattern, and its writer is
    gone, as far as this machine can see.
    """
    found = _WRITTEN_ASIDE.fullmatch(path.name)
    if found is None or path.is_symlink() or not path.is_file():
        return False
    here = found["pid"] is not None or found["host"] == host_name()
    process = found["pid"] or found["of"]
    return not (here and process and _alive(int(process)))


def host_name() -> str:
    """The name of this machine, as used in names of files."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", platform.node()) or "unknown"


def _alive(process: int) -> bool:
    if os.name == "nt":  # asked there as below, a process would end
        return True
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return process != os.getpid()  # the caller is not writing


def make_folder(folder: pathlib.Path) -> None:
    """Make a folder where it is missing, and those above it, and bring the names of all to the
    disk. Raises OSError.
    """
    if not folder.is_dir():
        if not folder.parent.exists():
            make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: pathlib.Path) -> None:
    """Bring the names in a folder to the disk."""
    # Some systems cannot open or sync a folder; there the rename alone must do.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
