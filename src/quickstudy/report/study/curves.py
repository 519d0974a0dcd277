"""A figure of learning curves: one panel per task, one curve per column, shaded by the standard deviation over runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.measure import Score
from quickstudy.base.trace import Trace
from quickstudy.report.curves import align
from quickstudy.report.numbers import written
from quickstudy.report.reproduce import Reproduced, reproduce
from quickstudy.report.reproduce_text import marks, published_text, reproduction_data, reproduction_rows, summary
from quickstudy.report.study.order import Order
from quickstudy.report.study.page import Grid, Page, Paragraph, Part, Picture
from quickstudy.report.study.panels import Line, Panel, Sheet, colour
from quickstudy.report.study.runs import counts, curves_of
from quickstudy.report.study.table import stages
from quickstudy.report.words import span

__all__ = ["page", "stages"]


@dataclass(frozen=True)
class MeanCurve:
    """The mean of several runs and their standard deviation (divisor n - 1; 0 for one run) at common steps."""

    runs: int
    steps: NDArray[np.float64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


def page(order: Order) -> Page:
    """The picture, the numbers of its legends beside the published ones, and what is missing.

    The study's settings may have `unit`: what the horizontal axis counts (`sequences`, unless it says otherwise).
    """
    study = order.study
    found = curves_of(order)
    curves = {
        row: {column: mean_curve(traces) for column, traces in cells.items() if traces}
        for row, cells in found.cells.items()
    }
    numbers = reproduce(study, order.shelf.found(), order.convention, root=order.root)
    parts: list[Part] = [Paragraph(counts(found.cells, order.convention)), *found.remarks()]
    if any(curves.values()):
        unit = str(study.settings.get("unit", "sequences"))
        parts.append(_picture(order, unit, found.cells, curves, numbers.cells))
    name = f"{study.id}-{order.convention}-{study.score}"
    parts.append(Grid(name, marks(numbers), reproduction_rows(numbers), reproduction_data(numbers)))
    parts += [Paragraph(line) for line in summary(numbers)]
    facts = {study.score: numbers.as_facts(), "curves": {row: _facts(cells) for row, cells in curves.items()}}
    return Page.of(study, parts, facts)


def mean_curve(traces: Sequence[Trace]) -> MeanCurve:
    """The curves of some runs as one, against training sequences.

    Where single questions are shown, the evaluation after question k stands at 1 + (k - 1) / m, the published unit for
    readouts; m is the number of questions in a sequence, in the mean over runs.
    """
    # Runs are put together by questions, of which all have the same, and not by sequences, of which none has.
    steps, values = align([(trace.arrays["step"], trace.arrays["accuracy"]) for trace in traces])
    if traces[0].facts.get("unit") == "tokens":
        steps = 1 + (steps - 1) / np.mean([float(trace.facts["tokens_per_sequence"]) for trace in traces])
    deviation = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(len(steps))
    return MeanCurve(len(values), steps, values.mean(axis=0), deviation)


def _picture(
    order: Order,
    unit: str,
    cells: Mapping[str, Mapping[str, Sequence[Trace]]],
    curves: Mapping[str, Mapping[str, MeanCurve]],
    numbers: Mapping[str, Mapping[str, Reproduced]],
) -> Picture:
    study, read = order.study, order.score(order.study.score)
    panels = [
        Panel(
            row,
            [
                _line(study.columns.index(column), column, curves[row].get(column), read, numbers[row][column])
                for column in columns
            ],
        )
        for row, columns in cells.items()
    ]
    sheet = Sheet(
        f"Learning curves, test accuracy against training {unit}: {', '.join(cells)}.",
        f"training {unit} (logarithmic)",
        "test accuracy",
        panels,
    )
    runs = [curve.runs for columns in curves.values() for curve in columns.values()]
    several = f"mean of {span(runs)} runs; shading: ± 1 standard deviation over runs, as in the publication"
    published = any(cell.published for columns in numbers.values() for cell in columns.values())
    caption = (
        f"Test accuracy against training {unit}, {several if max(runs) > 1 else 'of one run'}. In parentheses: "
        f"{read.title}, {'published | ' if published else ''}measured{' mean' if max(runs) > 1 else ''}. A "
        "learner that is shown single questions, m in a sequence, stands at 1 + (questions − 1) / m."
    )
    wide, narrow = sheet.drawn()
    return Picture(f"{study.id}-{order.convention}-curves", caption, wide, narrow, list(_data(unit, curves)))


def _line(index: int, column: str, curve: MeanCurve | None, read: Score, number: Reproduced) -> Line:
    known = [published_text(number.published, read)] if number.published else []
    if curve is None:
        return Line(f"{column} ({' | '.join([*known, 'no runs'])})", f"{colour(index)} absent")
    known += [written(read, number.measured)] if number.measured is not None else []
    label = f"{column} ({' | '.join(known)})" if known else column
    low, high = curve.mean - curve.deviation, curve.mean + curve.deviation
    several = curve.runs > 1
    return Line(
        label,
        colour(index),
        curve.steps.tolist(),
        curve.mean.tolist(),
        low.tolist() if several else (),
        high.tolist() if several else (),
    )


def _data(unit: str, curves: Mapping[str, Mapping[str, MeanCurve]]) -> Iterator[Sequence[str]]:
    yield "task", "model", "runs", unit, "mean accuracy", "standard deviation"
    for row, columns in curves.items():
        for column, curve in columns.items():
            for numbers in zip(curve.steps, curve.mean, curve.deviation, strict=True):
                yield row, column, str(curve.runs), *(f"{number:.6g}" for number in numbers)


def _facts(cells: Mapping[str, MeanCurve]) -> dict[str, Any]:
    return {
        column: {
            "runs": curve.runs,
            "steps": curve.steps.tolist(),
            "mean": curve.mean.tolist(),
            "standard_deviation": curve.deviation.tolist(),
        }
        for column, curve in cells.items()
    }
