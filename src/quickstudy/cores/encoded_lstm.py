"""An LSTM that reads features of its input: layers stand in front of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.catalogue import core
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Reals, Space
from quickstudy.cores.core import Array, InputWeights
from quickstudy.cores.esbn import Encoder
from quickstudy.cores.recurrent import LongShortTermMemory
from quickstudy.gateway import jnp


class FeatureWeights(InputWeights):
    """What the features of an input contribute to each unit. weights: (features, units)."""

    encoder: Encoder

    def __call__(self, x: Any) -> Array:
        """(..., units) contributions of inputs x."""
        return self.encoder(x) @ self.weights


@core("encoded-lstm", version=1)
@dataclass(frozen=True)
class EncodedLSTM:
    """Long short-term memory behind two layers with ReLU, as in the agents of Denamganaï et al. 2022.

    units: of the LSTM. hidden, features: of the layers in front of it. waves: as for `transformer`. The agents of the
    paper have more layers before an LSTM of 256 and a second of 128 units; those of the authors' later programs are
    `units=512,hidden=64,features=32`, but for stimuli and messages apart.
    """

    units: int = parameter(256, at_least=1)
    hidden: int = parameter(256, at_least=1)
    features: int = parameter(128, at_least=1)
    waves: int = parameter(0, at_least=0, at_most=16)

    frozen: ClassVar[bool] = False

    def build(self, inputs: Space, rng: np.random.Generator) -> LongShortTermMemory:
        """Weights in the order encoder, input, recurrent, bias; those of the LSTM uniform in +- 1/sqrt(units)."""
        encoder, bound = Encoder.drawn(inputs, self.waves, self.hidden, self.features, rng), 1.0 / np.sqrt(self.units)
        shapes = (self.features, 4 * self.units), (self.units, 4 * self.units), (2, 4 * self.units)
        drawn = [jnp.asarray(rng.uniform(-bound, bound, shape), jnp.float32) for shape in shapes]
        read = FeatureWeights(drawn[0], Reals(self.features), encoder)
        return LongShortTermMemory(read, drawn[1], drawn[2], self.units)
