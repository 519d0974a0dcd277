"""How the battery examines: a lesson that mixes all difficulties, a test with equally many of
each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, finite, pace_of
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.measures.span import axis_facts
from quickstudy.protocols.dynamics import drawn
from quickstudy.protocols.examination import Examination, right_answers, sit
from quickstudy.tasks.sampling import sequence_keys
from quickstudy.tasks.span.item import SequenceItem
from quickstudy.tasks.span.series import SeriesItem


class Spans:
    """What the protocols of the battery share: how their reports are read."""

    family: ClassVar[str] = "span"
    measures: ClassVar[tuple[str, ...]] = ("span",)
    headline: ClassVar[str] = "span"
    second: ClassVar[str] = "share"
    columns: ClassVar[tuple[str, ...]] = ("span", "whole-span", "span-within", "mean-span")
    question: ClassVar[str] = "How much can it hold, follow and combine?"
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}


@protocol("span", version=1)
@dataclass(frozen=True)
class SpanProtocol(Spans):
    """Learn from sequences of all difficulties, mixed; answer a test with equally many of each.

    Parameters
    ----------
    sequences:
        Training sequences sampled. Short ones repeat; the trace has the number of distinct ones.
    tests:
        Test sequences in every bin of the grid.
    checkpoints:
        Number of tests, each after four times the examples of the one before.
    questions:
        Most questions in every bin, sampled once for the whole run; 0 for all. For learners to
        which every question has a price. The span of whole sequences is then unknown.
    """

    sequences: int = parameter(1500, at_least=8)
    tests: int = parameter(48, at_least=1)
    checkpoints: int = parameter(3, at_least=1, at_most=12)
    questions: int = parameter(0, at_least=0, added=True)

    measures: ClassVar[tuple[str, ...]] = ("span", "examples-to-span")
    asks: ClassVar[str] = "spans"
    programs: ClassVar[int] = 1  # tests may be longer than lessons

    @staticmethod
    def unfit(task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        return (
            ""
            if isinstance(task, SequenceItem)
            else f"{task.id} has no difficulty axis of sequences"
        )

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `span`: correct, whole (point, bin), asked, tests, seen,
        chance (bin).
        """
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        grid, pace = np.array(task.grid), pace_of(learner)
        drawn_levels = np.repeat(np.arange(len(grid)), self.tests)
        shown = [task.sample(stream.numpy("data"), self.sequences) for stream in streams]
        whole = [task.draw(stream.numpy("test"), drawn_levels) for stream in streams]
        asked = [self._asked(*one, drawn_levels) for one in zip(whole, streams, strict=True)]
        tests, levels = [test for test, _ in asked], [level for _, level in asked]
        lesson = Lesson(
            shown, np.stack([stream.order(self.sequences, pace.passes) for stream in streams])
        )
        exam = Exam(tests)
        points = checkpoints(lesson.items, pace.stride, self.checkpoints)
        capacity = max(part.steps for part in (*shown, *tests))
        brief = Brief(*spaces_of(task), "cross-entropy", capacity, lesson.items)

        def mark(scores: Any) -> NDArray[np.int64]:
            right = right_answers(scores, exam)
            return np.stack(
                [
                    _marks(right[lane], exam, lane, levels[lane], len(grid))
                    for lane in range(len(tests))
                ]
            )

        sitting = sit(learner, brief, streams, lesson, points, exam, mark, unfinished)
        facts = {
            **axis_facts(task),
            "sequences": self.sequences,
            "passes": pace.passes,
            "batch": pace.stride,
        }
        traces = []
        for lane, cost in enumerate(sitting.costs):
            known, keys = set(sequence_keys(shown[lane])), sequence_keys(tests[lane])
            own = levels[lane]
            seen = np.bincount(own, [key in known for key in keys], len(grid)).astype(np.int64)
            arrays = {
                "step": np.array(points),
                "correct": sitting.marks[:, lane, 0],
                **({} if self.questions else {"whole": sitting.marks[:, lane, 1]}),
                "asked": (
                    np.bincount(own, tests[lane].asked.sum(axis=0), len(grid)).astype(np.int64)
                ),
                "tests": np.bincount(own, minlength=len(grid)),
                "seen": seen,
                "difficulty": grid,
                "chance": task.chances(),
            }
            traces.append(Trace("span", arrays, {**facts, "distinct": len(known)}, cost))
        return Examination(traces, sitting.pupil, brief, sitting.last)

    def _asked(
        self, test: Examples, stream: Streams, levels: NDArray[np.int64]
    ) -> tuple[Examples, NDArray[np.int64]]:
        """The sequences in which something is asked, with at most `questions` in every bin; their
        levels.
        """
        if not self.questions:
            return test, levels
        positions = stream.numpy("questions").permutation(np.argwhere(test.asked))
        asked = np.zeros_like(test.asked)
        for level in np.unique(levels):
            asked[tuple(positions[levels[positions[:, 1]] == level][: self.questions].T)] = True
        kept = np.flatnonzero(asked.any(axis=0))
        return dataclasses.replace(test, asked=asked).take(kept), levels[kept]


