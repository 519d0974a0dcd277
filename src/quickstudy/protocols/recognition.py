"""How recognition is examined: learn from short strings, then accept or reject longer ones."""

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
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.protocols.examination import Examination, right_answers, sit
from quickstudy.tasks.grammar.non_members import Judged
from quickstudy.tasks.grammar.recognition import Recognition


@protocol("recognition", version=1)
@dataclass(frozen=True)
class RecognitionProtocol:
    """Learn from short strings that are of the language and others, then judge strings of all
    lengths.

    The edit distance of a string to the language is exact where the language has an automaton;
    elsewhere it is the number of letters that were changed, which is at least the distance.

    Source: Butoi et al. 2024. Published: 10,000 training strings, test lengths up to 500.
    Departures: learners are not chosen by validation, and test lengths are equally spaced.

    Parameters
    ----------
    sequences:
        Training strings.
    upto:
        Largest length in the test.
    asked:
        Test strings, half of them of the language.
    """

    sequences: int = parameter(2000, at_least=1)
    upto: int = parameter(200, at_least=2, at_most=2000)
    asked: int = parameter(600, at_least=2)

    measures: ClassVar[tuple[str, ...]] = ("recognition",)
    family: ClassVar[str] = "grammar"
    question: ClassVar[str] = "Does it accept what is of the language, and nothing else?"
    headline: ClassVar[str] = "beyond-accuracy"
    columns: ClassVar[tuple[str, ...]] = (
        "beyond-accuracy",
        "within-accuracy",
        "members-accepted",
        "near-misses-rejected",
        "others-rejected",
    )
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"sequences": 10_000, "upto": 500, "asked": 5000}
    }

    def unfit(self, task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can. Raises UsageError where no
        length is left to ask about.
        """
        if not isinstance(task, Recognition):
            return f"{task.id} has no strings to accept or reject"
        if self.upto <= task.longest:
            raise UsageError(
                f"{task.id}: upto={self.upto} asks about nothing longer than the {task.longest}"
                " letters that are shown; give a greater upto, or the task a smaller longest"
            )
        return ""

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `recognition`: length, member, distance and right of every
        test string.
        """
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        pace = pace_of(learner)
        parts = [_drawn(task, stream, self.sequences, self.asked, self.upto) for stream in streams]
        orders = [stream.order(self.sequences, pace.passes) for stream in streams]
        lesson = Lesson([shown for shown, _ in parts], np.stack(orders))
        exam = Exam([task.examples(strings) for _, strings in parts])
        steps = max(part.steps for part in (*lesson.examples, *exam.examples))
        brief = Brief(*spaces_of(task), "cross-entropy", steps, lesson.items)
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
            "exact_distances": task.known.automaton is not None,
        }
        traces = [
            Trace(
                "recognition", _by_string(task, exam, sitting.marks[-1], lane, strings), facts, cost
            )
            for lane, ((_, strings), cost) in enumerate(zip(parts, sitting.costs, strict=True))
        ]
        return Examination(traces, sitting.pupil, brief, sitting.last)


def _by_string(
    task: Recognition,
    exam: Exam,
    right: NDArray[np.bool_],
    lane: int,
    strings: Sequence[Judged],
) -> dict[str, NDArray[Any]]:
    """What each string is, and whether it was judged rightly. distance: 0 for those of the
    language, -1 where it is not known.
    """
    columns = exam.found[lane][:, 1]
    good = np.zeros(len(strings), np.bool_)
    good[columns] = right[lane, : len(columns)]
    if (automaton := task.known.automaton) is not None:
        distance = automaton.distances([one.string for one in strings])
    else:
        distance = np.array([one.edits for one in strings])
    return {
        "length": np.array([len(one.string) for one in strings]),
        "member": np.array([one.member for one in strings]),
        "distance": distance,
        "right": good,
    }


@lru_cache(maxsize=8)
def _drawn(
    task: Any, streams: Streams, count: int, asked: int, upto: int
) -> tuple[Examples, list[Judged]]:
    """Shown and asked about. Kept, since the next learner of the same repetition gets the same."""
    return (
        task.sample(streams.numpy("data"), count),
        task.of_each_length(streams.numpy("test"), asked, upto),
    )
