"""Transformer encoder (Vaswani et al. 2017): attention over everything read so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.attention import Affine, EncoderLayer, Noise, Norm, draw_layer
from quickstudy.cores.core import (
    ABSENT,
    Array,
    Capabilities,
    Core,
    InputWeights,
    WaveWeights,
    waved_width,
)
from quickstudy.cores.layered import TAPS
from quickstudy.jax_gateway import eqx, jax, jnp

SPREAD = 0.1
"""Embedding and output weights start uniform in +- this."""
LEARNED = 512
"""Positions with a vector of their own where these are learned; later ones share the last."""


class TransformerCore(Core):
    """State: how many steps have been read; for every layer the keys and values of the last
    `capacity` of them, (B, capacity, embedding), which is as far back as a step sees.

    places: with learned positions (position, embedding); with rotary ones a single row, for all
    steps.
    last: the norm at the end, where layers have theirs first. window: how far back a step sees, 0
    for the capacity.

    Without `causal` it reads whole sequences in one `unroll`, each step seeing all others: THE
    PUBLISHED LEAK.
    """

    inputs: InputWeights
    layers: tuple[EncoderLayer, ...]
    dropout: float = eqx.field(static=True)
    causal: bool = eqx.field(static=True)
    positions: bool = eqx.field(static=True, default=True)
    places: Array | None = None
    last: Norm | None = None
    window: int = eqx.field(static=True, default=0)

    @property
    def width(self) -> int:
        """The last layer's outputs."""
        return int(self.inputs.weights.shape[1])

    @property
    def capabilities(self) -> Capabilities:
        """Noise is dropout; it leaks without a causal mask; its head starts without bias."""
        return replace(
            super().capabilities,
            noisy=self.dropout > 0,
            attends=True,
            leaks=not self.causal,
            selects=True,
            head_bounds=(SPREAD, 0.0),
        )

    def start(self, batch: int, capacity: int) -> Any:
        """Nothing read."""
        room = self._seen(capacity)
        return jnp.zeros((), jnp.int32), tuple(layer.start(batch, room) for layer in self.layers)

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """One step, looking back at the last `capacity`."""
        if not self.causal:
            raise NotApplicable(
                "a transformer with causal=false reads whole sequences, not single steps"
            )
        alone = jax.tree.map(lambda leaf: leaf[None], (x, key))
        state, features = self._read(state, *alone)
        return state, features[0]

    def unroll(self, state: Any, xs: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """Many steps at once."""
        steps = len(jax.tree.leaves(xs)[0])
        return self._read(state, xs, None if key is None else jax.random.split(key, steps))

    def unroll_at(
        self, xs: Any, places: Array, capacity: int, *, key: Array | None = None
    ) -> Array:
        """Features (B, Q, F) at some steps (B, Q) of sequences that are read from the start: those
        that `unroll` gives.

        The last layer works at these steps only.
        """
        steps, capacity = len(jax.tree.leaves(xs)[0]), self._seen(capacity)
        keys = None if key is None else jax.random.split(key, steps)
        rows = self._embedded(xs, 0, keys, capacity)

        def by_symbol(affine: Affine) -> Array:
            table = self.inputs.weights * np.float32(np.sqrt(self.width))
            return (table @ affine.weights)[xs.T] + affine(self._places(jnp.arange(steps)))

        # Without noise, what the first layer reads is a row for the symbol and one for the place.
        symbols = (
            type(self.inputs) is InputWeights
            and self.positions
            and self.last is None
            and self.layers[0].convolution is None
            and isinstance(self.inputs.space, Tokens)
            and not ((self.dropout > 0) and key is not None)
        )
        for number, layer in enumerate(self.layers):
            last = number == len(self.layers) - 1
            own = keys[places] if last and keys is not None else keys
            noise = self._noise(1 + number, own, len(rows), steps, capacity)
            mapped = by_symbol if symbols and number == 0 else None
            rows = layer.from_start(
                rows, places if last else None, self._present(xs), noise, capacity, mapped
            )
        return self._normed(rows)

    def _read(self, state: Any, xs: Any, keys: Array | None) -> tuple[Any, Array]:
        count, memories = state
        capacity = memories[0][0].shape[1]
        rows = self._embedded(xs, count, keys, capacity)
        after = []
        for number, (layer, memory) in enumerate(zip(self.layers, memories, strict=True)):
            noise = self._noise(1 + number, keys, len(rows), rows.shape[1], capacity)
            if self.causal:
                memory, rows = layer.onward(memory, count, rows, noise)
            else:
                rows = layer.from_start(rows, None, self._present(xs), noise, capacity)
            after.append(memory)
        return (count + rows.shape[1], tuple(after)), jnp.swapaxes(self._normed(rows), 0, 1)

    def _seen(self, capacity: int) -> int:
        """How many steps a step sees, itself included."""
        return min(capacity, self.window or capacity)

    def _normed(self, rows: Array) -> Array:
        """The output of the last layer."""
        return rows if self.last is None else self.last(rows)

    def _embedded(self, xs: Any, count: Any, keys: Array | None, capacity: int) -> Array:
        """What the first layer reads, (B, T, E)."""
        rows = jnp.swapaxes(self.inputs(xs), 0, 1) * np.float32(np.sqrt(self.width))
        steps = rows.shape[1]
        noise = self._noise(0, keys, len(rows), steps, capacity)
        return noise(rows + self._places(count + jnp.arange(steps)) if self.positions else rows)

    def _places(self, positions: Array) -> Array:
        """(positions, embedding): what is added to an embedding at some positions."""
        if self.places is None:
            return _positions(positions, self.width)
        return self.places[jnp.minimum(positions, len(self.places) - 1)] * np.float32(
            np.sqrt(self.width)
        )

    def _present(self, xs: Any) -> Array | None:
        """Where there is a step, (B, T), for a core that sees all steps."""
        return None if self.causal else (xs != ABSENT).T

    def _noise(
        self, place: int, keys: Array | None, batch: int, steps: int, capacity: int
    ) -> Noise:
        """Dropout after the embedding (0) or in a layer (1, 2 ...), by keys (T,) or (B, Q)."""
        if keys is None or not (self.dropout > 0):
            return Noise(self.dropout, None, (), 0, 0)
        seen = capacity if self.causal else steps
        blocks = [[self.width], *(layer.blocks(self.dropout, seen) for layer in self.layers)]
        first = sum(len(part) for part in blocks[:place])
        own = jnp.broadcast_to(keys, (batch, *keys.shape[-1:]))
        return Noise(self.dropout, own, blocks[place], first, sum(len(part) for part in blocks))


def _positions(places: Array, width: int) -> Array:
    """(places, width): sines and cosines in turn, of wavelengths from 2 pi to 10,000 times that."""
    rates = jnp.exp(jnp.arange(0, width, 2) * (-np.log(10_000.0) / width))
    angles = places[:, None] * rates
    return jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=-1).reshape(len(places), -1)[
        :, :width
    ]


