"""What recurrent layers share: their weights, their sizes, and a gradient that costs one product per sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Space
from quickstudy.cores.core import Array, Core, InputWeights
from quickstudy.cores.sizing import matched_units, published_units
from quickstudy.gateway import eqx, jax, jnp, lax

States: TypeAlias = tuple[Array, ...]
"""(B, units) each; the first is h, which is the features and goes through the recurrent weights."""


@dataclass(frozen=True)
class Cell:
    """The part of a layer that works unit by unit. Products h R (plus a bias, if there is one) come from outside.

    forward(product, before, drive) gives the states after the step, and what `backward` wants kept.
    backward(gradients, kept, before, after) gives the gradients of the drive and of the states before, those through
    the product apart. product_gradient(drive gradient, kept) gives that of the product.
    """

    forward: Callable[[Array, States, Array], tuple[States, Any]]
    backward: Callable[[States, Any, States, States], tuple[Array, States]]
    product_gradient: Callable[[Array, Any], Array] = lambda drive_gradient, kept: drive_gradient


class RecurrentCore(Core):
    """One layer. inputs: (width, gates units); recurrent: (units, gates units); bias: (2, gates units).

    States are as many as `memories` says, zero at the start.
    """

    inputs: InputWeights
    recurrent: Array
    bias: Array
    units: int = eqx.field(static=True)

    cell: ClassVar[Cell]
    memories: ClassVar[int] = 1

    @property
    def width(self) -> int:
        """One feature per unit: h."""
        return self.units

    @property
    def biases(self) -> tuple[Array, Array | None]:
        """What is added to the inputs' part, and what to the product, if that makes a difference."""
        return self.bias.sum(axis=0), None

    def start(self, batch: int, capacity: int) -> States:
        """Zeros."""
        return (jnp.zeros((batch, self.units), self.recurrent.dtype),) * self.memories

    def step(self, state: States, x: Any, *, key: Array | None = None) -> tuple[States, Array]:
        """One update; features are h."""
        outer, inner = self.biases
        state, _ = self.cell.forward(_product(self.recurrent, inner, state), state, self.inputs(x) + outer)
        return state, state[0]

    def unroll(self, state: States, xs: Any, *, key: Array | None = None) -> tuple[States, Array]:
        """The same, with the input's part of all steps taken at once and a gradient made for the purpose."""
        outer, inner = self.biases
        hiddens, state = _unroll(self.cell, self.recurrent, inner, state, self.inputs(xs) + outer)
        return state, hiddens


def _product(recurrent: Array, bias: Array | None, state: States) -> Array:
    return state[0] @ recurrent if bias is None else state[0] @ recurrent + bias


def _run(cell: Cell, recurrent: Array, bias: Array | None, start: States, drives: Array) -> tuple[Any, Any]:
    def step(state: States, drive: Array) -> Any:
        state, kept = cell.forward(_product(recurrent, bias, state), state, drive)
        return state, (state, kept)

    last, (states, kept) = lax.scan(step, start, drives)
    return (states[0], last), (recurrent, bias, start, states, kept)


def _backpropagate(cell: Cell, saved: Any, gradients: Any) -> Any:
    """Backpropagation through time. The scan carries only the states' gradients; the weights' is one product after it.

    Reverse mode through `lax.scan` would add a (units, gates units) matrix at every step instead: most of the time.
    """
    recurrent, bias, start, states, kept = saved
    before = jax.tree.map(lambda first, all: jnp.concatenate([first[None], all[:-1]]), start, states)

    def step(carry: States, now: Any) -> Any:
        from_above, kept, before, after = now
        drive, others = cell.backward((carry[0] + from_above, *carry[1:]), kept, before, after)
        through = cell.product_gradient(drive, kept) @ recurrent.T
        return (others[0] + through, *others[1:]), drive

    start_gradients, drives = lax.scan(step, gradients[1], (gradients[0], kept, before, states), reverse=True)
    products = cell.product_gradient(drives, kept).reshape(-1, recurrent.shape[1])
    weights = before[0].reshape(-1, recurrent.shape[0]).T @ products
    return weights, None if bias is None else products.sum(axis=0), start_gradients, drives


_unroll = jax.custom_vjp(lambda *given: _run(*given)[0], nondiff_argnums=(0,))
_unroll.defvjp(_run, _backpropagate)


@dataclass(frozen=True)
class RecurrentLayer:
    """Parameters that all recurrent layers have. gates: blocks of weights per unit. core: the class that is built."""

    units: int | None = parameter(None, at_least=1)
    budget: int = parameter(1800, at_least=1)
    sizing: str = parameter("matched", choices=("matched", "published"))

    frozen: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"sizing": "published"}}
    gates: ClassVar[int]
    core: ClassVar[type[RecurrentCore]]

    def build(self, inputs: Space, rng: np.random.Generator) -> RecurrentCore:
        """Weights in float32, drawn in the order input, recurrent, bias, uniform in +- 1/sqrt(units)."""
        units = self.units
        if units is None and self.sizing == "published":
            units = published_units(inputs.width, self.budget)
        elif units is None:
            units = matched_units(inputs.width, self.budget, self.gates)
        bound = 1.0 / np.sqrt(units)
        shapes = (inputs.width, self.gates * units), (units, self.gates * units), (2, self.gates * units)
        drawn = [jnp.asarray(rng.uniform(-bound, bound, shape), jnp.float32) for shape in shapes]
        return self.core(InputWeights(drawn[0], inputs), drawn[1], drawn[2], units)
