"""One small change of a network: the nine published mutations, compiled. Uniform numbers come in,
no generator does.

Mutations create no edge into an input, none out of an output, and no forward cycle.
"""

from __future__ import annotations

import math

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
    Parts,
    Rows,
)
from quickstudy.numba_gateway import njit

_ONE = np.int64(1)
DRAWS = 12
"""Uniform numbers that one reproduction needs at most."""


@njit
def copy(source: Rows, target: Rows) -> None:
    """Make one row like another; entries after its units and edges are not changed."""
    units, edges = source[UNITS], source[EDGES]
    target[UNITS], target[EDGES] = units, edges
    for place in (ACTIVATION, TYPE, BIAS, BIAS_UNDER):
        target[place : place + units] = source[place : place + units]
    for place in (SOURCE, TARGET, KIND, WEIGHT, WEIGHT_UNDER):
        target[place : place + edges] = source[place : place + edges]


@njit
def geometric(draw: float) -> int:
    """1 with probability 1/2, 2 with 1/4, and so on."""
    return 1 + int(min(math.floor(-math.log2(max(draw, 1e-300))), 1000.0))


@njit
def drawn_weight(draws: Numbers, at: int) -> tuple[int, int]:
    """A random weight: signed numerator and denominator."""
    return geometric(draws[at]) * (1 if draws[at + 2] < 0.5 else -1), geometric(draws[at + 1])


@njit
def append(row: Rows, source: int, target: int, kind: int, weight: int, under: int) -> None:
    """Add an edge after the others."""
    edge = row[EDGES]
    row[SOURCE + edge], row[TARGET + edge], row[KIND + edge] = source, target, kind
    row[WEIGHT + edge], row[WEIGHT_UNDER + edge] = weight, under
    row[EDGES] = edge + 1


@njit
def drop(row: Rows, edge: int) -> None:
    """Take an edge away; the last takes its place."""
    last = row[EDGES] - 1
    for place in (SOURCE, TARGET, KIND, WEIGHT, WEIGHT_UNDER):
        row[place + edge] = row[place + last]
    row[EDGES] = last


@njit
def _has(row: Rows, source: int, target: int, kind: int) -> bool:
    for edge in range(row[EDGES]):
        if (
            row[SOURCE + edge] == source
            and row[TARGET + edge] == target
            and row[KIND + edge] == kind
        ):
            return True
    return False


@njit
def first_network(row: Rows, parts: Parts, draws: Numbers) -> None:
    """Every output has one forward edge, from some input; draws: 5 per symbol."""
    symbols, activations = parts.symbols, parts.activations
    row[:] = 0
    row[UNITS] = 2 * symbols
    for symbol in range(symbols):
        at = 5 * symbol
        weight, under = drawn_weight(draws, at)
        append(row, int(draws[at + 3] * symbols), symbols + symbol, 0, weight, under)
        row[ACTIVATION + symbols + symbol] = activations[int(draws[at + 4] * len(activations))]


@njit
def free_targets(row: Rows, symbols: int, kind: int, free: NDArray[np.int64]) -> int:
    """Fill free (source,) with sets of bits: where an edge of a kind may lead. Gives how many of
    them are not empty.
    """
    units = row[UNITS]
    every = (_ONE << units) - (_ONE << symbols)
    for unit in range(units):
        free[unit] = 0 if symbols <= unit < 2 * symbols else every
    for edge in range(row[EDGES]):
        if row[KIND + edge] == kind:
            free[row[SOURCE + edge]] &= ~(_ONE << row[TARGET + edge])
    if kind == 0:
        # A unit's forward ancestors and itself: an edge to one of them would close a cycle.
        above = np.zeros(MOST_UNITS, np.int64)
        for unit in range(units):
            above[unit] = _ONE << unit
        changed = True
        while changed:
            changed = False
            for edge in range(row[EDGES]):
                if row[KIND + edge] == 0:
                    target = row[TARGET + edge]
                    joined = above[target] | above[row[SOURCE + edge]]
                    changed |= joined != above[target]
                    above[target] = joined
        for unit in range(units):
            free[unit] &= ~above[unit]
    sources = 0
    for unit in range(units):
        sources += free[unit] != 0
    return sources


@njit
def _add_connection(row: Rows, symbols: int, draws: Numbers, at: int) -> bool:
    """An edge of a kind that is not full, from a source that has a free target, to one of these."""
    free, source = np.zeros(MOST_UNITS, np.int64), 0
    kind = 0 if draws[at] < 0.5 else 1
    sources = free_targets(row, symbols, kind, free)
    if not sources:
        kind = 1 - kind
        sources = free_targets(row, symbols, kind, free)
        if not sources:
            return False
    chosen = int(draws[at + 1] * sources)
    while free[source] == 0 or chosen:
        chosen -= free[source] != 0
        source += 1
    targets, target = 0, symbols
    for unit in range(row[UNITS]):
        targets += free[source] >> unit & 1
    wanted = int(draws[at + 2] * targets)
    while not free[source] >> target & 1 or wanted:
        wanted -= free[source] >> target & 1
        target += 1
    weight, under = drawn_weight(draws, at + 3)
    append(row, source, target, kind, weight, under)
    return True


