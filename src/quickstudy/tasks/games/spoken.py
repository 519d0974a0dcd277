"""A referential game whose speaker is a rule in a user's file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.jax_gateway import jax, jnp
from quickstudy.tasks.games.listener import ListenerGame
from quickstudy.tasks.games.play import GameWorld
from quickstudy.tasks.games.spaces import grid


@dataclass(frozen=True)
class SpokenListener(ListenerGame):
    """The listener's part of meta-referential games, with a user's speaker: define `message`.
    Everything else is as in `games/listener`.

    words must be enough for every token that a message has; tokens are numbers from 1, and 0 ends a
    message.
    """

    speaks: ClassVar[str] = "own"

    @property
    def speaker(self) -> SpokenListener:
        """Itself."""
        return self

    def message(self, latents: Any, stimulus: Any) -> Any:
        """(position,) tokens about a target, in JAX: at most `max(dimensions, length)` of them.

        latents: (dimension,) the values of the target, whole numbers from 0.
        stimulus: (dimension,) the real numbers that the speaker sees of it.
        """
        raise NotImplementedError

    def world(self, tested: bool = False) -> GameWorld:
        """The pure world. Raises UsageError for a message that has no room, or words that do not
        exist.
        """
        _check(self)
        return super().world(tested)


@lru_cache(maxsize=16)
def _check(task: SpokenListener) -> None:
    """All meanings, each with stimuli in the middle and at both ends."""
    meanings = grid(task.dimensions, task.sizes.most)
    with jax.ensure_compile_time_eval():
        for end in (-1.0, 0.0, 1.0):
            stimulus = jnp.full(task.dimensions, end)
            said = np.asarray(jax.vmap(task.message, (0, None))(jnp.asarray(meanings), stimulus))
            room = max(task.dimensions, task.length)
            if said.ndim != 2 or said.shape[1] > room:
                raise UsageError(
                    f"{task.id}: message must give at most {room} tokens, got the shape"
                    f" {said.shape[1:]}"
                )
            if said.min(initial=0) < 0 or said.max(initial=0) > task.words:
                raise UsageError(
                    f"{task.id}: tokens of message must be 0..{task.words} (words={task.words}),"
                    f" got {said.min()}..{said.max()}"
                )
