"""Putting a report where a reader finds it."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence

from quickstudy.base.errors import UsageError
from quickstudy.report.gather import gather
from quickstudy.report.html import as_html
from quickstudy.runs.folder import write_output
from quickstudy.runs.reader import Reading


def write_report(
    folders: Sequence[str | pathlib.Path],
    target: str | pathlib.Path,
    *,
    command: str | None = None,
    readings: Mapping[pathlib.Path, Reading] | None = None,
    replaces: bool = True,
) -> pathlib.Path:
    """Read result folders and write the HTML report; gives its path. A reader sees the old file or the whole new one.

    target: the file, or a folder that exists, in which it is then called report.html. command: what to type to run the
    same again. readings: of folders that have just been read. replaces: a file that is there, whatever it is; else only
    a page of ours. Raises UsageError when there is nothing to report on or the file cannot be written.
    """
    path = pathlib.Path(target)
    path = path / "report.html" if path.is_dir() else path
    if not replaces and path.is_file() and not _is_ours(path):
        raise UsageError(f"{path} is there, and no page of quickstudy's; move it away, or name a file by `report -o`")
    page = as_html(gather(folders, command, readings)).encode(errors="backslashreplace")
    write_output(path, lambda file: file.write(page))
    return path


def _is_ours(path: pathlib.Path) -> bool:
    """Whether a file begins like a page of ours, whose title ends so."""
    with open(path, "rb") as file:
        return "· quickstudy</title>".encode() in file.read(4096)
