"""What the memories of today share: layers with a residual path, a short convolution, and steps
taken in parallel.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Space
from quickstudy.base.stated import CoreFacts, stated
from quickstudy.cores.core import PRECISIONS, Array, Capabilities, Core, InputWeights, at_precision
from quickstudy.jax_gateway import device_kind, eqx, handed_over, jax, jnp, lax

CHUNK = 32
"""Steps that are taken in parallel; chunks follow one another. Memory then grows with the chunk,
not with the stream, and one small program serves all lengths.
"""
TAPS = 4
"""Steps that a short convolution sees, as in all the publications."""
SMALL = 1e-6
"""Added to a mean square before its root is taken."""


class Mixer(eqx.Module):
    """What one layer does along time: (B, units) in, (B, units) out."""

    @abstractmethod
    def start(self, batch: int) -> Any:
        """The state before anything is read."""

    @abstractmethod
    def step(self, state: Any, x: Array) -> tuple[Any, Array]:
        """One step x (B, units)."""

    @abstractmethod
    def unroll(self, state: Any, xs: Array) -> tuple[Any, Array]:
        """Many steps xs (T, B, units), in parallel; the same as `step` after `step`."""


class LayeredCore(Core):
    """x <- x + mixer(norm(x)), layer after layer; features are the norm of the last x.

    embed: (width of the inputs, units). norms: (layers + 1, units), the scales of root-mean-square
    norms. mixers: all layers as one, every array of it and of its state with the layers in front:
    one program for them all.
    """

    embed: InputWeights
    norms: Array
    mixers: Mixer

    @property
    def width(self) -> int:
        """One feature per unit."""
        return int(self.norms.shape[-1])

    def start(self, batch: int, capacity: int) -> Any:
        """As the layers start."""
        return jax.vmap(lambda mixer: mixer.start(batch))(self.mixers)

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """One step through all layers."""
        return self._through(state, x, lambda mixer: mixer.step)

    def unroll(self, state: Any, xs: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """All steps through the first layer, then through the next."""
        return self._through(state, xs, lambda mixer: mixer.unroll)

    def _through(self, state: Any, x: Any, way: Callable[[Mixer], Any]) -> tuple[Any, Array]:
        def layer(x: Array, given: Any) -> tuple[Array, Any]:
            mixer, before, scale = given
            after, change = way(mixer)(before, scale * normed(x))
            return x + change, after

        x, state = lax.scan(layer, self.embed(x), (self.mixers, state, self.norms[:-1]))
        return state, self.norms[-1] * normed(x)


class StoppingCore(LayeredCore):
    """The same on a CPU, where a part of a program that is not run takes no time, for mixers whose
    gradients take many seconds to compile: sequences of all lengths then share one program.
    """

    @property
    def capabilities(self) -> Capabilities:
        """It stops."""
        return replace(super().capabilities, stops=True, selects=True)

    def unroll_at(
        self, xs: Any, places: Array, capacity: int, *, key: Array | None = None
    ) -> Array:
        """Features (B, Q, F) at some steps (B, Q) of sequences that are read from the start: those
        that `unroll` gives. Chunk by chunk through all layers, and none that begins after the last
        of these steps.
        """
        steps, rows = len(jax.tree.leaves(xs)[0]), jnp.arange(len(places))[:, None]
        start = self.start(len(places), capacity)
        if steps <= CHUNK:
            return self.unroll(start, xs)[1][places, rows]
        chunks = jax.tree.map(lambda part: in_pieces(part, 0), xs)
        last = places.max()

        def read(state: Any, given: Any) -> tuple[Any, Array]:
            first, some = given
            blank = jnp.zeros((CHUNK, len(places), self.width), self.norms.dtype)
            return lax.cond(  # type: ignore[no-any-return]
                first <= last,
                lambda state: self.unroll(state, some),
                lambda state: (state, blank),
                state,
            )

        firsts = jnp.arange(-(-steps // CHUNK)) * CHUNK
        features = lax.scan(read, start, (firsts, chunks))[1]
        return features.reshape(-1, *features.shape[2:])[places, rows]


@dataclass(frozen=True)
class LayeredSpec:
    """Parameters of all cores made of residual layers.

    Parameters
    ----------
    units:
        Width of the residual stream; none fits it to `budget`.
    layers:
        Number of residual blocks, each a norm and a mixing layer.
    budget:
        Trained weights per input symbol that `units=none` fits the width to, an output layer
        included.
    precision:
        float32 or float64.
    """

    units: int | None = parameter(None, at_least=1)
    layers: int = parameter(2, at_least=1)
    budget: int = parameter(1800, at_least=1)
    precision: str = parameter("float32", choices=PRECISIONS)

    frozen: ClassVar[bool] = False
    stops: ClassVar[bool] = False  # whether it is a `StoppingCore` on a CPU
    # In a world that gives rewards every step is a call: a small network takes no longer than none.
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {"reward": {"units": 32}}

    def mixer(self, units: int, rng: np.random.Generator) -> Mixer:
        """One layer, with weights as NumPy arrays."""
        raise NotImplementedError

    @property
    def multiple(self) -> int:
        """What the number of units must be a multiple of."""
        return int(stated(self, CoreFacts).heads)

    def build(self, inputs: Space, rng: np.random.Generator) -> Core:
        """The weights that read, uniform in +- 1/sqrt(units), then layer after layer; scales of
        norms are one.
        """
        units = self.fitted(inputs.width) if self.units is None else self.units
        if units % self.multiple:
            raise UsageError(f"units must be a multiple of heads={self.multiple}, got {units}")
        embed = rng.uniform(-1.0, 1.0, (inputs.width, units)) / np.sqrt(units)
        layers = jax.tree.map(
            lambda *same: np.stack(same), *(self.mixer(units, rng) for _ in range(self.layers))
        )
        made = StoppingCore if self.stops and one_by_one() else LayeredCore
        built = made(InputWeights(embed, inputs), np.ones((self.layers + 1, units)), layers)
        single = handed_over(jax.tree.map(lambda leaf: np.asarray(leaf, np.float32), built))
        return at_precision(single, self.precision)  # type: ignore[no-any-return]

    def fitted(self, width: int) -> int:
        """The largest number of units whose parameters, with an output layer for as many symbols as
        it reads, do not exceed budget * width; at least the smallest that there is.
        """

        def fits(many: int) -> bool:
            units = many * self.multiple
            layer = sum(
                np.size(leaf)
                for leaf in jax.tree.leaves(self.mixer(units, np.random.default_rng(0)))
            )
            total = width * units + self.layers * (layer + units) + units + units * width + width
            return int(total) <= self.budget * width

        least, most = 1, 2
        while fits(most):
            least, most = most, 2 * most
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if fits(middle) else (least, middle)
        return least * self.multiple


class ShortConvolution(eqx.Module):
    """Every channel's last `TAPS` values, weighted: causal and depthwise. weights: (tap, channel),
    the newest last.

    State: the values before, (tap - 1, B, channel).
    """

    weights: Array
    bias: Array

    def start(self, batch: int) -> Array:
        """Nothing was read: zeros."""
        return jnp.zeros((TAPS - 1, batch, self.bias.size), self.bias.dtype)

    def step(self, state: Array, x: Array) -> tuple[Array, Array]:
        """One step x (B, channel)."""
        state, out = self.unroll(state, x[None])
        return state, out[0]

    def unroll(self, state: Array, xs: Array) -> tuple[Array, Array]:
        """Many steps xs (T, B, channel)."""
        seen = jnp.concatenate([state, xs])
        shifted = (seen[tap : tap + len(xs)] * self.weights[tap] for tap in range(TAPS))
        return seen[len(xs) :], sum(shifted, self.bias)


def draw_convolution(channels: int, rng: np.random.Generator) -> Any:
    """Weights and bias uniform in +- 1/sqrt(taps)."""
    bound = 1.0 / np.sqrt(TAPS)
    return ShortConvolution(
        rng.uniform(-bound, bound, (TAPS, channels)), rng.uniform(-bound, bound, channels)
    )


def draw_map(inputs: int, outputs: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(inputs, outputs) weights of a linear map, uniform in +- 1/sqrt(inputs)."""
    return np.asarray(rng.uniform(-1.0, 1.0, (inputs, outputs)) / np.sqrt(inputs))


