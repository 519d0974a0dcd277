"""Features of the asked positions: run a core over sequences, keep the rows that are needed, forget the rest.

What fits is read whole (`harvest`), which is faster, and can be kept between two tests of one exam. Exams and series of
any length are read in blocks of time with the state carried on (`blocks`), and only what is asked is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.lesson import Exam
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import Core, InputWeights
from quickstudy.gateway import eqx, jax, jnp, lax
from quickstudy.learners.batching import needed_steps
from quickstudy.learners.lanes import Frame, check_room, grown, lane_by_lane, over_lanes, rounded

TOGETHER = 64
"""The most sequences that run through a core side by side: enough to be fast, few enough to stay in the cache."""
BESIDE_LANES = 16
"""The same for each of several lanes, which are side by side already: the features of all steps are held at once."""
KEPT = 1 << 29
"""Bytes of one lane's features that are held at once, and kept from test to test; more of them are streamed. (1,800
units on the largest exam of the language tasks are 137 MB.)"""
STATES = 1 << 26
"""Bytes of the states of the rows that are read side by side: a core that keeps all its past reads fewer."""
BLOCK = 64
"""Steps of a block that has as many rows as it may; of fewer rows, as many more: a block costs a call, and holds its
features."""
CHUNK = 64
"""Steps of one sequence that are read at a time, by a program that reads as many as there are, and knows the state
behind the last whole ones."""
SHORT = 256
"""Steps up to which sequences that are read step by step stand in one shape, as many of them as may be: to read all of
the padding takes less time than to compile another program."""
ASKED = (128, SHORT)
"""Questions of such a sequence for which there is room."""
SYMBOLS = 32
"""Symbols that there is room for, at least."""
FEW, MANY = 64, 512
"""The most sequences side by side through a large core, and through a small one, which they keep busy; of each of
several lanes a quarter."""


class Shape(NamedTuple):
    """The one shape in which material runs through a core: time steps, sequences side by side, rows kept of them."""

    steps: int
    together: int
    rows: int

    @classmethod
    def of(cls, examples: Sequence[Examples], cores: Any) -> Shape:
        """Large enough for any of the examples, rounded so that seeds share compiled programs: lessons and exams too,
        where the cores are read step by step, and no step is made that is not needed.
        """
        longest = max(lane.steps for lane in examples)
        questions = max(int(lane.asked.sum(axis=0).max(initial=1)) for lane in examples)
        if _by_steps(cores, len(examples)) and longest <= SHORT:
            return cls(SHORT, TOGETHER, TOGETHER * next(some for some in ASKED if some >= questions))
        steps = rounded(longest, 4)
        most = TOGETHER if len(examples) == 1 else BESIDE_LANES
        together = min(most, rounded(max(lane.count for lane in examples), 2))
        return cls(steps, together, together * (steps if 2 * questions > steps else rounded(questions, 2)))

    def within(self, rows: int) -> Shape:
        """With no more sequences side by side than give so many rows; one, if even one gives more."""
        together = max(1, min(self.together, rows * self.together // self.rows))
        return self._replace(together=together, rows=self.rows // self.together * together)


@eqx.filter_jit
def rows_at(cores: Any, inputs: Any, positions: Any, lanes: int) -> Any:
    """(lane, row, feature) features at positions (lane, row, 2) of inputs (lane, time, example, ...)."""

    def single(core: Any, inputs: Any, positions: Any) -> Any:
        steps, batch = inputs.shape[:2]
        features = core.unroll(core.start(batch, steps), inputs)[1]
        return features[positions[:, 0], positions[:, 1]]

    return over_lanes(single, lanes)(cores, inputs, positions)


@eqx.filter_jit
def rows_until(cores: Any, inputs: Any, positions: Any, steps: Any) -> Any:
    """The same for one lane and rows by ascending time, of the first steps only: one program for any number of steps.

    Rows at a later time are zero. Each row is kept when its step is made: no other feature is stored.
    """
    core = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, cores)
    times, batch = inputs.shape[1:3]
    begins = jnp.searchsorted(positions[0, :, 0], jnp.arange(times + 1))

    def step(time: Any, carry: Any) -> Any:
        state, rows = carry
        # As it stands: fused into the loop below, the step would be compiled, and made, again and again.
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
    """Whether sequences side by side are read by `rows_until`: one lane, and a core whose unroll is a scan of steps."""
    return lanes == 1 and bool(cores.scans)


def harvest(cores: Any, exam: Exam, shape: Shape, fineness: int = 2) -> Any:
    """(lane, row, feature): the features of question q of the exam are row q; what follows the last is padding.

    fineness: of rounding the rows of one lane, less where they are only looked up in, and programs can be shared.
    """
    lanes = len(exam.examples)
    if _by_steps(cores, lanes):
        return _harvest_by_length(cores, exam, shape, fineness)
    starts = range(0, max(lane.count for lane in exam.examples), shape.together)
    parts = [
        [lane[(lane[:, 1] >= first) & (lane[:, 1] < first + shape.together)] - [0, first] for first in starts]
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
    """The same for one lane and a core that reads step by step, with sequences of about the same length together."""
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
        inputs = grown(sorted_inputs[:, first : first + shape.together], shape.steps, shape.together)
        piece = rows_until(cores, np.asarray(inputs)[None], positions, np.asarray(needed[order[first]]))
        if rows is None:
            count = shape.rows if examples.count <= shape.together else rounded(len(found), fineness)
            rows = np.zeros((1, count, piece.shape[2]), piece.dtype)
        rows[:, questions] = np.asarray(piece)[:, : len(questions)]
    return rows


def _with_room(cores: Any) -> Any:
    """The same cores, those of few symbols with room for more than they will read: such languages share a program."""

    def roomy(part: Any) -> Any:
        if type(part) is not InputWeights or not isinstance(part.space, Tokens) or part.space.size >= SYMBOLS:
            return part
        more = [(0, 0), (0, SYMBOLS - part.space.size), (0, 0)]
        return InputWeights(np.pad(np.asarray(part.weights), more), Tokens(SYMBOLS))

    return jax.tree.map(roomy, cores, is_leaf=lambda part: isinstance(part, InputWeights))


@partial(jax.jit, donate_argnums=0)
def _placed(rows: Any, piece: Any, starts: Any) -> Any:
    """Rows with a piece written over them from each lane's start on; its padding is overwritten by the next piece.

    In place: the features of a whole lesson are most of the memory, and are held once.
    """
    return jax.vmap(partial(lax.dynamic_update_slice_in_dim, axis=0))(rows, piece, starts)


@eqx.filter_jit
def all_states(cores: Any, inputs: Any, lanes: int, apart: bool = False) -> Any:
    """(lane, time, example, feature) features at every step of inputs (time, example, ...), the same for all lanes; or,
    apart, of inputs (lane, time, example, ...).
    """
    return _all_states(cores, jax.tree.map(jnp.asarray, inputs), lanes, apart)


@eqx.filter_jit
def _all_states(cores: Any, inputs: Any, lanes: int, apart: bool) -> Any:
    def single(core: Any, own: Any) -> Any:
        steps, batch = jax.tree.leaves(own)[0].shape[:2]
        return core.unroll(core.start(batch, steps), own)[1]

    if apart:
        return over_lanes(single, lanes)(cores, inputs)
    return over_lanes(lambda core: single(core, inputs), lanes)(cores)


class Block(NamedTuple):
    """rows: (lane, Q, feature). numbers: of each lane's questions whose features the first rows are."""

    rows: Any
    numbers: list[NDArray[np.int64]]


