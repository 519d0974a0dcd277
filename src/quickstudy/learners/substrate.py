"""Cores as a search handles them: many of one kind, drawn, mixed entry by entry, and characterised in one call."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import catalogue
from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.parameters import configure, parse_assignments
from quickstudy.base.seeds import Streams
from quickstudy.base.task import SeriesTask, spaces_of
from quickstudy.gateway import jnp
from quickstudy.learners.features import all_states
from quickstudy.learners.lanes import Frame
from quickstudy.learners.ridge import read_out
from quickstudy.measures.errors import nmse
from quickstudy.measures.memory import RIDGE, ranks, significance

Genome: TypeAlias = list[NDArray[Any]]
"""The searched parameters of a core, and its arrays as they are where all of these are 1. A gene is an entry."""
TOGETHER = 64
"""Cores whose states are made in one call; of the long series of tasks a quarter."""


class Probe:
    """What a memory of some size is driven with, and how it behaves by its states.

    Every lane has inputs of its own, the same for all its cores. rank: the threshold of ranks, or `charc`. steps: that
    are fitted to, and as many that are tested (none: 5 for every state, at least 500). as_coded: generalisation from
    +- 0.05 around 0.5, not +- 0.1 around 0, and no delay below 0.1 counts.
    """

    def __init__(
        self, size: int, task: Any, streams: Sequence[Streams], rank: str, steps: int | None, as_coded: bool
    ) -> None:
        self.size, self._rank, self._as_coded = size, rank, as_coded
        self.steps = steps or max(500, 5 * size)
        self.washout = max(task.washout, size)
        self.drives = [self._drive(task, stream.numpy("drive")) for stream in streams]

    def behaviours(self, wide: NDArray[Any], narrow: NDArray[Any], inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """(memory, 3) of states (memory, time, state), under inputs (memory, time) and under narrow ones."""
        states, near = (np.asarray(part, np.float64)[:, self.washout :] for part in (wide, narrow))
        if not (np.isfinite(states).all() and np.isfinite(near).all()):
            raise LearnerFault("a core's states are not finite: it has diverged")
        rows = [_singular_values(matrix) for matrix in (states[:, : near.shape[1]], near)]
        kernel, generalisation = ([ranks(values)[self._rank] for values in both] for both in rows)
        return np.column_stack([kernel, generalisation, self._memory(states, inputs)])

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
        least = 0.1 if self._as_coded else significance(1, half)
        return np.asarray(np.where(shares > least, shares, 0.0).sum(axis=1))

    def _drive(self, task: Any, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(time, 1, 1) inputs of the whole range, and of a narrow one."""
        if task.distribution != "uniform":
            raise UsageError(f"{task.id} is searched with uniform inputs, got distribution={task.distribution}")
        wide = task.signal(rng, (self.washout + 2 * self.steps, 1, 1))
        centre, near = (0.5, 0.05) if self._as_coded else (0.0, 0.1)
        count = min(2 * self.steps, round(1.5 * self.size))
        return wide, centre + near * task.signal(rng, (self.washout + count, 1, 1))


def _singular_values(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """(matrix, value) of (matrix, row, column), by their Gram matrices: ten times as fast, and exact to 1e-7 of the
    largest, which is below every threshold of a rank.
    """
    squares = np.swapaxes(matrices, 1, 2) @ matrices
    return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(squares), 0.0)))


class Substrate(Probe):
    """A kind of core: draws them, and says how they behave, many in one call."""

    def __init__(
        self, core: Any, task: Any, streams: Sequence[Streams], rank: str, steps: int | None, as_coded: bool
    ) -> None:
        self._core, self._space = core, spaces_of(task)[0]
        self._ranges = dict(getattr(core, "searched", {}))
        shape = streams[0].integer("shape")
        arrays, self._frame = Frame.of(self._built(dict.fromkeys(self._ranges, 1.0), np.random.default_rng(shape)))
        self._shapes = [np.shape(array) for array in arrays]
        self._factors = [self._scaled_by(name, arrays, shape) for name in self._ranges]
        super().__init__(int(self._frame.filled(arrays).width), task, streams, rank, steps, as_coded)

    def _built(self, chosen: Mapping[str, float], rng: np.random.Generator) -> Any:
        return dataclasses.replace(self._core, **chosen).build(self._space, rng)

    def _scaled_by(self, name: str, arrays: Sequence[Any], shape: int) -> list[int]:
        """The numbers of the arrays that a parameter is a factor of. Raises UsageError if there are none."""
        halved = {**dict.fromkeys(self._ranges, 1.0), name: 0.5}
        others = Frame.of(self._built(halved, np.random.default_rng(shape)))[0]
        pairs = enumerate(zip(arrays, others, strict=True))
        found = [place for place, (one, half) in pairs if np.any(one) and np.allclose(one, 2 * np.asarray(half))]
        if not found:
            raise UsageError(f"{self._core.id}: {name} cannot be searched, it is a factor of none of the core's arrays")
        return found

    def draw(self, rng: np.random.Generator) -> Genome:
        """A fresh core, its searched parameters uniform in their ranges."""
        settings = np.array([rng.uniform(*bounds) for bounds in self._ranges.values()], dtype=np.float32)
        while True:  # one in a thousand million has more entries than the others have room for
            arrays = Frame.of(self._built(dict.fromkeys(self._ranges, 1.0), rng))[0]
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
            found.append(self._behave(chosen + chosen[:1] * (together - len(chosen)))[: len(chosen)])
        return np.split(np.concatenate(found), np.cumsum([len(own) for own in genomes])[:-1])

    def errors(self, genomes: Sequence[Genome], name: str, streams: Streams) -> NDArray[np.float64]:
        """(genome,): NRMSE of a readout on a task, on the series that a run of that task would be given."""
        id, _, assignments = name.partition(":")
        task: Any = configure(id, catalogue.task.get(id), parse_assignments(assignments))
        if not isinstance(task, SeriesTask) or spaces_of(task)[0] != self._space:
            raise UsageError(f"{name} cannot be placed: it is no series with one input")
        series = task.drive(dataclasses.replace(streams, task=id).numpy("data"))
        found = []
        for first in range(0, len(genomes), TOGETHER // 4):
            chosen = list(genomes[first : first + TOGETHER // 4])
            filled = chosen + chosen[:1] * (TOGETHER // 4 - len(chosen))
            states = np.asarray(all_states(self._cores(filled), series.inputs[:, None], len(filled)))[
                : len(chosen), :, 0
            ]
            target = series.targets[len(series.targets) - series.test :]
            found += [math.sqrt(nmse(read_out(one.astype(np.float64), series), target)) for one in states]
        return np.array(found)

    def _cores(self, genomes: Sequence[Genome]) -> Any:
        stacked = zip(*map(self._arrays, genomes), strict=True)
        return self._frame.filled([jnp.asarray(np.stack(arrays)) for arrays in stacked])

    def _behave(self, chosen: Sequence[tuple[int, Genome]]) -> NDArray[np.float64]:
        cores = self._cores([genome for _, genome in chosen])
        drives = [np.stack([self.drives[lane][place] for lane, _ in chosen]) for place in (0, 1)]
        wide, narrow = (all_states(cores, drive, len(chosen), apart=True)[:, :, 0] for drive in drives)
        return self.behaviours(wide, narrow, drives[0][:, :, 0, 0])
