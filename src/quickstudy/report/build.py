"""From records to the data of a report."""

from __future__ import annotations

import math
import pathlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from quickstudy.base import registries
from quickstudy.base.blocks import CONTROL, ORACLE, ROLES
from quickstudy.base.canonical import spelled
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.measure import MEAN, PLAIN, Score
from quickstudy.base.record import OK, Record
from quickstudy.base.score_metadata import Legend
from quickstudy.base.trace import Trace
from quickstudy.report.curves import example_run, learning_curve
from quickstudy.report.report_data import (
    Change,
    ChangeRow,
    MeasureNote,
    Place,
    ReportData,
    Row,
    Run,
    TaskTable,
)
from quickstudy.report.roles import played
from quickstudy.report.statistics import Contrast, advantage, difference, estimate, scaled
from quickstudy.report.verdict import judge
from quickstudy.report.words import span
from quickstudy.runs import grouping
from quickstudy.runs.results import ResultsTable, number, read_folders, seed_of

_ORDER = ("published", "written", "corrected")
_LAST = 253_402_300_800.0
"""Seconds since the epoch to the year 10,000, which no calendar here has."""


def build_report(
    results: ResultsTable, command: str | None = None, *, traces: bool = True
) -> ReportData:
    """The data of a report.

    results: where a trace cannot be read, the report leaves it out, with a note. command: what to
    type to run the same again. traces: read them; without, there are no curves.
    """
    records = list(results.records.values())
    places, where = places_of(records)
    maker = _Maker(results, where, traces)
    tables = tuple(map(maker.table, results.groups))
    damage = (
        f"Left out of the report: {damage}. `quickstudy doctor` explains a damaged folder."
        for _, damage in results.damage
    )
    notes = (*damage, *results.notes, *_too_few(records), *sorted(maker.damaged))
    measures = tuple(_measure_note(results, id, names) for id, names in results.names.items())
    return ReportData(tables, _changes(tables), measures, places, notes, command, days_of(records))


def _measure_note(results: ResultsTable, id: str, names: Sequence[str]) -> MeasureNote:
    """How to read the scores of a measure, by the records and the registry of measures."""
    version, scores = results.versions[id], tuple(map(results.legend.score, names))
    try:
        entry = registries.measure.find(id)
        measure = registries.measure.get(id)
    except QuickstudyError:  # the record comes from an installation with more in it
        return MeasureNote(id, version, scores)
    return MeasureNote(id, version, scores, True, entry.summary, measure.chance, measure.equation)


def gather(
    results: ResultsTable | Sequence[str | pathlib.Path], command: str | None = None
) -> ReportData:
    """The data of the report of a table of results, or of some folders, which are merged by key.

    Raises UsageError when there is no folder, no such folder, or not one run in all of them.
    """
    found = results if isinstance(results, ResultsTable) else read_folders(results)
    if not found.records:
        where = "" if isinstance(results, ResultsTable) else f" in {', '.join(map(str, results))}"
        raise UsageError(f"no runs{where}; run something there first, or name another folder")
    return build_report(found, command)


