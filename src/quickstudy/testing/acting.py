"""What a learner promises that acts: step by step in a world, or whole episodes of a pure one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from quickstudy.base.learner import Acting, Brief, Rehearsing, face
from quickstudy.base.lesson import Rehearsal, Transcript
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.tasks.sampling import check_within
from quickstudy.testing.examinee import Examinee
from quickstudy.testing.faces import faces_of, stored
from quickstudy.testing.finding import Broken, Promise, as_bytes, check_names
from quickstudy.testing.worlds import leading

STEPS = 40
"""Of a life, over as many episodes as that makes."""

EPISODES = 6


class _Checks:
    """What both have in common: a learner, and a task in which it acts. What is not repeatable cannot be compared.

    Raises NotApplicable for a learner that lacks the face.
    """

    face: type[Any]
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


class ActingChecks(_Checks):
    """Lives in worlds of one task, from several streams."""

    face = Acting

    def promises(self) -> list[Promise]:
        """The table."""
        keeps = [("comes back from a snapshot", self.snapshot)] if "keeps" in faces_of(self.pupil) else []
        return [
            ("acts within its space", self.acts),
            ("same seed, same actions", self.same_actions),
            ("holds still when it is told not to learn", self.holds_still),
            ("starts afresh with an episode", self.starts_afresh),
            ("does not change what it is shown", self.examinee.check_unchanged),
            *keeps,
        ]

    def acts(self) -> str:
        """A life with learning."""
        self.actions = self.life(self.pupil, 0)
        for action in self.actions:
            self.check_actions(action, (1,))
        return f"{len(self.actions)} steps"

    def same_actions(self) -> None:
        """A second learner."""
        if as_bytes(self.life(self.begin(), 0)) != as_bytes(self.actions):
            raise Broken("a second learner of the same seed acts differently in the same world")

    def holds_still(self) -> str:
        """Told other rewards for the same, it must not come to act otherwise."""
        return self._twins(
            "acts otherwise since it was told other rewards, though it was told not to learn",
            (lambda pupil: self.life(pupil, 1, learning=False)),
            (lambda pupil: self.life(pupil, 1, learning=False, told=lambda reward: -1 - reward)),
        )

    def starts_afresh(self) -> str:
        """What it saw in other episodes, without reward and without learning, must not matter in this one."""
        return self._twins(
            "acts otherwise in an episode since it saw another before; forget what was seen where first is true",
            (lambda pupil: self.life(pupil, 1, learning=False, told=lambda reward: 0 * reward)),
            (lambda pupil: self.life(pupil, 2, learning=False, told=lambda reward: 0 * reward)),
        )

    def _twins(self, complaint: str, one: Callable[[Any], Any], other: Callable[[Any], Any]) -> str:
        """Two of one seed learn the same, live through one thing or the other, and must then act alike."""
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

    def snapshot(self) -> None:
        """A life goes on from a snapshot as it did."""
        pupil = self.begin()
        self.life(pupil, 0)
        kept = stored(pupil.snapshot())
        wanted = as_bytes(self.life(pupil, 1))
        pupil.restore(kept)
        fresh = self.begin()
        fresh.restore(kept)
        for who, restored in (("restored, it acts", pupil), ("another learner that is restored acts", fresh)):
            if as_bytes(self.life(restored, 1)) != wanted:
                raise Broken(f"{who} otherwise than after the snapshot")

    def life(
        self, pupil: Any, world: int, learning: bool = True, told: Callable[[Any], Any] = lambda reward: reward
    ) -> list[Any]:
        """The actions of a life in the world of that number; told: what it hears of a reward."""
        place = self.task.open(replace(self.streams, repetition=world))
        getattr(pupil, "watch", lambda world: None)(place)  # a control may look inside
        observation, reward, first, actions = place.reset(), np.zeros(leading(self.task), np.float32), True, []
        for _ in range(STEPS):
            given = np.asarray(told(np.asarray(reward)), np.float32)[None]
            actions.append(pupil.act(_with_lane(observation), given, np.array([first]), learning=learning))
            observation, reward, first, _ = place.step(_without_lane(actions[-1]))
            if first:
                observation = place.reset()
        return actions


class RehearsingChecks(_Checks):
    """Plays episodes of a pure world, each call one compiled program."""

    face = Rehearsing

    def promises(self) -> list[Promise]:
        """The table."""
        keeps = [("comes back from a snapshot", self.snapshot)] if "keeps" in faces_of(self.pupil) else []
        return [
            ("plays whole episodes within its space", self.plays),
            ("same seed and keys, same episodes", self.same_episodes),
            ("rehearses the same in two calls as in one", self.two_calls),
            ("learns nothing when it performs", self.performs),
            *keeps,
        ]

    @property
    def _episodes(self) -> int:
        return EPISODES * self.examinee.stride

    def plays(self) -> str:
        """Shapes and numbers of a transcript."""
        self.rehearsed = self.played(self.pupil.rehearse, 0, self._episodes)
        axes = (1, self._episodes, int(self.task.horizon))
        self.check_actions(self.rehearsed.actions, axes)
        rewards, done = np.asarray(self.rehearsed.rewards), np.asarray(self.rehearsed.done)
        if rewards.shape != (*axes, *leading(self.task)) or not np.isfinite(rewards).all():
            raise Broken(f"rewards must be (lane, episode, step, ...) = {axes} and finite, got {rewards.shape}")
        if done.shape != axes:
            raise Broken(f"done must be (lane, episode, step) = {axes}, got {done.shape}")
        return f"{self._episodes} episodes"

    def same_episodes(self) -> None:
        """A second learner."""
        again = self.played(self.begin().rehearse, 0, self._episodes)
        _check_alike(again, self.rehearsed, "a second learner of the same seed plays other episodes")

    def two_calls(self) -> None:
        """Cut after a third."""
        pupil, cut = self.begin(), self._episodes // 3
        complaint = f"{self._episodes} episodes at once, and {cut} and then the rest, are played differently"
        for start, stop in ((0, cut), (cut, self._episodes)):
            piece = self.played(pupil.rehearse, start, stop)
            _check_alike(piece, _part(self.rehearsed, start, stop), complaint)

    def performs(self) -> None:
        """Performing twice, and between rehearsals."""
        pupil, cut = self.begin(), self._episodes // 3
        once, again = (self.played(pupil.perform, self._episodes, 2 * self._episodes) for _ in range(2))
        _check_alike(again, once, "performed twice, the same episodes are played differently")
        rehearsed = self.played(pupil.rehearse, 0, cut)
        _check_alike(rehearsed, _part(self.rehearsed, 0, cut), "having performed, it rehearses differently")

    def snapshot(self) -> None:
        """Rehearsing goes on from a snapshot as it did."""
        pupil, cut = self.begin(), self._episodes // 3
        self.played(pupil.rehearse, 0, cut)
        kept = stored(pupil.snapshot())
        wanted = self.played(pupil.rehearse, cut, self._episodes)
        pupil.restore(kept)
        fresh = self.begin()
        fresh.restore(kept)
        for who, restored in (("restored, it plays", pupil), ("another learner that is restored plays", fresh)):
            again = self.played(restored.rehearse, cut, self._episodes)
            _check_alike(again, wanted, f"{who} otherwise than after the snapshot")

    def played(self, method: Any, start: int, stop: int) -> Transcript:
        """A transcript of some episodes, by one of the two methods."""
        from quickstudy.gateway import jnp

        return method(Rehearsal(self.task, jnp.stack([self.streams.jax("data")])), start, stop)  # type: ignore[no-any-return]


def _part(transcript: Transcript, start: int, stop: int) -> Transcript:
    """Some of the episodes."""
    facts = transcript.actions, transcript.rewards, transcript.done, dict(transcript.info)
    return Transcript(*(_mapped(lambda array: np.asarray(array)[:, start:stop], fact) for fact in facts))


def _check_alike(found: Transcript, wanted: Transcript, complaint: str) -> None:
    one, other = ([each.actions, each.rewards, each.done, dict(each.info)] for each in (found, wanted))
    if as_bytes(one) != as_bytes(other):
        raise Broken(complaint)


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
