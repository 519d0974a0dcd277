"""Pictures of learning: the curves of all learners of a task, and how T(α) is read off one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quickstudy.base.blocks import CONTROL, ORACLE, ROLES
from quickstudy.report.curves import Curve
from quickstudy.report.markup import escape, tag
from quickstudy.report.model import LEARNING, ReportData, Row, TaskTable
from quickstudy.report.svg import Frame, axes, points, shorten, spread, text

COLOURS, DASHES = 6, 5
"""How many the style sheet has."""

Style = Mapping[tuple[str, str], str]
"""CSS class by (role, label)."""

_LETTER = 6.7
"""Width of a letter of a label in pixels, on the safe side."""


@dataclass(frozen=True)
class Format:
    """Size of a picture in pixels, and how many letters of a label fit beside it."""

    name: str
    width: int
    height: int
    letters: int


WIDE = Format("wide", 1040, 430, 26)
NARROW = Format("narrow", 400, 330, 15)


def styles(data: ReportData) -> Style:
    """The CSS class by role and label, the same in all pictures and tables of a report.

    `c1` .. `c6` by name for learners (`again` from the seventh on: the colours repeat, with dots), `control` and a
    dash for the rules that never learn, `oracle`.
    """
    names: dict[str, set[str]] = {role: set() for role in ROLES}
    for table in data.tables:
        for row in table.rows:
            names[row.role].add(row.learner)
    found = {(ORACLE, name): "oracle" for name in names[ORACLE]}
    for index, name in enumerate(sorted(names[CONTROL])):
        found[CONTROL, name] = f"control d{index % DASHES + 1}"
    learning = sorted((name, role) for role in LEARNING for name in names[role])
    for index, (name, role) in enumerate(learning):
        found[role, name] = f"c{index % COLOURS + 1}" + (" again" if index >= COLOURS else "")
    return found


def learning_curves(table: TaskTable, style: Style, form: Format, id: str) -> str:
    """All learning curves of a task, or nothing when no run left one. id: key of the curves in the embedded data."""
    # Drawn from the last row to the first, so that learners lie on top of controls, and the best on top of all.
    numbered = [pair for pair in enumerate(table.rows) if pair[1].curve and pair[1].curve.steps[-1] > 0][::-1]
    rows = [row for _, row in numbered]
    curves = [row.curve for row in rows if row.curve]
    if not curves:
        return ""
    labels = [shorten(row.learner, form.letters) for row in rows]
    margin = 34 + _LETTER * max(map(len, labels))
    frame = _frame(curves, form, margin)
    # The number of the row ties a drawn curve to its data.
    drawn = [
        tag("g", *_drawn(row, curve, frame), class_=f"curve {style[row.role, row.learner]}", data_row=number)
        for (number, row), curve in zip(numbered, curves, strict=True)
    ]
    return _picture(
        form,
        f"Learning curves on {table.task}: {curves[0].quantity} against {curves[0].unit}, {_ends(table)}.",
        axes(frame, f"training {curves[0].unit} (logarithmic)", curves[0].quantity),
        *drawn,
        _labels(rows, curves, labels, frame, style),
        tag("g", tag("line", y1=frame.top, y2=frame.top + frame.height), class_="cursor"),
        curves=id,
        frame=(frame.left, frame.top, frame.width, frame.height, frame.first, frame.last),
    )


def threshold_picture(row: Row, task: str, form: Format) -> str:
    """One run's learning curve, accuracies α as horizontals, and the step T(α) at which each is first reached."""
    if row.example is None or row.example.curve.steps[-1] <= 0:
        return ""
    curve = row.example.curve
    frame = _frame([curve], form, 74)
    bottom, right = frame.top + frame.height, frame.left + frame.width
    reached = list(zip(row.example.levels, row.example.times, strict=True))
    finite = [pair for pair in reached if math.isfinite(pair[1])]
    # The most telling one: the highest that took some learning to reach and is not the last of all.
    later = [pair for pair in finite if pair[1] > finite[0][1]]
    chosen = later[len(later) // 2] if later else finite[-1] if finite else None
    parts = [axes(frame, f"training {curve.unit} (logarithmic)", curve.quantity)]
    for level, step in reached:
        y = frame.y(level)
        kind = "chosen" if chosen and level == chosen[0] else "never" if math.isinf(step) else "level"
        x = right if math.isinf(step) else frame.x(step)
        parts.append(tag("line", class_=f"threshold {kind}", x1=frame.left, x2=x, y1=y, y2=y))
        if math.isinf(step):
            parts.append(text("T = ∞", right + 8, y + 4, class_="label"))
        else:
            parts.append(tag("line", class_=f"threshold {kind}", x1=x, x2=x, y1=y, y2=bottom))
    line = _path(curve, curve.mean, frame)
    # T is the step of an evaluation, not of the line between two: the evaluations are shown.
    evaluations = [tag("circle", class_="dot", cx=x, cy=y, r=2) for x, y in line]
    parts.append(tag("g", tag("polyline", class_="line", points=points(line)), *evaluations, class_="c1"))
    if chosen:
        x, y = frame.x(chosen[1]), frame.y(chosen[0])
        parts.append(tag("circle", class_="dot", cx=x, cy=y, r=4))
        content = f"T({chosen[0]:g}) = {chosen[1]:,g}"
        # Before it first reaches a height the curve is below it: above and to the left the label is never crossed.
        before = x - frame.left > 9 + _LETTER * len(content)
        place = {"x": x - 9, "y": y - 9, "text_anchor": "end"} if before else {"x": x + 9, "y": y + 18}
        parts.append(text(content, class_="label strong halo", **place))
    return _picture(form, f"How T(α) is read off a learning curve: {row.learner} on {task}, one run.", *parts)


def _picture(
    form: Format, label: str, *parts: str, curves: str | None = None, frame: Sequence[float] | None = None
) -> str:
    return tag(
        "svg",
        tag("title", escape(label)),
        *parts,
        class_=f"plot {form.name}",
        viewBox=f"0 0 {form.width} {form.height}",
        role="img",
        aria_label=label,
        data_curves=curves,
        data_frame=" ".join(f"{number:.6g}" for number in frame) if frame else None,
    )


def _frame(curves: Sequence[Curve], form: Format, margin: float) -> Frame:
    positive = [step for curve in curves for step in curve.steps if step > 0]
    first, last = min(positive), max(positive)
    if last <= first:
        last = first * 10
    return Frame(46.0, 30.0, form.width - 46.0 - margin, form.height - 30.0 - 50.0, first, last)


def _path(curve: Curve, values: Sequence[float], frame: Frame) -> list[tuple[float, float]]:
    return [(frame.x(step), frame.y(value)) for step, value in zip(curve.steps, values, strict=True) if step > 0]


def _drawn(row: Row, curve: Curve, frame: Frame) -> list[str]:
    line = _path(curve, curve.mean, frame)
    parts = [tag("title", escape(row.learner))]
    if curve.runs > 1:
        around = _path(curve, curve.high, frame) + _path(curve, curve.low, frame)[::-1]
        parts.append(tag("polygon", class_="band", points=points(around)))
    # A curve that ends before the others stands still there: its last value is carried to the edge, thinly.
    if line[-1][0] < frame.left + frame.width - 1:
        parts.append(
            tag("line", class_="rest", x1=line[-1][0], x2=frame.left + frame.width, y1=line[-1][1], y2=line[-1][1])
        )
    parts.append(tag("polyline", class_="line", points=points(line)))
    # Shown for a curve of one point, and where a colour is used again.
    kind = "dot" if len(line) == 1 else "dot mark"
    return parts + [tag("circle", class_=kind, cx=x, cy=y, r=2.5) for x, y in line[:: max(1, len(line) // 8)]]


def _labels(rows: Sequence[Row], curves: Sequence[Curve], labels: Sequence[str], frame: Frame, style: Style) -> str:
    edge = frame.left + frame.width
    ends = [frame.y(curve.mean[-1]) for curve in curves]
    places = spread(ends, 15, frame.top, frame.top + frame.height)
    parts = []
    for row, label, end, place in zip(rows, labels, ends, places, strict=True):
        leader = points([(edge + 2, end), (edge + 10, place), (edge + 20, place)])
        name = text(label, edge + 24, place + 4, class_="label")
        parts.append(
            tag(
                "g",
                tag("title", escape(row.learner)),
                tag("polyline", class_="leader", points=leader),
                name,
                class_=style[row.role, row.learner],
            )
        )
    return tag("g", *parts, class_="labels")


def _ends(table: TaskTable) -> str:
    """Where each curve ends, in words, for those who cannot see the picture."""
    ends = [f"{row.learner} ends at {row.curve.mean[-1]:.2f}" for row in table.rows if row.curve]
    return ", ".join(ends)
