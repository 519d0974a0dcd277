"""Evolution under a description length: reproduction in one compiled loop, islands that exchange
their best.

One generation is as many reproductions as there are networks on an island: of two drawn, the one
with fewer bits in all has a mutated copy that takes the place of the other. Random numbers are
drawn a generation at a time, so that an island is the same wherever and however often it is
interrupted. Islands share nothing, and live in threads of their own.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from quickstudy.base.learner import Snapshot
from quickstudy.learners.mdl.code_length import Desk, evaluate
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.evaluation_cache import Memory, look_up, remember
from quickstudy.learners.mdl.genes import WIDTH, Numbers, Parts, Rows
from quickstudy.learners.mdl.mutation import DRAWS, copy, first_network, mutate
from quickstudy.learners.mdl.network import Network
from quickstudy.numba_gateway import njit

ELITE = 0.001
"""Share of an island that only a strictly better network may replace."""
MIGRANTS = 0.01
"""Share of an island that an exchange sends on."""
SPAN = 50
"""Generations per call: less than a second for each island."""


@njit
def _better(one: Numbers, other: Numbers, draw: float) -> bool:
    """Whether the first of two has fewer bits in all; of two that are impossible, fewer in itself;
    else by lot.
    """
    mine, theirs = one[0] + one[1], other[0] + other[1]
    if mine == theirs:
        mine, theirs = one[0], other[0]
        if mine == theirs or math.isfinite(one[1]):
            return bool(draw < 0.5)
    return bool(mine < theirs)


@njit
def _pair(draws: Numbers, many: int) -> tuple[int, int]:
    one = int(draws[0] * many)
    other = int(draws[1] * (many - 1))
    return one, other + (other >= one)


@njit(nogil=True)
def _generation(
    rows: Rows,
    bits: Numbers,
    elite: Rows,
    draws: Numbers,
    child: Rows,
    found: Numbers,
    parts: Parts,
    tree: Tree,
    desk: Desk,
    memory: Memory,
) -> None:
    """As many reproductions as there are rows of draws. elite: rows that only a strictly better
    child replaces.
    """
    for turn in range(len(draws)):
        one, other = _pair(draws[turn], len(rows))
        winner, loser = (
            (one, other) if _better(bits[one], bits[other], draws[turn, 2]) else (other, one)
        )
        copy(rows[winner], child)
        mutate(child, parts, draws[turn], 3)
        place, known = look_up(child, memory)
        if known:
            for number in range(3):
                found[number] = memory.bits[place, number]
        else:
            evaluate(child, parts, 0.0, tree, desk, found, math.inf)
            if place >= 0:
                remember(place, memory, found)
        kept = False
        for best in elite:
            kept |= best == loser and not found[0] + found[1] < bits[loser, 0] + bits[loser, 1]
        if not kept:
            copy(child, rows[loser])
            bits[loser] = found


@dataclass
class Island:
    """Networks that compete. rows (network, place); bits (network, 3): those of `evaluate`. memory:
    of all that were evaluated; it saves time and changes nothing.
    """

    tree: Tree
    parts: Parts
    generator: np.random.Generator
    rows: Rows
    bits: Numbers
    memory: Memory = field(default_factory=Memory.empty)

    @classmethod
    def settled(cls, tree: Tree, parts: Parts, generator: np.random.Generator, size: int) -> Island:
        """Filled with first networks."""
        rows, bits, desk = (
            np.zeros((size, WIDTH), np.int32),
            np.zeros((size, 3)),
            Desk.of(len(tree.read)),
        )
        for row, own, draws in zip(
            rows, bits, generator.random((size, 5 * parts.symbols)), strict=True
        ):
            first_network(row, parts, draws)
            evaluate(row, parts, 0.0, tree, desk, own, math.inf)
        return cls(tree, parts, generator, rows, bits)

    @property
    def best(self) -> int:
        """The network with the fewest bits in all, the first of several."""
        return int(np.argmin(self.bits[:, :2].sum(axis=1)))

    def evolve(self, generations: int) -> None:
        """So many generations."""
        desk = Desk.of(len(self.tree.read))
        working = np.zeros(WIDTH, np.int32), np.zeros(3), self.parts, self.tree, desk, self.memory
        count = math.ceil(ELITE * len(self.rows))
        for _ in range(generations):
            elite = np.argsort(self.bits[:, :2].sum(axis=1), kind="stable")[:count].astype(np.int32)
            draws = self.generator.random((len(self.rows), DRAWS))
            _generation(self.rows, self.bits, elite, draws, *working)

    def send(self) -> tuple[Rows, Numbers]:
        """Winners of as many tournaments as there are migrants, each network once.

        Rows of one network may differ: in the order of its edges, and in what mutations have left
        after them.
        """
        networks: list[Network] = []
        numbers: list[int] = []
        for draws in self.generator.random((math.floor(MIGRANTS * len(self.rows)), 3)):
            one, other = _pair(draws, len(self.rows))
            winner = one if _better(self.bits[one], self.bits[other], draws[2]) else other
            network = Network.of_row(self.rows[winner], self.parts.symbols)
            if network not in networks:
                networks.append(network)
                numbers.append(winner)
        return self.rows[numbers].copy(), self.bits[numbers].copy()

    def receive(self, rows: Rows, bits: Numbers) -> None:
        """Migrants take the places of those who lose tournaments."""
        for row, own, draws in zip(rows, bits, self.generator.random((len(rows), 3)), strict=True):
            one, other = _pair(draws, len(self.rows))
            loser = other if _better(self.bits[one], self.bits[other], draws[2]) else one
            self.rows[loser], self.bits[loser] = row, own


@dataclass
class Archipelago:
    """Islands that send migrants to one another in turn. islands, population, generations: how
    many. exchange: every so many generations, and once at the end. patience: it ends earlier after
    so many generations in which nothing shorter was found; 0: it does not. fewest, since: the
    fewest bits so far, and the generation in which they were found.
    """

    tree: Tree
    parts: Parts
    generator: np.random.Generator
    islands: int
    population: int
    generations: int
    exchange: int
    patience: int = 0
    lived: int = 0
    fewest: float = math.inf
    since: int = 0
    members: list[Island] = field(init=False)

    def __post_init__(self) -> None:
        own = self.generator.spawn(self.islands)
        self.members = [
            Island.settled(self.tree, self.parts, generator, self.population) for generator in own
        ]

    @property
    def done(self) -> bool:
        """Whether all generations are done, or the patience is used up."""
        return self.lived >= self.generations or 0 < self.patience <= self.lived - self.since

    @property
    def best(self) -> Rows:
        """The network with the fewest bits in all."""
        island = min(self.members, key=lambda island: island.bits[island.best, :2].sum())
        return np.array(island.rows[island.best])

    def go_on(self) -> None:
        """A stretch of generations, no further than the next exchange, and that."""
        span = min(SPAN, self.exchange - self.lived % self.exchange, self.generations - self.lived)
        with ThreadPoolExecutor(min(self.islands, os.cpu_count() or 1)) as side_by_side:
            list(side_by_side.map(lambda island: island.evolve(span), self.members))
        self.lived += span
        fewest = min(float(island.bits[island.best, :2].sum()) for island in self.members)
        if fewest < self.fewest:
            self.fewest, self.since = fewest, self.lived
        if self.islands > 1 and (self.done or self.lived % self.exchange == 0):
            # The k-th exchange goes k islands further, around the circle, past oneself.
            ahead = (math.ceil(self.lived / self.exchange) - 1) % (self.islands - 1) + 1
            sent = [island.send() for island in self.members]
            for number, island in enumerate(self.members):
                island.receive(*sent[(number - ahead) % self.islands])

    def snapshot(self) -> Snapshot:
        """The present state of all islands."""
        arrays = {
            name: np.stack([getattr(island, name) for island in self.members])
            for name in ("rows", "bits")
        }
        arrays["fewest"] = np.array(self.fewest)
        generators = [one.generator.bit_generator.state for one in self.members]
        return Snapshot(
            arrays, {"lived": self.lived, "since": self.since, "generators": generators}
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        self.lived, self.since = snapshot.facts["lived"], snapshot.facts["since"]
        self.fewest = float(snapshot.arrays["fewest"])
        for number, island in enumerate(self.members):
            island.rows[:], island.bits[:] = (
                snapshot.arrays["rows"][number],
                snapshot.arrays["bits"][number],
            )
            island.generator.bit_generator.state = snapshot.facts["generators"][number]
