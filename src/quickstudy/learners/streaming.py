"""Exams and series of any length: read in blocks of time with the state carried on, and only what is asked is kept.

What fits is read whole (`harvest`, `packing`), which is faster, and can be kept between two tests of one exam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.lesson import Exam
from quickstudy.cores.core import Core
from quickstudy.gateway import eqx, jax, jnp
from quickstudy.learners.lanes import over_lanes, rounded
from quickstudy.learners.packing import needed_steps

KEPT = 1 << 29
"""Bytes of one lane's features that are held at once, and kept from test to test; more of them are streamed. (1,800
units on the largest exam of the language tasks are 137 MB.)"""
STATES = 1 << 26
"""Bytes of the states of the rows that are read side by side: a core that keeps all its past reads fewer."""
BLOCK = 64
"""Steps of a block that has as many rows as it may; of fewer rows, as many more: a block costs a call, and holds its
features."""
FEW, MANY = 64, 512
"""The most sequences side by side through a large core, and through a small one, which they keep busy; of each of
several lanes a quarter."""


class Block(NamedTuple):
    """rows: (lane, Q, feature). numbers: of each lane's questions whose features the first rows are."""

    rows: Any
    numbers: list[NDArray[np.int64]]


def blocks(cores: Any, examples: Sequence[Examples]) -> Iterator[Block]:
    """The features at all questions of one `Examples` per lane, block by block; questions are numbered as in `Exam`.

    Sequences that are about equally long go side by side. Of a single sequence, questions come in their order.
    """
    lanes = len(examples)
    needed = [needed_steps(lane) for lane in examples]
    capacity = rounded(max(int(lane.max(initial=1)) for lane in needed), 4)
    count = max(lane.count for lane in examples)
    most = min(max((1 << 17) // _width(cores), FEW), MANY) // (1 if lanes == 1 else 4)
    together = min(most, rounded(count, 2), _room(cores, capacity, lanes))
    steps = min(BLOCK * most // together, capacity)
    orders = [np.argsort(-lane, kind="stable") for lane in needed]
    counts = [np.add.reduceat(lane.asked, np.arange(0, lane.steps, steps), axis=0, dtype=np.int32) for lane in examples]
    firsts = [np.cumsum(lane.sum(axis=0, dtype=np.int64)) - lane.sum(axis=0) for lane in counts]
    starts = range(0, count, together)
    rows = rounded(max(_most(*lane, starts) for lane in zip(counts, orders, strict=True)), 0)
    for first in starts:
        columns = [order[first : first + together] for order in orders]
        longest = max(int(wanted[own].max(initial=0)) for wanted, own in zip(needed, columns, strict=True))
        state = _started(cores, together, capacity, lanes)
        done = [firsts[lane][own] for lane, own in enumerate(columns)]
        for time in range(0, longest, steps):
            pairs = zip(examples, columns, strict=True)
            inputs = np.stack([_cut(lane.inputs, time, steps, own, together) for lane, own in pairs])
            positions = np.zeros((lanes, rows, 2), np.int32)
            numbers = []
            for lane, own in enumerate(columns):
                asked = examples[lane].asked[time : time + steps, own]
                row, step = np.nonzero(asked.T)
                positions[lane, : len(row)] = np.stack([step, row], axis=1)
                numbers.append(done[lane][row] + np.cumsum(asked, axis=0)[step, row] - 1)
                done[lane] = done[lane] + asked.sum(axis=0)
            state, found = _read(cores, state, jnp.asarray(inputs), jnp.asarray(positions), lanes)
            yield Block(found, numbers)


def streamed(cores: Any, exam: Exam, scored: Callable[[Any], Any]) -> NDArray[Any]:
    """(lane, question, output) scores of an exam, given those of rows (lane, row, feature)."""
    answers: NDArray[Any] | None = None
    for block in blocks(cores, exam.examples):
        scores = np.asarray(scored(block.rows))
        if answers is None:
            questions = max(lane.questions for lane in exam.examples)
            answers = np.zeros((len(scores), questions, scores.shape[2]), scores.dtype)
        for lane, numbers in enumerate(block.numbers):
            answers[lane, numbers] = scores[lane, : len(numbers)]
    assert answers is not None
    return answers


def _width(cores: Any) -> int:
    """Features of one lane's core."""
    kinds = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), eqx.filter(cores, eqx.is_array))
    return int(eqx.combine(kinds, cores).width)


def _room(cores: Any, capacity: int, lanes: int) -> int:
    """Rows whose states have room, one at least."""
    kinds = jax.eval_shape(lambda: [_started(cores, rows, capacity, lanes) for rows in (1, 2)])
    alone, beside = (sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(kind)) for kind in kinds)
    return int(max(1, STATES // max(beside - alone, 1)))


def _most(counts: NDArray[np.int32], order: NDArray[np.int64], starts: range) -> int:
    """Questions of the fullest block, by questions (block, example)."""
    there = [first for first in starts if first < len(order)]
    return int(np.add.reduceat(counts[:, order], there, axis=1).max(initial=1))


def _cut(inputs: NDArray[Any], time: int, steps: int, columns: NDArray[np.int64], together: int) -> NDArray[Any]:
    part = inputs[time : time + steps, columns]
    return np.pad(part, [(0, steps - len(part)), (0, together - part.shape[1])] + [(0, 0)] * (part.ndim - 2))


@eqx.filter_jit
def _started(cores: Any, rows: int, capacity: int, lanes: int) -> Any:
    return over_lanes(lambda core: core.start(rows, capacity), lanes)(cores)


@eqx.filter_jit
def _read(cores: Any, state: Any, inputs: Any, positions: Any, lanes: int) -> Any:
    def single(core: Any, state: Any, inputs: Any, positions: Any) -> Any:
        # The unroll of a recurrent layer is made for gradients; step by step takes less than half of the time (measured
        # on 32 units and 512 rows), since nothing but the features is written.
        unroll = Core.unroll if hasattr(core, "unroll_packed") else type(core).unroll
        state, features = unroll(core, state, inputs)
        return state, features[positions[:, 0], positions[:, 1]]

    return over_lanes(single, lanes)(cores, state, inputs, positions)
