"""How learners are examined on data with an official split: all of it is shown, and all that is
held out is asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, pace_of
from quickstudy.base.offers import Parted, offers
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.protocols.examination import Examination, curve_facts, right_answers, sit, thinned

BATCH = 8
"""Examples between two possible tests of a learner that has no batches of its own, as published."""
PUBLISHED_STRIDE = 50
"""Batches between two published tests."""


@protocol("reviews", version=1)
@dataclass(frozen=True)
class ReviewsProtocol:
    """Learn from the official training part in random order, tested on the whole official test part
    on the way.

    The order is new in every pass and repetition and the same for all learners of one seed. Steps
    are examples shown. `wade` under the convention `published` is that of the published table:
    thresholds 0.50 to 0.99, weights on a line from 1 to 10, T the number of the published test;
    `wade-smoothed` is the same after the smoothing of its linear column.

    Source: Cisneros, Sivic and Mikolov 2022, section 4.

    Parameters
    ----------
    stride:
        Batches between two tests, counted in each pass; the first test is after the first batch (of
        8 examples, for a learner without batches). Published: 50 batches of 8, 63 tests in a pass
        of 25,000.
    schedule:
        `every` makes all these tests; `thinned` keeps the first 16 of them and then 12 per
        doubling.
    """

    stride: int = parameter(1, at_least=1)
    schedule: str = parameter("thinned", choices=("thinned", "every"))

    measures: ClassVar[tuple[str, ...]] = (
        "wade-above-chance",
        "wade",
        "wade-smoothed",
        "accuracy",
        "steps-to-accuracy",
        "log-area",
    )
    question: ClassVar[str] = "How fast does it learn from real texts?"
    headline: ClassVar[str] = "wade-above-chance"
    second: ClassVar[str] = "final-accuracy"
    outcome: ClassVar[tuple[str, ...]] = ("final-accuracy", "steps-to-0.9")
    columns: ClassVar[tuple[str, ...]] = (
        "wade-above-chance",
        "wade",
        "final-accuracy",
        "maximum-accuracy",
        "steps-to-0.9",
    )
    exact: ClassVar[Mapping[str, Any]] = {"schedule": "every"}
    usual: ClassVar[Mapping[str, Any]] = {"schedule": "thinned"}
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"stride": PUBLISHED_STRIDE, "schedule": "every"}
    }

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `learning-curve`: step, correct, accuracy, evaluation (its
        published number).
        """
        own: Any = task
        if not offers(own, Parted):
            raise NotApplicable(f"{task.id} has no official split")
        train, test = task.parts()
        pace = pace_of(learner)
        passes, batch = pace.passes, pace.stride
        orders = np.stack([stream.order(train.count, passes) for stream in streams])
        lesson = Lesson([train] * len(streams), orders)
        exam = Exam([test] * len(streams))
        size = batch if batch > 1 else BATCH
        points = exam_points(train.count, passes, size, self.stride)
        if not len(points):
            raise UsageError(
                f"nothing can be learned from {lesson.items} reviews, fewer than one batch of"
                f" {size}; give more reviews or passes, or a smaller batch"
            )
        if self.schedule == "thinned":
            points = thinned(points, dense=16, per_octave=12)
        brief = Brief(*spaces_of(task), "cross-entropy", train.steps, lesson.items)
        sitting = sit(
            learner,
            brief,
            streams,
            lesson,
            points.tolist(),
            exam,
            lambda scores: right_answers(scores, exam).sum(axis=1),
            unfinished,
        )
        published = exam_points(train.count, passes, size, PUBLISHED_STRIDE)
        facts = {
            "item": "example",
            "unit": "sequences",
            "batch": batch,
            "passes": passes,
            **curve_facts(train, test),
            "published_preset": "published-imdb",
            **task.facts(),
        }
        traces = [
            Trace(
                "learning-curve",
                _arrays(points, sitting.marks[:, lane], test.questions, published),
                facts,
                cost,
            )
            for lane, cost in enumerate(sitting.costs)
        ]
        return Examination(traces, sitting.pupil, brief, sitting.last)


def exam_points(count: int, passes: int, batch: int, stride: int) -> NDArray[np.int64]:
    """Examples shown before each test: after the first batch of a pass and every `stride` batches
    from there.

    A batch that holds examples of two passes belongs to the earlier one; one that is not full is
    never made.

    >>> exam_points(count=40, passes=2, batch=8, stride=3).tolist()
    [8, 32, 48, 72]
    """
    firsts = -(-np.arange(passes + 1) * count // batch)
    batches = np.concatenate([np.arange(*bounds, stride) for bounds in itertools.pairwise(firsts)])
    points = (batches + 1) * batch
    return points[points <= count * passes]


def _arrays(
    points: NDArray[np.int64],
    correct: NDArray[np.int64],
    questions: int,
    published: NDArray[np.int64],
) -> dict[str, NDArray[Any]]:
    return {
        "step": points,
        "correct": correct,
        "accuracy": correct / questions,
        # The number, from 1, of the published test that is not before this one.
        "evaluation": np.searchsorted(published, points) + 1,
    }
