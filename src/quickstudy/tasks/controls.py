"""Rules that never learn what a task is about, for any task that asks for tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import control
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Tokens
from quickstudy.tasks.coins import prefix_coins
from quickstudy.tasks.fixed import FixedRule


class _AnswerCounter:
    """Keeps count of the answers it was shown."""

    gives = (Tokens,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._seed = seed
        self._tokens = brief.inputs.width
        self._counts = np.zeros(brief.outputs.width, dtype=np.int64)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count the answers; -1 stands where nothing is asked."""
        self._counts += np.bincount(targets[targets >= 0], minlength=len(self._counts))


@control("majority", version=1, role="control", anywhere=True)
class Majority(_AnswerCounter):
    """The most frequent answer so far; the smallest id among equals; token 0 before any answer was shown."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The same answer everywhere."""
        return np.full(len(inputs), np.argmax(self._counts))


@control("copy-last", version=1, role="control", anywhere=True)
class CopyLast(FixedRule):
    """Repeats the token just read."""

    reads = gives = (Tokens,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        pass

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The inputs themselves."""
        return np.array(inputs)


@control("uniform", version=1, role="control", anywhere=True)
class Uniform(_AnswerCounter):
    """One of the answers seen so far, each as likely as the others; any token before any answer was shown.

    The guess is a function of the seed, the answers seen and the prefix: see `prefix_coins`.
    """

    reads = (Tokens,)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """A guess for every row."""
        known = np.flatnonzero(self._counts)
        if not len(known):
            known = np.arange(len(self._counts))
        return known[np.floor(prefix_coins(self._seed, inputs, self._tokens) * len(known)).astype(np.int64)]
