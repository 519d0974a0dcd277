"""What goes in and what comes out: the kinds of value that a learner reads or gives at one step,
and how its scores are to be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, NotApplicable


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
    """Several named values at once, such as a stimulus, a message and a role. Values are mappings
    by name.
    """

    parts: tuple[tuple[str, Space], ...]

    def __init__(self, parts: Mapping[str, Space]) -> None:
        object.__setattr__(self, "parts", tuple(parts.items()))

    @property
    def width(self) -> int:
        """Length of all the parts written side by side, each token one-hot."""
        return sum(part.width for _, part in self.parts)


Space = Tokens | Reals | Bits | Fields

WORDS: dict[type[Any], str] = {
    Tokens: "symbols",
    Bits: "bits",
    Reals: "real numbers",
    Fields: "fields",
}
"""What the values of each kind are called."""


def check_spaces(name: str, component: Any, inputs: Space, outputs: Space | None = None) -> None:
    """Raise NotApplicable unless a core, a training or a rule is for these spaces.

    It declares so by the class attributes `reads` and `gives`, tuples of kinds of space; without
    them it takes all. With `Fields` among them it takes fields whose parts it takes.

    >>> class Counter:
    ...     reads = (Tokens, Bits)
    >>> check_spaces("counter", Counter, Tokens(3))
    >>> check_spaces("counter", Counter, Reals(1))
    Traceback (most recent call last):
    quickstudy.base.errors.NotApplicable: counter reads symbols and bits, not real numbers
    """
    for verb, space in (("reads", inputs), ("gives", outputs)):
        kinds: tuple[type[Any], ...] | None = getattr(component, verb, None)
        if kinds is None or space is None:
            continue
        strange = _strange(space, kinds)
        if strange is not None:
            known = " and ".join(WORDS[kind] for kind in kinds if kind is not Fields)
            raise NotApplicable(f"{name} {verb} {known}, not {WORDS[strange]}")


def _strange(space: Space, kinds: tuple[type[Any], ...]) -> type[Any] | None:
    """The first kind of space within this one that is not among the kinds."""
    if not isinstance(space, kinds):
        return type(space)
    parts = space.parts if isinstance(space, Fields) else ()
    return next(
        (strange for _, part in parts if (strange := _strange(part, kinds)) is not None), None
    )


_SIMPLE: dict[str, type[Tokens] | type[Reals] | type[Bits]] = {
    "tokens": Tokens,
    "reals": Reals,
    "bits": Bits,
}


def space_facts(space: Space) -> dict[str, Any]:
    """A space in plain JSON types: {"tokens": 16}, {"reals": 3}, {"fields": [["stimulus", {"reals":
    3}], ...]}.
    """
    if isinstance(space, Fields):
        return {"fields": [[name, space_facts(part)] for name, part in space.parts]}
    return {type(space).__name__.lower(): space.width}


def space_from_facts(facts: Mapping[str, Any]) -> Space:
    """The inverse of `space_facts`."""
    ((kind, value),) = facts.items()
    if kind == "fields":
        return Fields({name: space_from_facts(part) for name, part in value})
    return _SIMPLE[kind](value)


SCALES = {"symbols": ("logits", "probabilities", "order"), "reals": ("values",)}
"""The scales that scores of symbols and of real numbers may have."""


def check_scale(scale: Any, outputs: Space) -> str:
    """The scale that a pupil declares. Raises LearnerFault unless it fits the outputs."""
    fitting = SCALES["symbols" if isinstance(outputs, Tokens) else "reals"]
    if scale not in fitting:
        raise LearnerFault(f"scale must be {' or '.join(fitting)}, got {scale}")
    return str(scale)


def check_distributions(rows: NDArray[Any]) -> None:
    """Raise LearnerFault unless every row (..., symbol) is a distribution: none below 0, and 1 in
    sum, within 1e-6.
    """
    sums = rows.sum(axis=-1)
    if (rows < 0).any():
        raise LearnerFault(f"probabilities must not be below 0, got {rows.min():.6g}")
    if not (np.abs(sums - 1.0) <= 1e-6).all():
        raise LearnerFault(
            f"probabilities must sum to 1, got {sums.flat[np.abs(sums - 1.0).argmax()]:.6g}"
        )
