"""The random numbers of `loop.Draws`, compiled: SHAKE-128 of a name, the number of an instance and of a block.

Counted in an array of whole numbers: at 0 the number of the instance, at 1 that of the next block, at 2 the place in
the buffer, whose length says that it is used up; at 3 the length of the name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.compiled import njit

BUFFER = 64
"""Words that are drawn at once for single numbers."""
RATE, ROUNDS = 168, 24
_NAME = 3


def _constants() -> NDArray[np.uint64]:
    """Of the rounds of Keccak: bits of a shift register."""
    found, register = [], 1
    for _ in range(ROUNDS):
        constant = 0
        for power in range(7):
            constant |= (register & 1) << ((1 << power) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        found.append(constant)
    return np.array(found, np.uint64)


def _turns() -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Where each lane goes to, in the order of their cycle, and by how many bits it is turned."""
    places, bits, x, y = [], [], 1, 0
    for step in range(24):
        x, y = y, (2 * x + 3 * y) % 5
        places.append(x + 5 * y)
        bits.append((step + 1) * (step + 2) // 2 % 64)
    return np.array(places), np.array(bits, np.uint64)


CONSTANTS = _constants()
PLACES, TURNS = _turns()
WIDTH, ONE = np.uint64(64), np.uint64(1)


@njit
def permuted(lanes: Any) -> None:
    """Keccak-f[1600], in place."""
    sums = np.zeros(5, np.uint64)
    for number in range(ROUNDS):
        for x in range(5):
            sums[x] = lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
        for x in range(5):
            other = sums[(x + 1) % 5]
            mixed = sums[(x + 4) % 5] ^ ((other << ONE) | (other >> (WIDTH - ONE)))
            for y in range(0, 25, 5):
                lanes[x + y] ^= mixed
        carried = lanes[1]
        for step in range(24):
            place = PLACES[step]
            kept = lanes[place]
            lanes[place] = (carried << TURNS[step]) | (carried >> (WIDTH - TURNS[step]))
            carried = kept
        for y in range(0, 25, 5):
            for x in range(5):
                sums[x] = lanes[y + x]
            for x in range(5):
                lanes[y + x] = sums[x] ^ (~sums[(x + 1) % 5] & sums[(x + 2) % 5])
        lanes[0] ^= CONSTANTS[number]


@njit
def _written(message: Any, end: int, number: int) -> int:
    """A whole number in decimal digits, and where they end."""
    digits = 1
    while number >= 10**digits:
        digits += 1
    for place in range(digits):
        message[end + digits - 1 - place] = 48 + number % 10
        number //= 10
    return end + digits


@njit
def words(contents: Any, first: int, now: Any, found: Any, count: int) -> None:
    """So many whole numbers of 32 bits, the next block, into an array. The name is in contents, from `first` on."""
    message = np.zeros(RATE, np.uint8)
    end = now[_NAME]
    for place in range(end):
        message[place] = contents[first + place]
    end = _written(message, end, now[0])
    message[end] = 47
    end = _written(message, end + 1, now[1])
    now[1] += 1
    message[end] = 0x1F
    message[RATE - 1] |= 0x80
    lanes = np.zeros(25, np.uint64)
    for place in range(RATE):
        lanes[place // 8] |= np.uint64(message[place]) << np.uint64(8 * (place % 8))
    permuted(lanes)
    lane = 0
    for place in range(count):
        if lane == RATE // 8:
            permuted(lanes)
            lane = 0
        if place % 2:
            found[place] = lanes[lane] >> np.uint64(32)
            lane += 1
        else:
            found[place] = lanes[lane] & np.uint64(0xFFFFFFFF)


@njit
def below(contents: Any, first: int, now: Any, buffer: Any, count: int) -> int:
    """A whole number from 0 to count - 1."""
    if now[2] == BUFFER:
        words(contents, first, now, buffer, BUFFER)
        now[2] = 0
    word = np.int64(buffer[now[2]])
    now[2] += 1
    return int((word * count) >> 32)
