"""Features of the asked positions, read in blocks of time with the state carried on: exams and
series of any length, of which only what is asked is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam
from quickstudy.cores.core import Core
from quickstudy.jax_gateway import eqx, jax, jnp, lax
from quickstudy.learners.batching import needed_steps
from quickstudy.learners.lanes import Frame, grown, lane_by_lane, over_lanes, rounded

STATES = 1 << 26
"""Bytes of the states of the rows that are read side by side: a core that keeps all its past reads
fewer.
"""
BLOCK = 64
"""Steps of a block that has as many rows as it may; of fewer rows, as many more: a block costs a
call, and holds its features.
"""
CHUNK = 64
"""Steps of one sequence that are read at a time, by a program that reads as many as there are,
and knows the state after the last whole ones.
"""
FEW, MANY = 64, 512
"""The most sequences side by side through a large core, and through a small one, which they keep
busy; of each of several lanes a quarter.
"""


class Block(NamedTuple):
    """rows: (lane, Q, feature). numbers: of each lane's questions whose features the first rows
    are.
    """

    rows: Any
    numbers: list[NDArray[np.int64]]


class Stretch(NamedTuple):
    """How blocks are cut: steps at a time, of so many sequences side by side, with no more than so
    many questions.
    """

    steps: int
    together: int
    rows: int


@dataclass
class Passed:
    """Where the cores stand after the first blocks of one sequence per lane, so that reading the
    same sequence again, and further, need not begin with its start. inputs: (lane, time, ...) that
    were read.
    """

    inputs: NDArray[Any] | None = None
    state: Any = None

    def covers(self, examples: Sequence[Examples]) -> int:
        """Steps of these sequences that need not be read: whole chunks, the same inputs, nothing
        asked in them.
        """
        if (
            self.inputs is None
            or any(lane.count != 1 for lane in examples)
            or len(examples) != len(self.inputs)
        ):
            return 0
        time = self.inputs.shape[1]
        same = all(
            lane.steps > time
            and not lane.asked[:time].any()
            and np.array_equal(lane.inputs[:time, 0], own)
            for lane, own in zip(examples, self.inputs, strict=True)
        )
        return time if same else 0


def blocks(
    cores: Any,
    examples: Sequence[Examples],
    stretch: Stretch | None = None,
    keys: Any = None,
    passed: Passed | None = None,
) -> Iterator[Block]:
    """The features at all questions of one `Examples` per lane, block by block; questions are
    numbered as in `Exam`.

    Sequences that are about equally long go side by side. Of a single sequence, questions come in
    their order. stretch: how it is cut, and then the sequences keep their order: what is read side
    by side depends on nothing else. keys: (lane,) of the noise of cores that are shaken. passed:
    what was read before, by the same stretch; it is kept up.
    """
    lanes = len(examples)
    arrays, frame = Frame.of(cores)
    needed = [needed_steps(lane) for lane in examples]
    longest = max(int(lane.max(initial=1)) for lane in needed)
    count = max(lane.count for lane in examples)
    if stretch is None:
        capacity = rounded(longest, 4)
        most = min(max((1 << 17) // _width(cores), FEW), MANY) // (1 if lanes == 1 else 4)
        together = min(most, rounded(count, 2), _room(cores, capacity, lanes))
        steps = min(BLOCK * most // together, capacity)
        orders = [np.argsort(-lane, kind="stable") for lane in needed]
    else:
        steps, together, rows = stretch
        capacity, orders = max(longest, steps), [np.arange(lane.count) for lane in examples]
    counts = [
        np.add.reduceat(lane.asked, np.arange(0, lane.steps, steps), axis=0, dtype=np.int32)
        for lane in examples
    ]
    firsts = [np.cumsum(lane.sum(axis=0, dtype=np.int64)) - lane.sum(axis=0) for lane in counts]
    starts = range(0, count, together)
    if stretch is None:
        rows = rounded(max(map(_most, counts, orders, [starts] * lanes)), 0)
    for first in starts:
        columns = [order[first : first + together] for order in orders]
        longest = max(
            int(wanted[own].max(initial=0)) for wanted, own in zip(needed, columns, strict=True)
        )
        state = _started(frame, arrays, together, capacity, lanes)
        done = [firsts[lane][own] for lane, own in enumerate(columns)]
        chunked = (
            together == 1
            and keys is None
            and steps >= 2 * CHUNK
            and (longest <= steps or steps % CHUNK == 0)
        )
        single = passed if chunked and count == 1 else None
        already = single.covers(examples) if single else 0
        if single and already:
            # A core may size its state by the steps that may follow: then it has to restart.
            shapes = [
                [leaf.shape for leaf in jax.tree.leaves(one)] for one in (state, single.state)
            ]
            state, already = (single.state, already) if shapes[0] == shapes[1] else (state, 0)
        for time in range(already, longest, steps):
            pairs = list(zip(examples, columns, strict=True))
            room = -(-steps // CHUNK) * CHUNK if chunked else steps
            inputs = np.stack(
                [
                    grown(lane.inputs[time : time + steps, own], room, together)
                    for lane, own in pairs
                ]
            )
            positions, numbers = np.zeros((lanes, rows, 2), np.int32), []
            for lane, own in enumerate(columns):
                found, number, done[lane] = _questions(
                    examples[lane].asked[time : time + steps, own], done[lane]
                )
                positions[lane, : len(found)] = found
                numbers.append(number)
            own_keys = (
                None
                if keys is None
                else jax.vmap(lambda key, time=time: jax.random.fold_in(key, time))(keys)
            )
            if not chunked:
                state, found = _read(frame, arrays, state, inputs, positions, own_keys, lanes)
                yield Block(found, numbers)
                continue
            some = -(-min(steps, longest - time) // CHUNK)
            there = min(int(lane.lengths[0]) for lane in examples) - time
            # After the last block only the same sequence is continued: what all lanes
            # have in full is kept.
            whole = some if time + steps < longest else min(some, max(0, there) // CHUNK)
            chunks = np.array([whole, some])
            state, found = _read_some(frame, arrays, state, inputs, positions, chunks, lanes)
            if single and 0 < whole * CHUNK <= there:
                read = time + whole * CHUNK
                single.inputs, single.state = (
                    np.stack([lane.inputs[:read, 0] for lane in examples]),
                    state,
                )
            yield Block(found, numbers)


def _questions(
    asked: NDArray[np.bool_], done: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """(step, sequence) of the questions of a block (time, sequence), sequence by sequence, their
    numbers, and how many questions of each sequence are done after it, given how many were before
    it.
    """
    if asked.shape[1] == 1:  # the same, ten times as fast
        step = np.flatnonzero(asked)
        return (
            np.stack([step, np.zeros_like(step)], axis=1),
            done[0] + np.arange(len(step)),
            done + len(step),
        )
    row, step = np.nonzero(asked.T)
    numbers = done[row] + np.cumsum(asked, axis=0)[step, row] - 1
    return np.stack([step, row], axis=1), numbers, done + asked.sum(axis=0)


@eqx.filter_jit
def scored(speaker: Any, rows: Any, lanes: int) -> Any:
    """(lane, row, output) scores by a speaker, with a lane axis, of rows (lane, row, feature)."""
    return over_lanes(lambda speaker, rows: speaker.scores(rows), lanes)(speaker, rows)


def streamed(speaker: Any, exam: Exam) -> NDArray[Any]:
    """(lane, question, output) scores of an exam, by a speaker with a lane axis."""
    answers: NDArray[Any] | None = None
    for block in blocks(speaker.core, exam.examples):
        scores = np.asarray(scored(speaker, block.rows, len(exam.examples)))
        if answers is None:
            questions = max(lane.questions for lane in exam.examples)
            answers = np.zeros((len(scores), questions, scores.shape[2]), scores.dtype)
        for lane, numbers in enumerate(block.numbers):
            answers[lane, numbers] = scores[lane, : len(numbers)]
    assert answers is not None
    return answers


def _width(cores: Any) -> int:
    """Features of one lane's core."""
    kinds = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype),
        eqx.filter(cores, eqx.is_array),
    )
    return int(eqx.combine(kinds, cores).width)


