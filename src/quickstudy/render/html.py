"""A page as one HTML file that needs nothing else: styles, pictures, script and data are inside."""

from __future__ import annotations

import math
import urllib.parse
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from quickstudy.base import blocks
from quickstudy.base.canonical import plain, spelled
from quickstudy.render.axes import mark_class
from quickstudy.render.markup import (
    Markup,
    anchor,
    asset,
    breakable,
    escape,
    joined,
    named,
    prose,
    tag,
)
from quickstudy.render.numbers import ARROWS, bounds, half_width, stored_text, written
from quickstudy.render.plot import live_data
from quickstudy.render.scatter3d import volume_data, volume_table
from quickstudy.render.strips import strips_data
from quickstudy.render.svg import drawn

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_LIVE = "; connect-src 'self'"
_LETTER_BY_LETTER = ("command", "example")
_WORDS = 30
"""Words in a cell with more letters than this may be broken."""


def as_html(
    page: blocks.Page, beside: Collection[str] = (), live: str = "", nonce: str = ""
) -> str:
    """The page. Equal data give equal bytes; it refers to nothing outside but files in the same
    folder it.

    beside: their names, in the same folder; tables and pictures that have a file of their own there
    then link to it. live: of a page that is served, its mark: the page asks its own address with
    `?mark` now and then, and takes over what is new. nonce: of the only script that may run;
    without one, as in a file that is not served, any that is in the page.
    """
    policy = (
        _POLICY.replace("script-src 'unsafe-inline'", f"script-src 'nonce-{nonce}'")
        if nonce
        else _POLICY
    )
    writer = _Writer(frozenset(_anchors(page.blocks)), frozenset(beside))
    header = tag(
        "header",
        tag("p", page.eyebrow, class_="eyebrow") if page.eyebrow else "",
        tag("h1", named(page.title)),
        *(tag("p", breakable(line), class_="facts-line") for line in page.under),
    )
    main = tag("main", header, *writer.with_contents(page.blocks))
    data = tag("script", _harmless(spelled(plain(page.facts))), type="application/json", id="data")
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        Markup(
            '<meta http-equiv="Content-Security-Policy"'
            f' content="{escape(policy + (_LIVE if live else ""))}">'
        ),
        tag("title", f"{page.title} · quickstudy"),
        tag("style", asset("picture.css"), asset("page.css")),
    )
    body = joined(
        main, data if page.facts else "", tag("script", asset("page.js"), nonce=nonce or None)
    )
    whole = tag("body", body, data_mark=live or None)
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n{whole}\n</html>\n'


def blocks_html(parts: Sequence[blocks.Block]) -> Markup:
    """Blocks as a part of another page, a notebook's: the styles reach nothing but them,
    and no script runs.
    """
    styles = (asset("picture.css") + asset("page.css")).replace(":root", ":scope")
    writer = _Writer(frozenset(_anchors(parts)), frozenset(), scripts=False)
    return tag(
        "div",
        tag("style", Markup(f"@scope (.quickstudy) {{ {styles} }}")),
        *map(writer.block, parts),
        class_="quickstudy",
    )


def _harmless(text: str) -> Markup:
    """JSON that cannot end the script element that contains it."""
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _anchors(parts: Sequence[blocks.Block]) -> Iterator[str]:
    return (getattr(block, "name", "") for block in blocks.every(parts))


