"""Small honest tasks, one of each kind, on which learners are checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import LearnerFault
from quickstudy.base.examples import Examples
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Space, Tokens
from quickstudy.base.task import Turn, World

NO_ORACLE = "none is needed: the task only serves to check learners"


@dataclass(frozen=True)
class Partners:
    """Say the partner of each letter.

    Sees: letters, each followed by its partner (`b B d D a A`), 2 to 5 letters a sequence, uniform.
    Answers: the partner, after every letter. Chance 1/letters; a table of the last token is enough
    for 1, so that a learner that fails here has learned nothing from its targets.
    """

    letters: int = 6

    id: ClassVar[str] = "testing/partners"
    version: ClassVar[int] = 1
    controls: ClassVar[tuple[str, ...]] = ("majority", "copy-last")
    oracle: ClassVar[str] = NO_ORACLE

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Lower case, then their partners in upper case."""
        lower = [chr(ord("a") + letter) for letter in range(self.letters)]
        return *lower, *(letter.upper() for letter in lower)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        drawn = [rng.integers(self.letters, size=rng.integers(2, 6)) for _ in range(count)]
        tokens = [np.stack([letters, letters + self.letters], axis=1).ravel() for letters in drawn]
        return Examples.from_sequences(tokens, [range(1, len(sequence), 2) for sequence in tokens])


@dataclass(frozen=True)
class Echo:
    """Say a number again, with what is left of the one before.

    Sees: normal numbers u(t). Answers: y(t) = 0.8 u(t) + 0.2 u(t-1), at every step. A linear rule
    of the last number explains 94 % of the variance, so that a learner that explains nothing has
    learned nothing from its targets.
    """

    steps: int = 8

    id: ClassVar[str] = "testing/echo"
    inputs: ClassVar[Space] = Reals(1)
    outputs: ClassVar[Space] = Reals(1)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent series."""
        inputs = rng.normal(size=(self.steps, count, 1))
        before = np.concatenate([np.zeros_like(inputs[:1]), inputs[:-1]])
        asked = np.ones((self.steps, count), dtype=np.bool_)
        return Examples(inputs, 0.8 * inputs + 0.2 * before, asked, np.full(count, self.steps))


class LeverWorld(World):
    """A world of `Levers`."""

    def __init__(self, task: Levers, rng: np.random.Generator) -> None:
        self.task = task
        self._rng = rng
        self._pulls = self._shown = 0

    def reset(self) -> Any:
        """Another lamp, and all the time again."""
        self._pulls = 0
        return self.lamp()

    def step(self, action: Any) -> Turn:
        """A reward for the lever below the lamp that was lit."""
        self.check(action)
        right = self._shown == int(action)
        self._pulls += 1
        return Turn(self.lamp(), float(right), self._pulls >= self.task.horizon, {"right": right})

    def lamp(self) -> Any:
        """The number of the lamp that is lit next."""
        self._shown = int(self._rng.integers(self.task.levers))
        return self._shown

    def check(self, action: Any) -> None:
        """Refuse an action that is not a lever."""
        if not 0 <= int(action) < self.task.levers:
            raise LearnerFault(f"an action must be 0..{self.task.levers - 1}, got {action}")


@dataclass(frozen=True)
class _Levers:
    """What the levers on the host and the pure ones have in common."""

    levers: int = 3
    horizon: int = 10

    version: ClassVar[int] = 1
    controls: ClassVar[tuple[str, ...]] = ("copy-last",)
    oracle: ClassVar[str] = NO_ORACLE

    @property
    def inputs(self) -> Space:
        """Lamps."""
        return Tokens(self.levers)

    @property
    def outputs(self) -> Space:
        """Levers."""
        return Tokens(self.levers)


@dataclass(frozen=True)
class Levers(_Levers):
    """Pull the lever below the lamp.

    Sees: the number of the lamp that is lit, uniform. Does: pulls a lever. Reward 1 for the one
    below the lamp, else 0; an episode has `horizon` pulls. Chance 1/levers.
    """

    id: ClassVar[str] = "testing/levers"

    def open(self, streams: Streams) -> LeverWorld:
        """A fresh row of levers."""
        return LeverWorld(self, streams.numpy("data"))


@dataclass(frozen=True)
class PureLevers(_Levers):
    """The same as pure functions; over at the third pull that was right, and for several players at
    once.

    Sees: the number of the lamp that is lit, one for each player. Does: pulls a lever. Reward 1 for
    the one below the lamp, else 0, until one of the players has been right three times. Chance
    1/levers.
    """

    players: int = 1

    id: ClassVar[str] = "testing/pure-levers"

    def reset(self, key: Any) -> tuple[Any, Any]:
        """(times each was right, lamps), lamps."""
        from quickstudy.jax_gateway import jnp

        lamps = self.lamps(key)
        return (jnp.zeros(lamps.shape, jnp.int32), lamps), lamps

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """One pull of every player."""
        from quickstudy.jax_gateway import jnp

        times, lamps = state
        going = times.max() < 3
        right = (lamps == action) & going
        times = times + right
        shown = self.lamps(key)
        return (times, shown), Turn(
            shown, right.astype(jnp.float32), times.max() >= 3, {"times": times}
        )

    def lamps(self, key: Any) -> Any:
        """The lamps that are lit next."""
        from quickstudy.jax_gateway import jax

        return jax.random.randint(key, (self.players,) if self.players > 1 else (), 0, self.levers)
