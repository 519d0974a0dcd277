"""The transformer against its equations, written out one number at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.attention import Dropout, Noise, attend
from quickstudy.cores.core import ABSENT, Core
from quickstudy.cores.transformer import LEARNED, Attention, Transformer
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.adam import Adam

SYMBOLS, STEPS, BATCH = 5, 6, 3
SMALL = {"embedding": 6, "heads": 2, "hidden": 7}


def built(**parameters):
    core = Transformer(**{**SMALL, **parameters}).build(Tokens(SYMBOLS), np.random.default_rng(0))
    # Biases and norms start at 0 and 1: other values, so that a part left out would show.
    rng = np.random.default_rng(1)
    return jax.tree.map(
        lambda leaf: leaf + jnp.asarray(0.3 * rng.normal(size=leaf.shape), jnp.float32), core
    )


@pytest.fixture(scope="module")
def tokens():
    return np.random.default_rng(2).integers(SYMBOLS, size=(STEPS, BATCH))


@eqx.filter_jit
def read(core, tokens, capacity=STEPS, key=None, state=None):
    """(state, features) of tokens, from the start unless a state is given."""
    start = core.start(tokens.shape[1], capacity) if state is None else state
    return core.unroll(start, tokens, key=key)


def normed(norm, x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * np.asarray(norm.scale, float) + np.asarray(
        norm.shift, float
    )


def affine(layer, x):
    return x @ np.asarray(layer.weights, float) + np.asarray(layer.bias, float)


def position(place, width):
    return [
        np.sin(place / 10000 ** (i / width))
        if i % 2 == 0
        else np.cos(place / 10000 ** ((i - 1) / width))
        for i in range(width)
    ]


def turned(part, place):
    """Pairs of features as complex numbers, turned by the position times a rate for each pair."""
    pairs = part[::2] + 1j * part[1::2]
    pairs = pairs * np.exp(1j * place * 10000.0 ** (-np.arange(len(pairs)) / len(pairs)))
    return np.stack([pairs.real, pairs.imag], axis=1).ravel()


def convolved(layer, rows):
    """Of every row the last four, the newest with the last weights."""
    weights, before = np.asarray(layer.weights, float), [np.zeros_like(rows[0])] * 3
    return [
        sum(
            weight * row
            for weight, row in zip(weights, [*before, *rows][place : place + 4], strict=True)
        )
        + np.asarray(layer.bias, float)
        for place in range(len(rows))
    ]


def reference(core, sequence, sees):
    """Features of one sequence; sees(query, key) says who sees whom."""
    width = core.width
    embedding = np.asarray(core.inputs.weights, float)
    rows = [embedding[token] * np.sqrt(width) for token in sequence]
    if core.places is None:
        rows = [row + position(place, width) for place, row in enumerate(rows)]
    else:
        table = np.asarray(core.places, float) * np.sqrt(width)
        rows = [row + table[min(place, len(table) - 1)] for place, row in enumerate(rows)]
    for layer in core.layers:
        size = width // layer.heads
        mixed = [
            affine(layer.mix, normed(layer.norms[0], row) if layer.first else row) for row in rows
        ]
        if layer.convolution:
            mixed = convolved(layer.convolution, mixed)
        place_of = turned if layer.rotary else (lambda part, place: part)
        after = []
        for place, row in enumerate(rows):
            read = []
            for head in range(layer.heads):
                part = slice(head * size, (head + 1) * size)
                seen = [k for k in range(len(rows)) if sees(place, k)]
                query = place_of(mixed[place][:width][part], place)
                scores = np.array([query @ place_of(mixed[k][width:-width][part], k) for k in seen])
                shares = np.exp(scores / np.sqrt(size)) / np.exp(scores / np.sqrt(size)).sum()
                read.append(
                    sum(
                        share * mixed[k][-width:][part]
                        for share, k in zip(shares, seen, strict=True)
                    )
                )
            row = row + affine(layer.out, np.concatenate(read))
            row = row if layer.first else normed(layer.norms[0], row)
            inner = normed(layer.norms[1], row) if layer.first else row
            row = row + affine(layer.narrow, np.maximum(affine(layer.widen, inner), 0))
            after.append(row if layer.first else normed(layer.norms[1], row))
        rows = after
    rows = [normed(core.last, row) for row in rows] if core.last else rows
    return np.array(rows)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_step_sees_itself_and_those_before_it(tokens, layers):
    core = built(layers=layers)
    features = read(core, tokens)[1]
    for example in range(BATCH):
        wanted = reference(core, tokens[:, example], lambda query, key: key <= query)
        np.testing.assert_allclose(np.asarray(features[:, example]), wanted, atol=2e-5)


FORMS = [
    {"encoding": "learned"},
    {"encoding": "rotary", "embedding": 8},
    {"norm": "before", "layers": 2},
    {"convolved": True},
    {"encoding": "rotary", "embedding": 8, "norm": "before", "convolved": True, "layers": 2},
]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("window", [0, 3])
def test_every_form_is_its_equations_at_once_and_step_by_step(tokens, form, window):
    core = built(**form, window=window)
    state, features = read(core, tokens)
    for example in range(BATCH):
        wanted = reference(
            core, tokens[:, example], lambda query, key: query - (window or STEPS) < key <= query
        )
        np.testing.assert_allclose(np.asarray(features[:, example]), wanted, atol=5e-5)
    single = jax.jit(lambda: Core.unroll(core, core.start(BATCH, STEPS), tokens))()
    for found, other in zip(
        jax.tree.leaves((state, features)), jax.tree.leaves(single), strict=True
    ):
        np.testing.assert_allclose(np.asarray(found), np.asarray(other), atol=1e-5)
    places = jnp.asarray(np.random.default_rng(0).integers(STEPS, size=(BATCH, 2)))
    some = jax.jit(lambda xs: core.unroll_at(xs, places, STEPS))(tokens)
    np.testing.assert_allclose(some, features[places, np.arange(BATCH)[:, None]], atol=1e-5)


def test_learned_positions_end_with_one_that_all_later_steps_share():
    core = built(encoding="learned")
    steps = LEARNED + 3
    features = read(core, np.zeros((steps, 1), int), steps)[1]
    wanted = reference(core, [0] * steps, lambda query, key: key <= query)
    np.testing.assert_allclose(np.asarray(features[:, 0]), wanted, atol=2e-4)


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
    single = jax.jit(lambda key: Core.unroll(core, core.start(BATCH, capacity), tokens, key=key))(
        key
    )
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


@pytest.mark.parametrize(
    ("rate", "left_out", "parts"),
    [(0.5, 0.5, 32), (0.75, 0.75, 16), (0.25 + 1 / 256, 65 / 256, 4), (0.3, 19661 / 65536, 2)],
)
def test_noise_has_the_share_that_is_asked_for_and_keeps_the_mean(rate, left_out, parts):
    rows = jnp.ones((40, 50, 10))

    def drawn(key):
        noise = Noise(rate, jnp.broadcast_to(jax.random.split(key, 50), (40, 50)), [10, 10], 0, 2)
        return [noise(rows) for _ in range(min(2, parts) + 1)]

    assert Dropout(rate).parts == parts
    assert Dropout(rate).factor == pytest.approx(1 / (1 - left_out), rel=1e-12)
    several = [np.asarray(part) for part in jax.jit(drawn)(jax.random.key(0))]
    for found in several:
        assert set(np.unique(found)) == {0.0, np.float32(1 / (1 - left_out))}
        assert (found == 0).mean() == pytest.approx(left_out, abs=0.016)  # 4.5 standard deviations
    for one, other in itertools.combinations(
        several, 2
    ):  # what one leaves out says nothing about the other
        assert ((one == 0) & (other == 0)).mean() == pytest.approx(left_out**2, abs=0.016)


def test_noise_is_what_one_draw_of_the_library_gives():
    keys = jax.random.split(jax.random.key(3), 4)
    batch, heads, width = 3, 40, 5
    whole = np.asarray(
        jax.vmap(lambda key: jax.random.bits(key, (9, 4, batch)))(keys)
    )  # place, block, sequence
    blocks = np.moveaxis(whole, (3, 0, 2, 1), (0, 1, 2, 3))

    def drawn(keys):
        noise = Noise(0.5, jnp.broadcast_to(keys, (batch, 4)), [6, 6, width], 1, 4)
        return (
            noise.shares(heads, 6),
            noise(jnp.ones((batch, 4, width))),
            noise(jnp.ones((batch, 4, 3))),
        )

    shares, first, second = (np.asarray(part) for part in jax.jit(drawn)(keys))
    for head in range(heads):  # 32 heads by the bits of one word, from the highest on
        assert np.array_equal(
            shares[:, head], blocks[:, :, 1 + head // 32, :6] >> (31 - head % 32) & 1 == 0
        )
    assert np.array_equal(first, 2.0 * (blocks[:, :, 3, :width] >> 31 == 0))
    assert np.array_equal(second, 2.0 * (blocks[:, :, 3, :3] >> 30 & 1 == 0))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dropout", [0.0, 0.5, 0.3])
def test_features_at_some_places_are_those_of_all(tokens, causal, dropout):
    core, key = built(layers=2, dropout=dropout, causal=causal), jax.random.key(5)
    steps, batch = tokens.shape
    places = jnp.asarray(np.random.default_rng(0).integers(steps, size=(batch, 3)))
    for noise in (None, key):
        whole = core.unroll(core.start(batch, steps + 2), tokens, key=noise)[1]
        some = jax.jit(lambda xs, noise=noise: core.unroll_at(xs, places, steps + 2, key=noise))(
            tokens
        )
        np.testing.assert_allclose(some, whole[places, np.arange(batch)[:, None]], atol=1e-5)


@pytest.mark.parametrize("thinned", [True, False])
def test_attention_has_the_gradient_of_its_formula(thinned):
    rng = np.random.default_rng(0)
    queries, keys, values, wanted = (
        rng.normal(size=(2, 3, *shape)) for shape in ((5, 4), (4, 6), (4, 6), (4, 5))
    )
    seen = rng.random((2, 1, 5, 6)) < 0.8
    kept = rng.random((2, 3, 5, 6)) < 0.7 if thinned else None

    def plain(queries, keys, values):
        shares = jax.nn.softmax(jnp.where(seen, queries @ keys, -jnp.inf), axis=-1)
        if kept is not None:
            shares = jnp.where(kept, shares / 0.7, 0.0)
        return jnp.swapaxes(shares @ jnp.swapaxes(values, 2, 3), 2, 3)

    def written_out(queries, keys, values):
        return attend(1 / 0.7 if thinned else 1.0, queries, keys, values, seen, kept)

    results = []
    for function in (plain, written_out):
        total, gradients = jax.value_and_grad(
            lambda *parts, f=function: (f(*parts) * wanted).sum(), (0, 1, 2)
        )(*(jnp.asarray(part, jnp.float32) for part in (queries, keys, values)))
        results.append([total, *gradients])
    for found, right in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(found, right, atol=2e-5)


def test_with_less_padding_a_sequence_has_the_same_noise(tokens):
    core = built(dropout=0.5, causal=False)
    xs = jnp.concatenate(
        [jnp.asarray(tokens), jnp.full((9 - len(tokens), tokens.shape[1]), ABSENT)]
    )
    batch, key = tokens.shape[1], jax.random.key(1)
    for long, short in ((9, 9), (9, len(tokens))):  # room that is left, and none
        whole = core.unroll(core.start(batch, long), xs, key=key)[1]
        some = core.unroll(core.start(batch, short), xs[: len(tokens)], key=key)[1]
        np.testing.assert_allclose(some, whole[: len(tokens)], atol=1e-5)


@pytest.mark.parametrize("causal", [True, False])
def test_all_the_noise_that_is_drawn_is_used(tokens, causal, monkeypatch):
    """After the embedding; then in every layer: attention of two heads, and a block for the three
    places of rows.
    """
    core, made = built(layers=2, dropout=0.5, causal=causal), []
    monkeypatch.setattr(
        "quickstudy.cores.transformer.Noise",
        lambda *given: made.append((Noise(*given), given)) or made[-1][0],
    )
    jax.eval_shape(
        lambda key: core.unroll(core.start(BATCH, STEPS), tokens, key=key), jax.random.key(0)
    )
    assert [noise.taken for noise, _ in made] == [6, STEPS + 7, STEPS + 7]
    assert [given[2:] for _, given in made] == [([6], 0, 5), ([STEPS, 7], 1, 5), ([STEPS, 7], 3, 5)]


# Vocabulary and parameters of the published transformer with its output layer.
PUBLISHED = {
    2: 34_692,
    15: 36_785,
    18: 37_268,
    16: 36_946,
    25: 38_395,
    29: 39_039,
    45: 41_615,
    38: 40_488,
    51: 42_581,
}


def test_published_sizes():
    spec = configure("transformer", Transformer, {}, "published")
    for symbols, parameters in PUBLISHED.items():
        core = spec.build(Tokens(symbols), np.random.default_rng(0))
        assert (
            sum(leaf.size for leaf in jax.tree.leaves(core)) + 80 * symbols + symbols == parameters
        )
    brief = Brief(Tokens(16), Tokens(16), "cross-entropy", 5, 5)
    (cost,) = Adam().begin(spec, brief, [Streams(0, "size", 0)]).cost()
    assert (cost.trained_parameters, cost.fixed_parameters) == (PUBLISHED[16], 0)


@pytest.mark.parametrize("symbols", PUBLISHED)
def test_matched_sizes(symbols):
    """As many parameters as 1,800 weights a symbol, and one more unit in the feed-forward part
    would be too many.
    """
    brief = Brief(Tokens(symbols), Tokens(symbols), "cross-entropy", 5, 5)
    pupil = Adam().begin(Transformer(), brief, [Streams(0, "size", 0)])
    (cost,), embedding = pupil.cost(), pupil.snapshot().arrays["[0].core.inputs.weights"].shape[-1]
    assert embedding % 8 == 0
    assert cost.trained_parameters <= 1800 * symbols < cost.trained_parameters + 2 * embedding + 1


@pytest.mark.parametrize("symbols", [9, 33])
@pytest.mark.parametrize("layers", [1, 2])
def test_attention_of_today_has_as_many_parameters(symbols, layers):
    """All that is trained, convolutions and the norm at the end too."""
    brief = Brief(Tokens(symbols), Tokens(symbols), "cross-entropy", 5, 5)
    pupil = Adam().begin(Attention(layers=layers), brief, [Streams(0, "size", 0)])
    (cost,), embedding = pupil.cost(), pupil.snapshot().arrays["[0].core.inputs.weights"].shape[-1]
    assert embedding % 8 == 0
    assert (
        cost.trained_parameters
        <= 1800 * symbols
        < cost.trained_parameters + layers * (2 * embedding + 1)
    )


def test_weights_start_as_published():
    brief = Brief(Tokens(50), Tokens(50), "cross-entropy", 5, 5)
    arrays = (
        Adam()
        .begin(Transformer(embedding=80, hidden=50), brief, [Streams(0, "size", 0)])
        .snapshot()
        .arrays
    )
    model = {
        name.split("[0].", 1)[1]: array for name, array in arrays.items() if name.startswith("[0].")
    }
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
    with pytest.raises(
        UsageError, match=r"transformer: embedding must be a multiple of heads \(8\), got 20"
    ):
        configure("transformer", Transformer, {"embedding": 20})
    with pytest.raises(
        UsageError,
        match=r"attention: embedding must be a multiple of twice the heads \(8\), got 20",
    ):
        configure("attention", Attention, {"embedding": 20})
    with pytest.raises(
        UsageError,
        match="encoding=rotary gives positions, and positions=no leaves them out; give one",
    ):
        configure("transformer", Transformer, {"encoding": "rotary", "positions": False})
    with pytest.raises(
        UsageError, match="causal=no is the published network: leave out encoding, norm and window"
    ):
        configure("attention", Attention, {"causal": False})
    with pytest.raises(
        NotApplicable, match=r"causal=false is for symbols, not Reals\(width=1\); give causal=true"
    ):
        Transformer(causal=False).build(Reals(1), np.random.default_rng(0))
