"""The minimal gated recurrent unit (Feng et al. 2024): gates that do not ask the memory, so steps
go at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.cores.core import Array
from quickstudy.cores.layered import LayeredSpec, Mixer, draw_map, in_chunks, linear_scan
from quickstudy.jax_gateway import eqx, jax, jnp


class MinimalGates(Mixer):
    """z = sigmoid(W x + b), n = g(V x + c), h <- (1 - z) h + z n; out = U h.

    gates: (units, 2 hidden) for z and n. bias: (2 hidden,). out: (hidden, units). positive: g(x) =
    x + 1/2 for x >= 0, else sigmoid(x); else g(x) = x. State: h (B, hidden).
    """

    gates: Array
    bias: Array
    out: Array
    positive: bool = eqx.field(static=True)

    def start(self, batch: int) -> Array:
        """Zeros."""
        return jnp.zeros((batch, len(self.out)), self.out.dtype)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """One step."""
        keep, new = self._asked(x)
        state = keep * state + new
        return state, state @ self.out

    def unroll(self, state: Array, xs: Array) -> tuple[Array, Array]:
        """By a scan, a chunk at a time."""

        def chunk(state: Array, given: tuple[Array, Array]) -> tuple[Array, Array]:
            hidden = linear_scan(state, *given)
            return hidden[-1], hidden

        state, hidden = in_chunks(chunk, state, self._asked(xs), (1.0, 0.0))
        return state, hidden @ self.out

    def _asked(self, x: Array) -> tuple[Array, Array]:
        """How much is kept, and what is added."""
        update, new = jnp.split(x @ self.gates + self.bias, 2, axis=-1)
        if self.positive:
            # The branch that is not taken must be finite too, for the gradient.
            new = jnp.where(new >= 0, new + 0.5, jax.nn.sigmoid(new))
        return jax.nn.sigmoid(-update), jax.nn.sigmoid(update) * new


@core("mingru", version=2)
@dataclass(frozen=True)
class MinimalGRU(LayeredSpec):
    """Minimal gated recurrent units: update gate and candidate depend on the input alone.

    With one layer a gate cannot depend on what was read before. Weights start uniform in
    +-1/sqrt(inputs).

    Source: Feng et al. 2024, section 3.1 and appendix B.
    Departures: h starts at 0, where the paper's logarithms need a positive start; the scan runs
        over h itself, not its logarithm; no convolutions or feed-forward layers, which the paper's
        language models have.

    Parameters
    ----------
    expand:
        Hidden units per unit.
    positive:
        Candidates pass through g, which keeps them positive (appendix B); otherwise they are linear
        (section 3.1).
    """

    expand: int = parameter(1, at_least=1)
    positive: bool = parameter(True)

    def mixer(self, units: int, rng: np.random.Generator) -> MinimalGates:
        """Gates, biases, then the map after them."""
        hidden = self.expand * units
        bound = 1.0 / np.sqrt(units)
        gates, bias = draw_map(units, 2 * hidden, rng), rng.uniform(-bound, bound, 2 * hidden)
        return MinimalGates(gates, bias, draw_map(hidden, units, rng), self.positive)
