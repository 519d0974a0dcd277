"""The pictures of what a memory holds, and of a classification: which class was taken for which, and what a threshold
would buy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import BARS, LEARNER, REPLAY, Axis, Block, HeatMap, Mark, Panel, Plot, Plotted, Traced
from quickstudy.base.catalogue import block, figure
from quickstudy.measures.classes import confusion, roc
from quickstudy.pages.request import Request

Floats = NDArray[np.float64]


@figure("properties", version=1)
def properties(task: str, rows: Sequence[Traced]) -> list[Block]:
    """Memory by delay, and processing capacity by degree, means over runs."""
    memory = [(row, mean_of([trace.arrays["memory"] for trace in row.traces])) for row in rows]
    shares = [(row, _by_degree(row)) for row in rows]
    totals = ", ".join(f"{row.learner} {values.sum():.1f}" for row, values in memory)
    return [
        Plot(
            name="memory",
            caption="How much of the input of some steps ago can be read off the states, on steps not fitted to.",
            label=f"Memory by delay on {task}; in all {totals}.",
            x=Axis("delay, steps"),
            y=Axis("squared correlation", range=(0.0, 1.0)),
            panels=[
                Panel([Plotted(row.learner, row.mark, counted(values), values.tolist()) for row, values in memory])
            ],
            live=True,
        ),
        Plot(
            name="processing",
            caption="Capacity for products of orthonormal polynomials of past inputs, by their degree.",
            label=f"Processing capacity by degree on {task}.",
            x=Axis("degree"),
            y=Axis("capacity, functions of the input"),
            panels=[
                Panel([Plotted(row.learner, row.mark, counted(values), values.tolist(), kind=BARS)], row.learner)
                for row, values in shares
            ],
        ),
    ]


def mean_of(runs: Sequence[NDArray[Any]]) -> Floats:
    """Of runs that may be of different lengths: nothing is held of what one of them was not asked for."""
    longest = max(map(len, runs))
    return np.asarray(np.mean([np.pad(run, (0, longest - len(run))) for run in runs], axis=0))


def _by_degree(row: Traced) -> Floats:
    """(degree,): mean capacity above the threshold, from degree 1 on."""
    return mean_of(
        [
            np.bincount(
                trace.arrays["degree"],
                np.where(trace.arrays["capacity"] >= trace.facts["threshold"], trace.arrays["capacity"], 0.0),
            )[1:]
            for trace in row.traces
        ]
    )


def counted(values: Floats) -> list[float]:
    """1, 2 ... for as many values as there are."""
    return list(map(float, range(1, len(values) + 1)))


@block("memory-curves", version=1)
class MemoryCurves:
    """Memory by delay of every learner of a study, a panel a row. Runs are those that another block asks for."""

    def blocks(self, request: Request) -> list[Block]:
        """One picture."""
        panels = []
        for row in request.rows:
            series = []
            for number, column in enumerate(request.columns):
                traces = request.traces(row, row.learner(column, request.convention)).values()
                if traces:
                    values = mean_of([trace.arrays["memory"] for trace in traces])
                    series.append(Plotted(column, Mark(number=number), counted(values), values.tolist()))
            panels.append(Panel(series, row.label))
        return [
            Plot(
                name=f"{request.name}-delays",
                caption="How much of the input of some steps ago can be read off the states, mean of the runs.",
                label=f"Memory by delay: {', '.join(panel.title for panel in panels)}.",
                x=Axis("delay, steps"),
                y=Axis("squared correlation", range=(0.0, 1.0)),
                panels=panels,
                direct=False,
            )
        ]


POINTS = 200
"""Of the curve of a classification that are drawn."""


@figure("classes", version=1)
def classes(task: str, rows: Sequence[Traced]) -> list[Block]:
    """A confusion matrix for every learner, over all its runs, and the curves of all of them in one picture."""
    learners = [row for row in rows if row.role in (LEARNER, REPLAY)] or list(rows[:1])
    return [*(_matrix(task, row, number) for number, row in enumerate(learners)), _curves(task, rows)]


def _matrix(task: str, row: Traced, number: int) -> HeatMap:
    counts = np.sum([confusion(trace) for trace in row.traces], axis=0)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [str(place) for place in range(len(counts))]
    right = counts.trace() / max(counts.sum(), 1)
    return HeatMap(
        name=f"confusion-{number}",
        caption=f"{row.learner}: shares of the sequences of a class (rows) that were taken for each class (columns), "
        "all runs together.",
        label=f"Confusion matrix of {row.learner} on {task}: {right:.3f} of the sequences right.",
        rows=names,
        columns=names,
        values=shares.tolist(),
        low="none",
        high="all",
        data=[["class", *names], *([name, *line] for name, line in zip(names, counts.tolist(), strict=True))],
    )


def _curves(task: str, rows: Sequence[Traced]) -> Plot:
    series = []
    for row in rows:
        scores = np.concatenate([trace.arrays["score"] for trace in row.traces])
        labels = np.concatenate([trace.arrays["label"] for trace in row.traces])
        asked = np.arange(scores.shape[1])
        false_rate, true_rate = roc(scores.ravel(), (labels[:, None] == asked).ravel())
        places = np.unique(np.linspace(0, len(true_rate) - 1, POINTS).astype(int))
        series.append(Plotted(row.learner, row.mark, false_rate[places].tolist(), true_rate[places].tolist()))
    return Plot(
        name="roc",
        caption="Receiver operating characteristic: every class against the rest, all classes and runs together.",
        label=f"True positives against false positives on {task}.",
        x=Axis("false positives", range=(0.0, 1.0)),
        y=Axis("true positives", range=(0.0, 1.0)),
        panels=[Panel(series)],
        direct=False,
    )
