"""Real numbers for cores that read symbols: each is cut at evenly spaced levels, and the parts are
the symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.spaces import Bits, Fields, Reals, Space, Tokens
from quickstudy.cores.core import Array
from quickstudy.jax_gateway import jax, jnp

MOST_SYMBOLS = 64
"""That several values at once may become. Where their combinations are more, they share `PRIME`
symbols.
"""
PRIME = 61


def has_reals(space: Space) -> bool:
    """Whether real numbers are among what is read."""
    if isinstance(space, Fields):
        return any(has_reals(part) for _, part in space.parts)
    return isinstance(space, Reals)


def even_levels(levels: int, reach: float) -> NDArray[np.float64]:
    """So many levels, evenly between -reach and reach.

    >>> even_levels(3, 1.0).tolist()
    [-0.5, 0.0, 0.5]
    """
    return np.asarray(np.linspace(-reach, reach, levels + 2)[1:-1])


def symbols_in(space: Space, levels: int) -> int:
    """How many symbols a value becomes one of, at so many levels of a real number."""
    count = int(np.prod(np.array(_sizes(space, levels), dtype=float)))
    return count if isinstance(space, Tokens) or count <= MOST_SYMBOLS else PRIME


def as_symbol(space: Space, x: Any, levels: NDArray[np.float64]) -> Array:
    """(...): a value as one symbol, `symbols_in` of them. One number is the part that it lies in,
    several are all their parts together; where these combinations are too many, by a fixed
    remainder, so that different ones may share a symbol.
    """
    if isinstance(space, Tokens):
        return jnp.asarray(x)
    parts, sizes = _parts(space, x, levels), _sizes(space, len(levels))
    whole = symbols_in(space, len(levels))
    exact = int(np.prod(np.array(sizes, dtype=float))) == whole
    number, factor = jnp.zeros(parts[0].shape, jnp.int32), 1
    for part, size in zip(parts, sizes, strict=True):
        number = (number + part * factor) % (whole if not exact else 1 << 30)
        factor = factor * size if exact else factor * (size + 1) % PRIME or 1
    return number


def one_of_parts(space: Space, x: Any, levels: NDArray[np.float64]) -> Array:
    """(..., width x (levels + 1)): of every real number, 1 for the part that it lies in."""
    part = jnp.searchsorted(jnp.asarray(levels, jnp.float32), jnp.asarray(x, jnp.float32))
    return jax.nn.one_hot(part, len(levels) + 1).reshape(*part.shape[:-1], -1)


def _sizes(space: Space, levels: int) -> list[int]:
    if isinstance(space, Fields):
        return [size for _, part in space.parts for size in _sizes(part, levels)]
    if isinstance(space, Tokens):
        return [space.size]
    return [2 if isinstance(space, Bits) else levels + 1] * space.width


def _parts(space: Space, x: Any, levels: NDArray[np.float64]) -> list[Array]:
    if isinstance(space, Fields):
        return [one for name, part in space.parts for one in _parts(part, x[name], levels)]
    if isinstance(space, Tokens):
        return [jnp.asarray(x, jnp.int32)]
    cuts = np.array([0.5]) if isinstance(space, Bits) else levels
    found = jnp.searchsorted(jnp.asarray(cuts, jnp.float32), jnp.asarray(x, jnp.float32)).astype(
        jnp.int32
    )
    return [found[..., place] for place in range(space.width)]
