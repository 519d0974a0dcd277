"""What a trained learner costs to run, on its card: a table, and spans against bytes of state."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from quickstudy.base.blocks import (
    CONTROL,
    COUNT,
    LOG,
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
    Terms,
)
from quickstudy.base.energy import GPU, PROCESSOR
from quickstudy.pages.profile.norms import ItemNorms, Norms
from quickstudy.pages.profile.spans import Item, Profile
from quickstudy.render.numbers import span_text
from quickstudy.report.words import RUNNING_TITLES, listing

FILE = "costs.json"
STATE = "state_bytes"
_SOURCES = {PROCESSOR: "of the whole processor", GPU: "of all GPUs"}
_NUMBERS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_ACROSS = 4
Points: TypeAlias = dict[str, tuple[float, float]]
"""By learner, bytes of state and span."""


@lru_cache
def load_costs() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """By item and reference learner, what it costs to run; empty where the package has none."""
    file = importlib.resources.files("quickstudy.norms").joinpath(FILE)
    found: Mapping[str, Any] = (
        json.loads(file.read_text("utf-8"))["items"] if file.is_file() else {}
    )
    return found


def energy_text(joules: Mapping[str, float] | None, unknown: Mapping[str, str] | None) -> str:
    """Joules by source in words, and why others are missing.

    >>> energy_text({"processor": 1500.0}, {"gpu": "no NVIDIA driver"})
    '1.5 kJ of the whole processor (gpu: no NVIDIA driver)'
    >>> energy_text({}, {"processor": "only root may read its counter (RAPL)"})
    'not known (processor: only root may read its counter (RAPL))'
    """
    known = [f"{own / 1000:.3g} kJ {_SOURCES[one]}" for one, own in (joules or {}).items()]
    reasons = "; ".join(f"{source}: {reason}" for source, reason in (unknown or {}).items())
    text = " and ".join(known) or "not known"
    return f"{text} ({reasons})" if reasons else text


def running_table(found: Profile, name: str) -> Iterator[Block]:
    """State, multiplications and memory on every item, and what could not be measured; nothing
    where none of it was.
    """
    names = [one for one in RUNNING_TITLES if any(one in item.cost for item in found.items)]
    reasons = unmeasured(found)
    if names:
        groups = [
            Group(
                [
                    Line([Name(item.label), *(Number(item.cost.get(n), form=COUNT) for n in names)])
                    for item in family.items
                    if not item.why
                ],
                family.name,
            )
            for family in found.families
        ]
        columns = [Column("item", numeric=False), *(Column(RUNNING_TITLES[one]) for one in names)]
        caption = (
            f"What the trained {found.learner} costs to run. State: the bytes that it carries from"
            " one step to the next, for one sequence, with room for the longest one. MACs:"
            " multiplications of a step, answer included; effective ones have two factors that are"
            " not zero. Peak memory: of the whole process that learned and answered"
        )
        yield Table(f"{name}-running", caption, columns, groups)
    if reasons:
        yield Terms([(f"{RUNNING_TITLES[n]}: not known", text, "") for n, text in reasons.items()])


def unmeasured(found: Profile) -> dict[str, str]:
    """By the name of a cost, on which items it is missing, and why."""
    missing: dict[str, dict[str, list[str]]] = {}
    for item in found.items:
        for cost, reason in item.unmeasured.items():
            if cost in RUNNING_TITLES and cost not in item.cost:
                missing.setdefault(cost, {}).setdefault(reason, []).append(item.label)
    return {
        cost: "; ".join(f"{listing(items)}: {reason}" for reason, items in own.items())
        for cost, own in missing.items()
    }


def span_by_state(found: Profile, norms: Norms | None, name: str) -> Plot | None:
    """Spans against bytes of state, a panel for every item whose state is known and not empty; None
    where there is none.
    """
    items = [item for item in found.items if not item.why and item.cost.get(STATE)]
    if not items:
        return None
    panels: list[Panel] = []
    rows: list[tuple[Any, ...]] = [("item", "learner", STATE, "span")]
    for item in items:
        known = norms.of(item) if norms else None
        others = state_points(item.name, known) if known else {}
        own = {found.learner: (item.cost[STATE], item.spans.span or 0.0)}
        panels.append(_panel(item, own, others))
        rows += [(item.name, who, *point) for who, point in {**others, **own}.items()]
    end = max(item.spans.end for item in items)
    caption = (
        "Span against bytes of state: what a learner does with what it carries. Grey: reference"
        " learners whose state is known"
    )
    y = Axis("", LOG, (0.93, 1.1 * (end + 1)), [(n + 1.0, str(n)) for n in _NUMBERS if n <= end])
    return Plot(
        f"{name}-state",
        caption,
        "One panel per item: the learner and the reference learners as points",
        Axis("bytes of state", LOG),
        y,
        panels,
        rows,
        direct=False,
        across=_ACROSS,
    )


def _panel(item: Item, own: Points, others: Points) -> Panel:
    series = [_plotted(next(iter(own)), own, Mark())]
    if others:
        series.append(_plotted("reference learners", others, Mark(CONTROL)))
    sizes = [size for size, _ in (*own.values(), *others.values())]
    return Panel(series, item.label, x=byte_axis(sizes))


def state_points(item: str, known: ItemNorms) -> Points:
    """By reference learner, bytes of state and span on an item; those with a state alone."""
    costs = load_costs().get(item, {})
    return {
        who: (bytes_, spans.span or 0.0)
        for who, spans in known.learners.items()
        if (bytes_ := costs.get(who, {}).get(STATE))
    }


def _plotted(title: str, points: Points, mark: Mark) -> Plotted:
    tells = [f"{who}: {int(x):,} bytes, {span_text(y)}" for who, (x, y) in points.items()]
    x, y = zip(*points.values(), strict=True)
    return Plotted(title, mark, list(x), [1 + one for one in y], kind=POINTS, tells=tells)


def byte_axis(sizes: list[float]) -> Axis:
    """A logarithmic axis of bytes around these sizes, with powers of 16 marked."""
    low, high = min(sizes) / 1.6, max(sizes) * 1.6
    marks = [(float(16**k), _bytes_text(16**k)) for k in range(10)]
    return Axis("bytes of state", LOG, (low, high), [one for one in marks if low <= one[0] <= high])


def _bytes_text(size: int) -> str:
    """1, 16, 256, 4 K, 64 K, 1 M ..."""
    for unit, name in ((2**30, " G"), (2**20, " M"), (2**10, " K")):
        if size >= unit:
            return f"{size // unit}{name}"
    return str(size)
