"""What kinds of memory can be made of one core? A search for novelty in the space of behaviours
(CHARC).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Brief, Pupil, Showing, face
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import LearnerFacts, stated
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace
from quickstudy.protocols.examination import Examination
from quickstudy.protocols.properties import begun_after
from quickstudy.protocols.session import Clock

if TYPE_CHECKING:
    from quickstudy.learners.device_population import DevicePopulation
    from quickstudy.learners.reservoir_population import Genome, Probe, Substrate

DEME, RECOMBINATION, LUCK, ARCHIVED = 0.1, 0.5, 0.001, 150
"""How far apart on their ring two parents may be, of the population; the chance of a gene to be
taken over; that of an offspring to be kept in the archive though it is not new; and how many are
kept there.
"""
REVIEWED, TOO_MANY, EASED, RAISED = 100, 10, 0.95, 1.1
"""Generations after which the bar for the archive is looked at: eased if nothing passed, raised if
many did.
"""


@protocol("charc", version=1)
@dataclass(frozen=True)
class CharcProtocol:
    """Search for cores with new behaviour (CHARC), and sample as many cores at random for
    comparison. Of a device, settings are searched: those that its class names under `searched`.

    A behaviour is the kernel rank and generalisation rank of the states of one stream of 1.5 times
    as many steps as states (inputs in -1 .. 1, and in +-0.1), and the memory capacity for as many
    delays as states. The search is a steady-state genetic algorithm: of two neighbours on a ring
    the less novel one takes genes of the other and is mutated. Novelty is the mean distance to the
    nearest neighbours in population and archive. Published, as in the code of CHARC: population
    100, 2,000 generations, a core counts among its own neighbours, generalisation from +-0.05
    around 0.5, capacities below 0.1 per delay not counted.

    Source: Dale et al. 2019.
    Departures: their choice of the ridge parameter by the test error is not repeated.

    Parameters
    ----------
    population:
        Cores on the ring.
    generations:
        Generations of the search.
    mutation:
        Share of genes replaced by those of random cores.
    neighbours:
        Nearest neighbours in the novelty.
    rank:
        Threshold of the rank, or `charc` for its own algorithm.
    voxel:
        Edge of a cell of behaviour space that counts as different; none: a tenth of the states.
    steps:
        Steps to fit memory capacity, and as many to test; none: 5 per state, at least 500.
    tasks:
        Tasks, joined by `+`, on which one core per voxel gets a ridge readout, so that tasks have
        positions in the space.
    placed:
        Most cores that are tried on them.
    after:
        A task that the learner is trained on too; its behaviour afterwards is one more point, of
        which the search knows nothing.
    as_coded:
        The details of the code of CHARC above.
    """

    population: int = parameter(50, at_least=4)
    generations: int = parameter(500, at_least=1)
    mutation: float = parameter(0.02, at_least=0, at_most=1)
    neighbours: int = parameter(10, at_least=1)
    rank: str = parameter("charc", choices=("charc", "0.1", "0.01", "0.001", "1e-06"))
    voxel: float | None = parameter(None, above=0)
    steps: int | None = parameter(None, at_least=10)
    tasks: str = ""
    placed: int = parameter(200, at_least=10)
    after: str = ""
    as_coded: bool = False

    measures: ClassVar[tuple[str, ...]] = ("coverage", "task-places")
    question: ClassVar[str] = "How many kinds of memory can be made of it?"
    headline: ClassVar[str] = "voxels"
    columns: ClassVar[tuple[str, ...]] = (
        "voxels",
        "voxels-at-random",
        "voxels-gained",
        "kernel-rank-range",
        "generalisation-rank-range",
        "memory-range",
    )
    replay_apart: ClassVar[bool] = False
    asks: ClassVar[str] = "reals"
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"population": 100, "generations": 2000, "as_coded": True}
    }

    def examine(self, task: Any, learner: Any, streams: Sequence[Streams]) -> Examination:
        """One trace per lane, of kind `behaviours`: `behaviour` and `at_random` (evaluation, 3)."""
        from quickstudy.learners.device_population import DevicePopulation, checked_ranges
        from quickstudy.learners.reservoir_population import Substrate

        core = stated(learner, LearnerFacts).core
        if core is None and not checked_ranges(learner):
            return self._single(task, learner, streams)
        brief = Brief(*spaces_of(task), "squared", 1, 1)
        clock = Clock()
        with clock.timing("answer"):
            asked = (task, streams, self.rank, self.steps, self.as_coded)
            substrate = (
                DevicePopulation(learner, *asked) if core is None else Substrate(core, *asked)
            )
            searches = [_Search(self, substrate, stream) for stream in streams]
            drawn = [search.pool[: self.population] for search in searches]
            for search, behaviours in zip(searches, substrate.behave(drawn), strict=True):
                search.begin(behaviours)
            for _ in range(self.generations):
                offspring = [[search.offspring()] for search in searches]
                for search, behaviours in zip(searches, substrate.behave(offspring), strict=True):
                    search.add(behaviours[0])
            at_random = substrate.behave([search.pool for search in searches])
            placed = [
                self._placed(substrate, *both) for both in zip(searches, streams, strict=True)
            ]
            after = (
                "" if core is None or core.frozen else self.after
            )  # what is never trained is nowhere else afterwards
            pupil = begun_after(after, task, learner, streams).pupil
            trained = _behaviours(pupil, substrate) if after else None
        facts: dict[str, Any] = {
            "size": substrate.size,
            "voxel": self.edge(substrate.size),
            "passes": 0,
        }
        facts |= {"tasks": self._names} if self.tasks else {}
        if trained is not None:
            placed = [{**more, "trained": own} for more, own in zip(placed, trained, strict=True)]
            facts["after"] = after
        traces = [
            Trace(
                "behaviours",
                {"behaviour": np.array(search.found), "at_random": rest, **more},
                facts,
                cost,
            )
            for search, rest, more, cost in zip(
                searches, at_random, placed, clock.charge(pupil.cost()), strict=True
            )
        ]
        return Examination(traces, pupil, brief)

    def _single(self, task: Any, learner: Any, streams: Sequence[Streams]) -> Examination:
        """A single behaviour: a memory that is not a core and cannot be varied."""
        from quickstudy.learners.reservoir_population import Probe

        brief, clock = Brief(*spaces_of(task), "squared", 1, 1), Clock()
        with clock.timing("answer"):
            pupil = learner.begin(brief, [stream.for_learner() for stream in streams])
            size = np.shape(face(pupil, Showing).states(np.zeros((1, 1, 1))))[-1]
            found = _behaviours(
                pupil, Probe(size, task, streams, self.rank, self.steps, self.as_coded)
            )
        facts: dict[str, Any] = {"size": size, "voxel": self.edge(size), "passes": 0}
        if not stated(learner, LearnerFacts).control:
            facts["remarks"] = [
                "It has no parameters to search (`searched` of its class): its one behaviour is"
                " one voxel, whatever the seeds."
            ]
        costs = clock.charge(pupil.cost())
        traces = [
            Trace("behaviours", {"behaviour": one, "at_random": one}, facts, cost)
            for one, cost in zip(found, costs, strict=True)
        ]
        return Examination(traces, pupil, brief)

    def edge(self, size: int) -> float:
        """Of a voxel, for cores of so many states."""
        return self.voxel or max(1.0, size / 10)

    @property
    def _names(self) -> list[str]:
        return [name.strip() for name in self.tasks.split("+")]

    def _placed(
        self, substrate: Substrate | DevicePopulation, search: _Search, streams: Streams
    ) -> dict[str, NDArray[np.float64]]:
        """`placed` (core, 3), the behaviour of one core of every voxel, and its `errors` (core,
        task); or nothing.
        """
        if not self.tasks:
            return {}
        chosen = list(search.different.values())[: self.placed]
        errors = [
            substrate.errors([genome for _, genome in chosen], name, streams)
            for name in self._names
        ]
        return {
            "placed": np.array([behaviour for behaviour, _ in chosen]),
            "errors": np.stack(errors, axis=1),
        }


def _behaviours(pupil: Pupil, probe: Probe) -> list[NDArray[np.float64]]:
    """Per lane (1, 3): the behaviour of the unchanged pupil."""
    states, found = face(pupil, Showing).states, []
    for lane, drives in enumerate(probe.drives):
        wide, narrow = (np.asarray(states(drive))[lane : lane + 1, :, 0] for drive in drives)
        found.append(probe.behaviours(wide, narrow, drives[0][None, :, 0, 0]))
    return found


class _Search:
    """One search for novelty, and the cores that a random search would draw, whose genes it takes
    for new ones.
    """

    def __init__(
        self, asked: CharcProtocol, substrate: Substrate | DevicePopulation, streams: Streams
    ) -> None:
        self._asked, self._rng = asked, streams.numpy("search")
        draws = streams.numpy("cores")
        self.pool = [substrate.draw(draws) for _ in range(asked.population + asked.generations)]
        self.found: list[NDArray[np.float64]] = []
        self.different: dict[tuple[float, ...], tuple[NDArray[np.float64], Genome]] = {}
        self._voxel = asked.edge(substrate.size)
        self._people = list(self.pool[: asked.population])
        self._bar, self._passed = float(np.sqrt(substrate.size)), 0
        self._archive: deque[NDArray[np.float64]] = deque(maxlen=ARCHIVED)
        self._places: list[NDArray[np.float64]] = []
        self._loser, self._next = 0, self._people[0]

    def begin(self, behaviours: NDArray[np.float64]) -> None:
        """The first population has been evaluated."""
        self._places, self.found = list(behaviours), list(behaviours)
        for behaviour, genome in zip(behaviours, self._people, strict=True):
            self._note(behaviour, genome)

    def offspring(self) -> Genome:
        """The less novel of two neighbours, with genes of the other, mutated."""
        rng, size = self._rng, len(self._people)
        one = int(rng.integers(size))
        other = (one + int(rng.integers(1, max(2, round(DEME * size) + 1)))) % size
        winner, self._loser = (
            (one, other) if self._novelty(one) > self._novelty(other) else (other, one)
        )
        fresh = self.pool[int(rng.integers(len(self.pool)))]
        # Entries at one place of arrays of one shape are one gene: where a weight comes from, and
        # how strong it is.
        shapes = {own.shape for own in fresh}
        taken = {shape: rng.random(shape) < RECOMBINATION for shape in sorted(shapes)}
        anew = {shape: rng.random(shape) < self._asked.mutation for shape in sorted(shapes)}
        self._next = [
            np.where(anew[own.shape], new, np.where(taken[own.shape], better, own))
            for own, better, new in zip(
                self._people[self._loser], self._people[winner], fresh, strict=True
            )
        ]
        return self._next

    def add(self, behaviour: NDArray[np.float64]) -> None:
        """The offspring has been evaluated: it takes the loser's place, and if it is new, one in
        the archive.
        """
        self.found.append(behaviour)
        self._note(behaviour, self._next)
        self._people[self._loser], self._places[self._loser] = self._next, behaviour
        novelty, lucky = self._novelty(self._loser), self._rng.random() < LUCK
        if novelty > self._bar or lucky:
            self._archive.append(behaviour)
            self._passed += 1
        if (len(self.found) - len(self._people)) % REVIEWED == 0:
            self._bar *= EASED if not self._passed else RAISED if self._passed > TOO_MANY else 1.0
            self._passed = 0

    def _note(self, behaviour: NDArray[np.float64], genome: Genome) -> None:
        self.different.setdefault(tuple(np.round(behaviour / self._voxel)), (behaviour, genome))

    def _novelty(self, one: int) -> float:
        others = [*self._places, *self._archive]
        if not self._asked.as_coded:
            del others[one]
        distances = np.linalg.norm(np.array(others) - self._places[one], axis=1)
        return float(np.sort(distances)[: self._asked.neighbours].mean())
