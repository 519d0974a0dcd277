"""The transformer against its equations, written out one number at a time."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.attention import Noise
from quickstudy.cores.core import ABSENT, Core
from quickstudy.cores.transformer import Transformer
from quickstudy.gateway import eqx, jax, jnp
from quickstudy.learners.adam import Adam

SYMBOLS, STEPS, BATCH = 5, 6, 3
SMALL = {"embedding": 6, "heads": 2, "hidden": 7}


def built(**parameters):
    core = Transformer(**{**SMALL, **parameters}).build(Tokens(SYMBOLS), np.random.default_rng(0))
    # Biases and norms start at 0 and 1: other values, so that a part left out would show.
    rng = np.random.default_rng(1)
    return jax.tree.map(lambda leaf: leaf + jnp.asarray(0.3 * rng.normal(size=leaf.shape), jnp.float32), core)


@pytest.fixture(scope="module")
def tokens():
    return np.random.default_rng(2).integers(SYMBOLS, size=(STEPS, BATCH))


@eqx.filter_jit
def read(core, tokens, capacity=STEPS, key=None, state=None):
    """(state, features) of tokens, from the start unless a state is given."""
    start = core.start(tokens.shape[1], capacity) if state is None else state
    return core.unroll(start, tokens, key=key)


def normed(norm, x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * np.asarray(norm.scale, float) + np.asarray(norm.shift, float)


def affine(layer, x):
    return x @ np.asarray(layer.weights, float) + np.asarray(layer.bias, float)


def position(place, width):
    return [
        np.sin(place / 10000 ** (i / width)) if i % 2 == 0 else np.cos(place / 10000 ** ((i - 1) / width))
        for i in range(width)
    ]


def reference(core, sequence, sees):
    """Features of one sequence; sees(query, key) says who sees whom."""
    width = core.width
    embedding = np.asarray(core.inputs.weights, float)
    rows = [embedding[token] * np.sqrt(width) + position(place, width) for place, token in enumerate(sequence)]
    for layer in core.layers:
        size = width // layer.heads
        mixed = [affine(layer.mix, row) for row in rows]
        after = []
        for place, row in enumerate(rows):
            read = []
            for head in range(layer.heads):
                part = slice(head * size, (head + 1) * size)
                keys = [k for k in range(len(rows)) if sees(place, k)]
                scores = np.array([mixed[place][:width][part] @ mixed[k][width:-width][part] for k in keys])
                shares = np.exp(scores / np.sqrt(size)) / np.exp(scores / np.sqrt(size)).sum()
                read.append(sum(share * mixed[k][-width:][part] for share, k in zip(shares, keys, strict=True)))
            row = normed(layer.norms[0], row + affine(layer.out, np.concatenate(read)))
            row = normed(layer.norms[1], row + affine(layer.narrow, np.maximum(affine(layer.widen, row), 0)))
            after.append(row)
        rows = after
    return np.array(rows)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_step_sees_itself_and_those_before_it(tokens, layers):
    core = built(layers=layers)
    features = read(core, tokens)[1]
    for example in range(BATCH):
        wanted = reference(core, tokens[:, example], lambda query, key: key <= query)
        np.testing.assert_allclose(np.asarray(features[:, example]), wanted, atol=2e-5)


def test_the_leak_sees_everything_but_padding(tokens):
    core = built(causal=False)
    lengths = [6, 4, 1]
    padded = np.where(np.arange(STEPS)[:, None] < lengths, tokens, ABSENT)
    features = read(core, padded)[1]
    for example, length in enumerate(lengths):
        wanted = reference(core, tokens[:length, example], lambda query, key: True)
        np.testing.assert_allclose(np.asarray(features[:length, example]), wanted, atol=2e-5)
    with pytest.raises(NotApplicable, match="causal=false reads whole sequences, not single steps"):
        core.step(core.start(BATCH, 1), tokens[0])


@pytest.mark.parametrize(("capacity", "dropout"), [(3, 0.4), (9, 0.0)])
def test_whole_sequences_agree_with_single_steps(tokens, capacity, dropout):
    """With more steps than capacity as well: then the oldest are forgotten."""
    core, key = built(dropout=dropout), jax.random.key(0)
    whole = read(core, tokens, capacity, key)
    single = jax.jit(lambda key: Core.unroll(core, core.start(BATCH, capacity), tokens, key=key))(key)
    for found, wanted in zip(jax.tree.leaves(whole), jax.tree.leaves(single), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), atol=1e-5)


def test_a_window_as_long_as_the_capacity(tokens):
    core = built()
    features = read(core, tokens, 3)[1]
    wanted = reference(core, tokens[:, 0], lambda query, key: query - 3 < key <= query)
    np.testing.assert_allclose(np.asarray(features[:, 0]), wanted, atol=2e-5)


def test_a_sequence_can_be_read_in_pieces(tokens):
    core = built()
    state, whole = read(core, tokens)
    halfway, first = read(core, tokens[:2])
    end, second = read(core, tokens[2:], state=halfway)
    np.testing.assert_allclose(np.concatenate([first, second]), whole, atol=1e-5)
    for found, wanted in zip(jax.tree.leaves(end), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), atol=1e-5)


@pytest.mark.parametrize("causal", [True, False])
def test_dropout_leaves_numbers_out_with_a_key_only(tokens, causal):
    core, quiet = (built(dropout=dropout, causal=causal) for dropout in (0.5, 0.0))
    keys = jax.random.split(jax.random.key(0), 2)
    assert np.array_equal(read(core, tokens)[1], read(quiet, tokens, key=keys[0])[1])
    one, two = (read(core, tokens, key=key)[1] for key in keys)
    assert not np.allclose(one, two)
    assert np.array_equal(one, read(core, tokens, key=keys[0])[1])


def test_noise_has_the_share_that_is_asked_for_and_keeps_the_mean():
    rows = jnp.ones((50, 40, 10))

    def drawn(key):
        noise = Noise(0.3, jax.random.split(key, 50), 20)
        return noise(rows), noise(rows)

    first, second = (np.asarray(part) for part in jax.jit(drawn)(jax.random.key(0)))
    for found in (first, second):
        assert set(np.unique(found)) == {0.0, np.float32(1 / 0.7)}
        assert (found == 0).mean() == pytest.approx(0.3, abs=0.015)  # 4.6 standard deviations
    assert not np.array_equal(first, second)


def test_noise_is_what_one_draw_of_the_library_gives():
    keys = jax.random.split(jax.random.key(3), 4)
    batch, heads, among, width = 3, 2, 6, 5
    numbers = heads * among + width
    whole = np.asarray(jax.vmap(lambda key: jax.random.bernoulli(key, 0.6, (batch, numbers)))(keys)) / np.float32(0.6)

    def drawn(keys):
        noise = Noise(0.4, keys, numbers)
        return noise.shares(batch, heads, 4, among), noise(jnp.ones((4, batch, width)))

    shares, rows = (np.asarray(part) for part in jax.jit(drawn)(keys))
    attention = whole[..., : heads * among].reshape(4, batch, heads, among)
    np.testing.assert_allclose(shares, np.moveaxis(attention, 0, 2)[..., :4], rtol=1e-6)
    np.testing.assert_allclose(rows, whole[..., heads * among :], rtol=1e-6)


def test_with_less_padding_a_sequence_has_the_same_noise(tokens):
    core = built(dropout=0.5, causal=False)
    xs = jnp.concatenate([jnp.asarray(tokens), jnp.full((9 - len(tokens), tokens.shape[1]), ABSENT)])
    batch, key = tokens.shape[1], jax.random.key(1)
    read = jax.jit(lambda xs: core.unroll(core.start(batch, 9), xs, key=key)[1])
    short, long = read(xs[: len(tokens)]), read(xs)
    np.testing.assert_allclose(np.asarray(short[: len(tokens)]), np.asarray(long[: len(tokens)]), atol=1e-5)


@pytest.mark.parametrize("causal", [True, False])
def test_all_the_noise_that_is_drawn_is_used(tokens, causal, monkeypatch):
    """After the embedding, then in every layer: attention, after it, within the feed-forward part, after it."""
    core, made = built(layers=2, dropout=0.5, causal=causal), []
    monkeypatch.setattr("quickstudy.cores.transformer.Noise", lambda *given: made.append(Noise(*given)) or made[-1])
    jax.eval_shape(lambda key: core.unroll(core.start(BATCH, STEPS), tokens, key=key), jax.random.key(0))
    (noise,) = made
    assert noise.taken == noise.numbers == 6 + 2 * (2 * STEPS + 6 + 7 + 6)


# Vocabulary and parameters of the published transformer with its output layer.
PUBLISHED = {
    2: 34_692, 15: 36_785, 18: 37_268, 16: 36_946, 25: 38_395, 29: 39_039, 45: 41_615, 38: 40_488, 51: 42_581,
}  # fmt: skip


def test_published_sizes():
    spec = configure("transformer", Transformer, {}, "published")
    for symbols, parameters in PUBLISHED.items():
        core = spec.build(Tokens(symbols), np.random.default_rng(0))
        assert sum(leaf.size for leaf in jax.tree.leaves(core)) + 80 * symbols + symbols == parameters
    brief = Brief(Tokens(16), Tokens(16), "cross-entropy", 5, 5)
    (cost,) = Adam().begin(spec, brief, [Streams(0, "size", 0)]).cost()
    assert (cost.trained_parameters, cost.fixed_parameters) == (PUBLISHED[16], 0)


def test_weights_start_as_published():
    brief = Brief(Tokens(50), Tokens(50), "cross-entropy", 5, 5)
    arrays = Adam().begin(Transformer(), brief, [Streams(0, "size", 0)]).snapshot().arrays
    model = {name.split("[0].", 1)[1]: array for name, array in arrays.items() if name.startswith("[0].")}
    bounds = {
        "core.inputs.weights": 0.1,
        "core.layers[0].mix.weights": np.sqrt(6 / 320),
        "core.layers[0].out.weights": 1 / np.sqrt(80),
        "core.layers[0].widen.weights": 1 / np.sqrt(80),
        "core.layers[0].narrow.weights": 1 / np.sqrt(50),
        "head.weights": 0.1,
    }
    for name, bound in bounds.items():
        assert 0.99 * bound < np.abs(model[name]).max() <= bound, name
    for name in ("head.bias", "core.layers[0].mix.bias", "core.layers[0].out.bias"):
        assert not model[name].any(), name


def test_what_does_not_fit():
    with pytest.raises(UsageError, match=r"transformer: embedding must be a multiple of heads \(8\), got 20"):
        configure("transformer", Transformer, {"embedding": 20})
    with pytest.raises(UsageError, match=r"causal=false is for symbols, not Reals\(width=1\); give causal=true"):
        Transformer(causal=False).build(Reals(1), np.random.default_rng(0))
