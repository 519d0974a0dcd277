"""An exam as a core reads it: in groups of sequences that are about equally long, or too large to
be held at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam
from quickstudy.jax_gateway import handed_over
from quickstudy.learners.batching import Lengths, asked_steps, needed_steps, padded_lanes
from quickstudy.learners.features import KEPT
from quickstudy.learners.lanes import rounded

PACKED_TOGETHER, PADDED_TOGETHER = 48, 16
"""Sequences of an exam that are read side by side, by a core that takes any length and by one that
does not: enough for fast products, few enough to be about equally long.
"""


def is_large(exam: Exam, width: int, outputs: int) -> bool:
    """Whether what is held at once is more than a lane may: copies of the inputs, features of a
    group, and by example and question its place, copied, and the scores.
    """

    def held(lane: Examples) -> Any:
        asked = lane.count * int(lane.asked.sum(axis=0).max(initial=0))
        return 4 * (
            lane.inputs.nbytes + PACKED_TOGETHER * lane.steps * width + asked * (outputs + 4)
        )

    return bool(max(map(held, exam.examples)) > KEPT)


class GroupedExam(NamedTuple):
    """An exam in groups of sequences that are about equally long, the longest first.

    inputs: (lane, group, T, rows, ...). asked: (lane, group, rows, Q), the steps of every
    sequence's questions, 0 in the padding. steps: (group, 1), of the longest in any lane. found:
    (lane, question), where each question stands among all of `asked` (group * rows * Q), 0 in the
    padding.
    """

    inputs: Any
    asked: Any
    steps: NDArray[np.int32]
    found: NDArray[np.int64]


def grouped_exam(
    lanes: Sequence[Examples], needed: Sequence[NDArray[np.int64]], together: int, fineness: int = 3
) -> GroupedExam:
    """Groups of at most `together` sequences, each of which needs so many of its steps. Lanes are
    equally long.

    fineness: of rounding the questions of a sequence.
    """
    most = max(lane.count for lane in lanes)
    rows = min(together, rounded(most, 2))
    groups = rounded(-(-most // rows), 2)
    tables = [asked_steps(lane, fineness) for lane in lanes]
    width = max(table.shape[1] for table, _ in tables)
    questions = max(lane.questions for lane in lanes)
    inputs, asked, found, steps = [], [], [], np.zeros((groups, 1), np.int32)
    for lane, wanted, (table, there) in zip(lanes, needed, tables, strict=True):
        order = np.argsort(-wanted, kind="stable")
        longest = wanted[order[::rows]]
        steps[: len(longest), 0] = np.maximum(steps[: len(longest), 0], longest)
        sorted_inputs = np.zeros(
            (lane.steps, groups * rows, *lane.inputs.shape[2:]), lane.inputs.dtype
        )
        sorted_inputs[:, : lane.count] = lane.inputs[:, order]
        inputs.append(
            np.moveaxis(
                sorted_inputs.reshape(lane.steps, groups, rows, *lane.inputs.shape[2:]), 1, 0
            )
        )
        sorted_asked = np.zeros((groups * rows, width), np.int32)
        sorted_asked[: lane.count, : table.shape[1]] = table[order]
        asked.append(sorted_asked.reshape(groups, rows, width))
        example, number = np.nonzero(there)
        found.append(
            np.pad(np.argsort(order)[example] * width + number, (0, questions - lane.questions))
        )
    given, places = handed_over((np.stack(inputs), np.stack(asked)))
    return GroupedExam(given, places, steps, np.stack(found))


def exam_for(core: Any, exam: Exam) -> tuple[GroupedExam, tuple[int, ...] | None]:
    """The exam; for a core that does not take any length, with the lengths that its groups may
    have.
    """
    can = core.capabilities
    leaks, stops = can.leaks, can.stops
    lanes = padded_lanes(exam.examples, leaks, stops)
    if can.packs:
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
    if can.selects:  # more sequences, for no more memory than all their steps would take
        most = max(int(lane.asked.sum(axis=0).max()) for lane in lanes)
        together = min(PACKED_TOGETHER, together * lanes[0].steps // most)
    grouped = grouped_exam(lanes, needed, together)
    lengths = Lengths.fitted(grouped.steps[:, 0].astype(np.int64), lanes[0].steps)
    return grouped._replace(steps=lengths.chosen), lengths.allowed
