"""How a stream is learned from: its segments in order, once, tested on every segment all along."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, pace_of
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.protocols.examination import (
    Examination,
    draw_material,
    padded_orders,
    right_answers,
    sit,
    thinned,
)
from quickstudy.tasks.sampling import Split, sequence_keys

DENSE, PER_OCTAVE = 8, 4
"""Of a thinned schedule: the first tests after a segment begins, and those of each doubling from
there on.
"""


@protocol("continual", version=1)
@dataclass(frozen=True)
class ContinualProtocol:
    """Learn from the segments of a stream in turn, tested on held-out sequences of all segments on
    the way.

    The learner has one vocabulary and is not told where a segment begins or which one a question
    belongs to. Every test covers all segments, including those to come. Steps are training
    sequences shown. A sequence held out of one segment is trained on in none. A segment shows the
    same sequences in the same order as its task alone under the protocol `language` at the same
    seed. A readout that looks at the whole lesson before it learns (peek) is not applicable. A task
    for this protocol has `segments`, each with a `task` in the common vocabulary, a `share` of the
    whole and a `label`.

    Source: ours, after Lopez-Paz and Ranzato 2017, who test on all tasks after each.

    Parameters
    ----------
    sequences:
        Different sequences of a segment of average length; a longer one has more in proportion. At
        most five draws are made for each, and a task may have fewer.
    share:
        Share of them that is trained on.
    schedule:
        `every` tests after every update; `thinned` keeps the first 8 of these tests in each segment
        and then 4 per doubling. Both test at the end of every segment.
    replay:
        Show a segment as often as the learner asks before the next begins, in a new order each
        time; otherwise everything is shown once.
    """

    sequences: int = parameter(1200, at_least=5)
    share: float = parameter(0.8, above=0, at_most=0.99)
    schedule: str = parameter("thinned", choices=("thinned", "every"))
    replay: bool = False

    measures: ClassVar[tuple[str, ...]] = (
        "average-accuracy",
        "learned-accuracy",
        "forgetting",
        "backward-transfer",
        "forward-transfer",
        "wade-within",
    )
    question: ClassVar[str] = "Does it keep what it has learned when the task changes?"
    headline: ClassVar[str] = "average-accuracy"
    columns: ClassVar[tuple[str, ...]] = (
        "average-accuracy",
        "learned-accuracy",
        "forgetting",
        "forward-transfer",
        "wade-within",
    )
    exact: ClassVar[Mapping[str, Any]] = {"schedule": "every"}
    usual: ClassVar[Mapping[str, Any]] = {"schedule": "thinned"}

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `continual-curve`: step, correct and accuracy by segment,
        boundaries.
        """
        segments = stated(task, TaskFacts).segments
        if not segments:
            raise NotApplicable(f"{task.id} has no segments")
        pace = pace_of(learner)
        if pace.peeks:
            raise NotApplicable(
                "the readout looks at the whole stream before it learns; give peek=false"
            )
        passes, batch = pace.passes if self.replay else 1, pace.stride
        courses = [
            make_course(segments, stream, self.sequences, self.share, passes) for stream in streams
        ]
        lesson = Lesson(
            [course.train for course in courses],
            padded_orders([course.order for course in courses]),
        )
        exam = Exam([course.test for course in courses])
        if min(len(course.order) for course in courses) < batch:
            raise UsageError(
                f"nothing can be learned from {lesson.items} sequences, fewer than one update of"
                " the learner takes; give more sequences or a smaller batch"
            )
        # Lanes may have other boundaries: each is tested at all points of all, and keeps its own.
        chosen = [self._points(course, batch) for course in courses]
        points = np.unique(np.concatenate(chosen))
        brief = Brief(
            *spaces_of(task),
            "cross-entropy",
            max(lane.steps for lane in lesson.examples),
            lesson.items,
        )
        sitting = sit(
            learner,
            brief,
            streams,
            lesson,
            points.tolist(),
            exam,
            lambda scores: _by_segment(right_answers(scores, exam), exam, courses),
            unfinished,
        )
        facts = {"unit": "sequences", "item": "example", "batch": batch, "passes": passes}
        labels = [segment.label for segment in segments]
        traces = [
            Trace(
                "continual-curve",
                _arrays(chosen[lane], sitting.marks[np.isin(points, chosen[lane]), lane], course),
                {**facts, "segments": labels, **_facts(course, passes)},
                cost,
            )
            for lane, (course, cost) in enumerate(zip(courses, sitting.costs, strict=True))
        ]
        return Examination(traces, sitting.pupil, brief, sitting.last)

    def _points(self, course: Course, batch: int) -> NDArray[np.int64]:
        """When one lane is tested: after updates, thinned from the start of each segment, and
        at its end.
        """
        found = []
        for start, end in pairwise(course.boundaries.tolist()):
            updates = np.arange(start // batch + 1, end // batch + 1) * batch
            found += [
                thinned(updates, DENSE, PER_OCTAVE) if self.schedule == "thinned" else updates,
                np.array([end]),
            ]
        return np.unique(np.concatenate(found))


def _by_segment(
    right: NDArray[np.bool_], exam: Exam, courses: Sequence[Course]
) -> NDArray[np.int64]:
    """(lane, segment) right answers."""
    counts = [
        np.bincount(
            course.segment_of(exam.positions[lane, right[lane], 1]), minlength=len(course.tests)
        )
        for lane, course in enumerate(courses)
    ]
    return np.stack(counts)


def _arrays(
    points: NDArray[np.int64], correct: NDArray[np.int64], course: Course
) -> dict[str, NDArray[Any]]:
    questions = np.array([answers.size for answers in course.answers()])
    return {
        "step": points,
        "correct": correct,
        "accuracy": correct / questions,
        "boundary": course.boundaries,
    }


def _facts(course: Course, passes: int) -> dict[str, list[Any]]:
    """Facts of the segments, one entry for each."""
    counts = [np.bincount(answers) for answers in course.answers()]
    return {
        "training_sequences": (np.diff(course.boundaries) // passes).tolist(),
        "test_sequences": course.tests.tolist(),
        "test_questions": [int(count.sum()) for count in counts],
        "classes": [int((count > 0).sum()) for count in counts],
        "constants": [float(count.max() / count.sum()) for count in counts],
    }


@dataclass(frozen=True, eq=False)
class Course:
    """train, test: the sequences of all segments, segment after segment. order: (item,) numbers of
    training sequences in the order shown. boundaries: (segment + 1,) items shown before each
    segment begins, and in all. tests: (segment,) test sequences of each.
    """

    train: Examples
    test: Examples
    order: NDArray[np.int64]
    boundaries: NDArray[np.int64]
    tests: NDArray[np.int64]

    def segment_of(self, examples: NDArray[np.int64]) -> NDArray[np.int64]:
        """The segment that each test sequence, given by its number, belongs to."""
        return np.searchsorted(np.cumsum(self.tests), examples, side="right")

    def answers(self) -> list[NDArray[Any]]:
        """The right answers to the test questions of each segment."""
        parts = pairwise([0, *np.cumsum(self.tests)])
        return [
            self.test.targets[:, start:end][self.test.asked[:, start:end]] for start, end in parts
        ]


def make_course(
    segments: Sequence[Any], streams: Streams, sequences: int, share: float, passes: int
) -> Course:
    """The course of a repetition.

    sequences: different sequences of a segment of average length, learned from and held out; a
    segment that is twice as long has twice as many. passes: how often a segment is shown before the
    next begins, in a new order each time. Held-out sequences of one segment are training data of
    none.
    """
    parts = [
        draw_material(
            segment.task, own, max(2, round(sequences * len(segments) * segment.share)), share
        )
        for segment, own in zip(segments, _streams(segments, streams), strict=True)
    ]
    held_out = {key for part in parts for key in sequence_keys(part.test)}
    kept = [_without(part, held_out) for part in parts]
    for segment, train, part in zip(segments, kept, parts, strict=True):
        if not train.count or not part.test.count:
            raise UsageError(
                f"{segment.label}: {train.count} sequences to learn from and {part.test.count} to"
                " be tested on; give more sequences, or a task that has more of them"
            )
    firsts = np.cumsum([0, *(train.count for train in kept[:-1])])
    orders = [
        first + own.order(train.count, passes)
        for first, train, own in zip(firsts, kept, _streams(segments, streams), strict=True)
    ]
    return Course(
        Examples.joined(kept),
        Examples.joined([part.test for part in parts]),
        np.concatenate(orders),
        np.cumsum([0, *map(len, orders)]),
        np.array([part.test.count for part in parts]),
    )


def _streams(segments: Sequence[Any], streams: Streams) -> list[Streams]:
    """The random streams of each segment: those of its task, so that it shows what the task by
    itself would show at this repetition, wherever in the stream it stands. From the second time on
    a task has streams of their own.
    """
    found, times = [], dict[str, int]()
    for segment in segments:
        id = str(segment.task.id)
        times[id] = times.get(id, 0) + 1
        found.append(
            dataclasses.replace(streams, task=id if times[id] == 1 else f"{id}#{times[id]}")
        )
    return found


def _without(part: Split, held_out: set[bytes]) -> Examples:
    return part.train.take(
        [place for place, key in enumerate(sequence_keys(part.train)) if key not in held_out]
    )
