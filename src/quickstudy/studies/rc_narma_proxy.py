"""What numbers mean: errors of an uninformed answer, and the order of a system as a
measure of memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from quickstudy.base.blocks import (
    CONTROL,
    LOG,
    MAGNITUDE,
    POINTS,
    Axis,
    Block,
    Cell,
    Guide,
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
from quickstudy.base.errors import UsageError
from quickstudy.base.registries import block
from quickstudy.base.study import StudyRow
from quickstudy.pages.study_request import Request, Stage
from quickstudy.pages.table_helpers import kendall


@block("narma-proxy", version=1)
class NarmaProxy:
    """The largest order of NARMA that each learner follows, with its memory capacity.

    A row of `dynamics/memory` gives the capacity, the others are of NARMA, their order the first
    number in the label. Settings: `bound`: an order is learned where the mean NRMSE of the runs is
    below it.
    """

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every learner on every task."""
        yield Stage(request.models(), request.seeds)

    def blocks(self, request: Request) -> Made:
        """Errors against the order, the largest order against the capacity, and both as a table."""
        bound = float(request.study.settings.get("bound", 0.4))
        memory = [row for row in request.rows if row.task.startswith("dynamics/memory")]
        orders = {_order(request, row): row for row in request.rows if row not in memory}
        if len(memory) != 1:
            raise UsageError(
                f"{request.study.id}: one row of dynamics/memory is needed, got {len(memory)}"
            )
        found: dict[str, tuple[float, dict[int, float]]] = {}
        for column in request.columns:
            capacity = _values(request, memory[0], column, "memory-capacity")
            errors = {
                order: _values(request, row, column, "nrmse") for order, row in orders.items()
            }
            known = {order: math.exp(np.log(own).mean()) for order, own in errors.items() if own}
            if capacity and known:
                found[column] = (float(np.mean(capacity)), known)
        if not found:
            return Made(
                [
                    Text(
                        "No learner has finished runs of memory and of NARMA, so there is nothing"
                        " to show."
                    )
                ]
            )
        largest = {column: _largest(errors, bound) for column, (_, errors) in found.items()}
        capacities = [capacity for capacity, _ in found.values()]
        tau, p = kendall(capacities, list(largest.values()))
        rows: list[list[Cell]] = [
            [
                Name(column),
                Number(capacity),
                Number(largest[column], form="count"),
                *_errors(errors, orders),
            ]
            for column, (capacity, errors) in found.items()
        ]
        heading = [
            "learner",
            "memory capacity",
            "largest order",
            *(f"NRMSE, order {order}" for order in orders),
        ]
        caption = (
            f"An order is learned where the geometric mean of the runs' NRMSE is below {bound:g};"
            " 0: none is."
        )
        said = (
            "All learners have the same largest order or the same capacity: they cannot be ordered."
            if math.isnan(tau)
            else (
                f"Kendall's tau of capacity and largest order, {len(found)} learners: {tau:.2f} (p"
                f" of none {p:.2g})."
            )
        )
        blocks: list[Block] = [
            _curves(request, found, bound),
            _against(request, found, largest),
            table(f"{request.name}-proxy", caption, heading, rows),
            Text(said),
        ]
        facts = {
            column: {"memory_capacity": capacity, "largest_order": largest[column], "nrmse": errors}
            for column, (capacity, errors) in found.items()
        }
        return Made(
            blocks, {"bound": bound, "learners": facts, "kendall": None if math.isnan(tau) else tau}
        )


def _order(request: Request, row: StudyRow) -> int:
    found = re.search(r"\d+", row.label)
    if found is None:
        raise UsageError(
            f'{request.study.id}: row "{row.label}": its label must hold the order of the system'
        )
    return int(found.group())


def _values(request: Request, row: StudyRow, column: str, score: str) -> list[float]:
    return list(request.values(row, row.learner(column, request.convention), score).values())


def _largest(errors: Mapping[int, float], bound: float) -> int:
    """The largest order of those learned, 0 if none is."""
    return max((order for order, error in errors.items() if error < bound), default=0)


def _errors(errors: Mapping[int, float], orders: Mapping[int, Any]) -> list[Cell]:
    return [Number(errors[order], form=MAGNITUDE) if order in errors else "" for order in orders]


Found = Mapping[str, tuple[float, Mapping[int, float]]]


def _curves(request: Request, found: Found, bound: float) -> Plot:
    series = [
        Plotted(
            column, Mark(number=number), list(map(float, errors)), list(errors.values()), dots=True
        )
        for number, (column, (_, errors)) in enumerate(found.items())
    ]
    return Plot(
        name=f"{request.name}-orders",
        caption=(
            f"NRMSE against the order of NARMA, geometric mean of the runs. Below {bound:g}, an"
            " order is learned."
        ),
        label="Error against the order of NARMA.",
        x=Axis("order"),
        y=Axis("NRMSE", LOG),
        panels=[Panel(series, guides=[Guide(y=bound, label=f"{bound:g}", strong=True)])],
    )


def _against(request: Request, found: Found, largest: Mapping[str, int]) -> Plot:
    series: list[Plotted] = [
        Plotted(column, Mark(number=number), [capacity], [float(largest[column])], kind=POINTS)
        for number, (column, (capacity, _)) in enumerate(found.items())
    ]
    end = max([*(capacity for capacity, _ in found.values()), *largest.values(), 1])
    return Plot(
        name=f"{request.name}-capacity",
        caption=(
            "The largest order that is learned against memory capacity. Dashed: where both are the"
            " same."
        ),
        label="The largest order of NARMA that is learned against memory capacity.",
        x=Axis("memory capacity, steps"),
        y=Axis("largest order"),
        panels=[Panel([*series, _diagonal(end)])],
        direct=False,
    )


def _diagonal(end: float) -> Plotted:
    ends: Sequence[float] = [0.0, float(end)]
    return Plotted("the same", Mark(CONTROL), ends, ends)
