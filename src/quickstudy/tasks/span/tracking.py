"""Items of symbols that follow a state: group tracking, nested brackets, counting."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.span.item import RULES, SymbolItem, numbered

GROUPS = ("Z2", "S3", "S5", "A5", "Z60")
TAUGHT = 8
"""Lessons of the grammar items end here; their tests go on to 256."""


@functools.lru_cache
def product_table(group: str) -> NDArray[np.int64]:
    """(a, b): the number of the element that is a followed by b; element 0 is the identity."""
    if group.startswith("Z"):
        order = int(group[1:])
        return np.add.outer(np.arange(order), np.arange(order)) % order
    every = itertools.permutations(range(int(group[1:])))
    elements = [one for one in every if group[0] == "S" or _even(one)]
    number = {element: index for index, element in enumerate(elements)}
    table = [[number[tuple(b[i] for i in a)] for b in elements] for a in elements]
    return np.array(table, dtype=np.int64)


def _even(permutation: Sequence[int]) -> bool:
    pairs = itertools.combinations(permutation, 2)
    return sum(first > second for first, second in pairs) % 2 == 0


class Grammar(SymbolItem):
    """An item of the grammar family: taught up to 8, tested up to 256."""

    family: ClassVar[str] = "grammar"


class GroupItem(Grammar):
    """Follow the state of a group: the product of the elements read so far."""

    group: str

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The elements by number, and an equals sign."""
        return (*map(str, range(len(product_table(self.group)))), "=")

    def chance(self, size: int) -> float:
        """One element of the group."""
        return 1 / len(product_table(self.group))

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Uniform elements."""
        order = len(product_table(self.group))
        words = [rng.integers(order, size=size).tolist() for size in sizes]
        return Examples.from_pairs(([*word, order], [self._product(word)]) for word in words)

    def solve(self, tokens: Sequence[int]) -> int:
        """The product, at the equals sign."""
        asked = tokens[-1] == len(product_table(self.group))
        return self._product(tokens[:-1]) if asked else -1

    def _product(self, word: Sequence[int]) -> int:
        table = product_table(self.group)
        return int(functools.reduce(lambda state, element: table[state, element], word, 0))


@task("span/parity", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Parity(GroupItem):
    """Follow a state of two elements: the parity of the ones.

    Sees: n bits and an equals sign.
    Answers: 1 where the number of ones is odd.
    Chance: 1/2.
    Ceiling: 1.
    Source: ours; the group Z2 of Merrill et al. 2024.
    Marks: rote 6.6 was shown most strings of up to 7 bits.

    Parameters
    ----------
    longest:
        Bits in the longest test.
    taught:
        Bits in the longest lesson.
    """

    group: ClassVar[str] = "Z2"  # type: ignore[misc]
    unit: ClassVar[str] = "bits of parity followed"
    can: ClassVar[str] = "follows {} bits of parity"
    instruction: ClassVar[str] = "Type 1 if the number of ones is odd, else 0."
    longest: int = parameter(256, at_least=2)
    taught: int = parameter(TAUGHT, at_least=1)


@task("span/track", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Track(GroupItem):
    """Follow the state of a group: the product of its elements.

    Sees: n elements of the group and an equals sign.
    Answers: their product, left to right.
    Chance: 1/order of the group.
    Ceiling: 1.
    Source: ours, after Merrill et al. 2024.
    Marks: rote 6.6 was shown most short strings of Z2; it has less in larger groups.

    Parameters
    ----------
    group:
        Z2, S3, S5, A5 or Z60. Of these S5 and A5 are not solvable.
    longest:
        Elements in the longest test.
    taught:
        Elements in the longest lesson.
    """

    group: str = parameter("S3", choices=GROUPS)
    longest: int = parameter(256, at_least=2)
    taught: int = parameter(TAUGHT, at_least=1)

    @property
    def unit(self) -> str:  # type: ignore[override]
        """Elements of the group."""
        return f"elements of {self.group} followed"

    @property
    def can(self) -> str:  # type: ignore[override]
        """With a blank for the span."""
        return f"follows {{}} elements of {self.group}"


@task("span/nest", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Nest(Grammar):
    """Close brackets in order.

    Sees: n opening brackets of 4 kinds, and a bar.
    Answers: the closing ones, last opened first; each is shown after it was asked for.
    Scored: every bracket.
    Chance: 1/4.
    Ceiling: 1.
    Source: ours; Dyck-4 at its deepest.
    Marks: by-position 2.1 and by-bigram 2.5 know the bracket of one step, 1/n of the answers;
        by-bag 3.0 knows nestings of one kind; rote 3.6 was shown nearly all nestings of up to 3.

    Parameters
    ----------
    longest:
        Depth of the longest test.
    taught:
        Depth of the longest lesson.
    """

    vocabulary: ClassVar[tuple[str, ...]] = (*"([{<", *")]}>", "|")
    unit: ClassVar[str] = "brackets nested"
    can: ClassVar[str] = "nests {} brackets"
    instruction: ClassVar[str] = "Close the brackets, the last one first."
    longest: int = parameter(256, at_least=2)
    taught: int = parameter(TAUGHT, at_least=1)

    def chance(self, size: int) -> float:
        """One kind of four."""
        return 1 / 4

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Uniform kinds."""
        words = [rng.integers(4, size=size) for size in sizes]
        return Examples.from_pairs(([*word, 8], 4 + word[::-1]) for word in words)

    def solve(self, tokens: Sequence[int]) -> int:
        """The bracket that was opened last and is still open."""
        depth = tokens.index(8) if 8 in tokens else -1
        closed = len(tokens) - depth - 1
        opened = tokens[depth - 1 - closed] if 0 <= closed < depth else 4
        return 4 + opened if opened < 4 else -1