class Stretch(NamedTuple):
    """How blocks are cut: steps at a time, of so many sequences side by side, with no more than so many questions."""

    steps: int
    together: int
    rows: int


@dataclass
class Passed:
    """Where the cores stand after the first blocks of one sequence per lane, so that whoever reads the same sequence
    again, and further, need not begin with its start. inputs: (lane, time, ...) that were read.
    """

    inputs: NDArray[Any] | None = None
    state: Any = None

    def covers(self, examples: Sequence[Examples]) -> int:
        """Steps of these sequences that need not be read: whole chunks, the same inputs, nothing asked in them."""
        if self.inputs is None or any(lane.count != 1 for lane in examples) or len(examples) != len(self.inputs):
            return 0
        time = self.inputs.shape[1]
        same = all(
            lane.steps > time and not lane.asked[:time].any() and np.array_equal(lane.inputs[:time, 0], own)
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
    """The features at all questions of one `Examples` per lane, block by block; questions are numbered as in `Exam`.

    Sequences that are about equally long go side by side. Of a single sequence, questions come in their order. stretch:
    how it is cut, and then the sequences keep their order: what is read side by side depends on nothing else. keys:
    (lane,) of the noise of cores that are shaken. passed: what was read before, by the same stretch; it is kept up.
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
    counts = [np.add.reduceat(lane.asked, np.arange(0, lane.steps, steps), axis=0, dtype=np.int32) for lane in examples]
    firsts = [np.cumsum(lane.sum(axis=0, dtype=np.int64)) - lane.sum(axis=0) for lane in counts]
    starts = range(0, count, together)
    if stretch is None:
        rows = rounded(max(map(_most, counts, orders, [starts] * lanes)), 0)
    for first in starts:
        columns = [order[first : first + together] for order in orders]
        longest = max(int(wanted[own].max(initial=0)) for wanted, own in zip(needed, columns, strict=True))
        state = _started(frame, arrays, together, capacity, lanes)
        done = [firsts[lane][own] for lane, own in enumerate(columns)]
        chunked = together == 1 and keys is None and steps >= 2 * CHUNK and (longest <= steps or steps % CHUNK == 0)
        single = passed if chunked and count == 1 else None
        already = single.covers(examples) if single else 0
        if single and already:
            # A core may size its state by the steps that may follow: then it has to begin anew.
            shapes = [[leaf.shape for leaf in jax.tree.leaves(one)] for one in (state, single.state)]
            state, already = (single.state, already) if shapes[0] == shapes[1] else (state, 0)
        for time in range(already, longest, steps):
            pairs = list(zip(examples, columns, strict=True))
            room = -(-steps // CHUNK) * CHUNK if chunked else steps
            inputs = np.stack([grown(lane.inputs[time : time + steps, own], room, together) for lane, own in pairs])
            positions = np.zeros((lanes, rows, 2), np.int32)
            numbers = []
            for lane, own in enumerate(columns):
                asked = examples[lane].asked[time : time + steps, own]
                if len(own) == 1:  # the same, ten times as fast
                    step = np.flatnonzero(asked)
                    positions[lane, : len(step), 0] = step
                    numbers.append(done[lane][0] + np.arange(len(step)))
                    done[lane] = done[lane] + len(step)
                    continue
                row, step = np.nonzero(asked.T)
                positions[lane, : len(row)] = np.stack([step, row], axis=1)
                numbers.append(done[lane][row] + np.cumsum(asked, axis=0)[step, row] - 1)
                done[lane] = done[lane] + asked.sum(axis=0)
            own_keys = None if keys is None else jax.vmap(lambda key, time=time: jax.random.fold_in(key, time))(keys)
            if not chunked:
                state, found = _read(frame, arrays, state, inputs, positions, own_keys, lanes)
                yield Block(found, numbers)
                continue
            some = -(-min(steps, longest - time) // CHUNK)
            there = min(int(lane.lengths[0]) for lane in examples) - time
            # Behind the last block nobody reads on but who reads the same again: what all lanes have in full is kept.
            whole = some if time + steps < longest else min(some, max(0, there) // CHUNK)
            chunks = np.array([whole, some])
            state, found = _read_some(frame, arrays, state, inputs, positions, chunks, lanes)
            if single and 0 < whole * CHUNK <= there:
                read = time + whole * CHUNK
                single.inputs, single.state = np.stack([lane.inputs[:read, 0] for lane in examples]), state
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
    arrays, frame = Frame.of(cores)
    kinds = jax.eval_shape(lambda: [_started(frame, arrays, rows, capacity, lanes) for rows in (1, 2)])
    alone, beside = (sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(kind)) for kind in kinds)
    return int(max(1, STATES // max(beside - alone, 1)))


def _most(counts: NDArray[np.int32], order: NDArray[np.int64], starts: range) -> int:
    """Questions of the fullest block, by questions (block, example)."""
    there = [first for first in starts if first < len(order)]
    return int(np.add.reduceat(counts[:, order], there, axis=1).max(initial=1))


@partial(jax.jit, static_argnums=(0, 2, 3, 4))
def _started(frame: Frame, arrays: Any, rows: int, capacity: int, lanes: int) -> Any:
    return over_lanes(lambda core: core.start(rows, capacity), lanes)(frame.filled(arrays))


@partial(jax.jit, static_argnums=(0, 6))
def _read(frame: Frame, arrays: Any, state: Any, inputs: Any, positions: Any, keys: Any, lanes: int) -> Any:
    def single(core: Any, state: Any, inputs: Any, positions: Any, key: Any) -> Any:
        # The unroll of a recurrent layer is made for gradients; step by step takes less than half of the time (measured
        # on 32 units and 512 rows), since nothing but the features is written.
        unroll = Core.unroll if hasattr(core, "unroll_packed") else type(core).unroll
        state, features = unroll(core, state, inputs, key=key)
        return state, features[positions[:, 0], positions[:, 1]]

    return lane_by_lane(single, lanes)(frame.filled(arrays), state, inputs, positions, keys)


@partial(jax.jit, static_argnums=(0, 6))
def _read_some(frame: Frame, arrays: Any, state: Any, inputs: Any, positions: Any, chunks: Any, lanes: int) -> Any:
    """The same of one sequence, in one program for any number of steps: of the second number of chunks no more is read,
    and the state is the one behind the first number of them.
    """
    whole, some = chunks

    def single(core: Any, state: Any, inputs: Any, positions: Any) -> Any:
        unroll = Core.unroll if hasattr(core, "unroll_packed") else type(core).unroll

        def read(number: Any, carry: Any) -> Any:
            state, kept, features = carry
            state, new = unroll(core, state, lax.dynamic_slice_in_dim(inputs, number * CHUNK, CHUNK))
            kept = jax.tree.map(lambda now, before: jnp.where(number < whole, now, before), state, kept)
            return state, kept, lax.dynamic_update_slice_in_dim(features, new, number * CHUNK, 0)

        kind = jax.eval_shape(lambda: unroll(core, state, inputs[:CHUNK])[1])
        blank = jnp.zeros((inputs.shape[0], *kind.shape[1:]), kind.dtype)
        _, kept, features = lax.fori_loop(0, some, read, (state, state, blank))
        return kept, features[:, 0].at[positions[:, 0]].get(mode="promise_in_bounds")

    return lane_by_lane(single, lanes)(frame.filled(arrays), state, inputs, positions)
