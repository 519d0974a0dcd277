"""What was answered in the last test, question by question, as arrays of a trace: kept where it is asked for.

Measures do not read these arrays, and they are no part of a run's identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.lesson import Exam

MOST = 1_000_000
"""Questions of a test whose answers are kept, from the first on, and numbers of its inputs, or else none of them."""

ANSWERS = "answers"
"""The fact of a trace that says how many answers it has."""


@dataclass(frozen=True)
class Answered:
    """One question of the last test. sequence: number of the test sequence; time: the row after which it was asked;
    read: the inputs up to there, None where they were too many to keep; answer and target: symbols, or rows of real
    numbers.
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
    """The arrays of one lane, one row per question: `last_answer` (the symbol of the largest score, or the values
    themselves), `last_target`, `last_sequence`, `last_time`; and `last_inputs` (time, sequence, ...).
    """
    there = np.flatnonzero(exam.counted[lane])[:MOST]
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
    if examples.inputs.size <= MOST:
        arrays["last_inputs"] = examples.inputs
    return arrays


def answered(arrays: Mapping[str, NDArray[Any]]) -> list[Answered]:
    """The questions of a trace's arrays, in the order of the test. Raises QuickstudyError if they were not kept."""
    if "last_answer" not in arrays:
        raise QuickstudyError("the run has no answers; run it again into another folder, with answers kept")
    inputs = arrays.get("last_inputs")
    columns = [arrays[f"last_{name}"].tolist() for name in ("sequence", "time", "answer", "target")]
    return [
        Answered(sequence, time, None if inputs is None else inputs[: time + 1, sequence], answer, target)
        for sequence, time, answer, target in zip(*columns, strict=True)
    ]
