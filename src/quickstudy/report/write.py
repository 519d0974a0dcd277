"""Putting a report where a reader finds it."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence

from quickstudy.report.gather import gather
from quickstudy.report.html import as_html
from quickstudy.runs.folder import write_aside
from quickstudy.runs.reader import Reading


def write_report(
    folders: Sequence[str | pathlib.Path],
    target: str | pathlib.Path,
    *,
    command: str | None = None,
    readings: Mapping[pathlib.Path, Reading] | None = None,
) -> pathlib.Path:
    """Read result folders and write the HTML report; gives its path. A reader sees the old file or the whole new one.

    target: the file, or a folder that exists, in which it is then called report.html. command: what to type to run the
    same again. readings: of folders that have just been read. Raises UsageError when there is nothing to report on or
    the file cannot be written.
    """
    page = as_html(gather(folders, command, readings)).encode()
    path = pathlib.Path(target)
    path = path / "report.html" if path.is_dir() else path
    write_aside(path, str(os.getpid()), lambda file: file.write(page))
    return path
