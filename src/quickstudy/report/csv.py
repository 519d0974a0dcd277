"""The runs of a report as a tidy table: one row per run, one column per score and cost."""

from __future__ import annotations

import csv
import io

from quickstudy.report.model import ReportData
from quickstudy.report.numbers import COST_TITLES

_IDENTITY = ("convention", "family", "task", "learner", "role", "root", "repetition", "status", "reason", "key")


def as_csv(data: ReportData) -> str:
    """CSV text with a header line, lines end in a line feed. Full precision; `inf` and `nan` as such; empty: no value.

    Labels that a spreadsheet would take for a formula are led by an apostrophe.
    """
    scores = sorted({name for table in data.tables for row in table.rows for run in row.runs for name in run.scores})
    extra = {name for table in data.tables for row in table.rows for run in row.runs for name in run.cost}
    costs = [*COST_TITLES, *sorted(extra - set(COST_TITLES))]
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([*_IDENTITY, *scores, *costs])
    for table in data.tables:
        for row in table.rows:
            for run in row.runs:
                names = [table.convention, table.family, table.task, row.learner, row.role]
                identity = [*map(_safe, names), run.root, run.repetition, run.status, _safe(run.reason), run.key]
                numbers = [run.scores.get(name, "") for name in scores] + [run.cost.get(name, "") for name in costs]
                writer.writerow([*identity, *numbers])
    return target.getvalue()


def _safe(label: str) -> str:
    return f"'{label}" if label.startswith(("=", "+", "-", "@", "\t", "\r")) else label
