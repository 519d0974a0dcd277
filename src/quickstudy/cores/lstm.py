"""Long short-term memory (Hochreiter and Schmidhuber 1997)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quickstudy.base.catalogue import core
from quickstudy.cores.core import Array
from quickstudy.cores.packed import Cell, States
from quickstudy.cores.recurrent import RecurrentCore, RecurrentLayer
from quickstudy.gateway import jax, jnp


def _forward(product: Array, before: States, drive: Array) -> tuple[States, tuple[Array, ...]]:
    i, f, g, o = jnp.split(drive + product, 4, axis=-1)
    i, f, g, o = jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)
    cell = f * before[1] + i * g
    squashed = jnp.tanh(cell)
    return (o * squashed, cell), (i, f, g, o, squashed)


def _backward(gradients: States, kept: tuple[Array, ...], before: States) -> tuple[tuple[Array, ...], States]:
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
    """Gates i, f, g, o: c <- sigmoid(f) c + sigmoid(i) tanh(g), h <- sigmoid(o) tanh(c). States: h, c."""

    cell: ClassVar[Cell] = Cell(_forward, _backward)
    memories: ClassVar[int] = 2


@core("lstm", version=1)
@dataclass(frozen=True)
class LSTM(RecurrentLayer):
    """Long short-term memory: one layer of gated units, trained by backpropagation.

    units: size; none fits it to a budget of parameters. budget: trained weights per input symbol that `none` fits to:
    1,800, the number a reservoir of 1,800 features trains for each symbol. sizing: `matched` counts all parameters of
    this network and of an output layer for as many symbols as it reads; `written` leaves the biases out of the count,
    as the paper does; `published` repeats the formula of the published programs, whose slip of sign makes the network
    about four times larger.
    precision: float32, or float64 for the same first weights in double precision.

    Weights are uniform in +- 1/sqrt(units), with two bias vectors. Source: Cisneros et al. 2022.
    """

    gates: ClassVar[int] = 4
    core: ClassVar[type[RecurrentCore]] = LongShortTermMemory
