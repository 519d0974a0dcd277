"""From records to the data of a report."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from quickstudy.base.canonical import spelled
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.legend import Legend
from quickstudy.base.measure import MEAN
from quickstudy.base.record import OK, Record
from quickstudy.base.trace import Trace
from quickstudy.report.changes import find_changes
from quickstudy.report.curves import example_run, learning_curve
from quickstudy.report.grouping import LearnerGroup, TaskGroup, group
from quickstudy.report.records import seed_of
from quickstudy.report.model import CONTROL, ORACLE, ROLES, Place, ReportData, Row, Run, TaskTable
from quickstudy.report.records import ScoreBook, number, open_book
from quickstudy.report.statistics import Contrast, advantage, estimate, scaled
from quickstudy.report.stream_picture import is_stream

LoadTrace = Callable[[Record], Trace]
ReadTrace = Callable[[Record], Trace | None]


def build_report(
    records: Iterable[Record], load: LoadTrace, command: str | None = None, notes: Iterable[str] = ()
) -> ReportData:
    """The data of a report.

    records: one per key, in any order. load: gives the trace of a record; where it raises QuickstudyError, the report
    goes without that trace and says so. command: what to type to run the same again. notes: what a reader must be told
    first.
    """
    records = list(records)
    damaged: list[str] = []

    def read(record: Record) -> Trace | None:
        try:
            return load(record) if record.trace else None
        except QuickstudyError as error:
            damaged.append(f"A curve is missing: {error}")
            return None

    book = open_book(records)
    places = _places(records)
    numbers = {_place_key(place): index for index, place in enumerate(places)}
    tables = tuple(_table(found, book, read, numbers) for found in group(records))
    notes = (*notes, *book.notes, *_too_few(records), *sorted(damaged))
    return ReportData(tables, find_changes(tables), book.measures(), places, notes, command)


def _too_few(records: Iterable[Record]) -> list[str]:
    """Of every task that has fewer sequences than were asked for: how many, and what was done with them."""
    found: dict[str, str] = {}
    for record in records:
        facts, protocol = record.trace.get("facts", {}), record.what.get("protocol")
        asked = protocol.get("parameters", {}).get("sequences") if isinstance(protocol, Mapping) else None
        learned, tested = facts.get("training_sequences"), facts.get("test_sequences")
        if isinstance(asked, int) and isinstance(learned, int) and isinstance(tested, int) and learned + tested < asked:
            task = f"{record.labels.get('task', '')} {record.what.get('convention', '')}"
            found.setdefault(
                task,
                f"{task}: only {learned + tested} different sequences can be drawn, {asked} were asked for; "
                f"{learned} to learn from, {tested} to be tested on.",
            )
    return [found[task] for task in sorted(found)]


def _table(found: TaskGroup, book: ScoreBook, read: ReadTrace, places: Mapping[str, int]) -> TaskTable:
    legend = found.legend
    rows = [_row(learner, book, read, places, legend) for learner in found.learners]
    scores = legend.order(name for row in rows for name in row.scores)
    headline = scores[0] if scores else None
    statistic = legend.score(headline).shown if headline else MEAN
    names = found.convention, found.family, found.label, headline, scores
    table = TaskTable(*names, None, None, tuple(rows), statistic, legend)
    control, oracle = (_best(table, role) for role in (CONTROL, ORACLE))
    compared = [_compared(row, table, control, oracle) for row in rows]
    sign = table.judged.sign

    def order(row: Row) -> tuple[int, float, str]:
        middle = table.middle(row)
        return ROLES.index(row.role), math.inf if middle is None else -sign * middle if sign else 0.0, row.learner

    return replace(
        table,
        best_control=control.learner if control else None,
        oracle=oracle.learner if oracle else None,
        rows=tuple(sorted(compared, key=order)),
    )


def _row(found: LearnerGroup, book: ScoreBook, read: ReadTrace, places: Mapping[str, int], legend: Legend) -> Row:
    finished = [record for record in found.records if record.status == OK]
    runs = tuple(_run(record, book, places) for record in found.records)
    by_run = [run.scores for run in runs if run.status == OK]
    names = sorted({name for scores in by_run for name in scores})
    estimates = {
        name: estimate([scores.get(name, math.nan) for scores in by_run], legend.score(name)) for name in names
    }
    traces = [trace for record in finished if (trace := read(record)) is not None]
    what = found.records[0].what
    return Row(
        learner=found.label,
        role=found.role,
        setting={name: part for name, part in what.items() if name not in ("root", "repetition")},
        runs=runs,
        scores={name: value for name, value in estimates.items() if value is not None},
        cost=_mean_cost(finished),
        advantage=Contrast(None),
        scaled=Contrast(None),
        curve=learning_curve(traces),
        example=example_run(traces[0]) if traces else None,
        streams=tuple(trace for trace in traces if is_stream(trace)),
    )


def _run(record: Record, book: ScoreBook, places: Mapping[str, int]) -> Run:
    root, repetition = seed_of(record)
    cost = {name: number(value) for name, value in record.cost.items() if value is not None}
    place = places[_place_key(_place(record, 0))]
    outcome = record.status, record.reason, book.of(record), cost, place
    return Run(record.key, root, repetition, *outcome, str(record.where.get("look_ahead", "")))


def _compared(row: Row, table: TaskTable, control: Row | None, oracle: Row | None) -> Row:
    """The row with its advantage over the best control and its place between control and oracle."""
    headline, score = table.headline, table.judged
    own = row.values(headline) if headline else {}
    is_end = row is control or row is oracle
    if not own or headline is None:
        nothing = Contrast(None, reason="no finished run has a score")
        return replace(row, advantage=nothing, scaled=nothing)
    if not score.sign:
        unknown = Contrast(None, reason="direction unknown")
        return replace(row, advantage=unknown, scaled=unknown)
    if control is None:
        none = Contrast(None, reason="no control was run")
        return replace(row, advantage=none, scaled=none)
    # A control is compared with the best one alone, not with itself.
    rivals = [control] if row.role == CONTROL else table.of_role(CONTROL)
    rules = {rival.learner: values for rival in rivals if (values := rival.values(headline))}
    row = replace(row, advantage=advantage(own, rules, control.learner, score))
    if oracle is None:
        return replace(row, scaled=Contrast(None, reason="no oracle was run"))
    place = scaled(own, control.values(headline), oracle.values(headline), score)
    # The two ends of the scale are where they are by definition, without doubt.
    return replace(row, scaled=replace(place, interval=None) if is_end else place)


def _best(table: TaskTable, role: str) -> Row | None:
    """The best row of a role; None where nobody knows which is better."""
    sign = table.judged.sign
    known = [(middle, row) for row in table.of_role(role) if sign and (middle := table.middle(row)) is not None]
    return min(known, key=lambda pair: (-sign * pair[0], pair[1].learner), default=(0.0, None))[1]


def _mean_cost(records: Sequence[Record]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for record in records:
        for name, value in record.cost.items():
            if value is not None:
                found.setdefault(name, []).append(number(value))
    return {name: sum(values) / len(values) for name, values in found.items()}


def _places(records: Sequence[Record]) -> tuple[Place, ...]:
    counts: dict[str, int] = {}
    found: dict[str, Record] = {}
    for record in records:
        key = _place_key(_place(record, 0))
        counts[key] = counts.get(key, 0) + 1
        found.setdefault(key, record)
    return tuple(_place(found[key], counts[key]) for key in sorted(found))


def _place(record: Record, runs: int) -> Place:
    where = record.where
    return Place(
        dict(where.get("versions", {})),
        dict(where.get("machine", {})),
        str(where.get("device", "unknown")),
        int(where.get("lanes", 1)),
        runs,
    )


def _place_key(place: Place) -> str:
    return spelled([place.versions, place.machine, place.device, place.lanes])
