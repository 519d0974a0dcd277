"""What a task promises that is a world of pure JAX functions."""

from __future__ import annotations

import re
from functools import cached_property, partial
from typing import Any

import numpy as np

from quickstudy.base.learner import Brief
from quickstudy.base.task import Turn
from quickstudy.jax_gateway import jax, jnp, lax
from quickstudy.tasks.sampling import check_within
from quickstudy.testing.check_result import Broken, Promise, as_bytes, check_names, draw
from quickstudy.testing.tasks import Kind
from quickstudy.testing.worlds import declared, leading

STEPS = 60
"""Of an episode that is looked at; a longer horizon is seen in part."""

FEW = 4
"""Steps that are taken one by one."""

EPISODES = 8


class OfPureWorlds(Kind):
    """Plays random actions: its functions by themselves for a few steps, and whole episodes as one
    program.
    """

    title = "pure world"
    same = "same key, same episode"
    other = "another repetition, another episode"
    doors = 5

    def promises(self) -> list[Promise]:
        """The table."""
        return [
            ("can be a constant of a compiled program", self.hashed),
            ("can be traced", self._traces),
            ("keeps shapes and types from step to step", self._keeps_shapes),
            ("is pure", self._pure),
            ("an episode is its steps, side by side with others", self._compiles),
            *super().promises(),
            ("shows the learner its observation and nothing else", self._shows_no_more),
            ("observes what its spaces say, every player by itself", self._observes),
            ("its rewards are finite numbers, one for each player", self._rewards),
            ("goes on unrewarded when it is over", self._unrewarded),
            ("its rules can be made for it", lambda: self.takes_rules(self._brief())),
        ]

    def shown(self, task: Any, repetition: int = 0) -> list[bytes]:
        """Some compiled episodes."""
        return as_bytes(_leaves(self._episodes(task, repetition)))

    def _brief(self) -> Brief:
        return Brief(self.inputs, self.outputs, "reward", int(self.task.horizon), EPISODES)

    @property
    def _steps(self) -> int:
        return min(int(self.task.horizon), STEPS)

    def _keys(self, repetition: int = 0) -> Any:
        return jax.random.split(self.streams(repetition).jax("data"), EPISODES)

    @cached_property
    def _actions(self) -> Any:
        axes = (EPISODES, self._steps, *leading(self.task))
        return jax.tree.map(jnp.asarray, draw(self.outputs, self.streams().numpy("check"), axes))

    def _action(self, step: int) -> Any:
        """Of the first episode."""
        return jax.tree.map(lambda part: part[0, step], self._actions)

    def _episodes(self, task: Any, repetition: int = 0) -> Any:
        """(first observations, turns), each (episode, step, ...)."""
        return _side_by_side(task, self._keys(repetition), self._actions)

    @cached_property
    def _turns(self) -> Turn:
        """Those of some episodes, in NumPy."""
        turns: Turn = jax.tree.map(np.asarray, self._episodes(self.task)[1])
        return turns

    @cached_property
    def _shapes(self) -> list[Any]:
        """(state, observation) at first and after each of two steps, as shapes and types; nothing
        is computed.
        """
        key, task = self._keys()[0], self.task
        shapes = [jax.eval_shape(lambda key: task.reset(key), key)]
        for _ in range(2):
            state, turn = jax.eval_shape(
                lambda *given: task.step(*given), key, shapes[-1][0], self._action(0)
            )
            if not isinstance(turn, Turn):
                raise Broken(
                    f"step(key, state, action) must give (state, Turn), got {type(turn).__name__}"
                )
            shapes.append((state, turn.observation))
        return shapes

    def _traces(self) -> None:
        try:
            self._shapes  # noqa: B018  # looked at for what it raises
        except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
            what = str(error).partition("\n")[0]
            raise Broken(
                f"a value is used in Python that only the running program knows: {what}"
            ) from error

    def _keeps_shapes(self) -> None:
        for what, number in (("the state", 0), ("the observation", 1)):
            first, *later = (
                jax.tree.map(lambda leaf: f"{leaf.dtype}{leaf.shape}", each[number])
                for each in self._shapes
            )
            for step, shape in enumerate(later, start=1):
                if shape != first:
                    raise Broken(f"{what} is {first} at first and {shape} after step {step}")

    def _shows_no_more(self) -> None:
        for _, observation in self._shapes:
            check_names("an observation", observation, self.inputs)

    def _pure(self) -> None:
        """The program that comes of tracing twice is the same, constants included; nothing is
        computed.
        """
        key, task, state = self._keys()[0], self.task, self._shapes[0][0]
        first, second = (
            (
                jax.make_jaxpr(lambda key: task.reset(key))(key),
                jax.make_jaxpr(lambda *given: task.step(*given))(key, state, self._action(0)),
            )
            for _ in range(2)
        )
        for name, one, other in zip(("reset", "step"), first, second, strict=True):
            if _written(one) != _written(other):
                raise Broken(
                    f"{name} is another function the second time; a pure one keeps and draws"
                    " nothing aside"
                )

    def _compiles(self) -> None:
        key, task, few = self._keys()[0], self.task, min(FEW, self._steps)
        step = jax.jit(lambda *given: task.step(*given))
        state, first = jax.jit(lambda key: task.reset(key))(key)
        turns = []
        for number in range(few):
            state, turn = step(jax.random.fold_in(key, number), state, self._action(number))
            turns.append(turn)
        by_steps = first, jax.tree.map(lambda *parts: jnp.stack(parts), *turns)
        begun, played = jax.tree.map(lambda leaf: leaf[0], self._episodes(task))
        together = begun, jax.tree.map(lambda leaf: leaf[:few], played)
        for one, other in zip(_leaves(together), _leaves(by_steps), strict=True):
            if one.shape != other.shape or not np.allclose(one, other, rtol=1e-5, atol=1e-6):
                raise Broken(
                    "the first of some episodes in one program is not the one that is played step"
                    " by step"
                )

    def _observes(self) -> None:
        axes = (EPISODES, self._steps, *leading(self.task))
        check_within(
            "observations (episode, step, ...)",
            declared(self._turns.observation),
            self.inputs,
            axes,
        )

    def _rewards(self) -> None:
        rewards, wanted = self._turns.reward, (EPISODES, self._steps, *leading(self.task))
        if rewards.shape != wanted:
            raise Broken(
                f"rewards (episode, step, ...) must have the shape {wanted}, got {rewards.shape}"
            )
        if not np.isfinite(rewards).all():
            raise Broken("some rewards are not finite")

    def _unrewarded(self) -> str:
        done, rewards = self._turns.done, self._turns.reward
        if done.shape != (EPISODES, self._steps):
            raise Broken(
                "a world is over for all at once: done must be one truth value a step, got"
                f" {done.shape[2:]}"
            )
        after = np.logical_or.accumulate(done, axis=1)[:, :-1]
        if np.any(rewards[:, 1:][after]):
            raise Broken(
                "there are rewards after done; the rest of an episode that is over earlier counts"
                " nothing"
            )
        return (
            f"{done.any(axis=1).sum()} of {EPISODES} episodes were over within {self._steps} steps"
        )


def _scanned(task: Any, key: Any, actions: Any) -> Any:
    """An episode as a learner plays it: reset, then a scan of step. (first observation, turns)."""
    state, first = task.reset(key)
    steps = jnp.arange(jax.tree.leaves(actions)[0].shape[0])

    def step(state: Any, now: Any) -> Any:
        return task.step(jax.random.fold_in(key, now[0]), state, now[1])

    return first, lax.scan(step, state, (steps, actions))[1]


# The task is a constant of this program, which all checks of it share.
_side_by_side = jax.jit(
    lambda task, *batch: jax.vmap(partial(_scanned, task))(*batch), static_argnums=0
)


def _leaves(tree: Any) -> list[Any]:
    keys = jax.dtypes.prng_key
    raw = [
        jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, keys) else leaf
        for leaf in jax.tree.leaves(tree)
    ]
    return [np.asarray(leaf) for leaf in raw]


def _written(program: Any) -> list[bytes]:
    """A traced program and its constants, without the addresses of what it calls."""
    return [re.sub("0x[0-9a-f]+", "", str(program)).encode(), *as_bytes(_leaves(program.consts))]
