"""The finished runs of a study, with their learning curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.report.learning import is_curve
from quickstudy.report.reproduce import runs_of
from quickstudy.report.study.order import Order
from quickstudy.report.study.page import Paragraph
from quickstudy.runs.traces import load_trace


@dataclass(frozen=True)
class Curves:
    """Learning curves by row label and column; a column without any has an empty list. damaged: what cannot be read."""

    cells: Mapping[str, Mapping[str, Sequence[Trace]]]
    damaged: Sequence[str]

    def remarks(self) -> list[Paragraph]:
        """What is not there: cells without a run, cells with fewer than the others, traces that are damaged."""
        most = max((len(runs) for cells in self.cells.values() for runs in cells.values()), default=0)
        if not most:
            return [Paragraph("No run of this study is finished: there is nothing to show.")]
        found = [
            Paragraph(f"{title}: {'; '.join(places)}.")
            for title, places in (
                ("Without a finished run", self._places(lambda count: count == 0)),
                (f"Fewer than {most} finished runs", self._places(lambda count: 0 < count < most)),
            )
            if places
        ]
        return found + [Paragraph(f"A curve is missing: {fault}") for fault in self.damaged]

    def _places(self, chosen: Callable[[int], bool]) -> list[str]:
        """Rows with the columns whose number of runs is chosen; a row alone stands for all its columns."""
        places = []
        for row, cells in self.cells.items():
            columns = [column for column, runs in cells.items() if chosen(len(runs))]
            if columns:
                places.append(row if len(columns) == len(cells) else f"{row} {', '.join(columns)}")
        return places


def curves_of(order: Order) -> Curves:
    """All learning curves of an order; runs that left another kind of trace are left out."""
    damaged: list[str] = []

    def load(record: Record) -> Trace | None:
        try:
            trace = load_trace(order.folder, record)
        except QuickstudyError as error:
            damaged.append(str(error))
            return None
        return trace if is_curve(trace) else None

    runs = runs_of(order.study, order.folder, order.convention, order.protocol, order.root)
    cells = {
        row: {column: [trace for record in found if (trace := load(record))] for column, found in columns.items()}
        for row, columns in runs.items()
    }
    return Curves(cells, damaged)
