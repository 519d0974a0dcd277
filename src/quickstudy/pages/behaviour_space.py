"""The behaviours of several searches next to each other, and the voxels that two of them share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quickstudy.base.blocks import (
    COUNT,
    LEARNER,
    Block,
    Cell,
    Made,
    Mark,
    Name,
    Number,
    Text,
    Traced,
    table,
)
from quickstudy.base.registries import block
from quickstudy.base.text import named
from quickstudy.figures.behaviours import behaviour_plots, task_map
from quickstudy.pages.study_request import Request
from quickstudy.report.words import counted as number_of


@block("behaviour-space", version=1)
class BehaviourSpace:
    """The behaviours of all columns of a study side by side, what two of them share, and the places
    of tasks.

    Runs are those that another block of the study asks for (`published`).
    """

    def blocks(self, request: Request) -> Made:
        """Pictures, a table of shared voxels, the map of tasks."""
        made: list[Block] = []
        facts: dict[str, object] = {}
        for row in request.rows:
            learners = [
                (column, row.learner(column, request.convention)) for column in request.columns
            ]
            rows = [
                Traced(column, LEARNER, Mark(number=number), traces)
                for number, (column, learner) in enumerate(learners)
                if (
                    traces := [
                        one
                        for one in request.traces(row, learner).values()
                        if one.kind == "behaviours"
                    ]
                )
            ]
            if not rows:
                made.append(Text(f"{row.label}: no run is finished, so there is nothing to show."))
                continue
            prefix = f"{request.name}-{named(row.label)}-"
            made += behaviour_plots(row.label, rows, prefix)
            if len(rows) > 1:
                both, facts["shared"] = _shared(rows, f"{prefix}shared")
                made.append(both)
            made += task_map(rows, prefix)
        return Made(made, facts)


def _shared(rows: Sequence[Traced], name: str) -> tuple[Block, dict[str, dict[str, int]]]:
    """Of every two learners, how many voxels each reaches in all its runs, and how many both do."""
    edge = max(trace.facts["voxel"] for row in rows for trace in row.traces)
    reached = {
        row.learner: {
            tuple(voxel)
            for trace in row.traces
            for voxel in np.round(trace.arrays["behaviour"] / edge).tolist()
        }
        for row in rows
    }
    found: dict[str, dict[str, int]] = {}
    lines: list[list[Cell]] = []
    for place, (one, own) in enumerate(reached.items()):
        for other, theirs in list(reached.items())[place + 1 :]:
            counts = {"first": len(own), "second": len(theirs), "both": len(own & theirs)}
            counts |= {"only first": len(own - theirs), "only second": len(theirs - own)}
            found[f"{one} and {other}"] = counts
            lines.append(
                [
                    Name(f"{one} and {other}"),
                    *(Number(count, form=COUNT) for count in counts.values()),
                ]
            )
    heading = (
        "two substrates",
        "the first",
        "the second",
        "both",
        "only the first",
        "only the second",
    )
    runs = number_of(len(rows[0].traces), "run")
    return table(
        name, f"Voxels of edge {edge:g} that are reached in {runs}.", heading, lines
    ), found
