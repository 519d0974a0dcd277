"""A one-round referential game as a pure world: whole episodes compiled, tested on combinations never named before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from quickstudy.base.learner import Brief, Cost
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.base.task import PureWorldTask, spaces_of
from quickstudy.cores.esn import EchoState
from quickstudy.cores.lstm import LSTM
from quickstudy.gateway import eqx, jax, jnp, lax, optax
from quickstudy.learners.adam import Head, Model
from quickstudy.learners.lanes import over_lanes, stack_lanes

EPISODES = 64
ADAM = optax.adam(0.01)
MEANINGS = np.array([(first, second) for first in range(4) for second in range(4)])
IN_QUERY = (MEANINGS % 2 == 1).all(axis=1)


@dataclass(frozen=True)
class Listener:
    """Two stimuli of two latent values each, seen twice; with the second look comes the name of one of them: which?

    query: meanings with two odd values (these are never targets otherwise). mute: the name is not passed on.
    """

    query: bool = False
    mute: bool = False
    inputs: ClassVar[Fields] = Fields(
        {"stimulus": Reals(4), "message": Fields({"first": Tokens(5), "second": Tokens(5)}), "role": Bits(2)}
    )
    outputs: ClassVar[Tokens] = Tokens(2)
    rounds: ClassVar[int] = 2

    def reset(self, key: Any) -> tuple[Any, Any]:
        pool = MEANINGS[IN_QUERY if self.query else ~IN_QUERY]
        drawn = jax.random.uniform(key, (7,))
        target = jnp.int32(drawn[0] * len(pool))
        other = (target + 1 + jnp.int32(drawn[1] * (len(pool) - 1))) % len(pool)
        answer = jnp.int32(drawn[2] * 2)
        shown = jnp.asarray(pool)[jnp.where(answer == 0, jnp.stack([target, other]), jnp.stack([other, target]))]
        stimulus = (shown.ravel() - 1.5) / 2 + (drawn[3:] - 0.5) / 4
        state = {"stimulus": stimulus, "name": jnp.asarray(pool)[target] + 1, "answer": answer, "round": 0}
        return state, self._seen(state, 0)

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Any, Any, Any]:
        decides = state["round"] == 1
        reward = jnp.where(decides & (action == state["answer"]), 1.0, 0.0)
        return {**state, "round": state["round"] + 1}, self._seen(state, 1), reward, decides

    def _seen(self, state: Any, spoken: int) -> Any:
        first, second = state["name"] * (0 if self.mute else spoken)
        return {"stimulus": state["stimulus"], "message": {"first": first, "second": second}, "role": jnp.array([0, 1])}


@dataclass(frozen=True)
class ByEpisodes:
    """Core and head by REINFORCE, one Adam update for every batch of episodes."""

    core: Any

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> RehearsingPupil:
        return RehearsingPupil(self, brief, streams)


class RehearsingPupil:
    def __init__(self, learner: ByEpisodes, brief: Brief, streams: Sequence[Streams]) -> None:
        self.lanes = len(streams)
        models = []
        for stream in streams:
            core = learner.core.build(brief.inputs, stream.numpy("core"))
            models.append(
                Model(core, Head(jnp.zeros((core.width, brief.outputs.width)), jnp.zeros(brief.outputs.width)))
            )
        self._trainable = models[0].trainable()
        self._model = stack_lanes(models)
        self._moments = stack_lanes([ADAM.init(eqx.filter(models[0], self._trainable))] * self.lanes)
        self._keys = jnp.stack([stream.jax("data") for stream in streams])
        self._shown = 0

    def rehearse(self, world: Any, start: int, stop: int) -> None:
        bounds = jnp.tile(jnp.array([start, stop]) // EPISODES, (self.lanes, 1))
        self._model, self._moments = _rehearse(
            world, self._trainable, self._model, self._moments, self._keys, bounds, self.lanes
        )
        self._shown += stop - start

    def play(self, world: Any, keys: Any) -> Any:
        """(lane,) share of episodes won, with nothing learned. keys: (lane, episode)."""
        return _play(world, self._model, keys, self.lanes)

    def cost(self) -> Cost:
        return Cost(examples=self._shown, updates=self._shown // EPISODES)


def _episodes(world: Any, model: Any, keys: Any) -> tuple[Any, Any]:
    """Play a batch of episodes: (episode,) log-probability of what was done in the last round, and the reward."""
    rounds = jax.vmap(lambda step: jax.vmap(lambda key: jax.random.fold_in(key, step))(keys))(jnp.arange(world.rounds))

    def turn(carry: Any, keys: Any) -> Any:
        memory, state, observation = carry
        memory, features = model.core.step(memory, observation)
        scores = jax.nn.log_softmax(model.head(features))
        action = jax.vmap(jax.random.categorical)(keys, scores)
        state, observation, reward, _ = jax.vmap(world.step)(keys, state, action)
        return (memory, state, observation), (jnp.take_along_axis(scores, action[:, None], 1)[:, 0], reward)

    begun = model.core.start(len(keys), world.rounds), *jax.vmap(world.reset)(keys)
    _, (chosen, rewards) = lax.scan(turn, begun, rounds)
    return chosen[-1], rewards.sum(axis=0)


@eqx.filter_jit
def _play(world: Any, models: Any, keys: Any, lanes: int) -> Any:
    return over_lanes(lambda model, keys: _episodes(world, model, keys)[1].mean(), lanes)(models, keys)


@eqx.filter_jit
def _rehearse(world: Any, trainable: Any, models: Any, moments: Any, keys: Any, bounds: Any, lanes: int) -> Any:
    def single(model: Any, moments: Any, key: Any, bounds: Any) -> Any:
        trained, fixed = eqx.partition(model, trainable)

        def loss(trained: Any, keys: Any) -> Any:
            chosen, reward = _episodes(world, eqx.combine(trained, fixed), keys)
            return -(chosen * (reward - 0.5)).mean()

        def update(number: Any, carry: Any) -> Any:
            trained, moments = carry
            keys = jax.vmap(lambda episode: jax.random.fold_in(key, episode))(number * EPISODES + jnp.arange(EPISODES))
            steps, moments = ADAM.update(jax.grad(loss)(trained, keys), moments)
            return optax.apply_updates(trained, steps), moments

        trained, moments = lax.fori_loop(bounds[0], bounds[1], update, (trained, moments))
        return eqx.combine(trained, fixed), moments

    return over_lanes(single, lanes)(models, moments, keys, bounds)


def query_accuracy(core: Any, streams: Streams, mute: bool = False) -> float:
    world, unseen = Listener(mute=mute), Listener(query=True, mute=mute)
    assert isinstance(world, PureWorldTask)
    pupil = ByEpisodes(core).begin(Brief(*spaces_of(world), "reward", world.rounds, 300 * EPISODES), [streams])
    for start in range(0, 300, 100):
        pupil.rehearse(world, start * EPISODES, (start + 100) * EPISODES)
    assert pupil.cost().updates == 300
    return float(pupil.play(unseen, jax.random.split(streams.jax("test"), (1, 1000)))[0])


RESERVOIR = EchoState(units=200, terms=3, radius=0.1, input_scale=0.7)


@pytest.mark.parametrize(("core", "least"), [(RESERVOIR, 0.6), (LSTM(units=24), 0.9)])
def test_listeners_understand_names_they_were_never_told(core: Any, least: float, streams: Streams) -> None:
    assert query_accuracy(core, streams) > least


def test_without_the_name_a_listener_guesses(streams: Streams) -> None:
    # 1,000 games at chance are within 0.5 +- 0.05 with probability 0.998.
    assert abs(query_accuracy(LSTM(units=24), streams, mute=True) - 0.5) < 0.05


def test_an_observation_in_fields_is_the_same_rows_side_by_side() -> None:
    observation = jax.jit(Listener().reset)(jax.random.key(0))[1]
    core = EchoState(units=10).build(Listener.inputs, np.random.default_rng(0))
    written = np.zeros(4 + 5 + 5 + 2)
    written[:4], written[[4, 9]], written[14:] = observation["stimulus"], 1.0, (0, 1)
    batch = jax.tree.map(lambda leaf: leaf[None], observation)
    assert np.allclose(core.inputs(batch)[0], written @ np.asarray(core.inputs.weights), atol=1e-5)
