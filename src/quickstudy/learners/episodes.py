"""Whole episodes of a pure world inside one compiled program; the rules that play there, controls
that are declared `compiled`; and what all who learn there by Adam have in common.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Brief, Cost
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import LearnerFacts, TaskFacts, stated
from quickstudy.base.task import DrawnWorld, players_of
from quickstudy.jax_gateway import device_kind, eqx, jax, jnp, key_from_words, lax
from quickstudy.learners.lanes import over_lanes, sizes_of, stack_lanes
from quickstudy.learners.optimiser import begin_moments
from quickstudy.learners.pupil import CompiledPupil
from quickstudy.learners.rollout import opened, play
from quickstudy.tasks.worlds import episode_keys

TOGETHER = 256
"""Episodes that are played side by side where nothing is learned."""


@dataclass(frozen=True)
class Ruled:
    """A learner made of a compiled control(task, brief): a rule with `start` and `step`, the same
    in every lane.
    """

    control: Callable[[Any, Brief], Any]
    task: Any

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> RulePupil:
        """The rule, with a lane for every stream; what it throws dice for comes from the stream
        `noise`.
        """
        return RulePupil(among_others(self.control, self.task, brief), streams)


class OneOf(eqx.Module):
    """One of some rules that keep the same things in mind. Its number is traced, so that all of
    them play by one program: what there is to compile is the world, and the rules are little.
    """

    number: Any
    rules: tuple[Any, ...] = eqx.field(static=True)

    def start(self, batch: int, capacity: int) -> Any:
        """As each of them."""
        return self.rules[0].start(batch, capacity)

    def step(self, state: Any, observation: Any, *, key: Any) -> Any:
        """What the one does."""
        steps = [
            lambda state, seen, key, rule=rule: rule.step(state, seen, key=key)
            for rule in self.rules
        ]
        return lax.switch(self.number, steps, state, observation, key)


def among_others(control: Callable[[Any, Brief], Any], task: Any, brief: Brief) -> Any:
    """The rule, as one of those that the task names, where it is one of them."""
    rule, rules = control(task, brief), []
    own = stated(task, TaskFacts)
    for name in [*own.controls, own.oracle]:
        # In the place of an oracle, a task may say why there is none.
        other = registries.control.get(name) if name and name in registries.control else None
        if other is not None and stated(other, LearnerFacts).compiled:
            with contextlib.suppress(NotApplicable):
                rules.append(other(task, brief))
    kept = jax.eval_shape(lambda: rule.start(1, 1))
    rules = [
        other for other in rules if jax.eval_shape(lambda other=other: other.start(1, 1)) == kept
    ]
    return OneOf(np.int32(rules.index(rule)), tuple(rules)) if rule in rules else rule


class RulePupil:
    """Plays whole episodes, many at once, and never learns."""

    learns = False

    def __init__(self, rule: Any, streams: Sequence[Streams]) -> None:
        self.lanes = len(streams)
        self._rule = rule
        self._noise = key_from_words(np.stack([stream.words("noise", 2) for stream in streams]))
        self._steps = np.zeros(self.lanes, dtype=np.int64)

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes; they count as shown."""
        played = self.perform(rehearsal, start, stop)
        self._steps += played.steps()
        return played

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes."""
        numbers = np.tile(np.arange(start, stop, dtype=np.int32), (self.lanes, 1))
        begun = begin_tests(rehearsal, numbers)
        played = _perform(
            rehearsal.world, self._rule, begun, rehearsal.keys, self._noise, numbers, self.lanes
        )
        return jax.block_until_ready(played)  # type: ignore[no-any-return]

    def cost(self) -> list[Cost]:
        """Steps shown."""
        return [Cost(examples=int(steps)) for steps in self._steps]


class EpisodePupil(CompiledPupil):
    """Models in training by Adam on whole episodes, one per lane. `_steps`: that each has made in
    the world.
    """

    parts: ClassVar[Mapping[str, str]] = {"": "_learned", "steps": "_steps"}

    def __init__(self, models: Sequence[Any], streams: Sequence[Streams]) -> None:
        super().__init__(len(streams))
        self._trainable, self._sizes = models[0].trainable(), sizes_of(models[0])
        moments = begin_moments(eqx.filter(models[0], self._trainable))
        self._models, self._moments = stack_lanes(models), stack_lanes([moments] * self.lanes)
        self._noise = key_from_words(np.stack([stream.words("noise", 2) for stream in streams]))
        self._steps = np.zeros(self.lanes, dtype=np.int64)

    @property
    def _learned(self) -> tuple[Any, Any]:
        return self._models, self._moments

    @_learned.setter
    def _learned(self, learned: tuple[Any, Any]) -> None:
        self._models, self._moments = learned

    def examples(self) -> NDArray[np.int64]:
        """Steps in the world."""
        return self._steps

    def updates(self) -> NDArray[np.integer[Any]]:
        """As the moments have counted."""
        return np.asarray(self._moments.count)

    def sizes(self) -> tuple[int, int]:
        """Of a model."""
        return self._sizes


def begin_episodes(rehearsal: Rehearsal, numbers: Any) -> Any:
    """(states, first observations) of the lanes' episodes of these numbers (lane, episode): a
    program by itself, which all who play in a world share. Where episodes are drawn whole, that is
    most of what there is to compile.
    """
    return _begin(rehearsal.world, rehearsal.keys, numbers, len(numbers))


def begin_tests(rehearsal: Rehearsal, numbers: Any) -> Any:
    """The same, of episodes from which nothing is learned. On a CPU a world that can be read as
    sequences, too, draws them by the program that does that: it takes longer to compile than to
    run, on however many episodes.
    """
    if device_kind() != "cpu" or not isinstance(rehearsal.world, DrawnWorld):
        return begin_episodes(rehearsal, numbers)
    return _started(rehearsal.world, rehearsal.world.drawn(rehearsal.keys, numbers))


def played_in_parts(
    rehearsal: Rehearsal, start: int, stop: int, play: Callable[[Any, Any], Any]
) -> Transcript:
    """Episodes start .. stop-1, some at a time: play(what `begin_tests` gives, numbers (lane,
    episode)) gives their transcript.
    """
    if stop <= start:
        raise UsageError(f"no episodes between {start} and {stop}")
    parts = []
    for first in range(start, stop, TOGETHER):
        numbers = np.tile(
            np.arange(first, min(first + TOGETHER, stop), dtype=np.int32), (len(rehearsal.keys), 1)
        )
        parts.append(jax.tree.map(np.asarray, play(begin_tests(rehearsal, numbers), numbers)))
    return jax.tree.map(lambda *rows: np.concatenate(rows, axis=1), *parts)  # type: ignore[no-any-return]


@eqx.filter_jit
def _begin(world: Any, keys: Any, numbers: Any, lanes: int) -> Any:
    def single(key: Any, numbers: Any) -> Any:
        return opened(
            world, jax.vmap(lambda number: episode_keys(key, number)[0])(numbers), numbers
        )

    return over_lanes(single, lanes)(keys, numbers)


@eqx.filter_jit
def _started(world: Any, episodes: Any) -> Any:
    return jax.vmap(jax.vmap(world.started))(episodes)


@eqx.filter_jit
def _perform(
    world: Any, rule: Any, begun: Any, keys: Any, noise: Any, numbers: Any, lanes: int
) -> Any:
    def single(begun: Any, key: Any, noise: Any, numbers: Any) -> Transcript:
        return play(
            world, rule.start(len(numbers), world.horizon), rule.step, key, noise, numbers, begun
        )[1]

    return over_lanes(single, lanes)(begun, keys, noise, numbers)


class Lived(NamedTuple):
    """What happened, (lane, step, episode, ...), with an axis of players after the episode if
    there are several.
    """

    observations: Any
    actions: Any
    chances: Any
    expected: Any
    rewards: Any
    done: Any
    info: Any

    def transcript(self) -> Transcript:
        """The same as others log it."""
        parts = self.actions, self.rewards, self.done, self.info
        return Transcript(*jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 1, 2), parts))

    def learned_from(self) -> Lived:
        """Without what is only logged."""
        return self._replace(info=None)


def as_rows(world: Any, tree: Any) -> Any:
    """Episodes and players as rows of one batch: (episode, player, ...) to (episode * player,
    ...).
    """
    if players_of(world) == 1:
        return tree
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), tree)


def by_player(world: Any, tree: Any) -> Any:
    """The reverse: (episode * player, ...) to (episode, player, ...)."""
    if players_of(world) == 1:
        return tree
    return jax.tree.map(lambda leaf: leaf.reshape(-1, players_of(world), *leaf.shape[1:]), tree)
