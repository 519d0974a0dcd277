"""What numbers stand for: errors of an answer that says nothing, and the order of a system as a measure of memory."""

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
)  # fmt: skip
from quickstudy.base.catalogue import block
from quickstudy.base.errors import UsageError
from quickstudy.base.study import StudyRow
from quickstudy.measures.errors import nmse
from quickstudy.pages.cells import kendall, table
from quickstudy.pages.dynamics.systems import Drawn, task_of
from quickstudy.pages.request import Request, Stage

MEASURES = ("MSE", "RMSE", "NMSE", "NRMSE")
DRAWS = 10_000
"""Sets of targets by which the spread of an error is known."""


@block("error-measures", version=1)
class ErrorMeasures(Drawn):
    """Errors of the constant answer 0 against normal targets of several deviations.

    Settings: `deviations`; `targets`, how many there are in a set; `published`: by measure, one number for each
    deviation. The published numbers are those of one set; beside them stand the mean over many and the part in which 95
    of 100 sets lie.
    """

    def blocks(self, request: Request) -> Made:
        """One table, and how many published numbers lie where they should."""
        settings = request.study.settings
        deviations, count = [float(one) for one in settings["deviations"]], int(settings["targets"])
        (row,) = request.rows
        task, rng = task_of(request, row)
        targets = task.signal(rng, (DRAWS, count))
        lines: list[list[Cell]] = []
        data: list[tuple[Any, ...]] = [("measure", "deviation", "published", "mean", "low", "high")]
        facts: dict[str, dict[str, float]] = {}
        inside, told = 0, 0
        for measure in MEASURES:
            cells: list[Cell] = [Name(measure)]
            published = settings.get("published", {}).get(measure, [None] * len(deviations))
            for deviation, known in zip(deviations, published, strict=True):
                errors = _of_zero(measure, deviation * targets)
                low, high = map(float, np.quantile(errors, (0.025, 0.975)))
                mean = float(errors.mean())
                fits = known is not None and _rounded_down(low) <= known <= _rounded_up(high)
                inside, told = inside + fits, told + (known is not None)
                cells += ["" if known is None else Number(float(known)), Number(mean, (low, high), form=MAGNITUDE)]
                data.append((measure, deviation, known, mean, low, high))
                facts.setdefault(measure, {})[f"{deviation:g}"] = mean
            lines.append(cells)
        heading = ["measure"]
        for deviation in deviations:
            heading += [f"deviation {deviation:g}, published", "computed"]
        caption = (
            f"Errors of the answer 0 against {count} normal targets: as published, of one set; the mean over {DRAWS:,} "
            "sets ± half of the part in which 95 of 100 lie."
        )
        made = table(f"{request.name}-errors", caption, heading, lines, data)
        said = Text(
            f"{inside} of {told} published numbers lie where 95 of 100 sets do. What is not normalised grows with the "
            "deviation of the targets; what is, does not."
        )
        return Made([made, said], {"errors": facts, "inside": inside, "published": told})


def _of_zero(measure: str, targets: Any) -> Any:
    """(set,): the error of the answer 0 to targets (set, target)."""
    squared = np.square(targets).mean(axis=1)
    if measure in ("MSE", "RMSE"):
        return squared if measure == "MSE" else np.sqrt(squared)
    shares = np.array([nmse(np.zeros((len(own), 1)), own[:, None]) for own in targets])
    return shares if measure == "NMSE" else np.sqrt(shares)


def _rounded_down(value: float) -> float:
    return math.floor(value * 1000) / 1000


def _rounded_up(value: float) -> float:
    return math.ceil(value * 1000) / 1000


@block("narma-proxy", version=1)
class NarmaProxy:
    """The largest order of NARMA that each learner follows, beside its memory capacity.

    A row of `dynamics/memory` gives the capacity, the others are of NARMA, their order the first number in the label.
    Settings: `bound`: an order is learned where the mean NRMSE of the runs is below it.
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
            raise UsageError(f"{request.study.id}: one row of dynamics/memory is needed, got {len(memory)}")
        found: dict[str, tuple[float, dict[int, float]]] = {}
        for column in request.columns:
            capacity = _values(request, memory[0], column, "memory-capacity")
            errors = {order: _values(request, row, column, "nrmse") for order, row in orders.items()}
            known = {order: math.exp(np.log(own).mean()) for order, own in errors.items() if own}
            if capacity and known:
                found[column] = (float(np.mean(capacity)), known)
        if not found:
            return Made([Text("No learner has finished runs of memory and of NARMA, so there is nothing to show.")])
        largest = {column: _largest(errors, bound) for column, (_, errors) in found.items()}
        capacities = [capacity for capacity, _ in found.values()]
        tau, p = kendall(capacities, list(largest.values()))
        rows: list[list[Cell]] = [
            [Name(column), Number(capacity), Number(largest[column], form="count"), *_errors(errors, orders)]
            for column, (capacity, errors) in found.items()
        ]
        heading = ["learner", "memory capacity", "largest order", *(f"NRMSE, order {order}" for order in orders)]
        caption = f"An order is learned where the geometric mean of the runs' NRMSE is below {bound:g}; 0: none is."
        said = (
            "All learners have the same largest order or the same capacity: nothing can be said of an order of them."
            if math.isnan(tau)
            else f"Kendall's tau of capacity and largest order, {len(found)} learners: {tau:.2f} (p of none {p:.2g})."
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
        return Made(blocks, {"bound": bound, "learners": facts, "kendall": None if math.isnan(tau) else tau})


def _order(request: Request, row: StudyRow) -> int:
    found = re.search(r"\d+", row.label)
    if found is None:
        raise UsageError(f'{request.study.id}: row "{row.label}": its label must hold the order of the system')
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
        Plotted(column, Mark(number=number), list(map(float, errors)), list(errors.values()), dots=True)
        for number, (column, (_, errors)) in enumerate(found.items())
    ]
    return Plot(
        name=f"{request.name}-orders",
        caption=f"NRMSE against the order of NARMA, geometric mean of the runs. Below {bound:g}, an order is learned.",
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
        caption="The largest order that is learned against memory capacity. Dashed: where both are the same.",
        label="The largest order of NARMA that is learned against memory capacity.",
        x=Axis("memory capacity, steps"),
        y=Axis("largest order"),
        panels=[Panel([*series, _diagonal(end)])],
        direct=False,
    )


def _diagonal(end: float) -> Plotted:
    ends: Sequence[float] = [0.0, float(end)]
    return Plotted("the same", Mark(CONTROL), ends, ends)
