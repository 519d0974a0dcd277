"""One file of a results folder: to send, to archive, to publish. Unpacked, it is the folder again."""

from __future__ import annotations

import pathlib
import shutil
import zipfile
from typing import BinaryIO

from quickstudy.base.errors import UsageError
from quickstudy.runs.folder import DAMAGED, LEARNERS, MARKER, RUNS, SOURCES, TRACES, check_format, write_output

_ALWAYS = (1980, 1, 1, 0, 0, 0)  # the same folder packs to the same bytes


def pack(folder: str | pathlib.Path, target: str | pathlib.Path | None = None) -> pathlib.Path:
    """Pack records, traces, trained learners, sources and what was set aside as damaged, but nothing derived, nothing
    unfinished and nothing forgotten.

    Gives the file's path.

    target: default FOLDER.zip beside the folder; a device or a pipe is written into. Raises UsageError if it exists, if
    there is nothing to pack, and for a link in the folder that leads out of it.
    """
    folder = pathlib.Path(folder).resolve()
    if not (folder / RUNS).is_dir():
        raise UsageError(f"no results in {folder} to pack")
    check_format(folder)
    target = pathlib.Path(target) if target is not None else folder.parent / f"{folder.name or RUNS}.zip"
    if target.is_file() or target.is_dir():
        raise UsageError(f"{target} exists; remove it or name another file")
    write_output(target, lambda file: _write(file, folder))
    return target


def _write(file: BinaryIO, folder: pathlib.Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        # Journals before traces: a run may be going on, and a line is written after the trace that it names.
        _add(archive, folder, sorted(folder.glob(MARKER)))
        _add(archive, folder, sorted((folder / RUNS).glob("*.jsonl")))
        for room in (TRACES, LEARNERS, SOURCES, DAMAGED):
            _add(archive, folder, sorted(path for path in (folder / room).glob("*") if not path.name.startswith(".")))


def _add(archive: zipfile.ZipFile, folder: pathlib.Path, paths: list[pathlib.Path]) -> None:
    for path in paths:
        if not path.resolve().is_relative_to(folder) or not path.is_file():
            raise UsageError(f"{path} is no ordinary file of the folder; put there what belongs there, or remove it")
        entry = zipfile.ZipInfo(f"{folder.name or RUNS}/{path.relative_to(folder).as_posix()}", _ALWAYS)
        entry.compress_type = zipfile.ZIP_STORED if path.suffix == ".npz" else zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        with archive.open(entry, "w", force_zip64=True) as member, open(path, "rb") as source:
            shutil.copyfileobj(source, member)