@njit
def _add_unit(row: Rows, parts: Parts, draws: Numbers, at: int) -> None:
    """Split an edge: its first half keeps kind and weight, its second is forward with weight 1."""
    edge, unit = int(draws[at] * row[EDGES]), row[UNITS]
    row[UNITS] = unit + 1
    row[ACTIVATION + unit] = parts.activations[int(draws[at + 1] * len(parts.activations))]
    row[TYPE + unit] = 1 if parts.products and draws[at + 2] < 0.5 else 0
    row[BIAS + unit], row[BIAS_UNDER + unit] = 0, 1
    append(row, unit, row[TARGET + edge], 0, 1, 1)
    row[TARGET + edge] = unit


@njit
def _remove_unit(row: Rows, unit: int) -> None:
    """Bridge every unit before it to every unit after it; the last unit takes its number."""
    edges = row[EDGES]
    for before in range(edges):
        if row[TARGET + before] != unit or row[SOURCE + before] == unit:
            continue
        for after in range(edges):
            if row[SOURCE + after] != unit or row[TARGET + after] == unit:
                continue
            kind = row[KIND + before] | row[KIND + after]
            source, target = row[SOURCE + before], row[TARGET + after]
            if (
                (kind == 0 and source == target)
                or row[EDGES] >= MOST_EDGES
                or _has(row, source, target, kind)
            ):
                continue
            append(row, source, target, kind, row[WEIGHT + before], row[WEIGHT_UNDER + before])
    edge = 0
    while edge < row[EDGES]:
        if row[SOURCE + edge] == unit or row[TARGET + edge] == unit:
            drop(row, edge)
        else:
            edge += 1
    last = row[UNITS] - 1
    for place in (ACTIVATION, TYPE, BIAS, BIAS_UNDER):
        row[place + unit] = row[place + last]
    for edge in range(row[EDGES]):
        if row[SOURCE + edge] == last:
            row[SOURCE + edge] = unit
        if row[TARGET + edge] == last:
            row[TARGET + edge] = unit
    row[UNITS] = last


@njit
def _with_bias(row: Rows, symbols: int, wanted: bool, number: int) -> int:
    """How many outputs and hidden units have a bias, or have none; from 0 on, the one of that
    number instead.
    """
    count = 0
    for unit in range(symbols, row[UNITS]):
        if (row[BIAS + unit] != 0) == wanted:
            if count == number:
                return unit
            count += 1
    return count


@njit
def _change_weight(row: Rows, symbols: int, draws: Numbers, at: int) -> None:
    """Turn the sign of an edge or a bias, or move its numerator or its denominator by 1."""
    edges = row[EDGES]
    chosen = int(draws[at] * (edges + _with_bias(row, symbols, True, -1)))
    if chosen < edges:
        above, below = WEIGHT + chosen, WEIGHT_UNDER + chosen
    else:
        unit = _with_bias(row, symbols, True, chosen - edges)
        above, below = BIAS + unit, BIAS_UNDER + unit
    sign = 1 if row[above] > 0 else -1
    size, under = abs(row[above]), row[below]
    turning = max(0.0, 1.0 - size / under)
    drawn = draws[at + 1] * (turning + 2.0)
    up = draws[at + 2] < 0.5
    if drawn < turning:
        row[above] = -row[above]
    elif drawn < turning + 1.0:
        row[above] = sign * (size + 1 if up or size == 1 else size - 1)
    else:
        row[below] = under + 1 if up or under == 1 else under - 1


@njit
def mutate(row: Rows, parts: Parts, draws: Numbers, at: int) -> None:
    """Change a network by one mutation, uniform among those that apply. draws: from place `at` on,
    8 are used.
    """
    symbols, activations = parts.symbols, parts.activations
    units, edges = row[UNITS], row[EDGES]
    biases = _with_bias(row, symbols, True, -1)
    applies = np.zeros(9, np.bool_)
    applies[0] = edges > 0 and units < MOST_UNITS and edges < MOST_EDGES
    applies[1] = units > 2 * symbols
    applies[2] = len(activations) > 1
    applies[3] = parts.products
    applies[4] = edges < MOST_EDGES
    applies[5] = edges > 0
    applies[6] = biases < units - symbols
    applies[7] = biases > 0
    applies[8] = edges + biases > 0
    number = int(draws[at] * applies.sum())
    which = 0
    for which in range(9):
        if applies[which]:
            if number == 0:
                break
            number -= 1
    at += 1
    unit = symbols + int(draws[at] * (units - symbols))
    if which == 0:
        _add_unit(row, parts, draws, at)
    elif which == 1:
        _remove_unit(row, 2 * symbols + int(draws[at] * (units - 2 * symbols)))
    elif which == 2:
        others = 0
        for activation in activations:
            others += activation != row[ACTIVATION + unit]
        wanted = int(draws[at + 1] * others)
        for activation in activations:
            if activation != row[ACTIVATION + unit]:
                if wanted == 0:
                    row[ACTIVATION + unit] = activation
                    break
                wanted -= 1
    elif which == 3:
        row[TYPE + unit] = 1 - row[TYPE + unit]
    elif which == 4:
        if not _add_connection(row, symbols, draws, at):
            _change_weight(row, symbols, draws, at)
    elif which == 5:
        drop(row, int(draws[at] * edges))
    elif which == 6:
        unit = _with_bias(row, symbols, False, int(draws[at] * (units - symbols - biases)))
        row[BIAS + unit], row[BIAS_UNDER + unit] = drawn_weight(draws, at + 1)
    elif which == 7:
        row[BIAS + _with_bias(row, symbols, True, int(draws[at] * biases))] = 0
    else:
        _change_weight(row, symbols, draws, at)
