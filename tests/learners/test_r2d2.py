"""Learning from replayed sequences: on a world whose optimum is known, for two players who must
agree, and by hand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Rehearsal
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Fields, Reals, Tokens
from quickstudy.base.task import Turn
from quickstudy.cores.encoded_lstm import EncodedLSTM
from quickstudy.cores.recurrent import GRU
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners import action_values, r2d2_programs
from quickstudy.learners.action_values import centred, squeezed, stretched, taken, written
from quickstudy.learners.r2d2 import R2D2
from quickstudy.learners.r2d2_programs import _urgency
from quickstudy.learners.replay import Replay, Sequences, cut_into_sequences

SMALL = GRU(units=12)
SOON = {
    "batch": 16,
    "every": 4,
    "sequences": 16,
    "unroll": 4,
    "overlap": 4,
    "burn_in": 0,
    "replay": 2000,
    "steps": 2,
    "target": 50,
    "rate": 0.005,
    "exploring": 500,
    "discount": 0.9,
}


class Remember(eqx.Module):
    """Shows one of three signs, then nothing for two steps, then asks for it: optimum 1, and 1/3
    without a memory.
    """

    horizon: int = eqx.field(static=True, default=4)
    inputs: Any = eqx.field(static=True, default=Reals(4))
    outputs: Any = eqx.field(static=True, default=Tokens(3))

    def reset(self, key: Any) -> Any:
        sign = jax.random.randint(key, (), 0, 3)
        return (sign, jnp.zeros((), jnp.int32)), jnp.append(jax.nn.one_hot(sign, 3), 0.0)

    def step(self, key: Any, state: Any, action: Any) -> Any:
        sign, time = state
        asked = time == 3
        right = asked & (action == sign)
        seen = jnp.array([0.0, 0.0, 0.0, 1.0]) * (time == 2)
        return (sign, time + 1), Turn(
            seen, right.astype(jnp.float32), asked, {"right": right, "asked": asked}
        )


class Tell(eqx.Module):
    """One of two players sees a sign and says a word; the other hears it one step later and must
    name the sign.
    """

    horizon: int = eqx.field(static=True, default=2)
    players: int = eqx.field(static=True, default=2)
    inputs: Any = eqx.field(static=True, default=Reals(5))
    outputs: Any = eqx.field(
        static=True, default=Fields({"decision": Tokens(2), "word": Tokens(2)})
    )

    def reset(self, key: Any) -> Any:
        sign = jax.random.randint(key, (), 0, 2)
        state = sign, jnp.zeros((), jnp.int32)
        return state, self._seen(sign, jnp.zeros(2), 0)

    def _seen(self, sign: Any, heard: Any, time: Any) -> Any:
        first = jnp.concatenate([jax.nn.one_hot(sign, 2), jnp.zeros(2), jnp.ones(1)])
        second = jnp.concatenate([jnp.zeros(2), heard, jnp.zeros(1)])
        return jnp.stack([first, second]) + 0.0 * time

    def step(self, key: Any, state: Any, action: Any) -> Any:
        sign, time = state
        asked = time == 1
        right = asked & (action["decision"][1] == sign)
        seen = self._seen(sign, jax.nn.one_hot(action["word"][0], 2), time)
        reward = right.astype(jnp.float32)
        return (sign, time + 1), Turn(
            seen, jnp.stack([reward, reward]), asked, {"right": right, "asked": asked}
        )


def score(pupil: Any, rehearsal: Any) -> Any:
    info = pupil.perform(rehearsal, 10_000, 10_256).info
    return (
        np.asarray(info["right"]).sum(axis=(1, 2)) / np.asarray(info["asked"]).sum(axis=(1, 2))
    ).tolist()


def begun(world: Any, lanes: int, core: Any = SMALL, **settings: Any) -> tuple[Any, Rehearsal]:
    streams = [Streams(7, "replay", lane) for lane in range(lanes)]
    training = R2D2(**{**SOON, **settings})
    brief = Brief(world.inputs, world.outputs, "reward", world.horizon, 10_000)
    keys = jnp.stack([stream.jax("data") for stream in streams])
    return training.begin(core, brief, streams), Rehearsal(world, keys)


def test_reaches_the_optimum_of_a_world_that_needs_memory() -> None:
    pupil, rehearsal = begun(Remember(), 2)
    assert max(score(pupil, rehearsal)) < 0.6
    pupil.rehearse(rehearsal, 0, 16 * 60)
    assert min(score(pupil, rehearsal)) > 0.95
    cost = pupil.cost()[0]
    # After the first four steps of all sixteen no sequence is at its end: those updates are not
    # made up for.
    assert (cost.examples, cost.updates) == (4 * 16 * 60, 16 * 60 - 16)


def test_two_layers_behind_others_remember_too() -> None:
    """As the published agents are made: layers for what is shown, two LSTMs, and beside these
    whether one is asked.
    """
    core = EncodedLSTM(units=16, upper=16, sight=(32, 16), layers=(0,), beside=(3, 4))
    pupil, rehearsal = begun(Remember(), 1, core)
    pupil.rehearse(rehearsal, 0, 16 * 60)
    assert score(pupil, rehearsal)[0] > 0.95


def test_squeezed_and_giving_back() -> None:
    """And what is trusted follows softly: it is never what is trained, and not far from it. Of what
    is given back, three are numbers, which are logged, and one is zero or one, whose output is a
    logit.
    """
    world = Remember()
    pupil, rehearsal = begun(world, 1, rebuild=0.2, numbers=3, bits=1, rescale=True, soft=0.05)
    first = pupil._network.advantage.weights
    pupil.rehearse(rehearsal, 0, 16 * 120)
    assert score(pupil, rehearsal)[0] > 0.95
    now, trusted = pupil._network.advantage.weights, pupil._trusted.advantage.weights
    assert 0 < np.abs(now - trusted).max() < 0.5 * np.abs(now - first).max()
    missed = np.asarray(pupil.perform(rehearsal, 10_000, 10_256).info["rebuilt"])
    assert missed.shape == (1, 256, 4, 3)
    assert missed.mean() < 0.1
    network = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, pupil._network)
    read = jnp.pad(jnp.eye(3, 4), ((0, 0), (0, world.outputs.width)))  # nothing was done before
    _, features = network.step(network.start(3, 4), read)
    likely = jax.nn.sigmoid(network.rebuilt(features)[:, 3])
    assert likely.max() < 0.2  # at the first step it is always zero


def test_giving_back_after_some_episodes_only() -> None:
    """Before that many were begun it is as if nothing were to be given back; after as many it is,
    and the rest of the network learns from it.
    """
    found = []
    for settings in ({}, {"rebuild": 0.2, "rebuild_every": 100}):
        pupil, rehearsal = begun(Remember(), 1, numbers=3, **settings)
        parts = [pupil._network.rebuilt.weights]
        for first, last in ((0, 64), (64, 112)):
            pupil.rehearse(rehearsal, first, last)
            parts += [pupil._network.rebuilt.weights, pupil._network.advantage.weights]
        found.append(parts)
    (_, _, early, _, late), (drawn, head_before, own_early, head_after, own_late) = found
    np.testing.assert_array_equal(drawn, head_before)
    np.testing.assert_allclose(early, own_early, atol=1e-6)
    assert np.abs(head_after - drawn).max() > 1e-3
    assert np.abs(late - own_late).max() > 1e-4


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_burned_in(kind: str, monkeypatch: Any) -> None:
    """What is shown in the first step is only burned in: it is learned to be read, and not to be
    kept. As it is written for a GPU, too: step by step, and both networks side by side.
    """
    for module in (action_values, r2d2_programs):
        monkeypatch.setattr(module, "device_kind", lambda: kind)
    pupil, rehearsal = begun(Remember(), 1, unroll=3, overlap=2, burn_in=1)
    pupil.rehearse(rehearsal, 0, 16 * 80)
    assert score(pupil, rehearsal)[0] > 0.9


def test_side_by_side_is_one_after_the_other(monkeypatch: Any) -> None:
    pupil, _ = begun(Remember(), 1)
    network, trusted = (
        jax.tree.map(
            lambda leaf, by=by: leaf[0] * by if eqx.is_array(leaf) else leaf, pupil._network
        )
        for by in (1, 2)
    )
    inputs = jnp.asarray(np.random.default_rng(0).normal(size=(6, 5, 7)), jnp.float32)
    layout = replace(pupil._layout, burn_in=2)
    found = []
    for kind in ("cpu", "gpu"):
        monkeypatch.setattr(r2d2_programs, "device_kind", lambda kind=kind: kind)
        later, features = r2d2_programs._both(layout, network, trusted, network.start(5, 6), inputs)
        found.append(np.stack(features))
    assert later.shape == (4, 5, 7)
    assert np.abs(found[0][0] - found[0][1]).max() > 0.1
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


def test_two_players_agree_on_words() -> None:
    pupil, rehearsal = begun(Tell(), 1, sad=True, unroll=2, overlap=2, steps=1)
    pupil.rehearse(rehearsal, 0, 16 * 150)
    assert score(pupil, rehearsal)[0] > 0.95


@pytest.mark.parametrize("settings", [{}, {"rebuild": 0.2, "rebuild_every": 20}])
def test_lanes_snapshots_and_pieces(settings: Any) -> None:
    pupil, rehearsal = begun(Remember(), 2, **settings)
    pupil.rehearse(rehearsal, 0, 32)
    kept = pupil.snapshot()
    first = pupil.rehearse(rehearsal, 32, 64)
    other, _ = begun(Remember(), 2, **settings)
    other.restore(kept)
    assert other.snapshot().arrays.keys() == kept.arrays.keys()
    again = other.rehearse(rehearsal, 32, 64)
    for one, two in zip(jax.tree.leaves(first), jax.tree.leaves(again), strict=True):
        np.testing.assert_array_equal(one, two)
    for name, array in pupil.snapshot().arrays.items():
        np.testing.assert_array_equal(array, other.snapshot().arrays[name])


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="burn_in must be below unroll"):
        R2D2(unroll=10, burn_in=10)
    with pytest.raises(ValueError, match="overlap must be at most unroll - burn_in"):
        R2D2(unroll=20, burn_in=10, overlap=11)
    with pytest.raises(
        ValueError, match="rebuild_every is about rebuild, which is 0, got 3; give rebuild=1"
    ):
        R2D2(rebuild_every=3)
    with pytest.raises(NotApplicable, match="choices"):
        R2D2().begin(GRU(units=2), Brief(Reals(1), Reals(1), "reward", 4, 10), [Streams(0, "x", 0)])
    pupil, rehearsal = begun(Remember(), 1, sad=True)
    with pytest.raises(NotApplicable, match="two players"):
        pupil.rehearse(rehearsal, 0, 16)
    pupil, rehearsal = begun(Remember(), 1, replay=200_000_000)
    with pytest.raises(NotApplicable, match="GB for a run"):
        pupil.rehearse(rehearsal, 0, 16)


def sequences(values: Any) -> Sequences:
    values = jnp.asarray(values, jnp.float32)
    return Sequences(values, values, values, values, values)


def test_a_replay_forgets_the_oldest_and_draws_by_priority() -> None:
    replay = Replay.empty(sequences(0.0), 3)
    replay = replay.with_more(sequences([1, 2, 3, 4]), jnp.array([True, False, True, True]))
    assert replay.kept.inputs.tolist() == [1, 3, 4]
    assert (replay.priorities.tolist(), int(replay.place)) == ([1, 1, 1], 0)
    replay = replay.priced(jnp.array([1]), jnp.array([8.0])).with_more(
        sequences([5]), jnp.array([True])
    )
    assert (replay.kept.inputs.tolist(), replay.priorities.tolist()) == ([5, 3, 4], [8, 8, 1])
    numbers, chances = replay.drawn(jax.random.key(0), 17_000, 1.0)
    np.testing.assert_allclose(
        np.bincount(numbers, minlength=3) / 17_000, [8 / 17, 8 / 17, 1 / 17], atol=1e-3
    )
    np.testing.assert_allclose(chances[:1], 8 / 17, rtol=1e-5)
    # By hand: (3 * 1/17) ** -0.5 is the largest, and counts 1; the others (3 * 8/17) ** -0.5 of it,
    # 1 / sqrt(8).
    np.testing.assert_allclose(
        replay.importance(jnp.array([8 / 17, 1 / 17]), 0.5), [8**-0.5, 1.0], rtol=1e-5
    )
    # Of more than there is room for, the last are kept.
    assert sorted(
        replay.with_more(sequences([6, 7, 8, 9]), jnp.ones(4, bool)).kept.inputs.tolist()
    ) == [7, 8, 9]


def test_sequences_begin_in_their_pieces_and_end_with_their_episode() -> None:
    """Three pieces of two steps, two actors: the first is in one episode all along, the second
    begins another.
    """
    times = (jnp.arange(6.0)[:, None] + 10 * jnp.arange(1, 3)).reshape(
        3, 2, 2
    )  # (piece, step, actor)
    episode = jnp.array([[4, 5], [4, 5], [4, -1], [4, 6], [4, 6], [4, 6]]).reshape(3, 2, 2)
    lived = Sequences(times, times, times, episode, None)
    start = jnp.array([[0, -1], [0, 1]])
    cut, there = cut_into_sequences(lived, start, jnp.array([[1, 2], [3, 4]]), 3)
    assert there.tolist() == [True, False, True, True]
    assert cut.inputs.tolist() == [[10, 11, 12], [20, 21, 22], [12, 13, 14], [23, 24, 25]]
    assert cut.there.tolist() == [[True] * 3, [True, True, False], [True] * 3, [True] * 3]
    assert cut.state.tolist() == [1, 2, 3, 4]


def test_values_of_parts_by_hand() -> None:
    space = Fields({"decision": Tokens(2), "word": Tokens(3)})
    scores = centred(space, jnp.array([1.0, 3.0, 0.0, 3.0, 6.0]))
    assert scores.tolist() == [-1, 1, -3, 0, 3]
    action = {"decision": jnp.array(1), "word": jnp.array(0)}
    assert float(taken(space, scores, action)) == -2
    assert written(space, action).tolist() == [0, 1, 1, 0, 0]
    values = jnp.array([-20.0, -0.5, 0.0, 3.0])
    np.testing.assert_allclose(stretched(squeezed(values)), values, rtol=1e-3, atol=1e-3)
    # (time, sequence, player): the largest is 3 and the mean of each time's largest is 2.
    assert float(_urgency(jnp.array([[[-3.0, 1.0]], [[0.5, 1.0]]]), 0.5)[0]) == pytest.approx(
        2.5, abs=1e-4
    )
