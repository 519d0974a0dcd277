"""Rules that answer the questions of `language/symbol-counting`: the oracle, and what the number of symbols tells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import control
from quickstudy.base.learner import Brief
from quickstudy.tasks.fixed import FixedRule
from quickstudy.tasks.language.symbol_counting import DIGITS, END, QUERY, SymbolCounting


class _Counter(FixedRule, ABC):
    """Answers every query with the digits of a count, one by one, then with the end mark.

    A subclass says which count, from the symbols shown and from the queries answered so far, as (symbol, count).
    """

    def __init__(self, task: SymbolCounting, brief: Brief, seed: int) -> None:
        self._vocabulary = task.vocabulary
        self._alphabet = task.alphabet
        self._ids = {word: id for id, word in enumerate(task.vocabulary)}

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """After a queried symbol and after each digit, the next digit; anywhere else the end mark."""
        words = [self._vocabulary[id] for id in inputs.tolist()]
        shown = words[: words.index(QUERY)] if QUERY in words else words
        answers = np.full(len(words), self._ids[END], dtype=np.int64)
        answered: list[tuple[str, int]] = []
        symbol, digits = "", ""
        for index, word in enumerate(words):
            if word in DIGITS and symbol:
                digits += word
            elif word == QUERY and digits:
                answered.append((symbol, int(digits)))
            if word not in DIGITS:
                symbol = word if word in self._alphabet and index and words[index - 1] == QUERY else ""
                digits = ""
            if symbol:
                rest = str(self._count(shown, answered, symbol))[len(digits) :]
                answers[index] = self._ids[rest[0] if rest else END]
        return answers

    @abstractmethod
    def _count(self, shown: Sequence[str], answered: Sequence[tuple[str, int]], symbol: str) -> int:
        """What a rule of this kind decides."""


@control("symbol-counting-oracle", version=1, role="oracle")
class SymbolCountingOracle(_Counter):
    """Counts the queried symbol before the first query: always right."""

    def _count(self, shown: Sequence[str], answered: Sequence[tuple[str, int]], symbol: str) -> int:
        return shown.count(symbol)


@control("remaining-share", version=1, role="control")
class RemainingShare(_Counter):
    """Knows how many symbols were shown, not which: gives the likeliest count for a symbol among those left.

    With m symbols not accounted for by earlier answers and u symbols not asked for yet, the count is binomial
    (m, 1/u), and its mode is the smaller of m and floor((m + 1) / u). The last symbol of all is always right.
    """

    def _count(self, shown: Sequence[str], answered: Sequence[tuple[str, int]], symbol: str) -> int:
        left = max(len(shown) - sum(count for _, count in answered), 0)
        unasked = max(len(self._alphabet) - len({known for known, _ in answered}), 1)
        return min(left, (left + 1) // unasked)
