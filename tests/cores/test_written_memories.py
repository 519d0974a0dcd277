"""Memories that write down what they see: esbn, dcem and dnc, against the equations written out and
by hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.dcem import DualCoding
from quickstudy.cores.dnc import ComputerCore, DifferentiableComputer, _alike, _allocated
from quickstudy.cores.esbn import SymbolBinding
from quickstudy.jax_gateway import eqx, jnp

RNG = np.random.default_rng(3)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softmax(x: Any) -> Any:
    weights = np.exp(x - x.max())
    return weights / weights.sum()


def affine(layer: Any, x: Any) -> Any:
    if hasattr(layer, "second"):
        return affine(layer.second, np.maximum(affine(layer.first, x), 0))
    return x @ np.asarray(layer.weights, np.float64) + np.asarray(layer.bias, np.float64)


def encoded(encoder: Any, x: Any) -> Any:
    first = x @ np.asarray(encoder.read.weights, np.float64) + np.asarray(encoder.bias, np.float64)
    return np.maximum(affine(encoder.onward, np.maximum(first, 0)), 0)


def lstm(gates: Any, hidden: Any, cell: Any, x: Any) -> Any:
    i, f, g, o = np.split(affine(gates, np.concatenate([x, hidden])), 4)
    cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(cell), cell


@pytest.mark.parametrize("bypass", [True, False])
def test_esbn_is_its_equations(bypass: bool) -> None:
    core = SymbolBinding(units=5, keys=4, hidden=6, features=3, bypass=bypass).build(Reals(2), RNG)
    core = eqx.tree_at(lambda one: one.confidence, core, jnp.array([0.7, -0.2]))
    xs = RNG.normal(size=(6, 2))
    features = np.asarray(core.unroll(core.start(1, 6), jnp.asarray(xs[:, None], jnp.float32))[1])[
        :, 0
    ]
    hidden, cell, read = np.zeros(5), np.zeros(5), np.zeros(5)
    values: list[Any] = []
    keys: list[Any] = []
    for x, given in zip(xs, features, strict=True):
        z = encoded(core.encoder, x)
        hidden, cell = lstm(core.gates, hidden, cell, np.concatenate([z, read]) if bypass else read)
        read = np.zeros(5)
        if values:
            s = np.array(values) @ z
            confident = np.concatenate([np.array(keys), sigmoid(0.7 * s - 0.2)[:, None]], axis=1)
            read = sigmoid(affine(core.gate, hidden)) * (softmax(s) @ confident)
        values.append(z)
        keys.append(affine(core.write, hidden))
        np.testing.assert_allclose(
            given, [*hidden, *read, *(z if bypass else ())], rtol=2e-4, atol=2e-5
        )


@pytest.mark.parametrize(("before", "steps"), [(0, 9), (4, 7), (13, 9), (3, 14)])
def test_esbn_reads_many_steps_as_one_by_one(before: int, steps: int) -> None:
    """Nine slots: some are written over by what is read at once, and in the end more is read than
    there are.
    """
    core = SymbolBinding(units=5, keys=4, hidden=6, features=3).build(Reals(2), RNG)
    xs = jnp.asarray(RNG.normal(size=(before + steps, 3, 2)), jnp.float32)
    state, wanted = core.start(3, 9), []
    for x in xs[:before]:
        state, _ = core.step(state, x)
    one_by_one = state
    for x in xs[before:]:
        one_by_one, features = core.step(one_by_one, x)
        wanted.append(features)
    found, features = core.unroll(state, xs[before:])
    np.testing.assert_allclose(features, np.stack(wanted), rtol=2e-4, atol=2e-6)
    for one, other in zip(found, one_by_one, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-6)


def test_esbn_reads_the_key_of_what_it_saw_before() -> None:
    core = SymbolBinding(units=4, keys=3, hidden=8, features=8).build(Tokens(4), RNG)
    # Features far apart: what is read is then the key of the one step that was alike.
    core = eqx.tree_at(lambda one: one.encoder.read.weights, core, 40 * jnp.eye(4, 8))
    core = eqx.tree_at(
        lambda one: (
            one.encoder.onward.weights,
            one.encoder.onward.bias,
            one.encoder.bias,
            one.gate.bias,
        ),
        core,
        (jnp.eye(8), jnp.zeros(8), jnp.zeros(8), jnp.array([50.0])),
    )
    state = core.start(1, 8)
    for token in (0, 1, 2, 3):
        state, _ = core.step(state, jnp.array([token]))
    keys = np.asarray(state[4])[0]
    _, features = core.step(state, jnp.array([2]))
    np.testing.assert_allclose(np.asarray(features)[0, 4:7], keys[2], rtol=1e-4)


def test_dnc_allocates_the_least_used_first() -> None:
    found = np.asarray(_allocated(jnp.array([[0.9, 0.1, 0.5]])))[0]
    np.testing.assert_allclose(found, [0.1 * 0.1 * 0.5, 0.9, 0.5 * 0.1], rtol=1e-4)


def test_dnc_looks_up_by_the_cosine() -> None:
    memory = jnp.array([[[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]]])
    weights = np.asarray(_alike(memory, jnp.array([[[5.0, 0.0]]]), jnp.array([[20.0]])))[0, 0]
    np.testing.assert_allclose(
        weights, softmax((1 + np.log1p(np.exp(20.0))) * np.array([1.0, 0.0, -1.0])), atol=1e-5
    )


def test_dnc_follows_the_order_of_writing() -> None:
    """Three writes into free slots, and then a head that goes forward from the first: it comes to
    the second.
    """
    core: Any = DifferentiableComputer(
        units=3, slots=4, word=2, heads=1, hidden=3, features=3
    ).build(Reals(1), RNG)
    assert isinstance(core, ComputerCore)
    tape = core.start(1, 8)[1]
    on, off = 60.0, -60.0

    def turn(tape: Any, write: bool, add: Any, mode: int, key: Any = (0.0, 0.0)) -> Any:
        modes = [on if place == mode else off for place in range(3)]
        interface = [
            *key,
            60.0,
            0.0,
            0.0,
            0.0,
            off,
            off,
            *np.arctanh(add),
            off,
            on,
            on if write else off,
            *modes,
        ]
        return core._turned(tape, jnp.array([interface], jnp.float32))

    for add in ((0.5, 0.1), (-0.5, 0.2), (0.1, -0.9)):
        tape = turn(tape, True, add, 1)
    np.testing.assert_allclose(np.asarray(tape.memory)[0].sum(axis=0), [0.1, -0.6], atol=1e-4)
    tape = turn(tape, False, (0.0, 0.0), 1, (0.5, 0.1))  # by content: the first
    np.testing.assert_allclose(np.asarray(tape.read)[0, 0], [0.5, 0.1], atol=1e-3)
    tape = turn(tape, False, (0.0, 0.0), 2)  # forward
    np.testing.assert_allclose(np.asarray(tape.read)[0, 0], [-0.5, 0.2], atol=1e-3)
    tape = turn(tape, False, (0.0, 0.0), 2)
    np.testing.assert_allclose(np.asarray(tape.read)[0, 0], [0.1, -0.9], atol=1e-3)
    tape = turn(tape, False, (0.0, 0.0), 0)  # backward
    np.testing.assert_allclose(np.asarray(tape.read)[0, 0], [-0.5, 0.2], atol=1e-3)


def test_dnc_weights_never_exceed_one() -> None:
    core = DifferentiableComputer(units=6, slots=5, word=3, heads=2, hidden=4, features=4).build(
        Reals(2), RNG
    )
    tape = core.unroll(
        core.start(3, 20), jnp.asarray(RNG.normal(size=(20, 3, 2)) * 5, jnp.float32)
    )[0][1]
    for weights in (tape.written, tape.precedence, tape.weights, tape.links):
        total = np.asarray(weights).sum(axis=-1)
        assert (total <= 1 + 1e-5).all()
        assert (np.asarray(weights) >= -1e-6).all()
    assert (np.asarray(tape.usage) <= 1 + 1e-6).all()
    assert (np.diagonal(np.asarray(tape.links), axis1=1, axis2=2) == 0).all()


@pytest.mark.parametrize("layers", [{}, {"asking": 7, "behind": 6}])
def test_dcem_is_its_equations(layers: dict[str, int]) -> None:
    spec = DualCoding(
        perceived=2, heard=3, units=4, features=3, hidden=5, heads=2, nearest=2, **layers
    )
    core = spec.build(Reals(6), RNG)
    xs = RNG.normal(size=(5, 6))
    features = np.asarray(core.unroll(core.start(1, 5), jnp.asarray(xs[:, None], jnp.float32))[1])[
        :, 0
    ]
    hidden, cell = np.zeros(4), np.zeros(4)
    seen: list[Any] = []
    said: list[Any] = []

    def recalled(ask: Any, among: Any, code: Any, keys: Any, values: Any) -> Any:
        parts = []
        for query in affine(ask, code).reshape(2, 3):
            found = np.zeros((2, 3))
            cosines = [query @ k / np.sqrt((query @ query + 1e-6) * (k @ k + 1e-6)) for k in keys]
            order = np.argsort(-np.array(cosines))[:2]
            weights = np.array([1 / (1 - min(cosines[one], 1) + 1e-3) for one in order])
            for place, one in enumerate(order):
                found[place] = values[one] * weights[place] / (weights.sum() + 1e-6)
            first, second, third = np.split(affine(among, found), 3, axis=-1)
            mixed = np.stack([softmax(row) for row in first @ second.T / np.sqrt(3)])
            parts.append((mixed @ third).sum(axis=0))
        return np.concatenate(parts)

    for x, given in zip(xs, features, strict=True):
        sight = encoded(core.sight, np.where(np.isin(np.arange(6), [0, 1, 5]), x, 0))
        speech = encoded(core.speech, np.where(np.arange(6) >= 2, x, 0))
        by_speech = recalled(core.ask[0], core.among[0], speech, said, seen)
        by_sight = recalled(core.ask[1], core.among[1], sight, seen, said)
        hidden, cell = lstm(
            core.gates, hidden, cell, np.concatenate([sight, speech, by_speech, by_sight])
        )
        wanted = np.maximum(affine(core.out, np.concatenate([hidden, by_speech, by_sight])), 0)
        np.testing.assert_allclose(given, wanted, rtol=1e-3, atol=1e-4)
        seen.append(sight)
        said.append(speech)
