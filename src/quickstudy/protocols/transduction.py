"""How functions of strings are examined: learn from short strings, then answer longer ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, pace_of
from quickstudy.base.offers import OfLengths, offers
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.protocols.examination import Examination, right_answers, sit


@protocol("transduction", version=1)
@dataclass(frozen=True)
class TransductionProtocol:
    """Learn from strings of the task's lengths, then answer strings of these and of greater
    lengths.

    With `passes=1` a learner sees every string once, as published.

    Source: Delétang et al. 2022. Published: 128 new strings of one length per update, lengths up to
        500; the released example has 10,000 updates (1,280,000 strings), 512 strings per length and
        lengths up to 100.
    Departures: lengths are mixed in an update, and the numbers of strings are ours. The example's
        mean begins at length 42, here at 41.

    Parameters
    ----------
    sequences:
        Training strings.
    upto:
        Largest length in the test.
    each:
        Test strings per length, from the shortest on. Lengths above the task's `longest` are never
        trained on.
    """

    sequences: int = parameter(2000, at_least=1)
    upto: int = parameter(100, at_least=2, at_most=10_000)
    each: int = parameter(16, at_least=1)

    measures: ClassVar[tuple[str, ...]] = ("length-generalisation",)
    family: ClassVar[str] = "grammar"
    question: ClassVar[str] = "Does it go on where strings are longer than all that were shown?"
    headline: ClassVar[str] = "unseen-accuracy"
    columns: ClassVar[tuple[str, ...]] = ("unseen-accuracy", "seen-accuracy", "solved")
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"upto": 500}}

    def unfit(self, task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can. Raises UsageError where no
        length is left to ask about, which is known before anything is run.
        """
        own: Any = task
        if not offers(own, OfLengths):
            return (
                f"transduction asks about strings of given lengths, and {task.id} has no"
                " of_lengths(rng, lengths)"
            )
        if self.upto <= task.longest:
            raise UsageError(
                f"{task.id}: upto={self.upto} asks about nothing longer than the {task.longest}"
                " symbols that are shown; give a greater upto, or the task a smaller longest"
            )
        return ""

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `length-outcomes`: length, right and asked."""
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        pace = pace_of(learner)
        lengths = tuple(np.repeat(np.arange(task.shortest, self.upto + 1), self.each).tolist())
        parts = [_drawn(task, stream, self.sequences, lengths) for stream in streams]
        orders = [stream.order(self.sequences, pace.passes) for stream in streams]
        lesson, exam = (
            Lesson([shown for shown, _ in parts], np.stack(orders)),
            Exam([asked for _, asked in parts]),
        )
        brief = Brief(
            *spaces_of(task), "cross-entropy", max(shown.steps for shown, _ in parts), lesson.items
        )
        point = lesson.items // pace.stride * pace.stride
        if not point:
            raise UsageError(
                f"nothing can be learned from {lesson.items} strings, fewer than one update of the"
                " learner takes; give more sequences or passes, or a smaller batch"
            )
        sitting = sit(
            learner,
            brief,
            streams,
            lesson,
            [point],
            exam,
            lambda scores: right_answers(scores, exam),
            unfinished,
        )
        facts = {
            "passes": pace.passes,
            "batch": pace.stride,
            "training_sequences": self.sequences,
            "longest_shown": task.longest,
        }
        traces = [
            Trace(
                "length-outcomes",
                _by_length(exam, sitting.marks[-1], lane, np.array(lengths)),
                facts,
                cost,
            )
            for lane, cost in enumerate(sitting.costs)
        ]
        return Examination(traces, sitting.pupil, brief, sitting.last)


def _by_length(
    exam: Exam, right: NDArray[np.bool_], lane: int, lengths: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """How many answers were right, and asked for, of every length."""
    kinds, numbers = np.unique(lengths, return_inverse=True)
    questions = numbers[exam.found[lane][:, 1]]
    good = questions[right[lane, : len(questions)]]
    return {
        "length": kinds,
        "right": np.bincount(good, minlength=len(kinds)),
        "asked": np.bincount(questions, minlength=len(kinds)),
    }


@lru_cache(maxsize=8)
def _drawn(
    task: Any, streams: Streams, count: int, lengths: tuple[int, ...]
) -> tuple[Examples, Examples]:
    """Shown and asked about. Kept, since the next learner of the same repetition gets the same."""
    return task.sample(streams.numpy("data"), count), task.of_lengths(
        streams.numpy("test"), lengths
    )
