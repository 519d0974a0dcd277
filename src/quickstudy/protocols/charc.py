"""What kinds of memory can be made of one core? A search for novelty in the space of behaviours (CHARC)."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import protocol
from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace
from quickstudy.measures.memory import RIDGE, ranks, significance
from quickstudy.protocols.examination import Clock, Examination

Genome = list[NDArray[Any]]
"""The searched parameters of a core, and its arrays as they are where all of these are 1. A gene is an entry."""
TOGETHER = 64
"""Cores whose states are made in one call."""
DEME, RECOMBINATION, LUCK, ARCHIVED = 0.1, 0.5, 0.001, 150
"""How far apart on their ring two parents may be, of the population; the chance of a gene to be taken over; that of an
offspring to be kept in the archive though it is not new; and how many are kept there."""
REVIEWED, TOO_MANY, EASED, RAISED = 100, 10, 0.95, 1.1
"""Generations after which the bar for the archive is looked at: eased if nothing passed, raised if many did."""


@protocol("charc", version=1)
@dataclass(frozen=True)
class CharcProtocol:
    """Search for cores that behave in new ways; and, with as many evaluations, draw cores at random.

    Behaviour: kernel rank and generalisation rank of the states of one stream, of 1.5 times as many steps as states
    (inputs in -1 .. 1, and in +- 0.1), and memory capacity for as many delays as states, fitted to `steps` steps (none:
    5 for every state, at least 500) and tested on as many. rank: a threshold, or `charc`. A steady-state genetic
    algorithm: of two neighbours on a ring the less novel one takes over genes of the other, and `mutation` of all genes
    are replaced by those of freshly drawn cores. Novelty: mean distance to the `neighbours` nearest of population and
    archive. voxel: the edge of what counts as different (none: a tenth of the states).

    Published, as in the code of CHARC: population 100, 2,000 generations, a core is the first of its own neighbours,
    generalisation from +- 0.05 around 0.5, memory below 0.1 of a delay not counted. Its choice of a ridge by the test
    error is not repeated. Source: Dale et al. 2019.
    """

    population: int = parameter(50, at_least=4)
    generations: int = parameter(500, at_least=1)
    mutation: float = parameter(0.02, at_least=0, at_most=1)
    neighbours: int = parameter(10, at_least=1)
    rank: str = parameter("charc", choices=("charc", "0.1", "0.01", "0.001", "1e-06"))
    voxel: float | None = parameter(None, above=0)
    steps: int | None = parameter(None, at_least=10)
    as_coded: bool = False

    measures: ClassVar[tuple[str, ...]] = ("coverage",)
    question: ClassVar[str] = "How many kinds of memory can be made of it?"
    headline: ClassVar[str] = "voxels"
    columns: ClassVar[tuple[str, ...]] = (
        "voxels", "voxels-at-random", "voxels-gained", "kernel-rank-range", "generalisation-rank-range", "memory-range",
    )  # fmt: skip
    replay_apart: ClassVar[bool] = False
    asks: ClassVar[str] = "reals"
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"population": 100, "generations": 2000, "as_coded": True}
    }

    def examine(self, task: Any, learner: Any, streams: Sequence[Streams]) -> Examination:
        """One trace per lane, of kind `behaviours`: `behaviour` and `at_random` (evaluation, 3)."""
        core = getattr(learner, "core", None)
        if core is None:
            raise NotApplicable("only a core can be searched: what it is made of must be known")
        brief = Brief(*spaces_of(task), "squared", 1, 1)
        clock = Clock()
        with clock.timing("answer"):
            substrate = Substrate(core, self, task, streams)
            searches = [_Search(self, substrate, lane, stream) for lane, stream in enumerate(streams)]
            drawn = [search.pool[: self.population] for search in searches]
            for search, behaviours in zip(searches, substrate.behave(drawn), strict=True):
                search.begin(behaviours)
            for _ in range(self.generations):
                offspring = [[search.offspring()] for search in searches]
                for search, behaviours in zip(searches, substrate.behave(offspring), strict=True):
                    search.add(behaviours[0])
            at_random = substrate.behave([search.pool for search in searches])
            pupil = learner.begin(brief, [stream.for_learner() for stream in streams])
        facts = {"size": substrate.size, "voxel": self.voxel or max(1.0, substrate.size / 10), "passes": 0}
        traces = [
            Trace("behaviours", {"behaviour": np.array(search.found), "at_random": rest}, facts, cost)
            for search, rest, cost in zip(searches, at_random, clock.charge(pupil.cost()), strict=True)
        ]
        return Examination(traces, pupil, brief)


class Substrate:
    """A kind of core: draws them, and says how they behave, many in one call."""

    def __init__(self, core: Any, asked: CharcProtocol, task: Any, streams: Sequence[Streams]) -> None:
        from quickstudy.learners.lanes import Frame

        self._core, self._asked = core, asked
        self._ranges = dict(getattr(core, "searched", {}))
        shape = streams[0].integer("shape")
        built = self._built(dict.fromkeys(self._ranges, 1.0), np.random.default_rng(shape), spaces_of(task)[0])
        arrays, self._frame = Frame.of(built)
        self._shapes = [np.shape(array) for array in arrays]
        self._factors = [self._scaled_by(name, arrays, shape, spaces_of(task)[0]) for name in self._ranges]
        self._space = spaces_of(task)[0]
        self.size = int(self._frame.filled(arrays).width)
        self.steps = asked.steps or max(500, 5 * self.size)
        self.washout = max(task.washout, self.size)
        self.drives = [self._drive(task, stream.numpy("drive")) for stream in streams]

    def _built(self, chosen: Mapping[str, float], rng: np.random.Generator, space: Any) -> Any:
        return dataclasses.replace(self._core, **chosen).build(space, rng)

    def _scaled_by(self, name: str, arrays: Sequence[Any], shape: int, space: Any) -> list[int]:
        """The numbers of the arrays that a parameter is a factor of. Raises UsageError if there are none."""
        from quickstudy.learners.lanes import Frame

        halved = {**dict.fromkeys(self._ranges, 1.0), name: 0.5}
        others = Frame.of(self._built(halved, np.random.default_rng(shape), space))[0]
        pairs = enumerate(zip(arrays, others, strict=True))
        found = [place for place, (one, half) in pairs if np.any(one) and np.allclose(one, 2 * np.asarray(half))]
        if not found:
            raise UsageError(f"{self._core.id}: {name} cannot be searched, it is a factor of none of the core's arrays")
        return found

    def draw(self, rng: np.random.Generator) -> Genome:
        """A fresh core, its searched parameters uniform in their ranges."""
        from quickstudy.learners.lanes import Frame

        settings = np.array([rng.uniform(*bounds) for bounds in self._ranges.values()], dtype=np.float32)
        while True:  # one in a thousand million has more entries than the others have room for
            arrays = Frame.of(self._built(dict.fromkeys(self._ranges, 1.0), rng, self._space))[0]
            if [np.shape(array) for array in arrays] == self._shapes:
                return [settings, *map(np.asarray, arrays)]

    def _arrays(self, genome: Genome) -> Genome:
        """Of the core that a genome stands for."""
        settings, *arrays = genome
        for value, places in zip(settings, self._factors, strict=True):
            for place in places:
                arrays[place] = arrays[place] * value
        return arrays

    def behave(self, genomes: Sequence[Sequence[Genome]]) -> list[NDArray[np.float64]]:
        """Per lane (genome, 3): kernel rank, generalisation rank and memory capacity of its genomes."""
        flat = [(lane, genome) for lane, own in enumerate(genomes) for genome in own]
        # Calls have one of two sizes, and so share two compiled programs.
        together = min(TOGETHER, len(flat))
        found = []
        for first in range(0, len(flat), together):
            chosen = flat[first : first + together]
            found.append(self._behave([*chosen, *chosen[:1] * (together - len(chosen))])[: len(chosen)])
        return np.split(np.concatenate(found), np.cumsum([len(own) for own in genomes])[:-1])

    def _behave(self, chosen: Sequence[tuple[int, Genome]]) -> NDArray[np.float64]:
        from quickstudy.gateway import jnp
        from quickstudy.learners.features import all_states

        cores = self._frame.filled(
            [
                jnp.asarray(np.stack(arrays))
                for arrays in zip(*(self._arrays(genome) for _, genome in chosen), strict=True)
            ]
        )
        wide, narrow = (np.stack([self.drives[lane][place] for lane, _ in chosen]) for place in (0, 1))
        states = np.asarray(all_states(cores, wide, len(chosen), apart=True), np.float64)[:, self.washout :, 0]
        near = np.asarray(all_states(cores, narrow, len(chosen), apart=True), np.float64)[:, self.washout :, 0]
        if not (np.isfinite(states).all() and np.isfinite(near).all()):
            raise LearnerFault("a core's states are not finite: it has diverged")
        matrices = (states[:, : near.shape[1]], near)
        rows = [np.linalg.svd(matrix, compute_uv=False) for matrix in matrices]
        kernel, generalisation = ([ranks(values)[self._asked.rank] for values in both] for both in rows)
        return np.column_stack([kernel, generalisation, self._memory(states, wide[:, :, 0, 0])])

    def _memory(self, states: NDArray[np.float64], inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """(core,): memory capacity, all cores at once: one batch of products, one of solves."""
        first, half = self.washout, self.steps
        targets = np.stack([inputs[:, first - k : first - k + 2 * half] for k in range(1, self.size + 1)], axis=2)
        shown, wanted = (part[:, :half] - part[:, :half].mean(axis=1, keepdims=True) for part in (states, targets))
        across = np.swapaxes(shown, 1, 2)
        squares = across @ shown
        held_back = np.maximum(np.trace(squares, axis1=1, axis2=2), 1e-30) * RIDGE / self.size
        squares += held_back[:, None, None] * np.eye(self.size)
        given = states[:, half:] @ np.linalg.solve(squares, across @ wanted)
        asked = targets[:, half:] - targets[:, half:].mean(axis=1, keepdims=True)
        given -= given.mean(axis=1, keepdims=True)
        both = np.square(given).sum(axis=1) * np.square(asked).sum(axis=1)
        shares = np.square((given * asked).sum(axis=1)) / np.where(both > 0, both, 1.0)
        least = 0.1 if self._asked.as_coded else significance(1, half)
        return np.asarray(np.where(shares > least, shares, 0.0).sum(axis=1))

    def _drive(self, task: Any, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(time, 1, 1) inputs of the whole range, and of a narrow one."""
        if task.distribution != "uniform":
            raise UsageError(f"{task.id} is searched with uniform inputs, got distribution={task.distribution}")
        wide = task.signal(rng, (self.washout + 2 * self.steps, 1, 1))
        centre, near = (0.5, 0.05) if self._asked.as_coded else (0.0, 0.1)
        count = min(2 * self.steps, round(1.5 * self.size))
        return wide, centre + near * task.signal(rng, (self.washout + count, 1, 1))


