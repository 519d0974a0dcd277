"""What all pictures are drawn with: one sheet, one set of axes, one set of colours, labels that do
not collide.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from quickstudy.base.blocks import CONTROL, LINEAR, LOG, ORACLE, Axis, Mark
from quickstudy.base.text import shortened, visible
from quickstudy.render.markup import Markup, asset, joined, short_number, tag
from quickstudy.render.numbers import magnitude

COLOURS, DASHES = 6, 5
"""How many the style sheet has."""
_SLIM, _BROAD = frozenset("fijlrtI .,:;|!'()[]/-"), frozenset("mwMW%@&+=<>~#^∞…—±×")
_TENFOLD = 115
"""Pixels that a factor of ten needs if 2 and 5 are to be numbered in it."""
_DENSE = 46
"""Pixels that the number of a power of ten needs."""


@dataclass(frozen=True)
class Form:
    """Width of a picture in pixels, and how many letters of a label fit next to it."""

    name: str
    width: float
    letters: int


WIDE = Form("wide", 1040.0, 26)
NARROW = Form("narrow", 400.0, 15)


@dataclass(frozen=True)
class Drawing:
    """A finished picture. label: what it shows, for those who cannot see it. form: the window it is
    for, or nothing.
    """

    label: str
    width: float
    height: float
    parts: Sequence[str]
    form: str = ""

    def inline(self, least: float | None = None) -> Markup:
        """As a part of a page, which has the styles. least: pixels below which it is not shrunk."""
        style = f"min-width:{least:.0f}px;max-width:{self.width:.0f}px" if least else None
        return self._svg(*self.parts, class_=f"plot {self.form}".strip(), style=style)

    def file(self) -> str:
        """As a file of its own: with the styles inside, on a ground of its own, in its natural
        size.
        """
        style = tag(
            "style",
            asset("picture.css"),
            Markup(":root{background:var(--paper);max-width:100%;height:auto}"),
        )
        size = {"width": self.width, "height": self.height}
        ground = tag("rect", style="fill:var(--paper)", **size)
        # The class is that of a group inside: the page's own hides a picture by the width of the
        # window.
        return self._svg(
            style,
            ground,
            tag("g", *self.parts, class_="plot"),
            xmlns="http://www.w3.org/2000/svg",
            **size,
        )

    def _svg(self, *inside: str, **attributes: object) -> Markup:
        box = f"0 0 {short_number(self.width)} {short_number(self.height)}"
        title = tag("title", self.label)
        return tag(
            "svg", title, *inside, viewBox=box, role="img", aria_label=self.label, **attributes
        )


def mark_class(mark: Mark) -> str:
    """The classes of a mark in the style sheet: `c1` .. `c6` for those that learn, with dots
    (`again`) from the seventh on; a grey dash for the rules that never learn; the oracle's thin
    line.
    """
    if mark.role == ORACLE:
        return "oracle"
    if mark.role == CONTROL:
        return f"control d{mark.number % DASHES + 1}"
    return f"c{mark.number % COLOURS + 1}" + (" again" if mark.number >= COLOURS else "")


def text(content: str, x: float, y: float, **attributes: object) -> Markup:
    """A line of text."""
    return tag("text", content, x=float(x), y=float(y), **attributes)


def breadth(words: str) -> float:
    """Width of a label in pixels, on the safe side for the fonts of the style sheet."""
    broad = sum(
        letter in _BROAD or unicodedata.east_asian_width(letter) in "WF" for letter in words
    )
    slim = sum(letter in _SLIM for letter in words)
    return 5.2 * slim + 13.0 * broad + 8.0 * (len(words) - slim - broad)


def fitting(names: Sequence[str], width: float) -> list[str]:
    """Names cut in the middle to as many letters as a width has room for, so that they stay
    distinct.
    """
    shown = list(map(visible, names))
    widest = max((breadth(name) / len(name) for name in shown if name), default=8.0)
    return shortened(shown, max(8, int(width // widest)))


def points(pairs: Sequence[tuple[float, float]]) -> str:
    """Coordinates for a polyline or a polygon, each as `short_number` has it; all at once, as a
    page has thousands.
    """
    text = "%.1f,%.1f " * len(pairs) % tuple(chain.from_iterable(pairs))
    return text.replace(".0,", ",").replace(".0 ", " ").rstrip()


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions as near as possible to the wanted ones, in the same order, at least `gap` apart,
    within low .. high.

    Groups of labels that would collide are centred on their mean. The gap shrinks if all do not fit
    otherwise.

    >>> spread([10, 11, 50], 10, 0, 100)
    [5.5, 15.5, 50.0]
    """
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    # Without the gaps before each, they only have to rise: neighbours that do not share their mean.
    groups: list[tuple[float, int]] = []  # (mean, members)
    for place, index in enumerate(order):
        mean, members = float(wanted[index]) - place * gap, 1
        while groups and groups[-1][0] > mean:
            before, count = groups.pop()
            mean, members = (before * count + mean * members) / (count + members), count + members
        groups.append((mean, members))
    last = high - (len(wanted) - 1) * gap
    starts = [max(low, min(mean, last)) for mean, members in groups for _ in range(members)]
    placed = {
        index: start + place * gap
        for place, (index, start) in enumerate(zip(order, starts, strict=True))
    }
    return [placed[index] for index in range(len(wanted))]


