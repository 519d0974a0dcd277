"""Dropout: which numbers are left out, drawn in one go for all the places of a network where some are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.cores.core import Array
from quickstudy.gateway import jax, jnp, lax


class Dropout:
    """A rate above 0, as it is drawn: exactly if it is a multiple of 1/256, else rounded to 1/65,536.

    parts: numbers that one word of 32 bits decides about, as many as the rate allows. factor: what kept numbers are
    multiplied by, the inverse of the share that is truly kept, so that the mean stays.
    """

    def __init__(self, rate: float) -> None:
        self._bits = next(bits for bits in (1, 2, 4, 8, 16) if bits == 16 or float(rate * 2**bits).is_integer())
        kept = min(2**self._bits - 1, round((1.0 - rate) * 2**self._bits))
        self._below = np.uint32(kept << (32 - self._bits))
        self.parts = 32 // self._bits
        self.factor = 2**self._bits / kept

    def blocks(self, count: int) -> int:
        """How many blocks of words decide about so many things."""
        return -(-count // self.parts)

    def kept(self, words: Array, part: Any) -> Array:
        """What is kept, by this part of each word, counted from the highest bits."""
        return words << (part * np.uint32(self._bits)) < self._below


class Noise:
    """What dropout leaves out of some rows, taken place by place. A word of a block decides, by its parts, about the
    same number of several heads, or of several rows taken one after the other.

    rate: share left out. keys: of the step that each row is, (B, T), None for no noise. widths: words of each block.
    first, of: the number of the first of these blocks, and how many a network has in all. A word's place in its key's
    draw depends on its sequence, its block and its place there, and on nothing else: a step has the same noise whether
    it is read alone or among others, and whatever the padding. taken: words taken so far.
    """

    def __init__(self, rate: float, keys: Array | None, widths: Sequence[int], first: int, of: int) -> None:
        self._words, self.taken = None, 0
        self._rows: tuple[Array, int] | None = None
        if keys is None:
            return
        self._dropout = Dropout(rate)
        self._widest = widths[-1]
        places = np.concatenate([np.arange(width) * of + first + block for block, width in enumerate(widths)])
        self._words = _drawn(keys, (places * len(keys) + np.arange(len(keys))[:, None]).astype(np.uint32))

    @property
    def factor(self) -> float:
        """What kept numbers are multiplied by."""
        return 1.0 if self._words is None else self._dropout.factor

    def __call__(self, rows: Array) -> Array:
        """Rows (B, T, E) with some of their numbers left out. The last blocks are for these, as wide as the widest."""
        if self._words is None:
            return rows
        if self._rows is None or self._rows[1] == self._dropout.parts:
            self._rows = self._take(self._widest), 0
        words, part = self._rows
        self._rows = words, part + 1
        kept = self._dropout.kept(words[..., : rows.shape[-1]], np.uint32(part))
        return jnp.where(kept, rows * np.float32(self.factor), 0.0)

    def shares(self, heads: int, keys: int) -> Array | None:
        """What attention keeps, booleans (B, heads, T, keys); None for everything."""
        if self._words is None:
            return None
        blocks, parts = self._dropout.blocks(heads), min(heads, self._dropout.parts)
        words = self._take(blocks * keys)
        words = jnp.swapaxes(words.reshape(*words.shape[:2], blocks, keys), 1, 2)
        kept = self._dropout.kept(words[:, :, None], np.arange(parts, dtype=np.uint32)[:, None, None])
        return kept.reshape(len(kept), blocks * parts, *kept.shape[3:])[:, :heads]

    def _take(self, count: int) -> Array:
        first, self.taken = self.taken, self.taken + count
        return self._words[..., first : self.taken]  # type: ignore[index]


def _drawn(keys: Array, places: NDArray[np.uint32]) -> Array:
    """(B, T, N) words for keys (B, T) and places (B, N)."""

    def one_by_one(keys: Array) -> Array:
        return lax.map(lambda both: threefry(both[0][:, None], both[1]), (keys, jnp.asarray(places)))

    # What a loop gives is drawn once. Without one, a CPU draws it again for every use, and for each part of a word.
    return lax.platform_dependent(
        keys, cpu=one_by_one, default=lambda keys: threefry(keys[:, :, None], places[:, None])
    )


def threefry(keys: Array, places: Array) -> Array:
    """Random words: entry n of `jax.random.bits(key, shape)`, for keys and places n that are broadcast to each other.

    The generator (Threefry-2x32, Salmon et al. 2011) is written out, so that it is one loop over all numbers: four
    times faster on a CPU than the rounds one after the other, each over all numbers, and compiled sooner.
    """
    words = jax.random.key_data(keys)
    first, second = words[..., 0], words[..., 1]
    schedule = first, second, first ^ second ^ np.uint32(0x1BD11BDA)
    left, right = first, jnp.asarray(places) + second
    for block in range(5):
        for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[block % 2]:
            left = left + right
            right = ((right << turn) | (right >> (32 - turn))) ^ left
        left = left + schedule[(block + 1) % 3]
        right = right + schedule[(block + 2) % 3] + np.uint32(block + 1)
    return left ^ right
