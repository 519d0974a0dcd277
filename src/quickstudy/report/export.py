"""The report as plain data, for programs: what `--json` prints and the page carries inside, and a
row for every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quickstudy.base.canonical import plain
from quickstudy.base.measure import PLAIN, UNKNOWN
from quickstudy.render.write_page import csv_text
from quickstudy.report.curves import Curve
from quickstudy.report.report_data import Change, MeasureNote, ReportData, Row, TaskTable
from quickstudy.report.statistics import Estimate
from quickstudy.report.words import COST_TITLES

FORMAT = 1
_IDENTITY = (
    "convention",
    "family",
    "task",
    "learner",
    "role",
    "root",
    "repetition",
    "status",
    "reason",
    "key",
    "task_id",
)
_RUN = ("key", "root", "repetition", "status", "scores", "cost", "place")


def as_json(data: ReportData) -> dict[str, Any]:
    """The whole report in plain JSON types. Numbers that are not finite are the strings "nan",
    "inf" and "-inf".
    """
    whole: dict[str, Any] = plain(facts_of(data))
    return whole


def facts_of(data: ReportData, listed: bool = True) -> dict[str, Any]:
    """The same before it is plain, for who makes it plain later. listed: with every run."""
    return {
        "format": FORMAT,
        "command": data.command,
        "notes": data.notes,
        "tasks": [_table(table, listed) for table in data.tables],
        "changes": [_change(change) for change in data.changes],
        "measures": [_measure(note) for note in data.measures],
        "places": [vars(place) for place in data.places],
    }


def as_csv(data: ReportData) -> str:
    """The runs as CSV text with a header line. Full precision; `inf` and `nan` as such; empty: no
    value.
    """
    return csv_text(["" if value is None else value for value in row] for row in run_rows(data))


def run_rows(data: ReportData) -> list[Sequence[Any]]:
    """The runs as a tidy table, the heading first: one row per run, one column per score and cost;
    None: no value.
    """
    runs = [(table, row, run) for table in data.tables for row in table.rows for run in row.runs]
    scores = sorted({name for *_, run in runs for name in run.scores})
    costs = [
        *COST_TITLES,
        *sorted({name for *_, run in runs for name in run.cost} - set(COST_TITLES)),
    ]
    rows: list[Sequence[Any]] = [[*_IDENTITY, *scores, *costs]]
    for table, row, run in runs:
        names = [table.convention, table.family, table.task, row.learner, row.role]
        task = row.setting.get("task", {}).get("id")
        identity = [*names, run.root, run.repetition, run.status, run.reason, run.key, task]
        numbers = [run.scores.get(name) for name in scores]
        rows.append([*identity, *numbers, *(_cost(name, run.cost.get(name)) for name in costs)])
    return rows


def _cost(name: str, value: float | None) -> float | int | None:
    """Counts are whole numbers."""
    whole = value is not None and not name.endswith("_seconds") and float(value).is_integer()
    return int(value) if whole and value is not None else value


def _entries(part: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(part, name) for name in names}


def _table(table: TaskTable, listed: bool) -> dict[str, Any]:
    return {
        **_entries(table, "task", "family", "convention", "headline"),
        "statistic": table.judged.shown,
        "question": table.legend.question,
        **_entries(table, "best_control", "oracle"),
        "verdict": table.verdict.text,
        "learners": [_row(row, listed) for row in table.rows],
    }


def _row(row: Row, listed: bool) -> dict[str, Any]:
    example = row.example
    return {
        **_entries(row, "learner", "role"),
        "runs": len(row.finished),
        "scores": {name: _estimate(value) for name, value in row.scores.items()},
        "scaled": vars(row.scaled),
        "advantage": vars(row.advantage),
        "cost": row.cost,
        "curve": _curve(row.curve),
        "example": example
        and {"curve": _curve(example.curve), **_entries(example, "levels", "times")},
        "failures": [
            _entries(run, "status", "reason", "root", "repetition") for run in row.unfinished
        ],
        "setting": row.setting,
        "records": [_entries(run, *_RUN) for run in row.runs if listed],
    }


def _estimate(value: Estimate) -> dict[str, Any]:
    quartiles = value.lower_quartile, value.upper_quartile
    return {
        **_entries(value, "n", "mean", "sd", "median"),
        "quartiles": quartiles,
        "interval": value.interval,
    }


def _curve(value: Curve | None) -> dict[str, Any] | None:
    return (
        _entries(value, "quantity", "unit", "runs", "steps", "mean", "low", "high")
        if value
        else None
    )


def _change(change: Change) -> dict[str, Any]:
    rows = [
        {**vars(row), "score": row.score.name, "difference": vars(row.difference)}
        for row in change.rows
    ]
    return {**_entries(change, "task", "family", "conventions"), "rows": rows}


def _measure(note: MeasureNote) -> dict[str, Any]:
    first = note.scores[0] if note.scores else PLAIN
    return {
        **_entries(note, "id", "version"),
        "scores": [score.name for score in note.scores],
        "known": note.known,
        "unit": first.unit,
        "direction": "" if first.better == UNKNOWN else first.better,
        "range": first.range if note.known else None,
        **_entries(note, "chance", "equation", "summary"),
        "read": {score.name: score.as_facts() for score in note.scores},
    }
