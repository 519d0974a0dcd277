"""Differentiable neural computer (Graves et al. 2016): a network that writes to and reads from a
matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Space
from quickstudy.cores.attention import Affine
from quickstudy.cores.core import Array, Core
from quickstudy.cores.esbn import Encoder, draw_affine, lstm_cell
from quickstudy.jax_gateway import eqx, jax, jnp


class Tape(NamedTuple):
    """memory (B, slot, word); usage, precedence (B, slot); links (B, slot, slot); weights of the
    last writing (B, slot) and of the last reading (B, head, slot); what was read (B, head, word).
    """

    memory: Array
    usage: Array
    precedence: Array
    links: Array
    written: Array
    weights: Array
    read: Array


class ComputerCore(Core):
    """State: (h, c) of either layer of the controller, and the tape."""

    encoder: Encoder
    layers: tuple[Affine, Affine]
    interface: Affine
    slots: int = eqx.field(static=True)
    word: int = eqx.field(static=True)
    heads: int = eqx.field(static=True)

    @property
    def units(self) -> int:
        """Of a layer of the controller."""
        return int(self.layers[0].bias.size // 4)

    @property
    def width(self) -> int:
        """The controller and what was read."""
        return self.units + self.heads * self.word

    def start(self, batch: int, capacity: int) -> Any:
        """An empty tape."""
        zeros = jnp.zeros((batch, self.units))
        slots = jnp.zeros((batch, self.slots))
        tape = Tape(
            jnp.zeros((batch, self.slots, self.word)),
            slots,
            slots,
            jnp.zeros((batch, self.slots, self.slots)),
            slots,
            jnp.zeros((batch, self.heads, self.slots)),
            jnp.zeros((batch, self.heads, self.word)),
        )
        return ((zeros, zeros), (zeros, zeros)), tape

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """Control, write, read."""
        (first, second), tape = state
        inputs = jnp.concatenate([self.encoder(x), tape.read.reshape(len(tape.read), -1)], axis=-1)
        first = lstm_cell(self.layers[0], first, inputs)
        second = lstm_cell(self.layers[1], second, first[0])
        tape = self._turned(tape, self.interface(second[0]))
        features = jnp.concatenate([second[0], tape.read.reshape(len(tape.read), -1)], axis=-1)
        return ((first, second), tape), features

    def _turned(self, tape: Tape, interface: Array) -> Tape:
        heads, word = self.heads, self.word
        sizes = [heads * word, heads, word, 1, word, word, heads, 1, 1, 3 * heads]
        parts = jnp.split(interface, np.cumsum(sizes)[:-1], axis=-1)
        (
            read_keys,
            read_strength,
            write_key,
            write_strength,
            erase,
            add,
            free,
            allocate,
            writes,
            modes,
        ) = parts
        free, writes, allocate = (jax.nn.sigmoid(part) for part in (free, writes, allocate))
        # Locations that were read may be freed; locations that were written are in use.
        kept = (1 - free[..., None] * tape.weights).prod(axis=1)
        usage = (tape.usage + tape.written - tape.usage * tape.written) * kept
        found = _alike(tape.memory, write_key[:, None], write_strength)[:, 0]
        written = writes * (allocate * _allocated(usage) + (1 - allocate) * found)
        memory = tape.memory * (1 - written[..., None] * jax.nn.sigmoid(erase)[:, None])
        memory = memory + written[..., None] * jnp.tanh(add)[:, None]
        links = (1 - written[:, :, None] - written[:, None]) * tape.links + written[
            :, :, None
        ] * tape.precedence[:, None]
        links = links * (1 - jnp.eye(self.slots))
        precedence = (1 - written.sum(axis=1, keepdims=True)) * tape.precedence + written
        forward = jnp.einsum("bij,bhj->bhi", links, tape.weights)
        backward = jnp.einsum("bji,bhj->bhi", links, tape.weights)
        content = _alike(memory, read_keys.reshape(-1, heads, word), read_strength)
        share = jax.nn.softmax(modes.reshape(-1, heads, 3), axis=-1)
        weights = share[..., :1] * backward + share[..., 1:2] * content + share[..., 2:] * forward
        return Tape(
            memory,
            usage,
            precedence,
            links,
            written,
            weights,
            jnp.einsum("bhn,bnw->bhw", weights, memory),
        )


def _alike(memory: Array, keys: Array, strength: Array) -> Array:
    """(B, head, slot): softmax of the cosines with keys (B, head, word), times their strengths."""
    lengths = [
        jnp.sqrt(jnp.square(part).sum(axis=-1, keepdims=True) + 1e-6) for part in (keys, memory)
    ]
    cosine = jnp.einsum("bhw,bnw->bhn", keys / lengths[0], memory / lengths[1])
    return jax.nn.softmax(cosine * (1 + jax.nn.softplus(strength))[..., None], axis=-1)


def _allocated(usage: Array) -> Array:
    """(B, slot): where there is room, the least used slots first."""
    # A share, for any given state: products of many numbers above 1 would have no
    # gradient.
    usage = 1e-6 + (1 - 1e-6) * jnp.clip(usage, 0.0, 1.0)
    order = jnp.argsort(usage, axis=-1)
    ordered = jnp.take_along_axis(usage, order, axis=-1)
    before = jnp.concatenate(
        [jnp.ones_like(ordered[:, :1]), jnp.cumprod(ordered, axis=-1)[:, :-1]], axis=-1
    )
    room = (1 - ordered) * before
    return jnp.take_along_axis(room, jnp.argsort(order, axis=-1), axis=-1)


@core("dnc", version=1)
@dataclass(frozen=True)
class DifferentiableComputer:
    """Differentiable neural computer: an LSTM of two layers with a memory matrix.

    One head writes and `heads` heads read, addressed by content, by which rows are free, and by the
    order of writing.

    Source: Graves et al. 2016, with the sizes of Denamganaï et al. 2022, Table 5.
    Departures: what is written passes a tanh.

    Parameters
    ----------
    units:
        Units of each LSTM layer.
    slots:
        Rows of the memory.
    word:
        Numbers per row.
    heads:
        Number of read heads.
    hidden:
        Width of the first layer that encodes the input.
    features:
        Width of the second one.
    waves:
        Octaves of sines and cosines of each input, as for `transformer`; 0 for none.
    """

    units: int = parameter(128, at_least=1)
    slots: int = parameter(128, at_least=2)
    word: int = parameter(32, at_least=1)
    heads: int = parameter(2, at_least=1)
    hidden: int = parameter(256, at_least=1)
    features: int = parameter(128, at_least=1)
    waves: int = parameter(0, at_least=0, at_most=16)

    frozen: ClassVar[bool] = False

    def build(self, inputs: Space, rng: np.random.Generator) -> ComputerCore:
        """Weights in the order encoder, controller, interface."""
        encoder = Encoder.drawn(inputs, self.waves, self.hidden, self.features, rng=rng)
        first = draw_affine(
            rng, self.features + self.heads * self.word + self.units, 4 * self.units
        )
        second = draw_affine(rng, 2 * self.units, 4 * self.units)
        width = self.heads * self.word + 3 * self.word + 5 * self.heads + 3
        interface = draw_affine(rng, self.units, width)
        return ComputerCore(encoder, (first, second), interface, self.slots, self.word, self.heads)
