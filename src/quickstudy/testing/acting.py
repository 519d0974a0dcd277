"""What a learner promises that acts: step by step in a world, or whole episodes of a pure one."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Acting, Brief, Rehearsing, face
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.tasks.sampling import check_within
from quickstudy.testing.capability_checks import faces_of, stored
from quickstudy.testing.check_result import Broken, Promise, as_bytes, check_names
from quickstudy.testing.dice import ROLLS, check_guesses, dice_for
from quickstudy.testing.fixtures import Examinee
from quickstudy.testing.worlds import leading

STEPS = 40
"""Steps of a rollout, over as many episodes as that makes."""

EPISODES = 6


class _Checks(ABC):
    """What both have in common: a learner, and a task in which it acts. Without repeatable actions
    nothing can be compared.

    Raises NotApplicable for a learner that lacks the face.
    """

    face: type[Any]
    does: str
    doors = 2

    def __init__(self, examinee: Examinee, task: Any, seed: int) -> None:
        self.examinee, self.task = examinee, task
        self.inputs, self.outputs = spaces_of(task)
        self.streams = Streams(seed, getattr(task, "id", type(task).__name__), 0)
        self.pupil = self.begin()
        face(self.pupil, self.face)

    def begin(self) -> Any:
        """A fresh pupil of one lane."""
        brief = Brief(self.inputs, self.outputs, "reward", int(self.task.horizon), STEPS)
        return self.examinee.learner.begin(brief, [self.streams.for_learner()])

    def check_actions(self, actions: Any, axes: tuple[int, ...]) -> None:
        """Broken unless actions are of their space, with these axes in front of the players'."""
        check_names("actions", actions, self.outputs)
        check_within("actions", actions, self.outputs, (*axes, *leading(self.task)))

    def keeps(self) -> list[Promise]:
        """The last of its promises, if it can be kept."""
        return (
            [("comes back from a snapshot", self._snapshot)]
            if "keeps" in faces_of(self.pupil)
            else []
        )

    def _snapshot(self) -> None:
        pupil, fresh = self.begin(), self.begin()
        self._begins(pupil)
        kept = stored(pupil.snapshot())
        wanted = self._goes_on(pupil)
        for who, restored in (("restored, it", pupil), ("another learner that is restored", fresh)):
            restored.restore(kept)
            if self._goes_on(restored) != wanted:
                raise Broken(f"{who} {self.does} otherwise than after the snapshot")

    @abstractmethod
    def _begins(self, pupil: Any) -> None:
        """What it does before the snapshot."""

    @abstractmethod
    def _goes_on(self, pupil: Any) -> list[bytes]:
        """What it does after it, to the last bit."""


class ActingChecks(_Checks):
    """Lives in worlds of one task, from several streams."""

    face, does = Acting, "acts"

    def promises(self) -> list[Promise]:
        """The table."""
        return [
            ("acts within its space", self._acts),
            ("same seed, same actions", self._same_actions),
            ("does not learn when learning is off", self._holds_still),
            ("starts afresh with an episode", self._starts_afresh),
            ("does not change what it is shown", self.examinee.check_unchanged),
            *self.keeps(),
        ]

    def _acts(self) -> str:
        self.actions = self.life(self.pupil, 0)
        for action in self.actions:
            self.check_actions(action, (1,))
        return f"{len(self.actions)} steps"

    def _same_actions(self) -> None:
        if as_bytes(self.life(self.begin(), 0)) != as_bytes(self.actions):
            raise Broken("a second learner of the same seed acts differently in the same world")

    def _holds_still(self) -> str:
        return self._twins(
            "acts differently after other rewards, though learning is off",
            (lambda pupil: self.life(pupil, 1, learning=False)),
            (lambda pupil: self.life(pupil, 1, learning=False, told=lambda reward: -1 - reward)),
        )

    def _starts_afresh(self) -> str:
        return self._twins(
            "acts otherwise in an episode since it saw another before; forget what was seen where"
            " first is true",
            (lambda pupil: self.life(pupil, 1, learning=False, told=lambda reward: 0 * reward)),
            (lambda pupil: self.life(pupil, 2, learning=False, told=lambda reward: 0 * reward)),
        )

    def _twins(self, complaint: str, one: Callable[[Any], Any], other: Callable[[Any], Any]) -> str:
        """Two of one seed learn the same, live through one thing or the other, and must then act
        alike.
        """
        hosts = [shield.host for shield in self.examinee.shields]
        if hosts and "learning" not in inspect.signature(hosts[0].act).parameters:
            return "cannot be seen: its act has no `learning`"
        actions = []
        for between in (one, other):
            pupil = self.begin()
            self.life(pupil, 0)
            between(pupil)
            actions.append(self.life(pupil, 3, learning=False))
        if as_bytes(actions[0]) != as_bytes(actions[1]):
            raise Broken(complaint)
        return ""

    def _begins(self, pupil: Any) -> None:
        self.life(pupil, 0)

    def _goes_on(self, pupil: Any) -> list[bytes]:
        return as_bytes(self.life(pupil, 1))

    def life(
        self,
        pupil: Any,
        world: int,
        learning: bool = True,
        told: Callable[[Any], Any] = lambda reward: reward,
    ) -> list[Any]:
        """The actions of a rollout in the world of that number; told: the rewards that it
        receives.
        """
        place = self.task.open(replace(self.streams, repetition=world))
        getattr(pupil, "watch", lambda world: None)(place)  # a control may look inside
        observation, reward, first, actions = (
            place.reset(),
            np.zeros(leading(self.task), np.float32),
            True,
            [],
        )
        for _ in range(STEPS):
            given = np.asarray(told(np.asarray(reward)), np.float32)[None]
            actions.append(
                pupil.act(_with_lane(observation), given, np.array([first]), learning=learning)
            )
            observation, reward, first, _ = place.step(_without_lane(actions[-1]))
            if first:
                observation = place.reset()
        return actions


