"""Charts of strips: one learner on many items, each on a logarithmic axis with its reference
learners as ticks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from quickstudy.base.blocks import Strip, Strips
from quickstudy.base.canonical import plain, spelled
from quickstudy.base.text import shortened, visible
from quickstudy.render import axes
from quickstudy.render.axes import NARROW, WIDE, Drawing, breadth
from quickstudy.render.markup import Markup, tag
from quickstudy.render.numbers import span_text

_NUMBERS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_LETTERS = 18
"""Of a name of a tick."""
_SMALL = 0.85
"""Width of a name of a tick, against a label of the usual size."""


@dataclass(frozen=True)
class _Form:
    """Pixels of a chart. left, right: margins of the axes. heading, row: heights; axis: of the axis
    in its row.

    names: how many ticks of a row have their name written.
    """

    sheet: axes.Form
    left: float
    right: float
    heading: float
    row: float
    axis: float
    names: int


_WIDE = _Form(WIDE, 190.0, 190.0, 46.0, 56.0, 27.0, 7)
_NARROW = _Form(NARROW, 10.0, 14.0, 58.0, 76.0, 48.0, 0)


def strips_drawings(block: Strips) -> list[Drawing]:
    """For a wide window the label is left of its strip, for a narrow one above it."""
    return [_drawing(block, form) for form in (_WIDE, _NARROW)]


def strips_rows(block: Strips) -> Iterator[Sequence[Any]]:
    """The numbers of a chart, the heading first."""
    yield "group", "item", "name", "kind", "value", "low", "high"
    for row in block.rows:
        low, high = row.interval or ("", "")
        yield (
            row.group,
            row.label,
            block.learner,
            "learner",
            "" if row.value is None else row.value,
            low,
            high,
        )
        best = [row.baseline] if row.baseline else []
        for kind, ticks in (("reference", row.ticks), ("baseline", best), ("mark", row.marks)):
            yield from ((row.group, row.label, name, kind, value, "", "") for value, name in ticks)


def strips_data(block: Strips) -> str:
    """What a pointer or the keyboard reads off every row, as JSON: share of the axis, name, value,
    kind.
    """
    return spelled(
        plain(
            [
                [
                    [round(_share(value, row.end), 4), name, text, kind]
                    for value, name, text, kind in sorted(_readings(row, block.learner))
                ]
                for row in block.rows
            ]
        )
    )


def _readings(row: Strip, learner: str) -> Iterator[tuple[float, str, str, str]]:
    if row.value is not None:
        interval = (
            f" [{span_text(row.interval[0])}, {span_text(row.interval[1])}]" if row.interval else ""
        )
        yield row.value, learner, span_text(row.value, row.over) + interval, "learner"
    if row.baseline:
        yield *row.baseline, span_text(row.baseline[0]), "best baseline"
    for kind, ticks in (("", row.ticks), ("mark", row.marks)):
        for value, name in ticks:
            yield value, name, span_text(value, value >= row.end), kind


def strips_text(block: Strips, width: int = 80) -> list[str]:
    """The chart in letters: a common axis, `●` the learner with its interval, `·` the numbers of
    the axis.
    """
    group_width = max((len(row.group) for row in block.rows), default=0)
    notes = min(max((len(row.note) for row in block.rows if row.value is not None), default=0), 24)
    cells = max(18, min(40, width - group_width - notes - 28))
    room = max(8, width - group_width - notes - cells - 5)
    labels = [
        row.label if len(row.label) <= room or not row.short else row.short for row in block.rows
    ]
    labels = shortened(labels, room)
    room = max(map(len, labels), default=0)
    end = max((row.end for row in block.rows), default=1.0)
    before = group_width + room + 3
    lines = [" " * before + _scale_text(end, cells)]
    group = ""
    for row, label in zip(block.rows, labels, strict=True):
        shown = "" if row.group == group else row.group
        group = row.group
        head = f"{shown:<{group_width}} {label:<{room}}  "
        if row.value is None:
            lines.append((head + _cut(f"no span: {row.note}", width - before)).rstrip())
        else:
            lines.append(f"{head}{_axis_text(row, end, cells):<{cells + 1}} {row.note}".rstrip())
    return lines


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _share(value: float, end: float) -> float:
    return math.log1p(max(0.0, min(value, end))) / math.log1p(end)


def _at(value: float, end: float, cells: int) -> int:
    return round(_share(value, end) * (cells - 1))


def _scale_text(end: float, cells: int) -> str:
    """As many numbers as have room, the ends first."""
    line = [" "] * (cells + 4)
    for value in (0, *[number for number in _NUMBERS if number <= end][:0:-1]):
        place = _at(value, end, cells)
        if all(letter == " " for letter in line[max(0, place - 1) : place + len(str(value)) + 1]):
            line[place : place + len(str(value))] = list(str(value))
    return "".join(line).rstrip()


def _axis_text(row: Strip, end: float, cells: int) -> str:
    """Dots at the numbers of the axis, the learner, its interval where it is wider than the dot,
    its value.
    """
    assert row.value is not None
    line = [" "] * cells
    for number in _NUMBERS:
        if number <= row.end:
            line[_at(number, end, cells)] = "·"
    place, text = _at(row.value, end, cells), span_text(row.value, row.over)
    low, high = (_at(value, end, cells) for value in row.interval or (row.value, row.value))
    line[low : high + 1] = "─" * (high + 1 - low)
    line[place] = "●"
    first = high + 1 if high + 1 + len(text) <= cells else low - len(text)
    line[max(0, first) : max(0, first) + len(text)] = text
    return "".join(line)


def _drawing(block: Strips, form: _Form) -> Drawing:
    parts, top = list(_legend(block, form)), 46.0 if form is _NARROW else 30.0
    for group, rows in groupby(block.rows, key=lambda row: row.group):
        if group:
            title, remark, number = block.headings.get(group, (group, "", ""))
            parts += _heading(title, remark, number, top, form)
            top += form.heading
        for row in rows:
            parts.append(_strip(row, top, form, block.learner))
            top += form.row
    return Drawing(block.label, form.sheet.width, top + 6, parts, form.sheet.name)


def _length(form: _Form) -> float:
    return form.sheet.width - form.left - form.right


def _legend(block: Strips, form: _Form) -> Iterator[Markup]:
    """What the shapes mean, in one line, or two where it is narrow."""
    x, y = 10.0, 14.0
    learner = shortened([visible(block.learner)], form.sheet.letters)[0]
    baseline = tag("rect", class_="rule", x=0, y=-5, width=18, height=8, rx=3)
    entries = [
        (f"{learner}, 95 % interval", tag("g", _bar(1, 19, -1), _dot(10, -1), class_="c1")),
        ("reference learner", tag("line", class_="reference", x1=9, x2=9, y1=-8, y2=6)),
        ("as far as the best baseline", baseline),
        ("other mark", _diamond(9, -1)),
    ]
    marked = any(row.marks for row in block.rows)
    for number, (words, key) in enumerate(entries if marked else entries[:-1]):
        if form is _NARROW and number == 2:
            x, y = 10.0, 32.0
        yield tag(
            "g",
            key,
            axes.text(words, 24, 3, class_="tick"),
            transform=f"translate({x:.0f} {y:.0f})",
        )
        x += 48 + breadth(words) * _SMALL


def _heading(title: str, remark: str, number: str, top: float, form: _Form) -> Iterator[Markup]:
    edge, y, narrow = form.sheet.width - 10, top + 26, form is _NARROW
    number = _fit(number, form.right - 24 if not narrow else form.sheet.width * 0.6)
    yield tag("line", class_="grid", x1=10, x2=edge, y1=top + 6, y2=top + 6)
    yield axes.text(
        _fit(title, form.left - 20 if not narrow else 130), 10, y, class_="label strong"
    )
    if narrow:
        yield axes.text(_fit(remark, edge), 10, y + 16, class_="tick")
        yield axes.text(number, edge, y, class_="label", text_anchor="end")
    else:
        yield axes.text(_fit(remark, _length(form)), form.left, y, class_="title")
        yield axes.text(number, form.left + _length(form) + 24, y, class_="label")


def _fit(words: str, width: float) -> str:
    return axes.fitting([words], width)[0]


def _strip(row: Strip, top: float, form: _Form, learner: str) -> Markup:
    """One row; it takes the focus, and a pointer or the arrow keys read it off."""
    left, y = form.left, top + form.axis
    parts = [*_track(row, y, form), *_words(row, top, y, form)]
    if row.value is not None:
        low, high = (_x(value, row, form) for value in row.interval or (row.value, row.value))
        x = _x(row.value, row, form)
        parts.append(tag("g", _bar(low, high, y), _dot(x, y), class_="c1"))
    area = {"x": left - 8, "y": top, "width": _length(form) + 16, "height": form.row}
    parts += [tag("g", class_="cursor"), tag("rect", class_="touch", **area)]
    told = "; ".join(
        f"{name} {text}" for _, name, text, _ in sorted(_readings(row, learner), reverse=True)
    )
    return tag(
        "g",
        *parts,
        class_="strip",
        aria_label=f"{row.label}: {told or row.note}",
        role="img",
        data_frame=f"{left:.1f} {y:.1f} {_length(form):.1f}",
    )


def _x(value: float, row: Strip, form: _Form) -> float:
    return form.left + _length(form) * _share(value, row.end)


def _track(row: Strip, y: float, form: _Form) -> Iterator[Markup]:
    """The axis with its numbers, the baseline's part of it, the reference learners and the other
    marks.
    """
    left, right = form.left, form.left + _length(form)
    yield tag("rect", class_="track", x=left, y=y - 4, width=right - left, height=8, rx=4)
    if row.baseline and (x := _x(row.baseline[0], row, form)) > left + 1:
        yield tag("rect", class_="rule", x=left, y=y - 4, width=x - left, height=8, rx=4)
    last = -99.0
    for number in (row.end, *[one for one in _NUMBERS if one < row.end]):
        x = _x(number, row, form)
        if number != row.end and (right - x < 9 * len(f"{row.end:.0f}") or x - last < 16):
            continue
        last = last if number == row.end else x
        anchor = "start" if number == 0 else "end" if number == row.end else "middle"
        yield axes.text(f"{number:.0f}", x, y + 20, class_="tick faint", text_anchor=anchor)
    for value, _ in row.ticks:
        x = _x(value, row, form)
        yield tag("line", class_="reference", x1=x, x2=x, y1=y - 7, y2=y + 7)
    for value, _ in row.marks:
        yield _diamond(_x(value, row, form), y)


def _bar(low: float, high: float, y: float) -> Markup:
    return tag("line", class_="line interval", x1=low, x2=max(high, low + 0.5), y1=y, y2=y)


def _dot(x: float, y: float) -> Markup:
    return tag("circle", class_="dot ringed", cx=float(x), cy=float(y), r=6.5)


def _diamond(x: float, y: float) -> Markup:
    corners = [(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)]
    return tag("polygon", class_="diamond", points=axes.points(corners))


def _words(row: Strip, top: float, y: float, form: _Form) -> Iterator[Markup]:
    """The label, the value with its note, and the names of a few ticks."""
    value = "no span" if row.value is None else span_text(row.value, row.over)
    if form is _NARROW:
        yield axes.text(_fit(row.label, _length(form) - 70), form.left, top + 14, class_="label")
        yield axes.text(
            value, form.sheet.width - form.right, top + 14, class_="label strong", text_anchor="end"
        )
        yield axes.text(_fit(row.note, _length(form)), form.left, top + 29, class_="tick")
    else:
        yield axes.text(_fit(row.label, form.left - 24), 10, y + 4, class_="label")
        edge = form.left + _length(form) + 24
        value_class = "label strong" if row.value is not None else "tick"
        yield axes.text(value, edge, y - 1, class_=f"{value_class} large")
        yield tag(
            "g",
            tag("title", row.note),
            axes.text(_fit(row.note, form.right - 28), edge, y + 15, class_="tick"),
        )
    for x, name, kind in _named(row, form):
        yield axes.text(name, x, y - 13, class_=f"tick {kind}".strip(), text_anchor="middle")


def _named(row: Strip, form: _Form) -> Iterator[tuple[float, str, str]]:
    """Names with room above the axis: the baseline, the neighbours of the learner, the ends, then
    the others.
    """
    ticks = sorted(row.ticks)
    below = [tick for tick in ticks if row.value is not None and tick[0] <= row.value]
    above = [tick for tick in ticks if tick not in below]
    order = [*below[-1:], *above[:1], *ticks[-1:], *ticks[:1], *_halved(ticks)]
    first = [(*row.baseline, "baseline")] if row.baseline else []
    wanted = [*first, *((value, name, "") for value, name in order)]
    right, placed = form.left + _length(form), list[tuple[float, float]]()
    labels = shortened([visible(name) for _, name, _ in wanted], _LETTERS)
    for (value, _, kind), name in zip(wanted, labels, strict=True):
        half = breadth(name) * _SMALL / 2
        x = min(max(_x(value, row, form), form.left + half - 8), right - half + 8)
        if len(placed) < form.names and all(
            abs(x - other) > half + width + 6 for other, width in placed
        ):
            placed.append((x, half))
            yield x, name, kind


def _halved(ticks: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """The middle one, then the middles of both halves, and so on: a few of them are spread over
    all.
    """
    if not ticks:
        return []
    middle = len(ticks) // 2
    lower, upper = _halved(ticks[:middle]), _halved(ticks[middle + 1 :])
    mixed = [one for pair in zip(lower, upper, strict=False) for one in pair]
    rest = max(lower, upper, key=len)[min(len(lower), len(upper)) :]
    return [ticks[middle], *mixed, *rest]
