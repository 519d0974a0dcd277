"""A pupil at work, and how its run is resumed: protocols keep what they have, and take it up again,
by a `Session`.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief, Cost, Keeping, Learner, Pupil, face, name_of
from quickstudy.base.seeds import Streams
from quickstudy.base.text import described
from quickstudy.base.trace import SoFar, Unfinished

Kept = tuple[Mapping[str, NDArray[Any]], Mapping[str, Any]]
"""Arrays by name and plain facts that a protocol needs, besides the pupil, to resume."""


class Session:
    """A pupil and a clock: fresh ones, or those of an interrupted call.

    pupil: restored from the last checkpoint of an interrupted call, else a fresh one.
    found: what that call had so far, with the facts and arrays of `keep`; None in a fresh call.
    clock: goes on from the seconds of that call.
    keeps: whether checkpoints are stored, so that it pays to cut the work into pieces.
    """

    def __init__(
        self,
        learner: Learner,
        brief: Brief,
        streams: Sequence[Streams],
        unfinished: Unfinished | None,
        keep: Callable[[], Kept],
    ) -> None:
        self._unfinished, self._keep = unfinished or Unfinished(), keep
        before = self._unfinished.found
        self.clock = Clock({} if before is None else before.facts["seconds"])
        with self.clock.timing("learn"):
            self.pupil, self.found = _begun(
                lambda: learner.begin(brief, [stream.for_learner() for stream in streams]),
                self._unfinished,
            )
        self.keeps = self._unfinished.keeps and _can_be_kept(self.pupil)

    def hand_in(self) -> None:
        """Keep what there is so far, if it is time to."""
        self._unfinished.hand_in(self._so_far)

    def _so_far(self) -> SoFar:
        arrays, facts = self._keep()
        seconds = {"seconds": self.clock.seconds}
        return SoFar(arrays, {**seconds, **facts}, face(self.pupil, Keeping).snapshot())


def _can_be_kept(pupil: Pupil) -> bool:
    try:
        face(pupil, Keeping)
    except NotApplicable:
        return False
    return True


def _begun(begin: Callable[[], Pupil], unfinished: Unfinished) -> tuple[Pupil, SoFar | None]:
    """A pupil as an interrupted call has left it, with what that call had so far; else a fresh one,
    and None.

    A learner whose `restore` fails restarts its run, and the failure is reported on standard error.
    """
    pupil = begin()
    if unfinished.found is None:
        return pupil, None
    try:
        face(pupil, Keeping).restore(unfinished.found.pupil)
    except Exception as error:  # a learner that cannot be set back has lost its time, not its run
        reason = described(error)
        sys.stderr.write(
            f"{name_of(pupil)}: restore failed, so its interrupted run restarts: {reason}\n"
        )
        unfinished.found = None
        return begin(), None
    return pupil, unfinished.found


class Clock:
    """Adds up wall seconds by name, on top of those `before`; time spent compiling goes to
    `compile` instead.
    """

    def __init__(self, before: Mapping[str, float] | None = None) -> None:
        self.seconds: dict[str, float] = {"compile": 0.0, **(before or {})}

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        """Count the block's time under a name."""
        began, compiled = time.perf_counter(), _compile_seconds()
        yield
        compiling = _compile_seconds() - compiled
        self.seconds["compile"] += compiling
        self.seconds[name] = self.seconds.get(name, 0.0) + max(
            0.0, time.perf_counter() - began - compiling
        )

    def acting(self, learning: bool) -> AbstractContextManager[None]:
        """Count the block's time as learning or, where nothing is learned, as answering."""
        return self.timing("learn" if learning else "answer")

    def charge(self, costs: Sequence[Cost]) -> list[Cost]:
        """Costs with the times filled in, shared equally among the lanes."""
        share = {name: seconds / len(costs) for name, seconds in self.seconds.items()}
        learn, answer, compiling = (share.get(name, 0.0) for name in ("learn", "answer", "compile"))
        return [
            dataclasses.replace(
                cost, learn_seconds=learn, answer_seconds=answer, compile_seconds=compiling
            )
            for cost in costs
        ]


def _compile_seconds() -> float:
    # A host learner must not make anybody import JAX or Numba just to ask how long they have
    # compiled.
    doors = (sys.modules.get(f"quickstudy.{name}") for name in ("jax_gateway", "numba_gateway"))
    return sum(float(door.compile_seconds()) for door in doors if door)
