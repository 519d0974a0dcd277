"""Transformer encoder (Vaswani et al. 2017): attention over everything read so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.catalogue import core
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.attention import EncoderLayer, Noise, draw_layer
from quickstudy.cores.core import ABSENT, Array, Core, InputWeights
from quickstudy.gateway import eqx, jax, jnp

SPREAD = 0.1
"""Embedding and output weights start uniform in +- this."""


class TransformerCore(Core):
    """State: how many steps have been read; for every layer the keys and values of the last `capacity` of them,
    (B, capacity, embedding), which is as far back as a step sees.

    Without `causal` it reads whole sequences in one `unroll`, each step seeing all others: THE PUBLISHED LEAK.
    """

    inputs: InputWeights
    layers: tuple[EncoderLayer, ...]
    dropout: float = eqx.field(static=True)
    causal: bool = eqx.field(static=True)

    @property
    def width(self) -> int:
        """The last layer's outputs."""
        return int(self.inputs.weights.shape[1])

    @property
    def noisy(self) -> bool:
        """With dropout."""
        return self.dropout > 0

    @property
    def leaks(self) -> bool:
        """Without a causal mask."""
        return not self.causal

    @property
    def head_bounds(self) -> tuple[float, float]:
        """As published: no bias to begin with."""
        return SPREAD, 0.0

    def start(self, batch: int, capacity: int) -> Any:
        """Nothing read."""
        nothing = jnp.zeros((batch, capacity, self.width), self.inputs.weights.dtype)
        return jnp.zeros((), jnp.int32), ((nothing, nothing),) * len(self.layers)

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """One step, looking back at the last `capacity`."""
        if not self.causal:
            raise NotApplicable("a transformer with causal=false reads whole sequences, not single steps")
        alone = jax.tree.map(lambda leaf: leaf[None], (x, key))
        state, features = self._read(state, *alone)
        return state, features[0]

    def unroll(self, state: Any, xs: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """Many steps at once."""
        steps = len(jax.tree.leaves(xs)[0])
        return self._read(state, xs, None if key is None else jax.random.split(key, steps))

    def _read(self, state: Any, xs: Any, keys: Array | None) -> tuple[Any, Array]:
        count, memories = state
        rows = self.inputs(xs) * np.sqrt(self.width)
        # The noise is numbered as if all of `room` were read: a sequence that is padded less has the same.
        room = memories[0][0].shape[1] if self.causal else max(len(rows), memories[0][0].shape[1])
        numbers = self.width + sum(layer.numbers(room) for layer in self.layers)
        noise = Noise(self.dropout, keys if self.noisy else None, numbers)
        rows = noise(rows + _positions(count + jnp.arange(len(rows)), self.width)[:, None])
        after = []
        for layer, memory in zip(self.layers, memories, strict=True):
            if self.causal:
                memory, rows = layer.onward(memory, count, rows, noise)
            else:
                rows = layer.throughout(rows, xs != ABSENT, noise, room)
            after.append(memory)
        return (count + len(rows), tuple(after)), rows


def _positions(places: Array, width: int) -> Array:
    """(places, width): sines and cosines in turn, of wavelengths from 2 pi to 10,000 times that."""
    rates = jnp.exp(jnp.arange(0, width, 2) * (-np.log(10_000.0) / width))
    angles = places[:, None] * rates
    return jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=-1).reshape(len(places), -1)[:, :width]


@core("transformer", version=1)
@dataclass(frozen=True)
class Transformer:
    """Transformer: attention over everything read so far, trained by backpropagation.

    embedding: width of the embedding and of the layers, a multiple of `heads`. heads: attention heads of a layer.
    hidden: width of a layer's feed-forward part (ReLU). layers: how many. dropout: share of numbers left out while
    learning, after the embedding, in the attention, in the feed-forward part and after both. Embeddings are scaled by
    the square root of their width, positions are sines and cosines, layers are normalised after each part.

    causal: a step sees those before it and itself. `causal=false`, the preset of the convention `published`, is a
    DEFECT kept to repeat published numbers, and good for nothing else: attention goes both ways over the whole
    sequence, in which the answer stands one step after the place where it is asked for. Such a network reads answers
    off its inputs, is shown whole sequences with their answers even when it is tested, and fails the checkers.

    Embedding and output weights start uniform in +- 0.1, the output bias at 0, the layers as in PyTorch. Source:
    Vaswani et al. 2017; sizes of Cisneros et al. 2022, whose paper has no dropout and whose programs have 0.5.
    """

    embedding: int = parameter(80, at_least=1)
    heads: int = parameter(8, at_least=1)
    hidden: int = parameter(50, at_least=1)
    layers: int = parameter(1, at_least=1)
    dropout: float = parameter(0.0, at_least=0, at_most=0.95)
    causal: bool = True

    frozen: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"causal": False, "dropout": 0.5}}

    def __post_init__(self) -> None:
        if self.embedding % self.heads:
            raise ValueError(f"embedding must be a multiple of heads ({self.heads}), got {self.embedding}")

    def build(self, inputs: Space, rng: np.random.Generator) -> TransformerCore:
        """Weights in float32: the embedding, then layer by layer. Raises UsageError for what cannot leak."""
        if not self.causal and not isinstance(inputs, Tokens):
            raise UsageError(f"transformer: causal=false is for symbols, not {inputs}; give causal=true")
        weights = jnp.asarray(rng.uniform(-SPREAD, SPREAD, (inputs.width, self.embedding)), jnp.float32)
        layers = tuple(draw_layer(self.embedding, self.hidden, self.heads, rng) for _ in range(self.layers))
        return TransformerCore(InputWeights(weights, inputs), layers, self.dropout, self.causal)
