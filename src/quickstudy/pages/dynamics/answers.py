"""What learners answered beside what is true: along a series, running free, and against the length of training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import (
    LEARNER,
    LOG,
    ORACLE,
    REPLAY,
    Axis,
    Block,
    Made,
    Mark,
    Panel,
    Plot,
    Plotted,
    Text,
    Traced,
)  # fmt: skip
from quickstudy.base.catalogue import block, figure
from quickstudy.base.trace import Trace
from quickstudy.measures.errors import nmse
from quickstudy.pages.dynamics.systems import named, thinned
from quickstudy.pages.request import Request, Stage

Floats = NDArray[np.float64]

STEPS = 200
"""Of a series that are drawn."""
TRUE = Mark(ORACLE)


@figure("predictions", version=1)
def predictions(task: str, rows: Sequence[Traced]) -> list[Block]:
    """The first answers of the first run, its free runs, and the error against the length of training."""
    learners = [row for row in rows if row.role in (LEARNER, REPLAY)] or list(rows[:1])
    drawn: list[Block] = [_driven(task, learners, "answers")]
    free = [row for row in learners if "free_answer" in row.traces[0].arrays]
    if free:
        drawn.append(_free(task, free, "free"))
    lengths = [row for row in rows if len(row.traces[0].arrays.get("lengths", ())) > 1]
    return [*drawn, *([_lengths(task, lengths)] if lengths else [])]


def _driven(task: str, rows: Sequence[Traced], name: str) -> Plot:
    first = rows[0].traces[0].arrays
    series = [_line(row.learner, row.mark, row.traces[0].arrays["answer"][:STEPS, 0]) for row in rows]
    return Plot(
        name=name,
        caption=f"The first {min(STEPS, len(first['target']))} answers of the test part in the first run, of its first "
        "dimension. Thin grey: what was right.",
        label=f"Answers on {task} beside what was right.",
        x=Axis("steps"),
        y=Axis("answer"),
        panels=[Panel([_line("target", TRUE, first["target"][:STEPS, 0]), *series])],
        direct=False,
    )


def _free(task: str, rows: Sequence[Traced], name: str) -> Plot:
    series = [_line(row.learner, row.mark, row.traces[0].arrays["free_answer"][0, :, 0]) for row in rows]
    target = rows[0].traces[0].arrays["free_target"][0, :, 0]
    spread = float(np.ptp(target)) or 1.0
    return Plot(
        name=name,
        caption="Running on its own answers, from the first start of the first run. Thin grey: what was right.",
        label=f"Free runs on {task} beside what was right.",
        x=Axis("steps"),
        y=Axis("answer", range=(float(target.min()) - 0.5 * spread, float(target.max()) + 0.5 * spread)),
        panels=[Panel([_line("target", TRUE, target), *series])],
        direct=False,
    )


def _line(label: str, mark: Mark, values: Floats) -> Plotted:
    x, y = thinned(values)
    return Plotted(label, mark, x, y)


def _lengths(task: str, rows: Sequence[Traced]) -> Plot:
    series = []
    for row in rows:
        errors = np.array([_errors(trace) for trace in row.traces])
        lengths = row.traces[0].arrays["lengths"].tolist()
        # An error is read on a logarithmic scale: so are its mean and its spread.
        mean, spread = np.log(errors).mean(axis=0), np.log(errors).std(axis=0)
        low, high = (np.exp(mean + sign * spread).tolist() for sign in (-1, 1))
        series.append(Plotted(row.learner, row.mark, lengths, np.exp(mean).tolist(), low, high, dots=True))
    return Plot(
        name="lengths",
        caption="NRMSE against the length of the training part, geometric mean of the runs ± 1 standard deviation.",
        label=f"Error against training length on {task}.",
        x=Axis("training steps", LOG),
        y=Axis("NRMSE", LOG),
        panels=[Panel(series)],
        live=True,
    )


def _errors(trace: Trace) -> list[float]:
    target = trace.arrays["driven_target"]
    return [float(np.sqrt(nmse(answer, target))) for answer in trace.arrays["answers"]]


@block("answers", version=1)
class Answers:
    """Answers of every learner of a study, of one run: along the test part, and in free runs; a closed curve in its
    plane.
    """

    def stages(self, request: Request) -> Iterator[Stage]:
        """One run of every learner on every task."""
        yield Stage(request.models(), 1)

    def blocks(self, request: Request) -> Made:
        """One or two pictures a row."""
        made: list[Block] = []
        facts: dict[str, dict[str, float]] = {}
        for row in request.rows:
            rows = []
            for number, column in enumerate(row.learners):
                traces = list(request.traces(row, row.learner(column, request.convention)).values())
                if traces:
                    rows.append(Traced(column, LEARNER, Mark(number=number), traces[:1]))
            if not rows:
                made.append(Text(f"{row.label}: no run is finished, so there is nothing to show."))
                continue
            name = f"{request.name}-{named(row.label)}"
            if rows[0].traces[0].facts.get("closed_curve"):
                made.append(_curves(row.label, rows, name))
            else:
                made.append(_driven(row.label, rows, name))
                free = [one for one in rows if "free_answer" in one.traces[0].arrays]
                made += [_free(row.label, free, f"{name}-free")] if free else []
            facts[row.label] = {
                one.learner: float(np.sqrt(nmse(one.traces[0].arrays["answer"], one.traces[0].arrays["target"])))
                for one in rows
            }
            said = ", ".join(f"{column} {error:.3g}" for column, error in facts[row.label].items())
            made.append(Text(f"{row.label}: NRMSE of this run {said}.", "remark"))
        return Made(made, facts)


def _curves(label: str, rows: Sequence[Traced], name: str) -> Plot:
    panels = []
    for row in rows:
        reached, target = (row.traces[0].arrays[key][0] for key in ("free_answer", "free_target"))
        own = Plotted(row.learner, row.mark, reached[:, 0].tolist(), reached[:, 1].tolist())
        true = Plotted("true curve", TRUE, target[:, 0].tolist(), target[:, 1].tolist())
        panels.append(Panel([own, true], row.learner))
    ends = [float(end) for end in (1.25 * np.abs(target).max(axis=0))]
    return Plot(
        name=name,
        caption=f"{label}: {len(reached):,} points that a learner draws on its own answers, in one run.",
        label=f"Free runs along the curve of {label}.",
        x=Axis("x", range=(-ends[0], ends[0])),
        y=Axis("y", range=(-ends[1], ends[1])),
        panels=panels,
        direct=False,
    )
