"""Pictures as SVG, in a page and as files of their own, and their numbers; here too: heat
maps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import groupby, product
from typing import Any

from quickstudy.base.blocks import Graph, HeatMap, Picture, Plot, Strips, Volume
from quickstudy.base.text import shortened
from quickstudy.render.axes import WIDE, Drawing, breadth, spread, text
from quickstudy.render.graph import graph_drawing
from quickstudy.render.markup import Markup, tag
from quickstudy.render.numbers import NOTHING, score
from quickstudy.render.plot import plot_drawings
from quickstudy.render.scatter3d import volume_drawings, volume_rows
from quickstudy.render.strips import strips_drawings, strips_rows

LEVELS = 9
"""Colours of the style sheet."""
_HIGH, _BETWEEN, _TOP = 22.0, 20.0, 28.0
_LEAST, _MOST = 9.0, 90.0
"""Pixels of a cell."""
_LEGIBLE = 44.0
"""Pixels of a cell in which its number has room."""


def drawn(block: Picture) -> list[Markup]:
    """The elements of a page: one for a wide and one for a narrow window, or one for both, which is
    hardly shrunk.
    """
    least = 0.0 if isinstance(block, Plot | Strips | Volume) else 0.8
    return [drawing.inline(least * drawing.width) for drawing in _drawings(block)]


def svg_file(block: Picture) -> str:
    """The picture as a file of its own."""
    return _drawings(block)[0].file()


def picture_rows(block: Picture) -> list[Sequence[Any]]:
    """The numbers of a picture for a program, the heading first: those it brings, or what is
    drawn.
    """
    return list(getattr(block, "data", ()) or _rows(block))


def _rows(block: Picture) -> Iterator[Sequence[Any]]:
    match block:
        case Graph(edges=edges):
            yield from (("source", "target", "label", "kind", "weight"), *map(astuple, edges))
        case Volume():
            yield from volume_rows(block)
        case Strips():
            yield from strips_rows(block)
        case HeatMap(rows=rows, columns=columns, values=values):
            yield "row", "column", "part", "value"
            for row, column in product(range(len(rows)), range(len(columns))):
                for part, value in enumerate(_parts(values[row][column])):
                    yield rows[row], columns[column], part, value
        case Plot(panels=panels):
            yield "panel", "series", block.x.title, block.y.title, "low", "high"
            for panel in panels:
                for one in panel.series:
                    low, high = (
                        values if len(values) else [""] * len(one.x)
                        for values in (one.low, one.high)
                    )
                    yield from (
                        (panel.title, one.label, *row)
                        for row in zip(one.x, one.y, low, high, strict=True)
                    )


def _drawings(block: Picture) -> list[Drawing]:
    match block:
        case Plot():
            return plot_drawings(block)
        case Volume():
            return volume_drawings(block)
        case Strips():
            return strips_drawings(block)
        case HeatMap():
            return [_Map(block).drawing()]
        case Graph():
            return [graph_drawing(block)]
    raise TypeError(f"no picture of a {type(block).__name__}")


def _parts(cell: float | Sequence[float | None] | None) -> Sequence[float | None]:
    return cell if isinstance(cell, Sequence) else (cell,)


@dataclass(frozen=True)
class _Map:
    """A heat map: a line of cells per row, titles above, the legend below."""

    map: HeatMap

    def drawing(self) -> Drawing:
        names, titles = shortened(self.map.rows, 22), shortened(self.map.columns, 14)
        scales = [self._scale(row) for row in range(len(names))]
        left = 16 + max(map(breadth, (*names, *scales)), default=0.0)
        if self.map.fine:
            return self._field(names, left)
        width = max(_LEAST, min((WIDE.width - left - 16) / max(len(titles), 1), _MOST))
        right = max(left + width * len(titles), left + 22 * LEVELS + 100)
        longest = max(map(breadth, titles), default=0.0)
        turned = width < longest + 4
        top = _TOP + (longest if turned else 0)
        parts = []
        for column, title in enumerate(titles):
            middle = left + (column + 0.5) * width
            place = f"translate({middle + 4:.1f} {top - 6:.1f}) rotate(-90)" if turned else None
            at = (
                {"transform": place}
                if turned
                else {"x": middle, "y": top - 8, "text_anchor": "middle"}
            )
            parts.append(tag("text", title, class_="tick" if width > 12 else "small", **at))
        between = _BETWEEN if self.map.marks or self.map.scaled == "row" else 2.0
        for row, (name, scale) in enumerate(zip(names, scales, strict=True)):
            above = top + row * (_HIGH + between)
            parts.append(
                text(name, left - 8, above + _HIGH / 2 + 3, class_="label", text_anchor="end")
            )
            if scale:
                parts.append(
                    text(scale, left - 8, above + _HIGH + 8, class_="tick", text_anchor="end")
                )
            parts += self._cells(row, left, above, width)
            marks = [mark for mark in self.map.marks if mark[0] == row]
            wanted = [left + (column + 0.5) * width for _, column, _, _ in marks]
            long = max((breadth(mark[3]) for mark in marks), default=0.0)
            shown = spread(wanted, 10 + long, left + long / 2, max(right, left + long) - long / 2)
            for x, mark in zip(shown, marks, strict=True):
                kind = f"pointer {self._kind(mark[3])}"
                parts.append(
                    text(mark[3], x, above + _HIGH + 12, class_=kind, text_anchor="middle")
                )
        bottom = top + len(names) * (_HIGH + between)
        inside = tag("g", *parts, *self._legend(left, bottom + 8), class_="heat")
        return Drawing(self.map.label, right + 16, bottom + 54, [inside])

    def _field(self, names: Sequence[str], left: float) -> Drawing:
        """Cells without gaps: neighbours of one colour are one shape, and nothing is shown for a
        single one.
        """
        columns, width = self.map.columns, WIDE.width - left - 16
        wide, high = width / max(len(columns), 1), 0.45 * width / max(len(names), 1)
        parts = []
        for row, name in enumerate(names):
            top = _TOP + row * high
            parts += (
                [text(name, left - 8, top + high / 2 + 4, class_="label", text_anchor="end")]
                if name
                else []
            )
            levels = [self._level(row, _parts(value)[0]) for value in self.map.values[row]]
            first = 0
            for level, same in groupby(levels):
                count = len(list(same))
                kind = "absent" if level is None else f"h{level}"
                # A little too large: between two that only touch, a screen shows a line.
                box = {
                    "x": left + first * wide,
                    "y": top,
                    "width": count * wide + 0.4,
                    "height": high + 0.4,
                }
                parts.append(tag("rect", class_=kind, **box))
                first += count
        for column, title in enumerate(columns):
            x = left + (column + 0.5) * wide
            parts += (
                [text(title, x, _TOP - 8, class_="tick", text_anchor="middle")] if title else []
            )
        bottom = _TOP + len(names) * high
        inside = tag("g", *parts, *self._legend(left, bottom + 8), class_="heat")
        return Drawing(self.map.label, WIDE.width, bottom + 54, [inside])

    def _cells(self, row: int, left: float, top: float, each: float) -> Iterator[Markup]:
        for column in range(len(self.map.columns)):
            values, x, width = (
                _parts(self.map.values[row][column]),
                left + column * each,
                each - 0.8,
            )
            told = ", ".join(NOTHING if value is None else score(value) for value in values)
            told = self.map.texts[row][column] if self.map.texts else told
            wide, high = (
                width / (1 if len(values) == 1 else 2),
                _HIGH / (2 if len(values) > 2 else 1),
            )
            boxes = [
                {
                    "x": x + part % 2 * wide,
                    "y": top + part // 2 * high,
                    "width": wide,
                    "height": high,
                }
                for part in range(len(values))
            ]
            levels = [self._level(row, value) for value in values]
            shapes = [
                tag("rect", class_="absent" if level is None else f"h{level}", **box)
                for level, box in zip(levels, boxes, strict=True)
            ]
            shapes += [
                tag("rect", class_=f"frame {self._kind(words)}", **boxes[part])
                for at, place, part, words in self.map.marks
                if (at, place) == (row, column)
            ]
            if len(values) == 1 and width >= _LEGIBLE and values[0] is not None:
                over = "on" if (levels[0] or 0) > LEVELS // 2 else "label"
                shapes.append(
                    text(
                        told, x + width / 2, top + _HIGH / 2 + 4, class_=over, text_anchor="middle"
                    )
                )
            yield tag(
                "g",
                tag("title", f"{self.map.rows[row]}, {self.map.columns[column]}: {told}"),
                *shapes,
            )

    def _kind(self, words: str) -> str:
        """Marks whose words begin with the same sign look the same."""
        signs = list(dict.fromkeys(mark[3][:1] for mark in self.map.marks))
        return "first" if signs.index(words[:1]) == 0 else "second"

    @cached_property
    def _ends(self) -> list[tuple[float, float] | None]:
        """What the colours of every row run from and to."""
        known = [
            [
                value
                for cell in cells
                for value in _parts(cell)
                if value is not None and math.isfinite(value)
            ]
            for cells in self.map.values
        ]
        if self.map.scaled != "row":
            known = [[value for values in known for value in values]] * len(known)
        return [(min(values), max(values)) if values else None for values in known]

    def _scale(self, row: int) -> str:
        """The description of the colours of a row that has its own."""
        ends = self._ends[row] if self.map.scaled == "row" else None
        return f"{score(ends[0])} to {score(ends[1])}" if ends else ""

    def _level(self, row: int, value: float | None) -> int | None:
        ends = self._ends[row]
        if value is None or ends is None or math.isnan(value):
            return None
        share = (value - ends[0]) / (ends[1] - ends[0]) if ends[1] > ends[0] else 0.0
        return int(max(0, min(LEVELS - 1, share * LEVELS)))  # infinity has the last colour

    def _legend(self, left: float, top: float) -> Iterator[Markup]:
        end = left + 22 * LEVELS
        for level in range(LEVELS):
            yield tag("rect", class_=f"h{level}", x=left + level * 22, y=top, width=22, height=13)
        ends = self._ends[0] if self.map.scaled != "row" and self.map.rows else None
        low, high = (f" {score(end)}" for end in ends) if ends else ("", "")
        yield text(self.map.low + low, left, top + 28, class_="tick")
        yield text(self.map.high + high, end, top + 28, class_="tick", text_anchor="end")
        yield tag("rect", class_="absent", x=end + 14, y=top, width=22, height=13)
        yield text("no value", end + 42, top + 11, class_="tick")
