"""Next-generation reservoir: the last inputs and their products, without any units or weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Space
from quickstudy.cores.core import PRECISIONS, Array, InputWeights, Reservoir, at_precision
from quickstudy.jax_gateway import eqx, jnp

MOST_FEATURES = 20_000
"""A readout of more does not fit: its squares alone are 3 GB."""


class PolynomialCore(Reservoir):
    """The state is the inputs of the last steps, (steps, batch, width), the latest last. products:
    for every degree (degree, monomials) the places of the factors among the delayed inputs.
    """

    vectors: InputWeights
    products: tuple[Array, ...]
    delays: int = eqx.field(static=True)
    stride: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        """The delayed inputs, and all their products."""
        return self._read_width * self.delays + sum(
            int(factors.shape[1]) for factors in self.products
        )

    @property
    def _read_width(self) -> int:
        return int(self.vectors.weights.shape[1])

    def start(self, batch: int, capacity: int) -> Array:
        """Nothing but zeros was read."""
        return jnp.zeros(
            (self.stride * (self.delays - 1), batch, self._read_width), self.vectors.weights.dtype
        )

    def step(self, state: Array, x: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """One more is read, one is forgotten."""
        kept = jnp.concatenate([state, self.vectors(x)[None]])
        return kept[1:], self._features(kept[:: self.stride])

    def unroll(self, state: Array, xs: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """All steps at once: nothing is carried on but inputs."""
        kept = jnp.concatenate([state, self.vectors(xs)])
        steps = len(kept) - len(state)
        shifted = [
            kept[delay * self.stride : delay * self.stride + steps] for delay in range(self.delays)
        ]
        return kept[steps:], self._features(jnp.stack(shifted))

    def _features(self, delayed: Array) -> Array:
        """(..., batch, feature) of inputs (delay, ..., batch, width), the latest last."""
        flat = jnp.concatenate(list(delayed[::-1]), axis=-1)
        parts = [flat]
        for factors in self.products:
            product = flat[..., factors[0]]
            for row in factors[1:]:
                product = product * flat[..., row]
            parts.append(product)
        return jnp.concatenate(parts, axis=-1)


@core("ngrc", version=1)
@dataclass(frozen=True)
class NextGeneration:
    """Next-generation reservoir: delayed inputs and their monomials as features; not trained.

    Inputs before the first step count as 0.

    Source: Gauthier et al. 2021 (two delays; quadratic for Lorenz '63, cubic for the double
        scroll).

    Parameters
    ----------
    delays:
        Number of past inputs, including the current one.
    stride:
        Steps between two of them.
    degrees:
        Degrees of the monomials: 2 for quadratic, 2/3 for quadratic and cubic. The delayed inputs
        themselves are always features.
    precision:
        float32 or float64.
    """

    delays: int = parameter(2, at_least=1)
    stride: int = parameter(1, at_least=1)
    degrees: tuple[int, ...] = (2,)
    precision: str = parameter("float32", choices=PRECISIONS)

    frozen: ClassVar[bool] = True
    draws: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    # A system of order 10 is followed by what was read 10 steps ago.
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {"reals": {"precision": "float64"}}

    def __post_init__(self) -> None:
        if any(not 2 <= degree <= 6 for degree in self.degrees) or len(set(self.degrees)) < len(
            self.degrees
        ):
            raise ValueError(
                f"degrees must be different whole numbers from 2 to 6, got {self.degrees}"
            )

    def build(self, inputs: Space, rng: np.random.Generator) -> PolynomialCore:
        """Nothing is drawn. Raises UsageError for more features than a readout can have."""
        places = inputs.width * self.delays
        total = places + sum(_monomials(places, degree) for degree in self.degrees)
        if total > MOST_FEATURES:
            raise UsageError(
                f"ngrc: {places} delayed inputs have {total:,} features, more than"
                f" {MOST_FEATURES:,}; give fewer delays or lower degrees"
            )
        products = tuple(
            jnp.asarray(
                np.array(list(combinations_with_replacement(range(places), degree)), np.int32).T
            )
            for degree in self.degrees
        )
        vectors = InputWeights(jnp.eye(inputs.width), inputs)
        return at_precision(  # type: ignore[no-any-return]
            PolynomialCore(vectors, products, self.delays, self.stride), self.precision
        )


def _monomials(places: int, degree: int) -> int:
    """How many there are of a degree in so many variables.

    >>> _monomials(6, 2)
    21
    """
    found = 1
    for step in range(degree):
        found = found * (places + step) // (step + 1)
    return found
