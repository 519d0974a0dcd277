"""How long a run will take, from what was measured before; a guess where nothing was, and it says which."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from quickstudy.base.canonical import canonical
from quickstudy.base.record import OK, Record

MEASURED, GUESSED = "measured", "guessed"
GUESS_SECONDS = 1.0


class Estimate(NamedTuple):
    """seconds of one repetition; source: `measured` (this very setting, with other seeds) or `guessed`."""

    seconds: float
    source: str


@dataclass(frozen=True)
class Estimates:
    """Median seconds of a run, by setting and by learner alone."""

    settings: dict[str, float] = field(default_factory=dict)
    learners: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> Estimates:
        """From finished runs; the others took no time that would say anything."""
        settings: dict[str, list[float]] = {}
        learners: dict[str, list[float]] = {}
        for record in records:
            seconds = _seconds(record)
            if seconds is not None:
                settings.setdefault(_setting(record.what), []).append(seconds)
                learners.setdefault(record.labels.get("learner", ""), []).append(seconds)
        return cls(_medians(settings), _medians(learners))

    def of(self, what: Mapping[str, Any], learner: str) -> Estimate:
        """For one repetition of what is to be run, by a learner: from itself, from other tasks, or a modest guess."""
        known = self.settings.get(_setting(what))
        if known is not None:
            return Estimate(known, MEASURED)
        return Estimate(self.learners.get(learner, GUESS_SECONDS), GUESSED)


def _setting(what: Mapping[str, Any]) -> str:
    """What decides how long a run takes: all but its seed."""
    return canonical({name: part for name, part in what.items() if name not in ("root", "repetition")})


def _medians(groups: dict[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(seconds) for name, seconds in groups.items()}


def _seconds(record: Record) -> float | None:
    """All the time that a run alone in its call has taken; for one among others, its own learning and answering."""
    if record.status != OK:
        return None
    parts = [record.cost.get(name, 0.0) for name in ("learn_seconds", "answer_seconds")]
    if record.where.get("lanes") == 1 and "seconds" in record.where:
        parts = [record.where["seconds"]]
    return sum(parts) if all(isinstance(part, int | float) for part in parts) else None
