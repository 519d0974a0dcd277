"""Features of the asked positions: run a core over sequences, keep the rows that are needed, forget the rest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.lesson import Exam
from quickstudy.gateway import eqx, jax, jnp, lax
from quickstudy.learners.lanes import over_lanes, rounded

TOGETHER = 64
"""The most sequences that run through a core side by side: enough to be fast, few enough to stay in the cache."""


class Shape(NamedTuple):
    """The one shape in which material runs through a core: time steps, sequences side by side, rows kept of them."""

    steps: int
    together: int
    rows: int

    @classmethod
    def of(cls, examples: Sequence[Examples]) -> Shape:
        """Large enough for any of the examples, rounded so that seeds share compiled programs."""
        steps = rounded(max(lane.steps for lane in examples), 4)
        questions = max(int(lane.asked.sum(axis=0).max(initial=1)) for lane in examples)
        together = min(TOGETHER, rounded(max(lane.count for lane in examples), 2))
        return cls(steps, together, together * (steps if 2 * questions > steps else rounded(questions, 2)))


@eqx.filter_jit
def rows_at(cores: Any, inputs: Any, positions: Any, lanes: int) -> Any:
    """(lane, row, feature) features at positions (lane, row, 2) of inputs (lane, time, example, ...)."""

    def single(core: Any, inputs: Any, positions: Any) -> Any:
        steps, batch = inputs.shape[:2]
        features = core.unroll(core.start(batch, steps), inputs)[1]
        return features[positions[:, 0], positions[:, 1]]

    return over_lanes(single, lanes)(cores, inputs, positions)


def harvest(cores: Any, exam: Exam, shape: Shape) -> Any:
    """(lane, row, feature): the features of question q of the exam are row q; what follows the last is padding."""
    lanes = len(exam.examples)
    starts = range(0, max(lane.count for lane in exam.examples), shape.together)
    parts = [
        [lane[(lane[:, 1] >= first) & (lane[:, 1] < first + shape.together)] - [0, first] for first in starts]
        for lane in exam.found
    ]
    rows = None
    ends = np.zeros(lanes, dtype=np.int64)
    for number, first in enumerate(starts):
        inputs = np.stack([_chunk(lane, first, shape) for lane in exam.examples])
        where = np.stack([np.pad(lane[number], [(0, shape.rows - len(lane[number])), (0, 0)]) for lane in parts])
        piece = rows_at(cores, jnp.asarray(inputs), jnp.asarray(where), lanes)
        if len(starts) == 1:
            return piece
        if rows is None:
            most = rounded(max(len(lane) for lane in exam.found), 2) + shape.rows
            rows = jnp.zeros((lanes, most, piece.shape[2]), piece.dtype)
        rows = _placed(rows, piece, jnp.asarray(ends))
        ends += [len(lane[number]) for lane in parts]
    return rows


@partial(jax.jit, donate_argnums=0)
def _placed(rows: Any, piece: Any, starts: Any) -> Any:
    """Rows with a piece written over them from each lane's start on; its padding is overwritten by the next piece.

    In place: the features of a whole lesson are most of the memory, and are held once.
    """
    return jax.vmap(lambda rows, piece, start: lax.dynamic_update_slice(rows, piece, (start, 0)))(rows, piece, starts)


def all_states(core: Any, inputs: NDArray[Any]) -> Any:
    """(time, example, feature) features at every step of inputs (time, example, ...), of a core with one lane."""
    steps, batch = inputs.shape[:2]
    positions = np.stack(np.meshgrid(np.arange(steps), np.arange(batch), indexing="ij"), -1).reshape(1, -1, 2)
    return rows_at(core, jnp.asarray(inputs)[None], jnp.asarray(positions), 1)[0].reshape(steps, batch, -1)


def _chunk(examples: Examples, first: int, shape: Shape) -> NDArray[Any]:
    """Some examples' inputs, padded in time and in number."""
    inputs = examples.inputs[:, first : first + shape.together]
    grow = [(0, shape.steps - inputs.shape[0]), (0, shape.together - inputs.shape[1])] + [(0, 0)] * (inputs.ndim - 2)
    return np.pad(inputs, grow)
