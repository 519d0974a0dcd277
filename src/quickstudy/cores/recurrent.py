"""Recurrent layers trained by backpropagation: what they share; plain, gated, and with long
short-term memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import PRECISIONS, Array, Capabilities, Core, InputWeights, at_precision
from quickstudy.cores.packed import Cell, Drives, Phases, States, product, straight, unrolled
from quickstudy.jax_gateway import eqx, jax, jnp


class RecurrentCore(Core):
    """One layer. inputs: (width, gates units); recurrent: (units, gates units); bias: (2, gates
    units).

    There are `memories` states, zero at the start. straight: `unroll` is written out step
    by step, for short sequences on a GPU, where a turn of a loop takes longer than what is in it.
    """

    inputs: InputWeights
    recurrent: Array
    bias: Array
    units: int = eqx.field(static=True)
    straight: bool = eqx.field(static=True, default=False)

    cell: ClassVar[Cell]
    memories: ClassVar[int] = 1

    @property
    def width(self) -> int:
        """One feature per unit: h."""
        return self.units

    @property
    def capabilities(self) -> Capabilities:
        """Sequences may be packed."""
        return replace(super().capabilities, packs=True, straightens=True)

    @property
    def biases(self) -> tuple[Array, Array | None]:
        """The biases of the inputs' part and of the product, if that makes a difference."""
        return self.bias.sum(axis=0), None

    def start(self, batch: int, capacity: int) -> States:
        """Zeros."""
        return (jnp.zeros((batch, self.units), self.recurrent.dtype),) * self.memories

    def step(self, state: States, x: Any, *, key: Array | None = None) -> tuple[States, Array]:
        """One update; features are h."""
        outer, inner = self.biases
        state, _ = self.cell.forward(
            product(self.recurrent, inner, state), state, self.inputs(x) + outer
        )
        return state, state[0]

    def unroll(self, state: States, xs: Any, *, key: Array | None = None) -> tuple[States, Array]:
        """The same, with the input's part of all steps taken at once and a gradient made for the
        purpose.
        """
        outer, inner = self.biases
        drives = self.inputs(xs) + outer
        if self.straight:
            hiddens, state = straight(self.cell, self.recurrent, inner, state, drives)
            return state, hiddens
        steps, batch = drives.shape[:2]
        rows, phases = Drives(drives.reshape(steps * batch, -1)), Phases((batch,), (steps,))
        hiddens, state = unrolled(self.cell, phases, self.recurrent, inner, state, rows, None)
        return state, hiddens.reshape(steps, batch, -1)

    def unroll_packed(self, rows: tuple[int, ...], steps: Array, xs: Any) -> Array:
        """With one product a step for all sequences that still go on."""
        outer, inner = self.biases
        start, symbols = self.start(rows[0], 0), isinstance(self.inputs.space, Tokens)
        drives = (
            Drives(self.inputs.weights + outer, xs) if symbols else Drives(self.inputs(xs) + outer)
        )
        return unrolled(self.cell, Phases(rows), self.recurrent, inner, start, drives, steps)[0]


