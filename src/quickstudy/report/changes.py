"""What the convention changes: the same task and learner under two or three of them, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from quickstudy.base.measure import MEAN, Score
from quickstudy.report.model import ORACLE, Change, ChangeRow, Row, TaskTable
from quickstudy.report.statistics import Contrast, difference

_ORDER = ("published", "written", "corrected")


def find_changes(tables: Sequence[TaskTable]) -> tuple[Change, ...]:
    """One `Change` for every task that was run under several conventions. Oracles are left out."""
    by_task: dict[tuple[str, str], dict[str, TaskTable]] = {}
    for table in tables:
        by_task.setdefault((table.family, table.task), {})[table.convention] = table
    return tuple(_change(family, task, found) for (family, task), found in sorted(by_task.items()) if len(found) > 1)


def _change(family: str, task: str, found: dict[str, TaskTable]) -> Change:
    conventions = tuple(sorted(found, key=lambda name: (_ORDER.index(name) if name in _ORDER else 0, name)))
    rows_by = {name: {row.learner: row for row in found[name].rows if row.role != ORACLE} for name in conventions}
    names = dict.fromkeys(row.learner for name in reversed(conventions) for row in found[name].rows)
    changed = []
    for learner in names:
        rows = [rows_by[name].get(learner) for name in conventions]
        known = [row for row in rows if row is not None]
        if len(known) < 2:
            continue
        scores = [name for table in found.values() for name in table.scores]
        for column in found[conventions[-1]].legend.shown(scores):
            if column.shown == MEAN and sum(column.name in row.scores for row in known) > 1:
                changed.append(_changed(learner, known[0].role, column, rows))
    return Change(family, task, conventions, tuple(changed))


def _changed(learner: str, role: str, column: Score, rows: Sequence[Row | None]) -> ChangeRow:
    score = column.name
    means = tuple(row.scores[score].mean if row is not None and score in row.scores else None for row in rows)
    first, last = rows[0], rows[-1]
    if first is None or last is None or means[0] is None or means[-1] is None:
        return ChangeRow(learner, role, column, means, Contrast(None, reason="not run under both conventions"))
    values = [
        # The seeds are told apart: two conventions draw different data even from the same seed.
        {(index, number): run.scores[score] for number, run in enumerate(row.finished) if score in run.scores}
        for index, row in enumerate((first, last))
    ]
    moved = difference(values[1], values[0], column)
    return ChangeRow(learner, role, column, means, moved)
