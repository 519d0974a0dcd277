"""Topologies, noise and orders of the echo-state network; liquid, delay node, next-generation
features; codes of reals.
"""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.delay_node import DelayNode
from quickstudy.cores.esn import EchoState
from quickstudy.cores.liquid import Liquid
from quickstudy.cores.ngrc import NextGeneration
from quickstudy.cores.reca import ReservoirAutomaton
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.features import all_states
from quickstudy.learners.lanes import stack_lanes


def states(core, inputs, key=None):
    """(time, feature) of one sequence (time, width)."""
    return np.asarray(
        core.unroll(core.start(1, len(inputs)), jnp.asarray(inputs)[:, None], key=key)[1]
    )[:, 0]


def linear(topology, **given):
    """The recurrent matrix, seen through tanh at small values."""
    spec = EchoState(units=12, topology=topology, bias_scale=0.0, **given)
    core = spec.build(Reals(1), np.random.default_rng(0))
    tiny = 1e-3
    rows = [
        np.asarray(core.step(tiny * jnp.eye(12)[:, [i]], jnp.zeros((1, 1)))[0])[:, 0] / tiny
        for i in range(12)
    ]
    return np.stack(rows).T


def test_ring_line_and_lattice():
    ring, line = linear("ring", radius=0.8), linear("line", radius=0.8)
    assert ring == pytest.approx(0.8 * np.roll(np.eye(12), 1, axis=0), abs=1e-5)
    assert line == pytest.approx(0.8 * np.eye(12, k=-1), abs=1e-5)
    lattice = linear("lattice", radius=0.7)  # 3 x 4
    assert np.abs(np.linalg.eigvals(lattice)).max() == pytest.approx(0.7, rel=1e-4)
    for unit in range(12):
        row, column = divmod(unit, 4)
        beside = [(row + a, column + b) for a, b in ((-1, 0), (1, 0), (0, -1), (0, 1))]
        near = {4 * r + c for r, c in beside if 0 <= r < 3 and 0 <= c < 4}
        assert set(np.flatnonzero(np.abs(lattice[unit]) > 1e-9)) == near


def test_both_orders_and_inputs_beside_the_units():
    inputs = np.random.default_rng(0).normal(size=(20, 2))
    usual, late, direct = (
        states(EchoState(units=15, **given).build(Reals(2), np.random.default_rng(1)), inputs)
        for given in ({}, {"late": True}, {"direct": True})
    )
    assert late[1:] == pytest.approx(usual[:-1])
    assert (late[0] == 0).all()
    assert direct[:, :15] == pytest.approx(usual)
    assert direct[:, 15:] == pytest.approx(inputs, rel=1e-6)


def test_noise_is_for_learning_alone():
    core = EchoState(units=15, state_noise=0.1, input_noise=0.1).build(
        Reals(1), np.random.default_rng(1)
    )
    plain = EchoState(units=15).build(Reals(1), np.random.default_rng(1))
    inputs = np.random.default_rng(0).normal(size=(20, 1))
    assert states(core, inputs) == pytest.approx(states(plain, inputs))
    shaken, again, other = (states(core, inputs, jax.random.key(seed)) for seed in (0, 0, 1))
    assert np.array_equal(shaken, again)
    assert np.abs(shaken - other).max() > 0.01
    assert states(plain, inputs, jax.random.key(0)) == pytest.approx(states(plain, inputs))
    with pytest.raises(UsageError, match="input_noise is for inputs that are real"):
        EchoState(units=5, input_noise=0.1).build(Tokens(3), np.random.default_rng(0))


def test_a_lane_is_a_seed_and_a_setting():
    """Cores of one shape run side by side whatever their seed, leak, radius and scales are."""
    settings = [
        {"leak": 0.2},
        {"radius": 0.5, "topology": "random"},
        {"input_scale": 0.3, "bias_scale": 0.0},
    ]
    cores = [
        EchoState(**{"units": 20, "radius": 0.9, **given}).build(Reals(1), np.random.default_rng(5))
        for given in settings
    ]
    inputs = np.random.default_rng(0).normal(size=(30, 1, 1)).astype(np.float32)
    together = np.asarray(all_states(stack_lanes(cores), inputs, len(cores)))
    for lane, core in enumerate(cores):
        assert together[lane, :, 0] == pytest.approx(states(core, inputs[:, 0]), abs=1e-5)


def test_next_generation_features_by_hand():
    core = NextGeneration(delays=2, stride=2, degrees=(2, 3)).build(
        Reals(1), np.random.default_rng(0)
    )
    found = states(core, np.array([[2.0], [3.0], [5.0], [7.0]]))
    assert core.width == 2 + 3 + 4
    assert found[2].tolist() == [5, 2, 25, 10, 4, 125, 50, 20, 8]
    assert found[3].tolist() == [7, 3, 49, 21, 9, 343, 147, 63, 27]
    assert found[0].tolist() == [2, 0, 4, 0, 0, 8, 0, 0, 0]
    wide = NextGeneration(delays=3).build(Reals(2), np.random.default_rng(0))
    assert wide.width == 6 + 21


