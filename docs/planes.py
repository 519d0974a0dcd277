"""Draw the planes of two items for the pages of docs/for: `python docs/planes.py`.

Every reference learner is a named point, from the norms inside the package.
"""

from __future__ import annotations

import pathlib
from typing import Any

from quickstudy.base import registries
from quickstudy.base.blocks import CONTROL, LOG, POINTS, Axis, Mark, Panel, Plot, Plotted
from quickstudy.pages.profile.norms import ItemNorms, load_norms
from quickstudy.render.plot import plot_drawings

NUMBERS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
IMAGES = pathlib.Path(__file__).resolve().parent / "images"
PLANES = {
    "counting-and-nesting": ("count", "nest"),
    "mapping-and-recombining": ("mapping", "recombine"),
    "copying-and-looking-up": ("copy", "lookup"),
}
"""File name, and the items across and up."""


def plane(name: str, items: tuple[str, str], known: tuple[ItemNorms, ItemNorms]) -> Plot:
    """The learners that have both spans, each as a point."""
    names = [who for who in known[0].learners if who in known[1].learners]
    spans = [[own.learners[who].span or 0.0 for who in names] for own in known]
    x, y = (axis(item, own) for item, own in zip(items, known, strict=True))
    points = [[value + 1 for value in one] for one in spans]
    series = Plotted("reference learners", Mark(CONTROL), *points, kind=POINTS, names=names)
    rows: list[tuple[Any, ...]] = [("learner", *items), *zip(names, *spans, strict=True)]
    words = "Every learner as a named point"
    caption = f"{x.title}, and {y.title}"
    return Plot(name, caption, words, x, y, [Panel([series])], rows, direct=False)


def axis(item: str, known: ItemNorms) -> Axis:
    """The axis of an item: ln(1 + span), with round numbers of its unit."""
    end = next(iter(known.learners.values())).end
    ticks = [(number + 1.0, str(number)) for number in NUMBERS if number <= end]
    return Axis(unit_of(item), LOG, (0.93, end * 1.4 + 1), ticks)


def unit_of(item: str) -> str:
    """Such as `pairs looked up`."""
    return str(registries.task.get(f"span/{item}").unit)


def drawings() -> dict[str, str]:
    """Every picture, by the name of its file."""
    norms = load_norms()
    assert norms is not None
    known = {name: tuple(norms.items[item] for item in items) for name, items in PLANES.items()}
    return {
        f"{name}.svg": f"{plot_drawings(plane(name, items, known[name]))[0].file()}\n"
        for name, items in PLANES.items()
    }


if __name__ == "__main__":
    for name, text in drawings().items():
        (IMAGES / name).write_text(text, encoding="utf-8")
