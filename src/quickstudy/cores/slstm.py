"""The scalar LSTM of xLSTM (Beck et al. 2024): exponential gates that ask the memory, and a
normaliser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
)
from quickstudy.jax_gateway import jax, jnp, lax

FORGET = (3.0, 6.0)
"""Biases of forget gates at the start, from the first to the last unit of a head."""
TINY = 1e-30
"""Least value of the normaliser: it is 0 before the first step only."""


class ScalarLSTM(Mixer):
    """c <- f c + i z; n <- f n + i; h = o c / n, with i = exp(I), f = sigmoid(F), o = sigmoid(O), z
    = tanh(Z).

    Z and O are maps of x, I and F of silu(conv(x)); to all four a map of h is added, for every head
    by itself. out = (norm(h) scale) V. read: (units, 2 units), Z and O. gates: (units, 2 units), I
    and F. recurrent: (head, size, 4 size), Z, O, I and F. c and n are kept divided by exp(m), where
    m <- max(log f + m, I): nothing overflows, and h is the same. State: the convolution's; h, c, n
    and m, each (B, units).
    """

    read: Array
    convolution: ShortConvolution
    gates: Array
    recurrent: Array
    bias: Array
    scale: Array
    out: Array

    def start(self, batch: int) -> Any:
        """Zeros."""
        blank = jnp.zeros((batch, len(self.out)), self.out.dtype)
        return self.convolution.start(batch), (blank,) * 4

    def step(self, state: Any, x: Array) -> tuple[Any, Array]:
        """One step."""
        window, memory = state
        window, convolved = self.convolution.step(window, x)
        memory, hidden = self._moved(memory, self._driven(x, convolved))
        return (window, memory), self._out(hidden)

    def unroll(self, state: Any, xs: Array) -> tuple[Any, Array]:
        """Step after step, as the gates depend on h; the input's part of all steps is taken at
        once.
        """
        window, memory = state
        window, convolved = self.convolution.unroll(window, xs)
        memory, hidden = lax.scan(
            lambda *both: self._moved(*both), memory, self._driven(xs, convolved)
        )
        return (window, memory), self._out(hidden)

    def _driven(self, x: Array, convolved: Array) -> Array:
        """(..., 4 units): what the input adds to Z, O, I and F."""
        return (
            jnp.concatenate([x @ self.read, jax.nn.silu(convolved) @ self.gates], axis=-1)
            + self.bias
        )

    def _moved(self, memory: Any, driven: Array) -> tuple[Any, Array]:
        hidden, cell, normal, most = memory
        heads, size = self.recurrent.shape[:2]
        asked = jnp.einsum("bhi,hij->bhj", hidden.reshape(len(hidden), heads, size), self.recurrent)
        asked = asked.reshape(len(hidden), heads, 4, size).swapaxes(1, 2).reshape(driven.shape)
        new, shown, entry, forget = jnp.split(driven + asked, 4, axis=-1)
        kept = jax.nn.log_sigmoid(forget) + most
        most = jnp.maximum(kept, entry)
        before, now = jnp.exp(kept - most), jnp.exp(entry - most)
        cell = before * cell + now * jnp.tanh(new)
        normal = before * normal + now
        hidden = jax.nn.sigmoid(shown) * cell / jnp.maximum(normal, TINY)
        return (hidden, cell, normal, most), hidden

    def _out(self, hidden: Array) -> Array:
        apart = hidden.reshape(*hidden.shape[:-1], len(self.recurrent), -1)
        centred = apart - apart.mean(axis=-1, keepdims=True)
        spread = (centred * centred).mean(axis=-1, keepdims=True)
        return ((centred * lax.rsqrt(spread + SMALL)).reshape(hidden.shape) * self.scale) @ self.out


@core("slstm", version=1)
@dataclass(frozen=True)
class SLSTM(LayeredSpec):
    """Scalar LSTM: the recurrent cell of xLSTM, with exponential input gates, a normaliser and
    memory mixing.

    Weights start uniform in +-1/sqrt(inputs). Biases of forget gates start from 3 to 6 over the
    units of a head, the others at 0. A convolution over 4 steps precedes input and forget gates.

    Source: Beck et al. 2024, equations 8 to 17.
    Departures: forget gates are sigmoids, one of the paper's two choices; root-mean-square norms
        before the block, where the released programs have layer norms; a linear map after the
        memory, where those have a gated feed-forward part.

    Parameters
    ----------
    units:
        Width of the residual stream, a multiple of `heads`; none fits it to `budget`.
    heads:
        Groups of units; h is mixed within a group.
    """

    heads: int = parameter(2, at_least=1)

    def mixer(self, units: int, rng: np.random.Generator) -> ScalarLSTM:
        """In the order of the computation."""
        size = units // self.heads
        recurrent = np.stack([draw_map(size, 4 * size, rng) for _ in range(self.heads)])
        forget = np.tile(np.linspace(*FORGET, size), self.heads)
        return ScalarLSTM(
            draw_map(units, 2 * units, rng),
            draw_convolution(units, rng),
            draw_map(units, 2 * units, rng),
            recurrent,
            np.concatenate([np.zeros(3 * units), forget]),
            np.ones(units),
            draw_map(units, units, rng),
        )
