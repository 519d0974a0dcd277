"""A plain recurrent layer (Elman 1990)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quickstudy.base.catalogue import core
from quickstudy.cores.core import Array
from quickstudy.cores.packed import Cell, States
from quickstudy.cores.recurrent import RecurrentCore, RecurrentLayer
from quickstudy.gateway import jnp


def _forward(product: Array, before: States, drive: Array) -> tuple[States, tuple[Array]]:
    hidden = jnp.tanh(drive + product)
    return (hidden,), (hidden,)


def _backward(gradients: States, kept: tuple[Array], before: States) -> tuple[tuple[Array], States]:
    return (gradients[0] * (1.0 - kept[0] * kept[0]),), (jnp.zeros_like(gradients[0]),)


class ElmanCore(RecurrentCore):
    """h <- tanh(W x + R h + b). State: h."""

    cell: ClassVar[Cell] = Cell(_forward, _backward)


@core("rnn", version=1)
@dataclass(frozen=True)
class RNN(RecurrentLayer):
    """Plain recurrent network: one tanh layer, trained by backpropagation.

    units: size; none fits it to a budget of parameters. budget: trained weights per input symbol that `none` fits to:
    1,800, the number a reservoir of 1,800 features trains for each symbol. sizing: `matched` counts all parameters of
    this network and of an output layer for as many symbols as it reads; `written` leaves the biases out of the count,
    as the paper does; `published` repeats the formula of the published programs, whose slip of sign makes the network
    up to twice as large as meant.
    precision: float32, or float64 for the same first weights in double precision.

    Weights are uniform in +- 1/sqrt(units), with two bias vectors. Source: Cisneros et al. 2022.
    """

    gates: ClassVar[int] = 1
    core: ClassVar[type[RecurrentCore]] = ElmanCore
