"""Classification of sequences: learn from the official training split, answer the held-out
sequences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, finite, pace_of
from quickstudy.base.offers import Parted, offers
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.protocols.examination import Examination, sit


@protocol("classification", version=1)
@dataclass(frozen=True)
class ClassificationProtocol:
    """Learn from the official training part in random order, answer the whole official test part.

    Answers over a sequence are averaged; the class with the largest mean is the answer.

    Source: Wringe, Trefzer and Stepney 2024, section 7.

    Parameters
    ----------
    share:
        Share of the training part that is held out for validation, sampled for every repetition.
    """

    share: float = parameter(0.1, at_least=0, at_most=0.9)

    measures: ClassVar[tuple[str, ...]] = ("classification",)
    family: ClassVar[str] = "dynamics"
    question: ClassVar[str] = "What can its memory tell apart?"
    headline: ClassVar[str] = "error-rate"
    columns: ClassVar[tuple[str, ...]] = ("error-rate", "accuracy", "auc", "wrong-answers")
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @staticmethod
    def unfit(task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        if offers(task, Parted) and isinstance(spaces_of(task)[1], Reals):
            return ""
        return (
            f"classification asks for one number per class, of an official split, and {task.id} has"
            " none"
        )

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `classes`: score (sequence, class), the means, and label
        (sequence,).
        """
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        train, test = task.parts()
        pace = pace_of(learner)
        held_back = int(self.share * train.count)
        orders, shown, validation = [], [], []
        for stream in streams:
            chosen = stream.numpy("split").permutation(train.count)
            validation.append(train.take(chosen[:held_back]))
            shown.append(train.take(chosen[held_back:]))
            orders.append(stream.order(len(chosen) - held_back, pace.passes))
        lesson = Lesson(shown, np.stack(orders), validation=validation if held_back else None)
        exam = Exam([test] * len(streams))
        brief = Brief(*spaces_of(task), "squared", train.steps, lesson.items)
        points = [lesson.items // pace.stride * pace.stride]
        sitting = sit(
            learner,
            brief,
            streams,
            lesson,
            points,
            exam,
            lambda scores: _means(scores, exam),
            unfinished,
        )
        labels = test.targets[0].argmax(axis=1)
        facts = {
            "passes": pace.passes,
            "training_sequences": train.count - held_back,
            "validation_sequences": held_back,
        }
        constant = float(
            test.targets[0].mean(axis=0).max()
        )  # the accuracy of the best constant answer
        facts |= {**task.facts(), **task.taxonomy, "asked": task.asked, "constant": constant}
        traces = [
            Trace("classes", {"score": sitting.marks[-1, lane], "label": labels}, facts, cost)
            for lane, cost in enumerate(sitting.costs)
        ]
        return Examination(traces, sitting.pupil, brief, sitting.last)


def _means(scores: Any, exam: Exam) -> NDArray[np.float64]:
    """(lane, sequence, class): the mean of all that was answered in the course of a sequence."""
    given = finite("the learner's answers", np.asarray(scores, dtype=np.float64))
    sequence = exam.positions[0, :, 1]  # by sequence, then time
    starts = np.flatnonzero(np.diff(sequence, prepend=-1))
    return np.asarray(np.add.reduceat(given, starts, axis=1) / np.bincount(sequence)[:, None])
