"""Points and paths in a space of three axes, seen from one side; a script of the page
turns them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from quickstudy.base.blocks import (
    COUNT,
    LINE,
    MAGNITUDE,
    Cloud,
    Column,
    Group,
    Line,
    Name,
    Number,
    Table,
    Volume,
)
from quickstudy.base.canonical import plain, spelled
from quickstudy.render.axes import (
    NARROW,
    WIDE,
    Drawing,
    Form,
    breadth,
    fitting,
    mark_class,
    points,
    text,
)
from quickstudy.render.markup import Markup, tag
from quickstudy.render.numbers import magnitude

Place = tuple[float, float, float]

TURNED, RAISED = -55.0, 22.0
"""Degrees from where the space is seen at first: around the third axis, and up."""
CORNERS: list[Place] = [(x, y, z) for x, y, z in product((0.0, 1.0), repeat=3)]
EDGES = [
    (one, other)
    for one in CORNERS
    for other in CORNERS
    if one < other and math.dist(one, other) == 1
]
NAMED: tuple[Place, ...] = (0.5, -0.1, -0.22), (1.1, 0.5, -0.1), (0.0, 0.0, 1.1)
"""Where the names of the axes stand, just outside of the unit cube."""
_REACH = 0.92
"""How far from its middle the cube and its names reach, however it is turned."""
_ENTRY, _TITLE = 17.0, 24.0


def seen(place: Place, turned: float = TURNED, raised: float = RAISED) -> Place:
    """How a point of the unit cube lies for an eye that looks at its middle, all parallel: to the
    right, up, and near.

    The third axis points up; the first goes to the right and towards the eye, the second to the
    right and away.

    >>> [round(high - low, 3) for low, high in zip(seen((0.5, 0.5, 0.0)), seen((0.5, 0.5, 1.0)))]
    [0.0, 0.927, 0.375]
    """
    x, y, z = (value - 0.5 for value in place)
    turn, rise = math.radians(turned), math.radians(raised)
    away = math.sin(turn) * x + math.cos(turn) * y
    right = math.cos(turn) * x - math.sin(turn) * y
    return (
        right,
        math.cos(rise) * z + math.sin(rise) * away,
        math.sin(rise) * z - math.cos(rise) * away,
    )


def volume_drawings(space: Volume) -> list[Drawing]:
    """For a wide window, panels side by side, and for a narrow one, below each other."""
    return [_sheet(space, form) for form in (WIDE, NARROW)]


def volume_data(space: Volume) -> str:
    """Where everything lies in the unit cube, as JSON, in the order in which it is drawn."""
    ends = _ends(space)
    panels = [
        [
            [[round(value, 4) for value in place] for place in _inside(cloud, ends)]
            for cloud in clouds
        ]
        for _, clouds in space.panels
    ]
    view = {"turned": TURNED, "raised": RAISED, "names": NAMED, "edges": EDGES}
    return spelled(plain({**view, "panels": panels}))


def volume_rows(space: Volume) -> Iterator[Sequence[Any]]:
    """All points, for a program."""
    yield "panel", "series", *space.axes
    for title, clouds in space.panels:
        for cloud in clouds:
            yield from ((title, cloud.label, *place) for place in cloud.points)


def volume_table(space: Volume) -> Table:
    """What a space holds, in numbers: for those who cannot see it."""
    lines = []
    for title, clouds in space.panels:
        for cloud in (one for one in clouds if len(one.points)):
            cells = []
            for values in zip(*cloud.points, strict=True):
                middle = math.fsum(values) / len(values)
                cells.append(
                    Number(
                        middle,
                        form=MAGNITUDE,
                        note=f"{magnitude(min(values))} to {magnitude(max(values))}",
                    )
                )
            name = ", ".join(filter(None, (title, cloud.label)))
            lines.append(
                Line([Name(name, cloud.mark), Number(len(cloud.points), form=COUNT), *cells])
            )
    columns = [
        Column("series", numeric=False),
        Column("points"),
        *(Column(axis, note="mean") for axis in space.axes),
    ]
    return Table(
        "", "The same in numbers: means, with the least and the greatest.", columns, [Group(lines)]
    )


def _ends(space: Volume) -> list[tuple[float, float]]:
    """Least and greatest value of each axis."""
    every = [place for _, clouds in space.panels for cloud in clouds for place in cloud.points]
    return [(min(values), max(values)) for values in zip(*every, strict=True)] or [(0.0, 1.0)] * 3


def _inside(cloud: Cloud, ends: Sequence[tuple[float, float]]) -> Iterator[Place]:
    """The points in the unit cube."""
    for place in cloud.points:
        x, y, z = (
            (value - low) / ((high - low) or 1.0)
            for value, (low, high) in zip(place, ends, strict=True)
        )
        yield x, y, z


def _sheet(space: Volume, form: Form) -> Drawing:
    columns = 2 if form is WIDE and len(space.panels) > 1 else 1
    width = form.width / columns
    side = min(width, 460.0 if columns > 1 else 560.0)
    ends, parts, top = _ends(space), [], 4.0
    for first in range(0, len(space.panels), columns):
        row = space.panels[first : first + columns]
        head = max((_TITLE if title else 0.0) + _ENTRY * len(clouds) + 8 for title, clouds in row)
        for column, (title, clouds) in enumerate(row):
            middle = column * width + max(side, min(width, 640.0)) / 2, top + head + side / 2
            heading = _heading(title, clouds, column * width, top, width)
            parts.append(
                tag("g", *heading, _panel(clouds, space.axes, ends, middle, side / 2 / _REACH))
            )
        top += head + side + 12
    return Drawing(space.label, form.width, top, parts, form.name)


def _heading(
    title: str, clouds: Sequence[Cloud], left: float, top: float, width: float
) -> Iterator[Markup]:
    if title:
        yield text(fitting([title], width)[0], left, top + 15, class_="label strong")
        top += _TITLE
    labels = fitting([cloud.label for cloud in clouds], width - 24)
    for number, (cloud, label) in enumerate(zip(clouds, labels, strict=True)):
        y = top + _ENTRY * number + 9
        key = tag("rect", class_="dot", x=left, y=y - 9, width=10, height=10)
        yield tag(
            "g", key, text(label, left + 16, y, class_="label entry"), class_=mark_class(cloud.mark)
        )


def _panel(
    clouds: Sequence[Cloud],
    axes: Sequence[str],
    ends: Sequence[tuple[float, float]],
    middle: tuple[float, float],
    scale: float,
) -> Markup:
    """The cube, what lies in it, and the names of its axes: in this order, which the script relies
    on.
    """

    def at(place: Place) -> tuple[float, float]:
        right, up, _ = seen(place)
        return middle[0] + scale * right, middle[1] - scale * up

    edges = []
    for one, other in EDGES:
        (x1, y1), (x2, y2) = at(one), at(other)
        edges.append(tag("line", class_="cube", x1=x1, y1=y1, x2=x2, y2=y2))
    groups = []
    for cloud in clouds:
        inside = list(_inside(cloud, ends))
        if cloud.kind == LINE:
            shapes = [
                tag("polyline", class_="line thin", points=points([at(place) for place in inside]))
            ]
        else:
            shapes = [
                tag(
                    "circle", class_="dot", cx=at(place)[0], cy=at(place)[1], r=near(seen(place)[2])
                )
                for place in inside
            ]
        groups.append(
            tag("g", tag("title", cloud.label), *shapes, class_=f"cloud {mark_class(cloud.mark)}")
        )
    names = []
    for axis, (low, high), place in zip(axes, ends, NAMED, strict=True):
        x, y = at(place)
        words = f"{axis} {magnitude(low)} to {magnitude(high)}"
        half = breadth(words) / 2
        names.append(text(words, max(x, half), y + 4, class_="tick halo", text_anchor="middle"))
    where = f"{middle[0]:.1f} {middle[1]:.1f} {scale:.1f}"
    return tag("g", *edges, *groups, *names, class_="space", data_space=where)


def near(depth: float) -> float:
    """The radius of a point: nearer ones are larger."""
    return 2.6 + 1.2 * depth
