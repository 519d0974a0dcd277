"""The bits in which a network codes a tree of strings: compiled, and nothing twice that has been
computed.

A unit that hears nothing of the step before, not even by others, has as many values as there are
symbols: they are computed once for each. Curves and logarithms, which take longer than all else,
are looked up where the same number came before. Every sum is taken in the order in which `think`
takes it: the bits are the same, to the last.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from quickstudy.learners.mdl.evaluation import CLIP, EMPTY, Room, Tree, activated, wire
from quickstudy.learners.mdl.genes import Numbers, Parts, Rows, description_bits
from quickstudy.numba_gateway import njit

TANH, FLAT = 3, 22.0
"""The number of the curve that is looked up, and from where on it is 1 in double precision."""
LOOKED_UP = 1024
"""Numbers of which the curve, and of which the logarithm, is kept."""
FORWARD, BEFORE, SUM = 1, 2, 4
"""Of a unit: all forward edges, all recurrent edges into it come from units that do not move; it
sums.
"""
_Place = np.uint64
"""An index that cannot be negative: it is not asked whether it counts from the end, which takes a
third of the loop.
"""


class Desk(NamedTuple):
    """Room for a tree. wiring: of the network. moving: units whose values depend on more than the
    symbol just read, in an order in which they can be computed. fixed (unit,): whether it is none
    of them. parts (unit,): FORWARD, BEFORE and SUM. settled (symbol,): whether what depends on it
    alone is known: in values, after the nodes, that of fixed units; in sums (2, symbol, unit),
    those over forward and over recurrent edges into moving ones. values (node, then symbol; unit).
    curve, logarithm (2, number): those looked up before, and what they gave.
    """

    wiring: Room
    moving: Rows
    fixed: Rows
    parts: Rows
    settled: Rows
    sums: Numbers
    values: Numbers
    curve: Numbers
    logarithm: Numbers

    @classmethod
    def of(cls, nodes: int, wiring: Room | None = None) -> Desk:
        """For a tree of so many nodes, and for a network that is laid out already; default: any row
        of genes.
        """
        wiring = wiring or Room.of()
        units = len(wiring.order)
        moving, fixed, parts, settled = np.zeros((4, units), np.int32)
        symbols = units // 2
        sums, values = np.zeros((2, symbols, units)), np.zeros((nodes + symbols, units))
        curve, logarithm = np.zeros((2, LOOKED_UP)), np.zeros((2, LOOKED_UP))
        logarithm[0] = 1.0
        return cls(wiring, moving, fixed, parts, settled, sums, values, curve, logarithm)


@njit
def _curved(x: float, curve: Numbers) -> float:
    """The hyperbolic tangent, looked up."""
    if x > FLAT:
        return 1.0
    if x < -FLAT:
        return -1.0
    if x != x:
        return math.tanh(x)
    place = int(x * 5039.0) & (LOOKED_UP - 1)
    if curve[0, place] != x:
        curve[0, place], curve[1, place] = x, math.tanh(x)
    return float(curve[1, place])


@njit
def _logarithm(chance: float, logarithm: Numbers) -> float:
    """To base 2, of a number above 0 and up to 1, looked up."""
    place = int(chance * 1048573.0) & (LOOKED_UP - 1)
    if logarithm[0, place] != chance:
        logarithm[0, place], logarithm[1, place] = chance, math.log2(chance)
    return float(logarithm[1, place])


@njit
def _told_apart(count: int, symbols: int, desk: Desk) -> int:
    """Tell units that move from those that do not. Gives how many of those that are computed
    move.
    """
    many = 0
    order, first, source = desk.wiring.order, desk.wiring.first, desk.wiring.source
    moving, fixed, parts, settled = desk.moving, desk.fixed, desk.parts, desk.settled
    for symbol in range(symbols):
        settled[symbol] = 0
    for place in range(count):
        unit = order[place]
        whole = 1
        for edge in range(first[0, unit], first[0, unit + 1]):
            whole &= fixed[source[0, edge]]
        parts[unit] = (FORWARD if whole else 0) | (SUM if desk.wiring.product[unit] == 0 else 0)
        fixed[unit] = 1 if whole and first[1, unit] == first[1, unit + 1] else 0
        if not fixed[unit]:
            moving[many] = unit
            many += 1
    for place in range(many):
        unit = moving[place]
        whole = 1
        for edge in range(first[1, unit], first[1, unit + 1]):
            whole &= fixed[source[1, edge]]
        parts[unit] |= BEFORE if whole else 0
    return many


@njit
def _settle(symbols: int, symbol: int, count: int, own_row: int, desk: Desk) -> None:
    """Compute all that depends on one symbol alone."""
    order, first = desk.wiring.order, desk.wiring.first
    source, weight, bias = desk.wiring.source, desk.wiring.weight, desk.wiring.bias
    fixed, parts, sums, values = desk.fixed, desk.parts, desk.sums, desk.values
    desk.settled[symbol] = 1
    for place in range(count):
        unit = order[place]
        begin, end, own = first[0, unit], first[0, unit + 1], unit < symbols
        if not parts[unit] & FORWARD:
            continue
        x = 1.0 if own and unit == symbol else 0.0
        if parts[unit] & SUM:
            for edge in range(begin, end):
                x += weight[0, edge] * values[own_row, source[0, edge]]
        else:
            if not own:
                x = 1.0 if end > begin else 0.0
            for edge in range(begin, end):
                x *= weight[0, edge] * values[own_row, source[0, edge]]
        sums[0, symbol, unit] = x
        if fixed[unit]:
            x = min(max(x + bias[unit], -CLIP), CLIP)
            kind = desk.wiring.activation[unit]
            values[own_row, unit] = _curved(x, desk.curve) if kind == TANH else activated(kind, x)
    for place in range(count):
        unit = order[place]
        if not fixed[unit] and parts[unit] & BEFORE:
            x = 0.0
            for edge in range(first[1, unit], first[1, unit + 1]):
                x += weight[1, edge] * values[own_row, source[1, edge]]
            sums[1, symbol, unit] = x


@njit
def evaluate(
    row: Rows, parts: Parts, floor: float, tree: Tree, desk: Desk, bits: Numbers, limit: float
) -> None:
    """Fill bits with |H|, with the bits of all strings of a tree where the network is mixed with a
    guesser that has the share floor, and with |D:H|, infinite where a next symbol is held for
    impossible. Without a floor the two are the same, and what is impossible is seen at once. limit:
    once |H| and the bits so far are more, both are infinite.
    """
    described = float(description_bits(row, len(parts.activations)))
    bits[0] = described
    bits[1] = bits[2] = math.inf
    if described <= limit:
        code_data(wire(row, parts.symbols, desk.wiring), parts, floor, tree, desk, bits, limit)


@njit
def code_data(
    count: int, parts: Parts, floor: float, tree: Tree, desk: Desk, bits: Numbers, limit: float
) -> None:
    """The same for a network that is in the buffers already, with its |H| in `bits`. count:
    of the units that are computed.

    It is one loop, since to hand a row of an array to a function takes as long as a step.
    """
    symbols, described = parts.symbols, bits[0]
    bits[1] = bits[2] = math.inf
    many = _told_apart(count, symbols, desk)
    first, source, weight = desk.wiring.first, desk.wiring.source, desk.wiring.weight
    moving, hears, settled = desk.moving, desk.parts, desk.settled
    biases, activation = desk.wiring.bias, desk.wiring.activation
    sums, values, curve, logarithm = desk.sums, desk.values, desk.curve, desk.logarithm
    read, before, counts = tree.read, tree.parent, tree.counts
    units, nodes = 0, len(read)
    for place in range(count):
        units = max(units, desk.wiring.order[place] + 1)
    mixed, exact = 0.0, 0.0
    for node in range(nodes):
        symbol, parent, last = read[node], before[node], 0
        if not settled[symbol]:
            _settle(symbols, symbol, count, nodes + symbol, desk)
        still, now = values[nodes + symbol], values[node]
        past = values[parent] if parent >= 0 else still
        if parent >= 0:
            last = read[parent]
        for unit in range(units):
            now[unit] = still[unit]
        for place in range(many):
            unit = moving[place]
            how = hears[unit]
            forward, end = _Place(first[0, unit]), _Place(first[0, unit + 1])
            recurrent, done = _Place(first[1, unit]), _Place(first[1, unit + 1])
            if how & FORWARD:
                x = sums[0, symbol, unit]
            elif how & SUM:
                x = 1.0 if unit == symbol else 0.0
                for edge in range(forward, end):
                    x += weight[0, edge] * now[_Place(source[0, edge])]
            else:
                x = 1.0 if unit == symbol or unit >= symbols else 0.0
                for edge in range(forward, end):
                    x *= weight[0, edge] * now[_Place(source[0, edge])]
            if parent >= 0:
                if how & SUM:
                    heard = 0.0
                    if how & BEFORE:
                        heard = sums[1, last, unit]
                    else:
                        for edge in range(recurrent, done):
                            heard += weight[1, edge] * past[_Place(source[1, edge])]
                    x += heard
                else:
                    for edge in range(recurrent, done):
                        x *= weight[1, edge] * past[_Place(source[1, edge])]
            x = min(max(x + biases[unit], -CLIP), CLIP)
            kind = activation[unit]
            if kind == 1:
                x = x if x > 0.0 else 0.0
            elif kind == TANH:
                x = _curved(x, curve)
            elif kind != 0:
                x = activated(kind, x)
            now[unit] = x
        total, largest = 0.0, -math.inf
        if parts.softmax:
            for unit in range(symbols, 2 * symbols):
                largest = max(largest, now[unit])
        for unit in range(symbols, 2 * symbols):
            value = now[unit]
            if parts.softmax:
                total += math.exp(value - largest)
            elif value > 0.0:
                total += value
        for target in range(symbols):
            times = counts[node, target]
            if times == 0.0:
                continue
            value = now[symbols + target]
            if parts.softmax:
                value = math.exp(value - largest)
            chance = value / total if total > EMPTY else 1.0 / symbols
            if not chance > 0.0:
                if floor == 0.0:
                    return
                chance, exact = 0.0, math.inf
            elif chance < 1.0:
                exact -= times * _logarithm(chance, logarithm)
            if floor > 0.0:
                mixed -= times * _logarithm((1.0 - floor) * chance + floor / symbols, logarithm)
        if described + (mixed if floor > 0.0 else exact) > limit:
            return
    bits[1], bits[2] = mixed if floor > 0.0 else exact, exact
