"""The accuracy of every learner on every segment of a stream."""

from __future__ import annotations

import re

from quickstudy.base.blocks import Plot
from quickstudy.base.registries import block
from quickstudy.figures.learning_curve import stream_plot
from quickstudy.pages.study_request import Request


@block("segments", version=1)
class Segments:
    """The way of every learner through every stream: its accuracy on every segment, all along."""

    def blocks(self, request: Request) -> list[Plot]:
        """A picture for each learner and stream."""
        plots = []
        for row in request.rows:
            for column, learner in request.learners(row).items():
                traces = list(request.traces(row, learner).values())
                name = re.sub(r"\W+", "-", f"{request.name}-{row.label}-{column}".lower())
                runs = (
                    "accuracy of one run"
                    if len(traces) == 1
                    else f"mean accuracy of {len(traces):,} runs"
                )
                caption = f"{row.label}, {column}: {runs} on every segment, bold while learned."
                plots.append(stream_plot(traces, column, row.label, name, caption))
        return [plot for plot in plots if plot]
