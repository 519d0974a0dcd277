"""What goes in and what comes out: the kinds of value that a learner reads or gives at one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tokens:
    """One symbol out of `size`, written as an integer 0 .. size-1."""

    size: int

    @property
    def width(self) -> int:
        """Length of the same value written as a one-hot vector."""
        return self.size


@dataclass(frozen=True)
class Reals:
    """A vector of `width` real numbers."""

    width: int


@dataclass(frozen=True)
class Bits:
    """A vector of `width` zeros and ones, each on its own (a multi-hot vector)."""

    width: int


@dataclass(frozen=True, init=False)
class Fields:
    """Several named values at once, such as a stimulus, a message and a role. Values are mappings by name."""

    parts: tuple[tuple[str, Space], ...]

    def __init__(self, parts: Mapping[str, Space]) -> None:
        object.__setattr__(self, "parts", tuple(parts.items()))

    @property
    def width(self) -> int:
        """Length of all the parts written side by side, each token one-hot."""
        return sum(part.width for _, part in self.parts)


Space = Tokens | Reals | Bits | Fields

_SIMPLE: dict[str, type[Tokens] | type[Reals] | type[Bits]] = {"tokens": Tokens, "reals": Reals, "bits": Bits}


def space_facts(space: Space) -> dict[str, Any]:
    """A space in plain JSON types: {"tokens": 16}, {"reals": 3}, {"fields": [["stimulus", {"reals": 3}], ...]}."""
    if isinstance(space, Fields):
        return {"fields": [[name, space_facts(part)] for name, part in space.parts]}
    return {type(space).__name__.lower(): space.width}


def space_from_facts(facts: Mapping[str, Any]) -> Space:
    """The inverse of `space_facts`."""
    ((kind, value),) = facts.items()
    if kind == "fields":
        return Fields({name: space_from_facts(part) for name, part in value})
    return _SIMPLE[kind](value)