@core("transformer", version=2)
@dataclass(frozen=True)
class Transformer:
    """Transformer: attention over everything read so far, trained by backpropagation.

    Embeddings are scaled by the square root of their width. Embedding and output weights start
    uniform in +-0.1, the output bias at 0, the layers as in PyTorch. Without `embedding` and
    `hidden` the network is the largest with `budget` parameters per input symbol, an output layer
    for as many symbols as it reads included.

    Source: Vaswani et al. 2017; sizes of Cisneros et al. 2022, whose paper has no dropout and whose
        programs have 0.5.

    Parameters
    ----------
    embedding:
        Width of the embedding and of the layers, a multiple of `heads`; none fits it to `budget`.
    heads:
        Attention heads per layer.
    hidden:
        Width of the feed-forward part (ReLU); none fits it to `budget`.
    budget:
        Parameters per input symbol.
    layers:
        Number of layers.
    dropout:
        Share of numbers dropped during training, after the embedding, in the attention, in the
        feed-forward part and after both; drawn with a resolution of 1/65,536.
    causal:
        A step sees itself and earlier steps. `no`, the preset of the convention `published`, is a
        defect kept to repeat published numbers: attention covers the whole sequence, including the
        answer one step after the query, also in the test. Such a network fails the checkers.
    waves:
        Octaves of sines and cosines of each real input, from one period over -1 to 1; 0 for none.
    waved:
        Only the first so many numbers of an input have `waves`; 0 for all.
    positions:
        Steps have a position encoding; without it the sequence is a set.
    alike:
        Keys start equal to queries, so that a step attends to similar steps before it has learned
        anything.
    encoding:
        Position encoding. `sines`, as published; `learned`, a vector for each of the first 512
        positions, shared by later ones and not counted in the budget; `rotary`, where queries and
        keys are rotated by their position and attention depends on distances (Su et al. 2021).
    norm:
        Layer norms `after` each part, as published, or `before` it with one more at the end (Xiong
        et al. 2020).
    window:
        Steps that a step sees, itself included; 0 for all. With a window, sequences longer than
        those of training contain no new distances (Beltagy et al. 2020).
    convolved:
        Queries, keys and values pass a causal convolution over 4 steps per feature (So et al.
        2021).
    """

    embedding: int | None = parameter(None, at_least=1)
    heads: int = parameter(8, at_least=1)
    hidden: int | None = parameter(None, at_least=1)
    budget: int = parameter(1800, at_least=1)
    layers: int = parameter(1, at_least=1)
    dropout: float = parameter(0.0, at_least=0, at_most=0.95)
    causal: bool = True
    waves: int = parameter(0, at_least=0, at_most=16, added=True)
    waved: int = parameter(0, at_least=0, added=True)
    positions: bool = parameter(True, added=True)
    alike: bool = parameter(False, added=True)
    encoding: str = parameter("sines", choices=("sines", "learned", "rotary"), added=True)
    norm: str = parameter("after", choices=("after", "before"), added=True)
    window: int = parameter(0, at_least=0, added=True)
    convolved: bool = parameter(False, added=True)

    frozen: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"embedding": 80, "hidden": 50, "causal": False, "dropout": 0.5}
    }

    def __post_init__(self) -> None:
        if self.embedding is not None and self.embedding % self.multiple:
            asked = (
                f"heads ({self.heads})"
                if self.multiple == self.heads
                else f"twice the heads ({self.multiple})"
            )
            raise ValueError(f"embedding must be a multiple of {asked}, got {self.embedding}")
        if not self.positions and self.encoding != "sines":
            raise ValueError(
                f"encoding={self.encoding} gives positions, and positions=no leaves them out;"
                " give one"
            )
        if not self.causal and (self.encoding, self.norm, self.window) != ("sines", "after", 0):
            raise ValueError(
                "causal=no is the published network: leave out encoding, norm and window"
            )

    @property
    def multiple(self) -> int:
        """What the embedding is a multiple of: a head is as wide as the others, and rotary ones are
        of pairs.
        """
        return self.heads * (2 if self.encoding == "rotary" else 1)

    @property
    def further(self) -> int:
        """Parameters per unit of the embedding that the published network lacks, without learned
        positions.
        """
        convolution = 3 * (TAPS + 1) * self.layers * self.convolved
        return convolution + 2 * (self.norm == "before") + (self.encoding == "rotary")

    def build(self, inputs: Space, rng: np.random.Generator) -> TransformerCore:
        """Weights in float32: the embedding, then layer by layer. Raises NotApplicable for what
        cannot leak.
        """
        if not self.causal and not isinstance(inputs, Tokens):
            raise NotApplicable(
                f"transformer: causal=false is for symbols, not {inputs}; give causal=true"
            )
        embedding, hidden = matched_widths(
            inputs.width,
            self.budget,
            self.multiple,
            self.layers,
            self.embedding,
            self.hidden,
            self.further,
        )
        rows = waved_width(inputs, self.waves, self.waved)
        weights = jnp.asarray(rng.uniform(-SPREAD, SPREAD, (rows, embedding)), jnp.float32)
        first, rotary = self.norm == "before", self.encoding == "rotary"
        layers = tuple(
            draw_layer(
                embedding, hidden, self.heads, rng, self.alike, first, rotary, self.convolved
            )
            for _ in range(self.layers)
        )
        places, last = None, None
        if self.encoding != "sines":
            count = 1 if rotary else LEARNED
            places = jnp.asarray(rng.uniform(-SPREAD, SPREAD, (count, embedding)), jnp.float32)
        if first:
            last = Norm(jnp.ones(embedding), jnp.zeros(embedding))
        read = InputWeights(weights, inputs)
        if self.waves:
            read = WaveWeights(weights, inputs, self.waves, self.waved)
        return TransformerCore(
            read, layers, self.dropout, self.causal, self.positions, places, last, self.window
        )


