"""Baselines of span items of symbols: shallow tables, a rote memoriser, guesses among what was shown; the oracle.

A table maps one shallow feature of what was read to the most frequent answer. It never composes
anything, so a table with a long span means that the item has a shortcut.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import control
from quickstudy.base.learner import Brief
from quickstudy.tasks.controls import FixedRule, uniform_by_prefix


class TableRule:
    """The most frequent answer to questions with the same feature; the most frequent of all else."""

    feature: Callable[[Sequence[int]], Hashable]

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._seen: defaultdict[Hashable, Counter[int]] = defaultdict(Counter)
        self._all: Counter[int] = Counter()

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count the answers; -1 is where nothing is asked."""
        tokens = inputs.tolist()
        for position in np.flatnonzero(targets >= 0):
            answer = int(targets[position])
            self._seen[type(self).feature(tokens[: position + 1])][answer] += 1
            self._all[answer] += 1

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """One answer per row."""
        tokens = inputs.tolist()
        usual = _most_common(self._all)
        found = (self._seen.get(type(self).feature(tokens[: end + 1])) for end in range(len(tokens)))
        return np.array([usual if counts is None else _most_common(counts) for counts in found])


def _most_common(counts: Counter[int]) -> int:
    """The most frequent answer, the smallest of equals; 0 before any was shown."""
    return min(counts, key=lambda answer: (-counts[answer], answer)) if counts else 0


def _table(name: str, feature: Callable[[Sequence[int]], Hashable], words: str) -> None:
    """Register a table rule."""
    made = type(name, (TableRule,), {"feature": staticmethod(feature), "__doc__": words, "__module__": __name__})
    control(name, version=1, role="control")(made)


_table("rote", tuple, "Remembers every sequence it was shown with its answer; nothing else.")
_table("by-last", lambda tokens: tokens[-1], "The usual answer after the last symbol.")
_table("by-length", len, "The usual answer after so many symbols.")
_table("by-length-parity", lambda tokens: len(tokens) % 2, "The usual answer after an even or odd number of symbols.")
_table("by-position", lambda tokens: (tokens[0], len(tokens)), "The usual answer to the first symbol and the position.")
_table("by-bigram", lambda tokens: tuple(tokens[-2:]), "The usual answer after the last two symbols.")
_table("by-bag", lambda tokens: tuple(sorted(set(tokens))), "The usual answer to a set of symbols, in any order.")


@control("among-shown", version=1, role="control")
class AmongShown(FixedRule):
    """Guesses one of the answers that the sequence shows, each as likely as the others."""

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._task, self._seed, self._size = task, seed, brief.inputs.width

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """One guess per row, a function of the seed and of what was read."""
        tokens, guesses = inputs.tolist(), np.zeros(len(inputs), np.int64)
        chosen = uniform_by_prefix(self._seed, inputs, self._size)
        for row in range(len(tokens)):
            if self._task.solve(tokens[: row + 1]) >= 0:
                shown = self._task.shown_answers(tokens[: row + 1])
                guesses[row] = shown[int(chosen[row] * len(shown))]
        return guesses


@control("span-oracle", version=1, role="oracle")
class SpanOracle(FixedRule):
    """Solves the item from what is read."""

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._task = task

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The right answer per row; 0 where nothing can be asked."""
        tokens = inputs.tolist()
        return np.array([max(0, self._task.solve(tokens[: row + 1])) for row in range(len(tokens))])