class RehearsingChecks(_Checks):
    """Plays episodes of a pure world, each call one compiled program."""

    face, does = Rehearsing, "plays"

    def promises(self) -> list[Promise]:
        """The table."""
        return [
            ("plays whole episodes within its space", self._plays),
            ("same seed and keys, same episodes", self._same_episodes),
            ("rehearses the same in two calls as in one", self._two_calls),
            ("learns nothing when it performs", self._performs),
            ("cannot guess what the world draws next", self._no_shared_key),
            ("is taught if it learns", self._is_taught),
            *self.keeps(),
        ]

    @property
    def _episodes(self) -> int:
        return EPISODES * self.examinee.stride

    def _plays(self) -> str:
        self.rehearsed = self.played(self.pupil.rehearse, 0, self._episodes)
        axes = (1, self._episodes, int(self.task.horizon))
        self.check_actions(self.rehearsed.actions, axes)
        rewards, done = np.asarray(self.rehearsed.rewards), np.asarray(self.rehearsed.done)
        if rewards.shape != (*axes, *leading(self.task)) or not np.isfinite(rewards).all():
            raise Broken(
                f"rewards must be (lane, episode, step, ...) = {axes} and finite, got"
                f" {rewards.shape}"
            )
        if done.shape != axes:
            raise Broken(f"done must be (lane, episode, step) = {axes}, got {done.shape}")
        return f"{self._episodes} episodes"

    def _same_episodes(self) -> None:
        again = self.played(self.begin().rehearse, 0, self._episodes)
        _check_alike(
            again, self.rehearsed, "a second learner of the same seed plays other episodes"
        )

    def _two_calls(self) -> None:
        pupil, cut = self.begin(), self._episodes // 3
        complaint = (
            f"{self._episodes} episodes at once, and {cut} and then the rest, are played"
            " differently"
        )
        for start, stop in ((0, cut), (cut, self._episodes)):
            piece = self.played(pupil.rehearse, start, stop)
            _check_alike(piece, _part(self.rehearsed, start, stop), complaint)

    def _performs(self) -> None:
        pupil, cut = self.begin(), self._episodes // 3
        once, again = (
            self.played(pupil.perform, self._episodes, 2 * self._episodes) for _ in range(2)
        )
        _check_alike(again, once, "performed twice, the same episodes are played differently")
        rehearsed = self.played(pupil.rehearse, 0, cut)
        _check_alike(
            rehearsed, _part(self.rehearsed, 0, cut), "having performed, it rehearses differently"
        )

    def _no_shared_key(self) -> str:
        dice = dice_for(self.task)
        if dice is None:
            return "not checked: only actions that are single symbols of one player are"
        stride = self.examinee.stride
        count = -(-ROLLS // dice.horizon // stride) * stride
        pupil, keys = self.begin(), self._rehearsal(dice)
        rehearsed = check_guesses(dice, pupil.rehearse(keys, 0, count), "rehearses")
        performed = check_guesses(dice, pupil.perform(keys, count, 2 * count), "performs")
        return f"{rehearsed}; {performed}"

    def _is_taught(self) -> str:
        if getattr(self.pupil, "learns", True) is not False:
            return ""
        pupil, later = self.begin(), (self._episodes, 2 * self._episodes)
        before = self.played(pupil.perform, *later)
        self.played(pupil.rehearse, 0, self._episodes)
        complaint = (
            "declares learns = False, so that no protocol teaches it, but performs differently"
            " after it has rehearsed; leave learns out"
        )
        _check_alike(self.played(pupil.perform, *later), before, complaint)
        return "it declares that it never learns"

    def _begins(self, pupil: Any) -> None:
        self.played(pupil.rehearse, 0, self._episodes // 3)

    def _goes_on(self, pupil: Any) -> list[bytes]:
        return _written(self.played(pupil.rehearse, self._episodes // 3, self._episodes))

    def played(self, method: Any, start: int, stop: int) -> Transcript:
        """A transcript of some episodes, by one of the two methods."""
        return method(self._rehearsal(self.task), start, stop)  # type: ignore[no-any-return]

    def _rehearsal(self, world: Any) -> Rehearsal:
        from quickstudy.jax_gateway import jnp

        return Rehearsal(world, jnp.stack([self.streams.jax("data")]))


def _part(transcript: Transcript, start: int, stop: int) -> Transcript:
    """Some of the episodes."""
    facts = transcript.actions, transcript.rewards, transcript.done, dict(transcript.info)
    return Transcript(
        *(_mapped(lambda array: np.asarray(array)[:, start:stop], fact) for fact in facts)
    )


def _check_alike(found: Transcript, wanted: Transcript, complaint: str) -> None:
    if _written(found) != _written(wanted):
        raise Broken(complaint)


def _written(transcript: Transcript) -> list[bytes]:
    return as_bytes(
        [transcript.actions, transcript.rewards, transcript.done, dict(transcript.info)]
    )


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """A function of every array in a value with fields."""
    if isinstance(value, Mapping):
        return {name: _mapped(function, part) for name, part in value.items()}
    return function(value)


def _with_lane(observation: Any) -> Any:
    return _mapped(lambda part: np.asarray(part)[None], observation)


def _without_lane(action: Any) -> Any:
    """In plain Python where it is a number."""
    lane = _mapped(lambda part: np.asarray(part)[0], action)
    return lane.item() if isinstance(lane, np.generic) else lane
