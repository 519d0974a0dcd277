"""The matrix LSTM of xLSTM (Beck et al. 2024): exponential gates, a matrix of associations, and a
stabiliser.
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
    in_chunks,
)
from quickstudy.jax_gateway import eqx, jax, jnp, lax


class MatrixLSTM(Mixer):
    """C <- f C + i v k'; n <- f n + i k; h = C q / max(|n q|, 1), for every head, with i = exp(I),
    f = sigmoid(F).

    u, z = x W; c = silu(conv(u)); q and k are maps of c, v of u, for every head by itself, k
    divided by sqrt(size); I and F are maps of q, k and v together. out = ((norm(h) + skip c)
    silu(z)) V. project: (3, head, size, size). gates: (3 inner, 2 heads). C and n are kept divided
    by exp(m), where m <- max(log f + m, I): nothing overflows, and h is the same. State: the
    convolution's; C (B, head, value, key), n (B, head, key), m (B, head).
    """

    read: Array
    convolution: ShortConvolution
    project: Array
    gates: Array
    gate_bias: Array
    scale: Array
    skip: Array
    out: Array
    heads: int = eqx.field(static=True)

    def start(self, batch: int) -> Any:
        """Zeros, m too: of an empty memory every multiple is the same."""
        size, kind = len(self.out) // self.heads, self.out.dtype
        matrix = jnp.zeros((batch, self.heads, size, size), kind)
        return self.convolution.start(batch), (matrix, matrix[..., 0], matrix[..., 0, 0])

    def step(self, state: Any, x: Array) -> tuple[Any, Array]:
        """One step."""
        window, (matrix, normal, most) = state
        window, inner, convolved, gate = self._read(self.convolution.step, window, x)
        query, key, value, entry, kept = self._asked(inner, convolved)
        new = jnp.maximum(kept + most, entry)
        before, now = jnp.exp(kept + most - new)[..., None], jnp.exp(entry - new)[..., None]
        matrix = before[..., None] * matrix + (now * value)[..., :, None] * key[..., None, :]
        normal = before * normal + now * key
        below = _below(jnp.einsum("bhk,bhk->bh", normal, query), new)
        shown = jnp.einsum("bhvk,bhk->bhv", matrix, query) / below[..., None]
        return (window, (matrix, normal, new)), self._out(shown, convolved, gate)

    def unroll(self, state: Any, xs: Array) -> tuple[Any, Array]:
        """A chunk at a time, see `chunk_of_memory`."""
        window, memory = state
        window, inner, convolved, gate = self._read(self.convolution.unroll, window, xs)
        neutral = (0.0, 0.0, 0.0, -np.inf, 0.0)
        memory, shown = in_chunks(chunk_of_memory, memory, self._asked(inner, convolved), neutral)
        return (window, memory), self._out(shown, convolved, gate)

    def _read(self, convolve: Any, window: Array, x: Array) -> tuple[Array, Array, Array, Array]:
        inner, gate = jnp.split(x @ self.read, 2, axis=-1)
        window, convolved = convolve(window, inner)
        return window, inner, jax.nn.silu(convolved), gate

    def _asked(self, inner: Array, convolved: Array) -> tuple[Array, ...]:
        """Query, key and value (..., head, size); the logarithms of the input and forget gates
        (..., head).
        """
        apart = (*inner.shape[:-1], self.heads, -1)
        by_head = (convolved.reshape(apart), convolved.reshape(apart), inner.reshape(apart))
        parts = [
            jnp.einsum("...hi,hij->...hj", part, weights)
            for part, weights in zip(by_head, self.project, strict=True)
        ]
        together = jnp.concatenate([part.reshape(inner.shape) for part in parts], axis=-1)
        entry, forget = jnp.split(together @ self.gates + self.gate_bias, 2, axis=-1)
        query, key, value = parts
        return query, key / np.sqrt(key.shape[-1]), value, entry, jax.nn.log_sigmoid(forget)

    def _out(self, shown: Array, convolved: Array, gate: Array) -> Array:
        centred = shown - shown.mean(axis=-1, keepdims=True)
        spread = (centred * centred).mean(axis=-1, keepdims=True)
        scaled = (centred * lax.rsqrt(spread + SMALL)).reshape(convolved.shape) * self.scale
        return ((scaled + self.skip * convolved) * jax.nn.silu(gate)) @ self.out


def chunk_of_memory(memory: Any, given: tuple[Array, ...]) -> tuple[Any, Array]:
    """Some steps at once. With F_t the sum of log f up to t, what step s wrote counts exp(F_t - F_s
    + I_s) at t, and the earlier content counts exp(F_t); m_t is the largest of these exponents,
    as step by step.
    """
    query, key, value, entry, kept = (
        jnp.moveaxis(part, 0, 2) for part in given
    )  # (B, head, T, ...)
    matrix, normal, most = memory
    total = jnp.cumsum(kept, axis=-1)
    steps = np.arange(total.shape[-1])
    exponents = total[..., :, None] - total[..., None, :] + entry[..., None, :]
    exponents = jnp.where(steps[:, None] >= steps, exponents, -jnp.inf)
    new = jnp.maximum(total + most[..., None], exponents.max(axis=-1))
    before = jnp.exp(total + most[..., None] - new)[..., None]
    weights = jnp.exp(exponents - new[..., None])
    alike = weights * jnp.einsum("bhtk,bhsk->bhts", query, key)
    shown = before * jnp.einsum("bhvk,bhtk->bhtv", matrix, query) + jnp.einsum(
        "bhts,bhsv->bhtv", alike, value
    )
    length = before[..., 0] * jnp.einsum("bhk,bhtk->bht", normal, query) + alike.sum(axis=-1)
    last, from_before = weights[..., -1, :], before[..., -1, :]
    matrix = from_before[..., None] * matrix + jnp.einsum("bhs,bhsv,bhsk->bhvk", last, value, key)
    normal = from_before * normal + jnp.einsum("bhs,bhsk->bhk", last, key)
    return (matrix, normal, new[..., -1]), jnp.moveaxis(
        shown / _below(length, new)[..., None], 2, 0
    )


def _below(length: Array, most: Array) -> Array:
    """The divisor: max(|n q|, 1) in the stabiliser's scale, and never zero or infinite."""
    return jnp.maximum(jnp.abs(length), jnp.exp(jnp.minimum(-most, 80.0))) + SMALL


