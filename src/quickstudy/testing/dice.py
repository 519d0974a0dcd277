"""A world that rolls a fair die at every step. No learner can guess the roll, unless it shares the
world's key.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.base.exchange import Transcript
from quickstudy.base.spaces import Space, Tokens
from quickstudy.base.task import Turn, players_of
from quickstudy.testing.check_result import Broken

ROLLS = 3000
"""Rolls that are guessed at least."""

ERRORS = 5.0
"""Standard errors that a share of right guesses may be off: by chance, one honest learner in 1.7
million.
"""


@dataclass(frozen=True)
class Dice:
    """Guess a fair die, rolled after the guess: a pure world with the spaces and the horizon of
    another one.

    Sees: zeros. Does: guesses. Reward 1 for a right guess, 1/sides on average for every policy. The
    rolls come from `uniform`, `randint` and `categorical` in turn, because a shared key shows only
    where the learner and the world draw in the same way.
    """

    task: Any

    @property
    def horizon(self) -> int:
        """That of the task."""
        return int(self.task.horizon)

    @property
    def inputs(self) -> Space:
        """Those of the task."""
        return self.task.inputs  # type: ignore[no-any-return]

    @property
    def outputs(self) -> Space:
        """Those of the task: the sides of the die."""
        return self.task.outputs  # type: ignore[no-any-return]

    def reset(self, key: Any) -> tuple[Any, Any]:
        """(steps so far, zeros), zeros."""
        from quickstudy.jax_gateway import jax, jnp

        blank = jax.tree.map(jnp.zeros_like, self.task.reset(key)[1])
        return (jnp.int32(0), blank), blank

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """Roll the die, and compare."""
        from quickstudy.jax_gateway import jax, jnp, lax

        time, blank = state
        sides = self.task.outputs.size
        ways = (
            lambda key: (jax.random.uniform(key) * sides).astype(jnp.int32),
            lambda key: jax.random.randint(key, (), 0, sides, jnp.int32),
            lambda key: jax.random.categorical(key, jnp.zeros(sides)).astype(jnp.int32),
        )
        right = lax.switch(time % len(ways), ways, key) == action
        turn = Turn(blank, right.astype(jnp.float32), jnp.zeros((), bool), {"right": right})
        return (time + 1, blank), turn


def dice_for(task: Any) -> Dice | None:
    """The die that can be guessed by the learners of a task, if its actions are single symbols."""
    return Dice(task) if isinstance(task.outputs, Tokens) and players_of(task) == 1 else None


def check_guesses(dice: Dice, played: Transcript, doing: str) -> str:
    """Broken if the guesses are right significantly more or less often than one in `sides`."""
    right = np.asarray(played.rewards, float)
    chance = 1 / dice.task.outputs.size
    found = f"guesses {right.mean():.3f} of {right.size} rolls while it {doing}"
    if abs(right.mean() - chance) > ERRORS * math.sqrt(chance * (1 - chance) / right.size):
        raise Broken(
            f"{found}, where {chance:.3f} is possible: draw actions from the learner's own key, and"
            " hand world.step a key made from the keys of the rehearsal"
        )
    return found
