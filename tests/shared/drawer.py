"""A place where a protocol hands in what it has, which keeps all of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from quickstudy.base.trace import SoFar, Unfinished


class Drawer(Unfinished):
    """Keeps all that is handed in."""

    keeps = True

    def __init__(self, found: SoFar | None = None) -> None:
        self.found = found
        self.kept: list[SoFar] = []

    def hand_in(self, so_far: Any) -> None:
        self.kept.append(so_far())

    @classmethod
    def with_one(cls, so_far: SoFar) -> Drawer:
        """What an interrupted call has left, as it comes back from a file."""
        facts = json.loads(json.dumps(so_far.facts))
        arrays = {name: np.array(array) for name, array in so_far.arrays.items()}
        return cls(SoFar(arrays, facts, so_far.pupil))


def check_resumes(examine: Any, least: int) -> None:
    """From wherever a call is interrupted, another ends with the same traces.

    examine: from an Unfinished to an Examination. least: how often something is handed in.
    """
    drawer = Drawer()
    whole = examine(drawer).traces
    assert len(drawer.kept) >= least
    for so_far in drawer.kept:
        again = examine(Drawer.with_one(so_far)).traces
        for one, other in zip(again, whole, strict=True):
            assert one.facts == other.facts
            assert one.cost.examples == other.cost.examples
            assert one.cost.updates == other.cost.updates
            assert one.arrays.keys() == other.arrays.keys()
            assert all(np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays)
