"""An exam as a core reads it: in groups of sequences that are about equally long, or too large to be held at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from quickstudy.base.examples import Examples
from quickstudy.base.lesson import Exam
from quickstudy.learners.batching import GroupedExam, Lengths, grouped_exam, needed_steps, padded_lanes
from quickstudy.learners.features import KEPT
from quickstudy.learners.lanes import rounded

PACKED_TOGETHER, PADDED_TOGETHER = 48, 16
"""Sequences of an exam that are read side by side, by a core that takes any length and by one that does not: enough
for fast products, few enough to be about equally long."""


def is_large(exam: Exam, width: int, outputs: int) -> bool:
    """Whether what is held at once is more than a lane may: copies of the inputs, features of a group, and by example
    and question its place, copied, and the scores.
    """

    def held(lane: Examples) -> Any:
        asked = lane.count * int(lane.asked.sum(axis=0).max(initial=0))
        return 4 * (lane.inputs.nbytes + PACKED_TOGETHER * lane.steps * width + asked * (outputs + 4))

    return bool(max(map(held, exam.examples)) > KEPT)


def exam_for(core: Any, exam: Exam) -> tuple[GroupedExam, tuple[int, ...] | None]:
    """The exam; for a core that does not take any length, with the lengths that its groups may have."""
    leaks, stops = core.leaks, core.stops
    lanes = padded_lanes(exam.examples, leaks, stops)
    if hasattr(core, "unroll_packed"):
        needed = [needed_steps(lane) for lane in lanes]
        if len(lanes) > 1:
            return grouped_exam(lanes, needed, PACKED_TOGETHER), None
        # No step is made that is not needed: exams of about the same size share a program.
        roomy = [lanes[0].padded(rounded(lanes[0].steps, 0))]
        return grouped_exam(roomy, needed, PACKED_TOGETHER, 0), None
    needed = [lane.lengths + 1 if leaks else needed_steps(lane) for lane in lanes]
    together = PADDED_TOGETHER
    if stops:
        grouped = grouped_exam(lanes, needed, PACKED_TOGETHER, 0)
        return grouped._replace(steps=np.zeros(len(grouped.steps), np.int32)), (lanes[0].steps,)
    if hasattr(core, "unroll_at"):  # more sequences, for no more memory than all their steps would take
        most = max(int(lane.asked.sum(axis=0).max()) for lane in lanes)
        together = min(PACKED_TOGETHER, together * lanes[0].steps // most)
    grouped = grouped_exam(lanes, needed, together)
    lengths = Lengths.fitted(grouped.steps[:, 0].astype(np.int64), lanes[0].steps)
    return grouped._replace(steps=lengths.chosen), lengths.allowed
