"""All tasks of a family at a glance: one row per task, one column per learner."""

from __future__ import annotations

from collections.abc import Sequence

from quickstudy.base.measure import UNKNOWN
from quickstudy.report.html_table import Head, cell, table
from quickstudy.report.markup import escape, tag
from quickstudy.report.model import CONTROL, LEARNING, ORACLE, REPLAY, Row, TaskTable
from quickstudy.report.numbers import NOTHING, half_width, interval_of, score, shown, written
from quickstudy.report.pictures import Style
from quickstudy.report.verdict import clear_winner

Numbered = Sequence[tuple[int, TaskTable]]
"""Tables with their numbers in the report."""


def glance_table(tables: Numbered, style: Style, id: str) -> str:
    """Headline means, each with its scaled score; bold as in the tables of the tasks."""
    learners = sorted(
        {(row.role, row.learner) for _, found in tables for row in found.of_role(*LEARNING)},
        key=lambda pair: (LEARNING.index(pair[0]), pair[1]),
    )
    heads = [Head("task", False)]
    heads += [
        Head(
            tag("span", class_=f"key {style[role, name]}", aria_hidden="true")
            + escape(name)
            + ('<small class="under">replay</small>' if role == REPLAY else "")
        )
        for role, name in learners
    ]
    heads += [Head("best control"), Head("oracle")]
    rows = []
    for number, found in tables:
        link = tag("a", escape(found.task), href=f"#task-{number}")
        winners = [clear_winner(found, role) for role in LEARNING]
        cells = []
        for role, name in learners:
            row = _find(found, name, role)
            cells.append(_cell(row, found, _scaled(row), row is not None and row in winners))
        cells.append(_cell(_find(found, found.best_control, CONTROL), found, escape(found.best_control or "")))
        cells.append(_cell(_find(found, found.oracle, ORACLE), found, ""))
        rows.append(tag("tr", tag("th", link, scope="row", class_="name"), *cells))
    titles = dict.fromkeys(found.judged.title for _, found in tables if found.headline)
    directions = {found.judged.better for _, found in tables if found.headline}
    what = " or ".join(titles) or "headline"
    better = f", {directions.pop()} is better" if len(directions) == 1 and directions != {UNKNOWN} else ""
    several = any("±" in row for row in rows)
    half = "; ± half the 95 % interval over runs" if several else ""
    return table(
        id,
        f"{what} by task{better}{half}; last: on the scale from best control (0) to oracle (1)",
        heads,
        [("", rows)],
    )


def _find(found: TaskTable, name: str | None, role: str) -> Row | None:
    return next((row for row in found.of_role(role) if row.learner == name), None)


def _cell(row: Row | None, found: TaskTable, note: str, strong: bool = False) -> str:
    estimate = row.scores.get(found.headline or "") if row else None
    if estimate is None:
        return cell(NOTHING)
    value, interval = shown(found.judged, estimate), interval_of(found.judged, estimate)
    text = escape(written(found.judged, value))
    half = f'<small class="under">{half_width(interval, found.judged)}</small>' if interval else ""
    whole = (tag("strong", text) if strong else text) + half
    return cell(whole + (f'<small class="under">{note}</small>' if note else ""), value)


def _scaled(row: Row | None) -> str:
    return score(row.scaled.value) if row and row.scaled.value is not None else ""
