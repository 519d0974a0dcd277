"""Tables of the HTML report: sortable by a click, with every number at full precision behind what is shown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from quickstudy.report.markup import escape, tag
from quickstudy.report.model import Row

_ARROWS = {
    "higher": '&nbsp;<span class="arrow" title="higher is better">↑</span>',
    "lower": '&nbsp;<span class="arrow" title="lower is better">↓</span>',
}

_LONG = 26
"""Labels of more letters than this may be broken."""


@dataclass(frozen=True)
class Head:
    """The heading of a column: markup, whether numbers stand under it, and a class."""

    title: str
    numeric: bool = True


def cell(markup: str, value: float | None = None, class_: str = "number") -> str:
    """A cell with a number. `data-value` is what sorting uses and what the embedded data hold."""
    known = value is not None and not math.isnan(value)
    return tag("td", markup, class_=class_, data_value=repr(float(value)) if known and value is not None else None)


def name_cell(row: Row, style: str, strong: bool = False) -> str:
    """The first cell of a row: the line as it is drawn, then the label."""
    label = _label(row.learner)
    key = tag("span", class_=f"key {style}", aria_hidden="true")
    return tag(
        "th", key, tag("strong", label) if strong else tag("span", label), scope="row", class_=_width(row.learner)
    )


def table(id: str, caption: str, heads: Sequence[Head], groups: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A sortable table. groups: (title or nothing, rows as markup); sorting keeps the groups apart."""
    head = "".join(_heading(one) for one in heads)
    bodies = []
    for title, rows in groups:
        if title:
            line = tag("th", escape(title), colspan=len(heads), scope="rowgroup")
            bodies.append(tag("tbody", tag("tr", line), class_="group"))
        bodies.append(tag("tbody", *rows, class_="rows"))
    whole = tag("table", tag("thead", tag("tr", head)), *bodies, id=id, class_="sortable", aria_label=caption)
    # Outside of the box that scrolls: a caption must be readable whole in a narrow window.
    box = tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label=caption)
    return tag("figure", tag("figcaption", escape(caption)), box, class_="table")


def _label(label: str) -> str:
    """A label; a long one may break after a separator."""
    escaped = escape(label)
    return re.sub("([,:=/])", r"\1<wbr>", escaped) if len(label) > _LONG else escaped


def _width(label: str) -> str:
    return "name long" if len(label) > _LONG else "name"


def _heading(one: Head) -> str:
    button = tag("button", one.title, type="button")
    return tag("th", button, scope="col", class_="number" if one.numeric else "name", aria_sort="none")
