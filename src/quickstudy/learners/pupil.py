"""The base of the learners that learn in compiled programs: state, snapshots and cost.

A subclass has attributes; it names those that make up its state. Everything else (programs,
lessons laid out, answers cached) can be computed again and is not kept.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Cost, Snapshot
from quickstudy.learners.lanes import named_arrays, with_arrays


class CompiledPupil:
    """A learner at work, with one lane for each batched seed. All arrays have a lane axis first.

    parts: the attributes of the state, by the names that their arrays have in a snapshot; the name
        '' is for the model and what trains it.
    facts: attributes that are plain numbers or flags, by name; one that is 0 or False is left out
        of a snapshot.
    """

    parts: ClassVar[Mapping[str, str]] = {}
    facts: ClassVar[Mapping[str, str]] = {}

    lanes: int
    shown: NDArray[np.int64]
    extra: dict[str, NDArray[Any]]

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.shown = np.zeros(lanes, dtype=np.int64)
        self.extra = {}  # named arrays that exist only at times

    def get_state(self) -> dict[str, Any]:
        """All that learning changes, as one pytree."""
        return {name: getattr(self, attribute) for name, attribute in self.parts.items()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore the state from this pytree."""
        for name, attribute in self.parts.items():
            setattr(self, attribute, state[name])

    def forget_cached(self) -> None:
        """Drop what was computed from the state before a `restore`. By default, nothing was."""

    def snapshot(self) -> Snapshot:
        """The state, with the lane axis."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, part in self.get_state().items():
            arrays |= named_arrays(part, name)
        values = {name: getattr(self, attribute) for name, attribute in self.facts.items()}
        return Snapshot(
            arrays | {name: array.copy() for name, array in self.extra.items()},
            {name: value for name, value in values.items() if value},
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot. Raises UsageError for a snapshot of another learner."""
        arrays, own = dict(snapshot.arrays), self.get_state()
        claimed = {name for part in own for name in named_arrays(own[part], part)}
        self.set_state({name: with_arrays(part, arrays, name) for name, part in own.items()})
        self.extra = {
            name: np.array(array) for name, array in arrays.items() if name not in claimed
        }
        for name, attribute in self.facts.items():
            setattr(self, attribute, type(getattr(self, attribute))(snapshot.facts.get(name, 0)))
        self.forget_cached()

    def examples(self) -> NDArray[np.integer[Any]]:
        """(lane,): items or steps in a world that it was shown and might learn from."""
        return self.shown

    @abstractmethod
    def updates(self) -> Sequence[int] | NDArray[np.integer[Any]]:
        """(lane,): changes of the trained weights so far."""

    @abstractmethod
    def sizes(self) -> tuple[int, int | Sequence[int]]:
        """Numbers of the model that are trained, and that are fixed: for all lanes, or by lane."""

    def cost(self) -> list[Cost]:
        """Of every lane, what was shown, the updates, and the size of the model."""
        trained, fixed = self.sizes()
        lanes = zip(
            self.examples(), self.updates(), np.broadcast_to(fixed, self.lanes), strict=True
        )
        return [Cost(int(shown), int(made), trained, int(own)) for shown, made, own in lanes]