class _Maker:
    """Makes tables of one report. damaged: what could not be read meanwhile."""

    def __init__(self, results: ResultsTable, where: Mapping[str, int], traces: bool) -> None:
        self._results, self._where, self._traces = results, where, traces
        self.damaged: list[str] = []

    def table(self, found: grouping.TaskGroup) -> TaskTable:
        titles = [record.trace.get("facts", {}).get("titles", {}) for record in found.records]
        legend = found.legend.titled({name: title for one in titles for name, title in one.items()})
        rows = [self._row(alike, legend) for alike in found.learners]
        scores = legend.order(name for row in rows for name in row.scores)
        headline = scores[0] if scores else None
        table = TaskTable(
            found.convention,
            found.family,
            found.title,
            headline,
            scores,
            None,
            None,
            tuple(rows),
            legend,
            material=_material(found.records),
        )
        control, oracle = (
            table.best(headline, role) if headline else None for role in (CONTROL, ORACLE)
        )
        second = legend.score(legend.second) if legend.second else PLAIN

        def order(row: Row) -> tuple[int, float, float, str]:
            """Best first; those that are level by the headline in the order of the second score."""
            by_headline, by_second = (
                _place(table.middle(row, one.name), one) for one in (table.judged, second)
            )
            return ROLES.index(row.role), by_headline, by_second, row.learner

        table = replace(
            table,
            best_control=control.learner if control else None,
            oracle=oracle.learner if oracle else None,
            rows=tuple(sorted((_compared(row, table, control, oracle) for row in rows), key=order)),
        )
        return replace(table, verdict=judge(table))

    def _row(self, group: grouping.LearnerGroup, legend: Legend) -> Row:
        records = sorted(group.records, key=seed_of)
        finished = [record for record in records if record.status == OK]
        runs = tuple(map(self._run, records))
        by_run = [run.scores for run in runs if run.status == OK]
        values = {
            name: [scores.get(name, math.nan) for scores in by_run]
            for name in sorted({name for scores in by_run for name in scores})
        }
        traces = tuple(trace for record in finished if (trace := self._trace(record)) is not None)
        return Row(
            learner=group.title,
            role=played(records, legend),
            setting={
                name: part
                for name, part in records[0].what.items()
                if name not in ("root", "repetition")
            },
            runs=runs,
            scores={
                name: found
                for name in values
                if (found := estimate(values[name], legend.score(name)))
            },
            cost=_mean_cost(run.cost for run in runs if run.status == OK),
            curve=learning_curve(traces),
            example=example_run(traces[0]) if traces else None,
            traces=traces,
        )

    def _run(self, record: Record) -> Run:
        root, repetition = seed_of(record)
        cost = {name: number(value) for name, value in record.cost.items() if value is not None}
        outcome = (
            record.status,
            record.reason,
            self._results.scores(record),
            cost,
            self._where[record.key],
        )
        facts, remark = record.trace.get("facts", {}), str(record.where.get("remark", ""))
        return Run(
            record.key,
            root,
            repetition,
            *outcome,
            str(record.where.get("look_ahead", "")),
            (*map(str, facts.get("remarks", ())), *([f"{remark}."] if remark else [])),
            dict(facts.get("ceilings", {})),
        )

    def _trace(self, record: Record) -> Trace | None:
        try:
            known = self._traces and record.trace
            return self._results.trace(record) if known else None
        except QuickstudyError as error:
            self.damaged.append(f"A curve is missing: {error}")
            return None


def _place(middle: float | None, score: Score) -> float:
    """The lower the better; the same for all where the direction is not known."""
    return math.inf if middle is None else -score.sign * middle if score.sign else 0.0


def _compared(row: Row, table: TaskTable, control: Row | None, oracle: Row | None) -> Row:
    """The row with its advantage over the best control and its place between control and oracle."""
    headline, score = table.headline or "", table.judged
    own = row.values(headline)
    if not own or not score.sign or control is None:
        unscored = "" if own else "no finished run has a score"
        none = Contrast(
            None, reason=unscored or ("no control was run" if score.sign else "direction unknown")
        )
        return replace(row, advantage=none, scaled=none)
    # A control is compared with the best one alone, not with itself.
    rules = table.rivals(headline)
    rules = {control.learner: rules[control.learner]} if row.role == CONTROL else rules
    row = replace(row, advantage=advantage(own, rules, control.learner, score))
    if oracle is None:
        return replace(row, scaled=Contrast(None, reason="no oracle was run"))
    place = scaled(own, control.values(headline), oracle.values(headline), score)
    # The two ends of the scale are where they are by definition, without doubt.
    is_end = (row.role, row.learner) in ((CONTROL, control.learner), (ORACLE, oracle.learner))
    return replace(row, scaled=replace(place, interval=None) if is_end else place)


def _mean_cost(costs: Iterable[Mapping[str, float]]) -> dict[str, float]:
    known = list(costs)
    names = dict.fromkeys(name for cost in known for name in cost)
    found = {name: [cost[name] for cost in known if name in cost] for name in names}
    return {name: sum(values) / len(values) for name, values in found.items()}


def days_of(records: Iterable[Record]) -> str:
    """The first and the last day of the runs (UTC); empty if no record has a date."""
    moments = sorted(record.started for record in records if 0 < record.started < _LAST)
    days = (time.strftime("%Y-%m-%d", time.gmtime(moment)) for moment in moments[:1] + moments[-1:])
    return " to ".join(dict.fromkeys(days))


def places_of(records: Sequence[Record]) -> tuple[tuple[Place, ...], dict[str, int]]:
    """Where runs were made, in order, and the number of its place for the key of every run."""
    together: dict[str, list[Record]] = {}
    for record in records:
        together.setdefault(spelled(list(_where(record))), []).append(record)
    ordered = [found for _, found in sorted(together.items())]
    numbers = {record.key: number for number, found in enumerate(ordered) for record in found}
    return tuple(Place(*_where(found[0]), len(found)) for found in ordered), numbers


