"""Points and paths in a space of three axes, looked at from one side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import LINE, ORACLE, Axis, Mark, Panel, Plot, Plotted

Floats = NDArray[np.float64]

TURNED, RAISED = np.deg2rad(-55.0), np.deg2rad(22.0)
"""Where the space is seen from: around the third axis, and up."""
EDGES = tuple((place, axis) for place in product((0, 1), repeat=3) for axis in range(3) if not place[axis])
"""Of a cube, each by its lower corner and the axis it lies along."""


@dataclass(frozen=True)
class Cloud:
    """What is drawn of one kind: points or a path (point, 3), in the units of the axes. tells: of each point."""

    label: str
    mark: Mark
    points: Floats
    kind: str = LINE
    tells: Sequence[str] = ()


def seen(points: Floats) -> Floats:
    """(point, 2): how points of the unit cube lie for an eye that looks at its middle, all parallel.

    The third axis points up; the first goes to the right and away.

    >>> np.round(np.diff(seen(np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 1.0]])), axis=0), 3).tolist()
    [[0.0, 0.927]]
    """
    x, y, z = (np.asarray(points, dtype=np.float64) - 0.5).T
    right, away = np.cos(TURNED) * x - np.sin(TURNED) * y, np.sin(TURNED) * x + np.cos(TURNED) * y
    return np.column_stack([right, np.cos(RAISED) * z + np.sin(RAISED) * away])


def space_plot(
    name: str, caption: str, label: str, axes: Sequence[str], panels: Sequence[tuple[str, Sequence[Cloud]]]
) -> Plot:
    """A plot of three axes: panels of clouds in one cube, whose edges say where it begins and ends."""
    everything = np.concatenate([cloud.points for _, clouds in panels for cloud in clouds])
    low, high = everything.min(axis=0), everything.max(axis=0)
    wide = np.where(high > low, high - low, 1.0)
    corners = np.array([[*place] for place in product((0.0, 1.0), repeat=3)])
    reach = np.abs(seen(corners)).max(axis=0) * 1.08
    drawn = []
    for title, clouds in panels:
        series = []
        for cloud in clouds:
            x, y = seen((cloud.points - low) / wide).T
            series.append(Plotted(cloud.label, cloud.mark, x.tolist(), y.tolist(), kind=cloud.kind, tells=cloud.tells))
        drawn.append(Panel([*series, *_cube()], title))
    ends = "; ".join(f"{axis} {start:.4g} to {end:.4g}" for axis, start, end in zip(axes, low, high, strict=True))
    ways = zip(axes, ("from the left to the right", "into the depth", "upwards"), strict=True)
    said = ", ".join(f"{axis} {way}" for axis, way in ways)
    return Plot(
        name=name,
        caption=f"{caption} {said[0].upper()}{said[1:]}: {ends}.",
        label=label,
        x=Axis("", range=(-float(reach[0]), float(reach[0])), ticks=((-9.0, ""),)),
        y=Axis("", range=(-float(reach[1]), float(reach[1])), ticks=((-9.0, ""),)),
        panels=drawn,
        data=[("panel", "series", *axes), *_rows(panels)],
        direct=False,
    )


def _rows(panels: Sequence[tuple[str, Sequence[Cloud]]]) -> Iterator[tuple[str | float, ...]]:
    for title, clouds in panels:
        for cloud in clouds:
            yield from ((title, cloud.label, *row) for row in cloud.points.tolist())


def _cube() -> list[Plotted]:
    """The edges, as one line that is broken between them."""
    path: list[Floats] = []
    for place, axis in EDGES:
        start = np.array(place, dtype=np.float64)
        end = start.copy()
        end[axis] = 1.0
        path += [*seen(np.array([start, end])), np.array([np.nan, np.nan])]
    x, y = np.array(path).T
    return [Plotted("", Mark(ORACLE), np.nan_to_num(x).tolist(), y.tolist())]
