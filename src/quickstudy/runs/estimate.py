"""How long a run will take, from what was measured before; a guess where nothing was, and it says which."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from quickstudy.base.record import OK, Record

Name = TypeVar("Name")
MEASURED, GUESSED = "measured", "guessed"
GUESS_SECONDS = 1.0


class Estimate(NamedTuple):
    """seconds of one repetition; source: `measured` (this learner on this task) or `guessed`."""

    seconds: float
    source: str


@dataclass(frozen=True)
class Estimates:
    """Median seconds (learning and answering) by task and learner, and by learner alone."""

    pairs: dict[tuple[str, str], float] = field(default_factory=dict)
    learners: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> Estimates:
        """From finished runs; the others took no time that would say anything."""
        pairs: dict[tuple[str, str], list[float]] = {}
        learners: dict[str, list[float]] = {}
        for record in records:
            seconds = _seconds(record)
            if seconds is not None:
                task, learner = record.labels.get("task", ""), record.labels.get("learner", "")
                pairs.setdefault((task, learner), []).append(seconds)
                learners.setdefault(learner, []).append(seconds)
        return cls(_medians(pairs), _medians(learners))

    def of(self, task: str, learner: str) -> Estimate:
        """For one repetition of the task by the learner: from itself, from other tasks, or a modest guess."""
        if (task, learner) in self.pairs:
            return Estimate(self.pairs[task, learner], MEASURED)
        return Estimate(self.learners.get(learner, GUESS_SECONDS), GUESSED)


def _medians(groups: dict[Name, list[float]]) -> dict[Name, float]:
    return {name: statistics.median(seconds) for name, seconds in groups.items()}


def _seconds(record: Record) -> float | None:
    if record.status != OK:
        return None
    parts = [record.cost.get(name, 0.0) for name in ("learn_seconds", "answer_seconds")]
    return sum(parts) if all(isinstance(part, int | float) for part in parts) else None
