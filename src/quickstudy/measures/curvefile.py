"""A learning curve from a user's file, and its WADE.

JSON: {"accuracy": [...], "step": [...]}, or a list of accuracies, or a list of {"step": ...,
"accuracy": ...}.
CSV: a header with a column `accuracy` and perhaps one `step`. Steps may be left out everywhere;
entry k is then step k, from 1. Other names and columns are ignored. The kind of a file is decided
by its first bytes, not by its name.
"""

from __future__ import annotations

import csv
import io
import json
import math
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.data.tables import read_content
from quickstudy.measures.curve import Curve, fault
from quickstudy.measures.wade import wade_preset

_SHAPES = (
    '{"accuracy": [...], "step": [...]}, a list of accuracies, or a list of {"step": ...,'
    ' "accuracy": ...}'
)


class Scored(NamedTuple):
    """WADE of a curve. thresholds: how many there were. ignored: evaluations before step 1, which
    count for nothing.
    """

    value: float
    thresholds: int
    ignored: int


def score_file(
    path: str | pathlib.Path,
    preset: str = "paper",
    thresholds: int | None = None,
    tokens_per_sequence: float | None = None,
    constant: float | None = None,
) -> Scored:
    """WADE of the curve in a file, under a preset (`quickstudy.measures.wade.wade_preset` describes
    what each needs).

    A published preset counts evaluations, so steps must be their numbers, from 1. Not all of them
    need be there, but under published-reservoirs: there the first evaluation comes after one token,
    and steps that begin with 1 may be tokens as well.
    """
    chosen = wade_preset(preset, thresholds, tokens_per_sequence, constant)
    curve = read_curve(path)
    first = min((step for step in curve.steps if step > 0), default=1)
    if preset.startswith("published") and first != 1:
        raise UsageError(
            f"{path}: under {preset} a step is one evaluation, and the first has the number 1, got"
            f" {first:g}; leave the steps out if no evaluation is missing"
        )
    counted = [step for step in curve.steps if step > 0]
    if preset == "published-reservoirs" and counted != list(range(1, len(counted) + 1)):
        raise UsageError(
            f"{path}: under {preset} a step is the number of an evaluation, 1, 2, 3 ..., got"
            f" {', '.join(f'{step:g}' for step in counted[:4])}; leave the steps out if every"
            " evaluation is there"
        )
    ignored = int((np.asarray(curve.steps) < 1).sum())
    return Scored(chosen.score(curve.steps, curve.accuracy), len(chosen.thresholds), ignored)


def read_curve(path: str | pathlib.Path) -> Curve:
    """The curve in a JSON or CSV file. Raises UsageError that names the file and, where it is one
    row's, the row.
    """
    text = _text(path)
    if not text.strip():
        raise UsageError(f"{path} is empty; expected JSON, or CSV with a column accuracy")
    is_json = text.lstrip()[0] in "{[" or pathlib.Path(path).suffix.lower() == ".json"
    steps, accuracy = _from_json(path, text) if is_json else _from_csv(path, text)
    if not accuracy:
        raise UsageError(f"{path} has no evaluations; a curve needs at least one")
    if steps is not None and len(steps) != len(accuracy):
        raise UsageError(
            f"{path}: step and accuracy must be equally long, got {len(steps)} and {len(accuracy)}"
            " entries"
        )
    numbers = np.array(
        [_number(path, row, "accuracy", value) for row, value in enumerate(accuracy, 1)]
    )
    places = np.arange(1.0, len(numbers) + 1)
    if steps is not None:
        places = np.array([_number(path, row, "step", value) for row, value in enumerate(steps, 1)])
    found = fault(places, numbers)
    if found is not None:
        raise UsageError(f"{path}, row {found[0]}: {found[1]}")
    return Curve(places, numbers)


def _text(path: str | pathlib.Path) -> str:
    try:
        return read_content(path).decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a text file; expected JSON or CSV in UTF-8") from None


def _from_json(path: str | pathlib.Path, text: str) -> tuple[Sequence[Any] | None, Sequence[Any]]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    if isinstance(content, dict):
        if "accuracy" not in content:
            raise UsageError(f'{path} has no "accuracy"; expected {_SHAPES}')
        for name in ("accuracy", "step"):
            if not isinstance(content.get(name, []), list):
                raise UsageError(f'{path}: "{name}" must be a list, got {_shown(content[name])}')
        return content.get("step"), content["accuracy"]
    if not isinstance(content, list):
        raise UsageError(f"{path} holds {_shown(content)}; expected {_SHAPES}")
    if not any(isinstance(entry, dict) for entry in content):
        return None, content
    with_steps = any("step" in entry for entry in content if isinstance(entry, dict))
    wanted = ("step", "accuracy") if with_steps else ("accuracy",)
    for row, entry in enumerate(content, 1):
        for name in wanted:
            if not isinstance(entry, dict) or name not in entry:
                raise UsageError(f'{path}, row {row}: "{name}" is missing, got {_shown(entry)}')
    return [entry["step"] for entry in content] if with_steps else None, [
        entry["accuracy"] for entry in content
    ]


def _from_csv(path: str | pathlib.Path, text: str) -> tuple[Sequence[Any] | None, Sequence[Any]]:
    try:
        lines = [
            [cell.strip() for cell in line]
            for line in csv.reader(io.StringIO(text.strip(), newline=""))
        ]
    except csv.Error as error:
        raise UsageError(f"{path} is not CSV: {error}") from None
    header, rows = lines[0], lines[1:]
    if header.count("accuracy") != 1:
        found = "several columns" if "accuracy" in header else "no column"
        raise UsageError(
            f"{path} has {found} accuracy; the first line must name it once, got"
            f" {', '.join(header)}"
        )
    for row, cells in enumerate(rows, 1):
        # Not a column to ignore but most likely a decimal comma: `0,5` would be read as 0.
        if any(cells[len(header) :]):
            raise UsageError(
                f"{path}, row {row}: {len(cells)} cells, but the first line names {len(header)}"
                " columns"
            )
    columns = {
        name: [_parsed(cells[index]) if index < len(cells) else "" for cells in rows]
        for index, name in enumerate(header)
    }
    return columns.get("step"), columns["accuracy"]


def _parsed(cell: str) -> float | str:
    """The number in a cell of CSV, or the cell unchanged."""
    try:
        return cell if "_" in cell else float(cell)  # Python would read 1_0 as ten
    except ValueError:
        return cell


def _number(path: str | pathlib.Path, row: int, name: str, value: Any) -> float:
    if value == "":
        raise UsageError(f"{path}, row {row}: {name} is missing")
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:  # whole numbers in JSON have no bound
            return math.inf
    raise UsageError(f"{path}, row {row}: {name} must be a number, got {_shown(value)}")


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
