"""Memories of today against their equations written out, step by step against in parallel, and by
their size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores import layered
from quickstudy.cores.core import Core
from quickstudy.cores.deltanet import GatedDeltaNet
from quickstudy.cores.layered import CHUNK, TAPS
from quickstudy.cores.lru import LinearRecurrentUnit
from quickstudy.cores.mamba import Mamba
from quickstudy.cores.mingru import MinimalGRU
from quickstudy.cores.mlstm import MLSTM
from quickstudy.cores.s4d import DiagonalSpec
from quickstudy.cores.slstm import SLSTM
from quickstudy.jax_gateway import eqx, jax, jnp

ALL = (LinearRecurrentUnit, Mamba, GatedDeltaNet, MLSTM, MinimalGRU, SLSTM, DiagonalSpec)
UNITS, STEPS = 4, 9


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def silu(x: Any) -> Any:
    return x * sigmoid(x)


def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def normed(x: Any) -> Any:
    return x / np.sqrt((x * x).mean() + 1e-6)


def unit(x: Any) -> Any:
    return x / np.sqrt((x * x).sum() + 1e-6)


def convolved(layer: Any, past: list[Any], x: Any) -> Any:
    """past: all that the convolution has read, the newest last."""
    past.append(x)
    window = [np.zeros_like(x)] * TAPS + past
    return (
        sum(weight * value for weight, value in zip(layer.weights, window[-TAPS:], strict=True))
        + layer.bias
    )


def lru(layer: Any, kept: dict[str, Any], x: Any) -> Any:
    eigenvalue = np.exp(-np.exp(layer.decay) + 1j * np.exp(layer.turn))
    read, show = layer.read[0] + 1j * layer.read[1], layer.show[0] + 1j * layer.show[1]
    kept["h"] = eigenvalue * kept.get("h", 0) + np.exp(layer.scale) * (x @ read)
    return gated((kept["h"] @ show).real + layer.through * x, layer.out)


def gated(y: Any, out: Any) -> Any:
    y = 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3)))
    return (y @ out[0]) * sigmoid(y @ out[1])


def mingru(layer: Any, kept: dict[str, Any], x: Any) -> Any:
    z, n = np.split(x @ layer.gates + layer.bias, 2)
    n = np.where(n >= 0, n + 0.5, sigmoid(n))
    kept["h"] = (1 - sigmoid(z)) * kept.get("h", 0) + sigmoid(z) * n
    return kept["h"] @ layer.out


def mamba(layer: Any, kept: dict[str, Any], x: Any) -> Any:
    u, z = np.split(x @ layer.read, 2)
    u = silu(convolved(layer.convolution, kept.setdefault("past", []), u))
    rank, states = len(layer.pace), layer.rates.shape[1]
    low, b, c = np.split(u @ layer.select, (rank, rank + states))
    d = softplus(low @ layer.pace + layer.pace_bias)
    a = -np.exp(layer.rates)
    kept["h"] = np.exp(d[:, None] * a) * kept.get("h", 0) + d[:, None] * np.outer(u, b)
    return ((kept["h"] @ c + layer.through * u) * silu(z)) @ layer.out


def deltanet(layer: Any, kept: dict[str, Any], x: Any) -> Any:
    mixed = silu(convolved(layer.convolution, kept.setdefault("past", []), x @ layer.read))
    q, k, v = (part.reshape(layer.heads, -1) for part in np.split(mixed, 3))
    pace, strength = np.split(x @ layer.gates, 2)
    size, shown = q.shape[1], []
    memory = kept.setdefault("S", np.zeros((layer.heads, size, size)))
    for head in range(layer.heads):
        a = np.exp(-np.exp(layer.rates[head]) * softplus(pace[head] + layer.pace_bias[head]))
        b, key = sigmoid(strength[head]), unit(k[head])
        memory[head] = a * memory[head] @ (np.eye(size) - b * np.outer(key, key)) + b * np.outer(
            v[head], key
        )
        shown.append(layer.scale * normed(memory[head] @ unit(q[head]) / np.sqrt(size)))
    return (np.concatenate(shown) * silu(x @ layer.gate)) @ layer.out


def mlstm(layer: Any, kept: dict[str, Any], x: Any) -> Any:
    """Without the stabiliser: gates are small here, and h is defined without it."""
    u, z = np.split(x @ layer.read, 2)
    c = silu(convolved(layer.convolution, kept.setdefault("past", []), u))
    apart = layer.heads, -1
    q, k, v = (
        np.einsum("hi,hij->hj", part.reshape(apart), weights)
        for part, weights in zip((c, c, u), layer.project, strict=True)
    )
    entry, forget = np.split(
        np.concatenate([q.ravel(), k.ravel(), v.ravel()]) @ layer.gates + layer.gate_bias, 2
    )
    size, shown = q.shape[1], []
    matrix = kept.setdefault("C", np.zeros((layer.heads, size, size)))
    normal = kept.setdefault("n", np.zeros((layer.heads, size)))
    for head in range(layer.heads):
        i, f, key = np.exp(entry[head]), sigmoid(forget[head]), k[head] / np.sqrt(size)
        matrix[head] = f * matrix[head] + i * np.outer(v[head], key)
        normal[head] = f * normal[head] + i * key
        h = matrix[head] @ q[head] / max(abs(normal[head] @ q[head]), 1)
        shown.append((h - h.mean()) / np.sqrt(h.var() + 1e-6))
    return ((np.concatenate(shown) * layer.scale + layer.skip * c) * silu(z)) @ layer.out


def slstm(layer: Any, kept: dict[str, Any], x: Any) -> Any:
    """Without the stabiliser, unit by unit of every head."""
    convolution = silu(convolved(layer.convolution, kept.setdefault("past", []), x))
    heads, size = layer.recurrent.shape[:2]
    driven = np.concatenate([x @ layer.read, convolution @ layer.gates]) + layer.bias
    h, c, n = (kept.setdefault(name, np.zeros((heads, size))) for name in "hcn")
    shown = []
    for head in range(heads):
        asked = h[head] @ layer.recurrent[head]
        z, o, i, f = (
            driven.reshape(4, heads, size)[gate, head] + asked[gate * size : (gate + 1) * size]
            for gate in range(4)
        )
        c[head] = sigmoid(f) * c[head] + np.exp(i) * np.tanh(z)
        n[head] = sigmoid(f) * n[head] + np.exp(i)
        h[head] = sigmoid(o) * c[head] / n[head]
        shown.append((h[head] - h[head].mean()) / np.sqrt(h[head].var() + 1e-6))
    return (np.concatenate(shown) * layer.scale) @ layer.out


def s4d(layer: Any, kept: dict[str, Any], x: Any) -> Any:
    rates = -np.exp(layer.decay) + 1j * layer.turn
    moved = np.exp(np.exp(layer.pace)[:, None] * rates)
    kept["h"] = moved * kept.get("h", 0) + (moved - 1) / rates * x[:, None]
    shown = 2 * ((layer.show[0] + 1j * layer.show[1]) * kept["h"]).sum(axis=1).real
    return gated(shown + layer.through * x, layer.out)


WRITTEN_OUT = {
    LinearRecurrentUnit: lru,
    Mamba: mamba,
    GatedDeltaNet: deltanet,
    MLSTM: mlstm,
    MinimalGRU: mingru,
    SLSTM: slstm,
    DiagonalSpec: s4d,
}


def disturbed(core: Any, rng: np.random.Generator) -> Any:
    """No weight at the zero or one it starts with: none may be left out unseen."""
    return jax.tree.map(
        lambda leaf: (
            leaf + jnp.asarray(rng.normal(0, 0.2, leaf.shape), leaf.dtype)
            if eqx.is_array(leaf)
            else leaf
        ),
        core,
    )


@pytest.mark.parametrize("spec", ALL)
def test_a_core_is_its_equations(spec: Any) -> None:
    rng = np.random.default_rng(5)
    core = disturbed(spec(units=UNITS).build(Reals(2), rng), rng)
    xs = rng.normal(size=(STEPS, 2))
    features = np.asarray(
        eqx.filter_jit(core.unroll)(core.start(1, STEPS), jnp.asarray(xs[:, None], jnp.float32))[1]
    )
    exact = jax.tree.map(
        lambda leaf: np.asarray(leaf, np.float64) if eqx.is_array(leaf) else leaf, core
    )
    layers = [
        jax.tree.map(
            lambda leaf, number=number: leaf[number] if isinstance(leaf, np.ndarray) else leaf,
            exact.mixers,
        )
        for number in range(2)
    ]
    kept: list[dict[str, Any]] = [{}, {}]
    for x, given in zip(xs, features[:, 0], strict=True):
        path = x @ exact.embed.weights
        for number, layer in enumerate(layers):
            path = path + WRITTEN_OUT[spec](layer, kept[number], exact.norms[number] * normed(path))
        np.testing.assert_allclose(given, exact.norms[-1] * normed(path), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("spec", ALL)
def test_a_long_stream_in_chunks_is_the_scan_of_its_steps(
    spec: Any, device: str, monkeypatch: Any
) -> None:
    """More than two chunks, the last one not full; and the state at its end, from which either goes
    on. As steps are taken on either kind of device.
    """
    monkeypatch.setattr(layered, "device_kind", lambda: device)
    rng = np.random.default_rng(6)
    core = disturbed(spec(units=UNITS, layers=1).build(Tokens(5), rng), rng)
    steps = 2 * CHUNK + 5
    xs = jnp.asarray(rng.integers(0, 5, (steps, 2)))
    start = core.start(2, steps)
    found, wanted = eqx.filter_jit(lambda: (core.unroll(start, xs), Core.unroll(core, start, xs)))()
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5 * max(1.0, np.abs(other).max()))


@pytest.mark.parametrize("spec", [Mamba, GatedDeltaNet, MLSTM])
def test_no_chunk_behind_the_last_question_is_read(spec: Any) -> None:
    """What is asked of a long stream is what `unroll` gives there, and what nobody asks for is not
    touched.
    """
    rng = np.random.default_rng(7)
    core = disturbed(spec(units=UNITS, layers=2).build(Reals(2), rng), rng)
    steps, places = 3 * CHUNK + 1, jnp.asarray([[3, CHUNK, 0], [CHUNK + 7, 1, 2]])
    xs = rng.normal(size=(steps, 2, 2)).astype(np.float32)
    xs[2 * CHUNK :] = np.nan
    read = jax.jit(lambda xs: core.unroll_at(xs, places, steps))
    wanted = jax.jit(lambda xs: core.unroll(core.start(2, steps), xs)[1])(np.nan_to_num(xs))
    assert core.capabilities.stops
    np.testing.assert_allclose(
        read(xs), wanted[places, np.arange(2)[:, None]], rtol=1e-4, atol=2e-5
    )


@pytest.mark.parametrize("spec", ALL)
@pytest.mark.parametrize("width", [1, 16])
def test_none_fits_the_units_to_the_budget(spec: Any, width: int) -> None:
    def counted(made: Any) -> int:
        core = made.build(Tokens(width), np.random.default_rng(0))
        own = sum(leaf.size for leaf in jax.tree.leaves(core) if eqx.is_array(leaf))
        return int(own + core.width * width + width)

    fitted = spec().fitted(width)
    assert (
        counted(spec())
        == counted(spec(units=fitted))
        <= 1800 * width
        < counted(spec(units=fitted + spec().multiple))
    )


def test_counts_by_hand() -> None:
    """units 4, 3 symbols, 1 layer: what reads 12 and two norms 8; minGRU: gates 4 x 8, biases 8,
    out 4 x 4.
    """
    core = MinimalGRU(units=4, layers=1).build(Tokens(3), np.random.default_rng(0))
    assert (
        sum(leaf.size for leaf in jax.tree.leaves(core) if eqx.is_array(leaf))
        == 12 + 8 + 32 + 8 + 16
    )


def test_the_stabiliser_holds_where_exponentials_overflow() -> None:
    rng = np.random.default_rng(7)
    core = MLSTM(units=4, layers=1).build(Tokens(5), rng)
    core = eqx.tree_at(
        lambda one: one.mixers.gate_bias, core, jnp.asarray([[300.0, 200.0, 3.0, 6.0]])
    )
    xs = jnp.asarray(rng.integers(0, 5, (40, 1)))
    squares = eqx.filter_grad(lambda core: (core.unroll(core.start(1, 40), xs)[1] ** 2).sum())
    gradient = eqx.filter_jit(squares)(core)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_the_stabiliser_of_the_scalar_memory_holds_where_exponentials_overflow() -> None:
    core = SLSTM(units=4, layers=1).build(Tokens(5), np.random.default_rng(7))
    bias = jnp.concatenate([jnp.zeros(8), jnp.full(4, 300.0), jnp.full(4, 200.0)])[None]
    core = eqx.tree_at(lambda one: one.mixers.bias, core, bias)
    xs = jnp.asarray(np.random.default_rng(8).integers(0, 5, (40, 1)))
    squares = eqx.filter_value_and_grad(
        lambda core: (core.unroll(core.start(1, 40), xs)[1] ** 2).sum()
    )
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(eqx.filter_jit(squares)(core)))


def test_a_state_space_without_input_fades_as_its_eigenvalues_do() -> None:
    """A step after the last chunk must not count as an input of zero: the state is that of so many
    steps.
    """
    layer = DiagonalSpec(states=3).mixer(2, np.random.default_rng(0))
    layer = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), layer)
    steps = CHUNK + 3
    state = layer.unroll(jnp.ones((2, 1, 2, 3)), jnp.zeros((steps, 1, 2)))[0]
    wanted = (1 + 1j) * np.exp(
        steps * np.exp(layer.pace)[:, None] * (-0.5 + 1j * np.pi * np.arange(3))
    )
    np.testing.assert_allclose(state[0, 0] + 1j * state[1, 0], wanted, atol=1e-4)


def test_the_delta_rule_replaces_what_a_key_stands_for() -> None:
    """A key of length one, written at full strength and kept whole, gives back the last value
    written, not a sum.
    """
    from quickstudy.cores.deltanet import chunk_of_rules

    key = jnp.asarray([[0.6, 0.8], [0.8, -0.6], [0.6, 0.8]])
    value = jnp.asarray([[1.0, 2.0], [5.0, 6.0], [3.0, -4.0]])
    given = (key, key, value, jnp.zeros(3), jnp.ones(3))
    memory, shown = chunk_of_rules(
        jnp.zeros((1, 1, 2, 2)), tuple(jnp.asarray(part)[:, None, None] for part in given)
    )
    np.testing.assert_allclose(shown[:, 0, 0], value, atol=1e-6)
    np.testing.assert_allclose(memory[0, 0] @ key[1], value[1], atol=1e-6)


def test_eigenvalues_start_in_their_ring() -> None:
    layer = LinearRecurrentUnit(least=0.5, most=0.9, phase=1.0).mixer(500, np.random.default_rng(0))
    sizes = np.exp(-np.exp(layer.decay))
    assert sizes.min() > 0.5 and sizes.max() < 0.9 and np.exp(layer.turn).max() < 1.0  # noqa: PT018
    # Uniform by area: half of it lies outside the radius of mean square.
    assert abs((sizes > np.sqrt((0.25 + 0.81) / 2)).mean() - 0.5) < 0.08


def test_what_cannot_be_built_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="units must be a multiple of heads=2, got 5"):
        MLSTM(units=5).build(Tokens(3), rng)
    with pytest.raises(UsageError, match=r"least must be below most=0\.9, got 0\.9"):
        LinearRecurrentUnit(units=4, least=0.9, most=0.9).build(Tokens(3), rng)
