"""What there is of the runs of a study: how many, where they lack, and their learning curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass

from quickstudy.base.blocks import Text
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.pages.request import Request
from quickstudy.report.curves import is_curve
from quickstudy.report.statistics import FEWEST
from quickstudy.report.words import span


@dataclass(frozen=True)
class Curves:
    """Learning curves by row label and column; a column without any has an empty list. damaged: what cannot be read."""

    cells: Mapping[str, Mapping[str, Sequence[Trace]]]
    damaged: Sequence[str]

    @classmethod
    def of(cls, request: Request) -> Curves:
        """All learning curves of a request; runs that left another kind of trace are left out."""
        damaged: list[str] = []
        found = request.found

        def load(record: Record) -> Trace | None:
            try:
                trace = found.trace(record)
            except QuickstudyError as error:
                damaged.append(str(error))
                return None
            return trace if is_curve(trace) else None

        cells = {
            row: {column: [one for record in runs.values() if (one := load(record))] for column, runs in known.items()}
            for row, known in request.cells().items()
        }
        return cls(cells, damaged)

    def remarks(self) -> list[Text]:
        """What is not there: cells without a run, cells with fewer than the others, traces that are damaged."""
        most = max((len(runs) for cells in self.cells.values() for runs in cells.values()), default=0)
        if not most:
            return [Text("No run of this study is finished: there is nothing to show.")]
        found = [
            Text(f"{title}: {'; '.join(places)}.")
            for title, places in (
                ("Without a finished run", self._places(lambda count: count == 0)),
                (f"Fewer than {most} finished runs", self._places(lambda count: 0 < count < most)),
            )
            if places
        ]
        return found + [Text(f"A curve is missing: {fault}") for fault in self.damaged]

    def _places(self, chosen: Callable[[int], bool]) -> list[str]:
        """Rows with the columns whose number of runs is chosen; a row alone stands for all its columns."""
        places = []
        for row, cells in self.cells.items():
            columns = [column for column, runs in cells.items() if chosen(len(runs))]
            if columns:
                places.append(row if len(columns) == len(cells) else f"{row} {', '.join(columns)}")
        return places


def counts(cells: Mapping[str, Mapping[str, Sized]], convention: str) -> str:
    """How many runs there are, whatever was asked for, and what so few of them cannot say.

    >>> counts({"task": {"a": [0] * 6, "b": [0] * 10, "c": []}}, "corrected")
    '6 to 10 runs a cell, convention corrected. 1 of 3 cells is empty.'
    """
    every = [len(runs) for columns in cells.values() for runs in columns.values()]
    there = [number for number in every if number]
    if not there:
        return f"No run is there yet, convention {convention}."
    lines = [f"{span(there)} {'run' if max(there) == 1 else 'runs'} a cell, convention {convention}."]
    empty = len(every) - len(there)
    if empty:
        lines.append(f"{empty:,} of {len(every):,} cells {'is' if empty == 1 else 'are'} empty.")
    if min(there) < FEWEST:
        lines.append(f"Fewer than {FEWEST} runs give no verdict, and an interval of so few says little.")
    return " ".join(lines)
