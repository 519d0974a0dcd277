"""The diagonal state space (Gu et al. 2022): a linear recurrence whose eigenvalues start as those
of HiPPO.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.cores.core import Array
from quickstudy.cores.layered import CHUNK, LayeredSpec, Mixer, draw_map
from quickstudy.jax_gateway import jax, jnp, lax


class Tables(NamedTuple):
    """What the steps of a chunk have in common.

    powers: (step + 1, units, states), of exp(d A). entered: (units, states), what an input adds to
    the state. shown: (step, units, states), what the state before the chunk adds to y. weights:
    (step, step, units), what an input adds to y at its own step and later.
    """

    powers: Array
    entered: Array
    shown: Array
    weights: Array


def _chunk(tables: Tables, state: Array, xs: Array) -> tuple[Array, Array]:
    """Some steps at once, xs (T, B, units): a convolution, and what the state before adds."""
    steps = len(xs)
    before = lax.complex(state[0], state[1])
    given = jnp.einsum("tsu,sbu->tbu", tables.weights[:steps, :steps], xs)
    given = given + jnp.einsum("tun,bun->tbu", tables.shown[:steps], before).real
    added = jnp.einsum("sun,sbu->bun", tables.powers[:steps][::-1], xs.astype(before.dtype))
    after = tables.powers[steps] * before + tables.entered * added
    return jnp.stack([after.real, after.imag]), given


class DiagonalStateSpace(Mixer):
    """h <- exp(d A) h + (exp(d A) - 1) / A x; y = 2 Re(C h) + D x, for every unit by itself.

    A = -exp(decay) + i turn, (units, states), and d = exp(pace), (units,): a continuous system,
    held constant over a step of size d. out = (y' V) sigmoid(y' W), with y' = gelu(y). show: (2,
    units, states), real and imaginary parts of C. out: (2, units, units), V and W. State: (2, B,
    units, states).
    """

    decay: Array
    turn: Array
    pace: Array
    show: Array
    through: Array
    out: Array

    def start(self, batch: int) -> Array:
        """Zeros."""
        return jnp.zeros((2, batch, *self.decay.shape), self.decay.dtype)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """One step: a chunk of one."""
        state, shown = _chunk(self._tables(1), state, x[None])
        return state, self._out(shown[0], x)

    def unroll(self, state: Array, xs: Array) -> tuple[Array, Array]:
        """A chunk at a time, then the steps that are left: a step without input would change the
        state.
        """
        whole, tables = len(xs) // CHUNK * CHUNK, self._tables(CHUNK)
        chunks = xs[:whole].reshape(whole // CHUNK, CHUNK, *xs.shape[1:])
        state, shown = lax.scan(lambda *both: _chunk(tables, *both), state, chunks)
        state, rest = _chunk(tables, state, xs[whole:])
        return state, self._out(jnp.concatenate([shown.reshape(whole, *xs.shape[1:]), rest]), xs)

    def _tables(self, steps: int) -> Tables:
        """For chunks of at most so many steps, a power of two."""
        rates = lax.complex(-jnp.exp(self.decay), self.turn)
        moved = jnp.exp(self.pace)[:, None] * rates
        last = jnp.exp(moved)
        powers = jnp.ones_like(last)[None]
        while (
            len(powers) < steps
        ):  # twice as many: five products for 32 steps, where exponentials take longer
            powers, last = jnp.concatenate([powers, powers * last]), last * last
        powers = jnp.concatenate([powers, last[None]])
        entered = jnp.expm1(moved) / rates
        shown = lax.complex(self.show[0], self.show[1])
        kernel = 2 * (shown * entered * powers[:steps]).sum(axis=-1).real
        lags = np.arange(steps)[:, None] - np.arange(steps)
        weights = jnp.where(lags[..., None] >= 0, kernel[np.maximum(lags, 0)], 0.0)
        return Tables(powers, entered, 2 * shown * powers[1:], weights)

    def _out(self, shown: Array, x: Array) -> Array:
        shown = jax.nn.gelu(shown + self.through * x)
        return (shown @ self.out[0]) * jax.nn.sigmoid(shown @ self.out[1])


@core("s4d", version=1)
@dataclass(frozen=True)
class DiagonalSpec(LayeredSpec):
    """Diagonal state space S4D: a linear memory per unit that is the same at every step, followed
    by gates.

    Eigenvalues start at -1/2 + i pi n for n = 0, 1, ... (S4D-Lin, close to those of HiPPO), C
    Gaussian with variance 1/2 per part, D Gaussian.

    Source: Gu, Goel, Gupta and Re 2022; the gated map of Gu, Goel and Re 2022.
    Departures: B stays at 1; root-mean-square norms; no dropout; eigenvalues and step sizes learn
        as fast as other weights.

    Parameters
    ----------
    states:
        Complex numbers in the state of a unit, each for a conjugate pair.
    least:
        Smallest step size at the start, where they are log-uniform.
    most:
        Largest one.
    """

    states: int = parameter(16, at_least=1)
    least: float = parameter(0.001, above=0)
    most: float = parameter(0.1, above=0)

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise ValueError(f"least must be at most most={self.most:g}, got {self.least:g}")

    def mixer(self, units: int, rng: np.random.Generator) -> DiagonalStateSpace:
        """Eigenvalues, step sizes, C, D, then the map after them."""
        shape = units, self.states
        return DiagonalStateSpace(
            np.full(shape, np.log(0.5)),
            np.tile(np.pi * np.arange(self.states), (units, 1)),
            rng.uniform(np.log(self.least), np.log(self.most), units),
            rng.normal(size=(2, *shape)) / np.sqrt(2),
            rng.normal(size=units),
            np.stack([draw_map(units, units, rng) for _ in range(2)]),
        )
