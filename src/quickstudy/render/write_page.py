"""A page as files: HTML, a CSV file per table, and an SVG and a CSV file per picture."""

from __future__ import annotations

import csv
import os
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import SimpleNamespace
from typing import IO, Any

from quickstudy.base.blocks import Cell, Number, Page, Picture, Table, every
from quickstudy.render.html import as_html
from quickstudy.render.numbers import NOTHING, exact, half_of, spoken
from quickstudy.render.svg import picture_rows, svg_file
from quickstudy.runs.folder import write_aside


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV, lines end in a line feed. Full precision; `inf` and `nan` as such; None and
    nothing are empty.

    Words that a spreadsheet would take for a formula are led by an apostrophe. Whatever ends a line
    is quoted: Python's own writer leaves a carriage return bare, and its own reader then
    refuses the file.
    """
    writer = csv.writer(SimpleNamespace(write=lambda line: line))
    return "".join(writer.writerow(list(map(_safe, row)))[:-2] + "\n" for row in rows)


def page_files(page: Page, name: str) -> dict[str, str]:
    """The text of every file by its name: NAME.html, and those of the tables and pictures that have
    a name.
    """
    files: dict[str, str] = {}
    for block in every(page.blocks):
        if isinstance(block, Table) and block.name:
            files[f"{block.name}.csv"] = csv_text(block.data or table_rows(block))
        elif isinstance(block, Picture) and block.name:
            files[f"{block.name}.svg"] = svg_file(block)
            files[f"{block.name}.csv"] = csv_text(picture_rows(block))
    return {f"{name}.html": as_html(page, files), **files}


def write_page(page: Page, folder: pathlib.Path, name: str) -> pathlib.Path:
    """Write the files of a page into a folder, each whole or not at all; gives the path of
    NAME.html.
    """
    for file, text in page_files(page, name).items():
        content = text.encode(errors="backslashreplace")
        write_aside(folder / file, str(os.getpid()), partial(_put, content))
    return folder / f"{name}.html"


def table_rows(table: Table) -> list[list[str]]:
    """The cells of a table for a program, the heading first. A column of numbers has a second one
    with half the width of their intervals (a factor where orders of magnitude count), and a third
    one with their notes, if they have any.
    """
    columns = [[line.cells[index] for line in table.lines] for index in range(len(table.columns))]
    split = [
        part
        for column, cells in zip(table.columns, columns, strict=True)
        for part in _split(column.title, cells)
    ]
    return [list(cells) for cells in zip(*split, strict=True)]


def _split(title: str, cells: Sequence[Cell]) -> Iterator[list[str]]:
    numbers = [cell if isinstance(cell, Number) else Number(None) for cell in cells]
    if not all(isinstance(cell, Number) or cell in ("", NOTHING) for cell in cells):
        yield [title, *map(spoken, cells)]
        return
    yield [title, *(one.word or ("" if one.value is None else exact(one.value)) for one in numbers)]
    halves = [half_of(number) for number in numbers]
    if any(half is not None for half in halves):
        yield [f"{title} ±", *("" if half is None else exact(half) for half in halves)]
    notes = ["" if number.value is None else number.note for number in numbers]
    if any(notes):
        yield [f"{title} mark", *notes]


def _safe(value: Any) -> Any:
    if not isinstance(value, str) or _is_number(value):
        return value
    # Spreadsheets pass over what comes before, and know the wide forms too.
    return (
        f"'{value}"
        if value.strip().startswith(tuple("=+-@＝＋－＠")) or value[:1] in ("\t", "\r")
        else value
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _put(content: bytes, target: IO[bytes]) -> None:
    target.write(content)
