"""A page in a terminal: whole as text, or what a screen has room for."""

from __future__ import annotations

import io
import json
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quickstudy.base import blocks
from quickstudy.base.canonical import plain
from quickstudy.base.wording import LINES, shortened, visible
from quickstudy.render.numbers import spoken

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table as Sheet
    from rich.text import Text as Words

ARROWS = {"higher": "↑", "lower": "↓"}
_PLAIN_WIDTH = 240
"""Columns of the text that goes to a file or a pipe: wide enough to keep a learner on one line."""
_MOST_LINES = 25
"""Of one section on a screen: what a terminal of the usual height shows at once."""
_MOST_VERDICT, _MOST_REMARKS = 5, 3
_LONGEST_TITLE = 24
_UNSEEN = ("command", "example")
"""Kinds of text that only the page shows."""
_STYLES = {"note": "yellow", "remark": "dim", "question": "dim", "verdict": ""}


def show(page: blocks.Page, console: Console) -> None:
    """Print what a screen has room for: a task, a section with words and tables and no others in it, in 25 lines at 80
    columns or less, and what stands between them whole. What has no room is in the page, with the definitions,
    the pictures and what is folded away.
    """
    for part in _spaced(_Screen(console.width).parts(page.blocks)):
        console.print(part)


def as_text(page: blocks.Page, width: int = _PLAIN_WIDTH) -> str:
    """The whole page as plain text, without colour; what is folded away is left out. A table that is too wide goes on
    in another below.
    """
    from rich.console import Console

    target = io.StringIO()
    console = Console(file=target, width=width, force_terminal=False, no_color=True, emoji=False, highlight=False)
    for line in (page.title, *page.under):
        console.print(_words(line))
    for part in _spaced(_Scroll(width).parts(page.blocks)):
        console.print(part)
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def _spaced(parts: Iterator[RenderableType]) -> Iterator[RenderableType]:
    """Without empty lines at the beginning, and never two."""
    before = ""
    for part in parts:
        if str(part) or before:
            yield part
        before = str(part)


@dataclass(frozen=True)
class _Scroll:
    """Everything, one after another."""

    width: int

    def parts(self, parts: Sequence[blocks.Block]) -> Iterator[RenderableType]:
        for block in _unfolded(parts):
            yield from self.block(block)

    def block(self, block: blocks.Block) -> Iterator[RenderableType]:
        match block:
            case blocks.Section(title, parts, _, note):
                inside = list(self.parts(parts))
                if inside:
                    yield from (_words(""), _heading(title, note), *inside)
            case blocks.Text(text, kind):
                yield _words(text, _STYLES.get(kind, ""))
            case blocks.Terms(items):
                yield from (_words(f"{term}: {meaning}") for term, meaning, _ in items)
            case blocks.Stored(data, title):
                stored = json.dumps(plain(data), indent=2, sort_keys=True, ensure_ascii=False)
                yield from (*([_words(title, "bold")] if title else []), _words(stored))
            case blocks.Table():
                yield from _sheets(block, self.width)
                yield from (_words(block.caption, "dim"), _words(""))


@dataclass(frozen=True)
class _Screen(_Scroll):
    """What has room. A section that says something of its tables is a task: it stays within a screen."""

    def block(self, block: blocks.Block) -> Iterator[RenderableType]:
        match block:
            case blocks.Terms() | blocks.Stored():
                return
            case blocks.Section(title, parts, _, note) if _is_task(parts):
                inside = list(self._task(list(_unfolded(parts)), len(_wrapped(f"{title}  {note}", self.width))))
                if inside:
                    yield from (_heading(title, note), *inside, _words(""))
            case _:
                yield from super().block(block)

    def _task(self, parts: Sequence[blocks.Block], above: int) -> Iterator[RenderableType]:
        """The first table with as many rows as have room, then what was said of it; further tables if they fit."""
        tables = [block for block in parts if isinstance(block, blocks.Table)]
        texts = [block for block in parts if isinstance(block, blocks.Text) and block.kind not in _UNSEEN]
        said = [line for one in texts if one.kind != "remark" for line in self._said(one)]
        remarks = [shortened([visible(one.text)], self.width)[0] for one in texts if one.kind == "remark"]
        if len(remarks) > _MOST_REMARKS:
            remarks[_MOST_REMARKS - 1 :] = [f"{len(remarks) - _MOST_REMARKS + 1} remarks more are in the report."]
        room = _MOST_LINES - above - len(said) - len(remarks) - 1
        below: list[str] = []
        for number, table in enumerate(tables):
            sections = max(len([group for group in table.groups if group.lines]) - 1, 0)
            if number and len(table.lines) + sections + 4 > room:
                continue
            lines = _foremost(table, room - sections - 2)
            if len(lines) < len(table.lines):
                below.append(f"{len(table.lines) - len(lines)} rows more are in the report.")
                room -= 1
            if number:
                yield from (_words(""), _words(shortened([visible(table.caption)], self.width)[0], "dim"))
            yield _sheet(table, _fitting(table, self.width), self.width, lines)
            room -= len(lines) + sections + (4 if number else 2)
            yield from (_words(line) for line in said if number == 0)
        yield from (_words(line) for line in said if not tables)
        yield from (_words(line, "dim") for line in (*below, *remarks))

    def _said(self, text: blocks.Text) -> list[str]:
        return _wrapped(text.text, self.width, _MOST_VERDICT if text.kind == "verdict" else _MOST_REMARKS)


