"""A search that leaves the valleys of evolution: replicas of a network at rising temperatures,
exchanged as they go.

The objective is the description length, as in the evolution. What differs is how it is descended: a
replica takes a change that costs bits with a probability that its temperature gives (Metropolis),
and, the hotter, the more it mixes its network with a guesser, so that a wrong answer costs much and
not everything; neighbours change places by their bits (replica exchange: Swendsen and Wang 1986,
Geyer 1991). To the published mutations come three more: an accumulator, a hidden unit that keeps
what it gathers, fed by two inputs and heard by an output; an edge that is laid elsewhere; a weight
that is resampled. Nothing in it knows a language.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.kept import KeptAttributes
from quickstudy.learners.mdl.code_length import Desk, evaluate
from quickstudy.learners.mdl.evaluation import Tree
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
    WIDTH,
    Numbers,
    Parts,
    Rows,
)
from quickstudy.learners.mdl.mutation import (
    DRAWS,
    append,
    copy,
    drawn_weight,
    drop,
    free_targets,
    geometric,
    mutate,
)
from quickstudy.numba_gateway import njit

REPLICAS, COLDEST, HOTTEST = 24, 4.0, 40.0
"""Temperatures in bits, in equal ratios."""
GUESSER = 0.05
"""The guesser's share in the hottest replica; the coldest has none."""
TWICE, ACCUMULATOR, REWIRED, REWEIGHED = 0.2, 0.04, 0.1, 0.1
"""Shares of changes that are two mutations, an accumulator, an edge laid elsewhere, a weight
resampled.
"""
ROUND = 100
"""Changes of every replica between two exchanges."""


@njit
def _accumulate(row: Rows, parts: Parts, draws: Numbers) -> None:
    """Add a hidden unit with a recurrent edge of weight 1 to itself, two inputs, and an edge to
    some output.
    """
    symbols, activations, unit = parts.symbols, parts.activations, row[UNITS]
    if unit >= MOST_UNITS or row[EDGES] + 4 > MOST_EDGES:
        return
    row[UNITS] = unit + 1
    row[ACTIVATION + unit] = activations[int(draws[3] * len(activations))]
    row[TYPE + unit], row[BIAS + unit], row[BIAS_UNDER + unit] = 0, 0, 1
    one, other = int(draws[4] * symbols), int(draws[5] * (symbols - 1))
    append(row, unit, unit, 1, 1, 1)
    append(row, one, unit, 0, 1 if draws[7] < 0.5 else -1, geometric(draws[1]))
    append(row, other + (other >= one), unit, 0, 1 if draws[8] < 0.5 else -1, geometric(draws[1]))
    weight = geometric(draws[2]) * (1 if draws[10] < 0.5 else -1)
    append(row, unit, symbols + int(draws[6] * symbols), 1 if draws[9] < 0.3 else 0, weight, 1)


@njit
def _rewire(row: Rows, symbols: int, draws: Numbers) -> None:
    """Give an edge another target, another source, or the other kind, if there is a free place for
    it.
    """
    edges = row[EDGES]
    if not edges:
        return
    edge, part = int(draws[3] * edges), int(draws[4] * 3.0)
    source, target, kind = row[SOURCE + edge], row[TARGET + edge], row[KIND + edge]
    weight, under = row[WEIGHT + edge], row[WEIGHT_UNDER + edge]
    drop(row, edge)
    free, to = np.zeros(MOST_UNITS, np.int64), 1 - kind if part == 2 else kind
    free_targets(row, symbols, to, free)
    places = 0
    for turn in range(2):  # count the places, then go to the one that was drawn
        wanted, places = int(draws[5] * places), 0
        for unit in range(row[UNITS]):
            one, other = (
                (source, unit) if part == 0 else (unit, target) if part == 1 else (source, target)
            )
            if (
                not free[one] >> other & 1
                or (part < 2 and one == source and other == target)
                or (part == 2 and unit)
            ):
                continue
            if turn and places == wanted:
                append(row, one, other, to, weight, under)
                return
            places += 1
    append(row, source, target, kind, weight, under)


@njit
def _reweigh(row: Rows, symbols: int, draws: Numbers) -> None:
    """Resample the weight of an edge, or a bias."""
    edges, units = row[EDGES], row[UNITS]
    chosen = int(draws[3] * (edges + units - symbols))
    weight, under = drawn_weight(draws, 4)
    if chosen < edges:
        row[WEIGHT + chosen], row[WEIGHT_UNDER + chosen] = weight, under
    else:
        unit = symbols + chosen - edges
        row[BIAS + unit], row[BIAS_UNDER + unit] = weight, under


