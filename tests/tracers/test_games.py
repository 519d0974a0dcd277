"""A one-round referential game as a pure world: whole episodes compiled, tested on combinations
never named before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from quickstudy.base.actions import Policy
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Brief, Cost, Rehearsing, face
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.base.task import PureWorldTask, Turn, spaces_of
from quickstudy.cores.esn import EchoState
from quickstudy.cores.recurrent import LSTM
from quickstudy.jax_gateway import eqx, jax, jnp, key_from_words, lax, optax
from quickstudy.learners.lanes import over_lanes, stack_lanes
from quickstudy.learners.rollout import play
from quickstudy.learners.stepping import Head, Model

EPISODES = 64
ADAM = optax.adam(0.01)
MEANINGS = np.array([(first, second) for first in range(4) for second in range(4)])
IN_QUERY = (MEANINGS % 2 == 1).all(axis=1)


@dataclass(frozen=True)
class Listener:
    """Two stimuli of two latent values each, seen twice; with the second look comes the name of one
    of them: which?

    query: meanings with two odd values (these are never targets otherwise). mute: the name is not
    passed on.
    """

    query: bool = False
    mute: bool = False
    inputs: ClassVar[Fields] = Fields(
        {
            "stimulus": Reals(4),
            "message": Fields({"first": Tokens(5), "second": Tokens(5)}),
            "role": Bits(2),
        }
    )
    outputs: ClassVar[Tokens] = Tokens(2)
    horizon: int = 2

    def reset(self, key: Any) -> tuple[Any, Any]:
        pool = MEANINGS[IN_QUERY if self.query else ~IN_QUERY]
        drawn = jax.random.uniform(key, (7,))
        target = jnp.int32(drawn[0] * len(pool))
        other = (target + 1 + jnp.int32(drawn[1] * (len(pool) - 1))) % len(pool)
        answer = jnp.int32(drawn[2] * 2)
        shown = jnp.asarray(pool)[
            jnp.where(answer == 0, jnp.stack([target, other]), jnp.stack([other, target]))
        ]
        stimulus = (shown.ravel() - 1.5) / 2 + (drawn[3:] - 0.5) / 4
        state = {
            "stimulus": stimulus,
            "name": jnp.asarray(pool)[target] + 1,
            "answer": answer,
            "round": 0,
        }
        return state, self._seen(state, 0)

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        decides = state["round"] == 1
        won = decides & (action == state["answer"])
        turn = Turn(
            self._seen(state, 1), jnp.where(won, 1.0, 0.0), decides, {"target": state["name"]}
        )
        return {**state, "round": state["round"] + 1}, turn

    def _seen(self, state: Any, spoken: int) -> Any:
        first, second = state["name"] * (0 if self.mute else spoken)
        return {
            "stimulus": state["stimulus"],
            "message": {"first": first, "second": second},
            "role": jnp.array([0, 1]),
        }


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
                Model(
                    core,
                    Head(
                        jnp.zeros((core.width, brief.outputs.width)), jnp.zeros(brief.outputs.width)
                    ),
                )
            )
        self._trainable = models[0].trainable()
        self._model = stack_lanes(models)
        self._moments = stack_lanes(
            [ADAM.init(eqx.filter(models[0], self._trainable))] * self.lanes
        )
        self._noise = key_from_words(np.stack([stream.words("noise", 2) for stream in streams]))
        self._steps, self._updates = 0, 0

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        bounds = jnp.tile(jnp.array([start, stop]) // EPISODES, (self.lanes, 1))
        played = self.perform(rehearsal, start, stop)
        self._model, self._moments = _rehearse(
            rehearsal.world,
            self._trainable,
            self._model,
            self._moments,
            (rehearsal.keys, self._noise),
            bounds,
            self.lanes,
        )
        self._steps += int(played.steps()[0])
        self._updates += (stop - start) // EPISODES
        return played

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        numbers = jnp.tile(jnp.arange(start, stop), (self.lanes, 1))
        keys = rehearsal.keys, self._noise
        return _perform(rehearsal.world, self._model, keys, numbers, self.lanes)  # type: ignore[no-any-return]

    def cost(self) -> list[Cost]:
        return [Cost(examples=self._steps, updates=self._updates)] * self.lanes


def _episodes(world: Any, model: Any, keys: Any, numbers: Any) -> Any:
    """Play a batch of episodes: log-probabilities of the last decisions (episode,), and all that
    happened.
    """

    def step(state: Any, observation: Any, key: Any) -> Any:
        memory, features = model.core.step(state[0], observation)
        policy = Policy(world.outputs, model.head(features))
        action = policy.draw(
            jax.vmap(lambda key: jax.random.uniform(key, (world.outputs.width,)))(key)
        )
        return (memory, policy.log_probability(action)), action

    begun = model.core.start(len(numbers), world.horizon), jnp.zeros(len(numbers))
    (_, chosen), played = play(world, begun, step, *keys, numbers)
    return chosen, played


@eqx.filter_jit
def _perform(world: Any, models: Any, keys: Any, numbers: Any, lanes: int) -> Any:
    return over_lanes(lambda *lane: _episodes(world, *lane)[1], lanes)(models, keys, numbers)


@eqx.filter_jit
def _rehearse(
    world: Any, trainable: Any, models: Any, moments: Any, keys: Any, bounds: Any, lanes: int
) -> Any:
    def single(model: Any, moments: Any, keys: Any, bounds: Any) -> Any:
        trained, fixed = eqx.partition(model, trainable)

        def loss(trained: Any, numbers: Any) -> Any:
            chosen, played = _episodes(world, eqx.combine(trained, fixed), keys, numbers)
            return -(chosen * (played.rewards.sum(axis=1) - 0.5)).mean()

        def update(number: Any, carry: Any) -> Any:
            trained, moments = carry
            numbers = number * EPISODES + jnp.arange(EPISODES)
            steps, moments = ADAM.update(jax.grad(loss)(trained, numbers), moments)
            return optax.apply_updates(trained, steps), moments

        trained, moments = lax.fori_loop(bounds[0], bounds[1], update, (trained, moments))
        return eqx.combine(trained, fixed), moments

    return over_lanes(single, lanes)(models, moments, keys, bounds)


def query_accuracy(core: Any, streams: Streams, mute: bool = False) -> float:
    world, unseen = Listener(mute=mute), Listener(query=True, mute=mute)
    assert isinstance(world, PureWorldTask)
    brief = Brief(*spaces_of(world), "reward", world.horizon, 300 * EPISODES)
    pupil = face(ByEpisodes(core).begin(brief, [streams.for_learner()]), Rehearsing)
    lesson, exam = (
        Rehearsal(game, streams.jax(purpose)[None])
        for game, purpose in ((world, "data"), (unseen, "test"))
    )
    for start in range(0, 300, 100):
        played = pupil.rehearse(lesson, start * EPISODES, (start + 100) * EPISODES)
        assert played.actions.shape == played.done.shape == (1, 100 * EPISODES, world.horizon)
        assert played.info["target"].shape == (1, 100 * EPISODES, world.horizon, 2)
    assert (pupil.cost()[0].examples, pupil.cost()[0].updates) == (
        300 * EPISODES * world.horizon,
        300,
    )
    return float(pupil.perform(exam, 0, 1000).rewards.sum(axis=-1).mean())


RESERVOIR = EchoState(units=200, terms=3, radius=0.1, input_scale=0.7)


@pytest.mark.parametrize(("core", "least"), [(RESERVOIR, 0.6), (LSTM(units=24), 0.9)])
def test_listeners_understand_names_they_were_never_told(
    core: Any, least: float, streams: Streams
) -> None:
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
