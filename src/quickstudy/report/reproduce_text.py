"""A reproduction for people: published | measured, cell by cell."""

from __future__ import annotations

from quickstudy.report.numbers import NOTHING
from quickstudy.report.reproduce import Reproduced, Reproduction


def reproduction_rows(found: Reproduction) -> list[tuple[str, ...]]:
    """The table as rows of text, the heading first. `=` marks a cell within the published spread, `≠` one outside."""
    heading = (found.study.id, *found.study.columns)
    rows = [(row, *(_cell(cells[column]) for column in found.study.columns)) for row, cells in found.cells.items()]
    return [heading, *rows]


def _cell(cell: Reproduced) -> str:
    published = f"{cell.published.value:.3f}" if cell.published else ""
    if cell.measured is None:
        return published or NOTHING
    half = (
        f" ±{(cell.high - cell.low) / 2:.3f}" if cell.n > 1 and cell.high is not None and cell.low is not None else ""
    )
    mark = "" if cell.within is None else " =" if cell.within else " ≠"
    return f"{published + ' | ' if published else ''}{cell.measured:.3f}{half}{mark}"
