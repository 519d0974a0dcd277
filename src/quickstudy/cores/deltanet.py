"""Gated DeltaNet (Yang et al. 2024): a matrix of associations, in which what is stored under a key
is replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.cores.core import Array
from quickstudy.cores.layered import (
    SMALL,
    LayeredSpec,
    Mixer,
    ShortConvolution,
    draw_convolution,
    draw_map,
    draw_pace,
    in_chunks,
    normed,
)
from quickstudy.jax_gateway import eqx, jax, jnp, lax


class GatedDeltaRule(Mixer):
    """S <- a S (I - b k k') + b v k'; y = S q, for every head; out = (norm(y) silu(x G)) O.

    q, k, v = silu(conv(x W)), q and k of length one, q then divided by sqrt(size of a head). a =
    exp(-exp(rates) softplus(x A + c)), what is kept; b = sigmoid(x B), how far the value under k is
    replaced. read: (units, 3 units). gates: (units, 2 heads), A and B. State: the convolution's,
    and S (B, head, value, key).
    """

    read: Array
    convolution: ShortConvolution
    gates: Array
    pace_bias: Array
    rates: Array
    gate: Array
    scale: Array
    out: Array
    heads: int = eqx.field(static=True)

    def start(self, batch: int) -> Any:
        """Zeros."""
        size = len(self.out) // self.heads
        return self.convolution.start(batch), jnp.zeros(
            (batch, self.heads, size, size), self.out.dtype
        )

    def step(self, state: Any, x: Array) -> tuple[Any, Array]:
        """One step: forget, read what the key has, and write the difference."""
        window, memory = state
        window, mixed = self.convolution.step(window, x @ self.read)
        query, key, value, kept, strength = self._asked(mixed, x)
        memory = jnp.exp(kept)[..., None, None] * memory
        wrong = strength[..., None] * (value - jnp.einsum("bhvk,bhk->bhv", memory, key))
        memory = memory + wrong[..., :, None] * key[..., None, :]
        return (window, memory), self._out(jnp.einsum("bhvk,bhk->bhv", memory, query), x)

    def unroll(self, state: Any, xs: Array) -> tuple[Any, Array]:
        """A chunk at a time: what its steps write solves a triangular system, see
        `chunk_of_rules`.
        """
        window, memory = state
        window, mixed = self.convolution.unroll(window, xs @ self.read)
        memory, shown = in_chunks(chunk_of_rules, memory, self._asked(mixed, xs), (0.0,) * 5)
        return (window, memory), self._out(shown, xs)

    def _asked(self, mixed: Array, x: Array) -> tuple[Array, ...]:
        """Query, key and value (..., head, size); the logarithm of what is kept, and the strength
        (..., head).
        """
        parts = jnp.split(jax.nn.silu(mixed), 3, axis=-1)
        query, key, value = (part.reshape(*part.shape[:-1], self.heads, -1) for part in parts)
        pace, strength = jnp.split(x @ self.gates, 2, axis=-1)
        kept = -jnp.exp(self.rates) * jax.nn.softplus(pace + self.pace_bias)
        return (
            _unit(query) / np.sqrt(query.shape[-1]),
            _unit(key),
            value,
            kept,
            jax.nn.sigmoid(strength),
        )

    def _out(self, shown: Array, x: Array) -> Array:
        scaled = (self.scale * normed(shown)).reshape(x.shape)
        return (scaled * jax.nn.silu(x @ self.gate)) @ self.out


def chunk_of_rules(memory: Array, given: tuple[Array, ...]) -> tuple[Array, Array]:
    """Some steps of the gated delta rule at once.

    With g_t the product of what is kept up to t, step t writes u_t k_t', where u_t = b_t (v_t - g_t
    S k_t - sum over i < t of g_t/g_i (k_i k_t) u_i): a lower triangular system with ones on its
    diagonal. Ratios are taken as differences of logarithms, and none exceeds one.
    """
    query, key, value, kept, strength = (
        jnp.moveaxis(part, 0, 2) for part in given
    )  # (B, head, T, ...)
    total = jnp.cumsum(kept, axis=-1)
    steps = np.arange(total.shape[-1])
    ratios = jnp.exp(
        jnp.where(steps[:, None] >= steps, total[..., :, None] - total[..., None, :], -jnp.inf)
    )
    before = jnp.exp(total)[..., None]
    among = strength[..., None] * ratios * jnp.einsum("bhtk,bhik->bhti", key, key)
    wanted = strength[..., None] * (value - before * jnp.einsum("bhvk,bhtk->bhtv", memory, key))
    # Only what lies below the diagonal is read.
    written = lax.linalg.triangular_solve(
        among, wanted, left_side=True, lower=True, unit_diagonal=True
    )
    shown = before * jnp.einsum("bhvk,bhtk->bhtv", memory, query)
    shown = shown + jnp.einsum(
        "bhti,bhiv->bhtv", ratios * jnp.einsum("bhtk,bhik->bhti", query, key), written
    )
    after = before[..., -1:, :] * memory
    after = after + jnp.einsum("bhi,bhiv,bhik->bhvk", ratios[..., -1, :], written, key)
    return after, jnp.moveaxis(shown, 2, 0)


def _unit(x: Array) -> Array:
    return x * lax.rsqrt((x * x).sum(axis=-1, keepdims=True) + SMALL)


@core("deltanet", version=2)
@dataclass(frozen=True)
class GatedDeltaNet(LayeredSpec):
    """Gated DeltaNet: fast weights with a forget gate and the delta rule, which replaces the value
    of a key.

    Forget rates start uniform in 1 to 16, with a bias that makes the softplus log-uniform in 0.001
    to 0.1, as in Mamba-2. A convolution over 4 steps precedes queries, keys and values. Weights
    start uniform in +-1/sqrt(inputs).

    Source: Yang, Kautz and Hatamizadeh 2024, equation 10, computed in parallel by the triangular
        form of their chunks.
    Departures: values are as wide as keys (twice as wide in the released programs); no feed-forward
        layers; a bias in the convolution; rates from 1 (from 0 in the released programs).

    Parameters
    ----------
    units:
        Width of the residual stream, a multiple of `heads`; none fits it to `budget`.
    heads:
        Number of memory matrices per layer, each of (units / heads) squared numbers.
    """

    stops: ClassVar[bool] = True

    heads: int = parameter(2, at_least=1)

    def mixer(self, units: int, rng: np.random.Generator) -> GatedDeltaRule:
        """In the order of the computation."""
        return GatedDeltaRule(
            draw_map(units, 3 * units, rng),
            draw_convolution(3 * units, rng),
            draw_map(units, 2 * self.heads, rng),
            draw_pace(self.heads, rng),
            np.log(rng.uniform(1.0, 16.0, self.heads)),
            draw_map(units, units, rng),
            np.ones(units // self.heads),
            draw_map(units, units, rng),
            self.heads,
        )
