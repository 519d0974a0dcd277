"""Dual-coding episodic memory (Hill et al. 2020): percepts are recalled by messages, and
the reverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Reals, Space
from quickstudy.cores.attention import Affine
from quickstudy.cores.core import Array, Core, as_numbers
from quickstudy.cores.esbn import Encoder, draw_affine, lstm_cell
from quickstudy.jax_gateway import eqx, jax, jnp, lax


class Deep(eqx.Module):
    """Two layers, ReLU between them."""

    first: Affine
    second: Affine

    @classmethod
    def drawn(
        cls, rng: np.random.Generator, inputs: int, between: int, outputs: int
    ) -> Affine | Deep:
        """Weights in the order of the layers; one layer alone, without units between
        two.
        """
        if not between:
            return draw_affine(rng, inputs, outputs)
        return cls(draw_affine(rng, inputs, between), draw_affine(rng, between, outputs))

    @property
    def bias(self) -> Array:
        """Of the last."""
        return self.second.bias

    def __call__(self, x: Any) -> Array:
        """(..., outputs)."""
        return self.second(jax.nn.relu(self.first(x)))


class DualCodingCore(Core):
    """State: h and c of the controller; percepts and messages, (B, slot, features) each;
    steps so far.
    """

    sight: Encoder
    speech: Encoder
    ask: tuple[Affine | Deep, Affine | Deep]
    among: tuple[Affine, Affine]
    gates: Affine
    out: Affine | Deep
    space: Space = eqx.field(static=True)
    perceived: int = eqx.field(static=True)
    heard: int = eqx.field(static=True)
    heads: int = eqx.field(static=True)
    nearest: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        """The layer after the controller."""
        return int(self.out.bias.size)

    def start(self, batch: int, capacity: int) -> Any:
        """Nothing kept."""
        units, features = self.gates.bias.size // 4, self.sight.onward.bias.size
        kept = jnp.zeros((batch, max(capacity, self.nearest), features))
        return (
            jnp.zeros((batch, units)),
            jnp.zeros((batch, units)),
            kept,
            kept,
            jnp.zeros((), jnp.int32),
        )

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """Read either memory by the other's code, control, keep both."""
        hidden, cell, seen, said, count = state
        now = as_numbers(self.space, x)
        place, ends = np.arange(now.shape[-1]), (self.perceived, self.perceived + self.heard)
        # Both read the rest of the input: neither percept nor message, such as the round.
        sight = self.sight(jnp.where((place < ends[0]) | (place >= ends[1]), now, 0.0))
        speech = self.speech(jnp.where(place >= ends[0], now, 0.0))
        by_speech = self._read(self.ask[0], self.among[0], speech, said, seen, count)
        by_sight = self._read(self.ask[1], self.among[1], sight, seen, said, count)
        inputs = jnp.concatenate([sight, speech, by_speech, by_sight], axis=-1)
        hidden, cell = lstm_cell(self.gates, (hidden, cell), inputs)
        here = (jnp.arange(seen.shape[1]) == count % seen.shape[1])[:, None]
        seen, said = jnp.where(here, sight[:, None], seen), jnp.where(here, speech[:, None], said)
        features = jax.nn.relu(self.out(jnp.concatenate([hidden, by_speech, by_sight], axis=-1)))
        return (hidden, cell, seen, said, count + 1), features

    def _read(
        self,
        ask: Affine | Deep,
        among: Affine,
        code: Array,
        keys: Array,
        values: Array,
        count: Array,
    ) -> Array:
        """(B, heads * features): of the nearest keys, the values, mixed by how near they are and
        among each other.
        """
        batch, width = code.shape
        queries = ask(code).reshape(batch, self.heads, width)
        lengths = [
            jnp.sqrt(jnp.square(part).sum(axis=-1, keepdims=True) + 1e-6)
            for part in (queries, keys)
        ]
        cosine = jnp.einsum("bhf,bnf->bhn", queries / lengths[0], keys / lengths[1])
        there = jnp.arange(keys.shape[1]) < count
        best, place = lax.top_k(jnp.where(there, cosine, -1e3), self.nearest)
        weight = jnp.where(best > -2, 1.0 / (1.0 - jnp.minimum(best, 1.0) + 1e-3), 0.0)
        weight = weight / (weight.sum(axis=-1, keepdims=True) + 1e-6)
        found = jnp.take_along_axis(values[:, None], place[..., None], axis=2) * weight[..., None]
        mixed = among(found)
        first, second, third = jnp.split(mixed, 3, axis=-1)
        attention = jax.nn.softmax(
            jnp.einsum("bhnf,bhmf->bhnm", first, second) / np.sqrt(width), axis=-1
        )
        return jnp.einsum("bhnm,bhmf->bhf", attention, third).reshape(batch, -1)


@core("dcem", version=1)
@dataclass(frozen=True)
class DualCoding:
    """Dual-coding episodic memory: one list of percepts and one of messages, with an entry each per
    step.

    The current message is looked up among earlier messages and returns the percepts stored with
    them; the current percept is looked up likewise. Each query takes the `nearest` entries by
    cosine, weights them by 1/(1 - cosine), and mixes them by attention. Both codes also include the
    rest of the input.

    Source: Hill et al. 2020, with the sizes of Denamganaï et al. 2022, whose model is
        `asking=256,behind=512`.

    Parameters
    ----------
    perceived:
        Leading numbers of the input that are the percept.
    heard:
        Numbers after these that are the message.
    units:
        Units of the LSTM that reads codes and retrieved entries.
    features:
        Size of a code.
    hidden:
        Width of the layer after the LSTM.
    heads:
        Queries per step and list.
    nearest:
        Entries that a query retrieves.
    waves:
        Octaves of sines and cosines of each input, as for `transformer`; 0 for none.
    asking:
        Width of an extra layer that makes the queries; 0 for none.
    behind:
        Width of an extra layer between the LSTM and `hidden`; 0 for none.
    """

    perceived: int = parameter(3, at_least=1)
    heard: int = parameter(21, at_least=1)
    units: int = parameter(512, at_least=1)
    features: int = parameter(42, at_least=1)
    hidden: int = parameter(256, at_least=1)
    heads: int = parameter(3, at_least=1)
    nearest: int = parameter(6, at_least=1)
    waves: int = parameter(0, at_least=0, at_most=16)
    asking: int = parameter(0, at_least=0, added=True)
    behind: int = parameter(0, at_least=0, added=True)

    frozen: ClassVar[bool] = False

    def build(self, inputs: Space, rng: np.random.Generator) -> DualCodingCore:
        """Weights in the order encoders, queries, attention, controller, output."""
        sight, speech = (
            Encoder.drawn(Reals(inputs.width), self.waves, 256, self.features, rng=rng)
            for _ in range(2)
        )
        width = self.heads * self.features
        ask = (
            Deep.drawn(rng, self.features, self.asking, width),
            Deep.drawn(rng, self.features, self.asking, width),
        )
        among = (
            draw_affine(rng, self.features, 3 * self.features),
            draw_affine(rng, self.features, 3 * self.features),
        )
        read = 2 * width
        gates = draw_affine(rng, 2 * self.features + read + self.units, 4 * self.units)
        out = Deep.drawn(rng, self.units + read, self.behind, self.hidden)
        perceived = min(self.perceived, max(inputs.width // 2, 1))
        return DualCodingCore(
            sight,
            speech,
            ask,
            among,
            gates,
            out,
            inputs,
            perceived,
            self.heard,
            self.heads,
            self.nearest,
        )
