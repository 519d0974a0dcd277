"""Memories: what folds an input stream into features. The names needed to write a core can be
imported from here.
"""

from quickstudy.cores.core import (
    ABSENT,
    PRECISIONS,
    Array,
    Core,
    CoreSpec,
    InputWeights,
    Reservoir,
    at_precision,
)
from quickstudy.jax_gateway import eqx, jax, jnp, lax

__all__ = [
    "ABSENT",
    "PRECISIONS",
    "Array",
    "Core",
    "CoreSpec",
    "InputWeights",
    "Reservoir",
    "at_precision",
    "eqx",
    "jax",
    "jnp",
    "lax",
]
