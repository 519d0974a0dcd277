"""Everything that happened in one run, raw: the trace, what an unfinished run has so far, and every
answer of the last test where it is asked for. Measures do not read these answers, and they are not
part of a run's identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Cost, Snapshot

MOST_ANSWERS = 1_000_000
"""Questions of a test whose answers are kept, from the first on, and numbers of its inputs, or else
none of them.
"""
ANSWERS = "answers"
"""The fact of a trace with the number of its answers."""


@dataclass(frozen=True)
class Trace:
    """What a protocol logs and a measure reads; nothing in it is derived.

    kind: what the arrays mean (`learning-curve`, `string-outcomes`, `predictions`, `transcript`);
    arrays: by name; facts: plain values a measure may need (unit of the steps, number of classes,
    best constant answer ...). A report reads three of them: `remarks` are sentences that it prints
    under the scores of the task; `ceilings` gives, by score or pattern, the largest value that
    could be measured, and a run that reaches it is shown as "≥"; `titles` gives a score another
    heading on this task.
    """

    kind: str
    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True)
class SoFar:
    """What an examination has so far: the present state of the pupil, and, in arrays by name and
    plain facts, all that the protocol needs besides to go on as if nothing had happened.
    """

    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any]
    pupil: Snapshot


class Unfinished:
    """Where a protocol stores checkpoints. This base class stores nothing and finds nothing.

    A protocol whose `examine` takes it as `unfinished` looks at `found` when it begins, and calls
    `hand_in` wherever it could go on from; where it cannot use what is found, it shows so by
    setting `found` to None. A protocol that does not take it restarts after an interruption. keeps:
    whether checkpoints are stored at all.
    """

    found: SoFar | None = None
    keeps: bool = False

    def hand_in(self, so_far: Callable[[], SoFar]) -> None:
        """Keep what there is so far, if it is time to: only then is it asked for. Never raises an
        Exception.
        """


@dataclass(frozen=True)
class Answered:
    """One question of the last test. sequence: number of the test sequence; time: the row after
    which it was asked; read: the inputs up to there, None where they were too many to keep; answer
    and target: symbols, or rows of real numbers.
    """

    sequence: int
    time: int
    read: NDArray[Any] | None
    answer: Any
    target: Any

    @property
    def right(self) -> bool:
        """Whether the answer is the target. Of real numbers hardly ever."""
        return bool(np.all(self.answer == self.target))


def answer_arrays(exam: Exam, scores: Any, lane: int) -> dict[str, NDArray[Any]]:
    """The arrays of one lane, one row per question: `last_answer` (the symbol of the largest score,
    or the values themselves), `last_target`, `last_sequence`, `last_time`; and `last_inputs` (time,
    sequence, ...).
    """
    there = np.flatnonzero(exam.counted[lane])[:MOST_ANSWERS]
    targets, examples = exam.targets[lane][there], exam.examples[lane]
    given = np.asarray(scores[lane])[there]
    symbols = np.issubdtype(targets.dtype, np.integer)
    times, sequences = exam.positions[lane][there].T
    arrays = {
        "last_answer": given.argmax(axis=-1).astype(np.int32) if symbols else given,
        "last_target": targets,
        "last_sequence": sequences.astype(np.int32),
        "last_time": times.astype(np.int32),
    }
    if examples.inputs.size <= MOST_ANSWERS:
        arrays["last_inputs"] = examples.inputs
    return arrays


def answered(arrays: Mapping[str, NDArray[Any]]) -> list[Answered]:
    """The questions of a trace's arrays, in the order of the test. Raises QuickstudyError if they
    were not kept.
    """
    if "last_answer" not in arrays:
        raise QuickstudyError(
            "the run has no answers; run it again into another folder, with answers kept"
        )
    inputs = arrays.get("last_inputs")
    columns = [arrays[f"last_{name}"].tolist() for name in ("sequence", "time", "answer", "target")]
    return [
        Answered(
            sequence, time, None if inputs is None else inputs[: time + 1, sequence], answer, target
        )
        for sequence, time, answer, target in zip(*columns, strict=True)
    ]
