"""Draw the planes of two items for the pages of docs/for: `python docs/planes.py`.

Every reference learner is a named point, from the norms inside the package, in the colour of its
kind of memory.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from quickstudy.base import registries
from quickstudy.base.blocks import LOG, POINTS, Axis, Mark, Panel, Plot, Plotted
from quickstudy.base.study import find_study
from quickstudy.pages.profile.norms import ItemNorms, Norms, load_norms
from quickstudy.render.plot import plot_drawings

NUMBERS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
IMAGES = pathlib.Path(__file__).resolve().parent / "images"
RECALL_AND_TRACKING = ("lookup", "parity")
PLANES = {
    "counting-and-nesting": ("count", "nest"),
    "mapping-and-recombining": ("mapping", "recombine"),
    "copying-and-looking-up": ("copy", "lookup"),
}
"""File name, and the items across and up."""


def drawing(name: str, items: tuple[str, str], norms: Norms) -> str:
    """The picture of one plane, as the text of an SVG file."""
    known = norms.items[items[0]], norms.items[items[1]]
    x, y = (_axis(item, own) for item, own in zip(items, known, strict=True))
    series = list(_series(known))
    rows: list[tuple[Any, ...]] = [
        (who, across - 1, up - 1)
        for one in series
        for who, across, up in zip(one.names, one.x, one.y, strict=True)
    ]
    words = "Every learner as a named point"
    table = [("learner", *items), *rows]
    plot = Plot(
        name, f"{x.title}, and {y.title}", words, x, y, [Panel(series)], table, direct=False
    )
    return f"{plot_drawings(plot)[0].file()}\n"


def _series(known: tuple[ItemNorms, ItemNorms]) -> Iterator[Plotted]:
    """The learners that have both spans, one series for each kind of memory."""
    kinds: dict[str, list[str]] = find_study("battery").settings["kinds"]
    both = [who for who in known[0].learners if who in known[1].learners]
    if unknown := set(both) - {who for names in kinds.values() for who in names}:
        raise ValueError(f"battery.toml gives no kind of {', '.join(sorted(unknown))}")
    for number, (kind, names) in enumerate(kinds.items()):
        here = [who for who in names if who in both]
        x, y = ([(own.learners[who].span or 0.0) + 1 for who in here] for own in known)
        yield Plotted(kind, Mark(number=number), x, y, kind=POINTS, names=here)


def _axis(item: str, known: ItemNorms) -> Axis:
    """The axis of an item: ln(1 + span), with round numbers of its unit."""
    end = next(iter(known.learners.values())).end
    ticks = [(number + 1.0, str(number)) for number in NUMBERS if number <= end]
    unit = str(registries.task.get(f"span/{item}").unit)
    return Axis(unit, LOG, (0.93, end * 1.4 + 1), ticks)


def drawings() -> dict[str, str]:
    """Every picture of the pages, by the name of its file."""
    norms = load_norms()
    assert norms is not None
    return {f"{name}.svg": drawing(name, items, norms) for name, items in PLANES.items()}


if __name__ == "__main__":
    for name, text in drawings().items():
        (IMAGES / name).write_text(text, encoding="utf-8")
