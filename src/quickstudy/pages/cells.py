"""Cells and tables of study pages: the mean of some runs, a difference of two, columns of words and of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quickstudy.base.blocks import HALF, Cell, Column, Group, Line, Number, Several, Table
from quickstudy.base.measure import PLAIN, Score
from quickstudy.report.statistics import Contrast, Values, difference, estimate

EMPTY = Number(None)


def mean(values: Values | Sequence[float], note: str = "") -> Number:
    """The mean over runs with its interval."""
    found = estimate(list(values if isinstance(values, Sequence) else values.values()))
    return EMPTY if found is None else Number(found.mean, found.interval, note=note)


def mean_of(values: Values) -> float | None:
    """The mean over runs as a plain number, None when there are none."""
    return float(np.mean(list(values.values()))) if values else None


def gap(contrast: Contrast, note: str = "") -> Number:
    """A difference with its interval and its sign."""
    if contrast.value is None:
        return EMPTY
    return Number(contrast.value, contrast.interval, note=note, signed=True)


def compare(one: Values, other: Values, read: Score = PLAIN) -> Contrast:
    """One minus the other, over the seeds they share: runs of one seed have seen the same data. Where a score is not
    finite, medians are compared.
    """
    return difference(*shared(one, other), read)


def shared(one: Values, other: Values) -> tuple[Values, Values]:
    """The values of the seeds that both have."""
    seeds = sorted(set(one) & set(other))
    return {seed: one[seed] for seed in seeds}, {seed: other[seed] for seed in seeds}


def table(
    name: str,
    caption: str,
    heading: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    data: Sequence[Sequence[Any]] = (),
) -> Table:
    """A table of a study. A column in which a number stands is one of numbers; an interval is written as its half."""
    columns = [
        Column(title, numeric=any(map(_has_number, (row[place] for row in rows))))
        for place, title in enumerate(heading)
    ]
    return Table(name, caption, columns, [Group([Line(row) for row in rows])], HALF, data, paper=True)


def half_words(rows: Sequence[Sequence[Cell]]) -> str:
    """What stands behind the means of a table, for its caption: nothing is promised that no cell has."""
    known = any(isinstance(cell, Number) and cell.interval for row in rows for cell in row)
    return " ± half the 95 % interval" if known else " (no interval: one run)"


def filled(cells: Sequence[Cell]) -> bool:
    """Whether any of some numbers is one."""
    return any(isinstance(cell, Number) and cell.value is not None for cell in cells)


def listed(names: Sequence[str]) -> str:
    """Names with commas, or "none"."""
    return ", ".join(names) if names else "none"


def _has_number(cell: Cell) -> bool:
    if isinstance(cell, Several):
        return any(map(_has_number, cell.cells))
    return isinstance(cell, Number)
