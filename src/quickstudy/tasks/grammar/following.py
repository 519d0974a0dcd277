"""What may follow in a string of a grammar, how likely it is, and how many strings there are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError

if TYPE_CHECKING:
    from quickstudy.tasks.grammar.derivation import Derivation

LONGEST_COUNTED = 400
"""Symbols of the longest strings that are counted and put in order: the table grows with the square of it."""


class Follower:
    """What may come after a prefix, and how likely: the left parts of all derivations that fit it. States are numbers.

    A state is a distribution over stacks, of which a stack is a number too (its top and the stack below), so that a
    string of any length takes time in proportion, and equal states are found again. Probabilities are exact.
    """

    def __init__(self, grammar: Derivation) -> None:
        self._grammar = grammar
        self._stacks: dict[tuple[str, int], int] = {}
        self._cells: list[tuple[str, int]] = [("", 0)]
        self._states: dict[tuple[tuple[int, Fraction], ...], int] = {}
        self._known: list[tuple[tuple[int, Fraction], ...]] = []
        self._moves: dict[int, tuple[NDArray[np.float64], dict[int, int]]] = {}
        self._first, self._parts = lru_cache(maxsize=None)(self._first_of), lru_cache(maxsize=None)(self._parts_of)
        self._ways, self._whole = lru_cache(maxsize=None)(self._ways_of), lru_cache(maxsize=None)(self._whole_of)
        shortest = dict.fromkeys(grammar.rules, LONGEST_COUNTED)
        for left in list(grammar.rules) * len(grammar.rules):
            rights = (right for chance, right in grammar.rules[left] if chance)
            shortest[left] = min(shortest[left], *(sum(shortest.get(part, 1) for part in right) for right in rights))
        self._shortest = list(shortest.values())
        self.start = self._state({self._stack(next(iter(grammar.rules)), 0): Fraction(1)})

    def chances(self, state: int) -> NDArray[np.float64]:
        """(symbol,): probability of each as the next one; 0 is `#`, the end."""
        return self._moved(state)[0]

    def after(self, state: int, symbol: int) -> int:
        """The state behind a symbol, -1 where it cannot come."""
        return self._moved(state)[1].get(symbol, -1)

    def count(self, state: int, left: int) -> int:
        """How many derivations go on for exactly `left` symbols: strings, where each has only one."""
        return sum(self._ways(self._parts(stack), left) for stack, _ in self._known[state])

    def string(self, length: int, rank: int) -> list[int]:
        """The string of that number among those of a length, in the order of the symbols."""
        state, string = self.start, list[int]()
        for left in range(length, 0, -1):
            for symbol, to in sorted(self._moved(state)[1].items()):
                if rank < (here := self.count(to, left - 1)):
                    string.append(symbol)
                    state = to
                    break
                rank -= here
        return string

    def by_length(self) -> Iterator[tuple[int, int]]:
        """(length, how many strings of it), for all lengths that have some."""
        for length in itertools.count():
            if length > LONGEST_COUNTED:
                raise UsageError(
                    f"grammar: strings of more than {LONGEST_COUNTED} symbols are not put in order; test less"
                )
            if found := self.count(self.start, length):
                yield length, found

    def _ways_of(self, parts: tuple[int, ...], left: int) -> int:
        """Derivations of `left` symbols from so many terminals and so many of each left side."""
        terminals, *lefts = parts
        left -= terminals
        least = int(np.dot(lefts, self._shortest))
        if left < least or not any(lefts):
            return int(left == least == 0)
        number = next(place for place, many in enumerate(lefts) if many)
        lefts[number] -= 1
        rest, most = (0, *lefts), left - least + self._shortest[number]
        return sum(
            ways * self._ways(rest, left - length)
            for length in range(self._shortest[number], most + 1)
            if (ways := self._whole(number, length))
        )

    def _whole_of(self, number: int, length: int) -> int:
        """Derivations of that many symbols from one left side."""
        found = list(self._grammar.rules.values())[number]
        return sum(self._ways(self._counted(right), length) for chance, right in found if chance)

    def _counted(self, right: Sequence[str]) -> tuple[int, ...]:
        return sum(part in self._grammar.numbers for part in right), *(
            right.count(left) for left in self._grammar.rules
        )

    def _parts_of(self, stack: int) -> tuple[int, ...]:
        """How many terminals, and how many of each left side, are on a stack."""
        names = []
        while stack:
            top, stack = self._cells[stack]
            names.append(top)
        return self._counted(names)

    def _moved(self, state: int) -> tuple[NDArray[np.float64], dict[int, int]]:
        if state not in self._moves:
            behind: dict[int, dict[int, Fraction]] = {}
            for stack, weight in self._known[state]:
                for symbol, rest, chance in self._first(stack):
                    into = behind.setdefault(symbol, {})
                    into[rest] = into.get(rest, Fraction(0)) + weight * chance
            sums = {symbol: sum(into.values(), Fraction(0)) for symbol, into in behind.items()}
            chances = np.array([float(sums.get(symbol, 0)) for symbol in range(len(self._grammar.symbols))])
            moves = {
                symbol: self._state({rest: weight / sums[symbol] for rest, weight in into.items()})
                for symbol, into in behind.items()
                if symbol
            }
            self._moves[state] = chances, moves
        return self._moves[state]

    def _first_of(self, stack: int) -> list[tuple[int, int, Fraction]]:
        """(symbol, stack behind it, probability) of all that a stack may begin with."""
        if not stack:
            return [(0, 0, Fraction(1))]
        top, below = self._cells[stack]
        if top not in self._grammar.rules:
            return [(self._grammar.numbers[top], below, Fraction(1))]
        found = []
        for chance, right in self._grammar.rules[top]:
            rest = below
            for part in reversed(right):
                rest = self._stack(part, rest)
            found += [(symbol, behind, chance * p) for symbol, behind, p in self._first(rest) if chance]
        return found

    def _stack(self, top: str, below: int) -> int:
        number = self._stacks.setdefault((top, below), len(self._cells))
        if number == len(self._cells):
            self._cells.append((top, below))
        return number

    def _state(self, weights: dict[int, Fraction]) -> int:
        key = tuple(sorted(weights.items()))
        number = self._states.setdefault(key, len(self._known))
        if number == len(self._known):
            self._known.append(key)
        return number
