"""A pupil's time in worlds that answer: opened, rolled out piece by piece, timed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quickstudy.base.actions import checked_action
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Acting, Living, face
from quickstudy.base.offers import AsArrays, LivingIn, Watching, offers
from quickstudy.base.seeds import Streams
from quickstudy.base.task import Life, Turn, players_of, spaces_of
from quickstudy.learners.host_values import as_lanes, of_lane
from quickstudy.protocols.session import Clock
from quickstudy.tasks.worlds import open_world, plain


class Lifetime:
    """A pupil in fresh worlds of a task, one per lane; an oracle that watches is shown them first.

    A pupil with `live` acts on its own, at the world's speed; one with `live_in` runs in a compiled
    program, as long as the worlds can be represented as arrays (`compiled_with`); others act step
    by step, all lanes in one call. Seconds are those of pupil and world together.
    """

    def __init__(self, pupil: Acting, task: Any, streams: Sequence[Streams], clock: Clock) -> None:
        if len(streams) != pupil.lanes:
            raise UsageError(f"a pupil of {pupil.lanes} lanes cannot live in {len(streams)} worlds")
        self.pupil, self.worlds, self._clock = (
            pupil,
            [open_world(task, stream) for stream in streams],
            clock,
        )
        self._outputs, players = spaces_of(task)[1], players_of(task)
        self._in_front = (players,) if players > 1 else ()
        self._turns = [Turn(None, np.zeros(self._in_front, np.float32), True) for _ in streams]
        first, *others = self.worlds
        self._arrays: Any = None
        if offers(pupil, LivingIn) and offers(first, AsArrays):
            self._arrays = first.compiled_with(others)
        if offers(pupil, Watching):
            for world in self.worlds:
                pupil.watch(world)

    def go_on(self, steps: int, learning: bool = True) -> list[Life]:
        """The next steps of every lane: up to `steps`, and no further than to where a world is
        over, in any lane.

        All lanes then have equally many steps, and none depends on another. In the next call,
        finished ones restart.
        """
        with self._clock.acting(learning):
            if not offers(self.pupil, Living):
                lives = self._compiled(steps) if learning and self._arrays else []
                left = steps - sum(len(piece[0].actions) for piece in lives)
                if not lives or (left and not any(life.done for piece in lives for life in piece)):
                    lives.append(self._side_by_side(left, learning))
                    self._arrays = None  # they know nothing of these steps
                return [_joined(pieces) for pieces in zip(*lives, strict=True)]
            life = face(self.pupil, Living).live(
                self.worlds[0], steps, bool(self._turns[0].done), learning
            )
            if life.actions:
                self._turns[0] = Turn(None, None, life.done)
            return [life]

    def _compiled(self, steps: int) -> list[list[Life]]:
        """Pieces of life, one of each lane in every piece, as far as there are arrays for it."""
        pieces: list[list[Life]] = []
        while steps > 0 and (now := self._arrays.supplied()) is not None:
            first = np.array([bool(turn.done) for turn in self._turns])
            reward = np.array([turn.reward for turn in self._turns], dtype=np.float32)
            lived = self.pupil.live_in(self._arrays.world, *now, reward, first, steps)  # type: ignore[attr-defined]
            lives = self._arrays.lived(lived)
            self._turns = [
                Turn(shown, life.rewards[-1], life.done)
                for shown, life in zip(self._arrays.showing, lives, strict=True)
            ]
            pieces.append(lives)
            steps -= len(lives[0].actions)
            if any(life.done for life in lives):
                break
        return pieces

    def _side_by_side(self, steps: int, learning: bool) -> list[Life]:
        lives: list[Any] = [Life([], [], [], [], False) for _ in self.worlds]
        for step in range(steps):
            first = np.array([bool(turn.done) for turn in self._turns])
            self._turns = [
                Turn(world.reset(), turn.reward, False) if turn.done else turn
                for world, turn in zip(self.worlds, self._turns, strict=True)
            ]
            observation = as_lanes([turn.observation for turn in self._turns])
            reward = np.array([turn.reward for turn in self._turns], dtype=np.float32)
            actions = self.pupil.act(observation, reward, first, learning)
            for lane, (world, life) in enumerate(zip(self.worlds, lives, strict=True)):
                action = checked_action(
                    self._outputs, plain(of_lane(actions, lane)), self._in_front
                )
                life.observations.append(self._turns[lane].observation)
                self._turns[lane] = turn = world.step(action)
                life.actions.append(action)
                life.rewards.append(turn.reward)
                if turn.info:
                    life.events.append((step, turn.info))
            if any(turn.done for turn in self._turns):
                break
        return [
            life._replace(done=bool(life.actions) and bool(turn.done))
            for life, turn in zip(lives, self._turns, strict=True)
        ]


def _joined(pieces: Sequence[Life]) -> Life:
    """One life of several that followed each other."""
    if len(pieces) == 1:
        return pieces[0]
    observations, actions, rewards = (
        [entry for part in parts for entry in part]
        for parts in zip(
            *((piece.observations, piece.actions, piece.rewards) for piece in pieces), strict=True
        )
    )
    events, before = [], 0
    for piece in pieces:
        events += [(before + step, info) for step, info in piece.events]
        before += len(piece.actions)
    return Life(observations, actions, rewards, events, bool(pieces[-1].done))
