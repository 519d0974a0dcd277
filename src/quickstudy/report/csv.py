"""The runs of a report as a tidy table: one row per run, one column per score and cost."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any

from quickstudy.report.model import ReportData
from quickstudy.report.numbers import COST_TITLES

_IDENTITY = ("convention", "family", "task", "learner", "role", "root", "repetition", "status", "reason", "key")


def as_csv(data: ReportData) -> str:
    """CSV text with a header line. Full precision; `inf` and `nan` as such; empty: no value."""
    scores = sorted({name for table in data.tables for row in table.rows for run in row.runs for name in run.scores})
    extra = {name for table in data.tables for row in table.rows for run in row.runs for name in run.cost}
    costs = [*COST_TITLES, *sorted(extra - set(COST_TITLES))]
    rows: list[Sequence[Any]] = [[*_IDENTITY, *scores, *costs]]
    for table in data.tables:
        for row in table.rows:
            for run in row.runs:
                names = [table.convention, table.family, table.task, row.learner, row.role]
                identity = [*names, run.root, run.repetition, run.status, run.reason, run.key]
                numbers = [run.scores.get(name, "") for name in scores]
                rows.append([*identity, *numbers, *(_cost(name, run.cost.get(name)) for name in costs)])
    return csv_text(rows)


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV, lines end in a line feed.

    Words that a spreadsheet would take for a formula are led by an apostrophe. Whatever ends a line stands in quotes:
    Python's own writer leaves a carriage return bare, and its own reader then refuses the file.
    """
    writer = csv.writer(SimpleNamespace(write=lambda line: line))
    return "".join(writer.writerow(list(map(_safe, row)))[:-2] + "\n" for row in rows)


def _safe(value: Any) -> Any:
    if not isinstance(value, str) or _is_number(value):
        return value
    # Spreadsheets pass over what comes before, and know the wide forms too.
    return f"'{value}" if value.strip().startswith(tuple("=+-@＝＋－＠")) or value[:1] in ("\t", "\r") else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _cost(name: str, value: float | None) -> float | int | str:
    """Counts are whole numbers."""
    if value is None:
        return ""
    return int(value) if not name.endswith("_seconds") and float(value).is_integer() else value
