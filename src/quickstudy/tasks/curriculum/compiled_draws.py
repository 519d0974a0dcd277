"""The random numbers of `draws.Draws`, compiled: SHAKE-128 of a name, the number of an instance and
of a block.

Counted in an array of whole numbers: at 0 the number of the instance, at 1 that of the next block,
at 2 the position in the buffer; its length means that it is used up; at 3 the length of the name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.numba_gateway import njit

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


CONSTANTS = _constants()
WIDTH = np.uint64(64)
LEFT = np.arange(64, dtype=np.uint64)
"""Whole numbers of one kind: written as such in the program, each would have `_turned` compiled
again.
"""


@njit
def _turned(lane: Any, left: Any) -> Any:
    """The bits of a lane, turned to the left."""
    return (lane << left) | (lane >> (WIDTH - left))


@njit
def permuted(lanes: Any) -> None:
    """Keccak-f[1600], in place. Written out, all lanes stay in registers: less than half the time
    of loops.
    """
    # fmt: off
    a00, a01, a02, a03, a04 = lanes[0], lanes[1], lanes[2], lanes[3], lanes[4]
    a05, a06, a07, a08, a09 = lanes[5], lanes[6], lanes[7], lanes[8], lanes[9]
    a10, a11, a12, a13, a14 = lanes[10], lanes[11], lanes[12], lanes[13], lanes[14]
    a15, a16, a17, a18, a19 = lanes[15], lanes[16], lanes[17], lanes[18], lanes[19]
    a20, a21, a22, a23, a24 = lanes[20], lanes[21], lanes[22], lanes[23], lanes[24]
    for number in range(ROUNDS):
        c0 = a00 ^ a05 ^ a10 ^ a15 ^ a20
        c1 = a01 ^ a06 ^ a11 ^ a16 ^ a21
        c2 = a02 ^ a07 ^ a12 ^ a17 ^ a22
        c3 = a03 ^ a08 ^ a13 ^ a18 ^ a23
        c4 = a04 ^ a09 ^ a14 ^ a19 ^ a24
        d0 = c4 ^ _turned(c1, LEFT[1])
        d1 = c0 ^ _turned(c2, LEFT[1])
        d2 = c1 ^ _turned(c3, LEFT[1])
        d3 = c2 ^ _turned(c4, LEFT[1])
        d4 = c3 ^ _turned(c0, LEFT[1])
        b00 = a00 ^ d0
        b01 = _turned(a06 ^ d1, LEFT[44])
        b02 = _turned(a12 ^ d2, LEFT[43])
        b03 = _turned(a18 ^ d3, LEFT[21])
        b04 = _turned(a24 ^ d4, LEFT[14])
        b05 = _turned(a03 ^ d3, LEFT[28])
        b06 = _turned(a09 ^ d4, LEFT[20])
        b07 = _turned(a10 ^ d0, LEFT[3])
        b08 = _turned(a16 ^ d1, LEFT[45])
        b09 = _turned(a22 ^ d2, LEFT[61])
        b10 = _turned(a01 ^ d1, LEFT[1])
        b11 = _turned(a07 ^ d2, LEFT[6])
        b12 = _turned(a13 ^ d3, LEFT[25])
        b13 = _turned(a19 ^ d4, LEFT[8])
        b14 = _turned(a20 ^ d0, LEFT[18])
        b15 = _turned(a04 ^ d4, LEFT[27])
        b16 = _turned(a05 ^ d0, LEFT[36])
        b17 = _turned(a11 ^ d1, LEFT[10])
        b18 = _turned(a17 ^ d2, LEFT[15])
        b19 = _turned(a23 ^ d3, LEFT[56])
        b20 = _turned(a02 ^ d2, LEFT[62])
        b21 = _turned(a08 ^ d3, LEFT[55])
        b22 = _turned(a14 ^ d4, LEFT[39])
        b23 = _turned(a15 ^ d0, LEFT[41])
        b24 = _turned(a21 ^ d1, LEFT[2])
        a00 = b00 ^ (~b01 & b02)
        a01 = b01 ^ (~b02 & b03)
        a02 = b02 ^ (~b03 & b04)
        a03 = b03 ^ (~b04 & b00)
        a04 = b04 ^ (~b00 & b01)
        a05 = b05 ^ (~b06 & b07)
        a06 = b06 ^ (~b07 & b08)
        a07 = b07 ^ (~b08 & b09)
        a08 = b08 ^ (~b09 & b05)
        a09 = b09 ^ (~b05 & b06)
        a10 = b10 ^ (~b11 & b12)
        a11 = b11 ^ (~b12 & b13)
        a12 = b12 ^ (~b13 & b14)
        a13 = b13 ^ (~b14 & b10)
        a14 = b14 ^ (~b10 & b11)
        a15 = b15 ^ (~b16 & b17)
        a16 = b16 ^ (~b17 & b18)
        a17 = b17 ^ (~b18 & b19)
        a18 = b18 ^ (~b19 & b15)
        a19 = b19 ^ (~b15 & b16)
        a20 = b20 ^ (~b21 & b22)
        a21 = b21 ^ (~b22 & b23)
        a22 = b22 ^ (~b23 & b24)
        a23 = b23 ^ (~b24 & b20)
        a24 = b24 ^ (~b20 & b21)
        a00 ^= CONSTANTS[number]
    lanes[0], lanes[1], lanes[2], lanes[3], lanes[4] = a00, a01, a02, a03, a04
    lanes[5], lanes[6], lanes[7], lanes[8], lanes[9] = a05, a06, a07, a08, a09
    lanes[10], lanes[11], lanes[12], lanes[13], lanes[14] = a10, a11, a12, a13, a14
    lanes[15], lanes[16], lanes[17], lanes[18], lanes[19] = a15, a16, a17, a18, a19
    lanes[20], lanes[21], lanes[22], lanes[23], lanes[24] = a20, a21, a22, a23, a24
    # fmt: on


@njit
def _put(lanes: Any, place: int, byte: int) -> None:
    lanes[place >> 3] ^= np.uint64(byte) << np.uint64(8 * (place & 7))


@njit
def _written(lanes: Any, end: int, number: int) -> int:
    """A whole number in decimal digits, and where they end."""
    digits, most = 1, 10
    while number >= most:
        digits, most = digits + 1, 10 * most
    for place in range(digits):
        _put(lanes, end + digits - 1 - place, 48 + number % 10)
        number //= 10
    return end + digits


@njit
def words(contents: Any, first: int, now: Any, found: Any, count: int) -> None:
    """So many whole numbers of 32 bits, the next block, into an array. The name is in contents,
    from `first` on.
    """
    lanes = np.zeros(25, np.uint64)
    end = now[_NAME]
    for place in range(end):
        _put(lanes, place, contents[first + place])
    end = _written(lanes, end, now[0])
    _put(lanes, end, 47)
    end = _written(lanes, end + 1, now[1])
    now[1] += 1
    _put(lanes, end, 0x1F)
    _put(lanes, RATE - 1, 0x80)
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
