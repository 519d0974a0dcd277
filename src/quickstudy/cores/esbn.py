"""Memories that write down what they see: the emergent symbol binding network, and parts that others share."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.catalogue import core
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Space
from quickstudy.cores.attention import Affine
from quickstudy.cores.core import Array, Core, InputWeights, WaveWeights, waved_width
from quickstudy.gateway import eqx, jax, jnp, lax


def draw_affine(rng: np.random.Generator, inputs: int, outputs: int) -> Affine:
    """Weights, then bias, uniform in +- 1/sqrt(inputs)."""
    bound = 1.0 / np.sqrt(inputs)
    weights, bias = rng.uniform(-bound, bound, (inputs, outputs)), rng.uniform(-bound, bound, outputs)
    return Affine(jnp.asarray(weights, jnp.float32), jnp.asarray(bias, jnp.float32))


class Encoder(eqx.Module):
    """Two layers with ReLU, or more, from an input to features."""

    read: InputWeights
    bias: Array
    onward: Affine
    further: tuple[Affine, ...] = ()

    @classmethod
    def drawn(
        cls, inputs: Space, waves: int, hidden: int, width: int, *further: int, rng: np.random.Generator
    ) -> Encoder:
        """Weights in the order of the layers, whose widths are given."""
        first = draw_affine(rng, waved_width(inputs, waves), hidden)
        weights = WaveWeights(first.weights, inputs, waves) if waves else InputWeights(first.weights, inputs)
        widths = hidden, width, *further
        second, *rest = (draw_affine(rng, inputs, outputs) for inputs, outputs in itertools.pairwise(widths))
        return cls(weights, first.bias, second, tuple(rest))

    def __call__(self, x: Any) -> Array:
        """(..., width)."""
        features = jax.nn.relu(self.onward(jax.nn.relu(self.read(x) + self.bias)))
        for layer in self.further:
            features = jax.nn.relu(layer(features))
        return features


def lstm_cell(gates: Affine, state: tuple[Array, Array], inputs: Array) -> tuple[Array, Array]:
    """(h, c) after one step; gates i, f, g, o from inputs and h side by side."""
    hidden, cell = state
    i, f, g, o = jnp.split(gates(jnp.concatenate([inputs, hidden], axis=-1)), 4, axis=-1)
    cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(cell), cell


class SymbolBindingCore(Core):
    """State: h and c of the controller, what was read last, values and keys (B, slot, ...), steps so far."""

    encoder: Encoder
    gates: Affine
    write: Affine
    gate: Affine
    confidence: Array
    units: int = eqx.field(static=True)
    bypass: bool = eqx.field(static=True)

    @property
    def width(self) -> int:
        """The controller, what is read, and with the bypass what is seen."""
        seen = self.encoder.onward.bias.size if self.bypass else 0
        return int(self.units + self.write.bias.size + 1 + seen)

    def start(self, batch: int, capacity: int) -> Any:
        """Nothing written."""
        keys, seen = self.write.bias.size, self.encoder.onward.bias.size
        zeros = [jnp.zeros((batch, width)) for width in (self.units, self.units, keys + 1)]
        return *zeros, jnp.zeros((batch, capacity, seen)), jnp.zeros((batch, capacity, keys)), jnp.zeros((), jnp.int32)

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """Control, read by what is seen, write the key beside it. Behind the last slot the first is written again."""
        hidden, cell, last, values, keys, count = state
        seen = self.encoder(x)
        shown = jnp.concatenate([seen, last], axis=-1) if self.bypass else last
        hidden, cell = lstm_cell(self.gates, (hidden, cell), shown)
        slots = values.shape[1]
        # Sums of products, not matrix products: compilers for GPUs refuse those that these become side by side.
        alike = (values * seen[:, None]).sum(axis=-1)
        there = jnp.arange(slots) < count
        weight = jax.nn.softmax(jnp.where(there, alike, -1e30), axis=-1) * there
        sure = jax.nn.sigmoid(self.confidence[0] * alike + self.confidence[1])
        found = (weight[..., None] * keys).sum(axis=1), (weight * sure).sum(axis=-1, keepdims=True)
        gate = (hidden * self.gate.weights[:, 0]).sum(axis=-1, keepdims=True) + self.gate.bias
        read = jax.nn.sigmoid(gate) * jnp.concatenate(found, axis=-1)
        here = (jnp.arange(slots) == count % slots)[:, None]
        values = jnp.where(here, seen[:, None], values)
        keys = jnp.where(here, self.write(hidden)[:, None], keys)
        features = [hidden, read, seen] if self.bypass else [hidden, read]
        return (hidden, cell, read, values, keys, count + 1), jnp.concatenate(features, axis=-1)

    def unroll(self, state: Any, xs: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """The same, in blocks: a gradient keeps what was written before each of them, and goes through a block again.
        All that is written, kept at every step, would be 12 GB for 64 sequences of 168 steps.
        """

        def through(state: Any, some: Any) -> Any:
            return lax.scan(lambda carry, x: self.step(carry, x), state, some)

        steps = len(jax.tree.leaves(xs)[0])
        block = max(1, math.isqrt(steps))
        whole = steps // block * block
        blocks = jax.tree.map(lambda leaf: leaf[:whole].reshape(-1, block, *leaf.shape[1:]), xs)
        state, features = lax.scan(jax.checkpoint(through), state, blocks)
        state, rest = through(state, jax.tree.map(lambda leaf: leaf[whole:], xs))
        return state, jnp.concatenate([features.reshape(-1, *features.shape[2:]), rest])


@core("esbn", version=4)
@dataclass(frozen=True)
class SymbolBinding:
    """Emergent symbol binding network (Webb et al. 2021): what is seen and what is made of it are kept apart.

    At every step a controller (LSTM) writes a key of its own beside the features of the input; what it reads are the
    keys, with a confidence, of the steps whose features were like those of now. units: of the controller. keys: numbers
    in a key. hidden, features: layers that encode the input. bypass: the controller and the output also see the
    features, as in the model of Denamganaï et al. 2022; without it, as in the original, only keys that were read.
    waves: as for `transformer`. As many slots as steps may follow. Departure from that model: what comes out is read as
    it is, and not by a second LSTM.
    """

    units: int = parameter(256, at_least=1)
    keys: int = parameter(256, at_least=1)
    hidden: int = parameter(256, at_least=1)
    features: int = parameter(128, at_least=1)
    bypass: bool = True
    waves: int = parameter(0, at_least=0, at_most=16)

    frozen: ClassVar[bool] = False

    def build(self, inputs: Space, rng: np.random.Generator) -> SymbolBindingCore:
        """Weights in the order encoder, controller, key, gate."""
        encoder = Encoder.drawn(inputs, self.waves, self.hidden, self.features, rng=rng)
        shown = self.keys + 1 + (self.features if self.bypass else 0)
        gates = draw_affine(rng, shown + self.units, 4 * self.units)
        return SymbolBindingCore(
            encoder, gates, draw_affine(rng, self.units, self.keys), draw_affine(rng, self.units, 1),
            jnp.array([1.0, 0.0], jnp.float32), self.units, self.bypass,
        )  # fmt: skip
