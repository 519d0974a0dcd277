"""Several plots in one picture: panels side by side or in one column, with the same axes and a legend each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quickstudy.report.markup import escape, tag
from quickstudy.report.pictures import COLOURS
from quickstudy.report.svg import Frame, points, shorten, text

_LETTER = 6.5
"""Width of a letter of a legend in pixels, on the safe side."""
_LEFT, _RIGHT, _GAP = 62.0, 24.0, 24.0
_TITLE, _ENTRY, _TICKS, _AXIS = 24.0, 17.0, 24.0, 20.0
"""Heights of a panel's title, a line of its legend, the numbers under it, and the title of the axis."""
_ROOM = 115
"""Pixels that a factor of ten needs if 2 and 5 are to be numbered in it."""


@dataclass(frozen=True)
class Line:
    """One curve and its entry in the legend. style: its classes. low, high: the edges of the shading, if there is any.

    Without steps there is no curve, only the entry.
    """

    label: str
    style: str
    steps: Sequence[float] = ()
    values: Sequence[float] = ()
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Panel:
    """highest: the end of the value axis, which begins at 0."""

    title: str
    lines: Sequence[Line]
    highest: float = 1.0


@dataclass(frozen=True)
class Sheet:
    """A picture of panels. label: what it shows, in a sentence, for those who cannot see it."""

    label: str
    x_title: str
    y_title: str
    panels: Sequence[Panel]

    def drawn(self) -> tuple[str, str]:
        """For a wide window, panels two by two, and for a narrow one, panels one below the other."""
        return self._draw("wide", 1040.0, 2), self._draw("narrow", 400.0, 1)

    def _draw(self, name: str, width: float, columns: int) -> str:
        columns = min(columns, len(self.panels))
        inner = (width - _LEFT - _RIGHT - (columns - 1) * (_GAP + _LEFT)) / columns
        height = min(380.0, max(180.0, 0.4 * inner))
        steps = [step for panel in self.panels for line in panel.lines for step in line.steps if step > 0]
        first, last = (min(steps), max(steps)) if steps else (1.0, 10.0)
        parts, titles, top = [], [], 4.0
        for row in (self.panels[first : first + columns] for first in range(0, len(self.panels), columns)):
            entries = max(-(-len(panel.lines) // _per_line(panel, inner)) for panel in row)
            head = _TITLE + entries * _ENTRY + 8
            for column, panel in enumerate(row):
                left = _LEFT + column * (inner + _GAP + _LEFT)
                frame = Frame(left, top + head, inner, height, first, max(last, first * 1.0001))
                parts.append(_panel(panel, frame, top, "" if column else self.y_title))
                if len(parts) > len(self.panels) - columns:  # nothing below it
                    place = left + inner / 2, frame.top + height + _TICKS + _AXIS - 6
                    titles.append(text(self.x_title, *place, class_="title", text_anchor="middle"))
            top += head + height + _TICKS + _GAP
        bottom = top - _GAP + _AXIS
        return tag(
            "svg",
            tag("title", escape(self.label)),
            *parts,
            *titles,
            class_=f"plot {name}",
            viewBox=f"0 0 {width:g} {bottom:g}",
            role="img",
            aria_label=self.label,
        )


def colour(index: int) -> str:
    """The class of the line with this number: one of six colours, and from the seventh on again with dots."""
    return f"c{index % COLOURS + 1}" + (" again" if index >= COLOURS else "")


def round_up(value: float) -> float:
    """A round number not below a value, where an axis may end.

    >>> [round_up(value) for value in (0.31, 0.052, 0.8, 0.0)]
    [0.4, 0.06, 0.8, 1.0]
    """
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(digit * unit for digit in (1, 2, 4, 6, 8, 10) if digit * unit >= value * 0.999999)


def _divisions(highest: float) -> int:
    """Into how many parts of 1, 2 or 5 times a power of ten an axis is divided."""
    return next(
        parts for parts in (5, 4, 3, 1) if f"{highest / parts:.2e}"[:4] in ("1.00", "2.00", "5.00") or parts == 1
    )


def _per_line(panel: Panel, width: float) -> int:
    """How many entries of the legend have room side by side."""
    longest = max((len(line.label) for line in panel.lines), default=0)
    return max(1, int(width // (34 + longest * _LETTER)))


def _panel(panel: Panel, frame: Frame, top: float, y_title: str) -> str:
    parts = [text(panel.title, frame.left, top + 15, class_="label strong"), *_entries(panel, frame, top)]
    parts += _axes(panel, frame, y_title)
    if not any(line.steps for line in panel.lines):
        middle = frame.left + frame.width / 2, frame.top + frame.height / 2
        parts.append(text("no finished runs", *middle, class_="title", text_anchor="middle"))
    # From the last to the first, so that the first lies on top.
    parts += [_curve(line, panel.highest, frame) for line in reversed(panel.lines) if line.steps]
    return tag("g", *parts, class_="panel")


def _entries(panel: Panel, frame: Frame, top: float) -> Iterator[str]:
    per_line = _per_line(panel, frame.width)
    for index, line in enumerate(panel.lines):
        x = frame.left + index % per_line * frame.width / per_line
        y = top + _TITLE + _ENTRY * (index // per_line) + 9
        key = tag("line", class_="line", x1=x, x2=x + 18, y1=y - 4, y2=y - 4)
        dot = tag("circle", class_="dot mark", cx=x + 9, cy=y - 4, r=2.5)
        label = shorten(line.label, int((frame.width - 24) // _LETTER))
        yield tag("g", key, dot, text(label, x + 24, y, class_="label entry"), class_=line.style)


def _axes(panel: Panel, frame: Frame, y_title: str) -> Iterator[str]:
    bottom, right = frame.top + frame.height, frame.left + frame.width
    parts = _divisions(panel.highest)
    for part in range(parts + 1):
        y = frame.y(part / parts)
        yield tag("line", class_="grid", x1=frame.left, x2=right, y1=y, y2=y)
        yield text(f"{panel.highest * part / parts:.3g}", frame.left - 7, y + 4, class_="tick", text_anchor="end")
    number_all = frame.width > _ROOM * math.log10(frame.last / frame.first)
    for step, major in frame.ticks():
        x = frame.x(step)
        if major:
            yield tag("line", class_="grid", x1=x, x2=x, y1=frame.top, y2=bottom)
        if major or number_all:
            yield text(f"{step:,g}", x, bottom + 18, class_="tick", text_anchor="middle")
        yield tag("line", class_="axis", x1=x, x2=x, y1=bottom, y2=bottom + (6 if major else 3))
    yield tag("line", class_="axis", x1=frame.left, x2=right, y1=bottom, y2=bottom)
    if y_title:
        x, y = frame.left - 48, frame.top + frame.height / 2
        turned = f"rotate(-90 {x:g} {y:g})"
        yield text(y_title, x, y, class_="title", text_anchor="middle", transform=turned)


def _curve(line: Line, highest: float, frame: Frame) -> str:
    def path(values: Sequence[float]) -> list[tuple[float, float]]:
        pairs = zip(line.steps, values, strict=True)
        return [(frame.x(step), frame.y(value / highest)) for step, value in pairs if step > 0]

    drawn = path(line.values)
    parts = [tag("title", escape(line.label))]
    if line.low and line.high:
        parts.append(tag("polygon", class_="band", points=points(path(line.high) + path(line.low)[::-1])))
    parts.append(tag("polyline", class_="line", points=points(drawn)))
    kind = "dot" if len(drawn) == 1 else "dot mark"
    parts += [tag("circle", class_=kind, cx=x, cy=y, r=2.5) for x, y in drawn[:: max(1, len(drawn) // 8)]]
    return tag("g", *parts, class_=f"curve {line.style}")
