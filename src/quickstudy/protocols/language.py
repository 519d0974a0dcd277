"""How the language family examines: show sequences one after another, test on held-out ones on the
way.
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
from quickstudy.base.learner import Brief, Pace, pace_of
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.base.task import ExampleTask, spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.protocols.examination import (
    Examination,
    curve_facts,
    draw_material,
    padded_orders,
    right_answers,
    sit,
    thinned,
)
from quickstudy.tasks.sampling import draw_unique

GROUP = 8
"""Questions between two tests of a readout, and sequences between two tests of anything else, as
published.
"""


@protocol("language", version=1)
@dataclass(frozen=True)
class LanguageProtocol:
    """Learn from different sequences, tested on held-out ones on the way.

    Steps are training sequences shown (questions, under the published order of a readout). All
    learners of one seed see the same sequences in the same order.

    Source: Cisneros, Sivic and Mikolov 2022, section 5.

    Parameters
    ----------
    sequences:
        Number of different sequences; at most five draws are made for each, and a task may have
        fewer.
    share:
        Share of them that is trained on.
    order:
        `sequences` shows whole sequences to all learners; `published` shows readouts single
        questions in random order across sequences, the first of them twice.
    schedule:
        `every` tests after every update (under the published order of a readout: after the first
        question and then every 8); `thinned` keeps the first 16 of these tests and then 12 per
        doubling, with nearly the same scores.
    questions:
        Most questions per test, sampled once for the whole run; 0 for all. For learners to which
        every question has a price.
    """

    sequences: int = parameter(1200, at_least=5)
    share: float = parameter(0.8, above=0, at_most=0.99)
    order: str = parameter("sequences", choices=("sequences", "published"))
    schedule: str = parameter("thinned", choices=("thinned", "every"))
    questions: int = parameter(0, at_least=0, added=True)

    measures: ClassVar[tuple[str, ...]] = (
        "wade-above-chance",
        "wade",
        "accuracy",
        "steps-to-accuracy",
        "log-area",
    )
    question: ClassVar[str] = "How fast does it learn from few examples?"
    headline: ClassVar[str] = "log-area"
    second: ClassVar[str] = "final-accuracy"
    outcome: ClassVar[tuple[str, ...]] = ("final-accuracy", "steps-to-0.9")
    columns: ClassVar[tuple[str, ...]] = (
        "log-area",
        "wade-above-chance",
        "wade",
        "final-accuracy",
        "maximum-accuracy",
        "steps-to-0.9",
    )
    exact: ClassVar[Mapping[str, Any]] = {"schedule": "every"}
    usual: ClassVar[Mapping[str, Any]] = {"schedule": "thinned"}
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"order": "published", "schedule": "every"}
    }

    @staticmethod
    def unfit(task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        outputs = spaces_of(task)[1]
        if isinstance(outputs, Tokens):
            return ""
        kind = type(outputs).__name__.lower()
        return f"language asks for symbols, and {task.id} for {kind}; give it a protocol of its own"

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `learning-curve`: step, correct, accuracy."""
        if not isinstance(task, ExampleTask):
            raise NotApplicable(f"{task.id} does not sample examples")
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        splits = [draw_material(task, stream, self.sequences, self.share) for stream in streams]
        pace = pace_of(learner)
        lesson = self._lesson(pace, [part.train for part in splits], streams)
        exam = Exam(
            [self._asked(part.test, stream) for part, stream in zip(splits, streams, strict=True)]
        )
        points = self._points(pace, lesson)
        if not points.any():
            raise UsageError(
                f"nothing can be learned from {lesson.items} sequences, fewer than one update of"
                " the learner takes; give more sequences or passes, or a smaller batch"
            )
        inputs, outputs = spaces_of(task)
        brief = Brief(
            inputs, outputs, "cross-entropy", max(part.train.steps for part in splits), lesson.items
        )
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
        of_learner = {"batch": pace.stride, "network": _is_network(pace), "passes": pace.passes}
        traces = [
            Trace(
                "learning-curve",
                *_curve(
                    points,
                    sitting.marks[:, lane],
                    lesson,
                    exam,
                    lane,
                    {**of_learner, **self._unit(task, stream)},
                ),
                cost,
            )
            for lane, (stream, cost) in enumerate(zip(streams, sitting.costs, strict=True))
        ]
        return Examination(traces, sitting.pupil, brief, sitting.last)

    def _asked(self, test: Examples, streams: Streams) -> Examples:
        """The test, with as many questions as are wanted, and without the sequences that none is
        left in.
        """
        if not self.questions or test.questions <= self.questions:
            return test
        numbers = streams.numpy("questions").choice(test.questions, self.questions, replace=False)
        chosen = np.zeros_like(test.asked)
        chosen[tuple(np.argwhere(test.asked)[numbers].T)] = True
        return dataclasses.replace(test, asked=chosen).take(np.flatnonzero(chosen.any(axis=0)))

    def _lesson(
        self, pace: Pace, examples: Sequence[Examples], streams: Sequence[Streams]
    ) -> Lesson:
        if self.order == "published" and pace.by_question:
            orders = [
                _question_order(lane.questions, pace.passes, stream.numpy("order"))
                for lane, stream in zip(examples, streams, strict=True)
            ]
            return Lesson(examples, padded_orders(orders), "question")
        orders = [
            stream.order(lane.count, pace.passes)
            for lane, stream in zip(examples, streams, strict=True)
        ]
        return Lesson(examples, padded_orders(orders))

    def _points(self, pace: Pace, lesson: Lesson) -> NDArray[np.int64]:
        if _is_network(pace) or self.order != "published":
            # An incomplete last batch changes nothing, so nothing is tested after it.
            points = every(lesson.items // pace.stride * pace.stride, pace.stride)
        else:
            points = every(lesson.items, GROUP, first=1)
        return thinned(points, dense=16, per_octave=12) if self.schedule == "thinned" else points

    def _unit(self, task: Any, streams: Streams) -> dict[str, float]:
        """The published programs' questions per sequence: from 500 fresh sequences of the task as
        its package has it.

        A task whose package has other defaults than the published experiment lists them in
        `package_defaults`. They are of that experiment alone: a task with other parameters has no
        published unit, and its own sequences give it.
        """
        if self.order != "published":
            return {}
        defaults = stated(task, TaskFacts).package_defaults
        if defaults is not None and task == type(task)(**task.conventions["published"]):
            task = dataclasses.replace(task, **defaults)
        fresh = draw_unique(task, streams.numpy("published-unit"), 500)
        return {"published_tokens_per_sequence": fresh.questions / fresh.count}


def every(total: int, stride: int, first: int | None = None) -> NDArray[np.int64]:
    """After `first` items (if given), then every `stride`, and at the end.

    >>> every(20, 8, first=1).tolist()
    [1, 9, 17, 20]
    """
    start = 0 if first is None else first
    points = np.arange(start + (stride if first is None else 0), total + 1, stride)
    return np.unique(np.append(points[points > 0], total))


def _is_network(pace: Pace) -> bool:
    """Whether it declares the number of examples per update, and trains more than a readout."""
    return pace.batch is not None and not pace.by_question


def _question_order(questions: int, passes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The first question alone, then all of them (the first again) in groups of 8 that are
    shuffled inside, differently in every pass.
    """
    parts = []
    for _ in range(passes):
        order = rng.permutation(questions)
        parts += [
            rng.permutation(order[first : first + GROUP]) for first in range(0, questions, GROUP)
        ]
        if len(parts) == -(-questions // GROUP):
            parts.insert(0, order[:1])
    return np.concatenate(parts)


def _curve(
    points: NDArray[np.int64],
    correct: NDArray[np.int64],
    lesson: Lesson,
    exam: Exam,
    lane: int,
    known: Mapping[str, Any],
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and facts of one lane's trace. A lane with fewer items than the others ends where it
    ends.
    """
    last = int(np.searchsorted(points, lesson.lengths[lane]))
    steps = np.minimum(points[: last + 1], lesson.lengths[lane])
    test = exam.examples[lane]
    arrays = {
        "step": steps,
        "correct": correct[: last + 1],
        "accuracy": correct[: last + 1] / test.questions,
    }
    unit = "sequences" if lesson.item == "example" else "tokens"
    return arrays, {
        "item": lesson.item,
        "unit": unit,
        **curve_facts(lesson.examples[lane], test),
        **known,
    }
