"""A core with a fault of choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.spaces import Space
from quickstudy.cores.core import Array, Core, InputWeights
from quickstudy.jax_gateway import eqx, jax, jnp


class Accumulator(Core):
    """h <- tanh(h / 2 + W x). `unroll` may be replaced by a wrong one."""

    inputs: InputWeights
    fault: str = eqx.field(static=True)

    @property
    def width(self) -> int:
        return int(self.inputs.weights.shape[1])

    def start(self, batch: int, capacity: int) -> Array:
        """Zeros; with the fault `capacity`, the capacity itself."""
        return jnp.full((batch, self.width), 0.1 * capacity if self.fault == "capacity" else 0.0)

    def step(self, state: Array, x: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """One update; with the fault `batch`, examples are centred by their mean."""
        drive = self.inputs(x)
        if self.fault == "batch":
            drive = drive - drive.mean(axis=0)
        state = jnp.tanh(0.5 * state + drive)
        return state, state

    def unroll(self, state: Array, xs: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """The scan of `step`, unless the fault is here."""
        last, features = super().unroll(state, xs, key=key)
        if self.fault == "values":
            features = 1.001 * features
        if self.fault == "gradients":
            features = jax.lax.stop_gradient(features)
        if self.fault == "ahead":
            features = features + features[::-1]
        return last, features


@dataclass(frozen=True)
class FaultyCore:
    """A small core with a fault of choice: none, `values`, `gradients`, `batch`, `ahead`,
    `capacity` or `weights`.
    """

    fault: str = "none"
    units: int = 4

    frozen: ClassVar[bool] = False

    def build(self, inputs: Space, rng: np.random.Generator) -> Accumulator:
        """Weights from the stream; with the fault `weights`, from nowhere in particular."""
        source = np.random.default_rng() if self.fault == "weights" else rng
        weights = source.uniform(-1.0, 1.0, (inputs.width, self.units))
        return Accumulator(InputWeights(jnp.asarray(weights, jnp.float32), inputs), self.fault)
