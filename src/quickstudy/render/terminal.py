"""A page in a terminal: whole as text, or what a screen has room for."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from quickstudy.base import blocks
from quickstudy.base.text import LINES, shortened, visible
from quickstudy.render.numbers import ARROWS, spoken, stored_text
from quickstudy.render.strips import strips_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table as Sheet
    from rich.text import Text as Words

_PLAIN_WIDTH = 240
"""Columns of the text that goes to a file or a pipe: wide enough to keep a learner on one line."""
_MOST_LINES = 25
"""Of one section on a screen: what a terminal of the usual height shows at once."""
_MOST_VERDICT, _MOST_REMARKS, _MOST_REMARK = 8, 3, 2
"""Lines of a verdict, remarks, and lines of one."""
_LONGEST_TITLE = 24
_LONGEST_WORDS = 36
"""Of a cell of words on one line: where there is less room than for all of them, they go on
below.
"""
_UNSEEN = ("command", "example")
"""Kinds of text that only the page shows."""
_STYLES = {"note": "yellow", "remark": "dim", "question": "dim", "verdict": ""}


def show(page: blocks.Page, console: Console) -> None:
    """Print what a screen has room for: a task, a section with words and tables and no others in
    it, in 25 lines at 80 columns or less, and what stands between them whole. What has no room is
    in the page, with the definitions, the pictures and what is folded away.
    """
    _print(_parts(page.blocks, console.width, whole=False), console)


def as_text(page: blocks.Page, width: int = _PLAIN_WIDTH) -> str:
    """The whole page as plain text, without colour; what is folded away is left out. A table that
    is too wide goes on in another below.
    """
    from rich.console import Console

    target = io.StringIO()
    console = Console(
        file=target, width=width, force_terminal=False, no_color=True, emoji=False, highlight=False
    )
    for line in (page.title, *page.under):
        console.print(_words(line))
    _print(_parts(page.blocks, width, whole=True), console)
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def _print(parts: Iterable[RenderableType], console: Console) -> None:
    """Without empty lines at the beginning, and never two."""
    before = ""
    for part in parts:
        if str(part) or before:
            console.print(part)
        before = str(part)


def _parts(parts: Sequence[blocks.Block], width: int, *, whole: bool) -> Iterator[RenderableType]:
    """Blocks one after another. whole: else what has room, and a section with a text of its
    tables is a task, which stays within a screen.
    """
    for block in _unfolded(parts):
        match block:
            case blocks.Section(title, inner, _, note):
                task = not whole and _is_task(inner)
                above = len(_wrapped(f"{title}  {note}", width))
                inside = list(
                    _task(inner, width, above) if task else _parts(inner, width, whole=whole)
                )
                around = ([], [_words("")]) if task else ([_words("")], [])
                if inside:
                    yield from (*around[0], _heading(title, note), *inside, *around[1])
            case blocks.Text(text, kind):
                yield _words(text, _STYLES.get(kind, ""))
            case blocks.Terms(items) if whole:
                yield from (_words(f"{term}: {meaning}") for term, meaning, _ in items)
            case blocks.Steps(caption, steps) if whole:
                yield _words(caption, "dim")
                for title, what in steps:
                    yield from (_heading(title, ""), *_parts(what, width, whole=True))
            case blocks.Stored(title=title) if whole:
                yield from (*([_words(title, "bold")] if title else []), _words(stored_text(block)))
            case blocks.Strips():
                yield from (_words(line) for line in strips_text(block, min(width, 100)))
                yield _words("")
            case blocks.Table():
                yield from _sheets(block, width)
                yield from (_words(block.caption, "dim"), _words(""))


def _task(inner: Sequence[blocks.Block], width: int, above: int) -> Iterator[RenderableType]:
    """The first table with as many rows as have room, then its notes; further tables if
    they fit.
    """
    parts = list(_unfolded(inner))
    tables = [block for block in parts if isinstance(block, blocks.Table)]
    texts = [
        block for block in parts if isinstance(block, blocks.Text) and block.kind not in _UNSEEN
    ]
    most = {"verdict": _MOST_VERDICT}
    said = [
        line
        for one in texts
        if one.kind != "remark"
        for line in _wrapped(one.text, width, most.get(one.kind, _MOST_REMARKS))
    ]
    noted = [one.text for one in texts if one.kind == "remark"]
    if len(noted) > _MOST_REMARKS:
        noted[_MOST_REMARKS - 1 :] = [
            f"{len(noted) - _MOST_REMARKS + 1} remarks more are in the report."
        ]
    remarks = [line for text in noted for line in _wrapped(text, width, _MOST_REMARK)]
    room = _MOST_LINES - above - len(said) - len(remarks) - 1
    below: list[str] = []
    for number, table in enumerate(tables):
        sections = max(sum(bool(group.lines) for group in table.groups) - 1, 0)
        if number and sum(map(_height, table.lines)) + sections + 4 > room:
            continue
        lines = _foremost(table, room - sections - 2)
        if len(lines) < len(table.lines):
            below.append(f"{len(table.lines) - len(lines)} rows more are in the report.")
            room -= 1
        if number:
            yield from (_words(""), _words(shortened([visible(table.caption)], width)[0], "dim"))
        yield _sheet(table, _fitting(table, width), width, lines)
        room -= sum(map(_height, lines)) + sections + (4 if number else 2)
        yield from (_words(line) for line in said if number == 0)
    yield from (_words(line) for line in said if not tables)
    yield from (_words(line, "dim") for line in (*below, *remarks))


def _height(line: blocks.Line) -> int:
    """How many lines of a screen a row may take at most, where cells of words are broken."""
    words = [cell for cell in line.cells[1:] if isinstance(cell, str)]
    return max([1, *(len(textwrap.wrap(visible(cell), _LONGEST_WORDS)) for cell in words)])


def _is_task(parts: Sequence[blocks.Block]) -> bool:
    kinds = set(map(type, _unfolded(parts)))
    return blocks.Text in kinds and blocks.Section not in kinds


def _unfolded(parts: Sequence[blocks.Block]) -> Iterator[blocks.Block]:
    for block in parts:
        if isinstance(block, blocks.Details):
            yield from _unfolded(block.blocks) if block.open else ()
        else:
            yield block


def _foremost(table: blocks.Table, count: int) -> list[blocks.Line]:
    """So many rows: those that must stay, and the first of the others."""
    lines = table.lines
    free = (
        len(lines) if len(lines) <= count else max(1, count - 1 - sum(line.first for line in lines))
    )
    others = [index for index, line in enumerate(lines) if not line.first][:free]
    return [line for index, line in enumerate(lines) if line.first or index in others]


def _sheets(table: blocks.Table, width: int) -> Iterator[RenderableType]:
    """One table where the width allows it, else several below each other, each with the names: no
    number is cut.
    """
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
    wide = _measure(table, width, _LONGEST_WORDS)
    for column in range(1, len(table.columns)):
        if not kept or wide([*kept, column]) <= width:
            kept.append(column)
    return kept


def _measure(
    table: blocks.Table, width: int, words: int = _PLAIN_WIDTH
) -> Callable[[Sequence[int]], int]:
    """How wide a sheet of some columns is, if no more than so many letters of words are on a
    line. Rich measures the same, on a sheet that is made for it, 50 times slower.
    """
    from rich.cells import cell_len

    longest = _longest_name(width)
    first = min(
        longest, max(map(cell_len, [table.columns[0].title, *_names(table.lines, longest)]))
    )
    rows = zip(*(line.cells for line in table.lines), strict=True)
    cells = [max(cell_len(visible(spoken(cell))) for cell in column) for column in rows] or [
        0
    ] * len(table.columns)
    cells = [
        size if column.numeric else min(size, words)
        for size, column in zip(cells, table.columns, strict=True)
    ]

    def wide(columns: Sequence[int]) -> int:
        titles = _titles([table.columns[index] for index in columns])
        return first + sum(
            3 + max(cell_len(title), cells[index])
            for title, index in zip(titles, columns, strict=True)
        )

    return wide


def _longest_name(width: int) -> int:
    return max(12, width * 3 // 8)


def _titles(columns: Sequence[blocks.Column]) -> list[str]:
    return shortened(
        [visible(f"{one.title} {ARROWS.get(one.better, '')}".strip()) for one in columns],
        _LONGEST_TITLE,
    )


def _names(lines: Sequence[blocks.Line], longest: int) -> list[str]:
    replay = {blocks.REPLAY: " (replay)"}
    return shortened(
        [visible(spoken(line.cells[0])) + replay.get(line.role, "") for line in lines], longest
    )


def _sheet(
    table: blocks.Table, columns: Sequence[int], width: int, lines: Sequence[blocks.Line]
) -> Sheet:
    """Some columns and rows of a table, after the names; a line is drawn where a group ends."""
    from rich import box
    from rich.table import Table as Sheet

    made = Sheet(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_edge=False
    )
    longest = _longest_name(width)
    made.add_column(
        _words(table.columns[0].title), no_wrap=True, overflow="ellipsis", max_width=longest
    )
    heads = [table.columns[index] for index in columns]
    for one, title in zip(heads, _titles(heads), strict=True):
        made.add_column(
            _words(title),
            justify="right" if one.numeric else "left",
            no_wrap=one.numeric,
            overflow="fold",
        )
    group_of = {
        id(line): number for number, group in enumerate(table.groups) for line in group.lines
    }
    for line, name, after in zip(lines, _names(lines, longest), [*lines, None][1:], strict=True):
        cells = [_words(visible(spoken(line.cells[index]))) for index in columns]
        strong = isinstance(line.cells[0], blocks.Name | blocks.Number) and line.cells[0].strong
        style = "dim" if line.role == blocks.CONTROL else "bold" if strong else ""
        ends = after is None or group_of[id(after)] != group_of[id(line)]
        made.add_row(_words(name), *cells, style=style, end_section=ends)
    return made


def _heading(title: str, note: str) -> Words:
    return _words(title, "bold").append(visible(f"  {note}" if note else ""), style="not bold dim")


def _wrapped(text: str, width: int, most: int | None = None) -> list[str]:
    return textwrap.wrap(
        visible(" ".join(text.split())), width, max_lines=most, placeholder=" …"
    ) or [""]


def _words(text: str, style: str = "") -> Words:
    """Plain text: brackets in it are not markup, and nothing in it gives the terminal orders."""
    from rich.text import Text as Words

    return Words(visible(text, keep=LINES), style=style)
