"""One nonlinear node with a delay line: a reservoir of virtual units that share a single piece of
hardware.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Space
from quickstudy.cores.core import PRECISIONS, Array, InputWeights, Reservoir, at_precision
from quickstudy.jax_gateway import eqx, jnp


class DelayNodeCore(Reservoir):
    """x_i <- q x_(i-1) + (1 - q) f(x_i, J_i), one virtual unit after the other; x_(-1) is the last
    unit of the step before. The state is (batch, units). spread: (units, units), what each f adds
    to each later unit; carried: (units,), what is left of the last one.
    """

    inputs: InputWeights
    spread: Array
    carried: Array
    gain: Array
    power: Array
    units: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        """One feature per virtual unit."""
        return self.units

    def start(self, batch: int, capacity: int) -> Array:
        """The line is empty."""
        return jnp.zeros((batch, self.units), self.spread.dtype)

    def step(self, state: Array, x: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """Once round the line. Nothing in it is random."""
        driven = state + self.inputs(x)
        bent = self.gain * driven / (1.0 + jnp.abs(driven) ** self.power)
        state = bent @ self.spread + state[:, -1:] * self.carried
        return state, state


@core("delay-node", version=1)
@dataclass(frozen=True)
class DelayNode:
    """One nonlinear node with delayed feedback, read at many positions of its delay line; not
    trained.

    The node follows the Mackey-Glass nonlinearity gain z / (1 + |z|^power), where z is the delayed
    feedback plus the masked input. The mask is +-`input_scale`, drawn for every virtual unit and
    input. The input is constant between two positions, so that the node's response is computed
    exactly.

    Source: Appeltant et al. 2011 (400 virtual units with a separation of 0.2).
    Departures: |z| instead of z, so that inputs of both signs can be read; `gain` and `input_scale`
        are ours.

    Parameters
    ----------
    units:
        Virtual units: positions at which the delay line is read.
    separation:
        Time between neighbouring virtual units, in time constants of the node. Below 1 they are
        coupled.
    gain:
        Strength of the nonlinearity.
    input_scale:
        Absolute value of the mask.
    power:
        Exponent of the nonlinearity.
    precision:
        float32 or float64.
    """

    units: int = parameter(400, at_least=1)
    separation: float = parameter(0.2, above=0)
    gain: float = parameter(0.9, at_least=0)
    input_scale: float = parameter(0.3, at_least=0)
    power: float = parameter(7.0, above=0)
    precision: str = parameter("float32", choices=PRECISIONS)

    frozen: ClassVar[bool] = True
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def build(self, inputs: Space, rng: np.random.Generator) -> DelayNodeCore:
        """Only the mask is drawn."""
        left = np.exp(-self.separation)
        mask = rng.choice([-1.0, 1.0], (inputs.width, self.units)) * self.input_scale
        later = np.arange(self.units) - np.arange(self.units)[:, None]
        spread = np.where(later >= 0, (1.0 - left) * left ** np.maximum(later, 0), 0.0)
        core = DelayNodeCore(
            InputWeights(jnp.asarray(mask, jnp.float32), inputs),
            jnp.asarray(spread, jnp.float32),
            jnp.asarray(left ** (1.0 + np.arange(self.units)), jnp.float32),
            jnp.float32(self.gain),
            jnp.float32(self.power),
            self.units,
        )
        return at_precision(core, self.precision)  # type: ignore[no-any-return]