def _where(record: Record) -> tuple[dict[str, str], dict[str, str], str, int]:
    where = record.where
    versions, machine = dict(where.get("versions", {})), dict(where.get("machine", {}))
    return versions, machine, str(where.get("device", "unknown")), int(where.get("lanes", 1))


def _amounts(record: Record, unit: str) -> list[Any]:
    """The amounts of training and test data of a run, from its trace: numbers, or one per
    segment.
    """
    facts = record.trace.get("facts", {})
    return [facts.get(f"{part}_{unit}") for part in ("training", "test")]


def _material(records: Iterable[Record]) -> str:
    found: dict[str, set[tuple[int, ...]]] = {}
    for record, unit in product(records, ("sequences", "steps")):
        parts = [
            count if isinstance(count, list | tuple) else [count]
            for count in _amounts(record, unit)
        ]
        if all(isinstance(number, int) for part in parts for number in part):
            found.setdefault(unit, set()).add(tuple(map(sum, parts)))
    for unit, pairs in found.items():
        learned, tested = (span([pair[side] for pair in pairs]) for side in (0, 1))
        return f"{learned} {unit} to learn from, {tested} to be tested on."
    return ""


def _too_few(records: Iterable[Record]) -> list[str]:
    """Of every task that has fewer sequences than were asked for: how many, and what was done with
    them.
    """
    found: dict[str, str] = {}
    for record in records:
        asked = record.parameters("protocol").get("sequences")
        learned, tested = _amounts(record, "sequences")
        if (
            isinstance(asked, int)
            and isinstance(learned, int)
            and isinstance(tested, int)
            and learned + tested < asked
        ):
            task = f"{record.labels.get('task', '')} {record.what.get('convention', '')}"
            found.setdefault(
                task,
                f"{task}: only {learned + tested} different sequences can be drawn, {asked} were"
                f" asked for; {learned} to learn from, {tested} to be tested on.",
            )
    return [found[task] for task in sorted(found)]


def _changes(tables: Sequence[TaskTable]) -> tuple[Change, ...]:
    """What the convention changes, for every task with runs under several conventions. Oracles
    are left out.
    """
    by_task: dict[tuple[str, str], dict[str, TaskTable]] = {}
    for table in tables:
        by_task.setdefault((table.family, table.task), {})[table.convention] = table
    changes = (
        _change(family, task, found)
        for (family, task), found in sorted(by_task.items())
        if len(found) > 1
    )
    return tuple(change for change in changes if change.rows)


def _change(family: str, task: str, found: Mapping[str, TaskTable]) -> Change:
    conventions = tuple(
        sorted(found, key=lambda name: (_ORDER.index(name) if name in _ORDER else 0, name))
    )
    rows_by = {
        name: {row.learner: row for row in found[name].rows if row.role != ORACLE}
        for name in conventions
    }
    names = dict.fromkeys(row.learner for name in reversed(conventions) for row in found[name].rows)
    scores = [name for table in found.values() for name in table.scores]
    changed = []
    for learner in names:
        rows = [rows_by[name].get(learner) for name in conventions]
        known = [row for row in rows if row is not None]
        for column in found[conventions[-1]].legend.shown(scores):
            if column.shown == MEAN and sum(column.name in row.scores for row in known) > 1:
                changed.append(_changed(learner, known[0].role, column, rows))
    return Change(family, task, conventions, tuple(changed))


def _changed(learner: str, role: str, column: Score, rows: Sequence[Row | None]) -> ChangeRow:
    score = column.name
    means = tuple(
        row.scores[score].mean if row is not None and score in row.scores else None for row in rows
    )
    first, last = rows[0], rows[-1]
    if first is None or last is None or means[0] is None or means[-1] is None:
        return ChangeRow(
            learner, role, column, means, Contrast(None, reason="not run under both conventions")
        )
    values = [
        # The seeds are kept apart: two conventions sample different data even from the same seed.
        {
            (index, number): run.scores[score]
            for number, run in enumerate(row.finished)
            if score in run.scores
        }
        for index, row in enumerate((first, last))
    ]
    return ChangeRow(learner, role, column, means, difference(values[1], values[0], column))
