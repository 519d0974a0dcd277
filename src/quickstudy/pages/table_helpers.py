"""What study pages are made of: means of runs and differences of two, tables of them, and the
number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from quickstudy.base.blocks import Cell, Made, Name, Number, Section, Text
from quickstudy.base.measure import PLAIN, Score
from quickstudy.base.trace import Trace
from quickstudy.pages.study_request import CONVENTIONS, Request
from quickstudy.render.numbers import HALVES
from quickstudy.report.curves import is_curve
from quickstudy.report.statistics import FEWEST, Contrast, difference, estimate
from quickstudy.report.words import span
from quickstudy.runs.results import Values

Named = TypeVar("Named")
EMPTY = Number(None)
Counted = Mapping[str, Mapping[str, Sized]]
"""Runs, or something of each, by row label and column."""


def mean(values: Values | Sequence[float], note: str = "") -> Number:
    """The mean over runs with its interval."""
    found = estimate(list(values if isinstance(values, Sequence) else values.values()))
    return EMPTY if found is None else Number(found.mean, found.interval, note=note)


def mean_of(values: Values) -> float | None:
    """The mean over runs as a plain number, None when there are none."""
    return float(np.mean(list(values.values()))) if values else None


def gap(contrast: Contrast, note: str = "") -> Number:
    """A difference with its interval and its sign."""
    return (
        EMPTY
        if contrast.value is None
        else Number(contrast.value, contrast.interval, note=note, signed=True)
    )


def compare(one: Values, other: Values, read: Score = PLAIN) -> Contrast:
    """One minus the other, over the seeds they share: runs of one seed have seen the same data.
    Where a score is not finite, medians are compared.
    """
    first, second = shared(one, other)
    return difference(first, second, read)


def shared(*samples: Values) -> list[Values]:
    """The values of the seeds that all have."""
    seeds = sorted(set(samples[0]).intersection(*samples[1:]))
    return [{seed: values[seed] for seed in seeds} for values in samples]


def first_by(numbers: Mapping[Named, float], sign: int) -> Named | None:
    """The index of the best number, the first among equals; None if it is unknown which
    direction is better.
    """
    return max(numbers, key=lambda name: sign * numbers[name]) if numbers and sign else None


def kendall(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Kendall's tau of two orders, and the p of none, two-sided; nan where one has nothing to
    order.
    """
    from scipy.stats import kendalltau

    if len(set(one)) < 2 or len(set(other)) < 2:
        return np.nan, np.nan
    found = kendalltau(one, other)
    return float(found.statistic), float(found.pvalue)


def mean_rows(found: Mapping[tuple[str, ...], Sequence[Values]]) -> list[list[Cell]]:
    """A row for each that has any run: its names, and the means next to them."""
    return [
        [*map(Name, names), *map(mean, values)] for names, values in found.items() if any(values)
    ]


def under_each(
    request: Request, title: str, name: str, text: str, make: Callable[[Request], Made]
) -> Made:
    """A section: its text, then what is made under each convention, one after the other, with facts
    by convention.
    """
    found = {convention: make(request.under(convention)) for convention in CONVENTIONS}
    facts = {convention: part.facts for convention, part in found.items()}
    made = [Text(text), *(one for part in found.values() for one in part.blocks)]
    return Made([Section(title, made, name)], facts)


def halves(rows: Sequence[Sequence[Cell]]) -> str:
    """The intervals of a table's means, for its caption: it names only those that some cell has."""
    known = any(isinstance(cell, Number) and cell.interval for row in rows for cell in row)
    return f" {HALVES}" if known else " (no interval: one run)"


def a_cell(cells: Counted) -> str:
    """How many runs the cells have that have any; nothing where none has."""
    there = [len(runs) for columns in cells.values() for runs in columns.values() if len(runs)]
    return f"{span(there)} {'run' if max(there) == 1 else 'runs'} a cell" if there else ""


def places(cells: Counted, chosen: Callable[[int], bool]) -> str:
    """Rows with the columns whose number of runs is chosen; a row without columns means all of
    its columns.
    """
    found = {
        row: [column for column, runs in own.items() if chosen(len(runs))]
        for row, own in cells.items()
    }
    return "; ".join(
        row if len(columns) == len(cells[row]) else f"{row} {', '.join(columns)}"
        for row, columns in found.items()
        if columns
    )


def counts(cells: Counted, convention: str) -> str:
    """The number of stored runs, and the caveat if they are few.

    >>> counts({"task": {"a": [0] * 6, "b": [0] * 10, "c": []}}, "corrected")
    '6 to 10 runs a cell, convention corrected. 1 of 3 cells is empty.'
    """
    every = [len(runs) for columns in cells.values() for runs in columns.values()]
    if not any(every):
        return f"No runs yet, convention {convention}."
    lines, empty = [f"{a_cell(cells)}, convention {convention}."], every.count(0)
    if empty:
        lines.append(f"{empty:,} of {len(every):,} cells {'is' if empty == 1 else 'are'} empty.")
    if min(filter(None, every)) < FEWEST:
        lines.append(
            f"Fewer than {FEWEST} runs give no verdict, and their intervals are unreliable."
        )
    return " ".join(lines)


@dataclass(frozen=True)
class Curves:
    """Learning curves by row label and column; a column without any has an empty list. remarks: how
    many there are, and what is not there.
    """

    cells: Mapping[str, Mapping[str, Sequence[Trace]]]
    remarks: Sequence[Text]

    @classmethod
    def of(cls, request: Request) -> Curves:
        """All learning curves of a request; runs that left another kind of trace are left out."""
        damaged: list[str] = []
        cells = {
            row.label: {
                column: [*filter(is_curve, request.traces(row, learner, damaged).values())]
                for column, learner in request.learners(row).items()
            }
            for row in request.rows
        }
        most = max(
            (len(runs) for columns in cells.values() for runs in columns.values()), default=0
        )
        if most:
            said = {
                "Without a finished run": places(cells, lambda count: count == 0),
                f"Fewer than {most} finished runs": places(cells, lambda count: 0 < count < most),
            }
            remarks = [f"{title}: {rows}." for title, rows in said.items() if rows]
            remarks += [f"A curve is missing: {fault}" for fault in damaged]
        else:
            remarks = ["No run of this study is finished: there is nothing to show."]
        return cls(cells, [*map(Text, (counts(cells, request.convention), *remarks))])
