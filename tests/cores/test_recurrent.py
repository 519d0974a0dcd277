"""Plain and gated recurrent layers, and what they share with the LSTM: gradients and sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.cores import packed as packed_module
from quickstudy.cores.core import Core
from quickstudy.cores.recurrent import GRU, LSTM, RNN, matched_units, published_units
from quickstudy.jax_gateway import double, eqx, jax, jnp
from quickstudy.learners.adam import Adam

UNITS, STEPS, BATCH, SYMBOLS = 4, 6, 3, 5
LAYERS = [RNN, GRU, LSTM]


def built(layer):
    return layer(units=UNITS).build(Tokens(SYMBOLS), np.random.default_rng(0))


@pytest.fixture
def tokens():
    return np.random.default_rng(1).integers(SYMBOLS, size=(STEPS, BATCH))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def elman(inputs, recurrent, bias, token, hidden):
    return np.tanh(inputs[token] + bias[0] + hidden @ recurrent + bias[1])


def gated(inputs, recurrent, bias, token, hidden):
    """As PyTorch documents it: gates r, z, n, and the reset gate times (W_hn h + b_hn)."""
    from_input, from_hidden = inputs[token] + bias[0], hidden @ recurrent + bias[1]
    r = sigmoid(from_input[:UNITS] + from_hidden[:UNITS])
    z = sigmoid(from_input[UNITS : 2 * UNITS] + from_hidden[UNITS : 2 * UNITS])
    n = np.tanh(from_input[2 * UNITS :] + r * from_hidden[2 * UNITS :])
    return (1 - z) * n + z * hidden


@pytest.mark.parametrize(("layer", "equations"), [(RNN, elman), (GRU, gated)])
def test_the_equations(layer, equations, tokens):
    core = built(layer)
    weights = [np.asarray(a, float) for a in (core.inputs.weights, core.recurrent, core.bias)]
    start = np.random.default_rng(2).normal(size=(BATCH, UNITS))
    (last,), features = core.unroll((jnp.asarray(start, jnp.float32),), tokens)
    for example in range(BATCH):
        hidden = start[example]
        for step in range(STEPS):
            hidden = equations(*weights, tokens[step, example], hidden)
            np.testing.assert_allclose(np.asarray(features[step, example]), hidden, atol=1e-6)
        np.testing.assert_allclose(np.asarray(last[example]), hidden, atol=1e-6)


def test_a_reset_gate_that_is_shut_hides_the_past():
    """With r = 0 and z = 0 the new state is tanh of the input's part alone, whatever the second
    bias says.
    """
    core = built(GRU)
    shut = core.bias.at[0, : 2 * UNITS].set(-1e4)
    core = eqx.tree_at(lambda core: core.bias, core, shut)
    hidden = jnp.full((1, UNITS), 0.7)
    _, features = core.step((hidden,), np.array([3]))
    wanted = np.tanh(
        np.asarray(core.inputs.weights)[3, 2 * UNITS :] + np.asarray(core.bias)[0, 2 * UNITS :]
    )
    np.testing.assert_allclose(np.asarray(features[0]), wanted, atol=1e-6)


def loss_of(unroll, tokens, start):
    """A scalar that depends on every feature and on all of the last state."""
    rng = np.random.default_rng(3)
    pulls = rng.normal(size=(STEPS, BATCH, UNITS)), [rng.normal(size=(BATCH, UNITS)) for _ in start]

    def loss(both):
        states, features = unroll(both[0], both[1], tokens)
        return (features * pulls[0]).sum() + sum(
            (s * p).sum() for s, p in zip(states, pulls[1], strict=True)
        )

    return loss


@pytest.mark.parametrize(("device", "straight"), [("cpu", False), ("gpu", False), ("gpu", True)])
@pytest.mark.parametrize("layer", LAYERS)
def test_the_gradient_is_that_of_the_scan(layer, device, straight, tokens, monkeypatch):
    monkeypatch.setattr(packed_module, "device_kind", lambda: device)
    core = replace(built(layer), straight=straight)
    rng = np.random.default_rng(4)
    start = tuple(
        jnp.asarray(rng.normal(size=part.shape), jnp.float32) for part in core.start(BATCH, STEPS)
    )
    ours, scan = (
        eqx.filter_jit(eqx.filter_grad(loss_of(unroll, tokens, start)))((core, start))
        for unroll in (lambda core, *rest: core.unroll(*rest), Core.unroll)
    )
    for found, expected in zip(jax.tree.leaves(ours), jax.tree.leaves(scan), strict=True):
        assert np.abs(np.asarray(expected)).max() > 0.01
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layer", [RNN, GRU])
def test_the_gradient_is_that_of_finite_differences(layer, tokens):
    with double():
        core = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), built(layer))
        start = core.start(BATCH, STEPS)
        loss = eqx.filter_jit(loss_of(lambda core, *rest: core.unroll(*rest), tokens, start))
        gradient = eqx.filter_grad(loss)((core, start))[0]
        rng = np.random.default_rng(5)
        for pick in (
            lambda core: core.recurrent,
            lambda core: core.inputs.weights,
            lambda core: core.bias,
        ):
            weights = pick(core)
            for _ in range(4):
                place = tuple(int(rng.integers(size)) for size in weights.shape)
                above, below = (
                    loss((eqx.tree_at(pick, core, weights.at[place].add(change)), start))
                    for change in (1e-5, -1e-5)
                )
                assert float(above - below) / 2e-5 == pytest.approx(
                    float(pick(gradient)[place]), abs=1e-7
                )


def test_no_matrix_of_weights_is_added_up_step_by_step(tokens):
    """The loop of the gradient carries states' gradients and rows of its results, never something
    like the weights.
    """
    core = built(GRU)
    start = core.start(BATCH, STEPS)
    loss = loss_of(lambda core, *rest: core.unroll(*rest), tokens, start)
    graph = jax.make_jaxpr(jax.grad(lambda core: loss((core, start))))(core)
    scans = [line for line in graph.jaxpr.eqns if line.primitive.name == "scan"]
    assert len(scans) == 2
    for scan in scans:
        carried = scan.invars[scan.params["num_consts"] :][: scan.params["num_carry"]]
        assert {variable.aval.shape[0] for variable in carried if variable.aval.shape} == {
            BATCH,
            STEPS * BATCH,
        }


def packed(tokens, rows, ends):
    """The tokens in packed order, the steps of each phase, and (time, sequence) of each packed
    row.
    """
    places, first = [], 0
    for going, end in zip(rows, ends, strict=True):
        places += [(time, row) for time in range(first, end) for row in range(going)]
        first = max(first, end)
    return np.array([tokens[place] for place in places]), np.diff(ends, prepend=0), places


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("rows", "ends"), [((8,), [6]), ((8, 4, 2), [2, 3, 6]), ((8, 4, 2), [6, 6, 6])]
)
@pytest.mark.parametrize(
    ("device", "spare"), [("cpu", 0), ("cpu", 300), ("gpu", 300)]
)  # many rows: in blocks
def test_packed_sequences_are_those_padded(layer, rows, ends, device, spare, monkeypatch):
    monkeypatch.setattr(packed_module, "device_kind", lambda: device)
    core = built(layer)
    tokens = np.random.default_rng(1).integers(SYMBOLS, size=(6, 8))
    xs, steps, places = packed(tokens, rows, ends)
    xs = np.pad(xs, (0, spare))
    pulls = np.random.default_rng(2).normal(size=(6, 8, UNITS)).astype(np.float32)
    counted = np.zeros((6, 8, 1), np.float32)
    counted[tuple(np.array(places).T)] = 1

    def packed_loss(core):
        features = core.unroll_packed(rows, jnp.asarray(steps), xs)
        return (features[: len(places)] * pulls[tuple(np.array(places).T)]).sum(), features

    def padded_loss(core):
        features = core.unroll(core.start(8, 6), tokens)[1]
        return (features * pulls * counted).sum(), features

    ours, features = eqx.filter_jit(eqx.filter_grad(packed_loss, has_aux=True))(core)
    plain, expected = eqx.filter_jit(eqx.filter_grad(padded_loss, has_aux=True))(core)
    for row, place in enumerate(places):
        np.testing.assert_allclose(
            np.asarray(features[row]), np.asarray(expected[place]), atol=1e-6
        )
    assert not np.asarray(features[len(places) :]).any()
    for found, wanted in zip(jax.tree.leaves(ours), jax.tree.leaves(plain), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-4, atol=1e-5)


def parameters(spec, symbols):
    """Those of the layer that is built, and of an output layer."""
    core = spec.build(Tokens(symbols), np.random.default_rng(0))
    return sum(leaf.size for leaf in jax.tree.leaves(core)) + core.width * symbols + symbols


# Vocabulary, and parameters of the published RNN with its output layer.
PUBLISHED = {
    2: 4_218,
    15: 38_175,
    18: 46_746,
    16: 40_936,
    25: 69_045,
    29: 82_650,
    45: 141_570,
    38: 114_798,
    51: 165_447,
}


def test_published_sizes():
    spec = configure("rnn", RNN, {}, "published")
    assert {symbols: parameters(spec, symbols) for symbols in PUBLISHED} == PUBLISHED
    brief = Brief(Tokens(16), Tokens(16), "cross-entropy", 5, 5)
    (cost,) = Adam().begin(spec, brief, [Streams(0, "size", 0)]).cost()
    assert (cost.trained_parameters, cost.fixed_parameters) == (PUBLISHED[16], 0)


@pytest.mark.parametrize("symbols", [2, 16, 51])
@pytest.mark.parametrize("layer", [RNN, GRU])
def test_matched_sizes_train_what_a_reservoir_trains(layer, symbols):
    units = layer().build(Tokens(symbols), np.random.default_rng(0)).units
    assert (
        parameters(layer(), symbols) <= 1800 * symbols < parameters(layer(units=units + 1), symbols)
    )


@pytest.mark.parametrize(("layer", "gates"), [(RNN, 1), (GRU, 3)])
def test_weights_are_uniform_within_the_usual_bound(layer, gates):
    core = layer(units=100).build(Tokens(20), np.random.default_rng(0))
    shapes = (20, 100 * gates), (100, 100 * gates), (2, 100 * gates)
    for weights, shape in zip(
        (core.inputs.weights, core.recurrent, core.bias), shapes, strict=True
    ):
        assert weights.shape == shape
        values = np.asarray(weights).ravel()
        assert np.abs(values).max() <= 0.1
        assert values.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.1)


def parameters_of(units, width, gates):
    """Weights from inputs, from units, two biases, for every gate; then the output layer."""
    return gates * (units * width + units * units + 2 * units) + units * width + width


@given(st.integers(1, 100), st.integers(1, 3000), st.sampled_from([1, 3, 4]))
def test_matched_is_the_largest_within_the_budget(width, budget, gates):
    units = matched_units(width, budget, gates)
    assert units >= 1
    assert parameters_of(units, width, gates) <= budget * width or units == 1
    assert parameters_of(units + 1, width, gates) > budget * width


def test_the_published_formula():
    vocabularies = (2, 15, 18, 16, 25, 29, 45, 38, 51)
    assert [published_units(v, 1800) for v in vocabularies] == [
        62,
        180,
        198,
        186,
        238,
        259,
        333,
        302,
        358,
    ]


def test_what_the_published_formula_meant():
    """Solving h^2 + 2 h V = 1800 V with the right sign gives sizes that are 2 V smaller."""
    intended = {2: 58, 15: 150, 18: 162, 16: 154, 25: 188, 29: 201, 45: 243, 38: 226, 51: 256}
    for width, units in intended.items():
        assert published_units(width, 1800) - 2 * width == units
        assert matched_units(width, 1800, gates=1, biases=False) == units
        assert (
            units**2 + 2 * units * width
            <= 1800 * width
            < (units + 1) ** 2 + 2 * (units + 1) * width
        )
