"""What every examination has in common: material, the loop of learning and tests, schedule, clock,
marks, outcome.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import (
    Answering,
    Brief,
    Cost,
    Keeping,
    Learner,
    Pausing,
    Pupil,
    Snapshot,
    face,
    finite,
    pace_of,
)
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import ANSWERS, Trace, Unfinished, answer_arrays
from quickstudy.protocols.session import Clock, Session
from quickstudy.tasks.sampling import Split, check_drawn, draw_unique, split

PIECE_SECONDS = 5.0
"""Approximate seconds of one call of `learn`, if checkpoints are possible between two calls.
"""
PROBE = 64
"""The first call, by which the learner's speed is measured, takes this part of what is to be
learned.
"""


@dataclass(frozen=True)
class Examination:
    """One trace per lane, the pupil at the end, and its brief. last: the last
    test, where there was one and what was answered in it may be kept.
    """

    traces: Sequence[Trace]
    pupil: Pupil
    brief: Brief
    last: LastTest | None = None

    def snapshots(self) -> Iterator[Snapshot]:
        """The trained learner of every lane, as a pupil of one lane would give it; none if it
        cannot be kept.
        """
        try:
            whole = face(self.pupil, Keeping).snapshot()
        except NotApplicable:
            return
        facts = {**whole.facts, "brief": self.brief.as_facts()}
        for lane in range(self.pupil.lanes):
            yield Snapshot(
                {name: array[lane : lane + 1] for name, array in whole.arrays.items()}, facts
            )


@dataclass(frozen=True)
class LastTest:
    """The questions of the last test, and the scores (lane, question, width) that were given;
    None in a call that resumes from a checkpoint after the last test: the pupil is restored, and
    answers the same.
    """

    pupil: Answering
    exam: Exam
    scores: Any

    def kept_in(self, trace: Trace, lane: int) -> Trace:
        """The trace of a lane with its answers."""
        scores = self.pupil.answer(self.exam) if self.scores is None else self.scores
        arrays = answer_arrays(self.exam, scores, lane)
        facts = {**trace.facts, ANSWERS: len(arrays["last_answer"])}
        return dataclasses.replace(trace, arrays={**trace.arrays, **arrays}, facts=facts)


@dataclass(frozen=True)
class Sitting:
    """The pupil after the last test, (point, lane, ...) marks of all tests, the cost of every lane,
    the last test.
    """

    pupil: Answering
    marks: NDArray[Any]
    costs: Sequence[Cost]
    last: LastTest


def sit(
    learner: Learner,
    brief: Brief,
    streams: Sequence[Streams],
    lesson: Lesson,
    points: Sequence[int],
    exam: Exam,
    mark: Callable[[Any], NDArray[Any]],
    unfinished: Unfinished | None = None,
) -> Sitting:
    """Learn up to each point, answer the exam there, mark the scores: (lane, ...) numbers.

    Raises UsageError before anything is learned if the material does not match the brief.
    After every test, and every few seconds of learning (within an item too, where the pupil is
    `Pausing`), a checkpoint is stored. An interrupted call resumes from its checkpoint: marks and
    pupil are then, bit for bit, those of a call that was never interrupted, and times are the sum
    over both.
    """
    for lane in {
        id(lane): lane for lane in (*lesson.examples, *(lesson.validation or ()), *exam.examples)
    }.values():
        check_drawn(lane, brief.inputs, brief.outputs)
    marks: list[NDArray[Any]] = []
    shown = 0
    session = Session(
        learner,
        brief,
        streams,
        unfinished,
        lambda: ({"marks": np.stack(marks)} if marks else {}, {"shown": shown}),
    )
    clock, pupil = session.clock, face(session.pupil, Answering)
    if session.found is not None:
        marks += list(session.found.arrays.get("marks", ()))
        shown = int(points[len(marks) - 1]) if marks else 0
        shown = int(session.found.facts.get("shown", shown))
    pieces = _Pieces(pace_of(learner).stride, session.keeps)
    if shown:
        pieces.took(shown, clock.seconds["learn"])
    scores: Any = None
    for point in map(int, points[len(marks) :]):
        scores = None  # those of two tests need not be in memory side by side
        while shown < point:
            first, stop, before = shown, pieces.end(shown, point), clock.seconds["learn"]
            for place in _learned(pupil, lesson, first, stop, clock, pieces.cuts):
                shown = place
                session.hand_in()
            pieces.took(stop - first, clock.seconds["learn"] - before)
            shown = stop
            if shown < point:
                session.hand_in()
        with clock.timing("answer"):
            scores = pupil.answer(exam)
            marks.append(mark(scores))
        session.hand_in()
    return Sitting(
        pupil, np.stack(marks), clock.charge(pupil.cost()), LastTest(pupil, exam, scores)
    )


def _learned(
    pupil: Answering, lesson: Lesson, start: int, stop: int, clock: Clock, pauses: bool
) -> Iterator[int]:
    """Learn, and stop on the way where the pupil could be kept, if it can say so: at the item that
    is given.
    """
    try:
        places = face(pupil, Pausing).learning(lesson, start, stop) if pauses else None
    except NotApplicable:
        places = None
    if places is None:
        with clock.timing("learn"):
            pupil.learn(lesson, start, stop)
        return
    while True:
        with clock.timing("learn"):
            place = next(places, None)
        if place is None:
            return
        yield place


class _Pieces:
    """Where a lesson is cut between two tests: nowhere, or so that a piece takes about
    PIECE_SECONDS.
    """

    def __init__(self, stride: int, cuts: bool) -> None:
        self._stride, self.cuts = stride, cuts
        self._speed: float | None = None

    def end(self, start: int, stop: int) -> int:
        """Of the piece that begins at `start`: `stop`, or a whole number of strides before it."""
        if not self.cuts:
            return stop
        items = (stop - start) / PROBE if self._speed is None else self._speed * PIECE_SECONDS
        return min(
            stop, (start // self._stride + max(1, int(items // self._stride))) * self._stride
        )

    def took(self, items: int, seconds: float) -> None:
        """A piece was learned. The latest time is the best estimate: a learner may become slower
        over time.
        """
        self._speed = items / max(seconds, 1e-9)


def right_answers(scores: Any, exam: Exam) -> NDArray[np.bool_]:
    """(lane, question): where the largest score is that of the right symbol; False in the padding.

    Raises LearnerFault for scores of a wrong shape, or not finite.
    """
    lanes, questions = exam.counted.shape
    if scores.ndim != 3 or scores.shape[:2] != (lanes, questions):
        raise LearnerFault(
            f"answer must give scores of shape ({lanes}, {questions}, outputs), got {scores.shape}"
        )
    given = finite("the learner's scores", np.asarray(scores))
    return np.asarray((given.argmax(axis=-1) == exam.targets) & exam.counted)


def thinned(points: NDArray[np.int64], dense: int, per_octave: int) -> NDArray[np.int64]:
    """The first `dense` of some points, then about `per_octave` per doubling, and the last.

    Scores built on first-passage times hardly notice: they need points evenly spaced in log time.

    >>> thinned(np.arange(1, 101), 4, 2).tolist()
    [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 100]
    """
    count = len(points)
    octaves = max(0.0, np.log2(max(count, 1) / dense))
    later = np.round(
        dense * 2 ** (np.arange(1, int(octaves * per_octave) + 1) / per_octave)
    ).astype(np.int64)
    numbers = np.unique(np.concatenate([np.arange(1, min(dense, count) + 1), later, [count]]))
    return np.asarray(points[numbers[(numbers > 0) & (numbers <= count)] - 1])


def draw_material(task: Any, streams: Streams, sequences: int, share: float) -> Split:
    """Different sequences of a task, split. Kept where the task can be hashed, since the next
    learner gets the same.

    Raises UsageError for a task that has only one.
    """
    draw: Any = _drawn if _hashable(task) else _drawn.__wrapped__
    return draw(task, streams, sequences, share)  # type: ignore[no-any-return]


def padded_orders(orders: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """(lane, item): one order per lane; a lane with fewer items than the others ends in -1."""
    longest = max(len(order) for order in orders)
    return np.stack(
        [np.pad(order, (0, longest - len(order)), constant_values=-1) for order in orders]
    )


@lru_cache(maxsize=128)
def _drawn(task: Any, streams: Streams, sequences: int, share: float) -> Split:
    unique = draw_unique(task, streams.numpy("data"), sequences)
    if unique.count < 2:
        raise UsageError(
            f"{task.id}: only {unique.count} different sequence can be drawn, {sequences} were"
            " asked for; there must be one to learn from and another to be tested on"
        )
    return split(unique, streams.numpy("split"), share)


def _hashable(task: Any) -> bool:
    """Whether a task can be remembered: one with a list among its parameters cannot."""
    try:
        hash(task)
    except TypeError:
        return False
    return True


def curve_facts(train: Examples, test: Examples) -> dict[str, int | float]:
    """Facts of the material of a learning curve. constant: the accuracy of the best constant
    answer to the test.
    """
    counts = np.bincount(test.targets[test.asked])
    return {
        "training_sequences": train.count,
        "test_sequences": test.count,
        "test_questions": test.questions,
        "tokens_per_sequence": train.questions / train.count,
        "classes": int((counts > 0).sum()),
        "constant": float(counts.max() / test.questions),
    }
