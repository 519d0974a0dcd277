"""Mamba (Gu and Dao 2023): a state space whose step, input and output depend on what is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.cores.core import Array
from quickstudy.cores.layered import (
    LayeredSpec,
    Mixer,
    ShortConvolution,
    draw_convolution,
    draw_map,
    draw_pace,
    in_chunks,
    linear_scan,
    one_by_one,
)
from quickstudy.jax_gateway import jax, jnp, lax


class SelectiveStateSpace(Mixer):
    """u, z = x W; u <- silu(conv(u)); h <- exp(d A) h + d B u; y = C h + D u; out = (y silu(z)) V.

    d = softplus(u P Q + b), B = u R and C = u S for every step; A = -exp(rates), diagonal, (inner,
    states).
    select: (inner, rank + 2 states), P, R and S side by side; pace: (rank, inner), Q. State: the
    convolution's, and h (B, inner, states).
    """

    read: Array
    convolution: ShortConvolution
    select: Array
    pace: Array
    pace_bias: Array
    rates: Array
    through: Array
    out: Array

    def start(self, batch: int) -> Any:
        """Zeros."""
        return self.convolution.start(batch), jnp.zeros(
            (batch, *self.rates.shape), self.rates.dtype
        )

    def step(self, state: Any, x: Array) -> tuple[Any, Array]:
        """One step."""
        window, hidden = state
        inner, gate = jnp.split(x @ self.read, 2, axis=-1)
        window, inner = self.convolution.step(window, inner)
        inner = jax.nn.silu(inner)
        size, into, out_of = self._selected(inner)
        hidden, shown = self._moved(hidden, (size, inner, into, out_of))
        return (window, hidden), self._out(shown, inner, gate)

    def unroll(self, state: Any, xs: Array) -> tuple[Any, Array]:
        """By a scan, a chunk at a time: what a step keeps and adds is never in memory for all
        steps at once.

        On a CPU step by step, and what a gradient needs of a step is made again: to write it down
        takes longer.
        """
        window, hidden = state
        inner, gate = jnp.split(xs @ self.read, 2, axis=-1)
        window, inner = self.convolution.unroll(window, inner)
        inner = jax.nn.silu(inner)

        def chunk(hidden: Array, given: tuple[Array, ...]) -> tuple[Array, Array]:
            size, inner, into, out_of = given
            if one_by_one():
                return lax.scan(jax.checkpoint(lambda *both: self._moved(*both)), hidden, given)
            states = linear_scan(hidden, *self._discrete(size, inner, into))
            return states[-1], (states * out_of[..., None, :]).sum(axis=-1)

        size, into, out_of = self._selected(inner)
        hidden, shown = in_chunks(chunk, hidden, (size, inner, into, out_of), (0.0, 0.0, 0.0, 0.0))
        return (window, hidden), self._out(shown, inner, gate)

    def _selected(self, inner: Array) -> tuple[Array, Array, Array]:
        """Step size (..., inner), B and C (..., states) each."""
        rank, states = len(self.pace), self.rates.shape[1]
        low, into, out_of = jnp.split(inner @ self.select, (rank, rank + states), axis=-1)
        return jax.nn.softplus(low @ self.pace + self.pace_bias), into, out_of

    def _discrete(self, size: Array, inner: Array, into: Array) -> tuple[Array, Array]:
        """What a step keeps and what it adds, (..., inner, states): zero-order hold for A, d B for
        B.
        """
        return jnp.exp(-size[..., None] * jnp.exp(self.rates)), (size * inner)[..., None] * into[
            ..., None, :
        ]

    def _moved(self, hidden: Array, given: tuple[Array, ...]) -> tuple[Array, Array]:
        """The state after a step, and what is shown of it. given: size, what is read, B and C."""
        size, inner, into, out_of = given
        keep, new = self._discrete(size, inner, into)
        hidden = keep * hidden + new
        return hidden, (hidden * out_of[..., None, :]).sum(axis=-1)

    def _out(self, shown: Array, inner: Array, gate: Array) -> Array:
        return ((shown + self.through * inner) * jax.nn.silu(gate)) @ self.out


@core("mamba", version=3)
@dataclass(frozen=True)
class Mamba(LayeredSpec):
    """Mamba: a gated selective state space after a short convolution.

    The step size is a map of rank ceil(units / 16), a softplus, and a bias that starts it
    log-uniform in 0.001 to 0.1. A starts at -1, -2, ... -states for every channel, D at 1. The
    convolution covers 4 steps. Weights start uniform in +-1/sqrt(inputs).

    Source: Gu and Dao 2023, algorithm 2 and sections 3.4 and 3.6.
    Departures: maps into the residual stream do not start smaller with more layers, and input
        weights do not start with a deviation of 0.02, as in the released programs.

    Parameters
    ----------
    states:
        Numbers in the state of a channel.
    expand:
        Channels per unit.
    """

    stops: ClassVar[bool] = True

    states: int = parameter(16, at_least=1)
    expand: int = parameter(2, at_least=1)

    def mixer(self, units: int, rng: np.random.Generator) -> SelectiveStateSpace:
        """In the order of the computation."""
        inner, rank = self.expand * units, -(-units // 16)
        return SelectiveStateSpace(
            draw_map(units, 2 * inner, rng),
            draw_convolution(inner, rng),
            draw_map(inner, rank + 2 * self.states, rng),
            draw_map(rank, inner, rng),
            draw_pace(inner, rng),
            np.log(np.tile(np.arange(1.0, self.states + 1), (inner, 1))),
            np.ones(inner),
            draw_map(inner, units, rng),
        )
