"""What a learner promises that answers and also steps, shows its states, or can be kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import canonical
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Snapshot
from quickstudy.testing.answering import AnsweringChecks
from quickstudy.testing.check_result import Broken, Promise, check_equal

ROWS, STEPS = 5, 24

STEPPED = 2e-5
"""Scores of a step may differ from those of `answer` by this much, relative to the largest: another
program.
"""

FACES = {
    "answers": ("learn", "answer"),
    "steps": ("start", "step", "rows"),
    "shows": ("states",),
    "keeps": ("snapshot", "restore"),
    "acts": ("act",),
    "rehearses": ("rehearse", "perform"),
}
"""What a pupil can do, and the methods by which it does."""


def faces_of(pupil: Any) -> list[str]:
    """Which of them a pupil offers."""
    return [
        name
        for name, methods in FACES.items()
        if all(callable(getattr(pupil, each, None)) for each in methods)
    ]


class FaceChecks:
    """The checks of the further faces of a learner that has answered, on how the longest of its
    exam begin.
    """

    def __init__(self, answering: AnsweringChecks) -> None:
        self._class = answering
        whole = answering.material.exam.examples[0]
        test = whole.take(np.argsort(-whole.lengths, kind="stable")[:ROWS])
        steps = min(STEPS, test.steps)
        lengths = np.minimum(test.lengths, steps)
        everywhere = np.arange(steps)[:, None] < lengths
        self._examples = Examples(test.inputs[:steps], test.targets[:steps], everywhere, lengths)
        self._inputs = self._examples.inputs

    def tables(self) -> list[list[Promise]]:
        """A table for each of the faces that there are. To be asked for when the learner has
        answered.
        """
        tables: dict[str, list[Promise]] = {
            "steps": [
                ("steps to the answers that it gives", self._steps),
                ("goes on from a state as often as it likes", self._goes_on),
                ("picks rows of a state", self._rows),
            ],
            "shows": [
                ("shows a state for every step, all finite", self._shows),
                ("learns nothing by being looked at", self._looked_at),
                ("its states do not look ahead", self._states_ahead),
            ],
            "keeps": [("comes back from a snapshot", self._snapshot)],
        }
        return [tables[name] for name in faces_of(self._class.pupil) if name in tables]

    def _steps(self) -> None:
        pupil, exam = self._class.pupil, Exam([self._examples])
        wanted = self._class.answered(pupil, exam)
        times, rows = exam.positions[0].T
        scores = self._stepped(pupil.start(self._examples.count, len(self._inputs)), self._inputs)[
            1
        ]
        complaint = "the output at a step is not the answer there"
        check_equal(scores[:, times, rows], wanted, STEPPED, complaint)
        check_equal(
            self._class.answered(pupil, exam), wanted, 0.0, "stepping has changed the answers"
        )

    def _goes_on(self) -> None:
        half = len(self._inputs) // 2
        state, _ = self._stepped(
            self._class.pupil.start(self._examples.count, len(self._inputs)), self._inputs[:half]
        )
        one, other = self._inputs[half:], self._inputs[half:][::-1]
        once, _, again = (self._stepped(state, inputs)[1] for inputs in (one, other, one))
        complaint = (
            "two continuations of one state differ; do not change the state that is passed in"
        )
        check_equal(again, once, 0.0, complaint)

    def _rows(self) -> None:
        numbers = np.array([self._examples.count - 1, 0, 0])
        half, pupil = len(self._inputs) // 2, self._class.pupil
        state, _ = self._stepped(
            pupil.start(self._examples.count, len(self._inputs)), self._inputs[:half]
        )
        picked = self._stepped(pupil.rows(state, numbers), self._inputs[half:][:, numbers])[1]
        alone = self._stepped(
            pupil.start(len(numbers), len(self._inputs)), self._inputs[:, numbers]
        )[1][:, half:]
        complaint = f"rows {numbers.tolist()} of a state go on otherwise than the same read alone"
        check_equal(picked, alone, STEPPED, complaint)

    def _shows(self) -> str:
        states = self._states(self._inputs)
        wanted = (1, *self._inputs.shape[:2])
        if states.ndim != 4 or states.shape[:3] != wanted:
            raise Broken(
                f"states must be (lane, time, example, feature) = {(*wanted, '...')}, got"
                f" {states.shape}"
            )
        if not np.isfinite(states).all():
            raise Broken("some states are not finite")
        return f"{states.shape[3]} numbers"

    def _looked_at(self) -> None:
        once, again = (self._states(self._inputs) for _ in range(2))
        check_equal(again, once, 0.0, "the same inputs twice show two states")
        after = self._class.answered(self._class.pupil, self._class.material.exam)
        check_equal(
            after, self._class.scores, 0.0, "answers are others since its states were looked at"
        )

    def _states_ahead(self) -> None:
        whole, cut = self._states(self._inputs), len(self._inputs) // 2
        later = np.concatenate([self._inputs[:cut], self._inputs[cut:][::-1]])
        complaint = f"inputs from step {cut} on changed, and so did states before"
        check_equal(
            self._states(later)[:, :cut], whole[:, :cut], self._class.examinee.tolerance, complaint
        )

    def _snapshot(self) -> None:
        lesson, exam = self._class.material.lesson, self._class.material.exam
        early = min(self._class.examinee.stride, lesson.items)
        pupil = self._class.begin()
        pupil.learn(lesson, 0, early)
        before, kept = self._class.answered(pupil, exam), stored(pupil.snapshot())
        pupil.learn(lesson, early, lesson.items)
        pupil.restore(kept)
        complaint = "restored, it answers otherwise than at the snapshot"
        check_equal(self._class.answered(pupil, exam), before, 0.0, complaint)
        fresh = self._class.begin()
        fresh.restore(kept)
        fresh.learn(lesson, early, lesson.items)
        complaint = "another learner that is restored and goes on ends elsewhere"
        check_equal(self._class.answered(fresh, exam), self._class.scores, 0.0, complaint)
        # A run that is interrupted between the last lesson and the test answers without learning.
        ended, fresh = stored(fresh.snapshot()), self._class.begin()
        fresh.restore(ended)
        complaint = "another learner that is restored at the end answers differently"
        check_equal(self._class.answered(fresh, exam), self._class.scores, 0.0, complaint)

    def _stepped(self, state: Any, inputs: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        """The state after some steps, and (lane, time, row, width) scores; after none the
        unchanged state.
        """
        said = []
        for now in inputs:
            state, scores = self._class.pupil.step(state, now[None])
            said.append(np.array(scores))
        return state, np.stack(said, axis=1) if said else np.zeros((1, 0))

    def _states(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.array(self._class.pupil.states(inputs.copy()))


def stored(snapshot: Snapshot) -> Snapshot:
    """The snapshot as it would come back from a file: copies of plain arrays, facts in JSON."""
    arrays = {str(name): np.array(array) for name, array in snapshot.arrays.items()}
    strange = [name for name, array in arrays.items() if array.dtype.hasobject]
    if strange:
        raise Broken(f"{strange[0]} holds Python objects; a snapshot is named arrays of numbers")
    canonical(snapshot.facts)
    return Snapshot(arrays, dict(snapshot.facts))
