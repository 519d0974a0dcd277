"""A page in a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from quickstudy.base.blocks import Details, Page, Section, Table, Terms, Text
from quickstudy.base.visible import visible
from quickstudy.render.numbers import spoken

if TYPE_CHECKING:
    from rich.console import Console


def show(page: Page, console: "Console") -> None:
    console.print(as_text(page, console.width), markup=False, end="")


def as_text(page: Page, width: int = 240) -> str:
    lines = [page.title, *page.under]

    def put(blocks):  # type: ignore
        for block in blocks:
            match block:
                case Section(title, inside, _, note):
                    lines.extend(["", visible(f"{title}  {note}")])
                    put(inside)
                case Details(summary, inside, True):
                    put(inside)
                case Text(text):
                    lines.append(visible(text))
                case Terms(items):
                    lines.extend(visible(f"{a}: {b}") for a, b, _ in items)
                case Table():
                    lines.append("  ".join(c.title for c in block.columns))
                    for line in block.lines:
                        lines.append(visible("  ".join(map(spoken, line.cells))))

    put(page.blocks)
    return "\n".join(lines) + "\n"
