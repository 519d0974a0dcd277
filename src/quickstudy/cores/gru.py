"""Gated recurrent units (Cho et al. 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.catalogue import core
from quickstudy.cores.core import Array
from quickstudy.cores.packed import Cell, States
from quickstudy.cores.recurrent import RecurrentCore, RecurrentLayer
from quickstudy.gateway import jax, jnp


def _forward(product: Array, before: States, drive: Array) -> tuple[States, Any]:
    (hidden,) = before
    reset, update, new = jnp.split(drive, 3, axis=-1)
    from_reset, from_update, from_new = jnp.split(product, 3, axis=-1)
    r, z = jax.nn.sigmoid(reset + from_reset), jax.nn.sigmoid(update + from_update)
    n = jnp.tanh(new + r * from_new)
    return ((1.0 - z) * n + z * hidden,), (r, z, n, from_new)


def _backward(gradients: States, kept: Any, before: States) -> tuple[tuple[Array, ...], States]:
    (gradient,), (hidden,), (r, z, n, from_new) = gradients, before, kept
    new = gradient * (1.0 - z) * (1.0 - n * n)
    reset = new * from_new * r * (1.0 - r)
    update = gradient * (hidden - n) * z * (1.0 - z)
    return (reset, update, new), (gradient * z,)


def _product_gradient(drive_gradient: tuple[Array, ...], kept: Any) -> tuple[Array, ...]:
    """As the drive's, but the new value's part comes through the reset gate."""
    reset, update, new = drive_gradient
    return reset, update, new * kept[0]


class GatedRecurrentUnits(RecurrentCore):
    """Gates r, z, n: n = tanh(W x + b + r (R h + c)), h <- (1 - z) n + z h, with r and z sigmoids. State: h."""

    cell: ClassVar[Cell] = Cell(_forward, _backward, _product_gradient)

    @property
    def biases(self) -> tuple[Array, Array | None]:
        """One each: the second is inside the reset gate's product."""
        return self.bias[0], self.bias[1]


@core("gru", version=1)
@dataclass(frozen=True)
class GRU(RecurrentLayer):
    """Gated recurrent units: one layer that resets and updates its memory, trained by backpropagation.

    units: size; none fits it to a budget of parameters. budget: trained weights per input symbol that `none` fits to:
    1,800, the number a reservoir of 1,800 features trains for each symbol. sizing: `matched` counts all parameters of
    this network and of an output layer for as many symbols as it reads; `written` leaves the biases out of the count,
    as the paper does; `published` repeats the formula of the published programs for their other recurrent networks,
    whose slip of sign makes the network about three times larger.
    precision: float32, or float64 for the same first weights in double precision.

    The reset gate acts on the recurrent product with its bias, as in PyTorch. Weights are uniform in
    +- 1/sqrt(units), with two bias vectors. Source: Cho et al. 2014; Cisneros et al. 2022 use it on reviews.
    """

    gates: ClassVar[int] = 3
    core: ClassVar[type[RecurrentCore]] = GatedRecurrentUnits
