"""Memories that write down what they see: the emergent symbol binding network, and parts that
others share.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Space
from quickstudy.cores.attention import Affine
from quickstudy.cores.core import Array, Core, InputWeights, WaveWeights, waved_width
from quickstudy.jax_gateway import eqx, jax, jnp, lax


def draw_affine(rng: np.random.Generator, inputs: int, outputs: int) -> Affine:
    """Weights, then bias, uniform in +- 1/sqrt(inputs)."""
    bound = 1.0 / np.sqrt(inputs)
    weights, bias = (
        rng.uniform(-bound, bound, (inputs, outputs)),
        rng.uniform(-bound, bound, outputs),
    )
    return Affine(jnp.asarray(weights, jnp.float32), jnp.asarray(bias, jnp.float32))


class Encoder(eqx.Module):
    """Two layers with ReLU, or more, from an input to features."""

    read: InputWeights
    bias: Array
    onward: Affine
    further: tuple[Affine, ...] = ()

    @classmethod
    def drawn(
        cls,
        inputs: Space,
        waves: int,
        hidden: int,
        width: int,
        *further: int,
        rng: np.random.Generator,
    ) -> Encoder:
        """Weights in the order of the layers, whose widths are given."""
        first = draw_affine(rng, waved_width(inputs, waves), hidden)
        weights = (
            WaveWeights(first.weights, inputs, waves)
            if waves
            else InputWeights(first.weights, inputs)
        )
        widths = hidden, width, *further
        second, *rest = (
            draw_affine(rng, inputs, outputs) for inputs, outputs in itertools.pairwise(widths)
        )
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
    """State: h and c of the controller, what was read last, values and keys (B, slot, ...), steps
    so far.
    """

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
        return (
            *zeros,
            jnp.zeros((batch, capacity, seen)),
            jnp.zeros((batch, capacity, keys)),
            jnp.zeros((), jnp.int32),
        )

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """Control, read by similarity, write the key with it. After the last slot the first is
        written again.
        """
        *control, values, keys, count = state
        seen, place = self.encoder(x), count % values.shape[1]
        alike = (values * seen[:, None]).sum(axis=-1)
        weight, sure = self._recalled(alike, jnp.arange(values.shape[1]) < count)
        control, features, new = self._controlled(
            control, seen, (weight[..., None] * keys).sum(axis=1), sure
        )
        values, keys = values.at[:, place].set(seen), keys.at[:, place].set(new)
        return (*control, values, keys, count + 1), features

    def unroll(self, state: Any, xs: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """The embedding of the inputs and their similarities do not depend on the controller: one
        product computes them for all steps, and only the controller goes step by step. It does so
        in blocks: the keys from before a block are read for all its steps at once, and a gradient
        keeps these, and goes through the block again.
        """
        *control, values, keys, count = state
        steps, slots = len(jax.tree.leaves(xs)[0]), values.shape[1]
        if steps > slots:  # some are written over by what is read here
            return lax.scan(lambda carry, x: self.step(carry, x), state, xs)
        seen, times = self.encoder(xs), jnp.arange(steps)
        places = (count + times) % slots
        after = values.at[:, places].set(seen.swapaxes(0, 1))
        # At which step a slot is written: up to there it has what it had.
        new = ((jnp.arange(slots) - count) % slots < times[:, None])[:, None]
        before, by_then = (jnp.einsum("tbf,bnf->tbn", seen, one) for one in (values, after))
        weight, sure = self._recalled(
            jnp.where(new, by_then, before), new | (jnp.arange(slots) < count)
        )
        block = max(1, math.isqrt(steps))
        whole = steps // block * block
        given = seen, weight, sure, places
        blocks = jax.tree.map(lambda leaf: leaf[:whole].reshape(-1, block, *leaf.shape[1:]), given)
        read = jax.checkpoint(lambda carry, some: self._block(carry, some))
        (control, keys), features = lax.scan(read, (tuple(control), keys), blocks)
        features = features.reshape(-1, *features.shape[2:])
        if whole < steps:
            (control, keys), rest = self._block(
                (control, keys), jax.tree.map(lambda leaf: leaf[whole:], given)
            )
            features = jnp.concatenate([features, rest])
        return (*control, after, keys, count + steps), features

    def _block(self, carry: Any, given: Any) -> tuple[Any, Array]:
        """The controller through some steps: (T, B, ...) what is seen, what is recalled, and the
        slots to write.
        """
        (control, keys), (seen, weight, sure, places) = carry, given
        steps = len(seen)
        here = jnp.tril(jnp.ones((steps, steps), bool), -1)[
            :, None
        ]  # written by then, in this block
        fresh = jnp.where(here, weight[:, :, places], 0.0)
        found = jnp.einsum("tbn,bnk->tbk", weight.at[:, :, places].add(-fresh), keys)

        def step(carry: Any, x: Any) -> Any:
            (control, written), (seen, found, fresh, sure, number) = carry, x
            found = found + (fresh[..., None] * written).sum(axis=1)
            control, features, new = self._controlled(control, seen, found, sure)
            return (
                control,
                lax.dynamic_update_index_in_dim(written, new, number, axis=1),
            ), features

        begun = control, jnp.zeros((keys.shape[0], steps, keys.shape[2]))
        (control, written), features = lax.scan(
            step, begun, (seen, found, fresh, sure, jnp.arange(steps))
        )
        return (control, keys.at[:, places].set(written)), features

    def _recalled(self, alike: Array, there: Array) -> tuple[Array, Array]:
        """(..., slot) how much the key of each slot is recalled, and (..., 1) with what
        confidence.
        """
        weight = jax.nn.softmax(jnp.where(there, alike, -1e30), axis=-1) * there
        sure = jax.nn.sigmoid(self.confidence[0] * alike + self.confidence[1])
        return weight, (weight * sure).sum(axis=-1, keepdims=True)

    def _controlled(
        self, control: Any, seen: Array, found: Array, sure: Array
    ) -> tuple[Any, Array, Array]:
        """One step of the controller (h, c, what was read last), by the keys that were found: also
        features, a key.
        """
        hidden, cell, last = control
        shown = jnp.concatenate([seen, last], axis=-1) if self.bypass else last
        hidden, cell = lstm_cell(self.gates, (hidden, cell), shown)
        # A sum of products, not a matrix product: compilers for GPUs refuse what that becomes side
        # by side.
        gate = (hidden * self.gate.weights[:, 0]).sum(axis=-1, keepdims=True) + self.gate.bias
        read = jax.nn.sigmoid(gate) * jnp.concatenate([found, sure], axis=-1)
        features = [hidden, read, seen] if self.bypass else [hidden, read]
        return (hidden, cell, read), jnp.concatenate(features, axis=-1), self.write(hidden)


@core("esbn", version=5)
@dataclass(frozen=True)
class SymbolBinding:
    """Emergent symbol binding network: perception and processing are kept apart (Webb et al. 2021).

    At every step a controller (LSTM) writes a key of its own next to the features of the input. It
    reads the keys, with a confidence, of the steps whose features were similar to the current ones.
    There are as many slots as steps.

    Source: Webb et al. 2021, with the sizes of Denamganaï et al. 2022.
    Departures: the output is read directly, not by a second LSTM as in the later model.

    Parameters
    ----------
    units:
        Units of the controller.
    keys:
        Numbers per key.
    hidden:
        Width of the first layer that encodes the input.
    features:
        Width of the second one.
    bypass:
        Controller and output also see the features, as in Denamganaï et al. 2022; without it only
        retrieved keys, as in the original.
    waves:
        Octaves of sines and cosines of each input, as for `transformer`; 0 for none.
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
            encoder,
            gates,
            draw_affine(rng, self.units, self.keys),
            draw_affine(rng, self.units, 1),
            jnp.array([1.0, 0.0], jnp.float32),
            self.units,
            self.bypass,
        )
