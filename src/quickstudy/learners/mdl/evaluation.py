"""The outputs of a network, step by step, and the tree of strings that it is asked about: compiled.

Source: Lan, Geyer, Chemla and Katzir 2022, and the code of Lan, Chemla and Katzir 2023.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from quickstudy.numba_gateway import njit

CLIP, EMPTY = 1e6, 1e-8
"""Values are kept within ±CLIP; outputs that sum to no more than EMPTY are read as uniform."""


class Tree(NamedTuple):
    """Strings put together by what they begin with. read, parent (node,): the symbol read there,
    and the node before, -1 at the root; counts (node, symbol): how often each came next.
    """

    read: Rows
    parent: Rows
    counts: Numbers

    @classmethod
    def of(cls, strings: Sequence[tuple[Sequence[int], Sequence[int]]], symbols: int) -> Tree:
        """Of pairs: what is read, and after each step what should come next, -1 where nothing is
        asked.
        """
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

    @classmethod
    def of_strings(cls, strings: Sequence[NDArray[np.int8]], symbols: int) -> Tree:
        """Of whole strings: after every symbol but the last, the next one should come."""
        return cls.of([(string[:-1].tolist(), string[1:].tolist()) for string in strings], symbols)


class Room(NamedTuple):
    """A network laid out for computing, and room for its values. activation, product, bias (unit,):
    what they are, all within the precision of computing. order: units in an order in which each
    comes after all that it needs. first (2, unit + 1): where the forward and the recurrent edges
    into each unit begin in source and weight (2, edge). values (unit,).
    """

    activation: Rows
    product: Rows
    bias: Numbers
    order: Rows
    first: Rows
    source: Rows
    weight: Numbers
    values: Numbers

    @classmethod
    def of(
        cls, units: int = MOST_UNITS, edges: int = MOST_EDGES, precision: str = "float64"
    ) -> Room:
        """For networks of so many units and edges; default: those of a row of genes."""
        activation, product, order = np.zeros((3, units), np.int32)
        bias, values = np.zeros((2, units), precision)
        ends = np.zeros((2, units + 1), np.int32), np.zeros((2, edges), np.int32)
        return cls(activation, product, bias, order, *ends, np.zeros((2, edges), precision), values)


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
    """Lay out a row of genes for computing. Gives how many units are computed."""
    units, edges = row[UNITS], row[EDGES]
    for unit in range(units):
        room.activation[unit], room.product[unit] = row[ACTIVATION + unit], row[TYPE + unit]
        room.bias[unit] = (
            row[BIAS + unit] / row[BIAS_UNDER + unit] if row[BIAS + unit] != 0 else 0.0
        )
    weights = np.zeros(edges)
    for edge in range(edges):
        weights[edge] = row[WEIGHT + edge] / row[WEIGHT_UNDER + edge]
    kinds, sources, targets = (
        row[KIND : KIND + edges],
        row[SOURCE : SOURCE + edges],
        row[TARGET : TARGET + edges],
    )
    return int(connect(units, symbols, kinds, sources, targets, weights, room))


@njit
def connect(
    units: int,
    symbols: int,
    kinds: Rows,
    sources: Rows,
    targets: Rows,
    weights: Numbers,
    room: Room,
) -> int:
    """Lay out edges (edge,) for computing, and those units that reach an output or the next step.
    Gives how many these are.
    """
    order, first, source, weight = room.order, room.first, room.source, room.weight
    for kind in range(2):
        for unit in range(units + 1):
            first[kind, unit] = 0
    for edge in range(len(kinds)):
        first[kinds[edge], targets[edge] + 1] += 1
    for kind in range(2):
        for unit in range(units):
            first[kind, unit + 1] += first[kind, unit]
    filled = np.zeros((2, units), np.int32)
    sending = np.zeros(units, np.bool_)
    for edge in range(len(kinds)):
        kind, target = kinds[edge], targets[edge]
        place = first[kind, target] + filled[kind, target]
        filled[kind, target] += 1
        source[kind, place] = sources[edge]
        weight[kind, place] = weights[edge]
        sending[sources[edge]] |= kind == 1
    seen = np.zeros(units, np.bool_)
    looked = np.zeros(units, np.int32)
    stack = np.zeros(units, np.int32)
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
    activation: Rows,
    product: Rows,
    bias: Numbers,
    order: Rows,
    first: Rows,
    source: Rows,
    weight: Numbers,
    symbols: int,
    count: int,
    symbol: int,
    before: Numbers,
    number: int,
    began: bool,
    values: Numbers,
) -> None:
    """One step of one string: before (string, unit) becomes its values after reading a symbol.
    number: of the string. began: nothing was read before. values (unit,): room for them.

    count: of the units that are computed, as `connect` has laid them out. The arrays of a room are
    passed one by one, since to take them out of it at every step takes longer than the step. Sums
    are in their precision.
    """
    zero, one = values.dtype.type(0.0), values.dtype.type(1.0)
    for place in range(count):
        unit = order[place]
        own = unit < symbols
        begin, end = first[0, unit], first[0, unit + 1]
        past, done = first[1, unit], first[1, unit + 1]
        x = one if own and unit == symbol else zero
        if own and begin == end and past == done and bias[unit] == zero and activation[unit] == 0:
            values[unit] = x
            continue
        if product[unit] == 0:
            recurrent = zero
            for edge in range(begin, end):
                x += weight[0, edge] * values[source[0, edge]]
            if not began:
                for edge in range(past, done):
                    recurrent += weight[1, edge] * before[number, source[1, edge]]
            # Float32 adds forward edges and the bias before the recurrent ones: of the orders
            # tried, the one that has the 294 wrong steps reported of the released network of a^n
            # b^n c^n.
            x = (
                (x + bias[unit]) + recurrent
                if values.itemsize == 4
                else (x + recurrent) + bias[unit]
            )
        else:
            if not own:
                x = one if end > begin else zero
            for edge in range(begin, end):
                x *= weight[0, edge] * values[source[0, edge]]
            if not began:
                for edge in range(past, done):
                    x *= weight[1, edge] * before[number, source[1, edge]]
            x += bias[unit]
        values[unit] = activated(activation[unit], min(max(x, -CLIP), CLIP))
    for place in range(count):
        before[number, order[place]] = values[order[place]]


@njit
def speak(values: Numbers, symbols: int, softmax: bool, said: Numbers) -> None:
    """The distribution over the next symbol from the values of the outputs: none below 0 and 1 in
    sum, or a softmax.
    """
    total, largest = 0.0, -math.inf
    for symbol in range(symbols):
        largest = max(largest, values[symbols + symbol])
    for symbol in range(symbols):
        value = values[symbols + symbol]
        said[symbol] = math.exp(value - largest) if softmax else 0.0 if value < 0.0 else value
        total += said[symbol]
    for symbol in range(symbols):
        said[symbol] = said[symbol] / total if total > EMPTY else 1.0 / symbols
