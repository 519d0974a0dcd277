"""The report in a terminal."""

from __future__ import annotations

import io
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from quickstudy.base.measure import Score
from quickstudy.base.wording import shortened, visible
from quickstudy.report.model import CONTROL, LEARNING, ORACLE, REPLAY, ROLES, Change, ReportData, Row, TaskTable
from quickstudy.report.numbers import COST_TITLES, NOTHING, contrast, cost, interval_of, plus_minus, shown, written
from quickstudy.report.verdict import clear_winner, remarks, verdict

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

ARROWS = {"higher": "↑", "lower": "↓"}
_COSTS = ("trained_parameters", "examples", "learn_seconds", "compile_seconds")
_PLAIN_WIDTH = 240
"""Columns of the text that goes to a file or a pipe: wide enough to keep a learner on one line."""
_MOST_LINES = 25
"""Of one task on a screen: what a terminal of the usual height shows at once."""
_MOST_VERDICT, _MOST_REMARKS = 5, 3
_LONGEST_TITLE = 18
_BEST = "*"
_ENDS = {CONTROL: "best control", ORACLE: "oracle"}


def show(data: ReportData, console: Console) -> None:
    """Print what a screen has room for: learners by tasks first, then every task in at most 25 lines of 80 columns.

    The columns and the learners for which there is no room are in the report.
    """
    for part in _brief(data, console.width):
        console.print(part)


def as_text(data: ReportData, width: int = _PLAIN_WIDTH) -> str:
    """The whole report as plain text, without colour. A table that is too wide goes on in another below."""
    from rich.console import Console

    target = io.StringIO()
    console = Console(file=target, width=width, force_terminal=False, no_color=True, emoji=False, highlight=False)
    for part in _whole(data, width):
        console.print(part)
    return "\n".join(line.rstrip() for line in target.getvalue().splitlines()) + "\n"


def _brief(data: ReportData, width: int) -> Iterator[RenderableType]:
    for note in data.notes:
        yield _words(note, "yellow")
    groups = groupby(data.tables, key=lambda table: (table.convention, table.family, table.judged))
    for (convention, family, score), members in groups:
        tables = list(members)
        if len(tables) > 1:
            yield _words(f"{family}  ", "bold").append(visible(convention), style="not bold dim")
            yield from _sheets(*_overview(tables), width)
            yield _words(f"{score.title}, ± half of its 95 % interval; {_BEST} clearly ahead of the next", "dim")
            yield _words("")
    for table in data.tables:
        yield from _brief_task(table, width)
    for change in data.changes:
        yield from _change(change)


def _overview(tables: Sequence[TaskTable]) -> tuple[_Lines, list[list[str]]]:
    """The headline of every learner on every task of a family; below, of the best control and the oracle of each."""
    learners = list(dict.fromkeys((row.role, row.learner) for table in tables for row in table.of_role(*LEARNING)))
    learners.sort(key=lambda pair: ROLES.index(pair[0]))
    ends = [role for role, of in ((CONTROL, "best_control"), (ORACLE, "oracle")) if any(getattr(t, of) for t in tables)]
    columns = []
    for table in tables:
        rows = {(row.role, row.learner): row for row in table.rows}
        best = {CONTROL: table.best_control or "", ORACLE: table.oracle or ""}
        places = [*learners, *((role, best[role]) for role in ends)]
        winners = [clear_winner(table, role) for role in LEARNING]
        cells = [
            _cell(row, table.judged) + (f" {_BEST}" if row in winners else "") if (row := rows.get(place)) else NOTHING
            for place in places
        ]
        arrow = ARROWS.get(table.judged.better, "")
        columns.append([f"{table.task.removeprefix(f'{table.family}/')} {arrow}".strip(), *cells])
    titles = shortened([visible(title) for title, *_ in columns], _LONGEST_TITLE)
    names = [_name(learner, role) for role, learner in learners] + [_ENDS[role] for role in ends]
    roles = [*(role for role, _ in learners), *ends]
    styles = ["dim" if role in ends else "" for role in roles]
    return _Lines(names, styles, [role in ends for role in roles]), [
        [title, *cells] for title, (_, *cells) in zip(titles, columns, strict=True)
    ]


def _brief_task(table: TaskTable, width: int) -> Iterator[RenderableType]:
    below = textwrap.wrap(visible(verdict(table)), width, max_lines=_MOST_VERDICT, placeholder=" …")
    said = [shortened([visible(line)], width)[0] for line in _small_print(table)]
    small = said[:_MOST_REMARKS]
    if len(said) > len(small):
        small[-1] = f"{len(said) - len(small) + 1} remarks more are in the report."
    sections = len({row.role for row in table.rows}) - 1
    title = _title(table)
    room = _MOST_LINES - len(title.wrap(_console(width), width)) - 2 - sections - len(below) - len(small) - 1
    rows = table.rows
    if len(rows) > room:
        rows = _foremost(table, room - 1)
        small.insert(0, f"{len(table.rows) - len(rows)} rows more are in the report.")
    lines, columns = _lines(table, rows), _columns(table, rows)
    runs, *others = columns
    first = 1 if table.columns else 0  # the headline is told first, if there is no room for all
    ordered = [*others[:first], runs, *others[first:]]
    yield title
    yield _sheet(lines, _fitting(lines, ordered, width), width)
    yield from (_words(line) for line in below)
    yield from (_words(line, "dim") for line in small)
    yield _words("")


