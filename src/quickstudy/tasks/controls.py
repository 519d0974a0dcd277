"""Rules that never learn what a task is about, for any task that asks for tokens, and what rules
have in common.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.base.spaces import Tokens


class FixedRule:
    """A rule whose answers depend on the inputs alone, not on what it was shown."""

    learns = False

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        pass

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Nothing to learn."""


class WordRule(FixedRule):
    """A fixed rule of a task with a vocabulary, which it reads in words."""

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._seed = seed
        self._vocabulary: tuple[str, ...] = task.vocabulary
        self._ids = {word: id for id, word in enumerate(task.vocabulary)}

    def _words(self, inputs: NDArray[Any]) -> list[str]:
        return [self._vocabulary[id] for id in inputs.tolist()]


# Odd, with bits of no pattern: the golden ratio and the square root of 2, as 64-bit fractions.
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0x6A09E667F3BCC909))


def uniform_by_prefix(seed: int, inputs: NDArray[Any], size: int) -> NDArray[np.float64]:
    """One number uniform in [0, 1) per row of a sequence of tokens out of `size`.

    A row's number depends on the seed and on the tokens up to that row, on nothing else: asking
    twice gives the same guess, tokens still to come do not change it, and different prefixes are
    pairwise independent. (Zobrist hashing: a random 64-bit word for every place and token; a prefix
    is the exclusive or of its words. That sum is linear, so its bits are mixed: otherwise the
    guesses for prefixes that differ in one token would differ by a fixed mask.)
    """
    read = np.bitwise_xor.accumulate(
        _words(seed, len(inputs), size)[np.arange(len(inputs)), inputs]
    )
    for factor in _FACTORS:
        read = (read ^ (read >> np.uint64(32))) * factor
    return (read >> np.uint64(11)).astype(np.float64) * 2.0**-53


@functools.lru_cache(maxsize=64)
def _words(seed: int, length: int, size: int) -> NDArray[np.uint64]:
    """(place, token); kept, since a rule asks for the same ones at every test."""
    return np.random.default_rng(seed).integers(2**64, size=(length, size), dtype=np.uint64)


class AnswerCounter:
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
class Majority(AnswerCounter):
    """The most frequent answer so far; the smallest id among equals; token 0 before any answer was
    shown.
    """

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The same answer everywhere."""
        return np.full(len(inputs), np.argmax(self._counts))


@control("copy-last", version=1, role="control", anywhere=True)
class CopyLast(FixedRule):
    """Repeats the token just read."""

    reads = gives = (Tokens,)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The inputs themselves."""
        return np.array(inputs)


@control("uniform", version=1, role="control", anywhere=True)
class Uniform(AnswerCounter):
    """One of the answers seen so far, each as likely as the others; any token before any answer was
    shown.

    The guess is a function of the seed, the answers seen and the prefix: see `uniform_by_prefix`.
    """

    reads = (Tokens,)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """A guess for every row."""
        known = np.flatnonzero(self._counts)
        if not len(known):
            known = np.arange(len(self._counts))
        return known[
            np.floor(uniform_by_prefix(self._seed, inputs, self._tokens) * len(known)).astype(
                np.int64
            )
        ]
