"""Plots: lines with bands, steps, points and bars in one or several panels, with labels at their
ends or a legend.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from quickstudy.base.blocks import BARS, LINEAR, POINTS, STEP, Guide, Panel, Plot, Plotted
from quickstudy.base.canonical import plain, spelled
from quickstudy.base.text import shortened, visible
from quickstudy.render import axes
from quickstudy.render.axes import (
    NARROW,
    WIDE,
    Frame,
    Scale,
    breadth,
    fitting,
    mark_class,
    points,
    reach,
    spread,
)
from quickstudy.render.markup import Markup, short_number, tag

_GAP, _TITLE, _ENTRY, _Y_TITLE, _FOOT = 28.0, 24.0, 17.0, 26.0, 30.0
"""Heights between panels, of a panel's title, a line of its legend, the title of its axis, and the
numbers under it.
"""
_APART = 15
"""Pixels between two labels."""
_NOTHING = "no finished runs"
_READ_OUT = 48
"""Letters of a name next to a pointer."""


def plot_drawings(plot: Plot) -> list[axes.Drawing]:
    """For a wide window, panels two by two, and for a narrow one, panels below each other."""
    panels = [
        replace(panel, series=[_on(plot, one) for one in panel.series]) for panel in plot.panels
    ]
    return [_Sheet(replace(plot, panels=panels), form).drawn() for form in (WIDE, NARROW)]


def live_data(plot: Plot) -> str:
    """What a pointer reads off a plot, as JSON."""
    panels = []
    for panel in plot.panels:
        series = _known(panel)
        labels = shortened([visible(one.label) for one in series], _READ_OUT)
        panels.append(
            [
                {
                    "label": label,
                    "mark": mark_class(one.mark),
                    "x": one.x,
                    "y": one.y,
                    "low": one.low,
                    "high": one.high,
                }
                for one, label in zip(series, labels, strict=True)
            ]
        )
    return spelled(plain({"title": plot.x.title, "panels": panels}))


def _on(plot: Plot, one: Plotted) -> Plotted:
    """What of a series has a place on a logarithmic axis: all that is after 0."""
    kept = [index for index, value in enumerate(one.x) if plot.x.scale == LINEAR or value > 0]
    x, y, low, high = (
        [values[at] for at in kept if len(values)] for values in (one.x, one.y, one.low, one.high)
    )
    tells, names = ([words[at] for at in kept if len(words)] for words in (one.tells, one.names))
    return replace(one, x=x, y=y, low=low, high=high, tells=tells, names=names)


def _known(panel: Panel) -> list[Plotted]:
    return [one for one in panel.series if len(one.x)]


class _End(NamedTuple):
    """A label at the right edge: in full and cut, the value it marks, and its classes."""

    full: str
    label: str
    value: float
    kind: str


@dataclass(frozen=True)
class _Sheet:
    plot: Plot
    form: axes.Form

    def drawn(self) -> axes.Drawing:
        plot, panels = self.plot, self.plot.panels
        columns = self._columns()
        x, y = self._reaches()
        ticks = [words for _, words in plot.y.ticks or Scale(*y, plot.y.scale, 0, -250).ticks()]
        left = 16 + max(map(breadth, ticks), default=8.0)
        right = max(
            [22.0, *(28 + breadth(end.label) for panel in panels for end in self._ends(panel))]
        )
        inner = self.form.width / columns - left - right
        parts, top = [], 4.0
        for first in range(0, len(panels), columns):
            row = panels[first : first + columns]
            head = max(self._head(panel, inner) for panel in row)
            height = self._height(row, inner)
            for column, panel in enumerate(row):
                start, bottom = left + column * (inner + left + right), top + head + height
                own = panel.x or plot.x
                ends = (
                    reach(own, [value for one in panel.series for value in one.x]) if panel.x else x
                )
                frame = Frame(
                    Scale(*ends, own.scale, start, inner), Scale(*y, plot.y.scale, bottom, -height)
                )
                last = first + column + columns >= len(panels)  # nothing below it
                parts.append(self._panel(panel, frame, top, column == 0, last))
            top += head + height + _FOOT + _GAP
        return axes.Drawing(plot.label, self.form.width, top - _GAP + 20, parts, self.form.name)

    def _columns(self) -> int:
        """Panels in a row: half as many in a narrow window."""
        across = self.plot.across if self.form is WIDE else max(1, self.plot.across // 2)
        return max(1, min(across, len(self.plot.panels)))

    def _reaches(self) -> tuple[tuple[float, float], tuple[float, float]]:
        plot = self.plot
        series = [one for panel in plot.panels for one in panel.series]
        guides = [guide for panel in plot.panels for guide in panel.guides]
        bars = [one for one in series if one.kind == BARS]
        across = [value for one in series for value in one.x] + [
            one.x for one in guides if one.x is not None
        ]
        up = [value for one in series for values in (one.y, one.low, one.high) for value in values]
        up += [one.y for one in guides if one.y is not None] + ([0.0] if bars else [])
        low, high = reach(plot.x, across)
        half = _step(bars) / 2 if bars and plot.x.range is None and plot.x.scale == LINEAR else 0.0
        return (low - half, high + half), reach(plot.y, up, rounded=plot.y.scale == LINEAR)

    def _ends(self, panel: Panel) -> list[_End]:
        """The labels of the curves, then of the horizontals, cut so that they stay distinct."""
        if not self.plot.direct:
            return []
        ends = [(one.label, _last(one.y), mark_class(one.mark)) for one in _known(panel)]
        ends += [
            (one.label, one.y, "guide")
            for one in panel.guides
            if one.x is None and one.y is not None
        ]
        ends = [end for end in ends if end[0]]
        letters = self.form.letters if len(self.plot.panels) == 1 else NARROW.letters
        labels = shortened([visible(full) for full, _, _ in ends], letters)
        return [
            _End(full, label, value, kind)
            for (full, value, kind), label in zip(ends, labels, strict=True)
        ]

    def _head(self, panel: Panel, width: float) -> float:
        entries = 0 if self.plot.direct else -(-len(_named(panel)) // _per_line(panel, width))
        return (
            (_TITLE if panel.title else 0)
            + entries * _ENTRY
            + (4 if entries else 0)
            + (_Y_TITLE if self.plot.y.title else 8.0)
        )

    def _height(self, row: Sequence[Panel], width: float) -> float:
        small = self.plot.across > 2
        usual = max(110.0, 0.55 * width) if small else min(380.0, max(190.0, 0.4 * width))
        if len(self.plot.panels) == 1 and not small:
            usual = 350.0 if self.form is WIDE else 250.0
        return max(usual, *(float(_APART * (len(self._ends(panel)) - 1)) for panel in row))

    def _panel(self, panel: Panel, frame: Frame, top: float, first: bool, last: bool) -> Markup:
        plot = self.plot
        title = fitting([panel.title], frame.x.length)[0]
        parts = [axes.text(title, frame.x.start, top + 15, class_="label strong")] if title else []
        parts.append(
            frame.axes(panel.x or plot.x, plot.y, x_title=last and not panel.x, y_title=first)
        )
        parts += [] if plot.direct else _legend(panel, frame, top + (_TITLE if panel.title else 0))
        if not _known(panel):
            middle = frame.x.start + frame.x.length / 2, (frame.y.end + frame.y.start) / 2
            parts.append(axes.text(_NOTHING, *middle, class_="title", text_anchor="middle"))
        parts += [_guide(guide, frame, plot.direct) for guide in panel.guides]
        bars = [one for one in panel.series if one.kind == BARS]
        # From the last to the first, so that the first lies on top.
        for one in reversed(_known(panel)):
            single = one.kind in (BARS, POINTS)
            shapes = _single(one, bars, frame) if single else _curve(one, frame, plot.direct)
            parts.append(
                tag("g", tag("title", one.label), *shapes, class_=f"curve {mark_class(one.mark)}")
            )
        parts += [
            _point_label(guide, frame) for guide in panel.guides if None not in (guide.x, guide.y)
        ]
        parts += [_end_labels(self._ends(panel), frame)] if plot.direct else []
        parts += _point_names(panel, frame, self.form.letters)
        if not plot.live:
            return tag("g", *parts, class_="panel")
        area = {
            "x": frame.x.start,
            "y": frame.y.end,
            "width": frame.x.length,
            "height": frame.y.start - frame.y.end,
        }
        parts.append(tag("g", tag("line", y1=frame.y.end, y2=frame.y.start), class_="cursor"))
        parts.append(tag("rect", class_="touch", **area))
        scales = [f"{end:.9g}" for scale in (frame.x, frame.y) for end in (scale.low, scale.high)]
        told = [*map(short_number, area.values()), *scales, frame.x.kind, frame.y.kind]
        return tag("g", *parts, class_="panel", data_frame=" ".join(told))


def _end_labels(ends: Sequence[_End], frame: Frame) -> Markup:
    """The labels at the right edge, with a line to the end of what each belongs to."""
    heights = [frame.y.at(end.value) for end in ends]
    parts = []
    for end, y, place in zip(
        ends, heights, spread(heights, _APART, frame.y.end, frame.y.start), strict=True
    ):
        edge = frame.x.end
        line = tag(
            "polyline",
            class_="leader",
            points=points([(edge + 2, y), (edge + 10, place), (edge + 20, place)]),
        )
        label = axes.text(end.label, edge + 24, place + 4, class_="label")
        parts.append(tag("g", tag("title", end.full), line, label, class_=end.kind))
    return tag("g", *parts, class_="labels")


def _named(panel: Panel) -> list[Plotted]:
    """The entries of a legend: everything that has a name."""
    return [one for one in panel.series if one.label]


def _per_line(panel: Panel, width: float) -> int:
    """How many entries of the legend have room side by side."""
    longest = max((breadth(one.label) for one in panel.series), default=0.0)
    return max(1, int(width // (34 + longest)))


def _legend(panel: Panel, frame: Frame, top: float) -> Iterator[Markup]:
    width = frame.x.length
    per_line = _per_line(panel, width)
    labels = fitting([one.label for one in _named(panel)], width - 24)
    for index, (one, label) in enumerate(zip(_named(panel), labels, strict=True)):
        x, y = (
            frame.x.start + index % per_line * width / per_line,
            top + _ENTRY * (index // per_line) + 9,
        )
        key = tag("line", class_="line", x1=x, x2=x + 18, y1=y - 4, y2=y - 4)
        if one.kind in (POINTS, BARS):
            key = tag("rect", class_="dot", x=x + 4, y=y - 9, width=10, height=10)
        dot = tag("circle", class_="dot", cx=x + 9, cy=y - 4, r=2.5) if _again(one) else ""
        entry = mark_class(one.mark) + ("" if len(one.x) else " absent")
        yield tag(
            "g",
            tag("title", one.label),
            key,
            dot,
            axes.text(label, x + 24, y, class_="label entry"),
            class_=entry,
        )


def _guide(guide: Guide, frame: Frame, direct: bool) -> Markup:
    x = None if guide.x is None else frame.x.at(guide.x)
    y = None if guide.y is None else frame.y.at(guide.y)
    name, parts = f"guide{' strong' if guide.strong else ''}", []
    if y is not None:
        parts.append(
            tag(
                "line",
                class_=name,
                x1=frame.x.start,
                x2=frame.x.end if x is None else x,
                y1=y,
                y2=y,
            )
        )
    if x is not None:
        parts.append(
            tag(
                "line",
                class_=name,
                x1=x,
                x2=x,
                y1=frame.y.end if y is None else y,
                y2=frame.y.start,
            )
        )
    if guide.label and y is None and x is not None:
        before = frame.x.end - x < breadth(guide.label) + 6
        place = {"x": x - 5, "text_anchor": "end"} if before else {"x": x + 5}
        parts.append(axes.text(guide.label, y=frame.y.start - 6, class_="tick halo", **place))
    if guide.label and x is None and y is not None and not direct:
        parts.append(
            axes.text(guide.label, frame.x.end - 4, y - 5, class_="tick halo", text_anchor="end")
        )
    return tag("g", *parts)


def _point_label(guide: Guide, frame: Frame) -> Markup:
    """The point that a guide leads to, and its words: above and to the left, where a curve that
    rises is not.
    """
    x, y = frame.x.at(guide.x or 0.0), frame.y.at(guide.y or 0.0)
    before = x - frame.x.start > 9 + breadth(guide.label)
    place = {"x": x - 9, "y": y - 9, "text_anchor": "end"} if before else {"x": x + 9, "y": y + 18}
    dot = tag("circle", class_="dot", cx=x, cy=y, r=4) if guide.strong else ""
    words = axes.text(guide.label, class_="label strong halo", **place) if guide.label else ""
    return tag("g", dot, words)


def _curve(one: Plotted, frame: Frame, direct: bool) -> Iterator[Markup]:
    """A line with its band. Values that are not numbers are not drawn: the line is interrupted, the
    band where it has no edge.

    Single points are shown if asked for, of a curve that is one point, and where a colour is used
    again.
    """
    for members in _runs(
        [math.isfinite(low + high) for low, high in zip(one.low, one.high, strict=True)]
    ):
        around = _path(one, one.high, members, frame) + _path(one, one.low, members, frame)[::-1]
        yield tag("polygon", class_="band", points=points(around))
    known = _runs([not math.isnan(value) for value in one.y])
    for members in known:
        yield tag("polyline", class_="line", points=points(_path(one, one.y, members, frame)))
        if one.bold:
            own = [index for index in members if one.bold[0] <= one.x[index] <= one.bold[1]]
            yield tag("polyline", class_="line own", points=points(_path(one, one.y, own, frame)))
    every = [index for members in known for index in members]
    shown = (
        every
        if one.dots or len(every) == 1
        else every[:: max(1, len(every) // 8)]
        if _again(one)
        else []
    )
    for index in shown:
        place = {"cx": frame.x.at(one.x[index]), "cy": frame.y.at(one.y[index])}
        yield tag("circle", _told(one, index), class_="dot", r=2.5, **place)
    # Where it ends before the others do, a thin line leads on to its label.
    if direct and one.label and every and (x := frame.x.at(one.x[every[-1]])) < frame.x.end - 1:
        y = frame.y.at(one.y[every[-1]])
        yield tag("line", class_="rest", x1=x, x2=frame.x.end, y1=y, y2=y)


def _single(one: Plotted, bars: Sequence[Plotted], frame: Frame) -> Iterator[Markup]:
    """Points, or bars that start at 0 (or the edge that is nearest to it), side by side with those
    of other series.
    """
    step = _step(bars)
    wide = (
        abs(frame.x.at(one.x[0] + step / 2) - frame.x.at(one.x[0] - step / 2))
        * 0.8
        / max(len(bars), 1)
    )
    place = next((number for number, other in enumerate(bars) if other is one), 0)
    shift = (place - (len(bars) - 1) / 2) * wide if one.kind == BARS else 0.0
    ground = frame.y.at(0.0) if frame.y.kind == LINEAR else frame.y.start
    for index, value in enumerate(one.y):
        if math.isnan(value):
            continue
        x, y = frame.x.at(one.x[index]) + shift, frame.y.at(value)
        if one.kind == BARS:
            box = {
                "x": x - wide / 2 + 0.5,
                "y": min(y, ground),
                "width": wide - 1,
                "height": abs(y - ground),
            }
            yield tag("rect", _told(one, index), class_="dot bar", **box)
        if len(one.low) and math.isfinite(one.low[index] + one.high[index]):
            ends = frame.y.at(one.low[index]), frame.y.at(one.high[index])
            yield tag("line", class_="whisker", x1=x, x2=x, y1=ends[0], y2=ends[1])
        if one.kind == POINTS:
            yield tag("circle", _told(one, index), class_="dot", cx=x, cy=y, r=3.5)


def _point_names(panel: Panel, frame: Frame, letters: int) -> Iterator[Markup]:
    """The names of points, each as near as it covers neither a point nor another name, with a line
    where it is pushed away; one without room has its name under the pointer only.
    """
    found = [
        (frame.x.at(x), frame.y.at(y), name, one.mark)
        for one in panel.series
        if one.kind == POINTS and len(one.names)
        for x, y, name in zip(one.x, one.y, one.names, strict=True)
    ]
    taken = [(x - 4.0, y - 4.0, x + 4.0, y + 4.0) for x, y, *_ in found]
    labels = shortened([visible(name) for _, _, name, _ in found], letters)
    for (x, y, name, mark), label in zip(found, labels, strict=True):
        boxes = _near(x, y, breadth(label), frame)
        box = next((one for one in boxes if not any(_meet(one, other) for other in taken)), None)
        if box is None:
            continue
        taken.append(box)
        left, middle = box[0], (box[1] + box[3]) / 2
        edge = left if left > x else box[2]
        line = (
            tag("line", class_="leader", x1=x, y1=y, x2=edge, y2=middle)
            if abs(middle - y) > 13
            else ""
        )
        words = axes.text(label, left, middle + 4, class_="label halo")
        yield tag("g", tag("title", name), line, words, class_=mark_class(mark))


def _near(x: float, y: float, wide: float, frame: Frame) -> Iterator[_Box]:
    """Boxes for a name around a point, the nearest first, within the frame."""
    for far in range(0, 150, 12):
        for middle in dict.fromkeys((y - far, y + far)):
            for left in (x + 8 + far / 4, x - 8 - far / 4 - wide):
                inside = frame.x.start <= left and left + wide <= frame.x.end + 14
                if inside and frame.y.end + 4 <= middle <= frame.y.start - 8:
                    yield left, middle - 7, left + wide, middle + 7


_Box = tuple[float, float, float, float]


def _meet(one: _Box, other: _Box) -> bool:
    """Whether two boxes share anything."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _told(one: Plotted, index: int) -> Markup:
    return tag("title", one.tells[index]) if len(one.tells) else Markup("")


def _again(one: Plotted) -> bool:
    """Whether its colour is another's too."""
    return "again" in mark_class(one.mark)


def _step(bars: Sequence[Plotted]) -> float:
    """The distance of two neighbouring bars."""
    places = sorted({value for one in bars for value in one.x})
    return min((after - before for before, after in pairwise(places)), default=1.0)


def _runs(known: Sequence[bool]) -> list[list[int]]:
    """The numbers of neighbours that are all known."""
    groups = groupby(range(len(known)), key=known.__getitem__)
    return [list(members) for is_known, members in groups if is_known]


def _path(
    one: Plotted, values: Sequence[float], members: Sequence[int], frame: Frame
) -> list[tuple[float, float]]:
    """Some of the values in pixels; of steps, each is held until the next."""
    places = (
        frame.x.along(one.x[index] for index in members),
        frame.y.along(values[index] for index in members),
    )
    line = list(zip(*places, strict=True))
    if one.kind != STEP or not line:
        return line
    return [
        corner for before, after in pairwise(line) for corner in (before, (after[0], before[1]))
    ] + line[-1:]


def _last(values: Sequence[float]) -> float:
    return next((value for value in reversed(values) if not math.isnan(value)), 0.0)
