"""The memories that a search has found, in the space of behaviours, and the places of tasks in
it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import (
    CONTROL,
    LEARNER,
    POINTS,
    Axis,
    Block,
    Cell,
    Cloud,
    Mark,
    Name,
    Number,
    Panel,
    Plot,
    Plotted,
    Text,
    Traced,
    Volume,
    table,
)
from quickstudy.base.registries import figure
from quickstudy.figures.properties import counted, mean_of
from quickstudy.measures.charc import AXES, covered, explained, places, spanning

Floats = NDArray[np.float64]

WORDS = {
    "kernel-rank": "kernel rank",
    "generalisation-rank": "generalisation rank",
    "memory": "memory capacity",
}
PROPOSED = 4
"""Tasks that are named to span the space."""
MOST_POINTS = 2000
"""Behaviours of a learner that are drawn: the first of them."""


@figure("behaviours", version=1)
def behaviours(task: str, rows: Sequence[Traced]) -> list[Block]:
    """The behaviours that were found in the first run, in space and two axes at a time; coverage
    against evaluations; the places of tasks.
    """
    return [*behaviour_plots(task, rows, ""), *task_map(rows, "")]


def behaviour_plots(task: str, rows: Sequence[Traced], prefix: str) -> list[Block]:
    """The space of behaviours, its three planes, and the coverage."""
    pairs = [_pair(task, rows, first, second, prefix) for first, second in ((0, 1), (0, 2), (1, 2))]
    return [_space(task, rows, prefix), *pairs, _coverage(task, rows, prefix)]


def _drawn(row: Traced) -> list[tuple[str, Mark, Floats]]:
    """The points of a figure: random draws and the search of the first run of a learner, and
    what was trained in any run.
    """
    arrays = row.traces[0].arrays
    found = [
        ("drawn at random", Mark(CONTROL), arrays["at_random"][:MOST_POINTS]),
        ("searched", Mark(LEARNER, row.mark.number), arrays["behaviour"][:MOST_POINTS]),
    ]
    trained = [trace.arrays["trained"] for trace in row.traces if "trained" in trace.arrays]
    if trained:
        after = row.traces[0].facts["after"]
        found.append(
            (f"trained on {after}", Mark(LEARNER, row.mark.number + 3), np.concatenate(trained))
        )
    return found


def _space(task: str, rows: Sequence[Traced], prefix: str) -> Volume:
    panels = [
        (
            row.learner,
            [Cloud(label, mark, points.tolist()) for label, mark, points in reversed(_drawn(row))],
        )
        for row in rows
    ]
    return Volume(
        f"{prefix}space",
        "Every core that was tried, in one run; grey: as many drawn at random.",
        f"The behaviours of the cores that were tried on {task}.",
        [WORDS[axis] for axis in AXES],
        panels,
    )


def _pair(task: str, rows: Sequence[Traced], first: int, second: int, prefix: str) -> Plot:
    x, y = WORDS[AXES[first]], WORDS[AXES[second]]
    panels = [
        Panel(
            [
                Plotted(
                    label, mark, points[:, first].tolist(), points[:, second].tolist(), kind=POINTS
                )
                for label, mark, points in reversed(_drawn(row))
            ],
            row.learner,
        )
        for row in rows
    ]
    return Plot(
        name=f"{prefix}{AXES[first]}-{AXES[second]}",
        caption=(
            f"Every core that was tried, in one run: {y} against {x}. Grey: drawn at random, as"
            " many."
        ),
        label=f"{y} against {x} of the cores that were tried on {task}.",
        x=Axis(x),
        y=Axis(y),
        panels=panels,
        direct=False,
    )


def _coverage(task: str, rows: Sequence[Traced], prefix: str) -> Plot:
    series = []
    for row in rows:
        both = (
            (row.learner, "behaviour", row.mark),
            (f"{row.learner} at random", "at_random", Mark(CONTROL)),
        )
        for label, name, mark in both:
            reached = mean_of(
                [covered(trace.arrays[name], trace.facts["voxel"]) for trace in row.traces]
            )
            series.append(Plotted(label, mark, counted(reached), reached.tolist()))
    ends = ", ".join(f"{one.label} {one.y[-1]:.0f}" for one in series)
    return Plot(
        name=f"{prefix}coverage",
        caption=(
            "Different behaviours (voxels) against evaluations, mean of the runs. Grey: cores drawn"
            " at random."
        ),
        label=f"Coverage on {task}: {ends} voxels.",
        x=Axis("evaluations"),
        y=Axis("voxels"),
        panels=[Panel(series)],
        live=True,
    )


def task_map(rows: Sequence[Traced], prefix: str) -> list[Block]:
    """Where each task is done best, of learners whose cores were tried on tasks; and some tasks
    that span the space.
    """
    found: list[Block] = []
    for number, row in enumerate(rows):
        traces = [trace for trace in row.traces if "errors" in trace.arrays]
        if not traces:
            continue
        names = list(map(str, traces[0].facts["tasks"]))
        where = np.mean([places(trace) for trace in traces], axis=0)
        least = np.mean([trace.arrays["errors"].min(axis=0) for trace in traces], axis=0)
        shares = [
            [explained(trace.arrays["placed"], own) for own in trace.arrays["errors"].T]
            for trace in traces
        ]
        told = [[share for share in of if share is not None] for of in zip(*shares, strict=True)]
        lines: list[list[Cell]] = [
            [Name(name), *map(_cell, place), _cell(best), _cell(np.mean(share) if share else None)]
            for name, place, best, share in zip(names, where, least, told, strict=True)
        ]
        heading = ["task", *(WORDS[axis] for axis in AXES), "least error", "explained"]
        caption = (
            f"Where {row.learner} does each task best: mean behaviour of the best tenth of its"
            " cores; the least error; how much of the error, on a logarithmic scale, kernel rank,"
            " generalisation rank and memory explain."
        )
        ending = f"-{number + 1}" if number else ""
        found.append(
            table(
                f"{prefix}places{ending}", caption, heading, lines, better={"least error": "lower"}
            )
        )
        found.append(_placed(row.learner, names, where, f"{prefix}task-map{ending}"))
        order = spanning(where / np.maximum(np.ptp(where, axis=0), 1e-9), min(PROPOSED, len(names)))
        found.append(
            Text(f"Tasks that span the space: {', '.join(names[place] for place in order)}.")
        )
    return found


def _cell(value: float | None) -> Number:
    return Number(None if value is None else float(value))


def _placed(learner: str, names: Sequence[str], where: Floats, name: str) -> Plot:
    points = [
        Plotted(
            task.removeprefix("dynamics/"), Mark(number=number), [place[2]], [place[0]], kind=POINTS
        )
        for number, (task, place) in enumerate(zip(names, where.tolist(), strict=True))
    ]
    return Plot(
        name=name,
        caption=(
            f"The places of tasks: kernel rank and memory capacity of those {learner} that do them"
            " best."
        ),
        label=f"Where tasks lie in the space of behaviours of {learner}.",
        x=Axis("memory capacity"),
        y=Axis("kernel rank"),
        panels=[Panel(points)],
    )
