"""Networks that have been evaluated, and their bits: what comes again is not evaluated again.

A population that has settled makes the same children again and again. A network is known by its
whole row, not by a digest of it, so that what is remembered is exact. Of two that want the same
place, the later has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.learners.mdl.genes import (
    ACTIVATION,
    BIAS,
    BIAS_UNDER,
    EDGES,
    KIND,
    SOURCE,
    TARGET,
    TYPE,
    UNITS,
    WEIGHT,
    WEIGHT_UNDER,
    Numbers,
    Rows,
)
from quickstudy.numba_gateway import njit

PLACES = 1 << 17
"""Networks that are remembered at most, by an island: 50 MB, of which what is empty takes
nothing.
"""
LONGEST, LARGEST = 192, 32_767
"""Numbers of a network that is remembered, and the largest of them: others are evaluated every
time.
"""
FACTOR, DIGITS = 1_000_003, (1 << 40) - 1


class Memory(NamedTuple):
    """now (LONGEST,): the network looked for. networks (place, LONGEST): those known. bits (place,
    3): theirs.
    """

    now: NDArray[np.int16]
    networks: NDArray[np.int16]
    bits: Numbers

    @classmethod
    def empty(cls) -> Memory:
        """Nothing is known: no network is without units."""
        return cls(
            np.zeros(LONGEST, np.int16),
            np.zeros((PLACES, LONGEST), np.int16),
            np.zeros((PLACES, 3)),
        )


@njit
def look_up(row: Rows, memory: Memory) -> tuple[int, bool]:
    """The position of a network, -1 for none, and whether it is stored."""
    now, networks = memory.now, memory.networks
    units, edges = row[UNITS], row[EDGES]
    length = 2 + 4 * (units + edges)
    if length > LONGEST:
        return -1, False
    now[0], now[1] = units, edges
    at, largest = 2, 0
    for unit in range(units):
        above = row[BIAS + unit]
        below = (
            row[BIAS_UNDER + unit] if above != 0 else 1
        )  # what has no bias has no denominator either
        largest = max(largest, abs(above), below)
        now[at], now[at + 1] = row[ACTIVATION + unit], row[TYPE + unit]
        now[at + 2], now[at + 3] = min(above, LARGEST), min(below, LARGEST)
        at += 4
    for edge in range(edges):
        above, below = row[WEIGHT + edge], row[WEIGHT_UNDER + edge]
        largest = max(largest, abs(above), below)
        now[at], now[at + 1] = row[SOURCE + edge], 2 * row[TARGET + edge] + row[KIND + edge]
        now[at + 2], now[at + 3] = min(above, LARGEST), min(below, LARGEST)
        at += 4
    if largest >= LARGEST:
        return -1, False
    digest = 0
    for number in range(length):
        digest = (digest * FACTOR + int(now[number])) & DIGITS
    place = (digest >> 20) & (len(networks) - 1)
    for number in range(length):
        if networks[place, number] != now[number]:
            return place, False
    return place, True


@njit
def remember(place: int, memory: Memory, bits: Numbers) -> None:
    """Keep the bits of the network that was looked for last, at its place."""
    now, networks, kept = memory.now, memory.networks, memory.bits
    for number in range(2 + 4 * (int(now[0]) + int(now[1]))):
        networks[place, number] = now[number]
    for number in range(3):
        kept[place, number] = bits[number]
