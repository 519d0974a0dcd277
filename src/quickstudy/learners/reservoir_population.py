"""Cores as a search handles them: many of one kind, drawn, mixed entry by entry, and characterised
in one call.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Series
from quickstudy.base.learner import finite
from quickstudy.base.offers import Parted, offers
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Space
from quickstudy.base.stated import CoreFacts, stated
from quickstudy.base.task import SeriesTask, spaces_of
from quickstudy.cores.core import precision_of
from quickstudy.jax_gateway import device_kind, double, eqx, jax, jnp, lax
from quickstudy.learners.lanes import Frame
from quickstudy.learners.state_readout import read_out
from quickstudy.measures.errors import nmse
from quickstudy.measures.memory import RIDGE, ranks, significance

Genome: TypeAlias = list[NDArray[Any]]
"""The searched parameters of a core, and its arrays where all of these are 1. A gene is
an entry.
"""
STRENGTHS = (0.0, 10.0)
"""Times what is drawn: the matrices of a core that does not say which of its parameters are
searched.
"""
TOGETHER = 64
"""Cores whose states are made in one call."""


class Probe:
    """What a memory of some size is driven with, and how it behaves by its states.

    Every lane has inputs of its own, the same for all its cores. rank: the threshold of ranks, or
    `charc`. steps: that are fitted to, and as many that are tested (none: 5 for every state, at
    least 500). as_coded: generalisation from +- 0.05 around 0.5, not +- 0.1 around 0, and no delay
    below 0.1 counts.
    """

    def __init__(
        self,
        size: int,
        task: Any,
        streams: Sequence[Streams],
        rank: str,
        steps: int | None,
        as_coded: bool,
    ) -> None:
        self.size, self._rank, self._as_coded = size, rank, as_coded
        self.steps = steps or max(500, 5 * size)
        self.washout = max(task.washout, size)
        self.drives = [self._drive(task, stream.numpy("drive")) for stream in streams]
        self._targets = lru_cache(maxsize=len(streams))(self._delayed)

    def behaviours(
        self, wide: NDArray[Any], narrow: NDArray[Any], inputs: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """(memory, 3) of states (memory, time, state), under inputs (memory, time) and under narrow
        ones.
        """
        found = np.empty((len(wide), 3))
        for row, near, own, drive in zip(
            found, narrow, wide, inputs, strict=True
        ):  # each stays near the processor
            states, close = (np.asarray(part, np.float64)[self.washout :] for part in (own, near))
            for part in (states, close):
                finite("a core's states", part)
            kernel, generalisation = (
                ranks(_singular_values(part))[self._rank] for part in (states[: len(close)], close)
            )
            row[:] = kernel, generalisation, self._memory(states, drive)
        return found

    def _memory(self, states: NDArray[np.float64], inputs: NDArray[np.float64]) -> float:
        """Memory capacity for as many delays as states."""
        from scipy.linalg import cho_factor, cho_solve

        half = self.steps
        wanted, asked, deviation = self._targets(inputs.tobytes())
        shown = states[:half] - states[:half].mean(axis=0)
        squares = shown.T @ shown
        held_back = max(float(np.trace(squares)), 1e-30) * RIDGE / self.size
        squares[np.diag_indices_from(squares)] += held_back
        weights = cho_solve(
            cho_factor(squares, check_finite=False), shown.T @ wanted, check_finite=False
        )
        given = states[half:] @ weights
        given -= given.mean(axis=0)
        spread = np.einsum("td,td->d", given, given) * deviation
        both = np.einsum("td,td->d", given, asked)
        shares = np.square(both) / np.where(spread > 0, spread, 1.0)
        least = 0.1 if self._as_coded else significance(1, half)
        return float(shares[shares > least].sum())

    def _delayed(
        self, drive: bytes
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The inputs of 1 .. size steps ago (step, delay), of the steps to fit and of those to
        test, and the squared deviations of the latter. Kept: all cores of a lane are asked for the
        same.
        """
        before = np.frombuffer(drive)[self.washout - self.size : -1]
        back = np.lib.stride_tricks.sliding_window_view(before, self.size)
        wanted, asked = (
            np.ascontiguousarray(part) for part in (back[: self.steps], back[self.steps :])
        )
        return wanted, asked, self.steps * asked.var(axis=0)

    def _drive(
        self, task: Any, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(time, 1, 1) inputs of the whole range, and of a narrow one."""
        if task.distribution != "uniform":
            raise UsageError(
                f"{task.id} is searched with uniform inputs, got distribution={task.distribution}"
            )
        wide = task.signal(rng, (self.washout + 2 * self.steps, 1, 1))
        centre, near = (0.5, 0.05) if self._as_coded else (0.0, 0.1)
        count = min(2 * self.steps, round(1.5 * self.size))
        return wide, centre + near * task.signal(rng, (self.washout + count, 1, 1))


def _singular_values(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of a matrix, by its Gram matrix: ten times as fast, and exact to 1e-7 of the largest, which
    is below every threshold of a rank.
    """
    return np.asarray(np.sqrt(np.maximum(np.linalg.eigvalsh(matrix.T @ matrix), 0.0)))


class Substrate(Probe):
    """A kind of core: samples them, and computes their behaviour, many in one call."""

    def __init__(
        self,
        core: Any,
        task: Any,
        streams: Sequence[Streams],
        rank: str,
        steps: int | None,
        as_coded: bool,
    ) -> None:
        self._core, self._space = core, spaces_of(task)[0]
        self._ranges = dict(stated(core, CoreFacts).searched)
        self._varied = dict(stated(core, CoreFacts).varied)
        shape = streams[0].integer("shape")
        arrays, self._frame = Frame.of(
            self._built(dict.fromkeys(self._ranges, 1.0), np.random.default_rng(shape))
        )
        self._shapes = [np.shape(array) for array in arrays]
        self._factors = [self._scaled_by(name, arrays, shape) for name in self._ranges]
        self._bounds = list(self._ranges.values())
        if not self._ranges and not self._varied:  # undeclared: a strength for every matrix
            matrices = [
                place
                for place, array in enumerate(arrays)
                if array.ndim > 1 and eqx.is_inexact_array(array)
            ]
            self._factors, self._bounds = (
                [[place] for place in matrices],
                [STRENGTHS] * len(matrices),
            )
        super().__init__(
            int(self._frame.filled(arrays).width), task, streams, rank, steps, as_coded
        )

    def _built(
        self, chosen: Mapping[str, Any], rng: np.random.Generator, space: Space | None = None
    ) -> Any:
        return dataclasses.replace(self._core, **chosen).build(space or self._space, rng)

    def _scaled_by(self, name: str, arrays: Sequence[Any], shape: int) -> list[int]:
        """The numbers of the arrays that a parameter is a factor of. Raises UsageError if there are
        none.
        """
        halved = {**dict.fromkeys(self._ranges, 1.0), name: 0.5}
        others = Frame.of(self._built(halved, np.random.default_rng(shape)))[0]
        pairs = enumerate(zip(arrays, others, strict=True))
        found = [
            place
            for place, (one, half) in pairs
            if np.any(one) and np.allclose(one, 2 * np.asarray(half))
        ]
        if not found:
            raise UsageError(
                f"{self._core.id}: {name} cannot be searched, it is a factor of none of the core's"
                " arrays"
            )
        return found

    def draw(self, rng: np.random.Generator) -> Genome:
        """A fresh core, its searched parameters uniform in their ranges."""
        settings = np.array([rng.uniform(*bounds) for bounds in self._bounds], dtype=np.float32)
        chosen: dict[str, Any] = dict.fromkeys(self._ranges, 1.0)
        chosen |= {
            name: int(rng.integers(low, high + 1)) for name, (low, high) in self._varied.items()
        }
        while True:  # one in a thousand million has more entries than the others have room for
            arrays = Frame.of(self._built(chosen, rng))[0]
            if [np.shape(array) for array in arrays] == self._shapes:
                return [settings, *map(np.asarray, arrays)]

    def _arrays(self, genome: Genome, other: _Other | None = None) -> Genome:
        """Of the core that a genome encodes; for other inputs, those of another shape are taken
        from there.
        """
        settings, *arrays = genome
        if other is not None:
            pairs = zip(arrays, other.arrays, strict=True)
            arrays = [own if own.shape == np.shape(new) else np.asarray(new) for own, new in pairs]
        for value, places in zip(settings, self._factors, strict=True):
            for place in places:
                arrays[place] = arrays[place] * value
        return arrays

    def behave(self, genomes: Sequence[Sequence[Genome]]) -> list[NDArray[np.float64]]:
        """Per lane (genome, 3): kernel rank, generalisation rank and memory capacity of its
        genomes.
        """
        flat = [(lane, genome) for lane, own in enumerate(genomes) for genome in own]
        # Calls have one of two sizes, and so share two compiled programs.
        together = min(TOGETHER, len(flat))
        found = []
        for first in range(0, len(flat), together):
            chosen = flat[first : first + together]
            found.append(
                self._behave(chosen + chosen[:1] * (together - len(chosen)))[: len(chosen)]
            )
        return np.split(np.concatenate(found), np.cumsum([len(own) for own in genomes])[:-1])

    def errors(self, genomes: Sequence[Genome], name: str, streams: Streams) -> NDArray[np.float64]:
        """(genome,): the error of a readout on a task: NRMSE on the series that a run of it would
        be given, or the share of misclassified sequences, by the mean of their states.

        Where a task has other inputs than this one, the weights of these are drawn once for all
        genomes.
        """
        task = registries.typed_task(name)
        space = spaces_of(task)[0]
        if not isinstance(space, Reals):
            raise UsageError(f"{name} cannot be placed: it is read as {space}, not as numbers")
        other = None if space == self._space else self._for(space, streams)
        if offers(task, Parted):
            return self._told_apart(genomes, task, other)
        if not isinstance(task, SeriesTask):
            raise UsageError(
                f"{name} cannot be placed: it is neither a series nor a classification of sequences"
            )
        series = task.drive(dataclasses.replace(streams, task=name.partition(":")[0]).numpy("data"))
        target, found = series.targets[len(series.targets) - series.test :], []
        for genome in genomes:
            states = self._states([genome], series.inputs[None, :, None], other)[0, :, 0]
            found.append(math.sqrt(nmse(read_out(np.asarray(states, np.float64), series), target)))
        return np.array(found)

    def _told_apart(
        self, genomes: Sequence[Genome], task: Any, other: _Other | None
    ) -> NDArray[np.float64]:
        train, test = task.parts()
        found = []
        for genome in genomes:
            means = []
            for part in (train, test):
                states = np.asarray(self._states([genome], part.inputs[None], other)[0], np.float64)
                there = (np.arange(part.steps)[:, None] < part.lengths)[..., None]
                means.append((states * there).sum(axis=0) / part.lengths[:, None])
            labels = [part.targets[0] for part in (train, test)]
            rows = Series(
                np.concatenate(means), np.concatenate(labels), 0, train.count, 0, test.count
            )
            wrong = read_out(rows.inputs, rows).argmax(axis=1) != labels[1].argmax(axis=1)
            found.append(
                max(float(wrong.mean()), 0.5 / test.count)
            )  # less than one in all cannot be seen
        return np.array(found)

    def _for(self, space: Space, streams: Streams) -> _Other:
        """The same cores with other inputs."""
        rng = streams.numpy(f"inputs-{space.width}")
        return _Other(*Frame.of(self._built(dict.fromkeys(self._ranges, 1.0), rng, space)))

    def _states(
        self, genomes: Sequence[Genome], inputs: NDArray[Any], other: _Other | None = None
    ) -> NDArray[Any]:
        """(genome, time, example, state) under inputs (genome, time, example, width)."""
        frame, grown = self._frame, [self._arrays(genome, other) for genome in genomes]
        exact = precision_of(frame.filled(grown[0])) == np.float64
        with double() if exact else contextlib.nullcontext():
            arrays = [jnp.asarray(np.stack(own)) for own in zip(*grown, strict=True)]
            frame = frame if other is None else other.frame
            return np.asarray(
                _driven(frame.filled(arrays), jnp.asarray(inputs), device_kind() == "cpu")
            )

    def _behave(self, chosen: Sequence[tuple[int, Genome]]) -> NDArray[np.float64]:
        genomes = [genome for _, genome in chosen]
        drives = [np.stack([self.drives[lane][place] for lane, _ in chosen]) for place in (0, 1)]
        wide, narrow = (self._states(genomes, drive)[:, :, 0] for drive in drives)
        return self.behaviours(wide, narrow, drives[0][:, :, 0, 0])


class _Other(NamedTuple):
    """Cores for other inputs: arrays where all searched parameters are 1, and the rest of their
    core.
    """

    arrays: Sequence[Any]
    frame: Frame


@eqx.filter_jit
def _driven(cores: Any, inputs: Any, in_turn: bool) -> Any:
    """(core, time, example, state) of cores stacked along their first axis. in_turn: one after the
    other, as on a processor: the weights of one then stay in its cache, and side by side all are
    read from memory at every step.
    """
    arrays, rest = eqx.partition(cores, eqx.is_array)

    def single(both: Any) -> Any:
        core, own = eqx.combine(both[0], rest), both[1]
        steps, examples = own.shape[:2]
        return core.unroll(core.start(examples, steps), own)[1]

    return lax.map(single, (arrays, inputs)) if in_turn else jax.vmap(single)((arrays, inputs))
