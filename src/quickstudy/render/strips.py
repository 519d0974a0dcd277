"""Charts of strips: one learner on many items, each on a logarithmic axis with its reference learners as ticks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from quickstudy.base.blocks import Strip, Strips
from quickstudy.render import drawing
from quickstudy.render.drawing import NARROW, WIDE, Drawing, Form, breadth, spread
from quickstudy.render.markup import Markup, tag
from quickstudy.render.numbers import span_text

_HEADING, _ROW, _FOOT, _APART = 30.0, 54.0, 22.0, 4.0
"""Heights of a group's heading, of a row and of the scale under all; pixels between two names."""
_AXIS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_CELLS = 30
"""Letters of an axis in a terminal."""


def strips_drawings(block: Strips) -> list[Drawing]:
    """For a wide window the label is left of its strip, for a narrow one above it."""
    return [_drawing(block, form) for form in (WIDE, NARROW)]


def strips_rows(block: Strips) -> Iterator[Sequence[Any]]:
    """The numbers of a chart, the heading first."""
    yield "group", "item", "name", "kind", "value", "low", "high"
    for row in block.rows:
        low, high = row.interval or ("", "")
        yield row.group, row.label, block.learner, "learner", "" if row.value is None else row.value, low, high
        for kind, ticks in (("reference", row.ticks), ("mark", row.marks)):
            yield from ((row.group, row.label, name, kind, value, "", "") for value, name in ticks)


def strips_text(block: Strips) -> list[str]:
    """The chart in letters, 80 columns: an axis from 0 to 512, `·` a reference learner, `●` the learner."""
    wide = max((len(row.group) for row in block.rows), default=0)
    label = max((len(row.label) for row in block.rows), default=0)
    end = max((row.end for row in block.rows), default=1.0)
    lines = [" " * (wide + label + 3) + _scale_text(end)]
    group = ""
    for row in block.rows:
        shown = "" if row.group == group else row.group
        group = row.group
        value = "–" if row.value is None else span_text(row.value, row.over)
        lines.append(f"{shown:<{wide}} {row.label:<{label}}  {_axis_text(row, end)} {value:>5}  {row.note}".rstrip())
    return lines


def _at(value: float, end: float) -> int:
    return round(math.log1p(max(0.0, min(value, end))) / math.log1p(end) * (_CELLS - 1))


def _scale_text(end: float) -> str:
    line = [" "] * (_CELLS + 4)
    for value in (0, 1, 4, 16, 64, 256, 512):
        if value <= end and (value < 512 or end > 256):
            place = _at(value, end)
            if all(letter == " " for letter in line[max(0, place - 1) : place + len(str(value))]):
                line[place : place + len(str(value))] = list(str(value))
    return "".join(line).rstrip()


def _axis_text(row: Strip, end: float) -> str:
    line = [" " if _at(row.end, end) < place else "─" for place in range(_CELLS)]
    for value, _ in row.ticks:
        line[_at(value, end)] = "·"
    if row.value is not None:
        line[_at(row.value, end)] = "●"
    return "".join(line)


def _drawing(block: Strips, form: Form) -> Drawing:
    narrow = form is NARROW
    left = 12.0 if narrow else 24 + max((breadth(row.label) for row in block.rows), default=0.0)
    right, top, parts = 78.0, 8.0, list[Markup]()
    width, end = form.width - left - right, max((row.end for row in block.rows), default=1.0)
    for group, rows in groupby(block.rows, key=lambda row: row.group):
        if group:
            parts.append(drawing.text(block.headings.get(group, group), 12, top + 18, class_="label strong"))
            top += _HEADING
        for row in rows:
            if narrow:
                parts.append(drawing.text(row.label, left, top + 8, class_="label"))
                top += 16
            parts += _strip(row, left, top, width, end, narrow)
            top += _ROW
    for number in _AXIS:
        if number <= end:
            x = _x(number, left, width, end)
            parts.append(drawing.text(str(number), x, top + 8, class_="tick", text_anchor="middle"))
    if block.unit:
        parts.append(drawing.text(block.unit, left, top + 8 + _FOOT, class_="title"))
    return Drawing(block.label, form.width, top + 2 * _FOOT, parts, form.name)


def _x(value: float, left: float, width: float, end: float) -> float:
    return left + width * math.log1p(max(0.0, min(value, end))) / math.log1p(end)


def _strip(row: Strip, left: float, top: float, width: float, end: float, narrow: bool) -> Iterator[Markup]:
    y, last = top + 22, _x(row.end, left, width, end)
    if not narrow:
        yield drawing.text(row.label, left - 12, y + 4, class_="label", text_anchor="end")
    yield tag("line", class_="axis", x1=left, x2=last, y1=y, y2=y)
    for number in _AXIS:
        if number <= row.end:
            x = _x(number, left, width, end)
            yield tag("line", class_="grid", x1=x, x2=x, y1=y - 4, y2=y + 4)
    for value, name in row.marks:
        x = _x(value, left, width, end)
        line = tag("line", class_="axis", x1=x, x2=x, y1=y - 12, y2=y + 4)
        words = drawing.text(name, x, y - 14, class_="tick halo", text_anchor="middle")
        yield tag("g", tag("title", f"{name}: {span_text(value)}"), line, *([] if narrow else [words]))
    yield from _ticks(row.ticks, left, y, width, end, narrow)
    if row.value is None:
        yield drawing.text(row.note, left, y - 8, class_="tick")
        return
    if row.interval:
        ends = [_x(value, left, width, end) for value in row.interval]
        bar = {"x1": ends[0], "x2": max(ends[1], ends[0] + 1), "y1": y, "y2": y}
        yield tag("g", tag("line", class_="line", stroke_opacity=".35", style="stroke-width:9", **bar), class_="c1")
    x, shown = _x(row.value, left, width, end), span_text(row.value, row.over)
    yield tag("g", tag("circle", tag("title", shown), class_="dot", cx=x, cy=y, r=6), class_="c1")
    yield drawing.text(shown, left + width + 14, y + 5, class_="label strong")


def _ticks(
    ticks: Sequence[tuple[float, str]], left: float, y: float, width: float, end: float, narrow: bool
) -> Iterator[Markup]:
    """Small ticks for the reference learners; their names below, where there is room for them."""
    ordered = sorted(ticks)
    places = [_x(value, left, width, end) for value, _ in ordered]
    for (value, name), x in zip(ordered, places, strict=True):
        line = tag("line", class_="whisker", x1=x, x2=x, y1=y - 6, y2=y + 6)
        yield tag("g", tag("title", f"{name}: {span_text(value)}"), line)
    if narrow:
        return
    shown = _thinned(ordered, places)
    wanted = [places[index] for index in shown]
    gap = _APART + max((breadth(ordered[index][1]) for index in shown), default=0.0) * 0.8
    for index, x in zip(shown, spread(wanted, gap, left, left + width), strict=True):
        yield drawing.text(ordered[index][1], x, y + 22, class_="tick", text_anchor="middle")


def _thinned(ordered: Sequence[tuple[float, str]], places: Sequence[float]) -> list[int]:
    """The names that have room: from the highest down, those that do not touch one already there."""
    kept: list[int] = []
    for index in reversed(range(len(ordered))):
        half = breadth(ordered[index][1]) * 0.45
        if all(abs(places[index] - places[other]) > half + breadth(ordered[other][1]) * 0.45 for other in kept):
            kept.append(index)
    return kept[::-1]
