"""Values: some that are drawn from a space, some that do not lie in it; and whether two are equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.spaces import Bits, Fields, Space, Tokens
from quickstudy.testing.finding import Broken


def draw(space: Space, rng: np.random.Generator, leading: tuple[int, ...]) -> Any:
    """Values of a space with some axes in front: uniform tokens and bits, normal reals, a mapping of them.

    A single token is a plain integer, as worlds are given it.
    """
    if isinstance(space, Fields):
        return {name: draw(part, rng, leading) for name, part in space.parts}
    if isinstance(space, Tokens):
        return rng.integers(space.size, size=leading) if leading else int(rng.integers(space.size))
    if isinstance(space, Bits):
        return rng.integers(2, size=(*leading, space.width)).astype(np.float32)
    return rng.normal(size=(*leading, space.width)).astype(np.float32)


def check_names(name: str, values: Any, space: Space) -> None:
    """Broken unless a value has the parts that its space names, and no other."""
    if not isinstance(space, Fields):
        if isinstance(values, Mapping | tuple):
            raise Broken(f"{name} must be a value of {space}, got a {type(values).__name__}")
        return
    wanted = [part for part, _ in space.parts]
    if not isinstance(values, Mapping) or sorted(values) != sorted(wanted):
        found = f"a mapping with {', '.join(values)}" if isinstance(values, Mapping) else type(values).__name__
        raise Broken(f"{name} must be a mapping with {', '.join(wanted)} and nothing else, got {found}")


def as_bytes(value: Any) -> list[bytes]:
    """A value with all its parts, so that two can be compared to the last bit."""
    if isinstance(value, Mapping):
        return [part for name in sorted(value) for part in (name.encode(), *as_bytes(value[name]))]
    if isinstance(value, list | tuple):
        return [part for entry in value for part in as_bytes(entry)]
    array = np.asarray(value)
    return [repr(value).encode() if array.dtype.hasobject else array.tobytes()]


def check_equal(found: NDArray[Any], wanted: NDArray[Any], tolerance: float, complaint: str) -> None:
    """Broken unless arrays have equal shapes and numbers, within a tolerance relative to the largest of them."""
    if found.shape != wanted.shape:
        raise Broken(f"{complaint} (shapes {found.shape} and {wanted.shape})")
    largest = float(np.abs(found - wanted).max(initial=0.0))
    if not largest <= tolerance * max(1.0, float(np.abs(wanted).max(initial=0.0))):
        raise Broken(f"{complaint} (by up to {largest:.3g})")
