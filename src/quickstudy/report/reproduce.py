"""A published table beside the measured one."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.measure import LOG, PLAIN, Score
from quickstudy.base.study import Published, Study
from quickstudy.report.enough import FEWEST, counted
from quickstudy.report.intervals import RESAMPLES, estimate, stream
from quickstudy.report.model import CONTROL, ORACLE
from quickstudy.report.numbers import interval_of, shown
from quickstudy.report.scores import score_of
from quickstudy.report.study.found import Found, Runs, Shelf
from quickstudy.runs.job import Setting
from quickstudy.runs.plan import task_controls
from quickstudy.runs.scores import MAXIMUM_OF_MEAN

FAR = 2.0
"""Standard errors beyond which two numbers differ."""
UNLIKE = "tasks, tests and units of time are not those of the publication, so that agreement is not expected"


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
class Best(Reproduced):
    """The cell of a model that is several columns: the best of all their runs, by the direction of the score.

    It is the number of one run, so it has no interval; n: of how many. column, root, repetition: which it was (for a
    score of many runs together the best column, and no single run).
    """

    column: str | None = None
    root: int | None = None
    repetition: int | None = None


Pair = tuple[str, str, Reproduced, Reproduced]
"""Row, column, and its cell under one convention and under another."""


@dataclass(frozen=True)
class Reproduction:
    """One score of a study under one convention: cells by row label and column.

    controls, oracles: those of the task that were run, by row label and name. read: how the score is read.
    """

    study: Study
    convention: str
    score: str
    cells: Mapping[str, Mapping[str, Reproduced]]
    controls: Mapping[str, Mapping[str, Reproduced]] = field(default_factory=dict)
    oracles: Mapping[str, Mapping[str, Reproduced]] = field(default_factory=dict)
    read: Score = PLAIN

    def judged(self) -> list[tuple[str, str, Reproduced]]:
        """Cells that have both a published and a measured number."""
        found = [(row, column, cell) for row, cells in self.cells.items() for column, cell in cells.items()]
        return [place for place in found if place[2].within is not None]

    def best(self, row: str) -> str | None:
        """The column with the best measured number of a row; None where nobody knows which is better. The best of many
        runs is none of them.
        """
        known = {
            column: cell.measured
            for column, cell in self.cells[row].items()
            if cell.measured is not None and not isinstance(cell, Best)
        }
        return max(known, key=lambda column: self.read.sign * known[column]) if known and self.read.sign else None

    def as_facts(self) -> dict[str, Any]:
        """In plain JSON types."""
        return {
            "study": self.study.id,
            "version": self.study.version,
            "source": self.study.source,
            "convention": self.convention,
            "score": self.score,
            "rows": _plain(self.cells),
            "controls": _plain(self.controls),
            "oracles": _plain(self.oracles),
        }


def settings_of(study: Study, convention: str, root: int = 0) -> list[Setting]:
    """The runs that a study asks for under a convention."""
    return [
        Setting(row.task, learner, convention, root, row.protocol)
        for row in study.rows
        for column in row.learners
        if (learner := row.learner(column, convention))
    ]


def reproduce(
    study: Study,
    results: str | pathlib.Path | Found,
    convention: str,
    score: str | None = None,
    root: int = 0,
) -> Reproduction:
    """What a results folder holds of a study, beside what was published; only runs of just its protocol and root seed.

    results: the folder, or what was found in it. score: one of the study's, the main one if none is given.
    """
    found = results if isinstance(results, Found) else Shelf(pathlib.Path(results), study.measures).found()
    score = score or study.score
    read = found.score(score)
    runs = found.cells(study, convention, root)
    cells: dict[str, dict[str, Reproduced]] = {}
    rules: dict[str, dict[str, dict[str, Reproduced]]] = {CONTROL: {}, ORACLE: {}}
    for row in study.rows:
        numbers = row.published if score == study.score else row.also.get(score, {})
        own = {column: runs[row.label].get(column, {}) for column in study.columns}
        cells[row.label] = {
            column: _cell(read, study.seeds, numbers.get(column), own[column], found) for column in study.columns
        }
        for model, columns in study.together.items():
            members = {column: own[column] for column in columns}
            cells[row.label][model] = _best(read, numbers.get(model), members, cells[row.label])
        for name in task_controls(row.task):
            ruled = found.of(Setting(row.task, name, convention, root, row.protocol))
            if ruled:
                role = next(iter(ruled.values())).labels.get("role", CONTROL)
                rules[role].setdefault(row.label, {})[name] = _cell(read, study.seeds, None, ruled, found)
    return Reproduction(study, convention, score, cells, rules[CONTROL], rules[ORACLE], read)


def summary(found: Reproduction, other: Reproduction | None = None) -> list[str]:
    """What the comparison says, in sentences; with another convention, what changes from this one to it."""
    judged = found.judged()
    lines = []
    if judged:
        inside = sum(bool(cell.within) for _, _, cell in judged)
        words = any(cell.published and isinstance(cell.published.value, str) for _, _, cell in judged)
        within = f"within the published spread{' or bound' if words else ''}"
        counts = f"{inside} of {len(judged)} cells are {within} ({found.convention})"
        if found.convention == "published":
            apart = [f"{row} {column}" for row, column, cell in judged if not cell.within]
            lines += [f"{counts}.", *([f"Outside: {', '.join(apart)}."] if apart else [])]
        else:
            # Other numbers are the point here, not a failure to reproduce.
            lines.append(f"{counts}, for information only: {UNLIKE}.")
    if other is not None:
        lines += _changes(found, other)
    return lines


def correction(study: Study, found: Found, root: int = 0) -> str:
    """What the corrections do to the cells of a study that was made as published, as far as they have been run."""
    if study.scores and "corrected" in found.conventions:
        published, corrected = (
            reproduce(study, found, convention, root=root) for convention in ("published", "corrected")
        )
        known = [pair for pair in _pairs(published, corrected) if _enough(pair)]
        if known:
            moved = sum(_apart(first, second, published.read) for *_, first, second in known)
            return (
                f"The corrections change {moved} of {counted(len(known), 'cell')} by more than {FAR:g} standard errors"
            )
    return "What the corrections change is seen by"


def _pairs(found: Reproduction, other: Reproduction) -> list[Pair]:
    """The cells that were measured under both conventions. The best of many runs has no error, and is left out."""
    pairs = [
        (row, column, found.cells[row][column], other.cells[row][column])
        for row in found.cells
        for column in found.study.columns
    ]
    return [
        pair
        for pair in pairs
        if pair[2].measured is not None and pair[3].measured is not None and not isinstance(pair[2], Best)
    ]


def _enough(pair: Pair) -> bool:
    return min(pair[2].n, pair[3].n) >= FEWEST


def _changes(found: Reproduction, other: Reproduction) -> list[str]:
    both = _pairs(found, other)
    known = [pair for pair in both if _enough(pair)]
    if both and not known:
        return [
            f"What changes from {found.convention} to {other.convention} cannot be told: no cell has {FEWEST} runs of "
            "both."
        ]
    if not known:
        return []
    moved = [(row, column) for row, column, a, b in known if _apart(a, b, found.read)]
    rows = sorted({row for row, *_ in known}, key=list(found.cells).index)
    turned = [row for row in rows if found.best(row) != other.best(row)]
    best = f"the model with the best {found.read.shown} changes on {len(turned)} of {counted(len(rows), 'task')}"
    lines = [
        f"From {found.convention} to {other.convention}, {len(moved)} of {len(known)} cells change by more than "
        f"{FAR:g} standard errors; {best if found.read.sign else 'which model is best is not known'}."
    ]
    lines += [f"  {row}: {found.best(row)} before, {other.best(row)} after." for row in turned]
    return lines


def _plain(cells: Mapping[str, Mapping[str, Reproduced]]) -> dict[str, dict[str, Any]]:
    return {row: {column: asdict(cell) for column, cell in found.items()} for row, found in cells.items()}


def _apart(first: Reproduced, second: Reproduced, read: Score) -> bool:
    places = [read.place(cell.measured or 0.0) for cell in (first, second)]
    error = math.hypot(first.error or 0.0, second.error or 0.0)
    return places[0] != places[1] and not abs(places[0] - places[1]) <= FAR * error


def _cell(read: Score, seeds: int, published: Published | None, runs: Runs, found: Found) -> Reproduced:
    if not runs:
        return Reproduced(published)
    records = list(runs.values())
    keys = [record.key for record in records]
    if read.name == MAXIMUM_OF_MEAN:
        curves = [found.trace(record).arrays["accuracy"] for record in records]
        number, low, high, spread, error = _best_of_mean(curves, stream(keys, read.name))
    else:
        known = estimate([score_of(record, read.name) for record in records], stream(keys, read.name), read)
        value = shown(read, known)
        if known is None or value is None:
            return Reproduced(published, len(records))
        number, spread = value, math.nan if known.sd is None else known.sd
        low, high = interval_of(read, known) or (math.nan, math.nan)
        error = spread / math.sqrt(known.n)
    within = distance = None
    if published is not None:
        within = published.agrees(number)
        if published.spread is not None and not isinstance(published.value, str):
            combined = math.hypot(error, published.spread / math.sqrt(seeds))
            # A published spread is one of the values themselves, not of their orders of magnitude.
            distance = (number - published.value) / combined if combined > 0 and read.read != LOG else None
    return Reproduced(published, len(records), number, float(low), float(high), spread, error, within, distance)


def _best(
    read: Score, published: Published | None, runs: Mapping[str, Runs], cells: Mapping[str, Reproduced]
) -> Reproduced:
    """The best of several columns and all their runs."""
    count = sum(map(len, runs.values()))
    values: dict[tuple[str, int | None, int | None], float] = {}
    for column, own in runs.items():
        if read.name == MAXIMUM_OF_MEAN:
            measured = cells[column].measured
            values[column, None, None] = math.nan if measured is None else measured
        else:
            values.update({(column, *place): score_of(record, read.name) for place, record in own.items()})
    known = {place: value for place, value in values.items() if not math.isnan(value)}
    if not known or not read.sign:
        return Best(published, count)
    place = max(known, key=lambda one: read.sign * known[one])
    within = published.agrees(known[place]) if published else None
    return Best(published, count, known[place], None, None, None, None, within, None, *place)


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
