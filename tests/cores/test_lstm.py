from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import Core
from quickstudy.cores.recurrent import LSTM
from quickstudy.jax_gateway import double, eqx, jax, jnp
from quickstudy.learners.adam import Adam

UNITS, STEPS, BATCH, SYMBOLS = 4, 6, 3, 5


@pytest.fixture(scope="module")
def core():
    return LSTM(units=UNITS).build(Tokens(SYMBOLS), np.random.default_rng(0))


@pytest.fixture(scope="module")
def tokens():
    return np.random.default_rng(1).integers(SYMBOLS, size=(STEPS, BATCH))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def reference(core, tokens, hidden, cell):
    """The equations of the layer, one example and one gate at a time, in float64."""
    inputs, recurrent, bias = (
        np.asarray(a, float) for a in (core.inputs.weights, core.recurrent, core.bias)
    )
    features = np.zeros((*tokens.shape, UNITS))
    hidden, cell = np.array(hidden, float), np.array(cell, float)
    for step in range(tokens.shape[0]):
        for example in range(tokens.shape[1]):
            drive = inputs[tokens[step, example]] + hidden[example] @ recurrent + bias[0] + bias[1]
            i, f, g, o = (drive[gate * UNITS : (gate + 1) * UNITS] for gate in range(4))
            cell[example] = sigmoid(f) * cell[example] + sigmoid(i) * np.tanh(g)
            hidden[example] = sigmoid(o) * np.tanh(cell[example])
        features[step] = hidden
    return features, hidden, cell


def test_the_equations(core, tokens):
    rng = np.random.default_rng(2)
    for start in (
        core.start(BATCH, STEPS),
        (rng.normal(size=(BATCH, UNITS)), rng.normal(size=(BATCH, UNITS))),
    ):
        start = tuple(jnp.asarray(part, jnp.float32) for part in start)
        (hidden, cell), features = core.unroll(start, tokens)
        wanted = reference(core, tokens, *start)
        for found, expected in zip((features, hidden, cell), wanted, strict=True):
            np.testing.assert_allclose(np.asarray(found), expected, atol=1e-6)


def loss_of(unroll, tokens, pulls):
    """A scalar that depends on every feature and on the last state."""

    def loss(both):
        core, start = both
        (hidden, cell), features = unroll(core, start, tokens)
        return (features * pulls[0]).sum() + (hidden * pulls[1]).sum() + (cell * pulls[2]).sum()

    return loss


@pytest.fixture(scope="module")
def pulls():
    rng = np.random.default_rng(3)
    return (
        rng.normal(size=(STEPS, BATCH, UNITS)),
        rng.normal(size=(BATCH, UNITS)),
        rng.normal(size=(BATCH, UNITS)),
    )


def test_the_gradient_is_that_of_the_scan(core, tokens, pulls):
    rng = np.random.default_rng(4)
    start = tuple(jnp.asarray(rng.normal(size=(BATCH, UNITS)), jnp.float32) for _ in range(2))
    ours = eqx.filter_grad(loss_of(lambda core, *rest: core.unroll(*rest), tokens, pulls))(
        (core, start)
    )
    scan = eqx.filter_grad(loss_of(Core.unroll, tokens, pulls))((core, start))
    leaves = list(zip(jax.tree.leaves(ours), jax.tree.leaves(scan), strict=True))
    assert len(leaves) == 5
    for found, expected in leaves:
        assert np.abs(np.asarray(expected)).max() > 0.01
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-4, atol=1e-5)


def test_the_gradient_is_that_of_finite_differences(core, tokens, pulls):
    with double():
        wide = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), core)
        loss = eqx.filter_jit(loss_of(lambda core, *rest: core.unroll(*rest), tokens, pulls))
        start = wide.start(BATCH, STEPS)
        gradient = eqx.filter_grad(loss)((wide, start))[0]
        rng = np.random.default_rng(5)
        for pick in (
            lambda core: core.recurrent,
            lambda core: core.inputs.weights,
            lambda core: core.bias,
        ):
            weights = pick(wide)
            for _ in range(4):
                place = tuple(int(rng.integers(size)) for size in weights.shape)
                step = 1e-5
                above, below = (
                    loss((eqx.tree_at(pick, wide, weights.at[place].add(change)), start))
                    for change in (step, -step)
                )
                assert float(above - below) / (2 * step) == pytest.approx(
                    float(pick(gradient)[place]), abs=1e-7
                )


# Vocabulary, units of the published programs, parameters of their RNN and of their LSTM with the
# output layer.
PUBLISHED = [
    (2, 62, 4_218, 16_494),
    (15, 180, 38_175, 144_555),
    (18, 198, 46_746, 176_238),
    (16, 186, 40_936, 154_768),
    (25, 238, 69_045, 258_255),
    (29, 259, 82_650, 307_980),
    (45, 333, 141_570, 521_190),
    (38, 302, 114_798, 424_650),
    (51, 358, 165_447, 606_861),
]


@pytest.mark.parametrize(("symbols", "units", "rnn", "lstm"), PUBLISHED)
def test_published_sizes(symbols, units, rnn, lstm):
    spec = configure("lstm", LSTM, {}, "published")
    brief = Brief(Tokens(symbols), Tokens(symbols), "cross-entropy", 5, 5)
    pupil = Adam().begin(spec, brief, [Streams(0, "size", 0)])
    (cost,) = pupil.cost()
    assert (cost.trained_parameters, cost.fixed_parameters) == (lstm, 0)
    assert units * (units + symbols + 2) + units * symbols + symbols == rnn


@pytest.mark.parametrize("symbols", [2, 16, 51])
def test_matched_sizes_train_what_a_reservoir_trains(symbols):
    brief = Brief(Tokens(symbols), Tokens(symbols), "cross-entropy", 5, 5)

    def parameters(units=None):
        return (
            Adam()
            .begin(LSTM(units=units), brief, [Streams(0, "size", 0)])
            .cost()[0]
            .trained_parameters
        )

    built = LSTM().build(Tokens(symbols), np.random.default_rng(0))
    assert parameters() <= 1800 * symbols < parameters(built.units + 1)


def test_weights_are_uniform_within_the_usual_bound():
    core = LSTM(units=100).build(Tokens(8), np.random.default_rng(0))
    for weights in (core.inputs.weights, core.recurrent, core.bias):
        values = np.asarray(weights).ravel()
        assert np.abs(values).max() <= 0.1
        assert values.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.05)
    assert core.bias.shape == (2, 400)
