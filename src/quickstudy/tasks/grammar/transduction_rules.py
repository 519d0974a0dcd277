"""Rules that do not learn a function of strings, and the one that knows it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.base.spaces import Tokens
from quickstudy.tasks.controls import FixedRule

TENTHS = 10
MOST = 32
"""Distinct positions; the longest answer has twice as many symbols as its string."""


class _Reader:
    """Knows where a string ends: at the first blank, the last word of the vocabulary."""

    gives = (Tokens,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self.task = task
        self._blank, self._answers = brief.inputs.width - 1, brief.outputs.width

    def _length(self, inputs: NDArray[Any]) -> int:
        return int(np.argmax(np.append(inputs, self._blank) == self._blank))


@control("by-place", version=1, role="control")
class ByPlace(_Reader):
    """The most frequent answer so far at that place of the answer, in tenths of the string's
    length.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        super().__init__(task, brief, seed)
        self._counts = np.zeros((MOST, self._answers), np.int64)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count the answers; -1 stands where nothing is asked."""
        asked = targets >= 0
        np.add.at(self._counts, (self._places(inputs)[asked], targets[asked]), 1)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """By place; where nothing was seen, the most frequent of all."""
        counts = np.where(
            self._counts.any(axis=1, keepdims=True), self._counts, self._counts.sum(axis=0)
        )
        return np.asarray(counts.argmax(axis=1)[self._places(inputs)])

    def _places(self, inputs: NDArray[Any]) -> NDArray[np.int64]:
        length = self._length(inputs)
        behind = np.maximum(np.arange(len(inputs)) - length, 0)
        return np.asarray(np.minimum(TENTHS * behind // max(length, 1), MOST - 1), np.int64)


@control("say-again", version=1, role="control")
class SayAgain(_Reader, FixedRule):
    """Repeats the string from its beginning; the first word where that is not an answer, or the
    string is over.
    """

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """As far as it goes."""
        length, said = self._length(inputs), np.zeros(len(inputs), np.int64)
        again = inputs[: min(length, len(inputs) - length)]
        said[length : length + len(again)] = np.where(again < self._answers, again, 0)
        return said


@control("transduction-oracle", version=1, role="oracle")
class TransductionOracle(_Reader, FixedRule):
    """Knows the function: always right."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The right answer after a string of the task; elsewhere the first word."""
        words, length = self.task.vocabulary, self._length(inputs)
        said = np.zeros(len(inputs), np.int64)
        try:
            right = self.task.solved([words[number] for number in inputs[:length]])
        except UsageError:
            return said
        behind = said[length : length + len(right)]
        behind[:] = [words.index(word) for word in right[: len(behind)]]
        return said
