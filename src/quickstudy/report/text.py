"""The report in a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from quickstudy.base.measure import Score
from quickstudy.report.model import CONTROL, LEARNING, REPLAY, Change, ReportData, Row, TaskTable
from quickstudy.report.numbers import COST_TITLES, contrast, cost, interval_of, plus_minus, shown, written
from quickstudy.report.verdict import clear_winner, remarks, verdict

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

ARROWS = {"higher": "↑", "lower": "↓"}
_COSTS = ("trained_parameters", "examples", "learn_seconds", "compile_seconds")
_PLAIN_WIDTH = 240
"""Columns of the text that goes to a file or a pipe: wide enough to keep a learner on one line."""


def show(data: ReportData, console: Console) -> None:
    """Print the tables. On a terminal that is too narrow for one, it goes on in another below."""
    for part in _parts(data, console.width):
        console.print(part)


def as_text(data: ReportData, width: int = _PLAIN_WIDTH) -> str:
    """The same as plain text, without colour."""
    from rich.console import Console

    target = io.StringIO()
    show(data, Console(file=target, width=width, force_terminal=False, no_color=True, emoji=False, highlight=False))
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def _parts(data: ReportData, width: int) -> Iterator[RenderableType]:
    from rich.text import Text

    for note in data.notes:
        yield Text(note, style="yellow")
    for table in data.tables:
        yield Text(f"{table.task}  ", style="bold").append(table.convention, style="not bold dim")
        yield from _blocks(table, _columns(table), width)
        yield Text(verdict(table))
        for line in _small_print(table):
            yield Text(line, style="dim")
        yield Text("")
    for change in data.changes:
        yield from _change(change)


def _columns(table: TaskTable) -> list[list[str]]:
    """The columns beside the learner's: each its heading, then one cell per row."""
    rows = table.rows
    columns = [["runs", *map(_runs, rows)]]
    for index, column in enumerate(table.columns):
        arrow = ARROWS.get(column.better, "")
        columns.append([f"{column.title} {arrow}".strip(), *(_cell(row, column) for row in rows)])
        if index == 0:
            columns.append(["scaled ↑", *(plus_minus(row.scaled.value, row.scaled.interval) for row in rows)])
    columns += [[COST_TITLES[name], *(cost(name, row.cost) for row in rows)] for name in _COSTS]
    return columns


def _blocks(table: TaskTable, columns: Sequence[list[str]], width: int) -> Iterator[Table]:
    """One table where the width allows it, else several below each other, each with the learners: no number is cut."""
    kept: list[list[str]] = []
    for column in columns:
        if kept and _width(_block(table, [*kept, column], width)) > width:
            yield _block(table, kept, width)
            kept = []
        kept.append(column)
    yield _block(table, kept, width)


def _block(table: TaskTable, columns: Sequence[list[str]], width: int) -> Table:
    made = _new_table()
    made.add_column("learner", no_wrap=True, overflow="ellipsis", max_width=max(12, min(44, width // 3)))
    for title, *_ in columns:
        made.add_column(title, justify="right", no_wrap=True)
    winners = [clear_winner(table, role) for role in LEARNING]
    roles = [row.role for row in table.rows]
    for index, row in enumerate(table.rows):
        style = "dim" if row.role == CONTROL else "bold" if row in winners else ""
        cells = [column[index + 1] for column in columns]
        made.add_row(_name(row), *cells, style=style, end_section=roles[index + 1 : index + 2] != [row.role])
    return made


def _name(row: Row) -> RenderableType:
    return _plain(row.learner + (" (replay)" if row.role == REPLAY else ""))


def _cell(row: Row, column: Score) -> str:
    found = row.scores.get(column.name)
    return plus_minus(shown(column, found), interval_of(column, found), column)


def _small_print(table: TaskTable) -> Iterator[str]:
    yield from remarks(table)
    for row in table.rows:
        counts: dict[tuple[str, str], int] = {}
        for run in row.unfinished:
            counts[run.status, run.reason] = counts.get((run.status, run.reason), 0) + 1
        for (status, reason), count in counts.items():
            yield f"{row.learner}: {count} {'run' if count == 1 else 'runs'} {status}: {reason or 'no reason given'}"


def _change(change: Change) -> Iterator[RenderableType]:
    from rich.text import Text

    first, last = change.conventions[0], change.conventions[-1]
    yield Text(f"{change.task}: what the convention changes", style="bold")
    made = _new_table()
    made.add_column("learner", no_wrap=True)
    made.add_column("score", no_wrap=True)
    for convention in change.conventions:
        made.add_column(_plain(convention), justify="right", no_wrap=True)
    made.add_column(_plain(f"{last} − {first}"), justify="right", no_wrap=True)
    for row in change.rows:
        style = "dim" if row.role == CONTROL else ""
        means = [written(row.score, mean) for mean in row.means]
        cells = [row.score.title, *means, contrast(row.difference, row.score)]
        made.add_row(_plain(row.learner), *cells, style=style)
    yield made
    yield Text("")


def _runs(row: Row) -> str:
    missing = len(row.unfinished)
    return f"{len(row.finished)}" + (f" ({missing} not)" if missing else "")


def _new_table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold")


def _width(table: Table) -> int:
    from rich.console import Console

    return Console(width=10_000).measure(table).maximum


def _plain(label: str) -> RenderableType:
    """A label as it is: brackets in it are no markup, and it is one line."""
    from rich.text import Text

    return Text(" ".join(label.split()))
