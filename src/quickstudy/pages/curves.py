"""Learning curves of a study: one panel per task, one curve per column, shaded by the standard
deviation over runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from quickstudy.base.blocks import LOG, Axis, Block, Made, Mark, Panel, Plot, Plotted, Text
from quickstudy.base.measure import Score
from quickstudy.base.registries import block
from quickstudy.base.trace import Trace
from quickstudy.pages.published_table import Beside, as_table, published_cell, summary
from quickstudy.pages.reproduction import Reproduced, Reproduction, reproduction
from quickstudy.pages.study_request import Request
from quickstudy.pages.table_helpers import Curves
from quickstudy.render.numbers import scored, spoken
from quickstudy.report.curves import Curve, mean_curve
from quickstudy.report.words import span

Drawn = Mapping[str, Mapping[str, Curve]]
"""Mean curves by row label and column."""


@block("curves", version=1)
class LearningCurves(Beside):
    """Mean learning curves, and the numbers of their legends next to the published ones.

    The study's settings may have `unit`: what the horizontal axis counts (default: `sequences`).
    """

    def blocks(self, request: Request) -> Made:
        """The note on missing runs, the picture, the table and its sentences."""
        study, found = request.study, Curves.of(request)
        unit = str(study.settings.get("unit", "sequences"))
        curves = {
            row: {
                column: known
                for column, traces in cells.items()
                if (known := curve_of(traces, unit))
            }
            for row, cells in found.cells.items()
        }
        numbers = reproduction(request)
        made: list[Block] = [*found.remarks]
        if any(curves.values()):
            made.append(_plot(request, unit, curves, numbers))
        made += [as_table(numbers, f"{request.name}-{study.score}"), *map(Text, summary(numbers))]
        drawn = {
            row: {column: _facts(curve) for column, curve in cells.items()}
            for row, cells in curves.items()
        }
        return Made(made, {study.score: numbers.as_facts(), "curves": drawn})


def curve_of(traces: Sequence[Trace], unit: str = "sequences") -> Curve | None:
    """The curves of some runs as one, against training sequences.

    Where single questions are shown, the evaluation after question k is drawn at 1 + (k - 1) / m,
    the published unit for readouts; m is the number of questions in a sequence, in the mean over
    runs.
    """
    # Runs are put together by questions, of which all have the same, and not by sequences, of which
    # none has.
    found = mean_curve(
        [(trace.arrays["step"], trace.arrays["accuracy"]) for trace in traces], "accuracy", unit
    )
    if found is None or traces[0].facts.get("unit") != "tokens":
        return found
    length = float(np.mean([float(trace.facts["tokens_per_sequence"]) for trace in traces]))
    return dataclasses.replace(found, steps=tuple(1 + (step - 1) / length for step in found.steps))


def _plot(request: Request, unit: str, curves: Drawn, numbers: Reproduction) -> Plot:
    study, read = request.study, request.score(request.study.score)
    marks = {column: Mark(number=study.columns.index(column)) for column in request.columns}
    panels = [
        Panel(
            [
                _line(mark, column, curves[row].get(column), read, cells[column])
                for column, mark in marks.items()
            ],
            row,
        )
        for row, cells in numbers.cells.items()
    ]
    runs = [curve.runs for columns in curves.values() for curve in columns.values()]
    several = (
        f"mean of {span(runs)} runs; shading: ± 1 standard deviation over runs, as in the"
        " publication"
    )
    published = any(cell.published for *_, cell in numbers.every())
    caption = (
        f"Test accuracy against training {unit}, {several if max(runs) > 1 else 'of one run'}. In"
        f" parentheses: {read.title},"
        f" {'published | ' if published else ''}measured{' mean' if max(runs) > 1 else ''}. A"
        " learner that is shown single questions, m in a sequence, is at 1 + (questions − 1)"
        " / m."
    )
    return Plot(
        f"{request.name}-curves",
        caption,
        f"Learning curves, test accuracy against training {unit}: {', '.join(curves)}.",
        Axis(f"training {unit} (logarithmic)", LOG),
        Axis("test accuracy", range=(0.0, 1.0)),
        panels,
        list(_data(unit, curves)),
        direct=False,
    )


def _line(mark: Mark, column: str, curve: Curve | None, read: Score, number: Reproduced) -> Plotted:
    known = [spoken(published_cell(number.published, read))] if number.published else []
    if curve is None:
        return Plotted(f"{column} ({' | '.join([*known, 'no runs'])})", mark, (), ())
    known += [spoken(scored(read, number.measured))] if number.measured is not None else []
    label = f"{column} ({' | '.join(known)})" if known else column
    if curve.runs == 1:
        return Plotted(label, mark, curve.steps, curve.mean)
    pairs = list(zip(curve.mean, curve.deviation, strict=True))
    low, high = ([mean + sign * deviation for mean, deviation in pairs] for sign in (-1, 1))
    return Plotted(label, mark, curve.steps, curve.mean, low, high)


def _data(unit: str, curves: Drawn) -> Iterator[Sequence[str]]:
    yield "task", "model", "runs", unit, "mean accuracy", "standard deviation"
    for row, columns in curves.items():
        for column, curve in columns.items():
            for numbers in zip(curve.steps, curve.mean, curve.deviation, strict=True):
                yield row, column, str(curve.runs), *(f"{number:.6g}" for number in numbers)


def _facts(curve: Curve) -> dict[str, Any]:
    parts = {"steps": curve.steps, "mean": curve.mean, "standard_deviation": curve.deviation}
    return {"runs": curve.runs, **{name: list(values) for name, values in parts.items()}}
