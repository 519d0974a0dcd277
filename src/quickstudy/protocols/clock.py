"""Wall time with compilation taken out."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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

    def charge(self, costs: Sequence[Cost]) -> list[Cost]:
        """Costs with the times filled in, shared equally among the lanes."""
        share = {name: seconds / len(costs) for name, seconds in self.seconds.items()}
        learn, answer, compiling = (share.get(name, 0.0) for name in ("learn", "answer", "compile"))
        return [
            dataclasses.replace(cost, learn_seconds=learn, answer_seconds=answer, compile_seconds=compiling)
            for cost in costs
        ]


def _compile_seconds() -> float:
    # A host learner must not make anybody import JAX or Numba just to ask how long they have compiled.
    doors = (sys.modules.get(f"quickstudy.{name}") for name in ("gateway", "compiled"))
    return sum(float(door.compile_seconds()) for door in doors if door)
