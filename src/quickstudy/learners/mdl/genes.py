"""A network as one row of integers, its description length, and what it says on a tree of strings: compiled.

A row holds the number of units and of edges, then per unit its activation, its type (0 sums, 1 multiplies) and its
bias, then per edge source, target, kind (0 forward, within a step; 1 recurrent, from the step before) and weight.
Weights are a signed numerator over a denominator, never reduced; a bias of numerator 0 is none. Units are numbered:
inputs, outputs, then hidden ones. Forward edges make no cycle.

Source: Lan, Geyer, Chemla and Katzir 2022, and the code of Lan, Chemla and Katzir 2023.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.compiled import njit

Rows = NDArray[np.int32]
Numbers = NDArray[np.float64]

MOST_UNITS, MOST_EDGES = 64, 256
"""More than any network that a description length lets grow; the published bound is 1,024 units."""
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
CLIP, EMPTY = 1e6, 1e-8
"""Values are kept within ±CLIP; outputs that sum to no more than EMPTY are read as uniform."""

NAMES = (
    "linear", "relu", "sigmoid", "tanh", "square", "floor", "step", "gaussian",
    "sin", "inverse", "abs", "cosine", "mod2", ">>", "mod3",
)  # fmt: skip
"""Activations in the order of their published numbers."""
COSTS = np.array([0, 2, 4, 8, 2, 4, 8, 16, 16, 1, 1, 16, 8, 16, 8], dtype=np.int32)
"""Bits that each costs."""


@njit
def activated(kind: int, x: float) -> float:
    """The value of a unit from what it has gathered."""
    if kind == 0:
        return x
    if kind == 1:
        return x if x > 0.0 else 0.0
    if kind == 2:
        return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
    if kind == 3:
        return math.tanh(x)
    if kind == 4:
        return x * x
    if kind == 5:
        return math.floor(x) * 1.0
    if kind == 6:
        return 1.0 if x > 0.0 else 0.0
    if kind == 7:
        return math.exp(-x * x / 2.0)
    if kind == 8:
        return math.sin(math.pi * x)
    if kind == 9:
        return -x
    if kind == 10:
        return abs(x)
    if kind == 11:
        return math.cos(math.pi * x)
    if kind == 12:
        return x - 2.0 * math.floor(x / 2.0)
    if kind == 13:
        return math.floor(x / 2.0) * 1.0
    return x - 3.0 * math.floor(x / 3.0)


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
def description_bits(row: Rows, allowed: int, costs: Rows) -> int:
    """|H|: the bits in which a network is written down. allowed: how many activations there are to choose from."""
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
        bits += 1 + wide + 1 + integer_bits(abs(row[WEIGHT + edge])) + integer_bits(row[WEIGHT_UNDER + edge])
    for unit in range(units):
        activation = row[ACTIVATION + unit]
        # A published number may need more binary digits than the choice among those allowed.
        own = (integer_bits(activation) - 1) // 2
        bits += integer_bits(outgoing[unit]) + 1 + max(choice, own, 1) + costs[activation] + 1
        bias = abs(row[BIAS + unit])
        bits += 2 if bias == 0 else 1 + integer_bits(bias) + integer_bits(row[BIAS_UNDER + unit])
    return bits


@njit
def wire(row: Rows, symbols: int, order: Rows, first: Rows, source: Rows, weight: Numbers) -> int:
    """Lay out a network for computing: units in an order in which each comes after all that it needs.

    Fills order with the units that reach an output or the next step; first (2, unit + 1): where the forward and the
    recurrent edges into each unit begin in source and weight (2, edge). Gives how many units are computed.
    """
    units, edges = row[UNITS], row[EDGES]
    for kind in range(2):
        for unit in range(units + 1):
            first[kind, unit] = 0
    for edge in range(edges):
        first[row[KIND + edge], row[TARGET + edge] + 1] += 1
    for kind in range(2):
        for unit in range(units):
            first[kind, unit + 1] += first[kind, unit]
    filled = np.zeros((2, MOST_UNITS), np.int32)
    sending = np.zeros(MOST_UNITS, np.bool_)
    for edge in range(edges):
        kind, target = row[KIND + edge], row[TARGET + edge]
        place = first[kind, target] + filled[kind, target]
        filled[kind, target] += 1
        source[kind, place] = row[SOURCE + edge]
        weight[kind, place] = row[WEIGHT + edge] / row[WEIGHT_UNDER + edge]
        sending[row[SOURCE + edge]] |= kind == 1
    seen = np.zeros(MOST_UNITS, np.bool_)
    looked = np.zeros(MOST_UNITS, np.int32)
    stack = np.zeros(MOST_UNITS, np.int32)
    count = 0
    for turn in range(symbols + units):
        root = symbols + turn if turn < symbols else turn - symbols
        if seen[root] or (turn >= symbols and not sending[root]):
            continue
        seen[root], stack[0], height = True, root, 1
        while height:
            unit = stack[height - 1]
            place = first[0, unit] + looked[unit]
            if place < first[0, unit + 1]:
                looked[unit] += 1
                before = source[0, place]
                if not seen[before]:
                    seen[before] = True
                    stack[height] = before
                    height += 1
            else:
                order[count] = unit
                count += 1
                height -= 1
    return count


@njit
def think(
    row: Rows, symbols: int, count: int, order: Rows, first: Rows, source: Rows, weight: Numbers,
    symbol: int, before: Numbers, began: bool, values: Numbers,
) -> None:  # fmt: skip
    """One step: values (unit,) after reading a symbol. before: the values of the step before, unless it has just begun."""
    for place in range(count):
        unit = order[place]
        own = unit < symbols
        begin, end = first[0, unit], first[0, unit + 1]
        past, done = first[1, unit], first[1, unit + 1]
        x = 1.0 if own and unit == symbol else 0.0
        if own and begin == end and past == done and row[BIAS + unit] == 0 and row[ACTIVATION + unit] == 0:
            values[unit] = x
            continue
        if row[TYPE + unit] == 0:
            for edge in range(begin, end):
                x += weight[0, edge] * values[source[0, edge]]
            if not began:
                for edge in range(past, done):
                    x += weight[1, edge] * before[source[1, edge]]
        else:
            if not own:
                x = 1.0 if end > begin else 0.0
            for edge in range(begin, end):
                x *= weight[0, edge] * values[source[0, edge]]
            if not began:
                for edge in range(past, done):
                    x *= weight[1, edge] * before[source[1, edge]]
        if row[BIAS + unit] != 0:
            x += row[BIAS + unit] / row[BIAS_UNDER + unit]
        values[unit] = activated(row[ACTIVATION + unit], min(max(x, -CLIP), CLIP))


@njit
def speak(values: Numbers, symbols: int, said: Numbers) -> None:
    """The distribution over the next symbol from the values of the outputs: none below 0, 1 in sum."""
    total = 0.0
    for symbol in range(symbols):
        value = values[symbols + symbol]
        said[symbol] = 0.0 if value < 0.0 else value
        total += said[symbol]
    for symbol in range(symbols):
        said[symbol] = said[symbol] / total if total > EMPTY else 1.0 / symbols


@njit
def evaluate(
    row: Rows, symbols: int, allowed: int, costs: Rows, floor: float, read: Rows, parent: Rows, counts: Numbers,
    order: Rows, first: Rows, source: Rows, weight: Numbers, values: Numbers, bits: Numbers,
) -> None:  # fmt: skip
    """Fill bits with |H|, with the bits of all strings of a tree where the network is mixed with a guesser that has the
    share floor, and with |D:H|, infinite where a next symbol is held for impossible. Without a floor the two are the
    same, and what is impossible is seen at once.

    read, parent (node,): the symbol read there, and the node before, -1 at the root. counts (node, symbol): how often
    each came next. order, first, source, weight, values (node, unit): room to work in.
    """
    bits[0] = description_bits(row, allowed, costs)
    bits[1] = bits[2] = 0.0
    count = wire(row, symbols, order, first, source, weight)
    for node in range(len(read)):
        now = values[node]
        before, began = values[max(parent[node], 0)], parent[node] < 0
        think(row, symbols, count, order, first, source, weight, read[node], before, began, now)
        total = 0.0
        for symbol in range(symbols):
            if now[symbols + symbol] > 0.0:
                total += now[symbols + symbol]
        for symbol in range(symbols):
            times = counts[node, symbol]
            if times == 0.0:
                continue
            chance = now[symbols + symbol] / total if total > EMPTY else 1.0 / symbols
            if not chance > 0.0:
                chance, bits[2] = 0.0, math.inf
                if floor == 0.0:
                    bits[1] = math.inf
                    return
            else:
                bits[2] -= times * math.log2(chance)
            bits[1] -= times * math.log2((1.0 - floor) * chance + floor / symbols)


def room(nodes: int) -> tuple[NDArray[Any], ...]:
    """Room to work in, for a tree of so many nodes."""
    wiring = np.zeros(MOST_UNITS, np.int32), np.zeros((2, MOST_UNITS + 1), np.int32)
    return (*wiring, np.zeros((2, MOST_EDGES), np.int32), np.zeros((2, MOST_EDGES)), np.zeros((nodes, MOST_UNITS)))
