"""Baselines of span items of symbols: shallow tables, a rote memoriser, guesses among what was
shown; the oracle.

A table maps one shallow feature of what was read to the most frequent answer. It never composes
anything, so a table with a long span means that the item has a shortcut.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.tasks.controls import FixedRule, uniform_by_prefix


class TableRule(ABC):
    """The most frequent answer to questions with the same feature; the most frequent of all
    else.
    """

    @staticmethod
    @abstractmethod
    def features(tokens: Sequence[Any]) -> Iterable[Hashable]:
        """What the table is indexed by, after every symbol."""

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._seen: defaultdict[Hashable, Counter[int]] = defaultdict(Counter)
        self._all: Counter[int] = Counter()

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count the answers; -1 is where nothing is asked."""
        for feature, answer in zip(self.features(_symbols(inputs)), targets.tolist(), strict=True):
            if answer >= 0:
                self._seen[feature][answer] += 1
                self._all[answer] += 1

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """One answer per row."""
        usual = _most_common(self._all)
        found = map(self._seen.get, self.features(_symbols(inputs)))
        return np.array([usual if counts is None else _most_common(counts) for counts in found])


def _symbols(inputs: NDArray[Any]) -> Sequence[Any]:
    """Tokens, or a row of real numbers as one symbol."""
    return inputs.tolist() if inputs.ndim == 1 else [row.tobytes() for row in inputs]


def _most_common(counts: Counter[int]) -> int:
    """The most frequent answer, the smallest of equals; 0 before any was shown."""
    return min(counts, key=lambda answer: (-counts[answer], answer)) if counts else 0


@control("rote", version=1, role="control")
class Rote(TableRule):
    """Remembers every sequence it was shown with its answer, and nothing else."""

    @staticmethod
    def features(tokens: Sequence[Any]) -> Iterable[Hashable]:
        """What the table is indexed by, after every symbol."""
        return itertools.accumulate(tokens, lambda before, token: hash((before, token)))


@control("by-last", version=1, role="control")
class ByLast(TableRule):
    """The usual answer after the last symbol."""

    @staticmethod
    def features(tokens: Sequence[Any]) -> Iterable[Hashable]:
        """What the table is indexed by, after every symbol."""
        return tokens


@control("by-length", version=1, role="control")
class ByLength(TableRule):
    """The usual answer after so many symbols."""

    @staticmethod
    def features(tokens: Sequence[Any]) -> Iterable[Hashable]:
        """What the table is indexed by, after every symbol."""
        return range(len(tokens))


@control("by-length-parity", version=1, role="control")
class ByLengthParity(TableRule):
    """The usual answer after an even, or an odd, number of symbols."""

    @staticmethod
    def features(tokens: Sequence[Any]) -> Iterable[Hashable]:
        """What the table is indexed by, after every symbol."""
        return (place % 2 for place in range(len(tokens)))


@control("by-position", version=1, role="control")
class ByPosition(TableRule):
    """The usual answer to the first symbol and the position."""

    @staticmethod
    def features(tokens: Sequence[Any]) -> Iterable[Hashable]:
        """What the table is indexed by, after every symbol."""
        return ((tokens[0], place) for place in range(len(tokens)))


@control("by-bigram", version=1, role="control")
class ByBigram(TableRule):
    """The usual answer after the last two symbols."""

    @staticmethod
    def features(tokens: Sequence[Any]) -> Iterable[Hashable]:
        """What the table is indexed by, after every symbol."""
        return zip((-1, *tokens), tokens, strict=False)


@control("by-bag", version=1, role="control")
class ByBag(TableRule):
    """The usual answer to a set of symbols, in any order."""

    @staticmethod
    def features(tokens: Sequence[Any]) -> Iterable[Hashable]:
        """What the table is indexed by, after every symbol."""
        first: frozenset[Any] = frozenset()
        return list(
            itertools.accumulate(tokens, lambda seen, token: seen | {token}, initial=first)
        )[1:]


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


@control("follows-last", version=1, role="control")
class FollowsLast(FixedRule):
    """The answer that has most often followed the last symbol within the same sequence."""

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._task = task

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """One answer per row; 0 where nothing can be asked."""
        tokens, answers = inputs.tolist(), np.zeros(len(inputs), np.int64)
        for row in range(len(tokens)):
            if self._task.solve(tokens[: row + 1]) >= 0:
                answers[row] = _most_common(Counter(self._task.shown_answers(tokens[: row + 1])))
        return answers
