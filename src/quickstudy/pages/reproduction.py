"""A published table next to the measured one: the numbers, and how far they are apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import CONTROL, ORACLE
from quickstudy.base.measure import LOG, PLAIN, Score
from quickstudy.base.study import ROUNDED, Published, Study
from quickstudy.pages.study_request import Request
from quickstudy.pages.table_helpers import first_by
from quickstudy.report.statistics import FEWEST, estimate
from quickstudy.runs.results import Runs
from quickstudy.runs.run_spec import task_controls
from quickstudy.runs.scoring import MAXIMUM_OF_MEAN, MEAN_CURVE

FAR = 2.0
"""Standard errors beyond which two numbers differ."""


@dataclass(frozen=True)
class Reproduced:
    """One cell. measured: over n runs, with its 95 % interval, its spread as published, its
    standard error. without: further runs that have no such score.

    distance: measured - published in standard errors of the two; None where one has none, and of
    too few runs. within: whether the measured number lies within the published spread, which is
    wide and so a weaker result, or where the published words put it; None where that is unknown.
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
    without: int = field(default=0, kw_only=True)

    def as_facts(self) -> dict[str, Any]:
        """In plain JSON types, under the keys that there have always been."""
        return {name: value for name, value in asdict(self).items() if name != "without"}

    @property
    def agrees(self) -> bool | None:
        """Whether the two differ by no more than two standard errors of both; where there are none,
        whether one number is within the spread of the other. None where there is nothing to
        compare, and with too few runs for a verdict; what is computed without any is exact.
        """
        if 0 < self.n < FEWEST:
            return None
        return self.within if self.distance is None else abs(self.distance) <= FAR


@dataclass(frozen=True)
class Best(Reproduced):
    """The cell of a model that is several columns: the best of all their runs, by the direction of
    the score.

    It is the number of one run, so it has no interval; n: of how many. column, root, repetition:
    which it was (for a score of many runs together the best column, and no single run).
    """

    column: str | None = None
    root: int | None = None
    repetition: int | None = None


@dataclass(frozen=True)
class Agreement:
    """The distances of a column together: the sum of their squares, of how many, and how often
    chance gives as much.
    """

    square: float
    freedom: int
    p: float


@dataclass(frozen=True)
class Reproduction:
    """One score of a study under one convention: cells by row label and column.

    controls, oracles: those of the task that were run, by row label and name. read: how the score
    is read; reads: on the rows of which there are runs.
    """

    study: Study
    convention: str
    score: str
    cells: Mapping[str, Mapping[str, Reproduced]]
    controls: Mapping[str, Mapping[str, Reproduced]] = field(default_factory=dict)
    oracles: Mapping[str, Mapping[str, Reproduced]] = field(default_factory=dict)
    read: Score = PLAIN
    reads: Mapping[str, Score] = field(default_factory=dict)

    def on(self, row: str) -> Score:
        """How the score is read on a row."""
        return self.reads.get(row, self.read)

    def every(self) -> list[tuple[str, str, Reproduced]]:
        """All cells, each with its row and its column."""
        return [
            (row, column, cell)
            for row, cells in self.cells.items()
            for column, cell in cells.items()
        ]

    def judged(self) -> list[tuple[str, str, Reproduced]]:
        """Cells that can be compared with the published number."""
        return [place for place in self.every() if place[2].agrees is not None]

    def agreement(self) -> dict[str, Agreement]:
        """Chi-square of every column of which two cells or more have a distance."""
        found = {}
        for column in self.study.columns:
            known = [cells[column].distance for cells in self.cells.values() if column in cells]
            distances = [distance for distance in known if distance is not None]
            if len(distances) > 1:
                from scipy.special import chdtrc

                square = math.fsum(distance**2 for distance in distances)
                found[column] = Agreement(
                    square, len(distances), float(chdtrc(len(distances), square))
                )
        return found

    def best(self, row: str) -> str | None:
        """The column with the best measured number of a row; None if it is unknown which is
        better. The best of many runs is none of them.
        """
        means = {
            column: cell for column, cell in self.cells[row].items() if not isinstance(cell, Best)
        }
        return first_by(measured(means), self.on(row).sign)

    def as_facts(self) -> dict[str, Any]:
        """In plain JSON types."""
        parts = {"rows": self.cells, "controls": self.controls, "oracles": self.oracles}
        return {
            "study": self.study.id,
            "version": self.study.version,
            "source": self.study.source,
            "convention": self.convention,
            "score": self.score,
            **{
                name: {
                    row: {who: cell.as_facts() for who, cell in own.items()}
                    for row, own in cells.items()
                }
                for name, cells in parts.items()
            },
            "agreement": {column: asdict(found) for column, found in self.agreement().items()},
        }


def measured(cells: Mapping[str, Reproduced]) -> dict[str, float]:
    """The measured numbers of those that have one."""
    return {name: cell.measured for name, cell in cells.items() if cell.measured is not None}


