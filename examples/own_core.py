"""Add a core in one file: units in a ring. Check it: quickstudy check own_core.py"""

from dataclasses import dataclass
from typing import Any, ClassVar

import quickstudy as qs
from quickstudy.cores import InputWeights, Reservoir, jnp


class RingCore(Reservoir):
    inputs: InputWeights
    strength: Any
    width = property(lambda self: self.inputs.weights.shape[1])

    def start(self, batch, capacity):
        return jnp.zeros((batch, self.width))

    def step(self, state, x, *, key=None):
        state = jnp.tanh(self.strength * jnp.roll(state, 1, axis=-1) + self.inputs(x))
        return state, state


@qs.core("ring", version=1)
@dataclass(frozen=True)
class Ring:
    """Ring reservoir: each unit hears one neighbour and the input, and nothing is trained."""

    units: int = qs.parameter(500, at_least=1)
    strength: float = qs.parameter(0.9, above=0)
    frozen: ClassVar[bool] = True

    def build(self, inputs, rng):
        weights = jnp.asarray(rng.uniform(-1, 1, (inputs.width, self.units)), jnp.float32)
        return RingCore(InputWeights(weights, inputs), jnp.float32(self.strength))


if __name__ == "__main__":  # workers=0: the core exists in this process only
    few = {"sequences": 60}
    qs.run("language/periodic", "ring:units=100", seeds=2, protocol=few, workers=0).show()
