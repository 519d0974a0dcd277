"""A network as one row of integers, and its description length.

A row holds the number of units and of edges, then per unit its activation, its type (0 sums, 1
multiplies) and its bias, then per edge source, target, kind (0 forward, within a step; 1 recurrent,
from the step before) and weight. Weights are a signed numerator over a denominator, never reduced;
a bias of numerator 0 is none. Units are numbered: inputs, outputs, then hidden ones. Forward edges
make no cycle.

Source: Lan, Geyer, Chemla and Katzir 2022, and the code of Lan, Chemla and Katzir 2023.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.numba_gateway import njit

Rows = NDArray[np.int32]
Numbers = NDArray[np.float64]

MOST_UNITS, MOST_EDGES = 60, 256
"""More than any network that a description length lets grow, and a set of units fits into 64 bits;
the published bound is 1,024 units.
"""
UNITS, EDGES = 0, 1
ACTIVATION = 2
TYPE = ACTIVATION + MOST_UNITS
BIAS = TYPE + MOST_UNITS
BIAS_UNDER = BIAS + MOST_UNITS
SOURCE = BIAS_UNDER + MOST_UNITS
TARGET = SOURCE + MOST_EDGES
KIND = TARGET + MOST_EDGES
WEIGHT = KIND + MOST_EDGES
WEIGHT_UNDER = WEIGHT + MOST_EDGES
WIDTH = WEIGHT_UNDER + MOST_EDGES
"""Places in a row."""

NAMES = (
    "linear",
    "relu",
    "sigmoid",
    "tanh",
    "square",
    "floor",
    "step",
    "gaussian",
    "sin",
    "inverse",
    "abs",
    "cosine",
    "mod2",
    ">>",
    "mod3",
)
"""Activations in the order of their published numbers."""
COSTS = np.array([0, 2, 4, 8, 2, 4, 8, 16, 16, 1, 1, 16, 8, 16, 8], dtype=np.int32)
"""Bits that each costs."""


class Parts(NamedTuple):
    """What networks are made of. symbols: inputs, and as many outputs. activations: the numbers of
    those that units may have. products: units may multiply. softmax: outputs are read as logarithms
    of chances, up to a constant.
    """

    symbols: int
    activations: Rows
    products: bool
    softmax: bool = False


@njit
def integer_bits(number: int) -> int:
    """Bits of a whole number, 0 or more, in a code without end marks.

    >>> [integer_bits(number) for number in (0, 1, 2, 7)]
    [1, 3, 5, 7]
    """
    length = 0
    while number > 0:
        number >>= 1
        length += 1
    return 2 * length + 1


@njit
def description_bits(row: Rows, allowed: int) -> int:
    """|H|: the bits in which a network is written down. allowed: how many activations there are to
    choose from.
    """
    units, edges = row[UNITS], row[EDGES]
    choice, wide = 0, 0
    while (1 << choice) < allowed:
        choice += 1
    while (1 << wide) < units:
        wide += 1
    bits = integer_bits(units)
    outgoing = np.zeros(MOST_UNITS, np.int32)
    for edge in range(edges):
        outgoing[row[SOURCE + edge]] += 1
        bits += (
            1
            + wide
            + 1
            + integer_bits(abs(row[WEIGHT + edge]))
            + integer_bits(row[WEIGHT_UNDER + edge])
        )
    for unit in range(units):
        activation = row[ACTIVATION + unit]
        # A published number may need more binary digits than the choice among those allowed.
        own = (integer_bits(activation) - 1) // 2
        bits += integer_bits(outgoing[unit]) + 1 + max(choice, own, 1) + COSTS[activation] + 1
        bias = abs(row[BIAS + unit])
        bits += 2 if bias == 0 else 1 + integer_bits(bias) + integer_bits(row[BIAS_UNDER + unit])
    return bits
