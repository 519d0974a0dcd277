"""Does the order of a curriculum follow the complexity of its tasks, and which order would?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from quickstudy.base.blocks import (
    CONTROL,
    COUNT,
    LEARNER,
    POINTS,
    Axis,
    Block,
    Cell,
    HeatMap,
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
from quickstudy.figures.machines import machine_figures, machine_kept
from quickstudy.machines.curricula import Compared, is_ordered, rank_correlation
from quickstudy.machines.likeness import resemblances
from quickstudy.pages.study_request import Request
from quickstudy.runs.run_spec import make_task

KINDS = {
    "topological_complexity": "C_0",
    "complexity_uniform": "C_X, uniform replies",
    "complexity_right": "C, always right",
}
ORDERS = {
    "given": "as published",
    "complexity": "by complexity",
    "graduality": "by graduality",
    "reversed": "reversed",
}


@block("complexity-order", version=1)
@dataclass(frozen=True)
class ComplexityOrder:
    """Complexity against the place in the curriculum, what every task has in common with every
    other, and orders that follow from both, with what can be promised of them. by: the complexity
    that orders.
    """

    by: str = "topological_complexity"

    def blocks(self, request: Request) -> Made:
        """Sentences, pictures and tables."""
        tasks = [make_task(row.task, request.convention) for row in request.rows]
        labels, figures = (
            [row.label for row in request.rows],
            [machine_figures(task) for task in tasks],
        )
        found = Compared(
            labels,
            [float(one[self.by]) for one in figures],
            resemblances([machine_kept(task).recurrent for task in tasks]),
        )
        facts = found.facts()
        blocks = [
            *(Text(said, "verdict") for said in _verdicts(figures)),
            _scatter(request.name, labels, figures),
            _orders(request.name, facts, found),
            _places(request.name, facts["orders"]),
            _alike(request.name, labels, found),
        ]
        return Made(blocks, {"order": facts})


def _verdicts(figures: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """For every complexity, whether later tasks have more of it."""
    for kind, title in KINDS.items():
        values = [float(one[kind]) for one in figures]
        falls = sum(later < before - 1e-9 for before, later in pairwise(values))
        if len(values) < 3 or len(set(values)) == 1:
            yield f"{title}: {len(values)} tasks say nothing of an order."
            continue
        found = rank_correlation(values)
        held = (
            "never falls: Definition 1 holds"
            if is_ordered(values)
            else f"falls {falls} of {len(values) - 1} times"
        )
        yield (
            f"{title} {held}; Kendall's tau with the place in the curriculum {found.tau:.3f}, "
            f"p = {found.p:.4f} over {found.permutations:,} shuffled orders."
        )


def _scatter(name: str, labels: Sequence[str], figures: Sequence[Mapping[str, float]]) -> Plot:
    places = list(map(float, range(1, len(labels) + 1)))
    series = [
        Plotted(
            title,
            Mark(CONTROL if kind == "topological_complexity" else LEARNER, number),
            places,
            [float(one[kind]) for one in figures],
            kind=POINTS,
            tells=[
                f"{label}: {float(one[kind]):.3f} bits"
                for label, one in zip(labels, figures, strict=True)
            ],
        )
        for number, (kind, title) in enumerate(KINDS.items())
    ]
    return Plot(
        f"{name}-by-place",
        "Bits that the smallest transducer of a task holds, by the place of the task in the"
        " curriculum.",
        f"Complexity of {len(labels)} tasks in the order of the curriculum.",
        Axis("place in the curriculum"),
        Axis("bits"),
        [Panel(series)],
        direct=False,
        live=True,
    )


def _orders(name: str, facts: Mapping[str, Any], found: Compared) -> Block:
    rows: list[list[Cell]] = []
    for kind, title in ORDERS.items():
        values = [found.complexities[task] for task in found.orders()[kind]]
        falls = sum(later < before - 1e-9 for before, later in pairwise(values))
        means = facts["graduality"].get(kind, {"consecutive": None, "best_earlier": None})
        numbers = (
            Number(means["consecutive"]),
            Number(means["best_earlier"]),
            Number(falls, form=COUNT),
        )
        rows.append([Name(title), *numbers])
    caption = (
        "Orders of the tasks. To the next: mean share of a task's states that look like states of"
        " the task before it; from the best before: like those of the task before it that is most"
        " like it. By complexity nothing falls; by graduality no order that begins with the least"
        " complex task has more from the best before."
    )
    heading = ("order", "to the next", "from the best before", "falls of complexity")
    return table(f"{name}-orders", caption, heading, rows)


def _places(name: str, orders: Mapping[str, Sequence[str]]) -> Block:
    shown = [kind for kind in ORDERS if kind != "reversed"]
    tasks = zip(*(orders[kind] for kind in shown), strict=True)
    rows: list[list[Cell]] = [[Name(str(place)), *row] for place, row in enumerate(tasks, 1)]
    return table(
        f"{name}-places",
        "The tasks in these orders.",
        ["place", *(ORDERS[kind] for kind in shown)],
        rows,
    )


def _alike(name: str, labels: Sequence[str], found: Compared) -> Block:
    return HeatMap(
        f"{name}-alike",
        "Share of the states of a task (column) that look like states of another (row), one to"
        " eight steps around.",
        f"Resemblance of {len(labels)} tasks.",
        list(labels),
        list(labels),
        [[float(value) for value in row] for row in found.steps],
        low="nothing in common",
        high="all known",
    )
