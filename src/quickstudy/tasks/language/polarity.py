"""Rules that answer a question about a statement without looking at the name in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import control
from quickstudy.base.learner import Brief
from quickstudy.tasks.coins import prefix_coins
from quickstudy.tasks.fixed import FixedRule
from quickstudy.tasks.language.clauses import skim_facts
from quickstudy.tasks.language.words import NO, VERBS, YES


class _Polarity(FixedRule, ABC):
    """Answers YES where `_leaning` is positive, NO where it is negative, and throws a coin where it is 0."""

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._vocabulary: tuple[str, ...] = task.vocabulary
        self._seed = seed

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The answer that the names mentioned so far with the verb read last lean to."""
        words = [self._vocabulary[id] for id in inputs.tolist()]
        verbs = np.array(list(accumulate(words, lambda last, word: word if word in VERBS else last)))
        affirmed = np.zeros(len(words), dtype=np.int64)
        denied = np.zeros(len(words), dtype=np.int64)
        for fact in skim_facts(words):
            (affirmed if fact.affirmed else denied)[fact.place :] += verbs[fact.place :] == fact.verb
        leaning = self._leaning(affirmed, denied)
        coins = prefix_coins(self._seed, inputs, len(self._vocabulary)) < 0.5
        yes, no = self._vocabulary.index(YES), self._vocabulary.index(NO)
        return np.where((leaning > 0) | ((leaning == 0) & coins), yes, no)

    @abstractmethod
    def _leaning(self, affirmed: NDArray[np.int64], denied: NDArray[np.int64]) -> NDArray[np.int64]:
        """What a rule of this kind decides."""


@control("polarity", version=1, role="control")
class Polarity(_Polarity):
    """YES if all names of the queried verb are affirmed, NO if all are denied, else a coin."""

    def _leaning(self, affirmed: NDArray[np.int64], denied: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.sign(affirmed) - np.sign(denied)


@control("polarity-count", version=1, role="control")
class PolarityCount(_Polarity):
    """YES if more names of the queried verb are affirmed than denied, NO if fewer, a coin if as many."""

    def _leaning(self, affirmed: NDArray[np.int64], denied: NDArray[np.int64]) -> NDArray[np.int64]:
        return affirmed - denied