@core("attention", version=1)
@dataclass(frozen=True)
class Attention(Transformer):
    """Transformer with today's usual settings: norms before each part, rotary positions, short
    convolutions.

    It is `transformer` with other defaults and the same parameters, but always causal. With the
    same training it looks up 16 pairs on `span/lookup`, where a `transformer` of one or two layers
    looks up 2.

    Source: Vaswani et al. 2017, with the changes named at `encoding`, `norm` and `convolved`.
    """

    heads: int = parameter(4, at_least=1)
    encoding: str = parameter("rotary", choices=("sines", "learned", "rotary"))
    norm: str = parameter("before", choices=("after", "before"))
    window: int = parameter(0, at_least=0)
    convolved: bool = parameter(True)

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    # A series is learned in pieces of 192 steps and tested whole. Span on `span/delay`, a seed that
    # no norm has: 14.6; with a window of 128 steps 12.0, with norms before the parts as well 2.7,
    # without convolutions 2.8.
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {"reals": {"norm": "after", "window": 64}}


def matched_widths(
    width: int,
    budget: int,
    multiple: int,
    layers: int,
    embedding: int | None,
    hidden: int | None,
    further: int = 0,
) -> tuple[int, int]:
    """Embedding and feed-forward widths of a Transformer, where they are None: the most within
    budget * width.

    The embedding is the largest multiple of `multiple` that leaves room for a feed-forward part of
    5/8 of it, the ratio of the published network (80 and 50); then the feed-forward part takes all
    the room there is. With `width` inputs and outputs an embedding e and layers of feed-forward
    width f have e width + layers (4 e^2 + 2 e f + 9 e + f) + (e + 1) width parameters, and
    `further` e. An embedding that is given gets 5/8 of it.

    >>> matched_widths(2, 1800, 8, 1, None, None)
    (24, 20)
    """

    def parameters(e: int, f: int) -> int:
        return (
            e * width + layers * (4 * e * e + 2 * e * f + 9 * e + f) + (e + 1) * width + further * e
        )

    def usual(e: int) -> int:
        return max(1, 5 * e // 8) if hidden is None else hidden

    if embedding is not None:
        return embedding, usual(embedding)
    e = multiple
    while parameters(e + multiple, usual(e + multiple)) <= budget * width:
        e += multiple
    if hidden is None:
        hidden = max(1, (budget * width - parameters(e, 0)) // (layers * (2 * e + 1)))
    return e, hidden