def _foremost(table: TaskTable, count: int) -> tuple[Row, ...]:
    """So many rows: the best control and the oracle, and the best of those that learn."""
    ends = [row for row in table.rows if row.learner in (table.best_control, table.oracle) and row.role not in LEARNING]
    return (*table.of_role(*LEARNING)[: max(1, count - len(ends))], *ends)


def _whole(data: ReportData, width: int) -> Iterator[RenderableType]:
    for note in data.notes:
        yield _words(note, "yellow")
    for table in data.tables:
        yield _title(table)
        yield from _sheets(_lines(table, table.rows), _columns(table, table.rows), width)
        yield _words(verdict(table))
        yield from (_words(line, "dim") for line in _small_print(table))
        yield _words("")
    for change in data.changes:
        yield from _change(change)


def _columns(table: TaskTable, rows: Sequence[Row]) -> list[list[str]]:
    """The columns beside the learner's: each its heading, then one cell per row."""
    columns = [["runs", *map(_runs, rows)]]
    for index, column in enumerate(table.columns):
        arrow = ARROWS.get(column.better, "")
        columns.append([f"{visible(column.title)} {arrow}".strip(), *(_cell(row, column) for row in rows)])
        if index == 0:
            columns.append(["scaled ↑", *(plus_minus(row.scaled.value, row.scaled.interval) for row in rows)])
    columns += [[COST_TITLES[name], *(cost(name, row.cost) for row in rows)] for name in _COSTS]
    return columns


@dataclass(frozen=True)
class _Lines:
    """Who stands in the lines of a table, how, and in which section."""

    names: Sequence[str]
    styles: Sequence[str]
    sections: Sequence[Any]


def _lines(table: TaskTable, rows: Sequence[Row]) -> _Lines:
    winners = [clear_winner(table, role) for role in LEARNING]
    styles = ["dim" if row.role == CONTROL else "bold" if row in winners else "" for row in rows]
    return _Lines([_name(row.learner, row.role) for row in rows], styles, [row.role for row in rows])


def _sheets(lines: _Lines, columns: Sequence[list[str]], width: int) -> Iterator[RenderableType]:
    """One table where the width allows it, else several below each other, each with the learners: no number is cut."""
    rest = list(columns)
    while rest:
        count = next((n for n in range(len(rest), 1, -1) if _width(_sheet(lines, rest[:n], width)) <= width), 1)
        yield _sheet(lines, rest[:count], width)
        rest = rest[count:]
        if rest:
            yield _words("")


def _fitting(lines: _Lines, columns: Sequence[list[str]], width: int) -> list[list[str]]:
    """The columns for which there is room, the first ones before the others."""
    kept: list[list[str]] = []
    for column in columns:
        if not kept or _width(_sheet(lines, [*kept, column], width)) <= width:
            kept.append(column)
    return kept


def _sheet(lines: _Lines, columns: Sequence[list[str]], width: int) -> Table:
    made = _new_table()
    longest = max(12, min(44, width * 3 // 8))
    made.add_column("learner", no_wrap=True, overflow="ellipsis", max_width=longest)
    for title, *_ in columns:
        made.add_column(_words(title), justify="right", no_wrap=True)
    names = shortened(lines.names, longest)
    for index, (name, style) in enumerate(zip(names, lines.styles, strict=True)):
        cells = [column[index + 1] for column in columns]
        last = lines.sections[index + 1 : index + 2] != [lines.sections[index]]
        made.add_row(_words(name), *cells, style=style, end_section=last)
    return made


def _title(table: TaskTable) -> Text:
    return _words(f"{table.task}  ", "bold").append(visible(table.convention), style="not bold dim")


def _name(learner: str, role: str) -> str:
    return visible(learner) + (" (replay)" if role == REPLAY else "")


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
    first, last = change.conventions[0], change.conventions[-1]
    yield _words(f"{change.task}: what the convention changes", "bold")
    made = _new_table()
    made.add_column("learner", no_wrap=True)
    made.add_column("score", no_wrap=True)
    for convention in change.conventions:
        made.add_column(_words(convention), justify="right", no_wrap=True)
    made.add_column(_words(f"{last} − {first}"), justify="right", no_wrap=True)
    for row in change.rows:
        style = "dim" if row.role == CONTROL else ""
        means = [written(row.score, mean) for mean in row.means]
        cells: list[RenderableType] = [_words(row.score.title), *means, contrast(row.difference, row.score)]
        made.add_row(_words(row.learner), *cells, style=style)
    yield made
    yield _words("")


def _runs(row: Row) -> str:
    """How many have ended well, and how many in another way: `5, 1 failed`."""
    counts = Counter(run.status for run in row.unfinished)
    unfinished = [f"{count} {status.replace('-', ' ')}" for status, count in counts.items()]
    return ", ".join([*([f"{len(row.finished)}"] if row.finished or not unfinished else []), *unfinished])


def _new_table() -> Table:
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_edge=False)


def _width(table: Table) -> int:
    return _console(10_000).measure(table).maximum


def _console(width: int) -> Console:
    from rich.console import Console

    return Console(width=width)


def _words(text: str, style: str = "") -> Text:
    """Text as it is: brackets in it are no markup, and nothing in it gives the terminal orders."""
    from rich.text import Text

    return Text(visible(text), style=style)
