"""The gallery of learners: what each reference learner reaches, from the norms of the package."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from statistics import mean
from typing import Any

from sheets import anchor, sheet

import quickstudy
from quickstudy.base import registries
from quickstudy.render.numbers import span_text

HEAD = """# Reference learners

Every card is read against these learners, trained on the items of the quick profile with their
usual settings. A span is the mean of {seeds} seeds; its rank is among the learners that took the
item, the best first. `+` marks the end of the axis.
[All spans in one table](../reference/cards.md) · [What a span is](../explanation/spans.md)

![Recall against state tracking](../images/reference-learners.svg)
"""


def pages() -> Iterator[tuple[str, str]]:
    """One page."""
    path = pathlib.Path(quickstudy.__file__).parent / "norms" / "battery.json"
    norms = json.loads(path.read_text(encoding="utf-8"))
    items = norms["items"]
    names = sorted({name for item in items.values() for name in item["learners"]})
    yield (
        "gallery/learners.md",
        "\n".join(
            [HEAD.format(seeds=norms["facts"]["seeds"]), *(_section(name, items) for name in names)]
        ),
    )


def _section(name: str, items: dict[str, Any]) -> str:
    rows = [_row(title, item, name) for title, item in items.items() if name in item["learners"]]
    table = "\n".join(["| item | span | of | rank |", "|---|--:|--:|--:|", *rows])
    return (
        f"## {name}\n\n{_sheet(name)}\n\n{table}\n\n`quickstudy profile {name}` makes its card.\n"
    )


def _row(title: str, item: dict[str, Any], name: str) -> str:
    means = {who: mean(spans) for who, spans in item["learners"].items()}
    rank = 1 + sum(value > means[name] for value in means.values())
    shown = span_text(means[name], means[name] >= item["end"] - 1e-9)
    task = item["subject"]["task"]["id"]
    link = f"[{title}](tasks/{task.partition('/')[0]}.md#{anchor(task)})"
    return f"| {link} | {shown} | {item['end']:g} | {rank} of {len(means)} |"


def _sheet(name: str) -> str:
    plain = name.partition(":")[0]
    for registry in (registries.core, registries.learner):
        if plain in registry:
            return sheet(registry.get(plain))
    return ""