def reproduction(request: Request, score: str = "") -> Reproduction:
    """The measured numbers of a study, next to the published ones; only runs of exactly its
    protocol and root seed.

    score: one of the study's, the main one if none is given.
    """
    study, found = request.study, request.results
    score = score or study.score
    printed = {
        row.label: row.published if score == study.score else row.also.get(score, {})
        for row in study.rows
    }
    rounding = _rounding(
        [value for numbers in printed.values() for number in numbers.values() for value in number]
    )
    cells: dict[str, dict[str, Reproduced]] = {}
    rules: dict[str, dict[str, dict[str, Reproduced]]] = {CONTROL: {}, ORACLE: {}}
    reads: dict[str, Score] = {}
    for row in study.rows:
        numbers, learners = printed[row.label], request.learners(row)
        own = {column: request.runs(row, learners.get(column)) for column in study.columns}
        ruled = {
            name: some for name in task_controls(row.task) if (some := request.runs(row, name))
        }
        read = found.score(
            score, (run for some in (*own.values(), *ruled.values()) for run in some.values())
        )
        reads[row.label] = read
        cells[row.label] = {
            column: _cell(request, read, some, rounding, numbers.get(column))
            for column, some in own.items()
        }
        for model, columns in study.together.items():
            members = {column: own[column] for column in columns}
            cells[row.label][model] = _best(
                request, read, numbers.get(model), members, cells[row.label]
            )
        for name, some in ruled.items():
            role = next(iter(some.values())).labels.get("role", CONTROL)
            rules[role].setdefault(row.label, {})[name] = _cell(request, read, some, rounding)
    return Reproduction(
        study,
        request.convention,
        score,
        cells,
        rules[CONTROL],
        rules[ORACLE],
        found.score(score),
        reads,
    )


def _rounding(printed: Sequence[float | str | None]) -> float:
    """The error of printed numbers from rounding: anywhere within half of the last decimal of those
    that have most.
    """
    decimals = [len(repr(value).partition(".")[2]) for value in printed if isinstance(value, float)]
    return 0.5 * 10.0 ** -max(decimals, default=0) / math.sqrt(3)


def _cell(
    request: Request, read: Score, runs: Runs, rounding: float, published: Published | None = None
) -> Reproduced:
    if not runs:
        return Reproduced(published)
    if read.name == MAXIMUM_OF_MEAN:
        curves = [request.results.trace(record).arrays["accuracy"] for record in runs.values()]
        count, (number, low, high, spread, error) = len(runs), _best_of_mean(curves)
    else:
        known = estimate(
            [request.results.value(record, read.name) for record in runs.values()], read
        )
        if known is None:
            return Reproduced(published, len(runs))
        count, (number, interval) = known.n, known.shown(read)
        spread = math.nan if known.sd is None else known.sd
        low, high = interval or (math.nan, math.nan)
        error = spread / math.sqrt(known.n)
    within = published.agrees(number) if published else None
    distance = None
    # A published spread is one of the values themselves, not of their orders of magnitude.
    if published and published.spread is not None and count >= FEWEST and read.read != LOG:
        both = math.hypot(
            error, max(published.spread, ROUNDED) / math.sqrt(request.study.seeds), rounding
        )
        distance = (number - float(published.value)) / both if both > 0 else None
    measured = number, float(low), float(high), spread, error
    return Reproduced(published, count, *measured, within, distance, without=len(runs) - count)


def _best(
    request: Request,
    read: Score,
    published: Published | None,
    runs: Mapping[str, Runs],
    cells: Mapping[str, Reproduced],
) -> Reproduced:
    """The best of several columns and all their runs."""
    count = sum(map(len, runs.values()))
    values: dict[tuple[str, int | None, int | None], float] = {}
    for column, own in runs.items():
        if read.name == MAXIMUM_OF_MEAN:
            mean = cells[column].measured
            values[column, None, None] = math.nan if mean is None else mean
        else:
            values.update(
                {
                    (column, *seed): request.results.value(record, read.name)
                    for seed, record in own.items()
                }
            )
    known = {place: value for place, value in values.items() if not math.isnan(value)}
    place = first_by(known, read.sign)
    if place is None:
        return Best(published, count)
    within = published.agrees(known[place]) if published else None
    return Best(published, count, known[place], None, None, None, None, within, None, *place)


def _best_of_mean(
    curves: Sequence[NDArray[np.float64]],
) -> tuple[float, float, float, float, float]:
    """Maximum over time of the run-averaged curve, its interval, the spread at the last point, the
    error.

    Interval and error are those of the mean at the moment of the maximum, as if it had been known
    before.
    """
    shortest = min(map(len, curves))
    runs = np.stack([curve[:shortest] for curve in curves])
    mean = runs.mean(axis=0)
    then = estimate(runs[:, int(mean.argmax())].tolist(), MEAN_CURVE)
    if then is None or then.sd is None:
        return float(mean.max()), math.nan, math.nan, math.nan, math.nan
    spread, error = float(runs[:, -1].std(ddof=1)), then.sd / math.sqrt(len(runs))
    return float(mean.max()), *(then.interval or (math.nan, math.nan)), spread, error
