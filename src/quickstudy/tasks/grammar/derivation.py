"""Probabilistic context-free grammars: read from text, checked and drawn from."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.tasks.grammar.following import Follower
from quickstudy.tasks.grammar.left_recursion import without_left_recursion

END = "#"
LONGEST_DRAWN = 1_000_000
MOST_SYMBOLS = 128
"""Terminals of a grammar and `#`: a symbol of a string is one byte."""
WRONG_ARROWS = ("→", "=>", "::=", "⟶")
_CHANCE = re.compile(r"\[(\d*\.?\d+(?:e-?\d+)?(?:/\d+)?)\]")


@dataclass(frozen=True)
class Derivation:
    """A grammar by its text: rules on lines of their own or between semicolons, the first left side
    is the start.

        S -> a S b S [0.3] | [0.7]

    Parts are separated by spaces; a part that is not a left side is a terminal: a letter, or a
    word. A word goes in quotes if it begins with a capital, or is among letters. A capital letter
    next to small ones is none: its rule was forgotten. Lines with the same left side are one rule.
    Every alternative ends with its probability, which may be a fraction, and may be empty. Raises
    UsageError for a text that is none, probabilities that do not sum to 1, a symbol that cannot be
    reached or does not end, recursion through parts that may be empty, and strings whose mean
    length is infinite.
    """

    text: str

    def __post_init__(self) -> None:
        self._check()

    @cached_property
    def rules(self) -> dict[str, list[tuple[Fraction, tuple[str, ...]]]]:
        """By left side: (probability, right side) in the order of the text."""
        found: dict[str, list[tuple[Fraction, tuple[str, ...]]]] = {}
        for left, parts in self._lines:
            for chance, right in parts:
                bare = tuple(part[1:-1] if _is_quoted(part) else part for part in right)
                if bare in [earlier for _, earlier in found.setdefault(left, [])]:
                    raise UsageError(
                        f'grammar: {left} has the alternative "{" ".join(bare)}" twice; write it'
                        " once, with the sum of its probabilities"
                    )
                found[left].append((chance, bare))
        if not found:
            raise UsageError("grammar: there is no rule; write: S -> a S b [0.7] | [0.3]")
        return found

    @cached_property
    def _lines(self) -> list[tuple[str, list[tuple[Fraction, tuple[str, ...]]]]]:
        """(left side, alternatives) of each line, with the quotes around words."""
        found = []
        for line in filter(None, map(str.strip, re.split(r"[;\n]", self.text))):
            left, arrow, right = (part.strip() for part in line.partition("->"))
            if not arrow or len(left.split()) != 1:
                raise UsageError(
                    f'grammar: "{line}" is not a rule; write: S -> a S b [0.7] | [0.3]'
                )
            parts = re.split(r"(?<=\])\s*\|\s*|\s\|\s", f" {right} ")
            found.append((left, [_alternative(part, line) for part in parts]))
        return found

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """`#`, then the terminals by code point; a symbol's number is its place."""
        parts = {part for _, right in itertools.chain(*self.rules.values()) for part in right}
        return (END, *sorted(parts - self.rules.keys()))

    def draw(self, uniform: Callable[[], float]) -> list[int]:
        """A string, without `#`. The leftmost derivation; every expansion takes one uniform number,
        even without a choice, and the rule whose share of 0 .. 1 holds it, in the order of
        the text.
        """
        stack, string = [next(iter(self.rules))], list[int]()
        while stack:
            top = stack.pop()
            if top in self.numbers:
                string.append(self.numbers[top])
                continue
            bounds, rights = self._shares[top]
            stack += reversed(rights[int(np.searchsorted(bounds, uniform(), side="right"))])
            if len(string) + len(stack) > LONGEST_DRAWN:
                raise UsageError(
                    f"grammar: a string of more than {LONGEST_DRAWN:,} symbols; give shorter ones"
                )
        return string

    def draws(self, rng: np.random.Generator, count: int) -> list[NDArray[np.int8]]:
        """Independent strings with both `#`; more of them begin with the same ones."""
        return [wrapped(self.draw(rng.random)) for _ in range(count)]

    def conditionals(self, inputs: NDArray[np.integer]) -> NDArray[np.float64]:
        """(time, symbol): the chance of each symbol after `inputs[: time + 1]`, which begins with
        `#`; all alike once a string has left the language.
        """
        rows = np.full((len(inputs), len(self.symbols)), 1 / len(self.symbols))
        state = self.follower.start
        for time, symbol in enumerate(inputs.tolist()):
            state = self.follower.after(state, symbol) if time else state
            if state < 0:
                break
            rows[time] = self.follower.chances(state)
        return rows

    def likely(self, string: NDArray[np.integer]) -> NDArray[np.float64]:
        """The chance of each symbol of a string of the language, after all before it; 1 where it is
        certain.
        """
        return np.asarray(
            np.take_along_axis(self.conditionals(string[:-1]), string[1:, None].astype(int), 1)[
                :, 0
            ]
        )

    def contains(self, string: NDArray[np.integer]) -> bool:
        """Whether a string with both `#` is of the language."""
        state = self.follower.start
        for symbol in string[1:-1].tolist():
            state = self.follower.after(state, symbol)
            if state < 0:
                return False
        return (
            len(string) > 1
            and not string[0]
            and not string[-1]
            and bool(self.follower.chances(state)[0] > 0)
        )

    def size(self, string: NDArray[np.integer]) -> int:
        """How large a string is: its symbols, without `#`."""
        return len(string) - 2

    @cached_property
    def follower(self) -> Follower:
        """Reads strings symbol by symbol."""
        return Follower(self)

    @cached_property
    def entropy(self) -> float:
        """Bits of a derivation; of a string, where each has only one."""
        own = [
            -sum(float(p) * np.log2(float(p)) for p, _ in found if p)
            for found in self.rules.values()
        ]
        return float(self._expansions @ own)

    @cached_property
    def mean_length(self) -> float:
        """Expected symbols of a string."""
        own = [
            float(sum(p * sum(part in self.numbers for part in right) for p, right in found))
            for found in self.rules.values()
        ]
        return float(self._expansions @ own)

    @cached_property
    def finite(self) -> bool:
        """Whether there is a longest string: no left side contains itself, however far
        down.
        """
        return not np.linalg.matrix_power(self._means > 0, len(self._means)).any()

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Of the symbols."""
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    @cached_property
    def _shares(self) -> dict[str, tuple[NDArray[np.float64], list[tuple[str, ...]]]]:
        shares = {}
        for left, found in self.rules.items():
            bounds = np.cumsum([float(p) for p, _ in found])
            shares[left] = bounds / bounds[-1], [right for _, right in found]
        return shares

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        """(left side, part): how many of each left side replace one, on average."""
        names = list(self.rules)
        return np.array(
            [
                [float(sum(p * r.count(n) for p, r in self.rules[left])) for n in names]
                for left in names
            ]
        )

    @cached_property
    def _expansions(self) -> NDArray[np.float64]:
        """How often each left side is expanded in a derivation, on average."""
        return np.asarray(np.linalg.inv(np.eye(len(self._means)) - self._means)[0])

    def _check(self) -> None:
        for left, found in self.rules.items():
            if abs((total := sum((p for p, _ in found), Fraction(0))) - 1) > Fraction(1, 10**9):
                raise UsageError(
                    f"grammar: the probabilities of {left} sum to {float(total):g}, not to 1"
                )
        self._check_terminals()
        reached, ending = {next(iter(self.rules))}, set[str]()
        for _ in self.rules:  # each round finds one more, or none is left
            for left, found in self.rules.items():
                rights = [right for p, right in found if p]
                reached |= {part for right in rights for part in right if left in reached}
                ending |= (
                    {left}
                    if any(all(p in ending or p in self.numbers for p in r) for r in rights)
                    else set()
                )
        for wanted, said in (
            (reached, "cannot be reached from the start"),
            (ending, "never ends in a string"),
        ):
            if lost := [left for left in self.rules if left not in wanted]:
                raise UsageError(f"grammar: {lost[0]} {said}; leave it out or give it a rule")
        without_left_recursion(self.rules)
        if np.abs(np.linalg.eigvals(self._means)).max() >= 1 - 1e-9:
            raise UsageError(
                "grammar: its strings have no finite mean length; make the rules that end more"
                " likely"
            )

    def _check_terminals(self) -> None:
        """Raises UsageError for what is most likely a left side whose rule was forgotten."""
        parts = {p for _, some in self._lines for _, right in some for p in right}
        quoted = {part[1:-1] for part in parts if _is_quoted(part)}
        bare = [symbol for symbol in self.symbols[1:] if symbol not in quoted]
        words = [symbol for symbol in bare if len(symbol) > 1]
        for symbol in sorted(quoted.union(self.symbols[1:])):
            if set(symbol) & {END, "|"} or symbol in quoted & self.rules.keys():
                raise UsageError(
                    f'grammar: "{symbol}" is not a terminal; a terminal has neither # nor | in it'
                    " and is not a left side"
                )
        if len(self.symbols) > MOST_SYMBOLS:
            raise UsageError(
                f"grammar: {len(self.symbols) - 1} different terminals are more than"
                f" {MOST_SYMBOLS - 1}; write fewer"
            )
        # In a grammar whose terminals are all capitals, one that lacks its rule looks like
        # them.
        if any(map(str.islower, self.symbols)) and (
            capital := next(filter(str.isupper, set(bare) - set(words)), "")
        ):
            raise UsageError(
                f'grammar: "{capital}" has no rule, and no terminal is a capital letter among'
                " small ones"
            )
        small = any(left[0].islower() for left in self.rules)
        long = sum(len(symbol) > 1 for symbol in self.symbols)
        for word in words:
            if word[0].isupper() or small:
                raise UsageError(f'grammar: "{word}" has no rule; a word goes in quotes: "{word}"')
            if 2 * long <= len(self.symbols) - 1:
                raise UsageError(
                    f'grammar: "{word}" has no rule; letters stand between spaces'
                    f" ({' '.join(word)}), and a word among letters in quotes"
                )


def _is_quoted(part: str) -> bool:
    return len(part) > 2 and part[0] == part[-1] and part[0] in "\"'"


def _alternative(text: str, line: str) -> tuple[Fraction, tuple[str, ...]]:
    *right, last = text.split() or [""]
    given = _CHANCE.fullmatch(last)
    if given is None and last.startswith("["):
        raise UsageError(
            f'grammar: a probability is a number from 0 to 1, such as [0.3] or [1/3], got "{last}"'
        )
    if given is None:
        raise UsageError(
            f'grammar: "{text.strip()}" of "{line}" does not end with its probability, such as'
            " [0.3]"
        )
    return Fraction(given[1]), tuple(right)


def wrapped(word: Sequence[int]) -> NDArray[np.int8]:
    """A string between two `#`."""
    return np.array([0, *word, 0], np.int8)
