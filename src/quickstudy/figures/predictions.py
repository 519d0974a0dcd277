"""The picture of a series: answers next to targets, free runs, and the error against the length of
training.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quickstudy.base.blocks import (
    LEARNER,
    LOG,
    ORACLE,
    REPLAY,
    Axis,
    Block,
    Mark,
    Panel,
    Plot,
    Plotted,
    Traced,
)
from quickstudy.base.registries import figure
from quickstudy.base.trace import Trace
from quickstudy.measures.errors import nmse
from quickstudy.tasks.dynamics.series import Floats

DRAWN = 1000
"""Values of a series that are drawn one by one; of a longer one, the least and the greatest of so
many parts.
"""
STEPS = 200
"""Of a series that are drawn."""
TRUE = Mark(ORACLE)


def thinned(values: Floats) -> tuple[list[float], list[float]]:
    """Places and values of a series (time,) that show its extent: all of it, or the least and the
    greatest of each of many parts, in their order.

    >>> thinned(np.array([3.0, 1.0]))
    ([0.0, 1.0], [3.0, 1.0])
    """
    if len(values) <= 2 * DRAWN:
        return list(map(float, range(len(values)))), values.tolist()
    places: list[int] = []
    for part in np.array_split(np.arange(len(values)), DRAWN):
        ends = {int(part[values[part].argmin()]), int(part[values[part].argmax()])}
        places += sorted(ends)
    return list(map(float, places)), values[places].tolist()


@figure("predictions", version=1)
def predictions(task: str, rows: Sequence[Traced]) -> list[Block]:
    """The first answers of the first run, its free runs, and the error against the length of
    training.
    """
    learners = [row for row in rows if row.role in (LEARNER, REPLAY)] or list(rows[:1])
    drawn: list[Block] = [driven_plot(task, learners, "answers")]
    free = [row for row in learners if "free_answer" in row.traces[0].arrays]
    if free:
        drawn.append(free_plot(task, free, "free"))
    lengths = [row for row in rows if len(row.traces[0].arrays.get("lengths", ())) > 1]
    return [*drawn, *([_lengths(task, lengths)] if lengths else [])]


def driven_plot(task: str, rows: Sequence[Traced], name: str) -> Plot:
    """The first answers of the test part next to the targets."""
    first = rows[0].traces[0].arrays
    series = [
        _line(row.learner, row.mark, row.traces[0].arrays["answer"][:STEPS, 0]) for row in rows
    ]
    return Plot(
        name=name,
        caption=(
            f"The first {min(STEPS, len(first['target']))} answers of the test part in the first"
            " run, of its first dimension. Thin grey: what was right."
        ),
        label=f"Answers on {task} next to the targets.",
        x=Axis("steps"),
        y=Axis("answer"),
        panels=[Panel([_line("target", TRUE, first["target"][:STEPS, 0]), *series])],
        direct=False,
    )


def free_plot(task: str, rows: Sequence[Traced], name: str) -> Plot:
    """Free runs next to the targets."""
    series = [
        _line(row.learner, row.mark, row.traces[0].arrays["free_answer"][0, :, 0]) for row in rows
    ]
    target = rows[0].traces[0].arrays["free_target"][0, :, 0]
    spread = float(np.ptp(target)) or 1.0
    return Plot(
        name=name,
        caption=(
            "Running on its own answers, from the first start of the first run. Thin grey: what was"
            " right."
        ),
        label=f"Free runs on {task} next to the targets.",
        x=Axis("steps"),
        y=Axis(
            "answer", range=(float(target.min()) - 0.5 * spread, float(target.max()) + 0.5 * spread)
        ),
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
        series.append(
            Plotted(row.learner, row.mark, lengths, np.exp(mean).tolist(), low, high, dots=True)
        )
    return Plot(
        name="lengths",
        caption=(
            "NRMSE against the length of the training part, geometric mean of the runs ± 1 standard"
            " deviation."
        ),
        label=f"Error against training length on {task}.",
        x=Axis("training steps", LOG),
        y=Axis("NRMSE", LOG),
        panels=[Panel(series)],
        live=True,
    )


def _errors(trace: Trace) -> list[float]:
    target = trace.arrays["driven_target"]
    return [float(np.sqrt(nmse(answer, target))) for answer in trace.arrays["answers"]]