def test_too_many_features_are_refused():
    with pytest.raises(UsageError, match="64 delayed inputs have 47,904 features"):
        NextGeneration(delays=1, degrees=(2, 3)).build(Reals(64), np.random.default_rng(0))
    with pytest.raises(ValueError, match="degrees must be"):
        NextGeneration(degrees=(1,))


def test_the_delay_node_is_one_unit_after_the_other():
    spec = DelayNode(units=6, separation=0.3, gain=0.7, input_scale=0.5, power=3.0)
    core = spec.build(Reals(1), np.random.default_rng(0))
    mask, left = np.asarray(core.inputs.weights)[0], np.exp(-0.3)
    inputs = np.random.default_rng(1).normal(size=(8, 1))
    line, last, wanted = np.zeros(6), 0.0, []
    for u in inputs[:, 0]:
        following = np.zeros(6)
        for i in range(6):
            z = line[i] + mask[i] * u
            last = left * last + (1 - left) * 0.7 * z / (1 + abs(z) ** 3)
            following[i] = last
        line = following
        wanted.append(line)
    assert states(core, inputs) == pytest.approx(np.array(wanted), abs=1e-5)


@pytest.fixture(scope="module")
def liquid():
    return Liquid(units=45, milliseconds=5).build(Reals(1), np.random.default_rng(0))


def test_the_liquid_spikes_more_when_it_is_driven(liquid):
    silent, driven = (states(liquid, np.full((60, 1), level)) for level in (0.0, 3.0))
    assert (silent == 0).all()  # the background is below the threshold
    assert driven.max() > 1
    first = states(liquid, np.concatenate([np.full((20, 1), 3.0), np.zeros((40, 1))]))
    assert 0 < first[-1].max() < 0.1 * first[19].max() + 1e-6  # what was is forgotten, slowly
    assert states(liquid, np.full((60, 1), 3.0)) == pytest.approx(driven)


def test_a_lone_neuron_fires_as_its_equation_says():
    """13.5 + 4 nA from 13.5 mV: the threshold of 15 is crossed after 30 ln(4 / 2.5) = 14.1 ms, then
    3 ms of rest.
    """
    core = Liquid(units=2, milliseconds=1, share=1.0, reach=1e-3).build(
        Reals(1), np.random.default_rng(3)
    )
    drive = float(np.abs(np.asarray(core.inputs.weights)[0]).max())
    unit = int(np.abs(np.asarray(core.inputs.weights)[0]).argmax())
    sign = np.sign(np.asarray(core.inputs.weights)[0, unit])
    traces = states(core, np.full((60, 1), sign * 4.0 / drive))[:, unit]
    jumps = np.flatnonzero(np.diff(traces, prepend=0) > 0.5) + 1
    assert jumps[0] == 15
    assert np.diff(jumps).tolist() == [15 + 3] * (len(jumps) - 1)


def test_synapses_have_their_signs_and_exact_strengths():
    spec = Liquid(units=90)
    kind = (np.arange(90) < 18).astype(int)
    weights = spec.synapses(kind, np.random.default_rng(0))
    assert (weights[:, kind == 1] <= 0).all()
    assert (weights[:, kind == 0] >= 0).all()
    assert (weights * 16 == np.round(weights * 16)).all()
    assert 2 < (weights != 0).sum(axis=1).mean() < 20


def test_the_automaton_reads_reals_by_a_code():
    rng = np.random.default_rng
    usual, named = (
        ReservoirAutomaton(code=code).build(Reals(2), rng(0)) for code in (None, "thermometer")
    )
    some = rng(1).normal(size=(5, 2))
    assert np.array_equal(states(usual, some), states(named, some))
    sign = ReservoirAutomaton(code="sign", redundancy=2, block=8).build(Reals(2), rng(0))
    assert sign.places.shape[0] == 2
    inputs = np.array([[0.3, -0.2], [0.9, -5.0]])
    assert np.array_equal(states(sign, inputs), states(sign, np.sign(inputs)))
    warm = ReservoirAutomaton(code="thermometer", levels=3, redundancy=2, block=8).build(
        Reals(1), rng(0)
    )
    assert np.asarray(warm.levels).tolist() == [-0.5, 0.0, 0.5]
    flat = [states(warm, np.array([[level]])) for level in (-0.4, -0.1, 0.1, 0.6)]
    assert np.array_equal(flat[0], flat[1])
    assert not np.array_equal(flat[1], flat[2])
    assert not np.array_equal(flat[2], flat[3])
