"""Items that are learned within a sequence: chains of pairs, a linear function, a regular
language.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.span.item import RULES, SymbolItem

LINKS = 13
"""Letters of a chain, which is a circle."""


@task("span/hops", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Hops(SymbolItem):
    """Follow a chain of pairs for k steps (k-hop lookup).

    Sees: 13 pairs of letters in random order, of which each letter begins one and ends another, all
        in one circle; then k arrows and a letter.
    Answers: the letter k pairs further.
    Chance: 1/12: any letter but the one that was shown.
    Ceiling: 1.
    Source: ours; chains of lookups as in Sanford et al. 2024 (k-hop induction heads).

    Parameters
    ----------
    longest:
        Most steps.
    """

    vocabulary: ClassVar[tuple[str, ...]] = (*"abcdefghijklm", ">")
    unit: ClassVar[str] = "steps along a chain"
    can: ClassVar[str] = "follows a chain for {} steps"
    instruction: ClassVar[str] = "Each pair of letters is a step. Take one step for each arrow."
    family: ClassVar[str] = "language"
    longest: int = parameter(8, at_least=2, at_most=LINKS - 1)

    def chance(self, size: int) -> float:
        """Any other letter."""
        return 1 / (LINKS - 1)

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """A uniform circle and a uniform letter."""
        pairs = []
        for size in sizes:
            circle = rng.permutation(LINKS)
            after = np.roll(circle, -1)
            shown = np.stack([circle, after], axis=1)[rng.permutation(LINKS)]
            start = int(rng.integers(LINKS))
            asked = [*shown.ravel(), *[LINKS] * int(size), circle[start]]
            pairs.append((asked, [circle[(start + int(size)) % LINKS]]))
        return Examples.from_pairs(pairs)

    def solve(self, tokens: Sequence[int]) -> int:
        """As many steps as there are arrows."""
        steps = list(tokens).count(LINKS)
        if not steps or tokens[-1] == LINKS:
            return -1
        after = dict(zip(tokens[: 2 * LINKS : 2], tokens[1 : 2 * LINKS : 2], strict=True))
        letter = tokens[-1]
        for _ in range(steps):
            letter = after[letter]
        return letter


@task("span/regression", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Regression(SymbolItem):
    """Infer a linear function from examples, and apply it (linear regression in context).

    Sees: 2d + 2 examples of d numbers out of -1, 0, 1, each with its sum by d weights of -1 or 1,
        which are new in every sequence and follow from the examples; then d more numbers.
    Answers: their weighted sum, -d to d, all equally likely.
    Chance: 1/(2d + 1).
    Ceiling: 1.
    Source: ours, after Garg et al. 2022.
    Departures: whole numbers, written as one symbol each, so that language models can be asked too;
        published are 20 real numbers, real weights and squared errors.

    Parameters
    ----------
    longest:
        Most weights.
    """

    unit: ClassVar[str] = "weights inferred"
    can: ClassVar[str] = "infers {} weights of a linear function"
    instruction: ClassVar[str] = "Every number has a fixed sign. Type the sum of the last line."
    family: ClassVar[str] = "language"
    longest: int = parameter(8, at_least=2, at_most=10)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Numbers, sums, and the equals sign."""
        sums = (f"={value}" for value in range(-self.longest, self.longest + 1))
        return ("-1", "0", "1", *sums)

    def chance(self, size: int) -> float:
        """One of the sums that are possible."""
        return 1 / (2 * size + 1)

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Examples until only one function fits them; a uniform answer, then uniform numbers that
        have it.
        """
        pairs = []
        for size in map(int, sizes):
            weights = rng.choice([-1, 1], size=size)
            while True:
                shown = rng.integers(-1, 2, size=(2 * size + 2, size))
                if len(_fitting(shown, shown @ weights)) == 1:
                    break
            answer = int(rng.integers(-size, size + 1))
            fits = np.flatnonzero(_grid(size) @ weights == answer)
            asked = _grid(size)[rng.choice(fits)]
            rows = [[*(row + 1), self._sum(row @ weights)] for row in shown]
            pairs.append(([*itertools.chain(*rows), *(asked + 1)], [self._sum(answer)]))
        return Examples.from_pairs(pairs)

    def _sum(self, value: int) -> int:
        return 3 + self.longest + int(value)

    def solve(self, tokens: Sequence[int]) -> int:
        """By the only weights that fit the examples; -1 within an example."""
        sums = [place for place, token in enumerate(tokens) if token >= 3]
        size = sums[0] if sums else 0
        if len(sums) != 2 * size + 2 or (len(tokens) - sums[-1] - 1) != size:
            return -1
        rows = np.array(tokens[: sums[-1] + 1]).reshape(-1, size + 1)
        (weights,) = _fitting(rows[:, :-1] - 1, rows[:, -1] - 3 - self.longest)
        return self._sum((np.array(tokens[-size:]) - 1) @ weights)


@lru_cache
def _grid(size: int) -> NDArray[np.int64]:
    """All rows of -1, 0, 1."""
    return np.array(list(itertools.product((-1, 0, 1), repeat=size)))


@lru_cache
def _signs(size: int) -> NDArray[np.int64]:
    """All rows of weights."""
    return np.array(list(itertools.product((-1, 1), repeat=size)))


def _fitting(shown: NDArray[np.int64], sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """The weights by which all sums are right."""
    signs = _signs(shown.shape[1])
    fits = (shown @ signs.T == np.asarray(sums)[:, None]).all(axis=0)
    return np.asarray(signs[fits])


@task("span/regular", version=1, controls=(*RULES, "follows-last"), oracle="span-oracle")
@dataclass(frozen=True)
class Regular(SymbolItem):
    """Infer a regular language from strings of it (in-context language learning).

    Sees: strings of a random automaton with n states, new in every sequence, with a bar after each;
        then the beginning of another string.
    Answers: the next letter, in a state that has only one. Different letters have followed the last
        one, and in half of the sequences another one at least as often as the answer.
    Chance: one of the letters.
    Ceiling: 1, by what followed the longest ending that was seen before (a state of the automaton
        need not be inferred where such an ending tells it; only such questions are asked).
    Source: ours, after Akyurek et al. 2024 (RegBench).
    Departures: published are 4 to 12 states, up to 4 letters from a state, 18 letters in all, 10 to
        20 strings of up to 50 letters, and every next letter that the automaton allows is right;
        here one answer is right. `letters=18,strings=20,letters_each=24` comes near to it.
    Marks: follows-last 3.0 knows what has most often followed the last letter; by-bigram 2.7 and
        by-last 2.7 know that a letter often repeats in small automata.

    Parameters
    ----------
    longest:
        States of the largest automaton.
    letters:
        Letters of the alphabet.
    strings:
        Strings that are shown.
    letters_each:
        Letters of each.
    """

    least: ClassVar[int] = 1
    unit: ClassVar[str] = "states of a language inferred"
    can: ClassVar[str] = "infers regular languages of {} states"
    family: ClassVar[str] = "language"
    longest: int = parameter(12, at_least=2, at_most=64)
    letters: int = parameter(4, at_least=3, at_most=50)
    strings: int = parameter(12, at_least=2)
    letters_each: int = parameter(8, at_least=4)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Letters and the bar."""
        return (*(f"l{number}" for number in range(self.letters)), "|")

    def chance(self, size: int) -> float:
        """One of the letters."""
        return 1 / self.letters

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Automata until one has a question whose answer can be told."""
        return Examples.from_pairs(self._pair(rng, int(size)) for size in sizes)

    def _pair(self, rng: np.random.Generator, size: int) -> tuple[list[int], list[int]]:
        rare = rng.random() < 0.5
        while True:
            ways = self._automaton(rng, size)
            shown = list[int]()
            for _ in range(self.strings):
                shown += [*self._walk(rng, ways, self.letters_each)[0], self.letters]
            for _ in range(8):
                begun, state = self._walk(rng, ways, self.letters_each // 2)
                if len(ways[state]) != 1:
                    continue
                ((letter, _),) = ways[state]
                told = [*shown, *begun]
                if self._is_rare(told, letter) == rare and self.solve(told) == letter:
                    return [*shown, *begun], [letter]

    def _is_rare(self, tokens: Sequence[int], letter: int) -> bool | None:
        """Whether another letter has followed the last one at least as often; None where no other
        has.
        """
        counts = Counter(self.shown_answers(tokens))
        own = counts.pop(letter, 0)
        return max(counts.values()) >= own if counts else None

    def _automaton(self, rng: np.random.Generator, size: int) -> list[list[tuple[int, int]]]:
        """Of each state the letters that may follow, and where they lead: one or two. The first
        leads around a ring, so that all states are reached.
        """
        ways = []
        for state in range(size):
            some = rng.permutation(self.letters)[: rng.integers(1, 3)].tolist()
            leads = [(state + 1) % size, int(rng.integers(size))]
            ways.append(list(zip(some, leads, strict=False)))
        return ways

    @staticmethod
    def _walk(
        rng: np.random.Generator, ways: list[list[tuple[int, int]]], length: int
    ) -> tuple[list[int], int]:
        state, string = 0, []
        for second in (rng.random(length) < 0.5).tolist():
            letter, state = ways[state][second and len(ways[state]) > 1]
            string.append(letter)
        return string, state

    def solve(self, tokens: Sequence[int]) -> int:
        """The letter that followed the longest ending that was seen before, of the present string;
        -1 where none was, where it is not always the same, or before the last string.
        """
        if list(tokens).count(self.letters) != self.strings or tokens[-1] == self.letters:
            return -1
        whole = [self.letters, *tokens]
        start = len(whole) - 1 - whole[::-1].index(self.letters)
        for first in range(start, len(whole)):
            ending = whole[first:]
            followers = {
                whole[place + len(ending)]
                for place in range(start - len(ending) + 1)
                if whole[place : place + len(ending)] == ending
            }
            if followers:
                return int(followers.pop()) if len(followers) == 1 else -1
        return -1

    def shown_answers(self, tokens: Sequence[int]) -> list[int]:
        """What followed the last letter before, each time; any letter where nothing did."""
        followers = [
            after
            for before, after in itertools.pairwise(tokens)
            if before == tokens[-1] and after < self.letters
        ]
        return followers or list(range(self.letters))
