"""The pictures of what a memory holds, and of a classification: which class was taken for which,
and what a threshold would buy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import BARS, Axis, Block, Panel, Plot, Plotted, Traced
from quickstudy.base.registries import figure

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
            caption=(
                "How much of the input of some steps ago can be read off the states, on steps not"
                " fitted to."
            ),
            label=f"Memory by delay on {task}; in all {totals}.",
            x=Axis("delay, steps"),
            y=Axis("squared correlation", range=(0.0, 1.0)),
            panels=[
                Panel(
                    [
                        Plotted(row.learner, row.mark, counted(values), values.tolist())
                        for row, values in memory
                    ]
                )
            ],
            live=True,
        ),
        Plot(
            name="processing",
            caption=(
                "Capacity for products of orthonormal polynomials of past inputs, by their degree."
            ),
            label=f"Processing capacity by degree on {task}.",
            x=Axis("degree"),
            y=Axis("capacity, functions of the input"),
            panels=[
                Panel(
                    [Plotted(row.learner, row.mark, counted(values), values.tolist(), kind=BARS)],
                    row.learner,
                )
                for row, values in shares
            ],
        ),
    ]


def mean_of(runs: Sequence[NDArray[Any]]) -> Floats:
    """Of runs that may be of different lengths: nothing is held of what one of them was not asked
    for.
    """
    longest = max(map(len, runs))
    return np.asarray(np.mean([np.pad(run, (0, longest - len(run))) for run in runs], axis=0))


def _by_degree(row: Traced) -> Floats:
    """(degree,): mean capacity above the threshold, from degree 1 on."""
    return mean_of(
        [
            np.bincount(
                trace.arrays["degree"],
                np.where(
                    trace.arrays["capacity"] >= trace.facts["threshold"],
                    trace.arrays["capacity"],
                    0.0,
                ),
            )[1:]
            for trace in row.traces
        ]
    )


def counted(values: Floats) -> list[float]:
    """1, 2 ... for as many values as there are."""
    return list(map(float, range(1, len(values) + 1)))