@dataclass(frozen=True)
class Scale:
    """Values low .. high, linear or logarithmic, on pixels from `start` on; length is negative
    where they run up.
    """

    low: float
    high: float
    kind: str
    start: float
    length: float

    @property
    def end(self) -> float:
        """Where the highest value lies."""
        return self.start + self.length

    def at(self, value: float) -> float:
        """Where a value lies; one outside lies at the edge."""
        return self.along([value])[0]

    def along(self, values: Iterable[float]) -> list[float]:
        """Where each of several lies."""
        start, length, low, high = self.start, self.length, self.low, self.high
        inside = [low if value < low else high if value > high else value for value in values]
        if self.kind == LOG:
            whole = math.log(high / low)
            return [start + length * math.log(value / low) / whole for value in inside]
        return [start + length * (value - low) / (high - low) for value in inside]

    def ticks(self) -> list[tuple[float, str]]:
        """Round values and their words, which may be nothing: about six, or more on a long axis
        that lies.
        """
        powers = list(self._powers()) if self.kind == LOG else []
        if sum(bool(words) for _, words in powers) > 1:
            return powers
        step = round_step((self.high - self.low) / max(6.0, self.length / 90))
        # Rounded: 3 * 0.1 is not 0.3.
        numbers = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return [
            (value, magnitude(value))
            for value in (float(f"{number * step:.9g}") for number in numbers)
        ]

    def _powers(self) -> Iterator[tuple[float, str]]:
        tenfold = abs(self.length) / math.log10(self.high / self.low)
        each = max(1, math.ceil(_DENSE / tenfold))
        for power in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1):
            for digit in (1, 2, 5) if tenfold > _DENSE / 2 else (1,):
                value = digit * 10.0**power
                if self.low * 0.999 <= value <= self.high * 1.001:
                    shown = power % each == 0 if digit == 1 else tenfold > _TENFOLD
                    yield value, magnitude(value) if shown else ""


_LEAST = 1e-300
"""What is smaller has no fifth, or no logarithm of it: floating point ends there."""


def reach(axis: Axis, values: Sequence[float], *, rounded: bool = False) -> tuple[float, float]:
    """Where an axis begins and ends: as declared, or where the values do; rounded: at the round
    numbers around them.
    """
    if axis.range is not None:
        return axis.range
    known = [
        value for value in values if math.isfinite(value) and (axis.scale == LINEAR or value > 0)
    ]
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    if axis.scale == LOG:
        return (low, high) if high > low else (low, low * 10)
    if high - low < _LEAST:
        low, high = (low - abs(low) / 2, high + abs(high) / 2) if abs(low) > _LEAST else (0.0, 1.0)
    step = round_step((high - low) / 5)
    return (
        (math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)
        if rounded
        else (low, high)
    )


def round_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, not below a value.

    >>> [round_step(value) for value in (0.03, 0.2, 7.0)]
    [0.05, 0.2, 10.0]
    """
    unit = 10.0 ** math.floor(math.log10(least))
    return next(
        float(f"{digit * unit:.3g}") for digit in (1, 2, 5, 10) if digit * unit >= least * 0.999999
    )


@dataclass(frozen=True)
class Frame:
    """The area of a plot: its two scales, from the lower left corner on."""

    x: Scale
    y: Scale

    def axes(self, x: Axis, y: Axis, *, x_title: bool = True, y_title: bool = True) -> Markup:
        """Grid, ticks and titles."""
        parts = []
        for value, words in y.ticks or self.y.ticks():
            place = self.y.at(value)
            parts.append(
                tag("line", class_="grid", x1=self.x.start, x2=self.x.end, y1=place, y2=place)
            )
            parts.append(text(words, self.x.start - 8, place + 4, class_="tick", text_anchor="end"))
        for value, words in x.ticks or self.x.ticks():
            place, mark = self.x.at(value), 6 if words else 3
            if words and x.scale == LOG:
                parts.append(
                    tag("line", class_="grid", x1=place, x2=place, y1=self.y.end, y2=self.y.start)
                )
            parts.append(
                tag(
                    "line",
                    class_="axis",
                    x1=place,
                    x2=place,
                    y1=self.y.start,
                    y2=self.y.start + mark,
                )
            )
            parts.append(text(words, place, self.y.start + 19, class_="tick", text_anchor="middle"))
        parts.append(
            tag(
                "line",
                class_="axis",
                x1=self.x.start,
                x2=self.x.end,
                y1=self.y.start,
                y2=self.y.start,
            )
        )
        if x_title:
            middle = self.x.start + self.x.length / 2
            parts.append(
                text(titled(x), middle, self.y.start + 38, class_="title", text_anchor="middle")
            )
        if y_title:
            parts.append(
                text(titled(y), max(2.0, self.x.start - 38), self.y.end - 10, class_="title")
            )
        return tag("g", joined(*parts), class_="axes", aria_hidden="true")


def titled(axis: Axis) -> str:
    """The title of an axis, which names a logarithmic scale."""
    return (
        f"{axis.title} (logarithmic)"
        if axis.scale == LOG and "logarithmic" not in axis.title
        else axis.title
    )
