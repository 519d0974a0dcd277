"""Accuracy in games against training observations, with the tables of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quickstudy.base.blocks import LOG, Axis, Block, Made, Mark, Panel, Plot, Text
from quickstudy.base.registries import block
from quickstudy.figures.games import UNIT, curve_line, games_curve
from quickstudy.pages.published_table import as_table
from quickstudy.pages.reproduction import reproduction
from quickstudy.pages.study_request import Request, Stage
from quickstudy.pages.table_helpers import counts
from quickstudy.report.curves import SHARE, Curve
from quickstudy.report.words import span


@block("game-curves", version=1)
class GameCurves:
    """Accuracy against observations, a panel for every task and a curve for every column; then the
    study's tables.
    """

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every learner on every task."""
        yield Stage(request.models(), request.seeds)

    def blocks(self, request: Request) -> Made:
        """The picture, and the last tests as numbers."""
        damaged: list[str] = []
        curves = {
            row.label: {
                column: curve
                for column, learner in request.learners(row).items()
                if (curve := games_curve([*request.traces(row, learner, damaged).values()]))
            }
            for row in request.rows
        }
        made: list[Block] = [Text(counts(request.cells(), request.convention))]
        made += [Text(f"A curve is missing: {fault}") for fault in damaged]
        if any(curves.values()):
            made.append(_picture(request, curves))
        facts: dict[str, Any] = {}
        for score in request.study.scores:
            found = reproduction(request, score)
            facts[score] = found.as_facts()
            made.append(as_table(found, f"{request.name}-{score}"))
        facts["curves"] = {
            row: {
                column: {"steps": list(curve.steps), "mean": list(curve.mean)}
                for column, curve in own.items()
            }
            for row, own in curves.items()
        }
        return Made(made, facts)


def _picture(request: Request, curves: dict[str, dict[str, Curve]]) -> Plot:
    every = [curve for own in curves.values() for curve in own.values()]
    last = max(curve.steps[-1] for curve in every)
    panels = [
        Panel(
            [
                curve_line(column, Mark(number=request.columns.index(column)), own[column], last)
                for column in own
            ],
            row,
        )
        for row, own in curves.items()
    ]
    return Plot(
        f"{request.name}-curves",
        f"Decisions that are right at every test, against training {UNIT}; mean of "
        f"{span([curve.runs for curve in every])} runs; shading: 95 % interval of the mean.",
        f"Accuracy against {UNIT}: {', '.join(curves)}.",
        Axis(f"training {UNIT} (logarithmic)", LOG),
        Axis("accuracy", range=SHARE),
        panels,
        list(_data(curves)),
        direct=False,
    )


def _data(curves: dict[str, dict[str, Curve]]) -> Iterator[Sequence[str]]:
    yield "task", "model", "runs", UNIT, "mean accuracy", "low", "high"
    for row, columns in curves.items():
        for column, curve in columns.items():
            for numbers in zip(curve.steps, curve.mean, curve.low, curve.high, strict=True):
                yield row, column, str(curve.runs), *(f"{number:.6g}" for number in numbers)
