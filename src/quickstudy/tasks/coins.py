"""Random numbers for rules that guess, as a function of what has been read."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Odd, with bits of no pattern: the golden ratio and the square root of 2, as 64-bit fractions.
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0x6A09E667F3BCC909))


def prefix_coins(seed: int, inputs: NDArray[Any], size: int) -> NDArray[np.float64]:
    """One number uniform in [0, 1) per row of a sequence of tokens out of `size`.

    A row's number depends on the seed and on the tokens up to that row, on nothing else: asking twice gives the same
    guess, tokens still to come do not change it, and different prefixes are pairwise independent. (Zobrist hashing:
    a random 64-bit word for every place and token; a prefix is the exclusive or of its words. That sum is linear, so
    its bits are mixed: otherwise the guesses for prefixes that differ in one token would differ by a fixed mask.)
    """
    read = np.bitwise_xor.accumulate(_words(seed, len(inputs), size)[np.arange(len(inputs)), inputs])
    for factor in _FACTORS:
        read = (read ^ (read >> np.uint64(32))) * factor
    return (read >> np.uint64(11)).astype(np.float64) * 2.0**-53


@functools.lru_cache(maxsize=64)
def _words(seed: int, length: int, size: int) -> NDArray[np.uint64]:
    """(place, token); kept, since a rule asks for the same ones at every test."""
    return np.random.default_rng(seed).integers(2**64, size=(length, size), dtype=np.uint64)
