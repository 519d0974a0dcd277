"""Tables in a JSON file: an object with named lists of rows."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from quickstudy.base.errors import UsageError
from quickstudy.data.tables import read_json


def read_tables(
    file: pathlib.Path, *names: str, optional: Sequence[str] = ()
) -> dict[str, list[list[Any]]]:
    """The named tables of a JSON file: lists of rows; the optional ones where present.
    Raises UsageError for anything else.
    """
    content, found = read_json(file), {}
    for name in [
        *names,
        *(name for name in optional if isinstance(content, Mapping) and name in content),
    ]:
        rows = content.get(name) if isinstance(content, Mapping) else None
        if not isinstance(rows, list) or not rows:
            raise UsageError(
                f"{file}: must be an object with `{'` and `'.join(names)}`; {name} is missing or"
                " empty"
            )
        rows = [row if isinstance(row, list) else [row] for row in rows]
        for number, row in enumerate(rows):
            if any(isinstance(entry, list | dict) or entry is None for entry in row):
                raise UsageError(
                    f"{file}: {name}, row {number}: must be a list of plain values, got {row}"
                )
        found[name] = rows
    return found


def check_even(file: pathlib.Path, name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Raise UsageError unless all rows are equally long and have something in them."""
    for number, row in enumerate(rows):
        if not row:
            raise UsageError(
                f"{file}: {name}, row {number}: is empty; give a value or more in every row"
            )
        if len(row) != len(rows[0]):
            raise UsageError(
                f"{file}: {name}, row {number}: has {len(row)} entries, the first has"
                f" {len(rows[0])}"
            )


def check_numbers(file: pathlib.Path, name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Raise UsageError unless all entries are finite numbers."""
    for number, row in enumerate(rows):
        if any(
            isinstance(entry, str | bool) or not abs(entry) <= sys.float_info.max for entry in row
        ):
            raise UsageError(
                f"{file}: {name}, row {number}: must be finite numbers, got {str(row)[:60]}"
            )
