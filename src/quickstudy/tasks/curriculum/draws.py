"""Random numbers of the curriculum, by name."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

FEW = 24
"""As many things are shuffled faster by Python than by NumPy."""


@lru_cache
def _unpacker(count: int) -> Callable[[bytes], tuple[int, ...]]:
    return struct.Struct(f"<{count}I").unpack


class Draws:
    """Random numbers that follow from a name, by SHAKE-128: the same on every machine, in every
    version of anything.
    """

    def __init__(self, name: str) -> None:
        self._name, self._blocks, self._words = name.encode(), 0, iter(tuple[int, ...]())

    def words(self, count: int) -> tuple[int, ...]:
        """So many whole numbers of 32 bits."""
        return _unpacker(count)(self._block(count))

    def _block(self, count: int) -> bytes:
        digest = hashlib.shake_128(b"%s/%d" % (self._name, self._blocks)).digest(4 * count)
        self._blocks += 1
        return digest

    def below(self, count: int) -> int:
        """A whole number from 0 to count - 1."""
        word = next(self._words, -1)
        if word < 0:
            self._words = iter(self.words(64))
            word = next(self._words)
        return (word * count) >> 32

    def between(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return least + self.below(most - least + 1)

    def one_of(self, values: Sequence[T]) -> T:
        """Any of them."""
        return values[self.below(len(values))]

    def some_of(self, values: Sequence[T], count: int) -> list[T]:
        """So many different ones, in random order."""
        pool: list[Any] = list(values)
        for place in range(count):
            other = place + self.below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]

    def any_of(self, values: Sequence[T]) -> Iterator[T]:
        """Any of them, again and again."""
        return chain.from_iterable(map(self._some, repeat(values)))

    def _some(self, values: Sequence[T]) -> list[T]:
        count = len(values)
        return [values[(word * count) >> 32] for word in self.words(256)]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """All of them, in random order: that of as many words, the first first where two are
        equal.
        """
        count = len(values)
        if count <= FEW:
            return [
                values[place] for place in sorted(range(count), key=self.words(count).__getitem__)
            ]
        # A hundred take a third of the time that Python's own sorting takes, and a table's deck is
        # a hundred.
        order = np.frombuffer(self._block(len(values)), "<u4").argsort(kind="stable")
        return list(map(values.__getitem__, order.tolist()))
