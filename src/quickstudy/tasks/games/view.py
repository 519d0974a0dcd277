"""The observation of a player of the games as one vector: its parts, written and read in one place.

Works on NumPy and on JAX arrays, with any axes in front of the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from quickstudy.jax_gateway import jax, jnp
from quickstudy.tasks.games.settings import Sizes


class Observation(NamedTuple):
    """The parts of an observation, (..., number) each, in the order in which they are written.

    A part that is None is not written; None, too, where a vector is too short to hold it.

    stimuli: all that a player is shown, stimulus by stimulus.
    message: zeros and ones, every token one-hot.
    phase: support, query.
    result: failure, success of the last game.
    reward: of the last game.
    round: one-hot, all 0 at the feedback.
    role: speaker, listener; only where both are players.
    """

    stimuli: Any
    message: Any
    phase: Any = None
    result: Any = None
    reward: Any = None
    round: Any = None
    role: Any = None

    def stimuli_of(self, sizes: Sizes) -> Any:
        """(..., stimulus, dimension)."""
        return self.stimuli.reshape(*self.stimuli.shape[:-1], -1, sizes.dimensions)

    def tokens(self, sizes: Sizes) -> Any:
        """(..., position): the message as numbers of tokens."""
        one_hot = self.message.reshape(*self.message.shape[:-1], sizes.length, -1)
        return one_hot.argmax(axis=-1)

    @property
    def query(self) -> Any:
        """(...,): whether the game is of the query phase."""
        return self.phase[..., 1] > 0

    @property
    def feedback(self) -> Any:
        """(...,): whether this is the feedback."""
        return self.round.sum(axis=-1) == 0


def widths(sizes: Sizes) -> Observation:
    """How many numbers each part has."""
    return Observation(sizes.seen, sizes.heard, 2, 2, 1, sizes.rounds + 1, 2)


def view_width(sizes: Sizes, players: int) -> int:
    """Numbers in an observation; with one player the role is not written."""
    *parts, role = widths(sizes)
    return int(sum(parts) + (role if players > 1 else 0))


def encode(view: Observation) -> Any:
    """(..., width) float32: the parts one after another."""
    parts = [jnp.asarray(part, jnp.float32) for part in view if part is not None]
    return jnp.concatenate(parts, axis=-1)


def decode(sizes: Sizes, vector: Any) -> Observation:
    """The parts of a vector, which may end after any of them."""
    return Observation(*_cut(sizes, vector))


def _cut(sizes: Sizes, vector: Any) -> Iterator[Any]:
    start = 0
    for width in widths(sizes):
        there = start + width <= vector.shape[-1]
        yield vector[..., start : start + width] if there else None
        start += width


def as_vector(sizes: Sizes, seen: Mapping[str, Any], turn: Any, role: int | None = None) -> Any:
    """What `play.observe` shows a player, as one vector; role: None with one player."""
    tokens = jax.nn.one_hot(seen["communication_channel"], sizes.words + 1).reshape(-1)
    view = Observation(
        seen["stimulus"],
        tokens,
        seen["mode_id"],
        seen["previous_game_result"],
        seen["previous_game_reward"],
        jax.nn.one_hot(turn, sizes.rounds + 1),
        None if role is None else jax.nn.one_hot(role, 2),
    )
    return encode(view)


class Channel(NamedTuple):
    """What a training needs to know of a world in which a speaker sends one message to a listener
    before it decides, so that gradients can pass through the message.
    """

    sizes: Sizes
    speaker: int = 0
    listener: int = 1

    def vectors(self, stimuli: Any, tokens: Any, query: Any, turn: int, role: int) -> Any:
        """(game, width): observations without results of games.

        stimuli: (game, stimulus, dimension).
        tokens: (game, position, token), one-hot, or weights.
        query: (game,) whether it is of the query phase.
        turn, role: the same in all games.
        """
        games, sizes = len(stimuli), self.sizes
        fixed = [jnp.zeros(3), jax.nn.one_hot(turn, sizes.rounds + 1), jax.nn.one_hot(role, 2)]
        none, turns, roles = (jnp.broadcast_to(part, (games, len(part))) for part in fixed)
        phase = jnp.stack([~query, query], axis=-1)
        own = stimuli.reshape(games, -1), tokens.reshape(games, -1)
        return encode(Observation(*own, phase, none[:, :2], none[:, 2:], turns, roles))

    def shown_to(self, role: int) -> Any:
        """(width,): 1 where an observation is read by a player in its role, which is everything but
        results, and for the speaker the message.
        """
        parts = [np.ones(width, np.float32) for width in widths(self.sizes)]
        shown = Observation(*parts)
        return np.concatenate(
            shown._replace(
                message=shown.message * (role == self.listener),
                result=0 * shown.result,
                reward=0 * shown.reward,
            )
        )
