"""What a report holds, before it is words, tables or pictures: frozen data that every form of the
report reads.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quickstudy.base.blocks import CONTROL, LEARNER, ORACLE, REPLAY
from quickstudy.base.measure import PLAIN, Score
from quickstudy.base.score_metadata import Legend
from quickstudy.base.trace import Trace
from quickstudy.report.curves import Curve, Example
from quickstudy.report.statistics import Contrast, Estimate, best
from quickstudy.runs.results import Values

LEARNING = (LEARNER, REPLAY)
"""The roles that learn: from material shown once, or shown several times. The two are never ranked
with one another.
"""
_UNDEFINED = Contrast(None)


@dataclass(frozen=True)
class Run:
    """One record as a report lists it. place: number of its entry in `ReportData.places`.
    look_ahead: what was found out about a learner from outside. remarks: of its trace (see `Trace`)
    and of the learner, such as that it was hardly trained. ceilings: facts of its trace.
    """

    key: str
    root: int
    repetition: int
    status: str
    reason: str
    scores: Mapping[str, float]
    cost: Mapping[str, float]
    place: int
    look_ahead: str = ""
    remarks: tuple[str, ...] = ()
    ceilings: Mapping[str, float] = field(default_factory=dict)

    def is_bound(self, score: str) -> bool:
        """Whether the run has reached the largest value of a score that could be measured: it may
        have more.
        """
        ends = [
            most for pattern, most in self.ceilings.items() if fnmatch.fnmatchcase(score, pattern)
        ]
        return any(self.scores.get(score, -math.inf) >= most for most in ends)


@dataclass(frozen=True)
class Row:
    """One learner on one task. setting: the whole `what` of its runs, apart from root seed and
    repetition.

    advantage: headline minus the best control's, positive when better; of decimal logarithms where
    it is so read. scaled: 0 at the best control, 1 at the oracle.
    curve: the mean learning curve. example: the first run by itself. traces: of all finished runs
    that left one.
    """

    learner: str
    role: str
    setting: Mapping[str, Any]
    runs: tuple[Run, ...]
    scores: Mapping[str, Estimate]
    cost: Mapping[str, float]
    curve: Curve | None
    example: Example | None
    advantage: Contrast = _UNDEFINED
    scaled: Contrast = _UNDEFINED
    traces: tuple[Trace, ...] = field(default=(), compare=False, repr=False)

    def values(self, score: str) -> dict[tuple[int, int], float]:
        """One score of the finished runs by (root seed, repetition), where it is a number."""
        found = {
            (run.root, run.repetition): run.scores.get(score, math.nan) for run in self.finished
        }
        return {seed: value for seed, value in found.items() if not math.isnan(value)}

    def is_bound(self, score: str) -> bool:
        """Whether a score is only known to be at least what is shown, since some run has reached
        its ceiling.
        """
        return any(run.is_bound(score) for run in self.finished)

    @property
    def finished(self) -> tuple[Run, ...]:
        """Runs that ended well."""
        return tuple(run for run in self.runs if run.status == "ok")

    @property
    def unfinished(self) -> tuple[Run, ...]:
        """Runs that failed or did not apply."""
        return tuple(run for run in self.runs if run.status != "ok")


@dataclass(frozen=True)
class Verdict:
    """What the numbers of one task say. text: who is above the best control and by how much, who is
    ahead. short: how many are, in a line. ahead: by role, the learner that is clearly ahead of the
    next. remarks: what the table of scores cannot say.
    """

    text: str = ""
    short: str = ""
    ahead: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskTable:
    """All learners on one task under one convention. Rows: one-pass learners, best first, then
    those with replay, then controls, then oracles.

    headline: the score that goes on the common scale, None when no run has a score. scores: all
    names, headline first. legend: how the scores are read. material: how much there was to learn
    from and to be tested on, in words.
    """

    convention: str
    family: str
    task: str
    headline: str | None
    scores: tuple[str, ...]
    best_control: str | None
    oracle: str | None
    rows: tuple[Row, ...]
    legend: Legend = field(default_factory=Legend)
    verdict: Verdict = field(default_factory=Verdict)
    material: str = ""

    @property
    def judged(self) -> Score:
        """How the headline is read. Two learners of which one has an infinite value are
        compared by medians in any case.
        """
        return self.legend.score(self.headline) if self.headline else PLAIN

    @property
    def columns(self) -> tuple[Score, ...]:
        """The scores that have a column."""
        return self.legend.shown(self.scores)

    @property
    def ends(self) -> Mapping[str, str | None]:
        """The ends of the common scale, by role."""
        return {CONTROL: self.best_control, ORACLE: self.oracle}

    def middle(self, row: Row, score: str | None = None) -> float | None:
        """What a row's headline, or another score, is compared by; None where it has none."""
        name = score or self.headline or ""
        found = row.scores.get(name)
        return found.shown(self.legend.score(name))[0] if found else None

    def of_role(self, *roles: str) -> tuple[Row, ...]:
        """The rows of some roles, in order."""
        return tuple(row for row in self.rows if row.role in roles)

    def row(self, learner: str | None, *roles: str) -> Row | None:
        """The row of a learner in one of some roles."""
        return next((row for row in self.of_role(*roles) if row.learner == learner), None)

    def rivals(self, score: str, role: str = CONTROL) -> dict[str, Values]:
        """The values of every learner of a role that has the score."""
        return {row.learner: own for row in self.of_role(role) if (own := row.values(score))}

    def best(self, score: str, role: str = CONTROL) -> Row | None:
        """The best of a role by a score; None if no learner has it, or its direction is unknown."""
        return self.row(best(self.rivals(score, role), self.legend.score(score)), role)

    def end(self, role: str) -> Row | None:
        """The row that is an end of the common scale: of the best control, or of the oracle."""
        return self.row(self.ends[role], role)

    def is_ahead(self, row: Row) -> bool:
        """Whether the row is clearly ahead of the next one of its role."""
        return self.verdict.ahead.get(row.role) == row.learner


@dataclass(frozen=True)
class MeasureNote:
    """How to read the numbers of one measure. scores: those of the report. known is False when the
    measure is not installed here: then there is what the records say.
    """

    id: str
    version: int
    scores: tuple[Score, ...]
    known: bool = False
    summary: str = ""
    chance: str = ""
    equation: str = ""


@dataclass(frozen=True)
class Place:
    """Where runs were made: versions, machine, kind of device and lanes."""

    versions: Mapping[str, str]
    machine: Mapping[str, str]
    device: str
    lanes: int
    runs: int


@dataclass(frozen=True)
class ChangeRow:
    """One score of one learner under each convention (None where it was not run), and corrected
    minus published.
    """

    learner: str
    role: str
    score: Score
    means: tuple[float | None, ...]
    difference: Contrast


@dataclass(frozen=True)
class Change:
    """What the convention changes on one task. The first convention is subtracted from the last."""

    family: str
    task: str
    conventions: tuple[str, ...]
    rows: tuple[ChangeRow, ...]


@dataclass(frozen=True)
class ReportData:
    """A whole report. tables: by convention, family and task. notes: what a reader must know first.
    command: what was typed last. days: when the runs were made, in words, where the records say so.
    """

    tables: tuple[TaskTable, ...]
    changes: tuple[Change, ...]
    measures: tuple[MeasureNote, ...]
    places: tuple[Place, ...]
    notes: tuple[str, ...]
    command: str | None
    days: str = ""