def _room(cores: Any, capacity: int, lanes: int) -> int:
    """Rows whose states have room, one at least."""
    arrays, frame = Frame.of(cores)
    kinds = jax.eval_shape(
        lambda: [_started(frame, arrays, rows, capacity, lanes) for rows in (1, 2)]
    )
    alone, beside = (
        sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(kind)) for kind in kinds
    )
    return int(max(1, STATES // max(beside - alone, 1)))


def _most(counts: NDArray[np.int32], order: NDArray[np.int64], starts: range) -> int:
    """Questions of the fullest block, by questions (block, example)."""
    there = [first for first in starts if first < len(order)]
    return int(np.add.reduceat(counts[:, order], there, axis=1).max(initial=1))


@partial(jax.jit, static_argnums=(0, 2, 3, 4))
def _started(frame: Frame, arrays: Any, rows: int, capacity: int, lanes: int) -> Any:
    return over_lanes(lambda core: core.start(rows, capacity), lanes)(frame.filled(arrays))


def _unrolled(core: Any, state: Any, inputs: Any, key: Any = None) -> Any:
    # The unroll of a recurrent layer is made for gradients; step by step takes less than half of
    # the time (measured on 32 units and 512 rows), since nothing but the features is written.
    unroll = Core.unroll if core.capabilities.packs else type(core).unroll
    return unroll(core, state, inputs, key=key)


@partial(jax.jit, static_argnums=(0, 6))
def _read(
    frame: Frame, arrays: Any, state: Any, inputs: Any, positions: Any, keys: Any, lanes: int
) -> Any:
    def single(core: Any, state: Any, inputs: Any, positions: Any, key: Any) -> Any:
        state, features = _unrolled(core, state, inputs, key)
        return state, features[positions[:, 0], positions[:, 1]]

    return lane_by_lane(single, lanes)(frame.filled(arrays), state, inputs, positions, keys)


@partial(jax.jit, static_argnums=(0, 6))
def _read_some(
    frame: Frame, arrays: Any, state: Any, inputs: Any, positions: Any, chunks: Any, lanes: int
) -> Any:
    """The same of one sequence, in one program for any number of steps: of the second number of
    chunks no more is read, and the state is the one after the first number of them.
    """
    whole, some = chunks

    def single(core: Any, state: Any, inputs: Any, positions: Any) -> Any:
        def read(number: Any, carry: Any) -> Any:
            state, kept, features = carry
            state, new = _unrolled(
                core, state, lax.dynamic_slice_in_dim(inputs, number * CHUNK, CHUNK)
            )
            kept = jax.tree.map(
                lambda now, before: jnp.where(number < whole, now, before), state, kept
            )
            return state, kept, lax.dynamic_update_slice_in_dim(features, new, number * CHUNK, 0)

        kind = jax.eval_shape(lambda: _unrolled(core, state, inputs[:CHUNK])[1])
        blank = jnp.zeros((inputs.shape[0], *kind.shape[1:]), kind.dtype)
        _, kept, features = lax.fori_loop(0, some, read, (state, state, blank))
        return kept, features[:, 0].at[positions[:, 0]].get(mode="promise_in_bounds")

    return lane_by_lane(single, lanes)(frame.filled(arrays), state, inputs, positions)