class _Search:
    """One search for novelty, and the cores that a random search would draw, whose genes it takes for new ones."""

    def __init__(self, asked: CharcProtocol, substrate: Substrate, lane: int, streams: Streams) -> None:
        self._asked, self._rng = asked, streams.numpy("search")
        draws = streams.numpy("cores")
        self.pool = [substrate.draw(draws) for _ in range(asked.population + asked.generations)]
        self.found: list[NDArray[np.float64]] = []
        self._people = list(self.pool[: asked.population])
        self._bar, self._passed = float(np.sqrt(substrate.size)), 0
        self._archive: deque[NDArray[np.float64]] = deque(maxlen=ARCHIVED)
        self._places: list[NDArray[np.float64]] = []
        self._loser, self._next = 0, self._people[0]

    def begin(self, behaviours: NDArray[np.float64]) -> None:
        """The first population has been evaluated."""
        self._places, self.found = list(behaviours), list(behaviours)

    def offspring(self) -> Genome:
        """The less novel of two neighbours, with genes of the other, mutated."""
        rng, size = self._rng, len(self._people)
        one = int(rng.integers(size))
        other = (one + int(rng.integers(1, max(2, round(DEME * size) + 1)))) % size
        winner, self._loser = (one, other) if self._novelty(one) > self._novelty(other) else (other, one)
        fresh = self.pool[int(rng.integers(len(self.pool)))]
        # Entries at one place of arrays of one shape are one gene: where a weight comes from, and how strong it is.
        shapes = {own.shape for own in fresh}
        taken = {shape: rng.random(shape) < RECOMBINATION for shape in sorted(shapes)}
        anew = {shape: rng.random(shape) < self._asked.mutation for shape in sorted(shapes)}
        self._next = [
            np.where(anew[own.shape], new, np.where(taken[own.shape], better, own))
            for own, better, new in zip(self._people[self._loser], self._people[winner], fresh, strict=True)
        ]
        return self._next

    def add(self, behaviour: NDArray[np.float64]) -> None:
        """The offspring has been evaluated: it takes the loser's place, and if it is new, one in the archive."""
        self.found.append(behaviour)
        self._people[self._loser], self._places[self._loser] = self._next, behaviour
        novelty, lucky = self._novelty(self._loser), self._rng.random() < LUCK
        if novelty > self._bar or lucky:
            self._archive.append(behaviour)
            self._passed += 1
        if (len(self.found) - len(self._people)) % REVIEWED == 0:
            self._bar *= EASED if not self._passed else RAISED if self._passed > TOO_MANY else 1.0
            self._passed = 0

    def _novelty(self, one: int) -> float:
        others = [*self._places, *self._archive]
        if not self._asked.as_coded:
            del others[one]
        distances = np.linalg.norm(np.array(others) - self._places[one], axis=1)
        return float(np.sort(distances)[: self._asked.neighbours].mean())
