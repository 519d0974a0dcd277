"""The pictures of what a memory holds, and of the memories that a search has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import (
    BARS,
    CONTROL,
    LEARNER,
    POINTS,
    Axis,
    Block,
    Column,
    Group,
    Line,
    Mark,
    Name,
    Number,
    Panel,
    Plot,
    Plotted,
    Table,
    Text,
    Traced,
)  # fmt: skip
from quickstudy.base.catalogue import figure
from quickstudy.measures.charc import AXES, covered, places, spanning

Floats = NDArray[np.float64]

WORDS = {"kernel-rank": "kernel rank", "generalisation-rank": "generalisation rank", "memory": "memory capacity"}
PROPOSED = 3
"""Tasks that are named to span the space."""
MOST_POINTS = 2000
"""Behaviours of a learner that are drawn: the first of them."""


@figure("properties", version=1)
def properties(task: str, rows: Sequence[Traced]) -> list[Block]:
    """Memory by delay, and processing capacity by degree, means over runs."""
    memory = [(row, _mean([trace.arrays["memory"] for trace in row.traces])) for row in rows]
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
                Panel([Plotted(row.learner, row.mark, _delays(values), values.tolist()) for row, values in memory])
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
                Panel([Plotted(row.learner, row.mark, _delays(values), values.tolist(), kind=BARS)], row.learner)
                for row, values in shares
            ],
        ),
    ]


def _mean(runs: Sequence[NDArray[Any]]) -> Floats:
    """Of runs that may be of different lengths: nothing is held of what one of them was not asked for."""
    longest = max(map(len, runs))
    return np.asarray(np.mean([np.pad(run, (0, longest - len(run))) for run in runs], axis=0))


def _by_degree(row: Traced) -> Floats:
    """(degree,): mean capacity above the threshold, from degree 1 on."""
    return _mean(
        [
            np.bincount(
                trace.arrays["degree"],
                np.where(trace.arrays["capacity"] >= trace.facts["threshold"], trace.arrays["capacity"], 0.0),
            )[1:]
            for trace in row.traces
        ]
    )


def _delays(values: Floats) -> list[float]:
    return list(map(float, range(1, len(values) + 1)))


@figure("behaviours", version=1)
def behaviours(task: str, rows: Sequence[Traced]) -> list[Block]:
    """The behaviours that were found, two axes at a time, in the first run; and coverage against evaluations."""
    pairs = [_pair(task, rows, first, second) for first, second in ((0, 1), (0, 2), (1, 2))]
    return [*pairs, _coverage(task, rows), *_map(rows)]


def _pair(task: str, rows: Sequence[Traced], first: int, second: int) -> Plot:
    x, y = WORDS[AXES[first]], WORDS[AXES[second]]
    panels = []
    for row in rows:
        arrays = row.traces[0].arrays
        searched = Mark(LEARNER, row.mark.number)
        drawn = {"drawn at random": ("at_random", Mark(CONTROL)), "searched": ("behaviour", searched)}
        series = []
        for label, (name, mark) in drawn.items():
            found = arrays[name][:MOST_POINTS]
            series.append(Plotted(label, mark, found[:, first].tolist(), found[:, second].tolist(), kind=POINTS))
        panels.append(Panel(series, row.learner))
    return Plot(
        name=f"{AXES[first]}-{AXES[second]}",
        caption=f"Every core that was tried, in one run: {y} against {x}. Grey: drawn at random, as many.",
        label=f"{y} against {x} of the cores that were tried on {task}.",
        x=Axis(x),
        y=Axis(y),
        panels=panels,
        direct=False,
    )


def _coverage(task: str, rows: Sequence[Traced]) -> Plot:
    series = []
    for row in rows:
        both = (row.learner, "behaviour", row.mark), (f"{row.learner} at random", "at_random", Mark(CONTROL))
        for label, name, mark in both:
            reached = _mean([covered(trace.arrays[name], trace.facts["voxel"]) for trace in row.traces])
            series.append(Plotted(label, mark, _delays(reached), reached.tolist()))
    ends = ", ".join(f"{one.label} {one.y[-1]:.0f}" for one in series)
    return Plot(
        name="coverage",
        caption="Different behaviours (voxels) against evaluations, mean of the runs. Grey: cores drawn at random.",
        label=f"Coverage on {task}: {ends} voxels.",
        x=Axis("evaluations"),
        y=Axis("voxels"),
        panels=[Panel(series)],
        live=True,
    )


def _map(rows: Sequence[Traced]) -> list[Block]:
    """Where each task is done best, of learners whose cores were tried on tasks; and some tasks that span the space."""
    found: list[Block] = []
    for row in rows:
        traces = [trace for trace in row.traces if "errors" in trace.arrays]
        if not traces:
            continue
        names = list(map(str, traces[0].facts["tasks"]))
        where = np.mean([places(trace) for trace in traces], axis=0)
        order = spanning(where / np.maximum(np.ptp(where, axis=0), 1e-9), PROPOSED)
        lines = [
            Line([Name(name), *(Number(float(value)) for value in place)], role=LEARNER)
            for name, place in zip(names, where, strict=True)
        ]
        columns = [Column("task", numeric=False), *(Column(WORDS[axis]) for axis in AXES)]
        caption = f"Where {row.learner} does each task best: mean behaviour of the best tenth of its cores."
        found.append(Table("places", caption, columns, [Group(lines)]))
        found.append(Text(f"Tasks that span the space: {', '.join(names[place] for place in order)}."))
    return found
