"""Faulty learners that play whole episodes of a pure world, with one typical mistake each. None is
registered.

    quickstudy check src/quickstudy/testing/specimen_players.py:SharesItsKeyPlayer

`breaks` is the promise of the checkers that is broken, as in `specimens`; `HonestPlayer` has no
fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Brief, Cost, Snapshot
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.jax_gateway import jax, jnp, lax


@dataclass(frozen=True)
class HonestPlayer:
    """Keeps the rewards that each action had after each observation, and takes the best, or another
    by chance. Its snapshot is optional: without one it is taught all the same.
    """

    breaks: ClassVar[str] = ""

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Player:
        """A pupil of one lane."""
        if (
            brief.loss != "reward"
            or not isinstance(brief.inputs, Tokens)
            or not isinstance(brief.outputs, Tokens)
        ):
            raise NotApplicable("it acts, on symbols")
        return Player(brief, streams[0])


class Player:
    """The pupil: each episode is one compiled program."""

    lanes = 1
    shares_key = False

    def __init__(self, brief: Brief, streams: Streams) -> None:
        self.noise = jax.random.key(streams.integer("noise"))
        self.values = jnp.zeros((brief.inputs.width, brief.outputs.width))

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play episodes, and learn from each before the next."""
        played = []
        for number in range(start, stop):
            transcript, self.values = self._play(rehearsal, number)
            played.append(transcript)
        return _stacked(played)

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play episodes, and learn nothing."""
        return _stacked([self._play(rehearsal, number)[0] for number in range(start, stop)])

    def cost(self) -> list[Cost]:
        """Not counted."""
        return [Cost()]

    def snapshot(self) -> Snapshot:
        """The values; the noise follows from the seed."""
        return Snapshot({"values": np.asarray(self.values)[None]})

    def restore(self, snapshot: Snapshot) -> None:
        """The values."""
        self.values = jnp.asarray(snapshot.arrays["values"][0])

    def _play(self, rehearsal: Rehearsal, number: int) -> Any:
        key = jax.random.fold_in(rehearsal.keys[0], number)
        return _episode(rehearsal.world, self.shares_key, key, self.noise, self.values)


class SharesItsKeyPlayer(HonestPlayer):
    """Hands the key that draws its action on to `world.step`: in a world with noise it learns to
    repeat what the world is about to draw.
    """

    breaks = "episodes: cannot guess what the world draws next"

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Player:
        """A pupil with one key for both."""
        pupil = super().begin(brief, streams)
        pupil.shares_key = True
        return pupil


class NeverTaughtPlayer(HonestPlayer):
    """Was made from a baseline and still declares that it never learns. Protocols believe it, and
    never call `rehearse`.
    """

    breaks = "episodes: is taught if it learns"

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Player:
        """A pupil that learns, and declares that it does not."""
        pupil: Any = super().begin(brief, streams)
        pupil.learns = False
        return pupil  # type: ignore[no-any-return]


class FailsToRestorePlayer(HonestPlayer):
    """Looks in its snapshot for an array that is not there. A run that is resumed then restarts."""

    breaks = "episodes: comes back from a snapshot"

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Player:
        """A pupil whose `restore` raises KeyError."""
        super().begin(brief, streams)
        return _Unrestorable(brief, streams[0])


class _Unrestorable(Player):
    def restore(self, snapshot: Snapshot) -> None:
        self.values = jnp.asarray(snapshot.arrays["weights"][0])


@partial(jax.jit, static_argnums=(0, 1))
def _episode(world: Any, shares_key: bool, key: Any, noise: Any, values: Any) -> Any:
    """(transcript, values): the best action or, every other time, another; rewards, less a little,
    add to its value.
    """
    noise = jax.random.fold_in(noise, jax.random.bits(key))

    def step(carry: Any, number: Any) -> Any:
        state, seen, values = carry
        own, explores = jax.random.split(jax.random.fold_in(noise, number))
        other = jax.random.randint(own, (), 0, world.outputs.size)
        action = jnp.where(jax.random.uniform(explores) < 0.5, other, values[seen].argmax())
        chance = own if shares_key else jax.random.fold_in(key, number)
        state, turn = world.step(chance, state, action)
        values = values.at[seen, action].add(turn.reward - 0.1)
        return (state, turn.observation, values), (action, turn.reward, turn.done, turn.info)

    state, seen = world.reset(key)
    (_, _, values), happened = lax.scan(step, (state, seen, values), jnp.arange(world.horizon))
    return happened, values


def _stacked(played: list[Any]) -> Transcript:
    return Transcript(*jax.tree.map(lambda *parts: np.stack(parts)[None], *played))
