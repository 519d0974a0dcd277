"""The controls of the family: silence, chance, the echo, and the one that is shown the answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.base.stated import WorldFacts, stated
from quickstudy.tasks.curriculum.loop import SPACE


@control("silent-byte", version=1, role="control")
class Silent:
    """Always a space."""

    learns = False

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        """Nothing is needed."""

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """Silence."""
        return SPACE


@control("random-byte", version=1, role="control")
class Chance:
    """Any of the 256 bytes."""

    learns = False

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._drawn = iter(b"")

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """The next of a few thousand that were drawn together."""
        for byte in self._drawn:
            return byte
        self._drawn = iter(self._rng.integers(256, size=4096, dtype=np.uint8).tobytes())
        return next(self._drawn)


@control("echo-byte", version=1, role="control")
class Echo(Silent):
    """The byte shown last."""

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """The same byte."""
        return observation


@control("perfect-byte", version=1, role="oracle")
class Perfect(Silent):
    """Is shown the right answer to every question when it is put, and sends it in time. Needs the
    fewest steps.
    """

    def watch(self, world: Any) -> None:
        """Look at the stage from now on."""
        self._world, self._stage = world, stated(world, WorldFacts).stage
        self._texts, self._script = -1, iter(b"")

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """Silence while the environment speaks, then the answer."""
        stage = self._stage
        if stage is None:  # where nothing is right
            return SPACE
        if stage.texts != self._texts:
            self._texts = stage.texts
            spoken = len(stage.text.rstrip(b" ")) or 1
            self._script = iter(b" " * (spoken - 1) + stage.expected)
        return self._world.shown_as(next(self._script, SPACE))  # type: ignore[no-any-return]
