"""Recall (Denamganaï et al. 2022, D.1): which of its values did the stimulus have that was just
shown?
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import control, task
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.base.task import Turn
from quickstudy.jax_gateway import eqx, jax, jnp, key_from_words
from quickstudy.tasks.controls import FixedRule
from quickstudy.tasks.games.episodes import uniforms
from quickstudy.tasks.games.play import in_parts
from quickstudy.tasks.games.spaces import draw_stimuli, few_enough, grid, split, stimulus_shape
from quickstudy.tasks.worlds import episode_keys


class Shown(NamedTuple):
    """An episode: inputs (step, width), of which every second asks; answers (step,); count: steps;
    second: the step at which the second shot begins.
    """

    inputs: Any
    answers: Any
    count: Any
    second: Any


@task("games/recall", version=1, controls=["majority"], oracle="recall-rank")
@dataclass(frozen=True)
class Recall:
    """Recall a value: is a stimulus of real numbers bound to the values that it represents?

    A game has two steps: a stimulus; then a one-hot query of a dimension, sampled for each game. An
    episode shows all stimuli of a new space once (a shot), then all again, each time in random
    order.

    Sees: the stimulus or the query, then failure and success of the last answer (as a sequence with
        questions: 0).
    Answers: at the second step, the number of the value, from 0.
    Scored: answers of the second shot; only the first can show how many values a dimension has. A
        correct answer has the reward 1.
    Chance: about 1/3.5.
    Ceiling: 1, by rank among the values shown.
    Source: Denamganaï, Missaoui and Walker 2022.
    Departures: the third pass of the original, which repeats its last stimulus, is left out.

    Parameters
    ----------
    dimensions:
        Dimensions of a stimulus.
    fewest:
        Fewest values per dimension; their number is uniform up to `most`.
    most:
        Most values per dimension.
    coding:
        `reals`: one number per dimension, the same for a value throughout the episode. `one-hot`: a
        block of zeros with a one; every dimension then has `most` values, and the query is ones
        over the block.
    stimuli:
        `all` of the space once per shot; or `drawn`, as published: as many from the support pool,
        with replacement.
    punished:
        A correct answer has the reward 0 and a wrong one -1, as published.
    longest:
        Most games per shot; of `all` then a random part is shown, the same in both shots.
    """

    dimensions: int = parameter(3, at_least=2, at_most=6)
    fewest: int = parameter(2, at_least=2)
    most: int = parameter(5, at_least=2, at_most=20)
    coding: str = parameter("reals", choices=("reals", "one-hot"))
    stimuli: str = parameter("all", choices=("all", "drawn"))
    punished: bool = False
    longest: int | None = parameter(None, at_least=1, added=True)

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"stimuli": "drawn", "punished": True}
    }

    def __post_init__(self) -> None:
        if self.fewest > self.most:
            raise ValueError(
                f"cannot be played: needs fewest <= most, got {self.fewest} > {self.most}"
            )
        enough, said = few_enough(self.most, self.dimensions)
        if not enough:
            raise ValueError(f"cannot be played: needs {said}")

    @property
    def inputs(self) -> Reals:
        """Stimulus, failure, success."""
        return Reals(
            (self.dimensions if self.coding == "reals" else self.dimensions * self.most) + 2
        )

    @property
    def outputs(self) -> Tokens:
        """The number of a value."""
        return Tokens(self.most)

    @property
    def ceiling(self) -> float:
        """What the oracle reaches. Of stimuli that are drawn, the first shot may leave a value out
        (measured in 2,000 episodes: 0.994); of a part of them the more easily, the smaller it is,
        and nothing but chance can be promised.
        """
        if self.coding == "one-hot":
            return 1.0
        return 1 / self.most if self.longest else 1.0 if self.stimuli == "all" else 0.99

    @property
    def horizon(self) -> int:
        """Two steps of every game of both shots."""
        largest = int(self.most**self.dimensions)
        return 4 * min(self.longest or largest, largest)

    def world(self, tested: bool = False) -> RecallWorld:
        """The pure world."""
        return _world(self)

    def reset(self, key: Any) -> tuple[Any, Any]:
        """A fresh episode."""
        return self.world().reset(key)

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """One step."""
        return self.world().step(key, state, action)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """Whole episodes as sequences."""
        return self._examples(
            key_from_words(rng.integers(2**32, size=2, dtype=np.uint64)), 0, count
        )[0]

    def lesson(self, streams: Streams, first: int, count: int) -> Examples:
        """Episodes to learn from, by their numbers."""
        return self._examples(streams.jax("data"), first, count)[0]

    def exam(self, streams: Streams, count: int) -> tuple[Examples, dict[str, Any]]:
        """Episodes to be tested on, and what is known of every question; those of the second shot
        are the query.
        """
        examples, drawn = self._examples(streams.jax("test"), 0, count)
        step, episode = np.nonzero(examples.asked)
        order = np.lexsort((step, episode))
        step, episode = step[order], episode[order]
        query = step >= drawn.second[episode]
        return examples, {
            "episode": episode,
            "game": step // 2,
            "query": query,
            "foil": np.zeros_like(step),
        }

    def steps(self, examples: Examples) -> int:
        """Steps that the episodes take in the world."""
        return int(examples.lengths.sum())

    def _examples(self, key: Any, first: int, count: int) -> tuple[Examples, Shown]:
        drawn = in_parts(lambda numbers: _drawn(self, key, numbers), first, count)
        steps = np.arange(self.horizon)[:, None]
        asked = (steps % 2 == 1) & (steps < drawn.count)
        inputs = np.pad(np.swapaxes(drawn.inputs, 0, 1), ((0, 0), (0, 0), (0, 2)))
        return Examples(inputs, drawn.answers.T, asked, drawn.count.astype(np.int64)).take(
            np.arange(count)
        ), drawn

    def drawn(self, key: Any) -> Shown:
        """One episode, in JAX."""
        meanings = jnp.asarray(grid(self.dimensions, self.most))
        shapes = (
            (self.dimensions,),
            stimulus_shape(self.dimensions, self.most, 1),
            (2, len(meanings)),
            (2 * len(meanings),),
        )
        of_values, of_stimuli, of_order, of_questions = uniforms(key, shapes)
        one_hot = self.coding == "one-hot"
        least = self.most if one_hot else self.fewest
        values = least + jnp.floor(of_values * (self.most + 1 - least)).astype(jnp.int32)
        pools = split(values, meanings)
        numbers = draw_stimuli(of_stimuli, values, jnp.zeros(()), jnp.zeros(()))[..., 0]
        pool = pools.support if self.stimuli == "drawn" else pools.support | pools.query
        room, whole = self.horizon // 4, pool.sum()
        count = jnp.minimum(whole, room)
        if self.stimuli == "drawn":
            inside = jnp.argsort(~pool)  # stable: the pool first, in order
            order = inside[jnp.floor(of_order * whole).astype(jnp.int32)]
        else:
            first = jnp.argsort(jnp.where(pool, of_order[0], 2.0))
            shown = jnp.argsort(first) < count
            order = jnp.stack([first, jnp.argsort(jnp.where(shown, of_order[1], 2.0))])
        place = jnp.arange(2 * room)
        by_shot = [order[0][place % len(meanings)], order[1][(place - count) % len(meanings)]]
        latents = meanings[jnp.where(place < count, *by_shot)]
        asked = jnp.floor(of_questions[: len(place)] * self.dimensions).astype(jnp.int32)
        if one_hot:
            stimulus = jax.nn.one_hot(latents, self.most).reshape(len(place), -1)
            question = jnp.repeat(jax.nn.one_hot(asked, self.dimensions), self.most, axis=1)
        else:
            stimulus = numbers[jnp.arange(self.dimensions), latents]
            question = jax.nn.one_hot(asked, self.dimensions)
        inputs = jnp.stack([stimulus, question], axis=1).reshape(2 * len(place), -1)
        answers = jnp.repeat(jnp.take_along_axis(latents, asked[:, None], axis=1)[:, 0], 2)
        there = jnp.arange(len(inputs)) < 4 * count
        return Shown(jnp.where(there[:, None], inputs, 0.0), answers, 4 * count, 2 * count)


class RecallWorld(eqx.Module):
    """The same episodes, played step by step."""

    task: Recall = eqx.field(static=True)
    inputs: Reals = eqx.field(static=True)
    outputs: Tokens = eqx.field(static=True)
    horizon: int = eqx.field(static=True)

    def reset(self, key: Any) -> tuple[Any, Any]:
        """A fresh episode."""
        state = self.task.drawn(key), jnp.zeros((), jnp.int32), jnp.zeros(2)
        return state, self._seen(state)

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """One step."""
        shown, time, result = state
        decides = (time % 2 == 1) & (time < shown.count)
        right = action == shown.answers[time]
        won = (0.0, -1.0) if self.task.punished else (1.0, 0.0)
        reward = jnp.where(decides, jnp.where(right, *won), 0.0)
        result = jnp.where(decides, jnp.stack([~right, right]).astype(jnp.float32), result)
        info = {
            "decided": decides,
            "right": right & decides,
            "query": time >= shown.second,
            "game": time // 2,
            "foil": jnp.zeros((), jnp.int32),
            "second": time + 1 >= shown.second,
        }
        state = shown, jnp.minimum(time + 1, shown.count), result
        return state, Turn(self._seen(state), reward, time + 1 >= shown.count, info)

    def _seen(self, state: Any) -> Any:
        shown, time, result = state
        return jnp.concatenate([shown.inputs[time], result])


@lru_cache(maxsize=16)
def _world(task: Recall) -> RecallWorld:
    return RecallWorld(task, task.inputs, task.outputs, task.horizon)


@partial(jax.jit, static_argnums=0)
def _drawn(task: Recall, key: Any, numbers: Any) -> Shown:
    return jax.vmap(lambda number: task.drawn(episode_keys(key, number)[0]))(numbers)


@control("recall-rank", version=1, role="oracle")
class RecallRank(FixedRule):
    """The rank of the number among the different ones that this dimension has had so far in the
    episode.
    """

    def __init__(self, task: Recall, brief: Any, seed: int) -> None:
        self._task = task

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """After every question, where the number stood among those before; any number after a
        stimulus.
        """
        dimensions, answers = self._task.dimensions, np.zeros(len(inputs), dtype=np.int64)
        seen: list[set[float]] = [set() for _ in range(dimensions)]
        for step in range(0, len(inputs) - 1, 2):
            stimulus, question = inputs[step, :-2], inputs[step + 1, :-2]
            if self._task.coding == "one-hot":
                block = question.reshape(dimensions, -1).any(axis=1).argmax()
                answers[step + 1] = stimulus.reshape(dimensions, -1)[block].argmax()
                continue
            for place, number in enumerate(stimulus.tolist()):
                seen[place].add(number)
            place = int(question.argmax())
            answers[step + 1] = sum(number < stimulus[place] for number in seen[place])
        return np.minimum(answers, self._task.most - 1)
