"""Pictures of what was understood in games against how much of them was lived."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quickstudy.base.blocks import LOG, Axis, Block, Made, Mark, Panel, Plot, Plotted, Text, Traced
from quickstudy.base.catalogue import block, figure
from quickstudy.base.trace import Trace
from quickstudy.pages.beside import as_table
from quickstudy.pages.cells import counts
from quickstudy.pages.published import reproduction
from quickstudy.pages.request import Request, Stage
from quickstudy.report.curves import SHARE, Curve, mean_curve
from quickstudy.report.words import span

UNIT = "observations"


@figure("games", version=1)
def over_observations(task: str, rows: Sequence[Traced]) -> list[Block]:
    """The mean accuracy of all learners of a task in the query phase, by test; rules are tested once, and flat."""
    found = [(row, curve) for row in rows if (curve := games_curve(row.traces))]
    if not any(len(curve.steps) > 1 for _, curve in found):
        return []
    last = max(curve.steps[-1] for _, curve in found)
    ends = ", ".join(f"{row.learner} ends at {curve.mean[-1]:.2f}" for row, curve in found)
    runs = span([curve.runs for _, curve in found])
    return [
        Plot(
            name="",
            caption=f"Decisions of the query phase that are right, against training {UNIT}; mean of {runs} runs, "
            "shading: 95 % interval of the mean. Rules never learn: they have one value throughout.",
            label=f"Accuracy on {task} against {UNIT}: {ends}.",
            x=Axis(f"training {UNIT} (logarithmic)", LOG),
            y=Axis("zero-shot accuracy", range=SHARE),
            panels=[Panel([_line(row.learner, row.mark, curve, last) for row, curve in found])],
            live=True,
        )
    ]


def games_curve(traces: Sequence[Trace]) -> Curve | None:
    """The mean accuracy of runs in the query phase of every test."""
    games = [trace for trace in traces if trace.kind == "games"]
    curves = [(trace.arrays["observations"], trace.arrays["correct"] / trace.arrays["asked"]) for trace in games]
    return mean_curve(curves, "accuracy", UNIT)


def _line(label: str, mark: Mark, curve: Curve, last: float) -> Plotted:
    parts = [list(part) for part in (curve.steps, curve.mean, curve.low, curve.high)]
    if len(curve.steps) == 1:  # a rule: from an eighth of the axis to its end
        parts = [[last / 8, last], *([part[0]] * 2 for part in parts[1:])]
    x, y, low, high = parts
    return Plotted(label, mark, x, y) if curve.runs == 1 else Plotted(label, mark, x, y, low, high)


@block("game-curves", version=1)
class GameCurves:
    """Accuracy against observations, a panel for every task and a curve for every column; then the study's tables."""

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
            row: {column: {"steps": list(curve.steps), "mean": list(curve.mean)} for column, curve in own.items()}
            for row, own in curves.items()
        }
        return Made(made, facts)


def _picture(request: Request, curves: dict[str, dict[str, Curve]]) -> Plot:
    every = [curve for own in curves.values() for curve in own.values()]
    last = max(curve.steps[-1] for curve in every)
    panels = [
        Panel(
            [_line(column, Mark(number=request.columns.index(column)), own[column], last) for column in own], row
        )
        for row, own in curves.items()
    ]  # fmt: skip
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
