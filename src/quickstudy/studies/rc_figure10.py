"""A field along a line against time."""

from __future__ import annotations

import numpy as np

from quickstudy.base.blocks import Block, HeatMap
from quickstudy.base.registries import block
from quickstudy.base.study import StudyRow
from quickstudy.base.text import named
from quickstudy.pages.study_request import Request
from quickstudy.pages.systems import Drawn, task_of
from quickstudy.tasks.dynamics.series import Floats

CELLS = 250
"""Of a field, along its time."""


@block("space-time", version=1)
class SpaceTime(Drawn):
    """A field along a line against time, as a map of its values. Settings: `duration`, in time
    units.
    """

    def blocks(self, request: Request) -> list[Block]:
        """A picture a row."""
        made: list[Block] = []
        duration = float(request.study.settings.get("duration", 250))
        for row in request.rows:
            task, rng = task_of(request, row)
            values = task.values(rng, round(duration / task.step))[0]  # (time, place)
            made.append(_field(request, row, values, task.size, duration))
        return made


def _field(
    request: Request, row: StudyRow, values: Floats, size: float, duration: float
) -> HeatMap:
    times = np.linspace(0, len(values) - 1, min(CELLS, len(values))).astype(int)
    places = values.shape[1]
    said = f"{row.label}: y over a ring of length {size:g} and {duration:g} time units"
    # A name at about every tenth of either side.
    across = [
        f"{duration * time / len(values):.0f}" if number % (CELLS // 10) == 0 else ""
        for number, time in enumerate(times)
    ]
    along = [
        f"x = {size * place / places:.0f}" if place % max(1, places // 8) == 0 else ""
        for place in range(places)
    ]
    return HeatMap(
        name=f"{request.name}-{named(row.label)}-map",
        caption=f"{said}; time from left to right.",
        label=f"{said}: from {values.min():.2f} to {values.max():.2f}.",
        rows=along,
        columns=across,
        values=values[times].T.tolist(),
        low="y",
        high="",
        fine=True,
    )
