"""The pictures of a card: its chart of spans, curves by difficulty and by data, and the
recall-tracking plane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from quickstudy.base.blocks import (
    CONTROL,
    LINEAR,
    LOG,
    POINTS,
    Axis,
    Guide,
    Mark,
    Panel,
    Plot,
    Plotted,
    Strip,
    Strips,
)
from quickstudy.pages.profile.norms import ItemNorms, Norms
from quickstudy.pages.profile.spans import Item, Profile, question_of
from quickstudy.pages.profile.words import family_line, short_words
from quickstudy.render.numbers import span_text
from quickstudy.stats.intervals import student_interval

RECALL, TRACKING = "lookup", ("s5", "parity")
"""The items of the recall-tracking plane: looking things up, and following a state, the harder one
if present.
"""
_NUMBERS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_ACROSS = 4
"""Small panels in a row."""


def norms_of(item: Item, norms: Norms | None) -> ItemNorms | None:
    """The norms of an item where they are of its version."""
    return norms.of(item) if norms else None


def chart(found: Profile, norms: Norms | None, name: str) -> Strips:
    """All spans, each on the axis of its item, with the reference learners, baselines and the
    oracle.
    """
    rows = []
    for family in found.families:
        for item in family.items:
            known = norms_of(item, norms)
            ticks = [(one.span or 0.0, who) for who, one in known.learners.items()] if known else []
            best = known.best_control[::-1] if known and known.best_control else None
            marks = [mark for mark in known.other_marks if mark != best] if known else []
            marks += [(spans.span or 0.0, f"person {who}") for who, spans in item.people.items()]
            rows.append(
                Strip(
                    item.task.unit,
                    item.spans.end,
                    item.spans.span,
                    item.spans.interval,
                    item.spans.ceiling,
                    ticks,
                    marks,
                    best,
                    family.name,
                    item.why or short_words(item, known),
                    item.label,
                )
            )
    caption = (
        f"Spans of {found.learner}: each axis is ln(1 + difficulty) of its item, in the item's own"
        " unit, so that the position of a dot is its share of the axis. Marks are the oracle, a"
        " rote memoriser and, where they were measured, an untrained network and people. A plus:"
        " the axis ends there. Point at a row, or move along it with the arrow keys, to read names"
        " and values."
    )
    words = f"One row per item with the span of {found.learner} among the reference learners"
    headings = {
        one.name: (one.name.capitalize(), question_of(one.name), family_line(one))
        for one in found.families
    }
    return Strips(name, caption, words, found.learner, rows, headings)


def curves(found: Profile, name: str) -> Plot:
    """Psychometric functions as small multiples: p by difficulty."""
    ticks = [(0.0, "0"), (0.5, ".5"), (1.0, "1")]
    return Plot(
        f"{name}-curves",
        "Psychometric functions: what is right at each difficulty, in the unit of the item; 0 is"
        " chance, 1 all. Mean over seeds with 95 % intervals. A vertical line: the largest"
        " difficulty in the lesson.",
        "One panel per item",
        Axis("difficulty", LOG),
        Axis("", LINEAR, (-0.12, 1.06), ticks),
        [_curve(item) for item in found.items if not item.why],
        direct=False,
        live=True,
        across=_ACROSS,
    )


def _curve(item: Item) -> Panel:
    values, grid = np.asarray(item.curves), list(map(float, item.task.grid))
    ends = (
        [student_interval(values[:, level]) for level in range(len(grid))]
        if len(values) > 1
        else []
    )
    low, high = ([float(end[side]) for end in ends] for side in (0, 1))
    guides = [Guide(x=float(item.taught))] if item.taught else []
    numbers = [(float(one), str(one)) for one in _NUMBERS if grid[0] <= one <= grid[-1]]
    axis = Axis(item.task.unit, LOG, (grid[0], grid[-1]), _thin(numbers))
    line = Plotted("", Mark(), grid, item.curve, low, high, dots=True)
    return Panel([line], item.label, guides, axis)


def _thin(numbers: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Every second number where there are many; the last one stays."""
    return [*numbers[::-2]][::-1] if len(numbers) > 5 else list(numbers)


