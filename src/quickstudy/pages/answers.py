"""What learners answered next to the truth: along a series, running free, and against the length
of training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import (
    LEARNER,
    Axis,
    Block,
    Made,
    Mark,
    Panel,
    Plot,
    Plotted,
    Text,
    Traced,
)
from quickstudy.base.registries import block
from quickstudy.base.text import named
from quickstudy.figures.predictions import TRUE, driven_plot, free_plot
from quickstudy.measures.errors import nmse
from quickstudy.pages.study_request import Request, Stage

Floats = NDArray[np.float64]


@block("answers", version=1)
class Answers:
    """Answers of every learner of a study, of one run: along the test part, and in free runs; a
    closed curve in its plane.
    """

    def stages(self, request: Request) -> Iterator[Stage]:
        """One run of every learner on every task."""
        yield Stage(request.models(), 1)

    def blocks(self, request: Request) -> Made:
        """One or two pictures a row."""
        made: list[Block] = []
        facts: dict[str, dict[str, float]] = {}
        for row in request.rows:
            rows = []
            for number, column in enumerate(row.learners):
                traces = list(request.traces(row, row.learner(column, request.convention)).values())
                if traces:
                    rows.append(Traced(column, LEARNER, Mark(number=number), traces[:1]))
            if not rows:
                made.append(Text(f"{row.label}: no run is finished, so there is nothing to show."))
                continue
            name = f"{request.name}-{named(row.label)}"
            if rows[0].traces[0].facts.get("closed_curve"):
                made.append(_curves(row.label, rows, name))
            else:
                made.append(driven_plot(row.label, rows, name))
                free = [one for one in rows if "free_answer" in one.traces[0].arrays]
                made += [free_plot(row.label, free, f"{name}-free")] if free else []
            facts[row.label] = {
                one.learner: float(
                    np.sqrt(nmse(one.traces[0].arrays["answer"], one.traces[0].arrays["target"]))
                )
                for one in rows
            }
            said = ", ".join(f"{column} {error:.3g}" for column, error in facts[row.label].items())
            made.append(Text(f"{row.label}: NRMSE of this run {said}.", "remark"))
        return Made(made, facts)


def _curves(label: str, rows: Sequence[Traced], name: str) -> Plot:
    panels = []
    for row in rows:
        reached, target = (row.traces[0].arrays[key][0] for key in ("free_answer", "free_target"))
        own = Plotted(row.learner, row.mark, reached[:, 0].tolist(), reached[:, 1].tolist())
        true = Plotted("true curve", TRUE, target[:, 0].tolist(), target[:, 1].tolist())
        panels.append(Panel([own, true], row.learner))
    ends = [float(end) for end in 1.25 * np.abs(target).max(axis=0)]
    return Plot(
        name=name,
        caption=(
            f"{label}: {len(reached):,} points that a learner draws on its own answers, in one run."
        ),
        label=f"Free runs along the curve of {label}.",
        x=Axis("x", range=(-ends[0], ends[0])),
        y=Axis("y", range=(-ends[1], ends[1])),
        panels=panels,
        direct=False,
    )
