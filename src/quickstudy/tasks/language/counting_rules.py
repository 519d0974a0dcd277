"""Rules that answer the queries of `language/symbol-counting` and `language/pattern-counting`:
oracles, shortcuts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.tasks.controls import WordRule
from quickstudy.tasks.language.pattern_counting import SEPARATOR
from quickstudy.tasks.language.symbol_counting import DIGITS, END, QUERY


class _Counter(WordRule, ABC):
    """Answers every query with the digits of a count, one by one, then with the end mark.

    A subclass decides which count, from the symbols or patterns shown and from the queries answered
    so far, as (symbol or pattern, digits).
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        super().__init__(task, brief, seed)
        self._alphabet: tuple[str, ...] = task.alphabet

    @abstractmethod
    def _count(
        self, shown: Sequence[str], answered: Sequence[tuple[str, str]], queried: str
    ) -> int:
        """What a rule of this kind decides."""


class _SymbolCounter(_Counter):
    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """After a queried symbol and after each digit, the next digit; anywhere else the end
        mark.
        """
        words = self._words(inputs)
        shown = words[: words.index(QUERY)] if QUERY in words else words
        answers = np.full(len(words), self._ids[END], dtype=np.int64)
        answered: list[tuple[str, str]] = []
        symbol, digits = "", ""
        for index, word in enumerate(words):
            if word in DIGITS and symbol:
                digits += word
            elif word == QUERY and digits:
                answered.append((symbol, digits))
            if word not in DIGITS:
                symbol = (
                    word if word in self._alphabet and index and words[index - 1] == QUERY else ""
                )
                digits = ""
            if symbol:
                rest = str(self._count(shown, answered, symbol))[len(digits) :]
                answers[index] = self._ids[rest[0] if rest else END]
        return answers


@control("symbol-counting-oracle", version=1, role="oracle")
class SymbolCountingOracle(_SymbolCounter):
    """Counts the queried symbol before the first query: always right."""

    def _count(
        self, shown: Sequence[str], answered: Sequence[tuple[str, str]], queried: str
    ) -> int:
        return shown.count(queried)


@control("remaining-share", version=1, role="control")
class RemainingShare(_SymbolCounter):
    """Knows how many symbols were shown, not which: gives the likeliest count for a symbol among
    those left.

    With m symbols not accounted for by earlier answers and u symbols not asked for yet, the count
    is binomial (m, 1/u), and its mode is the smaller of m and floor((m + 1) / u). The last symbol
    of all is always right.
    """

    def _count(
        self, shown: Sequence[str], answered: Sequence[tuple[str, str]], queried: str
    ) -> int:
        left = max(len(shown) - sum(int(digits) for _, digits in answered), 0)
        unasked = max(len(self._alphabet) - len({known for known, _ in answered}), 1)
        return min(left, (left + 1) // unasked)


class _PatternCounter(_Counter):
    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """After the separator of a query and after each digit, the next digit; anywhere else the
        end mark.
        """
        words = self._words(inputs)
        answers = np.full(len(words), self._ids[END], dtype=np.int64)
        start = words.index(QUERY) if QUERY in words else len(words)
        shown = "".join(words[:start]).split(SEPARATOR)
        answered: list[tuple[str, str]] = []
        pattern, digits, answer = "", "", ""
        for index, word in enumerate(words[start + 1 :], start + 1):
            if word == SEPARATOR:
                answer = str(self._count(shown, answered, pattern))
            elif word in DIGITS and answer:
                digits += word
            else:
                if digits:
                    answered.append((pattern, digits))
                pattern = word if digits else pattern + word
                digits, answer = "", ""
            if len(digits) < len(answer):
                answers[index] = self._ids[answer[len(digits)]]
        return answers


@control("pattern-counting-oracle", version=1, role="oracle")
class PatternCountingOracle(_PatternCounter):
    """Counts the queried pattern among those of the prompt.

    Always right where negative queries are verified. Where they are not, the answer that is asked
    for is itself wrong once in 65 times, and counting is the best that is known: 0.985.
    """

    def _count(
        self, shown: Sequence[str], answered: Sequence[tuple[str, str]], queried: str
    ) -> int:
        return shown.count(queried)


@control("seen-or-not", version=1, role="control")
class SeenOrNot(_PatternCounter):
    """Looks for the queried pattern but does not count: 1 if it was shown, else 0."""

    def _count(
        self, shown: Sequence[str], answered: Sequence[tuple[str, str]], queried: str
    ) -> int:
        return int(queried in shown)


@control("query-only", version=1, role="control")
class QueryOnly(_PatternCounter):
    """Does not look at the prompt: 0 if the query is made of letters of the query before, else 1.

    After a query that was answered 0 it always answers 1: a query for 0 follows one for a pattern
    of the prompt only.
    """

    def _count(
        self, shown: Sequence[str], answered: Sequence[tuple[str, str]], queried: str
    ) -> int:
        last, digits = answered[-1] if answered else ("", "0")
        return int(digits == "0" or not set(queried) <= set(last))
