"""Where a data set is: in a folder the user names, in the user's cache, or at its public home.

No data set is part of the package. Nothing is fetched over the network unless the user asked for
it.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from quickstudy.base.errors import UsageError
from quickstudy.base.hardware import cache_folder

FOLDER, DOWNLOAD = "QUICKSTUDY_DATA", "QUICKSTUDY_DOWNLOAD"
"""Environment variables: the user's folder of data sets; `1` allows a download."""

_BLOCK = 1 << 20


@dataclass(frozen=True)
class DataSet:
    """A data set by what identifies it.

    id: its short name. title: what people call it. layouts: names of files and folders it may come
    as, the first one found is taken. home: address of the public file, whose name is `archive` (one
    of the layouts) and whose SHA-256 is `checksum`; without a checksum the message only names where
    it can be had, and never fetched.
    """

    id: str
    title: str
    layouts: tuple[str, ...]
    home: str
    archive: str
    checksum: str


def find(data: DataSet) -> pathlib.Path:
    """The file or folder of a data set: the user's folder first, then the cache, then a download if
    it is allowed.

    Raises UsageError, which names what is missing, where it can be had and what to type.
    """
    named = os.environ.get(FOLDER)
    if named and not pathlib.Path(named).expanduser().is_dir():
        raise UsageError(
            f"{FOLDER} names no folder: {named}; give the folder that holds {_either(data)}"
        )
    for folder in _folders():
        for layout in data.layouts:
            path = folder / layout
            if path.exists():
                return path
    if os.environ.get(DOWNLOAD) == "1" and data.checksum:
        return fetch(data)
    places = " and ".join(str(folder) for folder in _folders())
    raise UsageError(
        f"{data.title}: no {_either(data)} in {places}; it can be had at {data.home}\ntype: export"
        f" {FOLDER}=FOLDER, or give the command --data FOLDER, for the folder you put it"
        f" in{f', or export {DOWNLOAD}=1 to have it fetched' if data.checksum else ''}"
    )


def fetch(data: DataSet) -> pathlib.Path:
    """Download a data set to the cache, check it, and give its path. A file that fails the check is
    not kept.
    """
    import urllib.error
    import urllib.request

    target = cache_folder() / "data" / data.archive
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with urllib.request.urlopen(data.home, timeout=60) as source, aside.open("wb") as sink:
            found = _copied(source, sink)
        if found != data.checksum:
            raise UsageError(
                f"{data.home}: the SHA-256 of what came is {found}, not {data.checksum}; "
                f"try again, or put the right file into {FOLDER}"
            )
        aside.replace(target)
    except (urllib.error.URLError, OSError) as error:
        raise UsageError(
            f"{data.home} cannot be fetched: {error}; put the file into {FOLDER}"
        ) from error
    finally:
        aside.unlink(missing_ok=True)
    return target


def fingerprint(path: pathlib.Path) -> str:
    """What tells one copy of a data set from another: SHA-256 of a file's bytes.

    For a folder, of the names, sizes and times of change of all files in it: to read fifty thousand
    small ones would take longer than most of what is done with them.
    """
    if path.is_file():
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    digest = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        facts = file.stat()
        digest.update(
            f"{file.relative_to(path).as_posix()}\t{facts.st_size}\t{facts.st_mtime_ns}\n".encode()
        )
    return digest.hexdigest()


def _folders() -> Iterator[pathlib.Path]:
    named = os.environ.get(FOLDER)
    if named:
        yield pathlib.Path(named).expanduser()
    yield cache_folder() / "data"


def _either(data: DataSet) -> str:
    return " or ".join(data.layouts)


def _copied(source: BinaryIO, sink: BinaryIO) -> str:
    """Copy all, and give the SHA-256 of it."""
    digest = hashlib.sha256()
    while block := source.read(_BLOCK):
        digest.update(block)
        sink.write(block)
    return digest.hexdigest()