@task("span/count", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Count(Grammar):
    """Which of two letters came more often.

    Sees: a^x b^(x + j) or a^(x + j) b^x with j one of 1, 2, 3, and an equals sign.
    Answers: the letter that came more often. Difficulty: x.
    Chance: 1/2.
    Ceiling: 1.
    Source: ours. Whether a string of a^n b^n has ended follows from the parity of its length; this
        question does not.
    Marks: rote 8.1 was shown all 48 strings up to x = 8. A span of 8 is memory, a longer one
        counting.

    Parameters
    ----------
    longest:
        X in the longest test.
    taught:
        X in the longest lesson.
    """

    vocabulary: ClassVar[tuple[str, ...]] = ("a", "b", "=")
    unit: ClassVar[str] = "counted and compared"
    can: ClassVar[str] = "counts to {}"
    instruction: ClassVar[str] = "Which letter came more often?"
    longest: int = parameter(256, at_least=2)
    taught: int = parameter(TAUGHT, at_least=1)

    def chance(self, size: int) -> float:
        """One letter of two."""
        return 1 / 2

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Both letters and all three differences, equally often."""
        return _compared(rng, sizes, 2)

    def solve(self, tokens: Sequence[int]) -> int:
        """The more frequent letter, at the equals sign."""
        return _more_frequent(tokens, 2)


@task("span/abc", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Abc(Grammar):
    """Which of three letters came more often.

    Sees: a^x b^y c^z, of which two are x and one is x + j, j one of 1, 2, 3; an equals sign.
    Answers: the letter that came more often. Difficulty: x.
    Chance: 1/3.
    Ceiling: 1.
    Source: ours; a^n b^n c^n as a comparison.
    Marks: rote 8.0 was shown all 72 strings up to x = 8. A span of 8 is memory, a longer one
        counting.

    Parameters
    ----------
    longest:
        X in the longest test.
    taught:
        X in the longest lesson.
    """

    vocabulary: ClassVar[tuple[str, ...]] = ("a", "b", "c", "=")
    unit: ClassVar[str] = "counted, of three letters"
    can: ClassVar[str] = "counts three letters to {}"
    instruction: ClassVar[str] = "Which letter came more often than the others?"
    longest: int = parameter(256, at_least=2)
    taught: int = parameter(TAUGHT, at_least=1)

    def chance(self, size: int) -> float:
        """One letter of three."""
        return 1 / 3

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """All three letters and all three differences, equally often."""
        return _compared(rng, sizes, 3)

    def solve(self, tokens: Sequence[int]) -> int:
        """The most frequent letter, at the equals sign."""
        return _more_frequent(tokens, 3)


def _compared(rng: np.random.Generator, sizes: NDArray[np.int64], letters: int) -> Examples:
    """Letters in order, each `size` times, one of them 1 to 3 times more."""
    # The difference goes round with every further string of one size, so that lengths do not depend
    # on the seed and every size has all differences; which letter it belongs to is random.
    more = 1 + numbered(sizes) % 3
    which = rng.permuted(np.arange(len(sizes)) % letters)
    pairs = []
    for size, extra, chosen in zip(sizes, more, which, strict=True):
        times = size + extra * (np.arange(letters) == chosen)
        pairs.append(([*np.repeat(np.arange(letters), times), letters], [chosen]))
    return Examples.from_pairs(pairs)


def _more_frequent(tokens: Sequence[int], letters: int) -> int:
    asked = tokens[-1] == letters
    return int(np.bincount(tokens[:-1], minlength=letters).argmax()) if asked else -1
