"""A readout on a frozen core, trained online: one update per question, one pass, fixed cost."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import eqx, jax, jnp, lax
from quickstudy.learners.chunked_features import blocks, scored, streamed
from quickstudy.learners.features import KEPT, Shape, all_states, harvest
from quickstudy.learners.lanes import (
    grown,
    numbers_of,
    over_lanes,
    rounded,
    stack_lanes,
)
from quickstudy.learners.pupil import CompiledPupil
from quickstudy.learners.stepping import Speaker, SteppingPupil


class Rule:
    """How a readout changes with one row of features and its target. Stateless and hashable; the
    state is a tree.

    Settings that change no shape are arrays in the state, so that settings share compiled programs.
    peek: the rule looks at the whole lesson before its first update, as some published programs do.
    scale: how the scores of symbols are to be read, `logits` or `order`.
    """

    peek: bool = False
    scale: str = "order"

    def prepare(self, state: Any, rows: Any, targets: Any, counted: Any) -> Any:
        """What a rule that peeks does with the whole lesson. Others are online: nothing."""
        return state

    @abstractmethod
    def update(self, state: Any, row: Any, target: Any) -> Any:
        """The state after one row (F,) with its target, a token or a vector."""

    @abstractmethod
    def scores(self, state: Any, rows: Any) -> Any:
        """(R, V) scores of rows (R, F)."""

    @abstractmethod
    def trained(self, state: Any) -> int:
        """Number of trained parameters."""


def check_frozen(training: str, core: CoreSpec) -> None:
    """Raise UsageError unless the core is a reservoir: a readout does not train what is below
    it.
    """
    if not core.frozen:
        raise UsageError(
            f"{training} trains a readout only, and {core.id} is a core that has to be trained; use"
            " +adam"
        )


class Readout(Speaker):
    """A core and what a rule has made of its features."""

    state: Any
    rule: Rule = eqx.field(static=True)

    def scores(self, features: Any) -> Any:
        """By the rule."""
        return self.rule.scores(self.state, features)


class ReservoirPupil(CompiledPupil, SteppingPupil):
    """The trained part on top of reservoirs, one per lane, with fixed random weights."""

    def __init__(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> None:
        super().__init__(len(streams))
        cores = [core.build(brief.inputs, stream.numpy("core")) for stream in streams]
        self._cores, self._width = stack_lanes(cores), cores[0].width
        self._tokens = isinstance(brief.outputs, Tokens)

    def states(self, inputs: Any, apart: bool = False) -> Any:
        """(lane, time, example, feature) states of the cores."""
        return all_states(self._cores, inputs, self.lanes, apart)

    def sizes(self) -> tuple[int, list[int]]:
        """The readout's numbers, and by lane the core's numbers that are not zero."""
        return self._trained_numbers(), numbers_of(self._cores, self.lanes)

    @abstractmethod
    def _trained_numbers(self) -> int:
        """Numbers of a readout."""


class ReadoutPupil(ReservoirPupil):
    """Runs the core once over what it is shown, and changes the readout question by question.

    Examples stream: the features of a few dozen are held at a time, and of a long one those of a
    stretch of time. An exam's features are kept if they fit (`features.KEPT`), else recomputed for
    every test. Questions in a free order (as published), and a rule that peeks, need the features
    of the whole lesson at once.
    """

    parts: ClassVar[Mapping[str, str]] = {"": "_learned", "shown": "shown", "updates": "_updates"}

    def __init__(
        self,
        core: CoreSpec,
        rule: Rule,
        start: Callable[[int], Any],
        brief: Brief,
        streams: Sequence[Streams],
    ) -> None:
        super().__init__(core, brief, streams)
        self._rule = rule
        self._state = stack_lanes([start(self._width)] * self.lanes)
        self._room = KEPT // (4 * self._width)  # rows of features
        self._lesson: tuple[Lesson, int, _UpdateRows] | None = None
        self._shape: tuple[Lesson, Shape] | None = None
        self._exam: tuple[Exam, Any] | None = None
        self._updates = np.zeros(self.lanes, dtype=np.int64)

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """Items start .. stop-1, streamed in chunks of the order."""
        if self._shape is None or self._shape[0] is not lesson:
            self._shape = lesson, Shape.of(lesson.examples, self._cores).within(self._room)
        if lesson.item == "example" and self._shape[1].rows > self._room:
            for number in range(start, stop):
                self._learn_long(lesson, number)
        else:
            self._learn_pieces(lesson, start, stop, self._shape[1])
        self.shown += np.diff(lesson.within(start, stop))[:, 0]
        jax.block_until_ready(self._state)

    def _learn_pieces(self, lesson: Lesson, start: int, stop: int, shape: Shape) -> None:
        size = shape.together if lesson.item == "example" else lesson.items
        for first in range(start // size * size, stop, size):
            material = self._material(lesson, first, size, shape)
            begin, end = max(start, first) - first, min(stop, first + size) - first
            ends = np.minimum([[begin, end]], np.maximum(lesson.lengths[:, None] - first, 0))
            bounds = np.take_along_axis(material.offsets, ends, axis=1)
            self._go_on(material, bounds)

    def _learn_long(self, lesson: Lesson, number: int) -> None:
        """One example, of which not even the features fit: stretch after stretch."""
        there = lesson.lengths > number
        chosen = np.where(there, lesson.order[:, number], 0)
        exam = Exam(
            [lane.take([index]) for lane, index in zip(lesson.examples, chosen, strict=True)]
        )
        for rows, numbers in blocks(self._cores, exam.examples):
            counts = np.where(there, [len(lane) for lane in numbers], 0)
            targets = np.concatenate(
                [
                    grown(lane[None, own], 1, rows.shape[1])
                    for lane, own in zip(exam.targets, numbers, strict=True)
                ]
            )
            sequence = np.broadcast_to(np.arange(rows.shape[1], dtype=np.int32), rows.shape[:2])
            bounds = np.stack([np.zeros_like(counts), counts], axis=1)
            self._go_on(
                _UpdateRows(rows, jnp.asarray(targets), jnp.asarray(sequence), bounds), bounds
            )

    def _go_on(self, material: _UpdateRows, bounds: NDArray[np.int64]) -> None:
        """The updates between two places (lane, 2) of the material's sequence."""
        rows, targets, sequence, _ = material
        ends = jnp.asarray(bounds, jnp.int32)
        self._state = _advance(self._rule, self._state, rows, targets, sequence, ends, self.lanes)
        self._updates += bounds[:, 1] - bounds[:, 0]

    def answer(self, exam: Exam) -> NDArray[np.float32]:
        """(lane, question, output) scores. The features of the last exam are kept: the core does
        not change.
        """
        if self._exam is None or self._exam[0] is not exam:
            self._exam = exam, self._kept(exam)
        if self._exam[1] is None:
            return streamed(self._speaker(), exam)
        scores = scored(self._speaker(), self._exam[1], self.lanes)
        return np.asarray(scores)[:, : exam.counted.shape[1]]

    def _kept(self, exam: Exam) -> Any:
        """The features of an exam, arranged; None where there is no room for them."""
        shape = Shape.of(exam.examples, self._cores)
        if max(shape.rows, *(lane.questions for lane in exam.examples)) > self._room:
            return None
        rows = harvest(self._cores, exam, shape)
        if self.lanes == 1:  # a copy without the padding: every test reads all rows
            rows = rows[:, : rounded(exam.counted.shape[1], 1)]
        return self._arranged(jax.device_put(rows))

    def _arranged(self, rows: Any) -> Any:
        """The rows of an exam, (lane, row, feature), as the rule's `scores` reads them best."""
        return rows

    def _speaker(self) -> Readout:
        return Readout(self._cores, self._state, self._rule)

    @property
    def _learned(self) -> tuple[Any, Any]:
        return self._cores, self._state

    @_learned.setter
    def _learned(self, learned: tuple[Any, Any]) -> None:
        self._cores, self._state = learned

    def forget_cached(self) -> None:
        """Features of exams and lessons: they were the other core's."""
        self._lesson = self._exam = None

    @property
    def scale(self) -> str:
        """As the rule's scores are."""
        return self._rule.scale if self._tokens else "values"

    def updates(self) -> NDArray[np.int64]:
        """One for every question."""
        return self._updates

    def _trained_numbers(self) -> int:
        return self._rule.trained(jax.tree.map(lambda leaf: leaf[0], self._state))

    def _material(self, lesson: Lesson, first: int, size: int, shape: Shape) -> _UpdateRows:
        if self._lesson is not None and self._lesson[0] is lesson and self._lesson[1] == first:
            return self._lesson[2]
        if lesson.item == "example":
            chosen = lesson.order[:, first : first + size]
            exam = Exam(
                [lane.take(order) for lane, order in zip(lesson.examples, chosen, strict=True)]
            )
            offsets = np.stack([np.cumsum([0, *lane.asked.sum(axis=0)]) for lane in exam.examples])
        else:
            exam = Exam(lesson.examples)
            offsets = np.broadcast_to(np.arange(lesson.items + 1), (self.lanes, lesson.items + 1))
        rows = harvest(self._cores, exam, shape, fineness=1 if lesson.item == "example" else 2)
        targets, counted = (
            grown(array, self.lanes, rows.shape[1]) for array in (exam.targets, exam.counted)
        )
        if lesson.item == "example":
            sequence = np.broadcast_to(np.arange(rows.shape[1]), counted.shape)
        else:
            sequence = grown(lesson.order, self.lanes, rounded(lesson.items, 2))
        if self._rule.peek and not self.shown.any() and first == 0:
            self._peek(lesson, rows)
        # Handed over once: it is read by every call that learns from some of it.
        given = jax.device_put((rows, targets, sequence.astype(np.int32)))
        material = _UpdateRows(given[0], given[1], given[2], offsets)
        self._lesson = lesson, first, material
        return material

    def _peek(self, lesson: Lesson, rows: Any) -> None:
        whole = Exam(lesson.examples)
        if lesson.item == "example":  # those rows are of the first examples only
            rows = harvest(self._cores, whole, Shape.of(lesson.examples, self._cores))
        targets, counted = (
            jnp.asarray(grown(array, self.lanes, rows.shape[1]))
            for array in (whole.targets, whole.counted)
        )
        self._state = _prepare(self._rule, self._state, rows, targets, counted, self.lanes)


