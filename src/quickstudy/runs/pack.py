"""One file of a results folder: to send, to archive, to publish. Unpacked, it is the folder again."""

from __future__ import annotations

import pathlib
import shutil
import zipfile
from typing import BinaryIO

from quickstudy.base.errors import UsageError
from quickstudy.runs.folder import DAMAGED, LEARNERS, MARKER, RUNS, SOURCES, TRACES, write_aside

_ALWAYS = (1980, 1, 1, 0, 0, 0)  # the same folder packs to the same bytes


def pack(folder: str | pathlib.Path, target: str | pathlib.Path | None = None) -> pathlib.Path:
    """Pack records, traces, trained learners, sources and what was set aside as damaged, but nothing derived, nothing
    unfinished and nothing forgotten.

    Gives the file's path.

    target: default FOLDER.zip beside the folder. Raises UsageError if it exists or there is nothing to pack.
    """
    folder = pathlib.Path(folder).resolve()
    target = pathlib.Path(target) if target is not None else folder.with_name(f"{folder.name}.zip")
    if not (folder / RUNS).is_dir():
        raise UsageError(f"no results in {folder} to pack")
    if target.exists():
        raise UsageError(f"{target} exists; remove it or name another file")
    write_aside(target, "pack", lambda file: _write(file, folder))
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
        entry = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}", _ALWAYS)
        entry.compress_type = zipfile.ZIP_STORED if path.suffix == ".npz" else zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        with archive.open(entry, "w", force_zip64=True) as member, open(path, "rb") as source:
            shutil.copyfileobj(source, member)