@njit
def _changed(
    rows: Rows,
    bits: Numbers,
    heat: Numbers,
    floor: Numbers,
    best: Rows,
    fewest: Numbers,
    draws: Numbers,
    child: Rows,
    found: Numbers,
    parts: Parts,
    tree: Tree,
    desk: Desk,
) -> None:
    """One change of every replica for each row of draws (turn, replica, draw). best, fewest: the
    network with the fewest exact bits so far.
    """
    for turn in range(len(draws)):
        for replica in range(len(rows)):
            own = draws[turn, replica]
            copy(rows[replica], child)
            kind = 1.0 - own[11]
            if kind < ACCUMULATOR:
                _accumulate(child, parts, own)
            elif kind < ACCUMULATOR + REWIRED:
                _rewire(child, parts.symbols, own)
            elif kind < ACCUMULATOR + REWIRED + REWEIGHED:
                _reweigh(child, parts.symbols, own)
            else:
                mutate(child, parts, own, 3)
            if own[11] < TWICE:
                mutate(child, parts, own[::-1], 1)
            # Whether it is taken is decided by a number of bits that is known before: no more of it
            # is evaluated.
            limit = (
                bits[replica, 0] + bits[replica, 1] - heat[replica] * math.log(max(own[0], 1e-300))
            )
            evaluate(child, parts, floor[replica], tree, desk, found, limit)
            if found[0] + found[1] <= limit:
                copy(child, rows[replica])
                bits[replica] = found
                if found[0] + found[2] < fewest[0] + fewest[2]:
                    copy(child, best)
                    fewest[:] = found


@njit
def _exchanged(
    rows: Rows,
    bits: Numbers,
    heat: Numbers,
    floor: Numbers,
    draws: Numbers,
    child: Rows,
    found: Numbers,
    parts: Parts,
    tree: Tree,
    desk: Desk,
) -> None:
    """Neighbouring replicas change places, by what each network costs at the other's
    temperature.
    """
    hotter = np.zeros(3)
    for cold in range(len(rows) - 1):
        hot = cold + 1
        evaluate(rows[hot], parts, floor[cold], tree, desk, found, math.inf)
        evaluate(rows[cold], parts, floor[hot], tree, desk, hotter, math.inf)
        gain = (bits[cold, 0] + bits[cold, 1] - found[0] - found[1]) / heat[cold]
        gain += (bits[hot, 0] + bits[hot, 1] - hotter[0] - hotter[1]) / heat[hot]
        if gain >= 0.0 or draws[cold] < math.exp(gain):
            copy(rows[cold], child)
            copy(rows[hot], rows[cold])
            copy(child, rows[hot])
            bits[cold], bits[hot] = found, hotter


@dataclass
class Tempering(KeptAttributes):
    """A search on the way. changes: to be made in all, over all replicas; made: so far. rows, bits:
    of every replica, the coldest first. best, fewest: the network found so far, and its bits.
    """

    kept: ClassVar[tuple[str, ...]] = ("rows", "bits", "best", "fewest", "made", "generator")

    tree: Tree
    parts: Parts
    generator: np.random.Generator
    changes: int
    made: int = 0
    rows: Rows = field(init=False)
    bits: Numbers = field(init=False)
    best: Rows = field(init=False)
    fewest: Numbers = field(init=False)

    def __post_init__(self) -> None:
        # It begins where nothing is impossible: every output is 1 for any input.
        symbols = self.parts.symbols
        self.rows, self.bits = np.zeros((REPLICAS, WIDTH), np.int32), np.zeros((REPLICAS, 3))
        self.rows[:, UNITS] = 2 * symbols
        self.rows[:, BIAS + symbols : BIAS + 2 * symbols] = 1
        self.rows[:, BIAS_UNDER : BIAS_UNDER + 2 * symbols] = 1
        desk = Desk.of(len(self.tree.read))
        for row, floor, bits in zip(self.rows, self._floors, self.bits, strict=True):
            evaluate(row, self.parts, floor, self.tree, desk, bits, math.inf)
        self.best, self.fewest = self.rows[0].copy(), self.bits[0].copy()

    @property
    def _floors(self) -> Numbers:
        return np.asarray(GUESSER * np.linspace(0.0, 1.0, REPLICAS) ** 1.5)

    @property
    def done(self) -> bool:
        """Whether all changes have been made."""
        return self.made >= self.changes

    def go_on(self) -> None:
        """One round: a hundred changes of every replica, then exchanges."""
        place = self.rows, self.bits, np.geomspace(COLDEST, HOTTEST, REPLICAS), self._floors
        working: tuple[Any, ...] = (
            np.zeros(WIDTH, np.int32),
            np.zeros(3),
            self.parts,
            self.tree,
            Desk.of(len(self.tree.read)),
        )
        _changed(
            *place,
            self.best,
            self.fewest,
            self.generator.random((ROUND, REPLICAS, DRAWS)),
            *working,
        )
        _exchanged(*place, self.generator.random(REPLICAS - 1), *working)
        self.made += ROUND * REPLICAS