@dataclass(frozen=True)
class RecurrentLayer:
    """Parameters of all recurrent networks of one layer.

    Parameters
    ----------
    units:
        Number of hidden units; none fits it to `budget`.
    budget:
        Trained weights per input symbol that `units=none` fits the network to: 1,800, the number
        that a reservoir of 1,800 features trains per symbol.
    sizing:
        What `budget` counts. `matched`: all parameters of this network and of an output layer for
        as many symbols as it reads. `written`: the same without biases, as in the paper.
        `published`: the formula of the published programs.
    precision:
        float32, or float64 for the same initial weights in double precision.
    """

    units: int | None = parameter(None, at_least=1)
    budget: int = parameter(1800, at_least=1)
    sizing: str = parameter("matched", choices=("matched", "written", "published"))
    precision: str = parameter("float32", choices=PRECISIONS, added=True)

    frozen: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"sizing": "published"},
        "written": {"sizing": "written"},
    }
    # In a world that gives rewards every step is a call: a small layer takes no longer than none.
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {"reward": {"units": 64}}
    gates: ClassVar[int]
    core: ClassVar[type[RecurrentCore]]

    def build(self, inputs: Space, rng: np.random.Generator) -> RecurrentCore:
        """Weights in float32, drawn in the order input, recurrent, bias, uniform in +-
        1/sqrt(units).
        """
        units = self.units
        if units is None and self.sizing == "published":
            units = published_units(inputs.width, self.budget)
        elif units is None:
            units = matched_units(
                inputs.width, self.budget, self.gates, biases=self.sizing == "matched"
            )
        bound = 1.0 / np.sqrt(units)
        shapes = (
            (inputs.width, self.gates * units),
            (units, self.gates * units),
            (2, self.gates * units),
        )
        drawn = [jnp.asarray(rng.uniform(-bound, bound, shape), jnp.float32) for shape in shapes]
        built = self.core(InputWeights(drawn[0], inputs), drawn[1], drawn[2], units)
        return at_precision(built, self.precision)  # type: ignore[no-any-return]


def _rnn_forward(product: Array, before: States, drive: Array) -> tuple[States, tuple[Array]]:
    hidden = jnp.tanh(drive + product)
    return (hidden,), (hidden,)


def _rnn_backward(
    gradients: States, kept: tuple[Array], before: States
) -> tuple[tuple[Array], States]:
    return (gradients[0] * (1.0 - kept[0] * kept[0]),), (jnp.zeros_like(gradients[0]),)


class ElmanCore(RecurrentCore):
    """h <- tanh(W x + R h + b). State: h."""

    cell: ClassVar[Cell] = Cell(_rnn_forward, _rnn_backward)


@core("rnn", version=1)
@dataclass(frozen=True)
class RNN(RecurrentLayer):
    """Plain (Elman) recurrent network: one tanh layer, trained by backpropagation.

    Weights start uniform in +-1/sqrt(units), with two bias vectors. With `sizing=published` a sign
    error of the published formula makes the network up to twice as large as meant.

    Source: Cisneros et al. 2022.
    """

    gates: ClassVar[int] = 1
    core: ClassVar[type[RecurrentCore]] = ElmanCore


def _gru_forward(product: Array, before: States, drive: Array) -> tuple[States, Any]:
    (hidden,) = before
    reset, update, new = jnp.split(drive, 3, axis=-1)
    from_reset, from_update, from_new = jnp.split(product, 3, axis=-1)
    r, z = jax.nn.sigmoid(reset + from_reset), jax.nn.sigmoid(update + from_update)
    n = jnp.tanh(new + r * from_new)
    return ((1.0 - z) * n + z * hidden,), (r, z, n, from_new)


def _gru_backward(gradients: States, kept: Any, before: States) -> tuple[tuple[Array, ...], States]:
    (gradient,), (hidden,), (r, z, n, from_new) = gradients, before, kept
    new = gradient * (1.0 - z) * (1.0 - n * n)
    reset = new * from_new * r * (1.0 - r)
    update = gradient * (hidden - n) * z * (1.0 - z)
    return (reset, update, new), (gradient * z,)


def _gru_product_gradient(drive_gradient: tuple[Array, ...], kept: Any) -> tuple[Array, ...]:
    """As the drive's, but the new value's part comes through the reset gate."""
    reset, update, new = drive_gradient
    return reset, update, new * kept[0]


class GatedRecurrentUnits(RecurrentCore):
    """Gates r, z, n: n = tanh(W x + b + r (R h + c)), h <- (1 - z) n + z h, with r and z sigmoids.
    State: h.
    """

    cell: ClassVar[Cell] = Cell(_gru_forward, _gru_backward, _gru_product_gradient)

    @property
    def biases(self) -> tuple[Array, Array | None]:
        """One each: the second is inside the reset gate's product."""
        return self.bias[0], self.bias[1]


