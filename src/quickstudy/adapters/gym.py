"""Worlds as Gymnasium environments, one or many at a time.

    import gymnasium
    import quickstudy.adapters.gym
    env = gymnasium.make("quickstudy/World-v1", task="curriculum/micro-5.1")

An observation is what a learner sees, an action what it does; what it must not see is in `info`.
`reset(seed=n)` opens the world of that root seed; without a seed, the first reset opens a random
world and later ones begin the next episode of the same world. An environment can be pickled and
copied, and then goes on as its original. Needs the extra `rl`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.rendering import METADATA, check_render_mode, root_seed, spelled
from quickstudy.base import registries
from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.base.offers import Snapshotting, offers
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Bits, Fields, Space, Tokens
from quickstudy.base.task import World, WorldTask, players_of, spaces_of
from quickstudy.tasks.worlds import open_world

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise MissingExtra("gymnasium", "rl") from error

spaces = gymnasium.spaces


def gym_space(space: Space) -> Any:
    """Tokens become Discrete, bits MultiBinary, reals Box, fields Dict."""
    if isinstance(space, Tokens):
        return spaces.Discrete(space.size)
    if isinstance(space, Fields):
        return spaces.Dict({name: gym_space(part) for name, part in space.parts})
    if isinstance(space, Bits):
        return spaces.MultiBinary(space.width)
    return spaces.Box(-np.inf, np.inf, (space.width,), np.float64)


def _task(name: str, convention: str) -> Any:
    made = registries.typed_task(name, convention)
    if not isinstance(made, WorldTask) or players_of(made) > 1:
        raise UsageError(
            f"{made.id} is not a world for one player; those of the curriculum are, as"
            " curriculum/micro-1"
        )
    return made


class WorldEnv(gymnasium.Env[Any, Any]):
    """A world of a task by its name, as on the command line."""

    metadata = METADATA

    def __init__(
        self,
        task: str = "curriculum/micro-1",
        convention: str = "corrected",
        repetition: int = 0,
        render_mode: str | None = None,
    ) -> None:
        self._task, self._repetition = _task(task, convention), repetition
        self.render_mode = check_render_mode(render_mode)
        self._world: World | None = None
        self._root, self._shown = 0, ""
        inputs, outputs = spaces_of(self._task)
        self.observation_space, self.action_space = gym_space(inputs), gym_space(outputs)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The first observation."""
        super().reset(seed=seed)
        if self._world is None or seed is not None:
            self._root = root_seed(self.np_random) if seed is None else seed
            self._world = self._opened()
        seen = self._seen(self._world.reset())
        self._shown = f"environment {spelled(seen)}"
        return seen, {}

    def _opened(self) -> World:
        return open_world(self._task, Streams(self._root, self._task.id, self._repetition))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One action; a world ends by itself only."""
        if self._world is None:
            raise UsageError("reset the environment before the first step")
        turn = self._world.step(action.item() if isinstance(action, np.generic) else action)
        seen = self._seen(turn.observation)
        if self.render_mode:
            self._shown = (
                f"you {spelled(action)}\nreward {turn.reward:g}\nenvironment {spelled(seen)}"
            )
        return seen, float(turn.reward), bool(turn.done), False, dict(turn.info)

    def render(self) -> str | None:
        """The last step as text, with `render_mode="ansi"`; else None."""
        return self._shown if self.render_mode else None

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the world, which is a running program, and what brings the world back."""
        if self._world is not None and not offers(self._world, Snapshotting):
            raise UsageError(
                f"{self._task.id} cannot be copied or pickled: its world has no snapshot and"
                " restore"
            )
        snapshot = None if self._world is None else self._world.snapshot()
        return {**vars(self), "_world": snapshot}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if (snapshot := state["_world"]) is not None:
            self._world = self._opened()
            self._world.restore(snapshot)  # type: ignore[attr-defined]

    def _seen(self, observation: Any) -> Any:
        return (
            np.int64(observation)
            if isinstance(self.observation_space, spaces.Discrete)
            else observation
        )


class Batch:
    """Many worlds of a task, stepped together with arrays in and out. One that is over is reset at
    once.

    seeds: a root seed for each. done marks where the last action ended an episode: the observation
    is then the first of the next episode.
    """

    def __init__(
        self,
        task: str,
        seeds: Sequence[int],
        convention: str = "corrected",
        repetition: int = 0,
    ) -> None:
        made = _task(task, convention)
        if not isinstance(seeds, Iterable):
            raise UsageError(
                f"seeds must be a list of root seeds, as range({seeds}), got {seeds!r}"
            )
        streams = [Streams(int(seed), made.id, repetition) for seed in seeds]
        if not streams:
            raise UsageError("a batch needs at least one root seed, got none")
        self._begun = False
        self._worlds = [open_world(made, own) for own in streams]

    def reset(self) -> NDArray[Any]:
        """(world,) first observations."""
        self._begun = True
        return np.array([world.reset() for world in self._worlds])

    def step(
        self, actions: Sequence[Any] | NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """(world,) observations, rewards, done."""
        if not self._begun:
            raise UsageError("reset the batch before the first step")
        given = actions.tolist() if isinstance(actions, np.ndarray) else actions
        turns = [world.step(action) for world, action in zip(self._worlds, given, strict=True)]
        seen = [
            world.reset() if turn.done else turn.observation
            for world, turn in zip(self._worlds, turns, strict=True)
        ]
        return (
            np.array(seen),
            np.array([turn.reward for turn in turns]),
            np.array([turn.done for turn in turns]),
        )


if "quickstudy/World-v1" not in gymnasium.registry:
    gymnasium.register(
        id="quickstudy/World-v1",
        entry_point="quickstudy.adapters.gym:WorldEnv",
        vector_entry_point="quickstudy.adapters.vector:VectorWorlds",
    )