def data(found: Profile, name: str) -> Plot:
    """Span against the number of training sequences, as small multiples."""
    panels = [_by_data(item) for item in found.items if item.data]
    end = max(item.spans.end for item in found.items if item.data)
    return Plot(
        f"{name}-data",
        "How soon: the span after fewer training sequences, each trained to its own end, with 95 % "
        "intervals over seeds",
        "One panel per item",
        Axis("training sequences", LOG),
        Axis("", LOG, (1.0, 1.1 * (end + 1)), _ticks(end)),
        panels,
        direct=False,
        across=_ACROSS,
    )


def _by_data(item: Item) -> Panel:
    whole = int(item.subject["protocol"]["parameters"]["sequences"])
    known = sorted({**item.data, whole: item.spans}.items())
    spans = [own.span or 0.0 for _, own in known]
    ends = [own.interval or (span, span) for (_, own), span in zip(known, spans, strict=True)]
    low, high = ([1 + end[side] for end in ends] for side in (0, 1))
    tells = [
        f"{size:,} sequences: {span_text(span)}"
        for (size, _), span in zip(known, spans, strict=True)
    ]
    sizes = [float(size) for size, _ in known]
    line = Plotted(
        "", Mark(), sizes, [1 + span for span in spans], low, high, dots=True, tells=tells
    )
    axis = Axis(
        "training sequences",
        LOG,
        (sizes[0] * 0.9, sizes[-1] * 1.1),
        [(size, f"{size:,.0f}") for size in sizes],
    )
    return Panel([line], item.label, x=axis)


def _ticks(end: float) -> list[tuple[float, str]]:
    return [(value + 1.0, str(value)) for value in _NUMBERS if value <= end]


def plane(found: Sequence[Profile], norms: Norms | None, name: str) -> Plot | None:
    """Looking up against following a state, every learner as a named point; None where an item is
    missing.

    found: learners of which the first has a whisker and gives the items.
    """
    items = {item.name: item for item in found[0].items if not item.why}
    tracking = next((one for one in TRACKING if one in items), "")
    if RECALL not in items or not tracking:
        return None
    axes = [items[RECALL], items[tracking]]
    series = list(_points(found, norms, axes))
    x, y = (
        Axis(one.task.unit, LOG, (0.93, one.spans.end * 1.4 + 1), _ticks(one.spans.end))
        for one in axes
    )
    units = f"{axes[0].task.unit}, and {axes[1].task.unit}"
    caption = (
        f"Recall against state tracking: {units}. Whisker: 95 % interval of {found[0].learner} in"
        " the latter."
    )
    words = "Every learner as a named point"
    rows = [
        (who, px - 1, py - 1)
        for one in series
        for who, px, py in zip(one.names, one.x, one.y, strict=True)
    ]
    heading = ("learner", axes[0].name, axes[1].name)
    return Plot(
        f"{name}-plane", caption, words, x, y, [Panel(series)], [heading, *rows], direct=False
    )


def _points(
    found: Sequence[Profile], norms: Norms | None, axes: Sequence[Item]
) -> Iterator[Plotted]:
    for number, one in enumerate(found):
        own = {item.name: item.spans for item in one.items if not item.why}
        if all(axis.name in own for axis in axes):
            x, y = ((own[axis.name].span or 0.0) + 1 for axis in axes)
            ends = own[axes[1].name].interval or (y - 1, y - 1)
            low, high = ([1 + end] for end in ends) if number == 0 else ([], [])
            tells = [f"{one.learner}: {span_text(x - 1)}, {span_text(y - 1)}"]
            yield Plotted(
                "" if number else one.learner,
                Mark(number=number),
                [x],
                [y],
                low,
                high,
                POINTS,
                tells=tells,
                names=[one.learner],
            )
    known = [norms_of(axis, norms) for axis in axes]
    if known[0] and known[1]:
        here = {one.learner for one in found}
        names = [who for who in known[0].learners if who in known[1].learners and who not in here]
        across, up = ([own.learners[who].span or 0.0 for who in names] for own in known if own)
        tells = [
            f"{who}: {span_text(x)}, {span_text(y)}"
            for who, x, y in zip(names, across, up, strict=True)
        ]
        ahead, above = ([1 + value for value in values] for values in (across, up))
        yield Plotted(
            "reference learners", Mark(CONTROL), ahead, above, kind=POINTS, tells=tells, names=names
        )
