"""A published table beside the measured one."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import canonical
from quickstudy.base.record import OK, Record
from quickstudy.base.study import Published, Study
from quickstudy.report.intervals import RESAMPLES, stream
from quickstudy.runs.job import Setting, identity, labels
from quickstudy.runs.reader import read_results
from quickstudy.runs.traces import load_trace
from quickstudy.stats.bootstrap import mean_interval

FAR = 2.0
"""Standard errors beyond which two numbers differ."""


@dataclass(frozen=True)
class Reproduced:
    """One cell. measured: over n runs, with its 95 % interval, its spread as published, its standard error.

    within: the measured number lies within the published spread of the published one; None where nothing is known.
    distance: measured - published in standard errors of the two, which is stricter.
    """

    published: Published | None
    n: int = 0
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    error: float | None = None
    within: bool | None = None
    distance: float | None = None


@dataclass(frozen=True)
class Reproduction:
    """One score of a study under one convention: cells by row label and column."""

    study: Study
    convention: str
    score: str
    cells: Mapping[str, Mapping[str, Reproduced]]

    def judged(self) -> list[tuple[str, str, Reproduced]]:
        """Cells that have both a published and a measured number."""
        found = [(row, column, cell) for row, cells in self.cells.items() for column, cell in cells.items()]
        return [place for place in found if place[2].within is not None]

    def best(self, row: str) -> str | None:
        """The column with the highest measured number of a row."""
        known = {column: cell.measured for column, cell in self.cells[row].items() if cell.measured is not None}
        return max(known, key=lambda column: known[column]) if known else None

    def as_facts(self) -> dict[str, Any]:
        """In plain JSON types."""
        return {
            "study": self.study.id,
            "version": self.study.version,
            "source": self.study.source,
            "convention": self.convention,
            "score": self.score,
            "rows": {
                row: {column: asdict(cell) for column, cell in cells.items()} for row, cells in self.cells.items()
            },
        }


def settings_of(
    study: Study, convention: str, root: int = 0, protocol: Mapping[str, Any] | None = None
) -> list[Setting]:
    """The runs that a study asks for under a convention."""
    return [
        Setting(row.task, learner, convention, root, protocol or {})
        for row in study.rows
        for column in row.learners
        if (learner := row.learner(column, convention))
    ]


def reproduce(
    study: Study,
    folder: str | pathlib.Path,
    convention: str,
    protocol: Mapping[str, Any] | None = None,
    score: str | None = None,
    root: int = 0,
) -> Reproduction:
    """What a results folder holds of a study, beside what was published; only runs under just this protocol and root
    seed.

    score: one of the study's, the main one if none is given.
    """
    score = score or study.score
    runs = runs_of(study, folder, convention, protocol, root)
    cells: dict[str, dict[str, Reproduced]] = {}
    for row in study.rows:
        cells[row.label] = {}
        for column in study.columns:
            numbers = row.published if score == study.score else row.also.get(score, {})
            published = numbers.get(column)
            found = runs[row.label].get(column, ())
            cells[row.label][column] = _cell(score, study.seeds, published, found, folder)
    return Reproduction(study, convention, score, cells)


def runs_of(
    study: Study,
    folder: str | pathlib.Path,
    convention: str,
    protocol: Mapping[str, Any] | None = None,
    root: int = 0,
) -> dict[str, dict[str, list[Record]]]:
    """The finished runs of a study in a results folder, by row label and column; only those under just this protocol
    and root seed.

    Every column that has a learner under the convention is there, with an empty list where nothing was run.
    """
    records: dict[tuple[str, str, str], list[Record]] = {}
    for record in read_results(folder).records.values():
        if record.status == OK and (record.what["convention"], record.what["root"]) == (convention, root):
            place = record.labels["task"], record.labels["learner"], canonical(record.what["protocol"])
            records.setdefault(place, []).append(record)
    runs: dict[str, dict[str, list[Record]]] = {}
    for row in study.rows:
        runs[row.label] = {}
        for column in row.learners:
            if learner := row.learner(column, convention):
                setting = Setting(row.task, learner, convention, protocol=protocol or {})
                parts = setting.resolve()
                names, what = labels(setting, parts), identity(setting, parts, 0)
                place = names["task"], names["learner"], canonical(what["protocol"])
                runs[row.label][column] = records.get(place, [])
    return runs


def summary(found: Reproduction, other: Reproduction | None = None) -> list[str]:
    """What the comparison says, in sentences; with another convention, what changes from this one to it."""
    judged = found.judged()
    lines = []
    if judged:
        inside = sum(bool(cell.within) for _, _, cell in judged)
        lines.append(f"{inside} of {len(judged)} cells are within the published spread ({found.convention}).")
        apart = [f"{row} {column}" for row, column, cell in judged if not cell.within]
        # Under another convention other numbers are the point, not a failure to reproduce.
        if apart and found.convention == "published":
            lines.append(f"Outside: {', '.join(apart)}.")
    if other is not None:
        lines += _changes(found, other)
    return lines


def _changes(found: Reproduction, other: Reproduction) -> list[str]:
    pairs = [
        (row, column, found.cells[row][column], other.cells[row][column])
        for row in found.cells
        for column in found.study.columns
    ]
    known = [pair for pair in pairs if pair[2].measured is not None and pair[3].measured is not None]
    if not known:
        return []
    moved = [(row, column) for row, column, a, b in known if _apart(a, b)]
    rows = sorted({row for row, *_ in known}, key=list(found.cells).index)
    turned = [row for row in rows if found.best(row) != other.best(row)]
    lines = [
        f"From {found.convention} to {other.convention}, {len(moved)} of {len(known)} cells change by more than "
        f"{FAR:g} standard errors; the best model changes on {len(turned)} of {len(rows)} tasks."
    ]
    lines += [f"  {row}: {found.best(row)} before, {other.best(row)} after." for row in turned]
    return lines


def _apart(first: Reproduced, second: Reproduced) -> bool:
    error = math.hypot(first.error or 0.0, second.error or 0.0)
    return abs((first.measured or 0.0) - (second.measured or 0.0)) > FAR * error


def _cell(
    score: str, seeds: int, published: Published | None, records: Sequence[Record], folder: str | pathlib.Path
) -> Reproduced:
    if not records:
        return Reproduced(published)
    keys = [record.key for record in records]
    if score == "maximum-of-mean-curve":
        curves = [load_trace(folder, record).arrays["accuracy"] for record in records]
        number, low, high, spread, error = _best_of_mean(curves, stream(keys, score))
    else:
        values = np.array([score_of(record, score) for record in records])
        number, spread = float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.nan
        low, high = mean_interval(values, rng=stream(keys, score), resamples=RESAMPLES)
        error = spread / math.sqrt(len(values))
    within = distance = None
    if published is not None and published.spread is not None:
        # Published spreads are rounded to two decimals: a spread printed as 0.00 is up to 0.005.
        within = abs(number - published.value) <= max(published.spread, 0.005)
        combined = math.hypot(error, published.spread / math.sqrt(seeds))
        distance = (number - published.value) / combined if combined > 0 else None
    return Reproduced(published, len(records), number, float(low), float(high), spread, error, within, distance)


def _best_of_mean(
    curves: Sequence[NDArray[np.float64]], rng: np.random.Generator
) -> tuple[float, float, float, float, float]:
    """Maximum over time of the run-averaged curve, its bootstrap interval, the spread at the last point, the error."""
    shortest = min(map(len, curves))
    runs = np.stack([curve[:shortest] for curve in curves])
    number = float(runs.mean(axis=0).max())
    if len(runs) < 2:
        return number, math.nan, math.nan, math.nan, math.nan
    # Weights instead of copies: a resample of runs is a row of counts.
    counts = rng.multinomial(len(runs), np.full(len(runs), 1 / len(runs)), size=RESAMPLES) / len(runs)
    maxima = (counts @ runs).max(axis=1)
    low, high = np.quantile(maxima, [0.025, 0.975])
    return number, float(low), float(high), float(runs[:, -1].std(ddof=1)), float(maxima.std(ddof=1))


def score_of(record: Record, score: str) -> float:
    """One score of a finished run; nan where it has none of that name."""
    for part in record.scores.values():
        if score in part["values"]:
            return float(part["values"][score])
    return math.nan
