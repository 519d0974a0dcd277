"""From records to the data of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import OK, Record
from quickstudy.base.trace import Trace
from quickstudy.report.changes import find_changes
from quickstudy.report.grouping import LearnerGroup, TaskGroup, group, seed_of
from quickstudy.report.intervals import difference, estimate, scaled, stream
from quickstudy.report.learning import example_run, mean_curve
from quickstudy.report.model import CONTROL, ORACLE, ROLES, Contrast, Place, ReportData, Row, Run, TaskTable
from quickstudy.report.scores import ScoreBook, number, open_book
from quickstudy.report.spelling import spelled
from quickstudy.report.view import order_scores

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
    measures = book.measures()
    directions = {score: note.direction for note in measures for score in note.scores}
    places = _places(records)
    numbers = {_place_key(place): index for index, place in enumerate(places)}
    tables = tuple(_table(found, book, read, directions, numbers) for found in group(records))
    return ReportData(tables, find_changes(tables), measures, places, (*notes, *book.notes, *sorted(damaged)), command)


def _table(
    found: TaskGroup, book: ScoreBook, read: ReadTrace, directions: Mapping[str, str], places: Mapping[str, int]
) -> TaskTable:
    rows = [_row(learner, book, read, places) for learner in found.learners]
    scores = order_scores([name for row in rows for name in row.scores])
    headline = scores[0] if scores else None
    sign = -1.0 if headline and directions.get(headline) == "lower" else 1.0
    control, oracle = (_best(rows, role, headline, sign) for role in (CONTROL, ORACLE))
    rows = [_compared(row, headline, sign, control, oracle) for row in rows]

    def order(row: Row) -> tuple[int, float, str]:
        mean = _mean(row, headline)
        return ROLES.index(row.role), float("inf") if mean is None else -sign * mean, row.learner

    return TaskTable(
        convention=found.convention,
        family=found.family,
        task=found.label,
        headline=headline,
        scores=scores,
        best_control=control.learner if control else None,
        oracle=oracle.learner if oracle else None,
        rows=tuple(sorted(rows, key=order)),
    )


def _row(found: LearnerGroup, book: ScoreBook, read: ReadTrace, places: Mapping[str, int]) -> Row:
    finished = [record for record in found.records if record.status == OK]
    runs = tuple(_run(record, book, places) for record in found.records)
    keys = [run.key for run in runs if run.status == OK]
    by_run = [run.scores for run in runs if run.status == OK]
    names = sorted({name for scores in by_run for name in scores})
    nothing = float("nan")
    estimates = {name: estimate([scores.get(name, nothing) for scores in by_run], stream(keys, name)) for name in names}
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
        curve=mean_curve(traces, stream(keys, "curve")),
        example=example_run(traces[0]) if traces else None,
    )


def _run(record: Record, book: ScoreBook, places: Mapping[str, int]) -> Run:
    root, repetition = seed_of(record)
    cost = {name: number(value) for name, value in record.cost.items() if value is not None}
    place = places[_place_key(_place(record, 0))]
    return Run(record.key, root, repetition, record.status, record.reason, book.of(record), cost, place)


def _compared(row: Row, headline: str | None, sign: float, control: Row | None, oracle: Row | None) -> Row:
    """The row with its advantage over the best control and its place between control and oracle."""
    own = row.values(headline) if headline else {}
    is_end = row is control or row is oracle
    if not own or headline is None:
        nothing = Contrast(None, reason="no finished run has a score")
        return replace(row, advantage=nothing, scaled=nothing)
    if control is None:
        none = Contrast(None, reason="no control was run")
        return replace(row, advantage=none, scaled=none)
    base = control.values(headline)
    keys = [run.key for part in (row, control) for run in part.finished]
    first, second = (own, base) if sign > 0 else (base, own)
    row = replace(row, advantage=difference(first, second, stream(keys, "advantage")))
    if oracle is None:
        return replace(row, scaled=Contrast(None, reason="no oracle was run"))
    keys += [run.key for run in oracle.finished]
    place = scaled(own, base, oracle.values(headline), stream(keys, "scaled"))
    # The two ends of the scale are where they are by definition, without doubt.
    return replace(row, scaled=replace(place, interval=None) if is_end else place)


def _best(rows: Sequence[Row], role: str, headline: str | None, sign: float) -> Row | None:
    known = [row for row in rows if row.role == role and _mean(row, headline) is not None]
    return min(known, key=lambda row: (-sign * (_mean(row, headline) or 0.0), row.learner), default=None)


def _mean(row: Row, headline: str | None) -> float | None:
    found = row.scores.get(headline) if headline else None
    return found.mean if found else None


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
