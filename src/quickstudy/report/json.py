"""The report as plain data, for programs: what `--json` prints and what the HTML page carries inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickstudy.base.canonical import plain
from quickstudy.base.measure import PLAIN, UNKNOWN
from quickstudy.report.curves import Curve
from quickstudy.report.model import Change, MeasureNote, Place, ReportData, Row, Run, TaskTable
from quickstudy.report.statistics import Contrast, Estimate
from quickstudy.report.verdict import verdict
from quickstudy.stats.intervals import Interval

FORMAT = 1


def as_json(data: ReportData) -> dict[str, Any]:
    """The whole report in plain JSON types. Numbers that are not finite are the strings "nan", "inf" and "-inf"."""
    whole: dict[str, Any] = plain(
        {
            "format": FORMAT,
            "command": data.command,
            "notes": data.notes,
            "tasks": [_table(table) for table in data.tables],
            "changes": [_change(change) for change in data.changes],
            "measures": [_measure(note) for note in data.measures],
            "places": [_place(place) for place in data.places],
        }
    )
    return whole


def _table(table: TaskTable) -> dict[str, Any]:
    return {
        "task": table.task,
        "family": table.family,
        "convention": table.convention,
        "headline": table.headline,
        "statistic": table.statistic,
        "question": table.legend.question,
        "best_control": table.best_control,
        "oracle": table.oracle,
        "verdict": verdict(table),
        "learners": [_row(row) for row in table.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "learner": row.learner,
        "role": row.role,
        "runs": len(row.finished),
        "scores": {name: _estimate(value) for name, value in row.scores.items()},
        "scaled": _contrast(row.scaled),
        "advantage": _contrast(row.advantage),
        "cost": row.cost,
        "curve": _curve(row.curve),
        "example": row.example
        and {"curve": _curve(row.example.curve), "levels": row.example.levels, "times": row.example.times},
        "failures": [
            {"status": run.status, "reason": run.reason, "root": run.root, "repetition": run.repetition}
            for run in row.unfinished
        ],
        "setting": row.setting,
        "records": [_run(run) for run in row.runs],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "key": run.key,
        "root": run.root,
        "repetition": run.repetition,
        "status": run.status,
        "scores": run.scores,
        "cost": run.cost,
        "place": run.place,
    }


def _estimate(value: Estimate) -> dict[str, Any]:
    return {
        "n": value.n,
        "mean": value.mean,
        "sd": value.sd,
        "median": value.median,
        "quartiles": [value.lower_quartile, value.upper_quartile],
        "interval": _interval(value.interval),
    }


def _contrast(value: Contrast) -> dict[str, Any]:
    return {"value": value.value, "interval": _interval(value.interval), "reason": value.reason, "n": value.n}


def _interval(value: Interval | None) -> list[float] | None:
    return [value.low, value.high] if value else None


def _curve(value: Curve | None) -> dict[str, Any] | None:
    if value is None:
        return None
    facts = {"quantity": value.quantity, "unit": value.unit, "runs": value.runs, "steps": value.steps}
    return {**facts, "mean": value.mean, "low": value.low, "high": value.high}


def _change(change: Change) -> dict[str, Any]:
    rows = [
        {
            "learner": row.learner,
            "role": row.role,
            "score": row.score.name,
            "means": row.means,
            "difference": _contrast(row.difference),
        }
        for row in change.rows
    ]
    return {"task": change.task, "family": change.family, "conventions": change.conventions, "rows": rows}


def _measure(note: MeasureNote) -> dict[str, Any]:
    first = note.scores[0] if note.scores else PLAIN
    facts: Mapping[str, Any] = {
        "unit": first.unit,
        "direction": "" if first.better == UNKNOWN else first.better,
        "range": first.range if note.known else None,
        "chance": note.chance,
        "equation": note.equation,
        "summary": note.summary,
        "read": {score.name: score.as_facts() for score in note.scores},
    }
    names = [score.name for score in note.scores]
    return {"id": note.id, "version": note.version, "scores": names, "known": note.known, **facts}


def _place(place: Place) -> dict[str, Any]:
    return {
        "versions": place.versions,
        "machine": place.machine,
        "device": place.device,
        "lanes": place.lanes,
        "runs": place.runs,
    }
