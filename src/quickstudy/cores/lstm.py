"""Long short-term memory (Hochreiter and Schmidhuber 1997); the weights' gradient costs one product per sequence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.catalogue import core
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Space
from quickstudy.cores.core import Array, Core, InputWeights
from quickstudy.cores.sizing import matched_units, published_units
from quickstudy.gateway import eqx, jax, jnp, lax


class LongShortTermMemory(Core):
    """Gates i, f, g, o: c <- sigmoid(f) c + sigmoid(i) tanh(g), h <- sigmoid(o) tanh(c). State: (h, c), (B, units).

    inputs: (width, 4 units); recurrent: (units, 4 units); bias: (2, 4 units), whose sum counts.
    """

    inputs: InputWeights
    recurrent: Array
    bias: Array
    units: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        """One feature per unit: h."""
        return self.units

    def start(self, batch: int, capacity: int) -> tuple[Array, Array]:
        """Zeros."""
        zeros = jnp.zeros((batch, self.units), self.recurrent.dtype)
        return zeros, zeros

    def step(self, state: tuple[Array, Array], x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """One update; features are h."""
        drive = self.inputs(x) + self.bias.sum(axis=0)
        hidden, cell, _ = _cell(self.recurrent, state[0], state[1], drive)
        return (hidden, cell), hidden

    def unroll(self, state: tuple[Array, Array], xs: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """The same, with the input's part of all steps taken at once and a gradient made for the purpose."""
        drives = self.inputs(xs) + self.bias.sum(axis=0)
        hiddens, hidden, cell = _unroll(self.recurrent, state[0], state[1], drives)
        return (hidden, cell), hiddens


def _cell(recurrent: Array, hidden: Array, cell: Array, drive: Array) -> tuple[Array, Array, Array]:
    i, f, g, o = jnp.split(drive + hidden @ recurrent, 4, axis=-1)
    gates = jnp.concatenate([jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)], axis=-1)
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    cell = f * cell + i * g
    return o * jnp.tanh(cell), cell, gates


@jax.custom_vjp
def _unroll(recurrent: Array, hidden: Array, cell: Array, drives: Array) -> Any:
    return _forward(recurrent, hidden, cell, drives)[0]


def _forward(recurrent: Array, hidden: Array, cell: Array, drives: Array) -> tuple[Any, Any]:
    def step(carry: Any, drive: Array) -> Any:
        hidden, cell, gates = _cell(recurrent, carry[0], carry[1], drive)
        return (hidden, cell), (hidden, cell, gates)

    (last_hidden, last_cell), (hiddens, cells, gates) = lax.scan(step, (hidden, cell), drives)
    return (hiddens, last_hidden, last_cell), (recurrent, hidden, cell, hiddens, cells, gates)


def _backward(saved: Any, gradients: Any) -> Any:
    """Backpropagation through time. The scan carries only the state's gradient; the weights' is one product after it.

    Reverse mode through `lax.scan` would add a (units, 4 units) matrix at every step instead: most of the time.
    """
    recurrent, hidden, cell, hiddens, cells, gates = saved
    hiddens_gradient, hidden_gradient, cell_gradient = gradients
    cells_before = jnp.concatenate([cell[None], cells[:-1]])
    hiddens_before = jnp.concatenate([hidden[None], hiddens[:-1]])

    def step(carry: Any, now: Any) -> Any:
        hidden_gradient, cell_gradient = carry
        from_above, gates, cell, cell_before = now
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        squashed = jnp.tanh(cell)
        hidden_gradient = hidden_gradient + from_above
        cell_gradient = cell_gradient + hidden_gradient * o * (1.0 - squashed * squashed)
        drive_gradient = jnp.concatenate(
            [
                cell_gradient * g * i * (1.0 - i),
                cell_gradient * cell_before * f * (1.0 - f),
                cell_gradient * i * (1.0 - g * g),
                hidden_gradient * squashed * o * (1.0 - o),
            ],
            axis=-1,
        )
        return (drive_gradient @ recurrent.T, cell_gradient * f), drive_gradient

    (hidden_gradient, cell_gradient), drive_gradients = lax.scan(
        step, (hidden_gradient, cell_gradient), (hiddens_gradient, gates, cells, cells_before), reverse=True
    )
    flat = (-1, recurrent.shape[0]), (-1, recurrent.shape[1])
    recurrent_gradient = hiddens_before.reshape(flat[0]).T @ drive_gradients.reshape(flat[1])
    return recurrent_gradient, hidden_gradient, cell_gradient, drive_gradients


_unroll.defvjp(_forward, _backward)


@core("lstm", version=1)
@dataclass(frozen=True)
class LSTM:
    """Long short-term memory: one layer of gated units, trained by backpropagation.

    units: size; none fits it to a budget of parameters. budget: trained weights per input symbol that `none` fits to:
    1,800, the number a reservoir of 1,800 features trains for each symbol. sizing: `matched` counts all parameters
    of this network and its output layer; `published` repeats the formula of the published programs, whose slip of
    sign makes the network about four times larger.

    Weights are uniform in +- 1/sqrt(units), with two bias vectors. Source: Cisneros et al. 2022.
    """

    units: int | None = parameter(None, at_least=1)
    budget: int = parameter(1800, at_least=1)
    sizing: str = parameter("matched", choices=("matched", "published"))

    frozen: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"sizing": "published"}}

    def build(self, inputs: Space, rng: np.random.Generator) -> LongShortTermMemory:
        """Weights in float32, drawn in the order input, recurrent, bias."""
        units = self.units
        if units is None and self.sizing == "published":
            units = published_units(inputs.width, self.budget)
        elif units is None:
            units = matched_units(inputs.width, self.budget, gates=4)
        bound = 1.0 / np.sqrt(units)
        shapes = (inputs.width, 4 * units), (units, 4 * units), (2, 4 * units)
        drawn = [jnp.asarray(rng.uniform(-bound, bound, shape), jnp.float32) for shape in shapes]
        return LongShortTermMemory(InputWeights(drawn[0], inputs), drawn[1], drawn[2], units)
