"""One learner under several values of its parameters: a curve over one of them, a heat map over
two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.base.blocks import LOG, Axis, Block, HeatMap, Mark, Panel, Plot, Plotted
from quickstudy.base.canonical import digest
from quickstudy.base.measure import LOG as BY_MAGNITUDE
from quickstudy.report.report_data import LEARNING, Row, TaskTable

LEAST = 3
"""Values of a parameter from which a curve is drawn."""
MOST_CURVES = 6
WIDE = 20.0
"""Ratio of the largest and the smallest value from which an axis is logarithmic."""


@dataclass(frozen=True)
class Sweep:
    """Learners that differ in the values of some parameters.

    name: of the core or class. varied: the parameters, those with most values first, and their
    values in order. rows: by their values of these.
    """

    name: str
    varied: Mapping[str, tuple[Any, ...]]
    rows: Mapping[tuple[Any, ...], Row]


def sweeps(table: TaskTable) -> list[Sweep]:
    """The sweeps among the learners of a task: those of one kind that differ in one or two
    parameters, which have at least three values, or two by two, between them.
    """
    kinds: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], Row]]] = {}
    for row in table.of_role(*LEARNING):
        learner = row.setting.get("learner")
        if isinstance(learner, Mapping) and isinstance(learner.get("parameters"), Mapping):
            rest = {name: value for name, value in learner.items() if name != "parameters"}
            kinds.setdefault((row.role, digest(rest)), []).append((learner["parameters"], row))
    found = [_sweep(rows) for rows in kinds.values() if len(rows) >= LEAST]
    return [sweep for sweep in found if sweep is not None]


def _sweep(rows: Sequence[tuple[Mapping[str, Any], Row]]) -> Sweep | None:
    names = list(dict.fromkeys(name for given, _ in rows for name in given))
    values = {name: {_plain(given.get(name)): None for given, _ in rows} for name in names}
    varied = sorted(
        (name for name in names if len(values[name]) > 1), key=lambda name: -len(values[name])
    )
    if not 1 <= len(varied) <= 2:
        return None
    ordered = {name: tuple(sorted(values[name], key=_order)) for name in varied}
    by_value = {tuple(_plain(given.get(name)) for name in varied): row for given, row in rows}
    cells = math.prod(map(len, ordered.values()))
    if len(ordered[varied[0]]) < LEAST and cells < LEAST + 1:
        return None
    if 2 * len(by_value) < cells:  # mostly holes: not a grid
        return None
    name = rows[0][1].learner.partition(":")[0]
    return Sweep(name, ordered, by_value)


def sweep_pictures(table: TaskTable, name: str) -> Iterator[Block]:
    """A curve of the headline over each parameter with at least three numbers, and a heat map over
    two parameters.
    """
    for number, sweep in enumerate(sweeps(table)):
        own = f"{name}-{number}"
        names = list(sweep.varied)
        if len(names) == 2:
            yield _heat_map(table, sweep, own)
        for place, parameter in enumerate(names):
            numbers = all(_is_number(value) for value in sweep.varied[parameter])
            others = sweep.varied[names[1 - place]] if len(names) == 2 else ()
            if numbers and len(sweep.varied[parameter]) >= LEAST and len(others) <= MOST_CURVES:
                yield _curves(table, sweep, place, own)


def _curves(table: TaskTable, sweep: Sweep, place: int, name: str) -> Plot:
    names = list(sweep.varied)
    parameter = names[place]
    other = names[1 - place] if len(names) == 2 else ""
    lines = []
    for number, fixed in enumerate(sweep.varied[other] if other else (None,)):
        points = []
        for value in sweep.varied[parameter]:
            both = (value, fixed) if place == 0 else (fixed, value)
            row = sweep.rows.get(both if other else (value,))
            estimate = row.scores.get(table.headline or "") if row else None
            if estimate is None:
                continue
            middle, interval = estimate.shown(table.judged)
            if math.isfinite(middle):
                low, high = (interval.low, interval.high) if interval else (middle, middle)
                points.append((float(value), middle, low, high))
        if points:
            x, y, lows, highs = (list(part) for part in zip(*points, strict=True))
            label = f"{other}={_word(fixed)}" if other else sweep.name
            lines.append(Plotted(label, Mark(number=number), x, y, lows, highs, dots=True))
    ends = [float(value) for value in sweep.varied[parameter]]
    heights = [value for line in lines for value in line.y]
    by_ratio = table.judged.read == BY_MAGNITUDE and bool(heights) and min(heights) > 0
    title = table.judged.title or (table.headline or "").replace("-", " ")
    return Plot(
        name=f"{name}-{parameter}",
        caption=f"{title} over {parameter} of {sweep.name}; bands are 95 % intervals over runs.",
        label=f"{title} over {parameter} of {sweep.name}.",
        x=Axis(parameter, LOG if ends[0] > 0 and ends[-1] > WIDE * ends[0] else "linear"),
        y=Axis(title, LOG if by_ratio else "linear"),
        panels=[Panel(lines)],
        live=True,
    )


def _heat_map(table: TaskTable, sweep: Sweep, name: str) -> HeatMap:
    across, down = sweep.varied  # the longer one goes across
    title = table.judged.title or (table.headline or "").replace("-", " ")
    middles = [
        [_middle(table, sweep.rows.get((x, y))) for x in sweep.varied[across]]
        for y in sweep.varied[down]
    ]
    known = [value for row in middles for value in row if value is not None]
    by_ratio = table.judged.read == BY_MAGNITUDE and all(value > 0 for value in known)
    best = (max if table.judged.better == "higher" else min)(known, default=math.nan)
    spread = f"from {min(known, default=math.nan):.3g} to {max(known, default=math.nan):.3g}"
    return HeatMap(
        name=f"{name}-map",
        caption=f"{title} of {sweep.name} by {across} and {down}, means over runs. Framed: the"
        " best mean; neighbours within each other's intervals are not distinguishable.",
        label=f"{title} of {sweep.name} by {across} and {down}, {spread}.",
        rows=[f"{down}={_word(value)}" for value in sweep.varied[down]],
        columns=[f"{across}={_word(value)}" for value in sweep.varied[across]],
        values=[
            [None if v is None else math.log10(v) if by_ratio else v for v in row]
            for row in middles
        ],
        texts=[["" if value is None else f"{value:.3g}" for value in row] for row in middles],
        marks=[
            (row, column, 0, "best")
            for row, cells in enumerate(middles)
            for column, value in enumerate(cells)
            if value == best
        ],
    )


def _middle(table: TaskTable, row: Row | None) -> float | None:
    found = table.middle(row) if row else None
    return found if found is not None and math.isfinite(found) else None


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _order(value: Any) -> tuple[int, float, str]:
    return (0, float(value), "") if _is_number(value) else (1, 0.0, str(value))


def _word(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value:g}" if _is_number(value) else str(value)
