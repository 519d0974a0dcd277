"""Numbers out of a user's file: CSV, with a heading or without, or what NumPy has saved."""

from __future__ import annotations

import codecs
import csv
import json
import math
import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError

MOST_BYTES = 1 << 28
"""Of a user's file that is read: 256 MiB. Ten million numbers in CSV take less."""


def read_table(path: str | pathlib.Path, gaps: bool = False) -> NDArray[np.float64]:
    """(row, column): the numbers in a CSV or NPY file. What a file is, is decided by how it begins.

    The first line of a CSV file is a heading if one of its cells is not a number. Raises UsageError
    that names the file and, where it is one row's, the row (from 1, the heading not counted): a
    cell that is not a finite number, a row with more or fewer cells than the first, a file without
    rows.

    gaps: cells that are empty or NaN become NaN and are not refused.
    """
    content = read_content(path)
    saved = content.startswith(np.lib.format.MAGIC_PREFIX)
    found = _saved(path) if saved else _written(path, content, gaps)
    if not found.size:
        raise UsageError(f"{path} has no numbers in it")
    return found if gaps else check_finite(path, found)


def check_finite(path: str | pathlib.Path, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The table of a file. Raises UsageError, with row and column from 1, for a number that is none
    or infinite.
    """
    strange = np.argwhere(~np.isfinite(table))
    if len(strange):
        row, column = strange[0].tolist()
        at = f"{path}, row {row + 1}" + (f", column {column + 1}" if table.shape[1] > 1 else "")
        raise UsageError(f"{at}: every number must be finite, got {table[row, column]:g}")
    return table


def read_content(path: str | pathlib.Path) -> bytes:
    """All of a user's file. Raises UsageError if it is not there, cannot be read, or is larger than
    MOST_BYTES.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"no file {path}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise UsageError(f"{path} is larger than {MOST_BYTES:,} bytes; give a part of it")
    return content.removeprefix(
        codecs.BOM_UTF8
    )  # spreadsheets and some editors put a byte order mark first


def read_json(path: str | pathlib.Path) -> Any:
    """What a JSON file holds. Raises UsageError as `read_content` does, and for anything else."""
    return json_in(path, read_content(path))


def json_in(path: str | pathlib.Path, content: bytes) -> Any:
    """The same of a file that was read already."""
    try:
        return json.loads(content.decode("utf-8"))
    except RecursionError:
        raise UsageError(f"{path} is not JSON that can be read: it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not text: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path} is not JSON: line {error.lineno}, {error.msg}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None


def _saved(path: str | pathlib.Path) -> NDArray[np.float64]:
    objects = "it holds Python objects; save numbers: numpy.save(file, array.astype(float))"
    try:
        # Mapped, not read: what is in it may say any size, and is compared with the file's before
        # memory is asked for.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (
        Exception
    ) as error:  # a damaged heading is read by Python's own parser, and gives errors of any kind
        reason = str(error).partition(chr(10))[0][:200]
        raise UsageError(
            f"{path} cannot be read: {objects if 'Python objects' in reason else reason}"
        ) from None
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf":
        raise UsageError(
            f"{path} must hold numbers by (row) or (row, column), got {array.dtype} {array.shape}"
        )
    return np.asarray(array if array.ndim == 2 else array[:, None], dtype=np.float64)


EMPTY = ("", "nan")
"""Cells that may be gaps, in small letters."""


def _written(path: str | pathlib.Path, content: bytes, gaps: bool) -> NDArray[np.float64]:
    try:
        lines = list(csv.reader(content.decode("utf-8").splitlines()))
        filled = [any(map(str.strip, line)) for line in lines]
        # A row of separators alone is one with gaps, unless it is at the end of a sheet.
        last = max((place for place, any_cell in enumerate(filled) if any_cell), default=-1)
        lines = [
            line
            for place, line in enumerate(lines)
            if filled[place] or (gaps and len(line) > 1 and place < last)
        ]
    except (UnicodeDecodeError, csv.Error):
        raise UsageError(f"{path} is neither CSV in UTF-8 nor an NPY file") from None
    rows = [[_number(cell) for cell in line] for line in lines]
    heading = rows and any(
        math.isnan(number) and not (gaps and cell.strip().lower() in EMPTY)
        for number, cell in zip(rows[0], lines[0], strict=True)
    )
    if heading:
        _check_separator(path, lines)
        rows, lines = rows[1:], lines[1:]
    for place, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise UsageError(
                f"{path}, row {place + 1}: {len(row)} cells, but the first row has {len(rows[0])}"
            )
        for column, number in enumerate(row):
            if math.isnan(number) and not (gaps and lines[place][column].strip().lower() in EMPTY):
                at = f"{path}, row {place + 1}" + (f", column {column + 1}" if len(row) > 1 else "")
                raise UsageError(
                    f"{at}: every cell must be a number, got"
                    f" {lines[place][column].strip()[:40] or 'nothing'}"
                )
    return np.array(rows, dtype=np.float64)


def _check_separator(path: str | pathlib.Path, lines: list[list[str]]) -> None:
    """Raise UsageError where the lines after a heading are numbers between semicolons or tabs."""
    for mark, name in ((";", "semicolons"), ("\t", "tabs")):
        cells = ",".join(lines[min(1, len(lines) - 1)]).split(mark)
        commas = [cell.replace(",", ".") for cell in cells]
        if len(cells) > 1 and not any(math.isnan(_number(cell)) for cell in commas):
            decimal = " and decimal points for decimal commas" if commas != cells else ""
            raise UsageError(
                f"{path}: its cells stand between {name}; write commas for them{decimal}"
            )


def _number(cell: str) -> float:
    """The number in a cell, nan for anything else."""
    try:
        return math.nan if "_" in cell else float(cell)  # Python would read 1_0 as ten
    except ValueError:
        return math.nan