@core("mlstm", version=2)
@dataclass(frozen=True)
class MLSTM(LayeredSpec):
    """Matrix LSTM: the matrix memory of xLSTM, with exponential input gates and a stabiliser.

    Gate maps start at 0; biases of forget gates from 3 to 6 over the heads, those of input gates
    Gaussian with a deviation of 0.1. A convolution over 4 steps precedes queries and keys. Other
    weights start uniform in +-1/sqrt(inputs).

    Source: Beck et al. 2024, equations 19 to 27 with the stabiliser of equations 15 to 17, in the
        block that projects up first.
    Departures: queries, keys and values are full maps within a head (blocks of four channels in the
        released programs); root-mean-square norms; two heads; no sLSTM blocks in between.

    Parameters
    ----------
    units:
        Width of the residual stream, a multiple of `heads`; none fits it to `budget`.
    heads:
        Number of memory matrices per layer.
    expand:
        Inner channels per unit.
    """

    stops: ClassVar[bool] = True

    heads: int = parameter(2, at_least=1)
    expand: int = parameter(2, at_least=1)

    def mixer(self, units: int, rng: np.random.Generator) -> MatrixLSTM:
        """In the order of the computation."""
        inner, heads = self.expand * units, self.heads
        size = inner // heads
        forget = np.linspace(3.0, 6.0, heads) if heads > 1 else np.array([3.0])
        project = np.stack([[draw_map(size, size, rng) for _ in range(heads)] for _ in range(3)])
        return MatrixLSTM(
            draw_map(units, 2 * inner, rng),
            draw_convolution(inner, rng),
            project,
            np.zeros((3 * inner, 2 * heads)),
            np.concatenate([0.1 * rng.normal(size=heads), forget]),
            np.ones(inner),
            np.ones(inner),
            draw_map(inner, units, rng),
            heads,
        )
