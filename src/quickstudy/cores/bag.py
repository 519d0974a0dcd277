"""Bag of words: which symbols have been read, in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Fields, Reals, Space, Tokens
from quickstudy.cores.core import Array, Capabilities, Reservoir
from quickstudy.cores.quantiser import even_levels, has_reals, one_of_parts
from quickstudy.cores.reca import coded_width
from quickstudy.jax_gateway import eqx, jax, jnp


class BagCore(Reservoir):
    """State: (B, symbols), 1 for every symbol or bit that has been read. Features: the same, over
    how many they are.

    levels: where real numbers are cut.
    """

    space: Space = eqx.field(static=True)
    levels: tuple[float, ...] = eqx.field(static=True, default=())

    @property
    def width(self) -> int:
        """One feature per symbol or bit, or part of a real number."""
        return coded_width(self.space, len(self.levels) + 1)

    @property
    def capabilities(self) -> Capabilities:
        """The published linear model starts next to zero: a hundredth of 1/sqrt(symbols)."""
        return replace(super().capabilities, head_bounds=(0.01 / np.sqrt(self.width),) * 2)

    def start(self, batch: int, capacity: int) -> Array:
        """Nothing read."""
        return jnp.zeros((batch, self.width))

    def step(self, state: Array, x: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """Put one input into the bag."""
        state = jnp.maximum(state, _indicator(self.space, x, np.array(self.levels)))
        return state, state / jnp.maximum(state.sum(axis=-1, keepdims=True), 1.0)


def _indicator(space: Space, x: Any, levels: NDArray[np.float64]) -> Array:
    """(..., width): 1 for the symbol that is read, or the bits that are on, or the part that a
    number lies in.
    """
    if isinstance(space, Tokens):
        return jax.nn.one_hot(x, space.size)
    if isinstance(space, Fields):
        return jnp.concatenate(
            [_indicator(part, x[name], levels) for name, part in space.parts], axis=-1
        )
    if isinstance(space, Reals):
        return one_of_parts(space, x, levels)
    return jnp.asarray(x, jnp.float32)


@core("bag", version=1)
@dataclass(frozen=True)
class BagOfWords:
    """Bag of words: indicators of the different symbols read so far, divided by their number; not
    trained.

    Order and repetition are lost: with a linear readout it shows what can be learned from the set
    of words alone. Of bits, each that was 1 at some step counts. A real number counts as the
    interval that contains it. Nothing is random.

    Source: the linear model of Cisneros et al. 2022 on reviews.

    Parameters
    ----------
    levels:
        Number of thresholds that divide real numbers into intervals, evenly spaced from -`reach` to
        `reach`.
    reach:
        Largest threshold.
    """

    levels: int = parameter(15, at_least=1, added=True)
    reach: float = parameter(1.0, above=0, added=True)

    frozen: ClassVar[bool] = True
    draws: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def build(self, inputs: Space, rng: np.random.Generator) -> BagCore:
        """Nothing is drawn."""
        return BagCore(
            inputs,
            tuple(even_levels(self.levels, self.reach).tolist()) if has_reals(inputs) else (),
        )
