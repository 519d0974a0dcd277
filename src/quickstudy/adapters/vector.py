"""Many worlds as one Gymnasium vector environment, in one compiled call a step.

    import gymnasium
    import quickstudy.adapters.gym
    envs = gymnasium.make_vec("quickstudy/World-v1", num_envs=256, task="games/listener")

Environment i of `reset(seed=n)` is the world of root seed n + i, as `run --root` has it; without a
seed, the first reset opens random worlds and later ones begin their next episodes. Where an episode
has ended, the observation is the first of the next (same-step autoreset); the last observation of
the ended one is not kept, since nothing ends early. Needs the extra `rl`, and `learners` for games.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.gym import Batch, gym_space
from quickstudy.adapters.rendering import root_seed
from quickstudy.base import registries
from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import PureWorldTask, WorldTask, players_of, spaces_of

try:
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError as error:
    raise MissingExtra("gymnasium", "rl") from error


class VectorWorlds(VectorEnv[Any, Any, NDArray[Any]]):
    """Worlds of one task for one player, as arrays. Observations are those that learners see: a
    token, or one row of numbers.

    Parameters
    ----------
    num_envs:
        Number of worlds.
    task:
        Name of the task, with parameters as on the command line.
    convention:
        Convention of the task.
    repetition:
        Repetition whose streams are used.
    render_mode:
        None: there is no text of many worlds.
    """

    def __init__(
        self,
        num_envs: int = 1,
        task: str = "curriculum/micro-1",
        convention: str = "corrected",
        repetition: int = 0,
        render_mode: str | None = None,
    ) -> None:
        made = registries.typed_task(task, convention)
        if not isinstance(made, WorldTask | PureWorldTask) or players_of(made) > 1:
            raise UsageError(f"{made.id} is not a world for one player; take games/listener")
        if render_mode is not None:
            raise UsageError("many worlds have no text; make one with gymnasium.make")
        if num_envs < 1:
            raise UsageError(f"num_envs must be at least 1, got {num_envs}")
        self._name = task
        self._task: Any = made
        self._convention, self._repetition = convention, repetition
        self.num_envs, self.render_mode = num_envs, None
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}
        inputs, outputs = spaces_of(made)
        self.single_observation_space = gym_space(inputs)
        self.single_action_space = gym_space(outputs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._tokens = isinstance(inputs, Tokens)
        self._worlds: Any = None

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """(world, ...) first observations."""
        if seed is not None or self._worlds is None:
            self._worlds = self._opened(self._roots(seed))
        return self._seen(self._worlds.reset()), {}

    def _roots(self, seed: int | list[int | None] | None) -> list[int]:
        if isinstance(seed, int):
            return [seed + number for number in range(self.num_envs)]
        given = [None] * self.num_envs if seed is None else list(seed)
        if len(given) != self.num_envs:
            raise UsageError(f"{self.num_envs} worlds need as many seeds, got {len(given)}")
        random = np.random.default_rng()
        return [root_seed(random) if one is None else int(one) for one in given]

    def _opened(self, roots: list[int]) -> Any:
        if isinstance(self._task, WorldTask):
            return Batch(self._name, roots, self._convention, self._repetition)
        return PureBatch(
            self._task, [Streams(one, self._task.id, self._repetition) for one in roots]
        )

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """(world, ...) observations, rewards, whether episodes have ended; none is cut off."""
        if self._worlds is None:
            raise UsageError("reset the environment before the first step")
        given = np.asarray(actions)
        if given.shape[:1] != (self.num_envs,):
            raise UsageError(f"{self.num_envs} worlds need as many actions, got {given.shape}")
        seen, rewards, done = self._worlds.step(given)
        return self._seen(seen), rewards.astype(np.float64), done, np.zeros_like(done), {}

    def _seen(self, observation: Any) -> Any:
        return observation.astype(np.int64) if self._tokens else observation.astype(np.float64)

    def render(self) -> Any:
        """Nothing: see `render_mode`."""
        return None


class PureBatch:
    """Pure worlds side by side, each with its own streams: the episodes that `PureWorld` has.

    The next episode of every world is drawn beforehand, for all worlds in one call.
    """

    def __init__(self, task: Any, streams: list[Streams]) -> None:
        from quickstudy.jax_gateway import jax, jnp
        from quickstudy.tasks.worlds import episode_keys

        keys = jnp.stack([one.jax("data") for one in streams])
        horizon = task.horizon

        def begin(numbers: Any) -> Any:
            first, later = jax.vmap(episode_keys)(keys, numbers)
            return (later, *jax.vmap(task.reset)(first))

        def step(present: Any, following: Any, times: Any, actions: Any) -> Any:
            later, states, _ = present
            own = jax.vmap(jax.random.fold_in)(later, times)
            states, turns = jax.vmap(task.step)(own, states, actions)
            over = turns.done | (times + 1 == horizon)

            def chosen(new: Any, old: Any) -> Any:
                return jnp.where(over.reshape(-1, *[1] * (new.ndim - 1)), new, old)

            left = jax.tree.map(chosen, following, (later, states, turns.observation))
            return left, jnp.where(over, 0, times + 1), turns.reward, over

        self._begin, self._step = jax.jit(begin), jax.jit(step)
        self._count = len(streams)
        self._episode = np.zeros(self._count, np.int32)

    def reset(self) -> NDArray[Any]:
        """(world, ...) first observations of the next episodes."""
        self._present = self._begin(self._episode)
        self._times = np.zeros(self._count, np.int32)
        # New arrays, never in place: a program that has been called may still read the old ones.
        self._episode = self._episode + 1
        self._draw()
        return np.asarray(self._present[2])

    def _draw(self) -> None:
        self._following = self._begin(self._episode)
        self._used = np.zeros(self._count, np.bool_)

    def step(self, actions: NDArray[Any]) -> tuple[Any, Any, Any]:
        """(world, ...) observations, rewards, done."""
        before = self._present, self._times
        found = self._step(self._present, self._following, self._times, actions)
        over = np.asarray(found[3])
        if (over & self._used).any():  # the drawn episode has been played already
            self._draw()
            found = self._step(before[0], self._following, before[1], actions)
        self._present, self._times = found[:2]
        self._episode = self._episode + over
        self._used = self._used | over
        return np.asarray(self._present[2]), np.asarray(found[2]), over
