"""How long runs take: an estimate from what was measured before, and, while they run, how much
longer.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from quickstudy.base.canonical import canonical
from quickstudy.base.record import OK, Record

if TYPE_CHECKING:
    from quickstudy.runs.plan import Cell

MEASURED, GUESSED = "measured", "guessed"
GUESS_SECONDS = 1.0
SHORT_SECONDS = 10.0
"""Below this an estimate is useless: the start of a worker, or one more test, takes as long."""


class RunTime(NamedTuple):
    """seconds of one repetition; source: `measured` (this very setting, with other seeds) or
    `guessed`.
    """

    seconds: float
    source: str


@dataclass(frozen=True)
class RunTimes:
    """Median seconds of a run, by setting and by learner alone."""

    settings: dict[str, float] = field(default_factory=dict)
    learners: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> RunTimes:
        """From finished runs; the others took no time that would say anything."""
        settings: dict[str, list[float]] = {}
        learners: dict[str, list[float]] = {}
        for record in records:
            seconds = _seconds(record)
            if seconds is not None:
                settings.setdefault(_setting(record.what), []).append(seconds)
                learners.setdefault(record.labels.get("learner", ""), []).append(seconds)
        return cls(_medians(settings), _medians(learners))

    def of(self, what: Mapping[str, Any], learner: str) -> RunTime:
        """For one repetition of what is to be run, by a learner: from itself, from other tasks, or
        a modest guess.
        """
        known = self.settings.get(_setting(what))
        if known is not None:
            return RunTime(known, MEASURED)
        return RunTime(self.learners.get(learner, GUESS_SECONDS), GUESSED)


def _setting(what: Mapping[str, Any]) -> str:
    """What decides how long a run takes: all but its seed."""
    return canonical(
        {name: part for name, part in what.items() if name not in ("root", "repetition")}
    )


def _medians(groups: dict[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(seconds) for name, seconds in groups.items()}


def _seconds(record: Record) -> float | None:
    """All the time that a run alone in its call has taken; for one among others, its own learning
    and answering.
    """
    if record.status != OK:
        return None
    parts = [record.cost.get(name, 0.0) for name in ("learn_seconds", "answer_seconds")]
    if record.where.get("lanes") == 1 and "seconds" in record.where:
        parts = [record.where["seconds"]]
    return sum(parts) if all(isinstance(part, int | float) for part in parts) else None


@dataclass
class Remaining:
    """Counts what has begun and what is done.

    A pair of task and learner is known once one repetition of it is done, two where the first
    compiles its programs; or if it was measured before, corrected by how wrong such measurements
    are today. There is no estimate while any pair is unknown: with guesses, 34 runs that took six
    minutes were estimated at 17 s.
    """

    workers: int
    _left: dict[str, Cell] = field(default_factory=dict)
    _begun: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _since: dict[tuple[str, ...], float] = field(default_factory=dict)
    _waited: dict[tuple[str, ...], float] = field(default_factory=dict)
    _taken: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    _before: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def of(cls, cells: Iterable[Cell], workers: int) -> Remaining:
        """Nothing is done yet."""
        return cls(max(1, workers), {cell.key: cell for cell in cells})

    def begun(self, keys: tuple[str, ...], now: float) -> None:
        """A call of some cells begins."""
        self._begun |= dict.fromkeys(keys, keys)
        self._since[keys] = now

    def done(self, key: str, seconds: float) -> None:
        """One cell is done; so long was waited for it, which is the whole call for its first
        cell.
        """
        cell = self._left.pop(key, None)
        call = self._begun.pop(key, (key,))
        waited = self._waited[call] = self._waited.get(call, 0.0) + seconds
        if any(other in self._left for other in call):
            return
        self._since.pop(call, None)
        if cell is not None:
            self._taken.setdefault((cell.task, cell.learner), []).append(waited / len(call))
            if cell.source == MEASURED:
                self._before[cell.task, cell.learner] = cell.seconds

    def seconds(self, now: float | None = None) -> float | None:
        """Estimated wall seconds until all is done, if the workers stay busy; None if unknown."""
        drift = self._drift()
        costs = [self._cost(cell, drift) for cell in self._left.values()]
        if any(cost is None for cost in costs):
            return None
        own = dict(zip(self._left, (cost or 0.0 for cost in costs), strict=True))
        running = []
        for call, since in self._since.items():
            whole, passed = (
                sum(own.get(key, 0.0) for key in call),
                0.0 if now is None else now - since,
            )
            if passed > whole + SHORT_SECONDS and passed > 1.5 * whole:
                return None  # longer than any before it: the remaining time is unknown
            running.append(max(whole - passed, whole / 10))
        waiting = [cost for key, cost in own.items() if key not in self._begun]
        side_by_side = min(self.workers, max(1, len(waiting) + len(running)))
        return max([(sum(running) + sum(waiting)) / side_by_side, *running, *waiting], default=0.0)

    def _cost(self, cell: Cell, drift: float) -> float | None:
        taken = self._taken.get((cell.task, cell.learner), [])
        measured = cell.source == MEASURED
        # The lower median: the first of a pair compiles its programs, the ones after it do not.
        if len(taken) > (measured or cell.programs > 0):
            return statistics.median_low(taken)
        return cell.seconds * drift if measured else None

    def _drift(self) -> float:
        """How much longer runs take now than when they were measured, by those that have been done
        twice.
        """
        again = {
            pair: seconds for pair, seconds in self._before.items() if len(self._taken[pair]) > 1
        }
        before = sum(again.values())
        # Runs of milliseconds say nothing of those of minutes.
        return (
            sum(statistics.median_low(self._taken[pair]) for pair in again) / before
            if before >= 1.0
            else 1.0
        )


def duration(seconds: float) -> str:
    """A length of time for people.

    >>> duration(8.2), duration(125), duration(7300)
    ('8 s', '2 min', '2.0 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
