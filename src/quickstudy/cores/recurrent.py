"""What recurrent layers share: their weights and their sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import PRECISIONS, Array, Core, InputWeights, at_precision
from quickstudy.cores.packed import Cell, Drives, Phases, States, product, unrolled
from quickstudy.cores.sizing import matched_units, published_units
from quickstudy.gateway import eqx, jnp


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
        state, _ = self.cell.forward(product(self.recurrent, inner, state), state, self.inputs(x) + outer)
        return state, state[0]

    def unroll(self, state: States, xs: Any, *, key: Array | None = None) -> tuple[States, Array]:
        """The same, with the input's part of all steps taken at once and a gradient made for the purpose."""
        outer, inner = self.biases
        drives = self.inputs(xs) + outer
        steps, batch = drives.shape[:2]
        rows = Drives(drives.reshape(steps * batch, -1))
        hiddens, state = unrolled(self.cell, Phases((batch,), (steps,)), self.recurrent, inner, state, rows, None)
        return state, hiddens.reshape(steps, batch, -1)

    def unroll_packed(self, rows: tuple[int, ...], steps: Array, xs: Any) -> Array:
        """Features (N, F) of sequences of different lengths, from the start, with no padding between them.

        The first `rows[0]` inputs of xs (N, ...) are step 0 of all sequences, longest first; and so on for `steps[0]`
        steps. Then `rows[1]` of the sequences, the longest, go on for `steps[1]` steps; and so on. steps: an array: one
        program for all lengths. Features behind the last step are zero.
        """
        outer, inner = self.biases
        start, symbols = self.start(rows[0], 0), isinstance(self.inputs.space, Tokens)
        drives = Drives(self.inputs.weights + outer, xs) if symbols else Drives(self.inputs(xs) + outer)
        return unrolled(self.cell, Phases(rows), self.recurrent, inner, start, drives, steps)[0]


@dataclass(frozen=True)
class RecurrentLayer:
    """Parameters that all recurrent layers have. gates: blocks of weights per unit. core: the class that is built.

    precision: float32, or float64: the same first weights, computed with in double precision.
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
    gates: ClassVar[int]
    core: ClassVar[type[RecurrentCore]]

    def build(self, inputs: Space, rng: np.random.Generator) -> RecurrentCore:
        """Weights in float32, drawn in the order input, recurrent, bias, uniform in +- 1/sqrt(units)."""
        units = self.units
        if units is None and self.sizing == "published":
            units = published_units(inputs.width, self.budget)
        elif units is None:
            units = matched_units(inputs.width, self.budget, self.gates, biases=self.sizing == "matched")
        bound = 1.0 / np.sqrt(units)
        shapes = (inputs.width, self.gates * units), (units, self.gates * units), (2, self.gates * units)
        drawn = [jnp.asarray(rng.uniform(-bound, bound, shape), jnp.float32) for shape in shapes]
        built = self.core(InputWeights(drawn[0], inputs), drawn[1], drawn[2], units)
        return at_precision(built, self.precision)  # type: ignore[no-any-return]
