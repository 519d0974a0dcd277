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
        """The column with the best measured number of a row; None where nobody knows which is better."""
        known = {column: cell.measured for column, cell in self.cells[row].items() if cell.measured is not None}
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
    results: str | pathlib.Path | Found,
    convention: str,
    protocol: Mapping[str, Any] | None = None,
    score: str | None = None,
    root: int = 0,
) -> Reproduction:
    """What a results folder holds of a study, beside what was published; only runs of just this protocol and root seed.

    results: the folder, or what was found in it. score: one of the study's, the main one if none is given.
    """
    found = results if isinstance(results, Found) else Shelf(pathlib.Path(results)).found()
    score = score or study.score
    read = found.score(score)
    runs = found.cells(study, convention, protocol, root)
    cells: dict[str, dict[str, Reproduced]] = {}
    rules: dict[str, dict[str, dict[str, Reproduced]]] = {CONTROL: {}, ORACLE: {}}
    for row in study.rows:
        cells[row.label] = {}
        for column in study.columns:
            numbers = row.published if score == study.score else row.also.get(score, {})
            published = numbers.get(column)
            own = runs[row.label].get(column, {})
            cells[row.label][column] = _cell(read, study.seeds, published, own, found)
        for name in task_controls(row.task):
            own = found.of(Setting(row.task, name, convention, root, protocol or {}))
            if own:
                role = next(iter(own.values())).labels.get("role", CONTROL)
                rules[role].setdefault(row.label, {})[name] = _cell(read, study.seeds, None, own, found)
    return Reproduction(study, convention, score, cells, rules[CONTROL], rules[ORACLE], read)


def summary(found: Reproduction, other: Reproduction | None = None) -> list[str]:
    """What the comparison says, in sentences; with another convention, what changes from this one to it."""
    judged = found.judged()
    lines = []
    if judged:
        inside = sum(bool(cell.within) for _, _, cell in judged)
        counts = f"{inside} of {len(judged)} cells are within the published spread ({found.convention})"
        if found.convention == "published":
            apart = [f"{row} {column}" for row, column, cell in judged if not cell.within]
            lines += [f"{counts}.", *([f"Outside: {', '.join(apart)}."] if apart else [])]
        else:
            # Other numbers are the point here, not a failure to reproduce.
            lines.append(f"{counts}, for information only: {UNLIKE}.")
    if other is not None:
        lines += _changes(found, other)
    return lines


def _changes(found: Reproduction, other: Reproduction) -> list[str]:
    pairs = [
        (row, column, found.cells[row][column], other.cells[row][column])
        for row in found.cells
        for column in found.study.columns
    ]
    both = [pair for pair in pairs if pair[2].measured is not None and pair[3].measured is not None]
    known = [pair for pair in both if min(pair[2].n, pair[3].n) >= FEWEST]
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
    if published is not None and published.spread is not None:
        # Published spreads are rounded to two decimals: a spread printed as 0.00 is up to 0.005.
        within = abs(number - published.value) <= max(published.spread, 0.005)
        combined = math.hypot(error, published.spread / math.sqrt(seeds))
        # A published spread is one of the values themselves, not of their orders of magnitude.
        distance = (number - published.value) / combined if combined > 0 and read.read != LOG else None
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
