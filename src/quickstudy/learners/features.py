"""Features of the asked positions, read whole: run a core over sequences, keep the rows that are
needed.

That is faster than in blocks of time (`quickstudy.learners.chunked_features`), and what fits can be
kept between two tests of one exam.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import InputWeights
from quickstudy.jax_gateway import eqx, jax, jnp, lax
from quickstudy.learners.batching import needed_steps
from quickstudy.learners.lanes import check_room, grown, over_lanes, rounded

TOGETHER = 64
"""The most sequences that run through a core side by side: enough to be fast, few enough to stay in
the cache.
"""
BESIDE_LANES = 16
"""The same for each of several lanes, which are side by side already: the features of all steps are
held at once.
"""
KEPT = 1 << 29
"""Bytes of one lane's features that are held at once, and kept from test to test; more of them are
streamed. (1,800 units on the largest exam of the language tasks are 137 MB.)
"""
SHORT = 256
"""Steps up to which sequences that are read step by step share one shape, for any number of
them: to read all of the padding takes less time than to compile another program.
"""
ASKED = (128, SHORT)
"""Questions of such a sequence for which there is room."""
SYMBOLS = 32
"""Symbols that there is room for, at least."""


class Shape(NamedTuple):
    """The one shape in which material runs through a core: time steps, sequences side by side, rows
    kept of them.
    """

    steps: int
    together: int
    rows: int

    @classmethod
    def of(cls, examples: Sequence[Examples], cores: Any) -> Shape:
        """Large enough for any of the examples, rounded so that seeds share compiled programs:
        lessons and exams too, where the cores are read step by step, and no step is made that is
        not needed.
        """
        longest = max(lane.steps for lane in examples)
        questions = max(int(lane.asked.sum(axis=0).max(initial=1)) for lane in examples)
        if _by_steps(cores, len(examples)) and longest <= SHORT:
            return cls(
                SHORT, TOGETHER, TOGETHER * next(some for some in ASKED if some >= questions)
            )
        steps = rounded(longest, 4)
        most = TOGETHER if len(examples) == 1 else BESIDE_LANES
        together = min(most, rounded(max(lane.count for lane in examples), 2))
        return cls(
            steps, together, together * (steps if 2 * questions > steps else rounded(questions, 2))
        )

    def within(self, rows: int) -> Shape:
        """With no more sequences side by side than give so many rows; one, if even one gives
        more.
        """
        together = max(1, min(self.together, rows * self.together // self.rows))
        return self._replace(together=together, rows=self.rows // self.together * together)


@eqx.filter_jit
def rows_at(cores: Any, inputs: Any, positions: Any, lanes: int) -> Any:
    """(lane, row, feature) features at positions (lane, row, 2) of inputs (lane, time, example,
    ...).
    """

    def single(core: Any, inputs: Any, positions: Any) -> Any:
        steps, batch = inputs.shape[:2]
        features = core.unroll(core.start(batch, steps), inputs)[1]
        return features[positions[:, 0], positions[:, 1]]

    return over_lanes(single, lanes)(cores, inputs, positions)


@eqx.filter_jit
def rows_until(cores: Any, inputs: Any, positions: Any, steps: Any) -> Any:
    """The same for one lane and rows by ascending time, of the first steps only: one program for
    any number of steps.

    Rows at a later time are zero. Each row is kept when its step is made: no other feature is
    stored.
    """
    core = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, cores)
    times, batch = inputs.shape[1:3]
    begins = jnp.searchsorted(positions[0, :, 0], jnp.arange(times + 1))

    def step(time: Any, carry: Any) -> Any:
        state, rows = carry
        # As it stands: fused into the loop below, the step would be compiled, and made, again and
        # again.
        state, features = lax.optimization_barrier(core.step(state, inputs[0, time]))

        def keep(number: Any, rows: Any) -> Any:
            row = lax.dynamic_slice_in_dim(features, positions[0, number, 1], 1)
            return lax.dynamic_update_slice_in_dim(rows, row, number, 0)

        return state, lax.fori_loop(begins[time], begins[time + 1], keep, rows)

    start = core.start(batch, times)
    kind = jax.eval_shape(core.step, start, inputs[0, 0])[1].dtype
    blank = jnp.zeros((positions.shape[1], core.width), kind)
    return lax.fori_loop(0, steps, step, (start, blank))[1][None]


def _by_steps(cores: Any, lanes: int) -> bool:
    """Whether sequences side by side are read by `rows_until`: one lane, and a core whose unroll is
    a scan of steps.
    """
    return lanes == 1 and bool(cores.capabilities.scans)


def harvest(cores: Any, exam: Exam, shape: Shape, fineness: int = 2) -> Any:
    """(lane, row, feature): the features of question q of the exam are row q; what follows the last
    is padding.

    fineness: of rounding the rows of one lane, less where they are only looked up in, and programs
    can be shared.
    """
    lanes = len(exam.examples)
    if _by_steps(cores, lanes):
        return _harvest_by_length(cores, exam, shape, fineness)
    starts = range(0, max(lane.count for lane in exam.examples), shape.together)
    parts = [
        [
            lane[(lane[:, 1] >= first) & (lane[:, 1] < first + shape.together)] - [0, first]
            for first in starts
        ]
        for lane in exam.found
    ]
    rows = None
    ends = np.zeros(lanes, dtype=np.int64)
    for number, first in enumerate(starts):
        some = [lane.inputs[:, first : first + shape.together] for lane in exam.examples]
        inputs = np.stack([grown(part, shape.steps, shape.together) for part in some])
        where = np.stack([grown(lane[number], shape.rows) for lane in parts])
        piece = rows_at(cores, jnp.asarray(inputs), jnp.asarray(where), lanes)
        if len(starts) == 1:
            return piece
        if rows is None:
            most = rounded(max(len(lane) for lane in exam.found), 2) + shape.rows
            check_room(lanes, most * piece.shape[2] * piece.dtype.itemsize)
            rows = jnp.zeros((lanes, most, piece.shape[2]), piece.dtype)
        rows = _placed(rows, piece, jnp.asarray(ends))
        ends += [len(lane[number]) for lane in parts]
    return rows


def _harvest_by_length(cores: Any, exam: Exam, shape: Shape, fineness: int) -> Any:
    """The same for one lane and a core that reads step by step, with sequences of about the same
    length together.
    """
    (examples,), (found,) = exam.examples, exam.found
    cores, needed = _with_room(cores), needed_steps(examples)
    order = np.argsort(-needed, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    group, column = np.divmod(place[found[:, 1]], shape.together)
    sorted_inputs = examples.inputs[:, order]
    rows = None
    for number in range(-(-examples.count // shape.together)):
        first = number * shape.together
        questions = np.flatnonzero(group == number)
        questions = questions[np.argsort(found[questions, 0], kind="stable")]
        positions = np.full((1, shape.rows, 2), shape.steps)
        positions[0, : len(questions)] = np.stack([found[questions, 0], column[questions]], axis=1)
        inputs = grown(
            sorted_inputs[:, first : first + shape.together], shape.steps, shape.together
        )
        piece = rows_until(
            cores, np.asarray(inputs)[None], positions, np.asarray(needed[order[first]])
        )
        if rows is None:
            count = (
                shape.rows if examples.count <= shape.together else rounded(len(found), fineness)
            )
            rows = np.zeros((1, count, piece.shape[2]), piece.dtype)
        rows[:, questions] = np.asarray(piece)[:, : len(questions)]
    return rows


def _with_room(cores: Any) -> Any:
    """The same cores, those of few symbols with room for more than they will read: such languages
    share a program.
    """

    def roomy(part: Any) -> Any:
        if (
            type(part) is not InputWeights
            or not isinstance(part.space, Tokens)
            or part.space.size >= SYMBOLS
        ):
            return part
        more = [(0, 0), (0, SYMBOLS - part.space.size), (0, 0)]
        return InputWeights(np.pad(np.asarray(part.weights), more), Tokens(SYMBOLS))

    return jax.tree.map(roomy, cores, is_leaf=lambda part: isinstance(part, InputWeights))


@partial(jax.jit, donate_argnums=0)
def _placed(rows: Any, piece: Any, starts: Any) -> Any:
    """Rows with a piece written over them from each lane's start on; its padding is overwritten by
    the next piece.

    In place: the features of a whole lesson are most of the memory, and are held once.
    """
    return jax.vmap(partial(lax.dynamic_update_slice_in_dim, axis=0))(rows, piece, starts)


@eqx.filter_jit
def all_states(cores: Any, inputs: Any, lanes: int, apart: bool = False) -> Any:
    """(lane, time, example, feature) features at every step of inputs (time, example, ...), the
    same for all lanes; or, apart, of inputs (lane, time, example, ...).
    """

    def single(core: Any, own: Any) -> Any:
        steps, batch = jax.tree.leaves(own)[0].shape[:2]
        return core.unroll(core.start(batch, steps), own)[1]

    if apart:
        return over_lanes(single, lanes)(cores, inputs)
    return over_lanes(lambda core: single(core, inputs), lanes)(cores)
