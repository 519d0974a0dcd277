"""Worlds whose cues and right actions are fixed beforehand: only the reward depends on the
action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.task import Life, Turn, World

CHUNK = 2048
"""Steps that a compiled program is given at a time."""


@dataclass(frozen=True)
class Script:
    """All steps of a world, in order. Arrays have one entry per step.

    cue: the observation.
    action: the right one.
    mapping: number of the mapping.
    level: bin of the difficulty axis.
    part: number of the checkpoint that the step counts for; -1 where it is not scored.
    taught: the first steps, in which the learner learns; after them no reward is given.
    """

    cue: NDArray[np.int32]
    action: NDArray[np.int32]
    mapping: NDArray[np.int64]
    level: NDArray[np.int64]
    part: NDArray[np.int64]
    taught: int

    @property
    def steps(self) -> int:
        """The length of the world."""
        return len(self.cue)

    def rewards(self, start: int, actions: Sequence[int]) -> NDArray[np.float32]:
        """Rewards for actions from step `start` on: 1 where right, and 0 after the taught steps."""
        steps = np.arange(start, start + len(actions))
        right = self.action[steps] == np.asarray(actions)
        return np.asarray(right & (steps < self.taught), np.float32)

    def counts(self, right: NDArray[np.bool_], parts: int, bins: int) -> NDArray[np.int64]:
        """(part, bin): how many scored steps are `right`."""
        chosen = right & (self.part >= 0)
        place = self.part[chosen] * bins + self.level[chosen]
        return np.bincount(place, minlength=parts * bins).reshape(parts, bins)


class ScriptWorld(World):
    """Plays a script; over after its last step."""

    def __init__(self, script: Script) -> None:
        self.script, self.at = script, 0

    @property
    def showing(self) -> int | None:
        """The cue of the current step; None after the last."""
        return int(self.script.cue[self.at]) if self.at < self.script.steps else None

    def reset(self) -> int:
        """The first cue."""
        self.at = 0
        return int(self.script.cue[0])

    def step(self, action: Any) -> Turn:
        """Reward the action, show the next cue (the last one again at the end)."""
        reward = float(self.script.rewards(self.at, [int(action)])[0])
        self.at += 1
        over = self.at == self.script.steps
        return Turn(int(self.script.cue[self.at - over]), reward, over)

    def compiled_with(self, others: Sequence[World]) -> ScriptLives:
        """Hand this world and others over to `Lifetime`, as arrays for a compiled program."""
        return ScriptLives([self, *others])  # type: ignore[list-item]  # worlds of one task


class ScriptLives:
    """Fresh worlds of one task, one per lane, for `ActorPupil.live_in`: all have equally many
    steps.
    """

    def __init__(self, worlds: Sequence[ScriptWorld]) -> None:
        self._worlds = worlds

    @property
    def world(self) -> tuple[Any, Any]:
        """`step` and `halts` of a state: (cues, actions, steps taken of the chunk, steps it
        has).
        """
        return _functions()

    @property
    def showing(self) -> list[int | None]:
        """The current cue of every world."""
        return [world.showing for world in self._worlds]

    def supplied(self) -> tuple[Any, NDArray[np.int32]] | None:
        """The next chunk of every lane and its first cue; None where the taught steps are over."""
        script, at = self._worlds[0].script, self._worlds[0].at % self._worlds[0].script.steps
        if (length := min(CHUNK, script.taught - at)) <= 0:
            return None
        lanes = len(self._worlds)
        cues, actions = np.zeros((lanes, CHUNK + 1), np.int32), np.zeros((lanes, CHUNK), np.int32)
        for lane, world in enumerate(self._worlds):
            own = world.script.cue[at : at + length + 1]
            cues[lane, : len(own)] = own
            actions[lane, :length] = world.script.action[at : at + length]
        begin, end = np.zeros(lanes, np.int32), np.full(lanes, length, np.int32)
        return (cues, actions, begin, end), cues[:, 0]

    def lived(self, lived: Any) -> list[Life]:
        """Move the worlds to where a program has come, and check the rewards that it has
        counted.
        """
        taken, lives = int(lived.steps), []
        for world, done, gained in zip(
            self._worlds, np.asarray(lived.done), np.asarray(lived.gained), strict=True
        ):
            script, at = world.script, world.at % world.script.steps
            rewards = script.rewards(at, done[:taken])
            if (rewards != gained[:taken]).any():
                raise RuntimeError(
                    "rewards of a compiled rollout differ from its world: a defect of quickstudy"
                )
            world.at = at + taken
            cues = script.cue[at : at + taken].tolist()
            over = world.at == script.steps
            lives.append(Life(cues, done[:taken].tolist(), rewards.tolist(), [], over))
        return lives


@lru_cache
def _functions() -> tuple[Any, Any]:
    from quickstudy.jax_gateway import jnp

    def step(state: Any, action: Any) -> Any:
        cues, actions, at, end = state
        reward = (actions[at] == action).astype(jnp.float32)
        return (cues, actions, at + 1, end), cues[at + 1], reward

    return step, lambda state: state[2] >= state[3]
