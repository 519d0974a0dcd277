"""Structure that tasks share, compared with measured transfer: does the one predict the
other?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quickstudy.base.blocks import (
    LEARNER,
    POINTS,
    Axis,
    Block,
    Cell,
    Made,
    Mark,
    Name,
    Number,
    Panel,
    Plot,
    Plotted,
    Text,
    table,
)
from quickstudy.base.registries import block
from quickstudy.base.study import StudyRow
from quickstudy.figures.machines import machine_kept
from quickstudy.machines.description import step
from quickstudy.machines.likeness import resemblance
from quickstudy.pages.study_request import Request
from quickstudy.pages.table_helpers import kendall
from quickstudy.runs.run_spec import make_task
from quickstudy.tasks.curriculum.reduced import Reduction

GAIN = "transfer-gain"
LEAST = 5
"""Pairs of tasks below which a correlation means nothing."""


@block("shared-and-gained", version=1)
class SharedAndGained:
    """For every pair of tasks: how much of the target is known from the tasks before, by their
    machines, and what was gained by whom, in the runs of the study's table. Machines are those of
    the reductions, two options for every choice.
    """

    def blocks(self, request: Request) -> Made:
        """A table, a picture, and a sentence for every learner."""
        shared = {
            row.label: _shared(make_task(row.task, request.convention)) for row in request.rows
        }
        gains = {column: _gains(request, column) for column in request.columns}
        facts = {
            label: {
                **known,
                "gain": {column: own[label] for column, own in gains.items() if label in own},
            }
            for label, known in shared.items()
        }
        said = [Text(_verdict(column, own, shared), "verdict") for column, own in gains.items()]
        return Made(
            [_table(request, shared, gains), *_picture(request, shared, gains), *said],
            {"shared": facts},
        )


def _shared(task: Any) -> dict[str, float]:
    """The best that one of the tasks before does for the target."""
    target = machine_kept(Reduction(task.target)).recurrent
    before = [machine_kept(Reduction(name)).recurrent for name in task.before]
    steps = [step(machine, target) for machine in before]
    return {
        "resemblance": max(resemblance(machine, target) for machine in before),
        "coverage": max(one.coverage for one in steps),
        "graduality": max(one.graduality for one in steps),
    }


def _gains(request: Request, column: str) -> dict[str, float]:
    """By row, the mean gain of a learner."""
    found = {}
    for row in request.rows:
        values = list(_values(request, row, column))
        if values:
            found[row.label] = float(np.mean(values))
    return found


def _values(request: Request, row: StudyRow, column: str) -> Sequence[float]:
    runs = request.values(row, row.learner(column, request.convention), GAIN)
    return [value for value in runs.values() if np.isfinite(value)]


def _verdict(column: str, gains: dict[str, float], shared: dict[str, dict[str, float]]) -> str:
    tau, p = kendall([shared[label]["resemblance"] for label in gains], list(gains.values()))
    if len(gains) < LEAST or np.isnan(tau):
        return (
            f"{column}: {len(gains)} pairs of tasks are too few, or too much alike, for a"
            " correlation."
        )
    return (
        f"{column}: Kendall's tau of resemblance and gain {tau:.3f}, p = {p:.3f}, over {len(gains)}"
        " pairs of tasks."
    )


def _table(
    request: Request, shared: dict[str, dict[str, float]], gains: dict[str, dict[str, float]]
) -> Block:
    kinds = ("resemblance", "coverage", "graduality")
    rows: list[list[Cell]] = [
        [
            Name(label),
            *(Number(known[kind]) for kind in kinds),
            *(
                Number(own.get(label), note="" if label in own else "not run")
                for own in gains.values()
            ),
        ]
        for label, known in shared.items()
    ]
    caption = (
        "How much of the target is known from the task before it, by their machines: states that"
        " look alike; edges of a shared structure, a lower bound where machines are large; bits"
        " saved. And what was gained, mean over runs."
    )
    return table(
        f"{request.name}-shared",
        caption,
        ["tasks", *kinds, *(f"gain, {one}" for one in gains)],
        rows,
    )


def _picture(
    request: Request, shared: dict[str, dict[str, float]], gains: dict[str, dict[str, float]]
) -> list[Block]:
    series = [
        Plotted(
            column,
            Mark(LEARNER, number),
            [shared[label]["resemblance"] for label in own],
            list(own.values()),
            kind=POINTS,
            tells=[f"{label}: {gain:.2f}" for label, gain in own.items()],
        )
        for number, (column, own) in enumerate(gains.items())
        if own
    ]
    if not series:
        return []
    return [
        Plot(
            f"{request.name}-shared-and-gained",
            "The gain, against the share of the target's states that look like states of the"
            " task before it.",
            "Transfer gain against resemblance of machines.",
            Axis("resemblance", range=(0.0, 1.0)),
            Axis("transfer gain"),
            [Panel(series)],
            direct=False,
            live=True,
        )
    ]
