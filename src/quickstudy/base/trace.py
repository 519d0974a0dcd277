"""Everything that happened in one run, raw; and what a run that is not finished has so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from quickstudy.base.learner import Cost, Snapshot


@dataclass(frozen=True)
class Trace:
    """What a protocol logs and a measure reads; nothing in it is derived.

    kind: what the arrays mean (`learning-curve`, `string-outcomes`, `predictions`, `transcript`); arrays: by name;
    facts: plain values a measure may need (unit of the steps, number of classes, best constant answer ...).
    """

    kind: str
    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True)
class SoFar:
    """What an examination has so far: the pupil as it is now, and, in arrays by name and plain facts, all that the
    protocol needs beside it to go on as if nothing had happened.
    """

    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any]
    pupil: Snapshot


class Unfinished:
    """Where a protocol hands in what it has so far. As it stands here nothing is kept, and nothing is found.

    A protocol whose `examine` takes it as `unfinished` looks at `found` when it begins, and calls `hand_in` wherever
    it could go on from; where it cannot use what is found, it says so by setting `found` to None. A protocol that
    does not take it begins anew after an interruption. keeps: whether anything that is handed in is kept at all.
    """

    found: SoFar | None = None
    keeps: bool = False

    def hand_in(self, so_far: Callable[[], SoFar]) -> None:
        """Keep what there is so far, if it is time to: only then is it asked for. Never raises an Exception."""
