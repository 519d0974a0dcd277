"""What a learner promises that learns from examples and answers questions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Answering, HostLearner, face
from quickstudy.base.spaces import Tokens, check_distributions, check_scale
from quickstudy.testing.check_result import Broken, Finding, Promise, check_equal
from quickstudy.testing.fixtures import CheckMaterial, Examinee

GAIN = 0.15
"""What true answers must give above shuffled ones, in accuracy or in variance explained: three
standard errors of about 200 questions.
"""

LEARNS, LEARNS_NOTHING = "learns from targets", "learns from nothing"


class AnsweringChecks:
    """The checks of one learner. What `answers` finds first, the others compare with. raised: it
    came to no answer.

    Raises NotApplicable for a learner that cannot be asked.
    """

    doors = 1
    raised = False

    def __init__(self, examinee: Examinee, material: CheckMaterial) -> None:
        self.examinee = examinee
        self.material = material
        self._fingerprint = self._arrays()
        face(self.begin(), Answering)
        for shield in examinee.shields:
            face(shield.host, HostLearner)

    def promises(self) -> list[Promise]:
        """The table; without the last promise, which is `learns`."""
        return [
            ("answers in the right shape, all finite", self._answers),
            ("same seed, same answers", self._same_answers),
            ("does not look ahead", self._no_look_ahead),
            ("answers each example by itself", self._each_by_itself),
            ("learns the same in two calls as in one", self._two_calls),
            ("does not change its inputs", self._inputs_unchanged),
            ("counts what it was shown", self._cost),
            ("declares how its scores are to be read", self._scale),
        ]

    def _answers(self) -> None:
        try:
            self.pupil = self.trained(self.material.lesson)
            self.scores = self.answered(self.pupil, self.material.exam)
        except LearnerFault as fault:
            raise Broken(str(fault)) from fault
        except Exception:
            self.raised = True
            raise
        wanted = (1, self.material.exam.counted.shape[1], self.material.brief.outputs.width)
        if self.scores.shape != wanted:
            raise Broken(
                f"scores must be (lanes, questions, outputs) = {wanted}, got {self.scores.shape}"
            )
        if not np.isfinite(self.scores).all():
            raise Broken("some scores are not finite")

    def _same_answers(self) -> None:
        if not np.array_equal(self.answered(self.pupil, self.material.exam), self.scores):
            raise Broken("the same questions twice give two answers")
        again = self.answered(self.trained(self.material.lesson), self.material.exam)
        check_equal(
            again, self.scores, 0.0, "a second learner of the same seed answers differently"
        )

    def _no_look_ahead(self) -> None:
        rng = self.material.streams.numpy("check")
        for _ in range(3):
            exam, early = self.material.disturbed(rng)
            scores = self.answered(self.pupil, exam)
            complaint = "answers change when only what comes after the question does"
            check_equal(scores[:, early], self.scores[:, early], self.examinee.tolerance, complaint)

    def _each_by_itself(self) -> None:
        exam, places = self.material.reversed()
        scores = self.answered(self.pupil, exam)[:, places]
        complaint = "answers change when the examples of the exam come in another order"
        check_equal(scores, self.scores, self.examinee.tolerance, complaint)

    def _two_calls(self) -> None:
        lesson, exam = self.material.lesson, self.material.exam
        # Early on, when most is still to be learned, a difference shows.
        short = min(6 * self.examinee.stride, lesson.items)
        cut = short // 3
        whole, pieces = self.begin(), self.begin()
        whole.learn(lesson, 0, short)
        pieces.learn(lesson, 0, cut)
        pieces.learn(lesson, cut, short)
        complaint = (
            f"{short} items learned at once, and {cut} and then the rest, teach different things"
        )
        check_equal(self.answered(pieces, exam), self.answered(whole, exam), 0.0, complaint)
        pieces.learn(lesson, short, lesson.items)
        complaint = (
            f"a lesson cut after {cut} and {short} items teaches something else than in one piece"
        )
        check_equal(self.answered(pieces, exam), self.scores, 0.0, complaint)

    def _inputs_unchanged(self) -> None:
        self.examinee.check_unchanged()
        if self._arrays() != self._fingerprint:
            raise Broken("the arrays of the lesson or of the exam were changed; copy them first")

    def _cost(self) -> str:
        (cost,), items = self.pupil.cost(), self.material.lesson.items
        if cost.examples != items:
            raise Broken(f"{items} items were shown, cost().examples is {cost.examples}")
        known = cost.trained_parameters is not None
        count = (
            f"{cost.trained_parameters} trained parameters"
            if known
            else "trained parameters unknown"
        )
        return f"{cost.examples} items, {cost.updates} updates, {count}"

    def _scale(self) -> str:
        try:
            scale = check_scale(getattr(self.pupil, "scale", None), self.material.brief.outputs)
            if scale == "probabilities":
                check_distributions(self.scores)
        except LearnerFault as fault:
            raise Broken(str(fault)) from fault
        return scale

    def learns(self) -> Finding:
        """Whether true answers teach more than shuffled ones. Not a promise of rules, so with two
        names.
        """
        true = self._quality(self.scores)
        told_wrong = self.trained(self.material.shuffled)
        shuffled = self._quality(self.answered(told_wrong, self.material.exam))
        what = (
            "accuracy" if isinstance(self.material.brief.outputs, Tokens) else "variance explained"
        )
        if true - shuffled >= GAIN:
            return Finding(True, LEARNS, f"{what} {true:.2f}, with shuffled labels {shuffled:.2f}")
        relation = "equals" if f"{true:.2f}" == f"{shuffled:.2f}" else "is not clearly below"
        numbers = f"({shuffled:.2f} and {true:.2f})"
        return Finding(
            False,
            LEARNS_NOTHING,
            f"{what} on shuffled labels {relation} {what} on true ones {numbers}",
        )

    def begin(self) -> Any:
        """A fresh pupil of one lane."""
        return self.examinee.learner.begin(
            self.material.brief, [self.material.streams.for_learner()]
        )

    def trained(self, lesson: Lesson) -> Any:
        """One that has learned a lesson."""
        pupil = self.begin()
        pupil.learn(lesson, 0, lesson.items)
        return pupil

    def answered(self, pupil: Any, exam: Exam) -> NDArray[Any]:
        """Its scores, copied when it returned them."""
        return np.array(pupil.answer(exam))

    def _quality(self, scores: NDArray[Any]) -> float:
        exam = self.material.exam
        if isinstance(self.material.brief.outputs, Tokens):
            return float((scores.argmax(axis=-1) == exam.targets)[exam.counted].mean())
        targets = exam.targets[exam.counted]
        return float(1 - np.square(scores[exam.counted] - targets).mean() / targets.var())

    def _arrays(self) -> list[bytes]:
        material = self.material
        owners: tuple[Any, ...] = material.lesson, material.shuffled, material.exam
        examples = [lane for owner in owners for lane in owner.examples]
        arrays = [
            array
            for lane in examples
            for array in (lane.inputs, lane.targets, lane.asked, lane.lengths)
        ]
        return [
            array.tobytes() for array in (*arrays, material.lesson.order, material.shuffled.order)
        ]
