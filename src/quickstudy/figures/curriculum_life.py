"""Pictures of the curriculum: the way through the tasks, learning within each, what helped,
what was kept, and the replies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.blocks import (
    BARS,
    LOG,
    STEP,
    Axis,
    Block,
    Details,
    HeatMap,
    Panel,
    Plot,
    Plotted,
    Text,
    Traced,
)
from quickstudy.base.errors import NotApplicable
from quickstudy.base.parameters import configure
from quickstudy.base.registries import figure, typed_task
from quickstudy.base.trace import Trace
from quickstudy.figures.machines import machine_graph
from quickstudy.machines.finite import machine_of
from quickstudy.measures.gradual import ratio_matrix
from quickstudy.protocols.curriculum import sessions_of

POINTS = 200
"""Places at which curves of several runs are put together."""
WINDOW = 10
"""Answers of which the share that is right is shown: as many as must be right in a row."""
MOST_TASKS = 12
"""Tasks whose learning curves are shown: the first."""


@figure("curriculum-life", version=1)
def way(task: str, rows: Sequence[Traced]) -> list[Block]:
    """Tasks passed against steps, and the share of right answers within each task."""
    tasks = list(map(str, rows[0].traces[0].facts["tasks"]))
    longest = max(trace.facts["steps"] for row in rows for trace in row.traces)
    grid = np.unique(np.geomspace(1, max(2, longest), POINTS).astype(np.int64))
    passed = []
    for row in rows:
        mean = np.mean([_passed(trace, grid) for trace in row.traces], axis=0)
        passed.append(Plotted(row.learner, row.mark, grid.tolist(), mean.tolist(), kind=STEP))
    ends = ", ".join(f"{one.label} {one.y[-1]:.1f}" for one in passed)
    blocks: list[Block] = [
        Plot(
            name="way",
            caption="Tasks that were passed, against steps, mean over runs.",
            label=f"Tasks passed on {task} by the end: {ends} of {len(tasks)}.",
            x=Axis("steps", LOG),
            y=Axis("tasks passed", range=(0.0, float(len(tasks)))),
            panels=[Panel(passed)],
            live=True,
        )
    ]
    panels = [_within(rows, number, name) for number, name in enumerate(tasks[:MOST_TASKS])]
    if panels := [panel for panel in panels if panel.series]:
        blocks.append(
            Plot(
                name="within",
                caption=(
                    f"Share of right answers among the last {WINDOW}, against questions of the"
                    " task, first run."
                ),
                label=f"Learning within the tasks of {task}.",
                x=Axis("questions", LOG),
                y=Axis("right answers", range=(0.0, 1.0)),
                panels=panels,
                direct=False,
            )
        )
    return blocks


def _passed(trace: Trace, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """(step,) tasks passed by then."""
    arrays = trace.arrays
    first: dict[int, int] = {}
    for task, end, passed in zip(
        arrays["task"].tolist(), arrays["end"].tolist(), arrays["passed"].tolist(), strict=True
    ):
        if passed:
            first.setdefault(task, end)
    return np.searchsorted(np.sort(list(first.values())), grid, side="right").astype(np.float64)


def _within(rows: Sequence[Traced], task: int, name: str) -> Panel:
    series = []
    for row in rows:
        arrays = row.traces[0].arrays
        own = np.repeat(arrays["task"], arrays["questions"]) == task
        outcomes = arrays["outcome"][own].astype(np.float64)
        if len(outcomes) < WINDOW:
            continue
        shares = np.convolve(outcomes, np.full(WINDOW, 1 / WINDOW), mode="valid")
        places = np.unique(np.geomspace(1, len(shares), POINTS // 4).astype(np.int64)) - 1
        series.append(
            Plotted(row.learner, row.mark, (places + WINDOW).tolist(), shares[places].tolist())
        )
    return Panel(series, name)


@figure("transfer", version=1)
def transfer(task: str, rows: Sequence[Traced]) -> list[Block]:
    """Steps on the target under the four conditions."""
    conditions = list(map(str, rows[0].traces[0].facts["conditions"]))
    panels, told = [], []
    for row in rows:
        steps = np.array([trace.arrays["steps"] for trace in row.traces], np.float64)
        budget = float(row.traces[0].facts["budget"])
        median = np.median(np.where(steps < 0, budget, steps), axis=0)
        told.append(
            f"{row.learner}: "
            + ", ".join(f"{n} {v:.0f}" for n, v in zip(conditions, median, strict=True))
        )
        tells = [f"{name}: {value:,.0f}" for name, value in zip(conditions, median, strict=True)]
        bars = Plotted(
            "", row.mark, list(range(len(conditions))), median.tolist(), kind=BARS, tells=tells
        )
        panels.append(Panel([bars], row.learner))
    return [
        Plot(
            name="conditions",
            caption=(
                "Steps to pass the target: fresh, after the tasks before, after as many steps of"
                " noise, after the tasks before with other symbols. Medians over runs; what was not"
                " passed counts as the whole budget."
            ),
            label=f"Steps to pass the target of {task}. {'; '.join(told)}.",
            x=Axis(
                "condition", ticks=[(float(place), name) for place, name in enumerate(conditions)]
            ),
            y=Axis("steps"),
            panels=panels,
            direct=False,
        )
    ]


@figure("forgetting", version=1)
def forgetting(task: str, rows: Sequence[Traced]) -> list[Block]:
    """How many times as many steps every task took after others, one map for every learner."""
    found: list[Block] = []
    for row in rows:
        tasks = list(map(str, row.traces[0].facts["tasks"]))
        matrices = np.stack([ratio_matrix(trace) for trace in row.traces])
        values: list[list[float | None]] = [
            [_median(matrices[:, j, i]) for i in range(len(tasks))] for j in range(len(tasks))
        ]
        if not any(value is not None for line in values for value in line):
            continue
        found.append(
            HeatMap(
                name=f"kept-{row.learner}",
                caption=(
                    f"{row.learner}: steps of a task after those down to the row were learned, over"
                    " its steps right after it was learned itself. Medians over runs; 1 is nothing"
                    " forgotten."
                ),
                label=f"What {row.learner} keeps on {task}.",
                rows=[f"after {name}" for name in tasks],
                columns=tasks,
                values=values,
                low="fewest steps",
                high="most steps",
            )
        )
    return found


def _median(values: Any) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) and np.isfinite(np.median(known)) else None


SIGNS = {1: "+", -1: "-", 0: "."}
"""Rewards as they stand under the bytes they came with."""
_ACROSS = 76
_MOST = 40
"""Rows of a session that are shown: the first."""
_MOST_CONFIGURATIONS, _MOST_STATES = 2000, 40
"""Of a machine that is quickly made, and of one that can be read as a picture."""


@figure("curriculum-life/run", version=1)
def transcript(what: Mapping[str, Any], trace: Trace) -> list[Block]:
    """Every task that was met, in turn; and the task itself as a transducer, where it is one small
    one.
    """
    if "replies" not in trace.arrays:
        return [
            Text(
                "The replies were not stored; run with --set replies=true to store them.", "remark"
            ),
            *_machine(what),
        ]
    return [*_sessions(what, trace), *_machine(what)]


def _machine(what: Mapping[str, Any]) -> Iterator[Block]:
    named = what["task"]
    try:
        made = configure(
            named["id"], registries.task.get(named["id"]), named["parameters"], what["convention"]
        )
        found = machine_of(made, _MOST_CONFIGURATIONS)
    except NotApplicable:  # it is several tasks, or can be in too much
        return
    if found.machine.size <= _MOST_STATES:
        states = f"{found.machine.size} states"
        caption = (
            f"The task as its smallest transducer, {states}. On a way: shown, reward | replies."
        )
        yield Details("The task as a machine", [machine_graph("machine", found.machine, caption)])


def _sessions(what: Mapping[str, Any], trace: Trace) -> Iterator[Block]:
    for number, line in enumerate(sessions_of(what, trace)):
        found = typed_task(f"curriculum/{line['task']}", what["convention"]).replay(line)
        right = sum(one["correct"] for one in found["judged"])
        summary = (
            f"{line['task']}: {len(found['environment']):,} bytes, {right:,} of"
            f" {len(found['judged']):,} answers right"
        )
        yield Details(
            summary,
            [Text(aligned(found["environment"], line["replies"], found["rewards"]), "example")],
            number == 0,
        )


def aligned(environment: str, replies: str, rewards: list[int]) -> str:
    """The three lines, cut into rows; a space is shown as `_`, and what cannot be printed as
    `·`.
    """
    signs = "".join(SIGNS[reward] for reward in rewards)
    rows = list[str]()
    for start in range(0, len(environment), _ACROSS):
        if len(rows) == _MOST:
            rows.append(f"… {len(environment) - start:,} bytes more")
            break
        parts = ("shown  ", environment), ("said   ", replies), ("reward ", signs)
        rows.append("\n".join(name + _plain(text[start : start + _ACROSS]) for name, text in parts))
    return "\n\n".join(rows)


def _plain(text: str) -> str:
    return "".join(
        "_" if letter == " " else letter if letter.isprintable() else "·" for letter in text
    )
