"""Worlds, on the host and pure, with a fault of choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.seeds import Streams
from quickstudy.base.task import Life, Turn
from quickstudy.testing.small_tasks import Levers, LeverWorld, PureLevers


class _FaultyWorld(LeverWorld):
    """A world of `FaultyLevers`."""

    def __init__(self, task: FaultyLevers, rng: np.random.Generator) -> None:
        super().__init__(task, rng)
        self._fault, self._before = task.fault, 0.0
        self._last: tuple[Any, Any, bool] = None, 0.0, True

    def reset(self) -> Any:
        """With the fault `reset`, the time that is left is not set back."""
        return self.lamp() if self._fault == "reset" else super().reset()

    def step(self, action: Any) -> Turn:
        """With one of several faults."""
        turn = super().step(action)
        if self._fault == "reward":
            turn = turn._replace(reward=float("inf"))
        if self._fault == "late":
            turn = turn._replace(done=self._pulls == self.task.horizon + 3)
        return turn

    def live(self, act: Any, steps: int) -> Life:
        """A loop of its own, which is what may go wrong: with the fault `live`, it tells the reward
        before last.
        """
        observation, reward, done = self._last
        observations, actions, rewards, events = list[Any](), list[Any](), list[Any](), list[Any]()
        if steps and done:
            observation = self.reset()
        for step in range(steps):
            observations.append(observation)
            told, self._before = (self._before if self._fault == "live" else reward), reward
            actions.append(act(observation, told))
            observation, reward, done, info = self.step(actions[-1])
            rewards.append(reward)
            events.append((step, info))
            if done:
                break
        self._last = observation, reward, done
        return Life(observations, actions, rewards, events, bool(actions) and done)

    def lamp(self) -> Any:
        """With the faults `observation` and `leak`, something else, or more."""
        if self._fault == "global":
            np.random.random()  # noqa: NPY002  # the fault
        lamp = super().lamp()
        return {"observation": lamp + 1, "leak": (lamp, {"right": lamp})}.get(self._fault, lamp)


@dataclass(frozen=True)
class FaultyLevers(Levers):
    """Pull the lever below the lamp. With a fault of choice."""

    fault: str = "none"

    opened: ClassVar[list[str]] = []

    @property
    def draws(self) -> bool:
        return self.fault != "fixed"

    def open(self, streams: Streams) -> _FaultyWorld:
        """With the fault `state`, every world is another; with `deaf`, none is."""
        if self.fault == "state":
            self.opened.append("another")
            streams = replace(streams, root=len(self.opened))
        if self.fault in ("deaf", "fixed"):
            streams = Streams(streams.root, "", 0)
        return _FaultyWorld(self, streams.numpy("data"))

    def __hash__(self) -> int:
        if self.fault == "unhashable":
            raise TypeError("unhashable type: 'list'")
        return hash(self.fault)


WORLDS = {
    "observation": "observes what its spaces say",
    "state": "same streams, same actions, same turns",
    "deaf": "another repetition, another world",
    "leak": "shows the learner its observation and nothing else",
    "reward": "its rewards are finite numbers",
    "late": "is over within its horizon",
    "reset": "can be reset, again and again",
    "live": "live is step after step",
    "unhashable": "can be hashed",
    "global": "touches no global randomness",
}
"""Every fault of a world on the host, and the finding that is about it."""


@dataclass(frozen=True)
class FaultyPureLevers(PureLevers):
    """Pull the lever below the lamp, in pure functions. With a fault of choice."""

    fault: str = "none"

    traced: ClassVar[list[str]] = []

    def reset(self, key: Any) -> tuple[Any, Any]:
        """With one of several faults."""
        from quickstudy.jax_gateway import jax, jnp

        if self.fault == "global":
            np.random.random()  # noqa: NPY002  # the fault
        if self.fault == "deaf":
            key = jax.random.key(0)
        (times, lamps), shown = super().reset(key)
        if (
            self.fault == "crowd" and "Batch" in type(key).__name__
        ):  # it notices that others play beside it
            lamps = shown = (lamps + 1) % self.levers
        if self.fault == "type":
            times = times.astype(jnp.float32)
        return (times, lamps), self._observed(shown, times)

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """With one of several faults."""
        from quickstudy.jax_gateway import jax, jnp

        if self.fault == "deaf":
            key = jax.random.key(1)
        (times, shown), turn = super().step(key, state, action)
        reward = turn.reward
        if self.fault == "python" and times.max() > 2:
            reward = reward + 1
        if self.fault == "impure":
            self.traced.append("again")
            reward = reward * len(self.traced)
        if self.fault == "type":
            times = times.astype(jnp.int32)
        if self.fault == "rewarded":
            reward = (state[1] == action).astype(jnp.float32)
        if self.fault == "not finite":
            reward = jnp.where(reward > 0, jnp.inf, 0.0)
        if self.fault == "shared":
            reward = reward.sum()
        return (times, shown), Turn(self._observed(shown, times), reward, turn.done, turn.info)

    def _observed(self, lamps: Any, times: Any) -> Any:
        return {"leak": (lamps, times), "observation": lamps + self.levers}.get(self.fault, lamps)

    def __hash__(self) -> int:
        if self.fault == "unhashable":
            raise TypeError("unhashable type: 'list'")
        return hash((self.fault, self.players))


PURE_WORLDS = {
    "unhashable": "can be a constant of a compiled program",
    "python": "can be traced",
    "type": "keeps shapes and types from step to step",
    "impure": "is pure",
    "crowd": "an episode is its steps, side by side with others",
    "deaf": "another repetition, another episode",
    "leak": "shows the learner its observation and nothing else",
    "observation": "observes what its spaces say, every player by itself",
    "not finite": "its rewards are finite numbers, one for each player",
    "shared": "its rewards are finite numbers, one for each player",
    "rewarded": "goes on unrewarded when it is over",
    "global": "touches no global randomness",
}
"""Every fault of a pure world, and the finding that is about it."""
