"""How sequences are examined whose answer hangs on a few early steps: learn many, then answer fresh
ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, finite, pace_of
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.stated import UNSTATED, TaskFacts, stated
from quickstudy.base.task import ExampleTask, spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.protocols.examination import Examination, sit


@protocol("long-memory", version=1)
@dataclass(frozen=True)
class LongMemoryProtocol:
    """Learn from sequences in random order, choose settings on others, answer fresh ones.

    The state is reset for each sequence, without a washout.

    Source: Jaeger 2012; the numbers of sequences are ours.

    Parameters
    ----------
    sequences:
        Training sequences.
    validation:
        Validation sequences.
    test:
        Test sequences.
    """

    sequences: int = parameter(1000, at_least=8)
    validation: int = parameter(200, at_least=0)
    test: int = parameter(500, at_least=1)

    measures: ClassVar[tuple[str, ...]] = ("failures",)
    family: ClassVar[str] = "dynamics"
    question: ClassVar[str] = "What can its memory hold for long?"
    headline: ClassVar[str] = "failure-rate"
    columns: ClassVar[tuple[str, ...]] = ("failure-rate", "sequence-nrmse")
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @staticmethod
    def unfit(task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        if (
            isinstance(task, ExampleTask)
            and not isinstance(spaces_of(task)[1], Tokens)
            and stated(task, TaskFacts).tolerance is not UNSTATED
        ):
            return ""
        return f"long-memory asks for real numbers at the end of sequences, and {task.id} does not"

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `sequences`: answer and target (sequence, question,
        width).
        """
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        pace = pace_of(learner)
        parts = [
            _drawn(task, stream, (self.sequences, self.validation, self.test)) for stream in streams
        ]
        orders = [stream.order(self.sequences, pace.passes) for stream in streams]
        held_back = [lane[1] for lane in parts] if self.validation else None
        lesson = Lesson([lane[0] for lane in parts], np.stack(orders), validation=held_back)
        exam = Exam([lane[2] for lane in parts])
        brief = Brief(
            *spaces_of(task), "squared", max(lane[0].steps for lane in parts), lesson.items
        )
        points = [lesson.items // pace.stride * pace.stride]
        sitting = sit(learner, brief, streams, lesson, points, exam, np.asarray, unfinished)
        finite("the learner's answers", sitting.marks)
        shape = self.test, -1, spaces_of(task)[1].width
        facts = {
            "passes": pace.passes,
            "training_sequences": self.sequences,
            "tolerance": task.tolerance,
        }
        facts |= {**dict(task.taxonomy), "varies": ["inputs", "order", "weights"]}
        traces = [
            Trace(
                "sequences",
                {
                    "answer": np.asarray(sitting.marks[-1, lane], np.float64).reshape(shape),
                    "target": exam.targets[lane].reshape(shape),
                },
                facts,
                cost,
            )
            for lane, cost in enumerate(sitting.costs)
        ]
        return Examination(traces, sitting.pupil, brief, sitting.last)


@lru_cache(maxsize=8)
def _drawn(task: Any, streams: Streams, counts: tuple[int, ...]) -> list[Examples]:
    """Kept, since the next learner of the same repetition gets the same. Each part from a stream of
    its own.
    """
    names = ("data", "validation", "test")
    return [
        task.sample(streams.numpy(name), max(count, 1))
        for name, count in zip(names, counts, strict=True)
    ]