def draw_pace(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Biases whose softplus is log-uniform in 0.001 to 0.1: the first sizes of a step in continuous
    time.
    """
    sizes = np.exp(rng.uniform(np.log(0.001), np.log(0.1), count))
    return np.asarray(sizes + np.log(-np.expm1(-sizes)))


def normed(x: Array) -> Array:
    """The last axis, divided by the root of its mean square."""
    return x * lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + SMALL)


def one_by_one() -> bool:
    """Whether steps are taken one after another, as on a CPU, where that is less work."""
    return device_kind() == "cpu"


def linear_scan(
    before: Any, keep: Any, new: Any, times: Callable[[Any, Any], Any] = operator.mul
) -> Any:
    """h_t = keep_t h_{t-1} + new_t for all t. before: h of the step before the first. times: the
    product, where numbers are not arrays but pairs of them.

    On a GPU all steps at once, by an associative scan: (a, b) then (c, d) are together (a c, b c +
    d), whichever pairs are put together first. On a CPU one after another, which is less work, also
    to compile.
    """

    def moved(keep: Any, state: Any, new: Any) -> Any:
        return jax.tree.map(jnp.add, times(keep, state), new)

    if one_by_one():

        def step(state: Any, given: tuple[Any, Any]) -> tuple[Any, Any]:
            state = moved(given[0], state, given[1])
            return state, state

        return lax.scan(step, before, (keep, new), unroll=4)[1]
    # The state before is one more thing that is added at the first step.
    first_keep, first_new = jax.tree.map(lambda leaf: leaf[0], (keep, new))
    first = moved(first_keep, before, first_new)
    new = jax.tree.map(lambda one, whole: jnp.concatenate([one[None], whole[1:]]), first, new)
    return lax.associative_scan(
        lambda one, two: (times(one[0], two[0]), moved(two[0], one[1], two[1])), (keep, new)
    )[1]


def in_chunks(
    chunk: Callable[[Any, Any], tuple[Any, Array]], state: Any, xs: Any, neutral: Any
) -> tuple[Any, Array]:
    """`chunk(state, xs)` on some steps at once, and so on from its state. xs: arrays (T, ...).

    neutral: of each, the value of a step that changes no state; with it the last chunk is filled
    up.
    """
    steps = len(jax.tree.leaves(xs)[0])
    if steps <= CHUNK:
        return chunk(state, xs)
    state, given = lax.scan(chunk, state, jax.tree.map(in_pieces, xs, neutral))
    return state, given.reshape(-1, *given.shape[2:])[:steps]


def in_pieces(array: Array, filler: float) -> Array:
    """Steps (T, ...) in chunks, (chunk, step, ...); the last is filled up."""
    count = -(-len(array) // CHUNK)
    margin = [(0, count * CHUNK - len(array))] + [(0, 0)] * (array.ndim - 1)
    return jnp.pad(array, margin, constant_values=filler).reshape(count, CHUNK, *array.shape[1:])
