"""Worlds of every kind, seen alike: opened on the host, walked through by chance, written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.actions import Policy
from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.base.task import PureWorldTask, Turn, World, WorldTask, players_of, spaces_of


class Row(NamedTuple):
    """One step: what was seen, what was done then, what that brought. Plain JSON types, apart from
    a world's info.
    """

    step: int
    observation: Any
    action: Any
    reward: Any
    done: bool
    info: Mapping[str, Any]


def transcript(
    task: Any, streams: Streams, steps: int, act: Callable[[Any, Any], Any] | None = None
) -> list[Row]:
    """The first steps in a task's world, one episode after another, with `act` (see `World.live`)
    or by pure chance.
    """
    world, act = open_world(task, streams), act or by_chance(task, streams.numpy("actor"))
    rows: list[Row] = []
    while len(rows) < steps:
        life, before = world.live(act, steps - len(rows)), len(rows)
        last, info = len(life.actions) - 1, dict(life.events)
        for step, (seen, done, gained) in enumerate(
            zip(life.observations, life.actions, life.rewards, strict=True)
        ):
            told = {name: _listed(value) for name, value in info.get(step, {}).items()}
            over = life.done and step == last
            rows.append(
                Row(before + step, _listed(seen), _listed(done), _listed(gained), over, told)
            )
    return rows


def by_chance(task: Any, rng: np.random.Generator) -> Callable[[Any, Any], Any]:
    """An actor that sees nothing: every token and every bit is as likely as another, reals are
    around 0.
    """
    outputs, players = spaces_of(task)[1], players_of(task)
    scores = np.zeros((players, outputs.width) if players > 1 else outputs.width)
    policy = Policy(outputs, scores)
    return lambda observation, reward: plain(policy.draw(rng.random(scores.shape)))


def open_world(task: Any, streams: Streams) -> World:
    """A fresh world of a task, on the host; a pure one is stepped there too, so that anybody can
    act in it.
    """
    if isinstance(task, WorldTask):
        return task.open(streams)
    if isinstance(task, PureWorldTask):
        return PureWorld(task, streams)
    raise UsageError(
        f"{getattr(task, 'id', type(task).__name__)} is not a world: it has neither `open` nor"
        " `reset`"
    )


class PureWorld(World):
    """A pure world on the host: the episodes that a `Rehearsal` with the key `data` has, one after
    another.

    An episode is over where the world ends it, at its horizon at the latest.
    """

    def __init__(self, task: Any, streams: Streams) -> None:
        self.players, self._task = players_of(task), task
        self._horizon, self._key, self._episode = task.horizon, streams.jax("data"), 0
        self._begin, self._go_on = _programs(task)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled programs."""
        return {
            name: value for name, value in vars(self).items() if name not in ("_begin", "_go_on")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin, self._go_on = _programs(self._task)

    def reset(self) -> Any:
        """The next episode."""
        self._time = 0
        self._keys, self._state, observation = self._begin(self._key, self._episode)
        self._episode += 1
        return plain(observation)

    def step(self, action: Any) -> Turn:
        """Take one action."""
        self._state, turn = self._go_on(self._keys, self._time, self._state, action)
        self._time += 1
        observation, reward, done, info = (plain(part) for part in turn)
        return Turn(observation, reward, done or self._time == self._horizon, info)


@lru_cache(maxsize=16)
def _programs(task: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    from quickstudy.jax_gateway import jax

    def begin(key: Any, episode: Any) -> Any:
        first, later = episode_keys(key, episode)
        return later, *task.reset(first)

    return jax.jit(begin), jax.jit(
        lambda keys, time, *rest: task.step(jax.random.fold_in(keys, time), *rest)
    )


def episode_keys(key: Any, episode: Any) -> tuple[Any, Any]:
    """Keys of a lane's episode of that number: for its reset, and one to be folded with the step,
    for every step.
    """
    from quickstudy.jax_gateway import jax

    first, later = jax.random.split(jax.random.fold_in(key, episode))
    return first, later


def plain(value: Any) -> Any:
    """A value of a space as plain Python: a number, or an array where there are several; mappings
    all the way down.
    """
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else array


def _listed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _listed(part) for name, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