@dataclass(frozen=True)
class _Writer:
    """anchors: what can be linked to inside the page. beside: files that can be linked to. scripts:
    whether the page has data for its script.
    """

    anchors: Collection[str]
    beside: Collection[str]
    scripts: bool = True

    def with_contents(self, parts: Sequence[blocks.Block]) -> Iterator[Markup]:
        """Blocks, and the contents before the first section that is in them."""
        listed = [
            block
            for block in parts
            if isinstance(block, blocks.Section) and block.listed and block.name
        ]
        for block in parts:
            if len(listed) > 1 and block is listed[0]:
                titles = [", ".join(filter(None, (one.title, one.note))) for one in listed]
                items = [
                    tag("li", self._link(one.name, named(title)))
                    for one, title in zip(listed, titles, strict=True)
                ]
                yield tag("nav", tag("ul", *items), aria_label="Contents")
            yield self.block(block)

    def block(self, block: blocks.Block, depth: int = 2) -> Markup:
        """One block; depth: of a heading in it."""
        match block:
            case blocks.Text(text, kind) if kind in _LETTER_BY_LETTER:
                return tag("pre", text, class_=kind)
            case blocks.Text(text, kind):
                return tag(
                    "p", prose(text), class_=kind or None, role="note" if kind == "note" else None
                )
            case blocks.Terms(items):
                pairs = [
                    (tag("dt", self._link(to, named(term))), tag("dd", prose(said)))
                    for term, said, to in items
                ]
                return tag(
                    "dl",
                    *chain.from_iterable(pairs),
                    class_="verdicts" if any(to for *_, to in items) else "terms",
                )
            case blocks.Table():
                return self._table(block)
            case blocks.Picture():
                return self._picture(block)
            case blocks.Details(summary, parts, is_open):
                inside = [self.block(one, depth) for one in parts]
                return tag("details", tag("summary", named(summary)), *inside, open=is_open)
            case blocks.Steps(caption, steps):
                heading = f"h{min(depth + 1, 6)}"
                shown = [
                    tag(
                        "li",
                        tag(heading, named(title)),
                        *(self.block(one, depth + 2) for one in what),
                    )
                    for title, what in steps
                ]
                return tag("figure", tag("figcaption", caption), tag("ol", *shown), class_="steps")
            case blocks.Stored(title=title):
                return joined(
                    tag("h4", named(title)) if title else "", tag("pre", stored_text(block))
                )
            case blocks.Section(title, parts, name, note):
                small = tag("small", f" {note}") if note else ""
                heading = tag(f"h{min(depth, 6)}", named(title), small)
                inside = [self.block(one, depth + 1) for one in parts]
                return tag(
                    "section", heading, *inside, id=anchor(name) or None, class_=f"depth-{depth}"
                )

    def _table(self, table: blocks.Table) -> Markup:
        head = [_heading(column, index) for index, column in enumerate(table.columns)]
        bodies = []
        for group in table.groups:
            if group.title:
                title = tag("th", group.title, colspan=len(table.columns), scope="rowgroup")
                bodies.append(tag("tbody", tag("tr", title), class_="group"))
            bodies.append(
                tag("tbody", *(self._line(line, table) for line in group.lines), class_="rows")
            )
        whole = tag(
            "table",
            tag("thead", tag("tr", *head)),
            *bodies,
            id=anchor(table.name) or None,
            class_="sortable",
            aria_label=table.caption,
        )
        # Outside of the box that scrolls: a caption must be readable whole in a narrow window.
        caption = tag("figcaption", table.caption, *self._files(table.name, "csv"), _MORE)
        box = tag(
            "div", whole, class_="scroll", tabindex=0, role="region", aria_label=table.caption
        )
        return tag("figure", caption, box, class_="table")

    def _line(self, line: blocks.Line, table: blocks.Table) -> Markup:
        cells = zip(line.cells, table.columns, strict=True)
        inside = (
            self._cell(cell, column, index, table.intervals)
            for index, (cell, column) in enumerate(cells)
        )
        return tag("tr", *inside, class_=line.role or None)

    def _cell(self, cell: blocks.Cell, column: blocks.Column, index: int, intervals: str) -> Markup:
        value = _value(cell)
        inside = self._inside(cell, intervals)
        if index == 0:
            return tag(
                "th",
                inside,
                scope="row",
                class_="name",
                data_value=value if column.numeric else None,
            )
        if column.numeric:
            return tag("td", inside, class_="number", data_value=value)
        words = (
            cell.text if isinstance(cell, blocks.Name) else cell if isinstance(cell, str) else ""
        )
        return tag("td", inside, class_="short" if len(words) <= _WORDS else None)

    def _inside(self, cell: blocks.Cell, intervals: str) -> Markup:
        match cell:
            case blocks.Number(value=value, word=word, note=note):  # first, as most are
                text = tag("strong", written(cell)) if cell.strong else escape(written(cell))
                if value is None and not word:
                    return tag("span", text, title=note or None)
                if cell.interval is None and not note:
                    return text
                symbol = not note[:1].isalnum()
                interval = (
                    _small(bounds(cell))
                    if intervals == blocks.BOUNDS
                    else _small(half_width(cell), True)
                )
                notes = (interval, _small(note, True)) if symbol else (_small(note), interval)
                return joined(text, *notes)
            case str():
                return named(cell) if cell else Markup("")
            case blocks.Several(cells, between):
                return joined(*(self._inside(one, intervals) for one in cells), by=between)
            case blocks.Name(text, mark, target, strong, note):
                key = (
                    tag("span", class_=f"key {mark_class(mark)}", aria_hidden="true")
                    if mark
                    else ""
                )
                name = tag("strong", named(text)) if strong else named(text)
                return joined(key, self._link(target, name), _small(note, not note[:1].isalnum()))

    def _picture(self, block: blocks.Picture) -> Markup:
        extra = []
        if isinstance(block, blocks.Plot) and block.live and self.scripts:
            extra.append(
                tag("script", _harmless(live_data(block)), type="application/json", class_="series")
            )
            extra.append(tag("div", class_="readout", hidden=True))
        if isinstance(block, blocks.Strips):
            extra.append(
                tag(
                    "script",
                    _harmless(strips_data(block)),
                    type="application/json",
                    class_="readings",
                )
            )
            extra.append(tag("div", class_="readout", hidden=True))
        if isinstance(block, blocks.Volume):
            if self.scripts:
                extra.append(
                    tag(
                        "script",
                        _harmless(volume_data(block)),
                        type="application/json",
                        class_="places",
                    )
                )
            extra.append(
                tag("details", tag("summary", "In numbers"), self._table(volume_table(block)))
            )
        plot = isinstance(block, blocks.Plot | blocks.Volume | blocks.Strips)
        caption = tag(
            "figcaption",
            block.caption,
            *self._files(block.name, "svg", "csv"),
            "" if plot else _MORE,
        )
        box = (
            joined(*drawn(block))
            if plot
            else tag("div", *drawn(block), class_="across", tabindex=0)
        )
        kinds = {blocks.Volume: "turns", blocks.Strips: "strips"}
        kind = kinds.get(type(block), "live" if extra else None)
        return tag("figure", box, caption, *extra, id=anchor(block.name) or None, class_=kind)

    def _files(self, name: str, *endings: str) -> Iterator[Markup]:
        found = [file for ending in endings if (file := f"{name}.{ending}") in self.beside]
        if found:
            yield joined(" ", joined(*(self._link(file, named(file)) for file in found), by=", "))

    def _link(self, target: str, inside: Markup) -> Markup:
        if not target:
            return inside
        # A dot and a slash lead: a name is never taken for an address of another kind.
        here = target in self.anchors
        return tag(
            "a", inside, href=f"#{anchor(target)}" if here else f"./{urllib.parse.quote(target)}"
        )


_MORE = tag("span", " Wider than the window: scroll it sideways.", class_="more", hidden=True)


def _heading(column: blocks.Column, index: int) -> Markup:
    arrow = ARROWS.get(column.better)
    better = tag("span", arrow, class_="arrow", title=f"{column.better} is better") if arrow else ""
    words = joined(
        named(column.title),
        *(["\N{NO-BREAK SPACE}", better] if better else []),
        _small(column.note),
    )
    kind = "name" if index == 0 else "number" if column.numeric else None
    return tag(
        "th", tag("button", words, type="button"), scope="col", class_=kind, aria_sort="none"
    )


def _small(note: str, inline: bool = False) -> Markup:
    """Small print: under or next to what it belongs to."""
    return tag("small", note, class_=None if inline else "under") if note else Markup("")


def _value(cell: blocks.Cell) -> str | None:
    """What a cell is sorted by, at full precision: the last number in it is the one that was
    measured.
    """
    if isinstance(cell, blocks.Several):
        return next(
            (value for one in reversed(cell.cells) if (value := _value(one)) is not None), None
        )
    if not isinstance(cell, blocks.Number) or cell.value is None or math.isnan(cell.value):
        return None
    return repr(float(cell.value))