def checkpoints(items: int, stride: int, count: int) -> list[int]:
    """Whole batches, each a factor of four after the one before, the last at the end.

    >>> checkpoints(1500, 8, 3)
    [88, 368, 1496]
    """
    last = items // stride * stride
    if not last:
        raise UsageError(
            f"{items} sequences are fewer than one update takes ({stride}); give more sequences or"
            " a smaller batch"
        )
    return sorted({max(stride, last // 4**k // stride * stride) for k in range(count)})


def _marks(
    right: NDArray[np.bool_], exam: Exam, lane: int, levels: NDArray[np.int64], bins: int
) -> NDArray[np.int64]:
    """(2, bin): right answers, and sequences without a mistake."""
    counted = exam.counted[lane]
    sequence, own = exam.positions[lane][counted][:, 1], right[counted]
    whole = np.bincount(sequence, ~own, len(levels)) == 0
    marks = [np.bincount(levels[sequence], own, bins), np.bincount(levels, whole, bins)]
    return np.array(marks).astype(np.int64)


@protocol("span-series", version=1)
@dataclass(frozen=True)
class SpanSeriesProtocol(Spans):
    """Learn from the first part of a series, answer its last part at all difficulties at once.

    Parameters
    ----------
    window:
        Steps per example of a learner trained by gradient.
    before:
        Steps before these that are only read.
    """

    window: int = parameter(64, at_least=1)
    before: int = parameter(128, at_least=1, at_most=200)

    measures: ClassVar[tuple[str, ...]] = ("span", "prediction-horizon")
    columns: ClassVar[tuple[str, ...]] = ("span", "horizon")
    replay_apart: ClassVar[bool] = False

    @staticmethod
    def unfit(task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        return (
            ""
            if isinstance(task, SeriesItem)
            else f"{task.id} has no difficulty axis along a series"
        )

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `span`: covariance (point, bin, 3) of targets and answers."""
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        series, pace = [drawn(task, stream) for stream in streams], pace_of(learner)
        shown: list[Examples]
        if pace.stride == 1:
            shown = [lane.part("training") for lane in series]
        else:
            shown = [lane.windows("training", self.window, self.before) for lane in series]
        orders = [
            stream.order(lane.count, pace.passes)
            for lane, stream in zip(shown, streams, strict=True)
        ]
        lesson = Lesson(
            shown, np.stack(orders), validation=[lane.part("validation") for lane in series]
        )
        exam = Exam([lane.part("test") for lane in series])
        brief = Brief(*spaces_of(task), "squared", exam.examples[0].steps, lesson.items)

        def mark(scores: Any) -> NDArray[np.float64]:
            given = finite("the learner's answers", np.asarray(scores, np.float64))
            return np.stack(
                [_covariance(exam.targets[lane], given[lane]) for lane in range(len(series))]
            )

        sitting = sit(learner, brief, streams, lesson, [lesson.items], exam, mark, unfinished)
        facts = {**axis_facts(task), "passes": pace.passes, "batch": pace.stride}
        if (exponent := stated(task, TaskFacts).lyapunov) is not None:
            facts["lyapunov"] = exponent
        traces = [
            Trace(
                "span",
                {
                    "step": np.array([lesson.items]),
                    "covariance": sitting.marks[:, lane],
                    "difficulty": np.array(task.grid),
                },
                facts,
                cost,
            )
            for lane, cost in enumerate(sitting.costs)
        ]
        return Examination(traces, sitting.pupil, brief, sitting.last)


def _covariance(targets: NDArray[np.float64], answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """(bin, 3): variance of the targets, covariance with the answers, variance of the answers."""
    targets, answers = targets - targets.mean(axis=0), answers - answers.mean(axis=0)
    products = (targets * targets, targets * answers, answers * answers)
    return np.stack([product.mean(axis=0) for product in products], axis=-1)
