"""What a task promises that opens worlds: environments that answer, on the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.learner import Brief
from quickstudy.base.task import Turn, players_of
from quickstudy.tasks.sampling import check_within
from quickstudy.testing.check_result import Broken, Promise, as_bytes, check_names, draw
from quickstudy.testing.tasks import Kind

STEPS = 300
"""Steps of a rollout that are checked; a longer horizon is checked in part."""

WORLDS = 4
"""Opened for every repetition, each for one episode: short ones may be alike by chance."""


class Episode(NamedTuple):
    """From a reset to the end, or as far as was looked."""

    first: Any
    actions: list[Any]
    turns: list[Turn]

    @property
    def observations(self) -> list[Any]:
        """All that the learner saw."""
        return [self.first, *(turn.observation for turn in self.turns)]

    @property
    def over(self) -> bool:
        """Whether the world reported the end."""
        return bool(self.turns[-1].done)


def leading(task: Any) -> tuple[int, ...]:
    """The axes in front of observations, actions and rewards: one of the players, where there are
    several.
    """
    players = players_of(task)
    return (players,) if players > 1 else ()


class OfWorlds(Kind):
    """Plays random actions: the first episode of fresh worlds, and what comes after a reset."""

    title = "world"
    same = "same streams, same actions, same turns"
    other = "another repetition, another world"

    def promises(self) -> list[Promise]:
        """The table."""
        return [
            ("observes what its spaces say", self._observes),
            *super().promises(),
            ("shows the learner its observation and nothing else", self._shows_no_more),
            ("its rewards are finite numbers", self._rewards),
            ("is over within its horizon", self._horizon),
            ("can be reset, again and again", self._resets),
            ("live is step after step", self._live),
            ("can be hashed", self.hashed),
            ("its rules can be made for it", lambda: self.takes_rules(self._brief())),
        ]

    def shown(self, task: Any, repetition: int = 0) -> list[bytes]:
        """A few worlds, each as far as its first end."""
        return as_bytes(
            [[episode.observations, episode.turns] for episode in self._lives(task, repetition)]
        )

    def _brief(self) -> Brief:
        return Brief(self.inputs, self.outputs, "reward", int(self.task.horizon), STEPS)

    def _open(self, task: Any, root: int = 0, repetition: int = 0) -> Any:
        return task.open(replace(self.streams(repetition), root=root))

    def _lives(self, task: Any, repetition: int = 0) -> list[Episode]:
        rng = self.streams().numpy("check")
        return [self._episode(self._open(task, root, repetition), rng) for root in range(WORLDS)]

    def _episode(self, world: Any, rng: np.random.Generator, steps: int = STEPS) -> Episode:
        episode = Episode(world.reset(), [], [])
        for _ in range(steps):
            episode.actions.append(draw(self.outputs, rng, leading(self.task)))
            turn = world.step(episode.actions[-1])
            if not isinstance(turn, Turn):
                raise Broken(f"step(action) must give a Turn, got {type(turn).__name__}")
            episode.turns.append(turn)
            if turn.done:
                break
        return episode

    def _observes(self) -> str:
        for episode in (lives := self._lives(self.task)):
            for observation in episode.observations:
                check_within(
                    "an observation", declared(observation), self.inputs, leading(self.task)
                )
        return f"{sum(len(episode.turns) for episode in lives)} steps"

    def _shows_no_more(self) -> None:
        for episode in self._lives(self.task):
            for observation in episode.observations:
                check_names("an observation", observation, self.inputs)

    def _rewards(self) -> None:
        for episode in self._lives(self.task):
            for turn in episode.turns:
                reward = np.asarray(turn.reward)
                number = np.issubdtype(reward.dtype, np.number) or reward.dtype == np.bool_
                if (
                    reward.shape != leading(self.task)
                    or not number
                    or not np.isfinite(reward).all()
                ):
                    wanted = (
                        f"numbers of shape {leading(self.task)}"
                        if leading(self.task)
                        else "a number"
                    )
                    raise Broken(f"a reward must be {wanted} and finite, got {turn.reward!r}")

    def _horizon(self) -> str:
        # Twice as far as it may go: what is over then is over late, and what goes on is a stream
        # without end.
        horizon = int(self.task.horizon)
        longest = 0
        for root in range(WORLDS):
            episode = self._episode(
                self._open(self.task, root),
                self.streams().numpy("check"),
                min(2 * horizon, 2 * STEPS),
            )
            if episode.over and len(episode.turns) > horizon:
                raise Broken(
                    f"horizon is {horizon}, and a world was over only after {len(episode.turns)}"
                    " steps"
                )
            longest = max(longest, len(episode.turns) if episode.over else 0)
        return (
            f"after at most {longest} of {horizon} steps"
            if longest
            else "a stream without end, as far as was looked"
        )

    def _resets(self) -> None:
        world, rng = self._open(self.task), self.streams().numpy("check")
        fresh = len(self._episode(world, rng).turns)
        again = [self._episode(world, rng, steps) for steps in (STEPS, 1, STEPS, STEPS)]
        for episode in again:
            check_within(
                "after a reset, an observation",
                declared(episode.first),
                self.inputs,
                leading(self.task),
            )
        if fresh > 1 and all(len(episode.turns) == 1 and episode.over for episode in again):
            raise Broken(
                f"the first episode has {fresh} steps, and after reset() the world is over at once"
            )

    def _live(self) -> None:
        """Three episodes in a row, each rolled out in two calls, compared with `reset` and
        `step`.
        """
        stepped, world, rng = (
            self._open(self.task),
            self._open(self.task),
            self.streams().numpy("check"),
        )
        if not hasattr(world, "live"):
            raise Broken(
                "the world has no live(act, steps); derive its class from"
                " quickstudy.base.task.World"
            )
        before: Any = 0.0
        for number in range(3):
            episode = self._episode(stepped, rng, STEPS // 10)
            rewards, steps = [turn.reward for turn in episode.turns], len(episode.turns)
            infos = [(step, turn.info) for step, turn in enumerate(episode.turns) if turn.info]
            told: list[tuple[Any, Any]] = []

            def act(
                observation: Any, reward: Any, told: Any = told, actions: Any = episode.actions
            ) -> Any:
                told.append((observation, reward))
                return actions[len(told) - 1]

            first, rest = world.live(act, steps // 2), world.live(act, steps - steps // 2)
            later = [(step + steps // 2, info) for step, info in rest.events]
            for what, found, wanted in (
                (
                    "act receives",
                    told,
                    list(zip(episode.observations, [before, *rewards], strict=False))[:steps],
                ),
                (
                    "observations are",
                    [*first.observations, *rest.observations],
                    episode.observations[:steps],
                ),
                ("actions are", [*first.actions, *rest.actions], episode.actions),
                ("rewards are", [*first.rewards, *rest.rewards], rewards),
                ("events are", [*first.events, *later], infos),
                ("done is", [rest.done], [episode.over]),
            ):
                _compare(found, wanted, f"in episode {number} {what}")
            if not episode.over:
                return  # only an end is followed by a reset
            before = rewards[-1]


def _compare(found: list[Any], wanted: list[Any], what: str) -> None:
    if len(found) != len(wanted):
        raise Broken(f"{what} {len(found)}, step after step {len(wanted)}")
    for step, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if as_bytes(_in_one_type(one)) != as_bytes(_in_one_type(other)):
            raise Broken(f"{what} {one!r} at step {step}, step after step {other!r}")


def _in_one_type(value: Any) -> Any:
    """A life may hold its numbers in a smaller type than a turn does."""
    if isinstance(value, Mapping):
        return {name: _in_one_type(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [_in_one_type(part) for part in value]
    array = np.asarray(value)
    return (
        array.astype(np.float64)
        if np.issubdtype(array.dtype, np.number) or array.dtype == np.bool_
        else value
    )


def declared(observation: Any) -> Any:
    """What of an observation is looked at first; whether there is more to it is a promise of its
    own.
    """
    return observation[0] if isinstance(observation, tuple) else observation
