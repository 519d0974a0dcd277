"""How much longer: the estimates of what is left, corrected by how wrong they have been so far."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

from quickstudy.runs.plan import Cell


@dataclass
class Remaining:
    """Counts what is done. Each pair of task and learner corrects its own estimates, once one of it is done; the
    others are corrected as all have been together.
    """

    workers: int
    _left: dict[str, Cell] = field(default_factory=dict)
    _ratios: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    _observed: float = 0.0
    _estimated: float = 0.0

    @classmethod
    def of(cls, cells: Iterable[Cell], workers: int) -> Remaining:
        """Nothing is done yet."""
        return cls(max(1, workers), {cell.key: cell for cell in cells})

    def done(self, key: str, seconds: float) -> None:
        """One cell is done and has taken so long."""
        cell = self._left.pop(key, None)
        if cell is not None:
            self._ratios.setdefault((cell.task, cell.learner), []).append(_ratio(seconds, cell.seconds))
            self._observed += seconds
            self._estimated += cell.seconds

    def seconds(self) -> float:
        """Estimated wall seconds until all is done, if all workers stay busy."""
        overall = _ratio(self._observed, self._estimated)
        # The lower median: the first of a pair compiles its programs, the ones after it do not.
        own = {pair: statistics.median_low(ratios) for pair, ratios in self._ratios.items()}
        total = sum(cell.seconds * own.get((cell.task, cell.learner), overall) for cell in self._left.values())
        return total / min(self.workers, max(1, len(self._left)))


def _ratio(observed: float, estimated: float) -> float:
    return observed / estimated if estimated > 0 else 1.0


def duration(seconds: float) -> str:
    """A length of time for people.

    >>> duration(8.2), duration(125), duration(7300)
    ('8 s', '2 min', '2.0 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
