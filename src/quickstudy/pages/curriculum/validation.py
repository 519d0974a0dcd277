"""Structure that tasks share, held against transfer that was measured: does the one foretell the other?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from quickstudy.base.blocks import (
    LEARNER,
    POINTS,
    Axis,
    Block,
    Column,
    Group,
    Line,
    Made,
    Mark,
    Name,
    Number,
    Panel,
    Plot,
    Plotted,
    Table,
    Text,
)
from quickstudy.base.catalogue import block
from quickstudy.base.study import StudyRow
from quickstudy.machines.graduality import step
from quickstudy.machines.resemblance import resemblance
from quickstudy.pages.curriculum.complexity import machine_kept
from quickstudy.pages.request import Request, Stage
from quickstudy.runs.setting import make_task
from quickstudy.tasks.curriculum.reduced import Reduction

GAIN = "transfer-gain"
LEAST = 5
"""Pairs of tasks below which a correlation says nothing."""


@block("shared-and-gained", version=1)
class SharedAndGained:
    """For every pair of tasks: how much of the target is known from the tasks before, by their machines, and what was
    gained by whom. Machines are those of the reductions, two options for every choice.
    """

    def stages(self, request: Request) -> Iterator[Stage]:
        """What the table of the study runs is enough."""
        return iter(())

    def blocks(self, request: Request) -> Made:
        """A table, a picture, and a sentence for every learner."""
        shared = {row.label: _shared(make_task(row.task, request.convention)) for row in request.rows}
        gains = {column: _gains(request, column) for column in request.columns}
        facts = {
            label: {**known, "gain": {column: own[label] for column, own in gains.items() if label in own}}
            for label, known in shared.items()
        }
        said = [Text(_verdict(column, own, shared), "verdict") for column, own in gains.items()]
        return Made([_table(request, shared, gains), *_picture(request, shared, gains), *said], {"shared": facts})


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
    from scipy.stats import kendalltau

    known = [shared[label]["resemblance"] for label in gains]
    if len(gains) < LEAST or len(set(known)) == 1 or len(set(gains.values())) == 1:
        return f"{column}: {len(gains)} pairs of tasks are too few, or too much alike, for a correlation."
    found = kendalltau(known, list(gains.values()))
    return (
        f"{column}: Kendall's tau of resemblance and gain {found.statistic:.3f}, p = {found.pvalue:.3f}, over "
        f"{len(gains)} pairs of tasks."
    )


def _table(request: Request, shared: dict[str, dict[str, float]], gains: dict[str, dict[str, float]]) -> Table:
    lines = [
        Line(
            [
                Name(label),
                *(Number(known[kind]) for kind in ("resemblance", "coverage", "graduality")),
                *(Number(own.get(label), note="" if label in own else "not run") for own in gains.values()),
            ]
        )
        for label, known in shared.items()
    ]
    columns = [Column("tasks", numeric=False), Column("resemblance"), Column("coverage"), Column("graduality")]
    caption = (
        "How much of the target is known from the task before it, by their machines: states that look alike; edges of "
        "a shared structure, a lower bound where machines are large; bits saved. And what was gained, mean over runs."
    )
    return Table(
        f"{request.name}-shared", caption, [*columns, *(Column(f"gain, {one}") for one in gains)], [Group(lines)]
    )


def _picture(request: Request, shared: dict[str, dict[str, float]], gains: dict[str, dict[str, float]]) -> list[Block]:
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
            "What was gained, against the share of the target's states that look like states of the task before it.",
            "Transfer gain against resemblance of machines.",
            Axis("resemblance", range=(0.0, 1.0)),
            Axis("transfer gain"),
            [Panel(series)],
            direct=False,
            live=True,
        )
    ]
