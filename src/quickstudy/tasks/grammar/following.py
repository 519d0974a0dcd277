"""What may follow in a string of a grammar, how likely it is, and how many strings there are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.tasks.grammar.left_recursion import Rules, without_left_recursion

if TYPE_CHECKING:
    from quickstudy.tasks.grammar.derivation import Derivation

LONGEST_COUNTED = 400
"""Symbols of the longest strings that are counted and put in order: the table grows with the square
of it.
"""
MOST_STACKS = 1 << 14
"""Ways in which the beginning of a string may have been derived that are followed side by side."""
EXPLORED, MOST_LISTED = 2_000, 1 << 17
"""Prefixes that are looked through for strings with several derivations, and how many strings of a
length are listed where there are such.
"""


class Follower:
    """What may come after a prefix, and how likely: the left parts of all derivations that fit it.
    States are numbers.

    A state is a distribution over stacks, of which a stack is a number too (its top and the stack
    below), so that a string of any length takes time in proportion, and equal states are found
    again. Probabilities are exact. Raises UsageError where a prefix may have been derived in too
    many ways.
    """

    def __init__(self, grammar: Derivation) -> None:
        self._grammar = grammar
        self._rules = _factored(without_left_recursion(grammar.rules))
        self._stacks: dict[tuple[str, int], int] = {}
        self._cells: list[tuple[str, int]] = [("", 0)]
        self._states: dict[tuple[tuple[int, Fraction], ...], int] = {}
        self._known: list[tuple[tuple[int, Fraction], ...]] = []
        self._moves: dict[int, tuple[NDArray[np.float64], dict[int, int], bool]] = {}
        self._first, self._parts = (
            lru_cache(maxsize=None)(self._first_of),
            lru_cache(maxsize=None)(self._parts_of),
        )
        self._ways, self._whole = (
            lru_cache(maxsize=None)(self._ways_of),
            lru_cache(maxsize=None)(self._whole_of),
        )
        self._listed = lru_cache(maxsize=None)(self._listed_of)
        shortest = dict.fromkeys(self._rules, LONGEST_COUNTED)
        for left in list(self._rules) * len(self._rules):
            rights = (right for _, right in self._rules[left])
            shortest[left] = min(
                shortest[left], *(sum(shortest.get(part, 1) for part in right) for right in rights)
            )
        self._shortest = list(shortest.values())
        self.start = self._state({self._stack(next(iter(grammar.rules)), 0): Fraction(1)})

    def chances(self, state: int) -> NDArray[np.float64]:
        """(symbol,): probability of each as the next one; 0 is `#`, the end."""
        return self._moved(state)[0]

    def after(self, state: int, symbol: int) -> int:
        """The state after a symbol, -1 where it cannot come."""
        return self._moved(state)[1].get(symbol, -1)

    def count(self, state: int, left: int) -> int:
        """How many derivations go on for exactly `left` symbols: strings, where each has only
        one.
        """
        return sum(self._ways(self._parts(stack), left) for stack, _ in self._known[state])

    def string(self, length: int, rank: int) -> tuple[int, ...]:
        """The string of that number among those of a length, in the order of the symbols."""
        if self.ambiguous:
            return self._listed(length)[rank]
        state, string = self.start, list[int]()
        for left in range(length, 0, -1):
            counted = [
                (symbol, to, self.count(to, left - 1))
                for symbol, to in sorted(self._moved(state)[1].items())
            ]
            if sum(here for _, _, here in counted) != self.count(state, left):
                raise UsageError(
                    "grammar: long strings have several derivations; write it so that each has one"
                )
            for symbol, to, here in counted:
                if rank < here:
                    string.append(symbol)
                    state = to
                    break
                rank -= here
        return tuple(string)

    def by_length(self) -> Iterator[tuple[int, int]]:
        """(length, how many strings of it), for all lengths that have some. Raises UsageError
        after the longest that are counted, unless none are longer.
        """
        for length in range(LONGEST_COUNTED + 1):
            derivations = self.count(self.start, length)
            if derivations:
                yield length, len(self._listed(length)) if self.ambiguous else derivations
        if not self._grammar.finite:
            raise UsageError(
                f"it needs strings of more than {LONGEST_COUNTED} symbols, the most for a language"
                " written as rules; a counter language such as a^n b^n [n 0.3] has no limit"
            )

    @cached_property
    def ambiguous(self) -> bool:
        """Whether some string has several derivations, as far as short prefixes show it: two have
        come to one stack.
        """
        states, seen = [self.start], {self.start}
        for state in states:  # which grows meanwhile
            _, moves, merged = self._moved(state)
            if merged or len(states) > EXPLORED:
                return merged
            new = [to for to in moves.values() if to not in seen]
            states += new
            seen.update(new)
        return False

    def _listed_of(self, length: int) -> tuple[tuple[int, ...], ...]:
        """All strings of a length, each once, in the order of the symbols."""
        words = tuple(itertools.islice(self._words(self.start, length), MOST_LISTED + 1))
        if len(words) > MOST_LISTED:
            raise UsageError(
                "grammar: its strings have several derivations, and there are more than"
                f" {MOST_LISTED:,} of {length} symbols; write it so that each has one, or test"
                " fewer"
            )
        return words

    def _words(self, state: int, left: int) -> Iterator[tuple[int, ...]]:
        chances, moves, _ = self._moved(state)
        if not left and chances[0] > 0:
            yield ()
        for symbol, to in sorted(moves.items()) if left else ():
            if self.count(to, left - 1):
                yield from ((symbol, *word) for word in self._words(to, left - 1))

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
        found = list(self._rules.values())[number]
        return sum(self._ways(self._counted(right), length) for _, right in found)

    def _counted(self, right: Sequence[str]) -> tuple[int, ...]:
        return sum(part in self._grammar.numbers for part in right), *(
            right.count(left) for left in self._rules
        )

    def _parts_of(self, stack: int) -> tuple[int, ...]:
        """How many terminals, and how many of each left side, are on a stack."""
        names = []
        while stack:
            top, stack = self._cells[stack]
            names.append(top)
        return self._counted(names)

    def _moved(self, state: int) -> tuple[NDArray[np.float64], dict[int, int], bool]:
        """Chances of the next symbol, the states after each, and whether two derivations have
        become one there.
        """
        if state not in self._moves:
            behind: dict[int, dict[int, Fraction]] = {}
            merged = False
            for stack, weight in self._known[state]:
                for symbol, rest, chance in self._first(stack):
                    into = behind.setdefault(symbol, {})
                    merged |= rest in into
                    into[rest] = into.get(rest, Fraction(0)) + weight * chance
            if max(map(len, behind.values())) > MOST_STACKS:
                raise UsageError(
                    f"grammar: a prefix may have been derived in more than {MOST_STACKS:,} ways;"
                    " write the rules so that the next symbols tell them apart"
                )
            sums = {symbol: sum(into.values(), Fraction(0)) for symbol, into in behind.items()}
            chances = np.array(
                [
                    _as_float(sums.get(symbol, Fraction(0)))
                    for symbol in self._grammar.numbers.values()
                ]
            )
            moves = {
                symbol: self._state({rest: weight / sums[symbol] for rest, weight in into.items()})
                for symbol, into in behind.items()
                if symbol
            }
            self._moves[state] = chances, moves, merged
        return self._moves[state]

    def _first_of(self, stack: int) -> list[tuple[int, int, Fraction]]:
        """(symbol, stack after it, probability) of all that a stack may begin with."""
        if not stack:
            return [(0, 0, Fraction(1))]
        top, below = self._cells[stack]
        if top not in self._rules:
            return [(self._grammar.numbers[top], below, Fraction(1))]
        found = []
        for chance, right in self._rules[top]:
            rest = below
            for part in reversed(right):
                rest = self._stack(part, rest)
            found += [(symbol, behind, chance * p) for symbol, behind, p in self._first(rest)]
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


def _factored(rules: Rules) -> Rules:
    """Rules for the same strings, as likely, in which no two alternatives of a left side begin with
    the same part: what they begin with occurs once, before a left side for what follows, which
    is then chosen when it is read.
    """
    found: dict[str, list[tuple[Fraction, tuple[str, ...]]]] = {}
    left_over = [
        (left, [one for one in alternatives if one[0]]) for left, alternatives in rules.items()
    ][::-1]
    while left_over:
        left, alternatives = left_over.pop()
        beginning: dict[tuple[str, ...], list[tuple[Fraction, tuple[str, ...]]]] = {}
        for chance, right in alternatives:
            beginning.setdefault(right[:1], []).append((chance, right))
        found[left] = []
        for first, some in beginning.items():
            total = sum((chance for chance, _ in some), Fraction(0))
            right = some[0][1]
            if first and len(some) > 1:
                columns = zip(
                    *(behind for _, behind in some), strict=False
                )  # as far as the shortest goes
                alike = sum(
                    1 for _ in itertools.takewhile(lambda parts: len(set(parts)) == 1, columns)
                )
                right = (
                    *right[:alike],
                    f"{left} {len(found)} {len(found[left])}",
                )  # with spaces, so no other name
                left_over.append(
                    (right[-1], [(chance / total, behind[alike:]) for chance, behind in some])
                )
            found[left].append((total, right))
    return found


def _as_float(chance: Fraction) -> float:
    """The nearest number that is neither 0 nor 1 unless the chance is."""
    near = float(chance)
    return near if near == chance or 0 < near < 1 else float(np.nextafter(near, 0.5))