@core("gru", version=1)
@dataclass(frozen=True)
class GRU(RecurrentLayer):
    """Gated recurrent units: one layer with reset and update gates, trained by backpropagation.

    The reset gate multiplies the recurrent product with its bias, as in PyTorch. Weights start
    uniform in +-1/sqrt(units), with two bias vectors. With `sizing=published` a sign error of the
    published formula for other recurrent networks makes the network about three times larger than
    meant.

    Source: Cho et al. 2014; Cisneros et al. 2022 use it on reviews.
    """

    gates: ClassVar[int] = 3
    core: ClassVar[type[RecurrentCore]] = GatedRecurrentUnits


def _lstm_forward(product: Array, before: States, drive: Array) -> tuple[States, tuple[Array, ...]]:
    i, f, g, o = jnp.split(drive + product, 4, axis=-1)
    i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
    cell = f * before[1] + i * g
    squashed = jnp.tanh(cell)
    return (o * squashed, cell), (i, f, g, o, squashed)


def _lstm_backward(
    gradients: States, kept: tuple[Array, ...], before: States
) -> tuple[tuple[Array, ...], States]:
    i, f, g, o, squashed = kept
    hidden_gradient, cell_gradient = gradients
    cell_gradient = cell_gradient + hidden_gradient * o * (1.0 - squashed * squashed)
    drive_gradient = (
        cell_gradient * g * i * (1.0 - i),
        cell_gradient * before[1] * f * (1.0 - f),
        cell_gradient * i * (1.0 - g * g),
        hidden_gradient * squashed * o * (1.0 - o),
    )
    return drive_gradient, (jnp.zeros_like(hidden_gradient), cell_gradient * f)


class LongShortTermMemory(RecurrentCore):
    """Gates i, f, g, o: c <- sigmoid(f) c + sigmoid(i) tanh(g), h <- sigmoid(o) tanh(c). States: h,
    c.
    """

    cell: ClassVar[Cell] = Cell(_lstm_forward, _lstm_backward)
    memories: ClassVar[int] = 2


@core("lstm", version=1)
@dataclass(frozen=True)
class LSTM(RecurrentLayer):
    """Long short-term memory: one layer of gated units, trained by backpropagation.

    Weights start uniform in +-1/sqrt(units), with two bias vectors. With `sizing=published` a sign
    error of the published formula makes the network about four times larger than meant.

    Source: Hochreiter and Schmidhuber 1997, with forget gates; sizes of Cisneros et al. 2022.
    """

    gates: ClassVar[int] = 4
    core: ClassVar[type[RecurrentCore]] = LongShortTermMemory


def matched_units(width: int, budget: int, gates: int, biases: bool = True) -> int:
    """The largest size whose parameters, output layer included, do not exceed budget * width (at
    least 1).

    A network with `gates` gates (1 for a plain recurrent layer, 4 for an LSTM), two bias vectors,
    `width` inputs and `width` outputs has gates (h^2 + h width + 2 h) + h width + width parameters.
    Without biases, which the publication does not count, there are gates (h^2 + h width) + h width.

    >>> matched_units(16, 1800, gates=1), matched_units(16, 1800, gates=1, biases=False)
    (153, 154)
    """
    linear = gates * (width + 2 * biases) + width
    constant = width * biases - budget * width
    units = int((-linear + math.sqrt(linear * linear - 4 * gates * constant)) / (2 * gates))
    return max(1, units)


def published_units(width: int, budget: int) -> int:
    """The published programs' size: the root of h^2 + 2 h width = budget * width, with a slip in
    the first sign.

    >>> [published_units(width, 1800) for width in (2, 15, 18, 16, 25, 29, 45, 38, 51)]
    [62, 180, 198, 186, 238, 259, 333, 302, 358]
    """
    return int((2 * width + math.sqrt(4 * width * width + 4 * budget * width)) / 2)
