"""Strings of one length from a user's grammar, drawn uniformly by counting derivations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.derivation import Derivation
from quickstudy.tasks.grammar.finite_automaton import below

Parts = tuple[str, ...]


class DerivationSampler:
    """Counts and draws the derivations of every length of a grammar; the probabilities of its rules
    do not matter.

    All derivations of a length are equally likely, exactly. So are all strings, unless the grammar
    is ambiguous: a string with two derivations is twice as likely as one with a single one.
    """

    def __init__(self, grammar: Derivation) -> None:
        self._grammar = grammar
        self._rules = {left: [r for p, r in found if p] for left, found in grammar.rules.items()}
        self._start: Parts = (next(iter(self._rules)),)
        self._least = _least_lengths(self._rules)
        self._known: dict[tuple[Parts, int], int] = {}
        self._filled = 0

    def count(self, length: int) -> int:
        """How many derivations have a string of this length."""
        for shorter in range(self._filled, length):  # no deep recursion below
            for left in self._rules:
                self._ways((left,), shorter)
        self._filled = max(self._filled, length)
        return self._ways(self._start, length)

    def drawn(self, rng: np.random.Generator, length: int) -> list[int]:
        """A string without `#`, by the numbers of the grammar's symbols."""
        string = list[int]()
        stack: list[tuple[Parts, int, int]] = [
            (self._start, length, below(rng, self.count(length)))
        ]
        while stack:
            parts, size, number = stack.pop()
            if not parts:
                continue
            first, rest = parts[0], parts[1:]
            if first not in self._rules:
                string.append(self._grammar.numbers[first])
                stack.append((rest, size - 1, number))
                continue
            for right, own in self._splits(first, rest, size):
                after = self._ways(rest, size - own)
                if number < (ways := self._ways(right, own) * after):
                    stack.append((rest, size - own, number % after))
                    stack.append((right, own, number // after))
                    break
                number -= ways
        return string

    def _ways(self, parts: Parts, size: int) -> int:
        """Derivations of `size` symbols from some parts."""
        if not parts:
            return int(size == 0)
        if (known := self._known.get((parts, size))) is not None:
            return known
        first, rest = parts[0], parts[1:]
        if first not in self._rules:
            found = self._ways(rest, size - 1) if size else 0
        elif rest:
            found = sum(
                self._ways((first,), own) * self._ways(rest, size - own)
                for own in range(self._length((first,)), size - self._length(rest) + 1)
            )
        else:
            found = sum(
                self._ways(right, size)
                for right in self._rules[first]
                if size >= self._length(right)
            )
        self._known[parts, size] = found
        return found

    def _splits(self, first: str, rest: Parts, size: int) -> Iterator[tuple[Parts, int]]:
        """What the first part may become, and how many symbols of the string that takes."""
        for right in self._rules[first]:
            for own in range(self._length(right), size - self._length(rest) + 1):
                yield right, own

    def _length(self, parts: Parts) -> int:
        return sum(self._least.get(part, 1) for part in parts)


def _least_lengths(rules: dict[str, list[Parts]]) -> dict[str, int]:
    """By left side: the length of its shortest string."""
    found = dict.fromkeys(rules, 1 << 30)
    for _ in rules:  # each round settles one more
        for left, rights in rules.items():
            found[left] = min(sum(found.get(part, 1) for part in right) for right in rights)
    return found


class CountingSampler:
    """Counts and draws the strings of every length of a counter language, all equally likely."""

    def __init__(self, grammar: Counting) -> None:
        self._grammar, variables = grammar, len(grammar.stops)
        lengths = grammar.lengths(
            np.vstack([np.zeros(variables, np.int64), np.eye(variables, dtype=np.int64)])
        )
        totals = lengths.sum(axis=1)
        self._fixed, self._growth = int(totals[0]), (totals[1:] - totals[0]).tolist()

    def count(self, length: int) -> int:
        """How many strings have this length."""
        return sum(1 for _ in self._values(length - self._fixed))

    def drawn(self, rng: np.random.Generator, length: int) -> list[int]:
        """A string without `#`, by the numbers of the grammar's symbols."""
        every = list(self._values(length - self._fixed))
        return [int(one) for one in self._grammar.string(every[rng.integers(len(every))])[1:-1]]

    def _values(self, left: int, place: int = 0) -> Iterator[tuple[int, ...]]:
        """Values of the variables from a position on that add `left` symbols."""
        if place == len(self._growth):
            if not left:
                yield ()
            return
        growth, least = self._growth[place], int(self._grammar.least[place])
        last = place == len(self._growth) - 1
        values = range(least, left // growth + 1) if left >= 0 else range(0)
        for value in values[-1:] if last else values:
            for rest in self._values(left - growth * value, place + 1):
                yield (value, *rest)
