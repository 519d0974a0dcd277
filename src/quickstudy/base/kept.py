"""Snapshots of a host learner that is kept by some of its attributes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from quickstudy.base.learner import Snapshot


class KeptAttributes:
    """A host with the methods `snapshot` and `restore`; `kept` names the attributes of its state.

    Arrays and numbers of NumPy are arrays of the snapshot, a generator is kept by its state, and
    all else must be plain JSON types.
    """

    kept: ClassVar[Sequence[str]] = ()

    def snapshot(self) -> Snapshot:
        """A copy of these attributes."""
        own = {name: getattr(self, name) for name in self.kept}
        arrays = {n: np.array(v) for n, v in own.items() if isinstance(v, np.ndarray | np.generic)}
        facts = {
            name: value.bit_generator.state if isinstance(value, np.random.Generator) else value
            for name, value in own.items()
            if name not in arrays
        }
        return Snapshot(arrays, copy.deepcopy(facts))

    def restore(self, snapshot: Snapshot) -> None:
        """Set them to what they were."""
        for name in self.kept:
            value = getattr(self, name)
            if name in snapshot.arrays:
                setattr(self, name, np.array(snapshot.arrays[name]))
            elif isinstance(value, np.random.Generator):
                value.bit_generator.state = snapshot.facts[name]
            else:
                setattr(self, name, copy.deepcopy(snapshot.facts[name]))
