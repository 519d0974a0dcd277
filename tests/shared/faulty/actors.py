"""Learners that act, step by step or whole episodes, with a fault of choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Brief, Cost, Snapshot
from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import jax, jnp, lax


class FaultyPuller:
    """Keeps the rewards that each action had after each observation, and takes the best, or
    another.

    A host learner with a fault of choice.
    """

    def __init__(self, brief: Brief, seed: int, fault: str = "none") -> None:
        self._fault = fault
        self._rng = np.random.default_rng(None if fault == "unseeded" else seed)
        self._values = np.zeros((brief.inputs.width, brief.outputs.width))
        self._last: tuple[int, int] | None = None
        self._seen = 0

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """The best action so far; every other one by chance while it learns."""
        if self._last is not None and (learning or self._fault == "restless"):
            self._values[self._last] += reward
        self._seen = 0 if first and self._fault != "carries over" else self._seen + int(observation)
        chance, other = self._rng.random(), int(self._rng.integers(self._values.shape[1]))
        best = int(self._values[observation].argmax())
        if self._fault == "carries over":
            best = (best + self._seen) % self._values.shape[1]
        action = other if learning and chance < 0.5 else best
        self._last = int(observation), action
        return action + self._values.shape[1] if self._fault == "outside" else action

    def snapshot(self) -> Snapshot:
        state = self._rng.bit_generator.state
        facts = {"last": self._last and list(self._last), "seen": self._seen, "generator": state}
        return Snapshot({"values": self._values.copy()}, facts)

    def restore(self, snapshot: Snapshot) -> None:
        """With the fault `forgets`, all but what it has learned."""
        if self._fault != "forgets":
            self._values = np.array(snapshot.arrays["values"])
        last = snapshot.facts["last"]
        self._last, self._seen = last and (last[0], last[1]), snapshot.facts["seen"]
        self._rng.bit_generator.state = snapshot.facts["generator"]


ACTORS = {
    "outside": "acts within its space",
    "unseeded": "same seed, same actions",
    "restless": "does not learn when learning is off",
    "carries over": "starts afresh with an episode",
    "forgets": "comes back from a snapshot",
}
"""Every fault of `FaultyPuller`, and the finding that is about it (a world)."""


@dataclass(frozen=True)
class FaultyPlayer:
    """The same in whole episodes, each call one compiled program. With a fault of choice."""

    fault: str = "none"

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> _Player:
        if brief.loss != "reward":
            raise NotApplicable("it acts, and answers no questions")
        return _Player(brief, streams[0], self.fault)


class _Player:
    lanes = 1

    def __init__(self, brief: Brief, streams: Streams, fault: str) -> None:
        self._fault = fault
        seed = (
            int(np.random.default_rng().integers(2**31))
            if fault == "unseeded"
            else streams.integer("noise")
        )
        self._noise = jax.random.key(seed)
        self._values = jnp.zeros((brief.inputs.width, brief.outputs.width))

    def cost(self) -> list[Cost]:
        return [Cost()]

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Episode after episode; with the fault `hasty`, only the first of a call is learned
        from.
        """
        played = []
        for number in range(start, stop):
            transcript, values = self._play(rehearsal, number)
            if self._fault != "hasty" or number == start:
                self._values = values
            played.append(transcript)
        return _stacked(played)

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """As it is; with the fault `restless`, it learns all the same."""
        played = []
        for number in range(start, stop):
            transcript, values = self._play(rehearsal, number)
            self._values = values if self._fault == "restless" else self._values
            played.append(transcript)
        return _stacked(played)

    def snapshot(self) -> Snapshot:
        return Snapshot({"values": np.asarray(self._values)[None]})

    def restore(self, snapshot: Snapshot) -> None:
        """With the fault `forgets`, nothing."""
        if self._fault != "forgets":
            self._values = jnp.asarray(snapshot.arrays["values"][0])

    def _play(self, rehearsal: Rehearsal, number: int) -> Any:
        shift = rehearsal.world.outputs.size if self._fault == "outside" else 0
        key = jax.random.fold_in(rehearsal.keys[0], number)
        return _played(
            rehearsal.world, key, self._noise, self._values, shift, self._fault == "shares its key"
        )


def _episode(world: Any, key: Any, noise: Any, values: Any, shift: Any, shares: bool) -> Any:
    """(transcript, values): the best action or, every other time, another; rewards, less a little,
    add to its value.
    """
    noise = jax.random.fold_in(noise, jax.random.bits(key))

    def step(carry: Any, number: Any) -> Any:
        state, seen, values = carry
        own, chance = jax.random.split(jax.random.fold_in(noise, number))
        other = jax.random.randint(own, (), 0, world.outputs.size)
        action = jnp.where(jax.random.uniform(chance) < 0.5, other, values[seen].argmax())
        state, turn = world.step(own if shares else jax.random.fold_in(key, number), state, action)
        values = values.at[seen, action].add(turn.reward - 0.1)
        return (state, turn.observation, values), (
            action + shift,
            turn.reward,
            turn.done,
            turn.info,
        )

    state, seen = world.reset(key)
    (_, _, values), happened = lax.scan(step, (state, seen, values), jnp.arange(world.horizon))
    return happened, values


_played = jax.jit(_episode, static_argnums=(0, 5))


def _stacked(played: list[Any]) -> Transcript:
    return Transcript(*jax.tree.map(lambda *parts: np.stack(parts)[None], *played))


PLAYERS = {
    "outside": "plays whole episodes within its space",
    "unseeded": "same seed and keys, same episodes",
    "hasty": "rehearses the same in two calls as in one",
    "restless": "learns nothing when it performs",
    "shares its key": "cannot guess what the world draws next",
    "forgets": "comes back from a snapshot",
}
"""Every fault of `FaultyPlayer`, and the finding that is about it (episodes)."""
