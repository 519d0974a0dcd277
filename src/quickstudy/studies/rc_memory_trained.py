"""Memory by delay, before and after training."""

from __future__ import annotations

from quickstudy.base.blocks import Axis, Block, Mark, Panel, Plot, Plotted
from quickstudy.base.registries import block
from quickstudy.figures.properties import counted, mean_of
from quickstudy.pages.study_request import Request


@block("memory-curves", version=1)
class MemoryCurves:
    """Memory by delay of every learner of a study, a panel a row. Runs are those that another block
    asks for.
    """

    def blocks(self, request: Request) -> list[Block]:
        """One picture."""
        panels = []
        for row in request.rows:
            series = []
            for number, column in enumerate(request.columns):
                traces = request.traces(row, row.learner(column, request.convention)).values()
                if traces:
                    values = mean_of([trace.arrays["memory"] for trace in traces])
                    series.append(
                        Plotted(column, Mark(number=number), counted(values), values.tolist())
                    )
            panels.append(Panel(series, row.label))
        return [
            Plot(
                name=f"{request.name}-delays",
                caption=(
                    "How much of the input of some steps ago can be read off the states, mean of"
                    " the runs."
                ),
                label=f"Memory by delay: {', '.join(panel.title for panel in panels)}.",
                x=Axis("delay, steps"),
                y=Axis("squared correlation", range=(0.0, 1.0)),
                panels=panels,
                direct=False,
            )
        ]
