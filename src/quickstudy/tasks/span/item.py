"""What all span items of sequences share: a grid of difficulties, its bins, and equal numbers of
every size.

An item has a difficulty axis in natural units: symbols copied, pairs looked up, brackets nested.
Lessons mix all difficulties; tests have equally many sequences in every bin.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples

GRID = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""Difficulties of every item, as far as its own axis goes. Point j represents the bin (d_{j-1},
d_j].
"""
RULES = ("rote", "by-last", "by-length", "by-length-parity", "by-position", "by-bigram", "by-bag")
"""Baselines of every item of symbols: tables fitted to one shallow feature, and a rote
memoriser.
"""

_MARK = re.compile(r"([a-z][a-z-]+)\s+(\d+(?:\.\d+)?)\b")


class Axis:
    """A difficulty axis. Items have `longest`, the last difficulty, and say the rest by class
    attributes.

    least: the difficulty that costs nothing (d_0 of the span): 0, or 1 where the axis begins at 2.
    unit: what is counted, for labels ("symbols copied"). can: the sentence on a card, with a blank.
    family: the family of the battery. controls: baselines, as `@task` has them.
    """

    least: ClassVar[int] = 0
    unit: ClassVar[str]
    can: ClassVar[str]
    family: ClassVar[str]
    controls: ClassVar[Sequence[str]] = ()
    longest: int

    @property
    def grid(self) -> tuple[int, ...]:
        """The difficulties of this item."""
        return tuple(size for size in GRID if self.least < size <= self.longest)

    def bin(self, level: int) -> Sequence[int]:
        """The sizes that belong to a level: above the grid point before, up to its own."""
        before = self.grid[level - 1] if level else self.least
        return range(before + 1, self.grid[level] + 1)

    @classmethod
    def marks(cls) -> dict[str, float]:
        """Baselines that go far, with their spans: those after `Marks:` on the sheet (`by-bag
        2.1`).
        """
        sheet = (cls.__doc__ or "").partition("Marks:")[2].partition("\n\n")[0]
        return {name: float(value) for name, value in _MARK.findall(sheet) if name in cls.controls}


class SequenceItem(Axis, ABC):
    """An item of sequences with questions in them, at every difficulty.

    taught: the largest difficulty in lessons, where tests go further; 0 teaches the whole axis.
    conventions: none.
    """

    taught: int = 0
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @abstractmethod
    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """One sequence of every size."""

    @abstractmethod
    def chance(self, size: int) -> float:
        """Accuracy of a guess among the answers that are possible, at one difficulty."""

    def chances(self) -> NDArray[np.float64]:
        """Chance in every bin: the mean over the sizes of a bin."""
        bins = map(self.bin, range(len(self.grid)))
        return np.array([np.mean([self.chance(size) for size in sizes]) for sizes in bins])

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """A lesson: all levels that are taught, in turn."""
        known = sum(1 for size in self.grid if not self.taught or size <= self.taught)
        return self.draw(rng, np.arange(count) % known)

    def draw(self, rng: np.random.Generator, levels: NDArray[np.int64]) -> Examples:
        """One sequence for every level.

        All sizes of a bin come equally often and in a fixed order, so that every seed has the same
        shapes (one compiled program) and no test is harder by chance.
        """
        sizes = np.empty(len(levels), np.int64)
        for level in range(len(self.grid)):
            own, within = np.flatnonzero(levels == level), np.array(self.bin(level))
            sizes[own] = within[::-1][np.arange(len(own)) % len(within)]
        return self.made(rng, sizes)


class SymbolItem(SequenceItem):
    """An item of sequences of tokens.

    instruction: the instruction for a person; empty if a person cannot play the item.
    """

    instruction: ClassVar[str] = ""

    @property
    @abstractmethod
    def vocabulary(self) -> Sequence[str]:
        """The words of the tokens."""

    @abstractmethod
    def solve(self, tokens: Sequence[int]) -> int:
        """The right answer after these tokens; -1 where nothing can be asked."""


def numbered(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each size among the equal ones, in their order.

    >>> numbered(np.array([3, 5, 3, 3])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(sizes, kind="stable")
    found = np.empty(len(sizes), np.int64)
    found[order] = np.arange(len(sizes)) - np.searchsorted(sizes[order], sizes[order])
    return found
