"""Parts of SVG pictures: text, the frame of a plot with a logarithmic axis, labels that do not collide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from quickstudy.report.markup import escape, plain_number, tag


def text(content: str, x: float, y: float, **attributes: object) -> str:
    """A line of text, escaped."""
    return tag("text", escape(content), x=x, y=y, **attributes)


def points(pairs: Sequence[tuple[float, float]]) -> str:
    """Coordinates for a polyline, a polygon or, after an M, a path."""
    return " ".join(f"{plain_number(x)},{plain_number(y)}" for x, y in pairs)


def shorten(label: str, longest: int) -> str:
    """A label cut in its middle, so that its start and its end both stay.

    >>> shorten("esn+rls:units=200,leak=0.3", 13)
    'esn+rl…ak=0.3'
    """
    if len(label) <= longest:
        return label
    tail = (longest - 1) // 2
    return f"{label[: longest - 1 - tail]}…{label[len(label) - tail :]}"


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions as near as possible to the wanted ones, in the same order, at least `gap` apart, within low .. high.

    Groups of labels that would collide are centred on their mean. The gap shrinks if all do not fit otherwise.

    >>> spread([10, 11, 50], 10, 0, 100)
    [5.5, 15.5, 50.0]
    """
    if not wanted:
        return []
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    order = sorted(range(len(wanted)), key=lambda index: (wanted[index], index))
    groups: list[tuple[float, int]] = []  # (position of the first, members)
    for index in order:
        start, members = _within(float(wanted[index]), 1, gap, low, high), 1
        while groups and groups[-1][0] + groups[-1][1] * gap > start:
            before, count = groups.pop()
            centre = (before + (count - 1) * gap / 2) * count + (start + (members - 1) * gap / 2) * members
            members += count
            start = _within(centre / members - (members - 1) * gap / 2, members, gap, low, high)
        groups.append((start, members))
    placed = [start + place * gap for start, members in groups for place in range(members)]
    result = [0.0] * len(wanted)
    for index, position in zip(order, placed, strict=True):
        result[index] = position
    return result


_ROOM = 130
"""Pixels that a factor of ten needs if 2 and 5 are to be numbered in it."""


@dataclass(frozen=True)
class Frame:
    """The area of a plot in pixels: steps run logarithmically from first to last, values linearly from 0 to 1."""

    left: float
    top: float
    width: float
    height: float
    first: float
    last: float

    def x(self, step: float) -> float:
        """Where a step lies; steps before the first lie at the left edge."""
        share = math.log(max(step, self.first) / self.first) / math.log(self.last / self.first)
        return self.left + self.width * share

    def y(self, value: float) -> float:
        """Where a value lies; values outside 0 .. 1 lie at the edge."""
        return self.top + self.height * (1 - min(max(value, 0.0), 1.0))

    def ticks(self) -> list[tuple[float, bool]]:
        """Steps at 1, 2 and 5 times the powers of ten, and whether each is a power of ten."""
        exponents = range(math.floor(math.log10(self.first)), math.ceil(math.log10(self.last)) + 1)
        found = [(digit * 10.0**exponent, digit == 1) for exponent in exponents for digit in (1, 2, 5)]
        return [(step, major) for step, major in found if self.first * 0.999 <= step <= self.last * 1.001]


def axes(frame: Frame, x_title: str, y_title: str) -> str:
    """Grid, ticks and titles. Steps of 2 and 5 are numbered where there is room for them."""
    bottom, right = frame.top + frame.height, frame.left + frame.width
    parts = []
    for tenth in range(0, 11, 2):
        y = frame.y(tenth / 10)
        parts.append(tag("line", class_="grid", x1=frame.left, x2=right, y1=y, y2=y))
        parts.append(text(f"{tenth / 10:g}", frame.left - 8, y + 4, class_="tick", text_anchor="end"))
    ticks = frame.ticks()
    number_all = frame.width / math.log10(frame.last / frame.first) > _ROOM
    for step, major in ticks:
        x = frame.x(step)
        if major:
            parts.append(tag("line", class_="grid", x1=x, x2=x, y1=frame.top, y2=bottom))
        parts.append(tag("line", class_="axis", x1=x, x2=x, y1=bottom, y2=bottom + (6 if major else 3)))
        if major or number_all:
            parts.append(text(f"{step:,g}", x, bottom + 19, class_="tick", text_anchor="middle"))
    parts.append(tag("line", class_="axis", x1=frame.left, x2=right, y1=bottom, y2=bottom))
    parts.append(text(x_title, frame.left + frame.width / 2, bottom + 38, class_="title", text_anchor="middle"))
    parts.append(text(y_title, frame.left - 30, frame.top - 12, class_="title"))
    return tag("g", *parts, class_="axes", aria_hidden="true")


def _within(start: float, members: int, gap: float, low: float, high: float) -> float:
    return max(low, min(start, high - (members - 1) * gap))
