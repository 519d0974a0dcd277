"""A measure: a pure function from a trace to numbers, with all that a reader must know about the number."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quickstudy.base.trace import Trace


@dataclass(frozen=True)
class Measure:
    """unit, direction (`higher` or `lower` is better), range, chance and equation say how to read the numbers.

    kinds: the kinds of trace it can be applied to. function(trace, convention) gives one number or several by name.
    scores: these names, `*` for any ending; they are known before anything is run.
    """

    id: str
    version: int
    unit: str
    direction: str
    range: tuple[float, float]
    chance: str
    equation: str
    kinds: tuple[str, ...]
    scores: tuple[str, ...]
    function: Callable[[Trace, str], Mapping[str, float]]

    def __call__(self, trace: Trace, convention: str = "corrected") -> Mapping[str, float]:
        """The numbers of one trace. Raises ValueError for one that was not announced."""
        found = self.function(trace, convention)
        for name in found:
            if not self.gives(name):
                raise ValueError(f'measure {self.id} gives "{name}", but announces {", ".join(self.scores)}')
        return found

    def gives(self, score: str) -> bool:
        """Whether a score of that name is one of its numbers."""
        return any(fnmatch.fnmatchcase(score, name) for name in self.scores)