class _UpdateRows(NamedTuple):
    """Rows, targets, the sequence of updates, and where in it each item begins (lane, item + 1)."""

    rows: Any
    targets: Any
    sequence: Any
    offsets: NDArray[np.int64]


@eqx.filter_jit
def _advance(
    rule: Rule, state: Any, rows: Any, targets: Any, sequence: Any, bounds: Any, lanes: int
) -> Any:
    def single(state: Any, rows: Any, targets: Any, sequence: Any, bounds: Any) -> Any:
        def step(number: Any, state: Any) -> Any:
            row = sequence[number]
            return rule.update(state, rows[row], targets[row])

        return lax.fori_loop(bounds[0], bounds[1], step, state)

    return over_lanes(single, lanes)(state, rows, targets, sequence, bounds)


@eqx.filter_jit
def _prepare(rule: Rule, state: Any, rows: Any, targets: Any, counted: Any, lanes: int) -> Any:
    if lanes == 1:
        return over_lanes(rule.prepare, lanes)(state, rows, targets, counted)
    # One lane after the other: side by side, the rows of all lanes would be copied, in a
    # second copy of what is most of the memory.
    return lax.map(lambda lane: rule.prepare(*lane), (state, rows, targets, counted))


def one_hot(target: Any, width: int) -> Any:
    """A target as a vector: itself if it is one."""
    return jax.nn.one_hot(target, width) if jnp.issubdtype(target.dtype, jnp.integer) else target
