"""The linear recurrent unit (Orvieto et al. 2023): a diagonal complex recurrence, nonlinear only
between layers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.cores.core import Array
from quickstudy.cores.layered import LayeredSpec, Mixer, draw_map, in_chunks, linear_scan
from quickstudy.jax_gateway import jax, jnp


class LinearRecurrence(Mixer):
    """h <- lambda h + gamma B x; y = Re(C h) + D x; out = (y' V) sigmoid(y' W), with y' = gelu(y).

    lambda = exp(-exp(decay) + i exp(turn)), so that |lambda| < 1 for any weights; gamma =
    exp(scale). Real and imaginary parts stand side by side, in real numbers: read (2, units, units)
    for B, show (2, units, units) for C, through (units,) for D, out (2, units, units) for V and W.
    State: (2, B, units).
    """

    decay: Array
    turn: Array
    scale: Array
    read: Array
    show: Array
    through: Array
    out: Array

    def start(self, batch: int) -> Array:
        """Zeros."""
        return jnp.zeros((2, batch, self.decay.size), self.decay.dtype)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """One step."""
        real, imaginary = self._eigenvalues()
        new_real, new_imaginary = self._driven(x)
        state = jnp.stack(
            [
                real * state[0] - imaginary * state[1] + new_real,
                real * state[1] + imaginary * state[0] + new_imaginary,
            ]
        )
        return state, self._shown(state, x)

    def unroll(self, state: Array, xs: Array) -> tuple[Array, Array]:
        """By a scan over complex numbers, a chunk at a time."""

        def chunk(state: Array, given: tuple[Array, ...]) -> tuple[Array, Array]:
            both = jnp.stack(
                linear_scan((state[0], state[1]), given[:2], given[2:], _times), axis=1
            )
            return both[-1], both

        each = (len(xs), 1, self.decay.size)
        eigenvalues = [jnp.broadcast_to(part, each) for part in self._eigenvalues()]
        given = (*eigenvalues, *self._driven(xs))
        state, hidden = in_chunks(chunk, state, given, (1.0, 0.0, 0.0, 0.0))
        return state, self._shown(jnp.swapaxes(hidden, 0, 1), xs)

    def _eigenvalues(self) -> tuple[Array, Array]:
        size, angle = jnp.exp(-jnp.exp(self.decay)), jnp.exp(self.turn)
        return size * jnp.cos(angle), size * jnp.sin(angle)

    def _driven(self, x: Array) -> tuple[Array, Array]:
        return jnp.exp(self.scale) * (x @ self.read[0]), jnp.exp(self.scale) * (x @ self.read[1])

    def _shown(self, state: Array, x: Array) -> Array:
        shown = jax.nn.gelu(state[0] @ self.show[0] - state[1] @ self.show[1] + self.through * x)
        return (shown @ self.out[0]) * jax.nn.sigmoid(shown @ self.out[1])


def _times(one: tuple[Array, Array], two: tuple[Array, Array]) -> tuple[Array, Array]:
    return one[0] * two[0] - one[1] * two[1], one[0] * two[1] + one[1] * two[0]


@core("lru", version=2)
@dataclass(frozen=True)
class LinearRecurrentUnit(LayeredSpec):
    """Linear recurrent unit: a diagonal complex recurrence without gates, followed by a gated map.

    Eigenvalues are exp(-exp(n) + i exp(t)). Inputs are scaled by a trained gamma that starts at
    sqrt(1 - |lambda|^2). B and C start Gaussian with variances 1/(2 units) and 1/units per part, D
    with variance 1.

    Source: Orvieto et al. 2023, section 3 and appendix A.
    Departures: root-mean-square norms instead of layer or batch norms; no dropout; no biases in the
        gated map; eigenvalues and gamma learn as fast as other weights; the output is read at every
        step, not as a mean over time.

    Parameters
    ----------
    least:
        Smallest absolute value of an eigenvalue at the start, where they are uniform in the area of
        a ring.
    most:
        Largest one.
    phase:
        Largest angle of an eigenvalue at the start, in radians.
    """

    least: float = parameter(0.0, at_least=0.0, at_most=1.0)
    most: float = parameter(1.0, at_least=0.0, at_most=1.0)
    phase: float = parameter(6.28, above=0.0)

    def mixer(self, units: int, rng: np.random.Generator) -> LinearRecurrence:
        """Eigenvalues, then B, C, D and the map after them."""
        if self.least >= self.most:
            raise UsageError(f"lru: least must be below most={self.most:g}, got {self.least:g}")
        area, around = rng.uniform(1e-6, 1.0 - 1e-6, (2, units))
        squared = area * (self.most**2 - self.least**2) + self.least**2
        decay, turn = np.log(-0.5 * np.log(squared)), np.log(self.phase * around)
        read = rng.normal(size=(2, units, units)) / np.sqrt(2 * units)
        show = rng.normal(size=(2, units, units)) / np.sqrt(units)
        out = np.stack([draw_map(units, units, rng) for _ in range(2)])
        scale = 0.5 * np.log1p(-squared)
        return LinearRecurrence(decay, turn, scale, read, show, rng.normal(size=units), out)
