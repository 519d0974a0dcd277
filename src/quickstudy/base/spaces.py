"""What goes in and what comes out: the kinds of value that a learner reads or gives at one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