def _is_task(parts: Sequence[blocks.Block]) -> bool:
    kinds = set(map(type, _unfolded(parts)))
    return blocks.Text in kinds and blocks.Section not in kinds


def _unfolded(parts: Sequence[blocks.Block]) -> Iterator[blocks.Block]:
    for block in parts:
        if isinstance(block, blocks.Details):
            yield from _unfolded(block.blocks) if block.open else ()
        elif not isinstance(block, blocks.Plot | blocks.HeatMap | blocks.Graph):
            yield block


def _foremost(table: blocks.Table, count: int) -> list[blocks.Line]:
    """So many rows: those that must stay, and the first of the others."""
    lines = table.lines
    if len(lines) <= count:
        return lines
    free = max(1, count - 1 - sum(line.first for line in lines))
    others = [line for line in lines if not line.first][:free]
    return [line for line in lines if line.first or any(line is other for other in others)]


def _sheets(table: blocks.Table, width: int) -> Iterator[RenderableType]:
    """One table where the width allows it, else several below each other, each with the names: no number is cut."""
    rest, wide = list(range(1, len(table.columns))), _measure(table, width)
    while True:
        fits = (n for n in range(len(rest), 1, -1) if wide(rest[:n]) <= width)
        count = next(fits, 1)
        yield _sheet(table, rest[:count], width, table.lines)
        rest = rest[count:]
        if not rest:
            return
        yield _words("")


def _fitting(table: blocks.Table, width: int) -> list[int]:
    """The columns for which there is room, the first ones before the others."""
    kept: list[int] = []
    wide = _measure(table, width)
    for column in range(1, len(table.columns)):
        if not kept or wide([*kept, column]) <= width:
            kept.append(column)
    return kept


def _measure(table: blocks.Table, width: int) -> Callable[[Sequence[int]], int]:
    """How wide a sheet of some columns is. Rich measures the same, on a sheet that is made for it, 50 times slower."""
    from rich.cells import cell_len

    longest = _longest_name(width)
    names = [table.columns[0].title, *shortened(list(map(_name, table.lines)), longest)]
    first = min(longest, max(map(cell_len, names)))
    rows = zip(*(line.cells for line in table.lines), strict=True)
    cells = [max(cell_len(visible(spoken(cell))) for cell in column) for column in rows] or [0] * len(table.columns)

    def wide(columns: Sequence[int]) -> int:
        titles = shortened([_title(table.columns[index]) for index in columns], _LONGEST_TITLE)
        return first + sum(3 + max(cell_len(title), cells[index]) for title, index in zip(titles, columns, strict=True))

    return wide


def _longest_name(width: int) -> int:
    return max(12, width * 3 // 8)


def _sheet(table: blocks.Table, columns: Sequence[int], width: int, lines: Sequence[blocks.Line]) -> Sheet:
    """Some columns and rows of a table, after the names; a line is drawn where a group ends."""
    from rich import box
    from rich.table import Table as Sheet

    made = Sheet(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_edge=False)
    longest = _longest_name(width)
    made.add_column(_words(table.columns[0].title), no_wrap=True, overflow="ellipsis", max_width=longest)
    titles = shortened([_title(table.columns[index]) for index in columns], _LONGEST_TITLE)
    for index, title in zip(columns, titles, strict=True):
        numeric = table.columns[index].numeric
        made.add_column(_words(title), justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    shown = {id(line) for line in lines}
    groups = [[line for line in group.lines if id(line) in shown] for group in table.groups]
    named = [_name(line) for group in groups for line in group]
    names = iter(shortened(named, longest))
    for group in groups:
        for line in group:
            cells = [_words(visible(spoken(line.cells[index]))) for index in columns]
            made.add_row(_words(next(names)), *cells, style=_style(line), end_section=line is group[-1])
    return made


def _title(column: blocks.Column) -> str:
    """Title, small print and arrow in one."""
    return visible(" ".join(filter(None, (column.title, ARROWS.get(column.better, "")))))


def _name(line: blocks.Line) -> str:
    return visible(spoken(line.cells[0])) + (" (replay)" if line.role == blocks.REPLAY else "")


def _style(line: blocks.Line) -> str:
    strong = isinstance(line.cells[0], blocks.Name | blocks.Number) and line.cells[0].strong
    return "dim" if line.role == blocks.CONTROL else "bold" if strong else ""


def _heading(title: str, note: str) -> Words:
    return _words(title, "bold").append(visible(f"  {note}" if note else ""), style="not bold dim")


def _wrapped(text: str, width: int, most: int | None = None) -> list[str]:
    return textwrap.wrap(visible(" ".join(text.split())), width, max_lines=most, placeholder=" …") or [""]


def _words(text: str, style: str = "") -> Words:
    """Text as it is: brackets in it are no markup, and nothing in it gives the terminal orders."""
    from rich.text import Text as Words

    return Words(visible(text, keep=LINES), style=style)
