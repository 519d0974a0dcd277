"""Wall time with compilation taken out."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from quickstudy.base.learner import Cost


class Clock:
    """Adds up seconds by name; time spent compiling goes to `compile` instead."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {"compile": 0.0}

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        """Count the block's time under a name."""
        began, compiled = time.perf_counter(), _compile_seconds()
        yield
        compiling = _compile_seconds() - compiled
        self.seconds["compile"] += compiling
        self.seconds[name] = self.seconds.get(name, 0.0) + max(0.0, time.perf_counter() - began - compiling)

    def acting(self, learning: bool) -> AbstractContextManager[None]:
        """Count the block's time as learning or, where nothing is learned, as answering."""
        return self.timing("learn" if learning else "answer")

    def charge(self, costs: Sequence[Cost]) -> list[Cost]:
        """Costs with the times filled in, shared equally among the lanes."""
        share = {name: seconds / len(costs) for name, seconds in self.seconds.items()}
        learn, answer, compiling = (share.get(name, 0.0) for name in ("learn", "answer", "compile"))
        return [
            dataclasses.replace(cost, learn_seconds=learn, answer_seconds=answer, compile_seconds=compiling)
            for cost in costs
        ]


def _compile_seconds() -> float:
    # A host learner must not make anybody import JAX just to ask how long it has compiled.
    gateway = sys.modules.get("quickstudy.gateway")
    return float(gateway.compile_seconds()) if gateway else 0.0
