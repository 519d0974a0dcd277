"""What every learner promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import canonical
from quickstudy.base.errors import LearnerFault
from quickstudy.base.learner import Learner, Snapshot, check_distributions, check_scale, pace_of
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.parameters import configure
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import asked_of
from quickstudy.learners.host import Hosted
from quickstudy.learners.naming import Choice, choose_learner
from quickstudy.testing.finding import Broken, Finding, describe, examine
from quickstudy.testing.global_state import undisturbed
from quickstudy.testing.material import Material
from quickstudy.testing.partners import Partners
from quickstudy.testing.shield import Shield
from quickstudy.testing.tasks import report_touched

ROUNDING = 1e-6
"""Scores of a compiled learner may differ by this much, relative to the largest, where nothing has changed."""

GAIN = 0.15
"""Accuracy that true answers must give above shuffled ones: three standard errors of about 200 questions."""

LEARNS, LEARNS_NOTHING = "learns from what it is told", "learns from nothing"


def check_learner(learner: Any, task: Any = None, sequences: int = 200, seed: int = 0) -> list[Finding]:
    """One finding per promise of a learner.

    learner: a name as on the command line, a `Choice`, a learner with `begin`, or a host class made by make(brief,
    seed). task: what it is checked on; a small one of our own unless given, on which everything that learns should
    learn something. sequences: how many examples it is shown. Rules that never learn break the last promise, rightly.
    """
    task = Partners() if task is None else task
    with undisturbed() as watch:
        try:
            examinee = _Examinee.of(learner, task)
            material = Material.of(task, pace_of(examinee.learner).passes, sequences, seed)
        except Exception as error:  # a user's code, a user's task
            return [Finding(False, "can be made", describe(error))]
        checks = _Checks(examinee, material)
        findings = [examine("answers in the right shape, all finite", checks.answers)]
        if findings[-1].ok:
            findings += [
                examine("same seed, same answers", checks.same_answers),
                examine("does not look ahead", checks.no_look_ahead),
                examine("answers each example by itself", checks.each_by_itself),
                examine("learns the same in two calls as in one", checks.two_calls),
                examine("does not change its inputs", checks.inputs_unchanged),
                examine("counts what it was shown", checks.cost),
                examine("says how its scores are to be read", checks.scale),
            ]
            if checks.offers_snapshots:
                findings.append(examine("comes back from a snapshot", checks.snapshot))
        findings.append(examine("touches no global randomness", lambda: report_touched(watch.touched)))
        if findings[0].ok and isinstance(material.brief.outputs, Tokens):
            findings.append(checks.learns())
    return findings


@dataclass(frozen=True)
class _Examinee:
    """A learner, the tolerance for its answers, and the glass in front of it if it is a host learner."""

    learner: Learner
    tolerance: float
    shields: list[Shield]

    @classmethod
    def of(cls, learner: Any, task: Any) -> _Examinee:
        choice = choose_learner(learner, "corrected", task, asked_of(task)) if isinstance(learner, str) else learner
        made: Any = choice.make(task) if isinstance(choice, Choice) else choice
        shields: list[Shield] = []
        if not isinstance(made, Hosted) and callable(getattr(made, "begin", None)):
            return cls(configure(made.__name__, made, {}) if isinstance(made, type) else made, ROUNDING, shields)
        make, declared = (made.make, made.declared) if isinstance(made, Hosted) else (made, made)

        def shielded(brief: Any, seed: int) -> Any:
            shields.append(Shield(make(brief, seed)))
            return shields[-1]

        return cls(Hosted(shielded, declared), 0.0, shields)


class _Checks:
    """The checks of one learner. What `answers` finds first, the others compare with."""

    def __init__(self, examinee: _Examinee, material: Material) -> None:
        self._examinee = examinee
        self._material = material
        self._batch = pace_of(examinee.learner).stride
        self._fingerprint = self._arrays()

    def answers(self) -> None:
        try:
            self._pupil = self._trained(self._material.lesson)
            self._scores = self._answers(self._pupil, self._material.exam)
        except LearnerFault as fault:
            raise Broken(str(fault)) from fault
        wanted = (1, self._material.exam.counted.shape[1], self._material.brief.outputs.width)
        if self._scores.shape != wanted:
            raise Broken(f"scores must be (lanes, questions, outputs) = {wanted}, got {self._scores.shape}")
        if not np.isfinite(self._scores).all():
            raise Broken("some scores are not finite")

    def same_answers(self) -> None:
        if not np.array_equal(self._answers(self._pupil, self._material.exam), self._scores):
            raise Broken("the same questions twice give two answers")
        again = self._answers(self._trained(self._material.lesson), self._material.exam)
        self._compare(again, self._scores, 0.0, "a second learner of the same seed answers differently")

    def no_look_ahead(self) -> None:
        rng = self._material.streams.numpy("check")
        for _ in range(3):
            exam, early = self._material.disturbed(rng)
            scores = self._answers(self._pupil, exam)
            complaint = "answers change when only what comes after the question does"
            self._compare(scores[:, early], self._scores[:, early], self._examinee.tolerance, complaint)

    def each_by_itself(self) -> None:
        exam, places = self._material.reversed()
        scores = self._answers(self._pupil, exam)[:, places]
        complaint = "answers change when the examples of the exam come in another order"
        self._compare(scores, self._scores, self._examinee.tolerance, complaint)

    def two_calls(self) -> None:
        lesson, exam = self._material.lesson, self._material.exam
        # Early on, when most is still to be learned, a difference shows.
        short = min(6 * self._batch, lesson.items)
        cut = short // 3
        whole, pieces = self._begin(), self._begin()
        whole.learn(lesson, 0, short)
        pieces.learn(lesson, 0, cut)
        pieces.learn(lesson, cut, short)
        complaint = f"{short} items learned at once, and {cut} and then the rest, teach different things"
        self._compare(self._answers(pieces, exam), self._answers(whole, exam), 0.0, complaint)
        pieces.learn(lesson, short, lesson.items)
        complaint = f"a lesson cut after {cut} and {short} items teaches something else than in one piece"
        self._compare(self._answers(pieces, exam), self._scores, 0.0, complaint)

    def inputs_unchanged(self) -> None:
        changed = sorted({shield.changed for shield in self._examinee.shields} - {""})
        if changed:
            raise Broken(f"{' and '.join(changed)} wrote into the arrays handed in; copy them first")
        if self._arrays() != self._fingerprint:
            raise Broken("the arrays of the lesson or of the exam were changed; copy them first")

    def cost(self) -> str:
        (cost,), items = self._pupil.cost(), self._material.lesson.items
        if cost.examples != items:
            raise Broken(f"{items} items were shown, cost().examples says {cost.examples}")
        return f"{cost.examples} items, {cost.updates} updates, {cost.trained_parameters} trained parameters"

    def scale(self) -> str:
        try:
            scale = check_scale(getattr(self._pupil, "scale", None), self._material.brief.outputs)
            if scale == "probabilities":
                check_distributions(self._scores)
        except LearnerFault as fault:
            raise Broken(str(fault)) from fault
        return scale

    @property
    def offers_snapshots(self) -> bool:
        """Snapshots are optional."""
        return all(callable(getattr(self._pupil, face, None)) for face in ("snapshot", "restore"))

    def snapshot(self) -> None:
        lesson, exam = self._material.lesson, self._material.exam
        early = min(self._batch, lesson.items)
        pupil = self._begin()
        pupil.learn(lesson, 0, early)
        before, kept = self._answers(pupil, exam), _stored(pupil.snapshot())
        pupil.learn(lesson, early, lesson.items)
        pupil.restore(kept)
        self._compare(self._answers(pupil, exam), before, 0.0, "restored, it answers otherwise than at the snapshot")
        fresh = self._begin()
        fresh.restore(kept)
        fresh.learn(lesson, early, lesson.items)
        answers = self._answers(fresh, exam)
        self._compare(answers, self._scores, 0.0, "another learner that is restored and goes on ends elsewhere")

    def learns(self) -> Finding:
        true = self._accuracy(self._scores)
        told_wrong = self._trained(self._material.shuffled)
        shuffled = self._accuracy(self._answers(told_wrong, self._material.exam))
        if true - shuffled >= GAIN:
            return Finding(True, LEARNS, f"accuracy {true:.2f}, with shuffled labels {shuffled:.2f}")
        relation = "equals" if f"{true:.2f}" == f"{shuffled:.2f}" else "is not clearly below"
        numbers = f"({shuffled:.2f} and {true:.2f})"
        return Finding(False, LEARNS_NOTHING, f"accuracy on shuffled labels {relation} accuracy on true ones {numbers}")

    def _begin(self) -> Any:
        return self._examinee.learner.begin(self._material.brief, [self._material.streams.for_learner()])

    def _trained(self, lesson: Lesson) -> Any:
        pupil = self._begin()
        pupil.learn(lesson, 0, lesson.items)
        return pupil

    def _answers(self, pupil: Any, exam: Exam) -> NDArray[Any]:
        return np.array(pupil.answer(exam))

    def _compare(self, found: NDArray[Any], wanted: NDArray[Any], tolerance: float, complaint: str) -> None:
        if found.shape != wanted.shape:
            raise Broken(f"{complaint} (shapes {found.shape} and {wanted.shape})")
        largest = float(np.abs(found - wanted).max(initial=0.0))
        if not largest <= tolerance * max(1.0, float(np.abs(wanted).max(initial=0.0))):
            raise Broken(f"{complaint} (by up to {largest:.3g})")

    def _accuracy(self, scores: NDArray[Any]) -> float:
        exam = self._material.exam
        return float((scores.argmax(axis=-1) == exam.targets)[exam.counted].mean())

    def _arrays(self) -> list[bytes]:
        material = self._material
        owners: tuple[Any, ...] = material.lesson, material.shuffled, material.exam
        examples = [lane for owner in owners for lane in owner.examples]
        arrays = [array for lane in examples for array in (lane.inputs, lane.targets, lane.asked, lane.lengths)]
        return [array.tobytes() for array in (*arrays, material.lesson.order, material.shuffled.order)]


def _stored(snapshot: Snapshot) -> Snapshot:
    """The snapshot as it would come back from a file: copies of plain arrays, facts in JSON."""
    arrays = {str(name): np.array(array) for name, array in snapshot.arrays.items()}
    strange = [name for name, array in arrays.items() if array.dtype.hasobject]
    if strange:
        raise Broken(f"{strange[0]} holds Python objects; a snapshot is named arrays of numbers")
    canonical(snapshot.facts)
    return Snapshot(arrays, dict(snapshot.facts))
