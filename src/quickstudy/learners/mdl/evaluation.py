"""What a network says, step by step, and the tree of strings that it is asked about: compiled.

Source: Lan, Geyer, Chemla and Katzir 2022, and the code of Lan, Chemla and Katzir 2023.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from quickstudy.compiled import njit
from quickstudy.learners.mdl.genes import (
    ACTIVATION,
    BIAS,
    BIAS_UNDER,
    EDGES,
    KIND,
    MOST_EDGES,
    MOST_UNITS,
    SOURCE,
    TARGET,
    TYPE,
    UNITS,
    WEIGHT,
    WEIGHT_UNDER,
    Numbers,
    Rows,
)

CLIP, EMPTY = 1e6, 1e-8
"""Values are kept within ±CLIP; outputs that sum to no more than EMPTY are read as uniform."""


class Tree(NamedTuple):
    """Strings put together by what they begin with. read, parent (node,): the symbol read there, and the node before,
    -1 at the root; counts (node, symbol): how often each came next.
    """

    read: Rows
    parent: Rows
    counts: Numbers

    @classmethod
    def of(cls, strings: Sequence[tuple[Sequence[int], Sequence[int]]], symbols: int) -> Tree:
        """Of pairs: what is read, and after each step what should come next, -1 where nothing is asked."""
        places: dict[tuple[int, int], int] = {}
        nodes: list[tuple[int, int]] = []
        counts: list[list[float]] = []
        for inputs, targets in strings:
            node = -1
            for symbol, target in zip(inputs, targets, strict=True):
                if (node, symbol) not in places:
                    places[node, symbol] = len(nodes)
                    nodes.append((symbol, node))
                    counts.append([0.0] * symbols)
                node = places[node, symbol]
                if target >= 0:
                    counts[node][target] += 1.0
        read, parent = np.array(nodes, np.int32).reshape(-1, 2).T
        return cls(read.copy(), parent.copy(), np.array(counts, np.float64).reshape(-1, symbols))


class Room(NamedTuple):
    """Room to work in. order: units in an order in which each comes after all that it needs. first (2, unit + 1): where
    the forward and the recurrent edges into each unit begin in source and weight (2, edge). values (node, unit).
    """

    order: Rows
    first: Rows
    source: Rows
    weight: Numbers
    values: Numbers

    @classmethod
    def of(cls, nodes: int, precision: str = "float64") -> Room:
        """For a tree of so many nodes."""
        wiring = np.zeros(MOST_UNITS, np.int32), np.zeros((2, MOST_UNITS + 1), np.int32)
        weight, values = np.zeros((2, MOST_EDGES), precision), np.zeros((nodes, MOST_UNITS), precision)
        return cls(*wiring, np.zeros((2, MOST_EDGES), np.int32), weight, values)


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
def wire(row: Rows, symbols: int, room: Room) -> int:
    """Lay out a network for computing: those units that reach an output or the next step. Gives how many they are."""
    units, edges = row[UNITS], row[EDGES]
    order, first, source, weight = room.order, room.first, room.source, room.weight
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
    symbol: int, before: Numbers, number: int, began: bool, values: Numbers,
) -> None:  # fmt: skip
    """One step of one string: before (string, unit) becomes its values after reading a symbol. number: of the string.
    began: nothing was read before. values (unit,): room for them.

    count: of the units that are computed, as `wire` has laid them out in order, first, source and weight: arrays of
    their own, since to take them out of a room at every step takes longer than the step. Sums are in their precision.
    """
    zero, one = values.dtype.type(0.0), values.dtype.type(1.0)
    for place in range(count):
        unit = order[place]
        own = unit < symbols
        begin, end = first[0, unit], first[0, unit + 1]
        past, done = first[1, unit], first[1, unit + 1]
        x = one if own and unit == symbol else zero
        if own and begin == end and past == done and row[BIAS + unit] == 0 and row[ACTIVATION + unit] == 0:
            values[unit] = x
            continue
        bias = values.dtype.type(row[BIAS + unit] / row[BIAS_UNDER + unit]) if row[BIAS + unit] != 0 else zero
        if row[TYPE + unit] == 0:
            recurrent = zero
            for edge in range(begin, end):
                x += weight[0, edge] * values[source[0, edge]]
            if not began:
                for edge in range(past, done):
                    recurrent += weight[1, edge] * before[number, source[1, edge]]
            # Float32 adds forward edges and the bias before the recurrent ones: of the orders tried, the one that has
            # the 294 wrong steps reported of the released network of a^n b^n c^n.
            x = (x + bias) + recurrent if values.itemsize == 4 else (x + recurrent) + bias
        else:
            if not own:
                x = one if end > begin else zero
            for edge in range(begin, end):
                x *= weight[0, edge] * values[source[0, edge]]
            if not began:
                for edge in range(past, done):
                    x *= weight[1, edge] * before[number, source[1, edge]]
            x += bias
        values[unit] = activated(row[ACTIVATION + unit], min(max(x, -CLIP), CLIP))
    for place in range(count):
        before[number, order[place]] = values[order[place]]


@njit
def speak(values: Numbers, symbols: int, softmax: bool, said: Numbers) -> None:
    """The distribution over the next symbol from the values of the outputs: none below 0 and 1 in sum, or a softmax."""
    total, largest = 0.0, -math.inf
    for symbol in range(symbols):
        largest = max(largest, values[symbols + symbol])
    for symbol in range(symbols):
        value = values[symbols + symbol]
        said[symbol] = math.exp(value - largest) if softmax else 0.0 if value < 0.0 else value
        total += said[symbol]
    for symbol in range(symbols):
        said[symbol] = said[symbol] / total if total > EMPTY else 1.0 / symbols
