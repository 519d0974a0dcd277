"""What goes in and what comes out: the kinds of value that a learner reads or gives at one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


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


@dataclass(frozen=True)
class Fields:
    """Several named values at once, such as a stimulus, a message and a role. Values are mappings by name."""

    parts: Mapping[str, Space]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", MappingProxyType(dict(self.parts)))

    @property
    def width(self) -> int:
        """Length of all the parts written side by side, each token one-hot."""
        return sum(part.width for part in self.parts.values())


Space = Tokens | Reals | Bits | Fields
