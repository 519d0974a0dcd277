"""Whole episodes of a pure world for a pupil that acts step by step, such as a class with `act`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Acting, face, name_of
from quickstudy.base.stated import PupilFacts, stated
from quickstudy.base.task import players_of
from quickstudy.jax_gateway import eqx, jax
from quickstudy.learners.episodes import TOGETHER, begin_tests
from quickstudy.learners.host_values import as_lanes
from quickstudy.tasks.worlds import episode_keys, plain


class ActedEpisodes:
    """`rehearse` and `perform` of a pupil of one lane that has `act`.

    The reward of the last action of an episode comes with the first observation of the next one. In
    a test `act` is called with learning=False. Raises NotApplicable for a pupil that cannot be
    tested so, and for several players.
    """

    def __init__(self, pupil: Any, world: Any) -> None:
        if players_of(world) > 1:
            raise NotApplicable(
                f"{name_of(pupil)} has act, which plays one part, and here are several"
            )
        if pupil.lanes != 1:
            raise NotApplicable(
                f"{name_of(pupil)} plays whole episodes in one lane only, not in {pupil.lanes}"
            )
        if not stated(pupil, PupilFacts).can_hold:
            raise NotApplicable(
                f"{name_of(pupil)}: act must have a parameter learning, which is False in a test "
                "(def act(self, observation, reward, first, learning=True))"
            )
        self._pupil = face(pupil, Acting)
        self._reward = 0.0

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> None:
        """Play episodes start .. stop-1 and learn from them."""
        for _ in self._played(rehearsal, start, stop, True):
            pass

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play them without learning; the reward before the test is handed over after it."""
        before, self._reward = self._reward, 0.0
        played = list(self._played(rehearsal, start, stop, False))
        self._reward = before
        return jax.tree.map(lambda *rows: np.stack(rows)[None], *played)  # type: ignore[no-any-return]

    def _played(
        self, rehearsal: Rehearsal, start: int, stop: int, learning: bool
    ) -> Iterator[Transcript]:
        """The episodes, (step, ...) each."""
        for first in range(start, stop, TOGETHER):
            numbers = np.arange(first, min(first + TOGETHER, stop), dtype=np.int32)
            begun = jax.tree.map(np.asarray, begin_tests(rehearsal, numbers[None]))
            for row, number in enumerate(numbers):
                state, seen = jax.tree.map(lambda part: part[0, row], begun)  # noqa: B023
                yield self._play(rehearsal, number, state, seen, learning)

    def _play(
        self, rehearsal: Rehearsal, number: Any, state: Any, seen: Any, learning: bool
    ) -> Transcript:
        """One episode. Steps after its end repeat the last step."""
        world, taken = rehearsal.world, list[Transcript]()
        for time in range(world.horizon):
            reward, first = np.array([self._reward], np.float32), np.array([time == 0])
            action = plain(self._pupil.act(as_lanes([plain(seen)]), reward, first, learning)[0])
            state, turn = _step(
                world, rehearsal.keys[0], number, np.int32(time), state, np.asarray(action)
            )
            seen, self._reward = turn.observation, float(turn.reward)
            taken.append(Transcript(action, self._reward, bool(turn.done), turn.info))
            if turn.done:
                break
        taken += taken[-1:] * (world.horizon - len(taken))
        return jax.tree.map(lambda *rows: np.array(rows), *taken)  # type: ignore[no-any-return]


@eqx.filter_jit
def _step(world: Any, key: Any, number: Any, time: Any, state: Any, action: Any) -> Any:
    return world.step(jax.random.fold_in(episode_keys(key, number)[1], time), state, action)
