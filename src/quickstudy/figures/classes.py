"""The picture of a classification: which class was taken for which, and what a threshold would
buy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quickstudy.base.blocks import (
    LEARNER,
    REPLAY,
    Axis,
    Block,
    HeatMap,
    Panel,
    Plot,
    Plotted,
    Traced,
)
from quickstudy.base.registries import figure
from quickstudy.measures.classes import confusion, roc

POINTS = 200
"""Of the curve of a classification that are drawn."""


@figure("classes", version=1)
def classes(task: str, rows: Sequence[Traced]) -> list[Block]:
    """A confusion matrix for every learner, over all its runs, and the curves of all of them in one
    picture.
    """
    learners = [row for row in rows if row.role in (LEARNER, REPLAY)] or list(rows[:1])
    return [
        *(_matrix(task, row, number) for number, row in enumerate(learners)),
        _curves(task, rows),
    ]


def _matrix(task: str, row: Traced, number: int) -> HeatMap:
    counts = np.sum([confusion(trace) for trace in row.traces], axis=0)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [str(place) for place in range(len(counts))]
    right = counts.trace() / max(counts.sum(), 1)
    return HeatMap(
        name=f"confusion-{number}",
        caption=(
            f"{row.learner}: shares of the sequences of a class (rows) that were taken for each"
            " class (columns), all runs together."
        ),
        label=f"Confusion matrix of {row.learner} on {task}: {right:.3f} of the sequences right.",
        rows=names,
        columns=names,
        values=shares.tolist(),
        low="none",
        high="all",
        data=[
            ["class", *names],
            *([name, *line] for name, line in zip(names, counts.tolist(), strict=True)),
        ],
    )


def _curves(task: str, rows: Sequence[Traced]) -> Plot:
    series = []
    for row in rows:
        scores = np.concatenate([trace.arrays["score"] for trace in row.traces])
        labels = np.concatenate([trace.arrays["label"] for trace in row.traces])
        asked = np.arange(scores.shape[1])
        false_rate, true_rate = roc(scores.ravel(), (labels[:, None] == asked).ravel())
        places = np.unique(np.linspace(0, len(true_rate) - 1, POINTS).astype(int))
        series.append(
            Plotted(row.learner, row.mark, false_rate[places].tolist(), true_rate[places].tolist())
        )
    return Plot(
        name="roc",
        caption=(
            "Receiver operating characteristic: every class against the rest, all classes and runs"
            " together."
        ),
        label=f"True positives against false positives on {task}.",
        x=Axis("false positives", range=(0.0, 1.0)),
        y=Axis("true positives", range=(0.0, 1.0)),
        panels=[Panel(series)],
        direct=False,
    )
