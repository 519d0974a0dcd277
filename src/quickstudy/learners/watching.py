"""A learner from outside, under watch: its data are its own, and in the end it is asked whether it looks ahead."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, QuickstudyError
from quickstudy.base.learner import Brief, Pupil, name_of
from quickstudy.base.lesson import Exam
from quickstudy.base.origin import described
from quickstudy.base.spaces import Space, Tokens
from quickstudy.learners.host import HostPupil

T = TypeVar("T")

SEQUENCES = 4
"""Of how many sequences a host learner is asked again. Others are asked the whole exam: its program is there."""
ROUNDING = 1e-4
"""How much scores may change, of the largest, when inputs change and their number does not: same sums, same bits but
for what a library may do."""
ROUNDING_WHEN_CUT = 0.05
"""The same when inputs are cut off: sums of other lengths, and half precision has three digits."""

NOTHING_FOUND = "nothing found"
UNSTEADY = "cannot be told: asked the same twice, it gives two answers"


class Watched:
    """A pupil, as it is but for this: a lesson or an exam that it is handed is a copy, and `look_ahead` asks it.

    A host's pupil copies what it hands on by itself.
    """

    def __init__(self, pupil: Pupil, brief: Brief, rng: np.random.Generator) -> None:
        self._pupil: Any = pupil
        self._brief, self._rng = brief, rng
        self._hosted = isinstance(pupil, HostPupil)
        self._copies: dict[str, tuple[Any, Any]] = {}
        self._exam: Exam | None = None
        self._inputs: NDArray[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pupil, name)
        return partial(getattr(self, f"_{name}"), found) if name in ("learn", "answer", "states") else found

    @property
    def called(self) -> str:
        """As the pupil is."""
        return name_of(self._pupil)

    def look_ahead(self) -> str:
        """What was found out; nothing if it was never asked anything. Raises LearnerFault if it looks ahead.

        Called when all that counts has been answered: a learner that changes by answering changes no number of its
        run. And it has learned by then: one that answers with symbols may show nothing before.
        """
        try:
            found = [self._of_exam(self._exam)] if self._exam is not None else []
            found += [self._of_states(self._inputs)] if self._inputs is not None else []
        except QuickstudyError:
            raise
        except Exception as error:  # it has done what was asked of it, and cannot do this
            return f"cannot be told: {described(error)}"
        return UNSTEADY if UNSTEADY in found else NOTHING_FOUND if found else ""

    def _learn(self, learn: Callable[..., None], lesson: Any, start: int, stop: int) -> None:
        learn(self._own("lesson", lesson), start, stop)

    def _answer(self, answer: Callable[[Exam], Any], exam: Exam) -> Any:
        self._exam = exam
        return answer(self._own("exam", exam))

    def _states(self, states: Callable[[Any], Any], inputs: NDArray[Any]) -> Any:
        self._inputs = inputs
        return states(inputs if self._hosted else inputs.copy())

    def _own(self, name: str, given: T) -> T:
        if self._hosted:
            return given
        if name not in self._copies or self._copies[name][0] is not given:
            self._copies[name] = given, copy.deepcopy(given)
        return self._copies[name][1]  # type: ignore[no-any-return]

    def _of_exam(self, exam: Exam) -> str:
        exam = Exam([_some(lane) for lane in exam.examples]) if self._hosted else exam

        def asked(other: Exam) -> NDArray[Any]:
            return np.array(self._pupil.answer(copy.deepcopy(other)))

        whole = asked(exam)
        for share in (0.0, 0.5):
            cuts = [_places(lane.asked, share) for lane in exam.examples]
            others = [(disturbed(exam, cuts, self._brief, self._rng), ROUNDING)]
            if self._hosted:
                others.append((_shortened(exam, cuts), ROUNDING_WHEN_CUT))
            for (other, early), rounding in others:
                # Where the other asks less, it asks those up to the cut and nothing else.
                scores = asked(other)[early if other.counted.shape == early.shape else other.counted]
                if _differ(scores, whole[early], rounding):
                    if _differ(asked(exam), whole, ROUNDING):
                        return UNSTEADY
                    raise LearnerFault(
                        "it looks ahead: its answers change when only what comes after the question does"
                    )
        return NOTHING_FOUND

    def _of_states(self, inputs: NDArray[Any]) -> str:
        cut = (len(inputs) + 1) // 2
        # The first half twice: whatever values it takes, it takes these; in another order a mean would be the same.
        other = np.concatenate([inputs[:cut], inputs[: len(inputs) - cut]])
        whole, changed, again = (np.asarray(self._pupil.states(part.copy())) for part in (inputs, other, inputs))
        if not _differ(changed[:, :cut], whole[:, :cut], ROUNDING):
            return NOTHING_FOUND
        if _differ(again, whole, ROUNDING):
            return UNSTEADY
        raise LearnerFault("it looks ahead: its states change when only what comes after them does")


def disturbed(
    exam: Exam, cuts: Sequence[NDArray[np.int64]], brief: Brief, rng: np.random.Generator
) -> tuple[Exam, NDArray[np.bool_]]:
    """The exam with all changed after a step of each example; and (lane, question) those up to there.

    cuts: per lane (example,) steps. Those questions must be answered as before: nothing in front of them is new. The
    answers are changed as well, from the step on, since an exam holds them: a learner may be handed the whole of it.
    """
    lanes = []
    for lane, steps in zip(exam.examples, cuts, strict=True):
        times = np.arange(lane.steps)[:, None]
        inputs = _changed(lane.inputs, times > steps, brief.inputs, rng)
        targets = _changed(lane.targets, times >= steps, brief.outputs, rng)
        lanes.append(replace(lane, inputs=inputs, targets=targets))
    return Exam(lanes), _early(exam, cuts)


def _shortened(exam: Exam, cuts: Sequence[NDArray[np.int64]]) -> tuple[Exam, NDArray[np.bool_]]:
    """The exam that asks nothing after those steps, so that nothing after them is shown."""
    lanes = [
        replace(lane, asked=lane.asked & (np.arange(lane.steps)[:, None] <= steps))
        for lane, steps in zip(exam.examples, cuts, strict=True)
    ]
    return Exam(lanes), _early(exam, cuts)


def _early(exam: Exam, cuts: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    pairs = zip(exam.positions, cuts, strict=True)
    return np.stack([where[:, 0] <= steps[where[:, 1]] for where, steps in pairs]) & exam.counted


def _some(examples: Any) -> Any:
    """A few examples with more than one question, from all over; where there are none, nothing can be seen ahead."""
    several = np.flatnonzero(examples.asked.sum(axis=0) > 1)
    if not len(several):
        return examples.take(np.arange(min(1, examples.count)))
    return examples.take(several[np.unique(np.linspace(0, len(several) - 1, SEQUENCES).astype(int))])


def _places(asked: NDArray[np.bool_], share: float) -> NDArray[np.int64]:
    """(example,): the step of the question that stands at this share of its questions."""
    times = [np.flatnonzero(column) for column in asked.T]
    return np.array([place[int(share * (len(place) - 1))] if len(place) else 0 for place in times])


def _changed(values: NDArray[Any], where: NDArray[np.bool_], space: Space, rng: np.random.Generator) -> NDArray[Any]:
    """Values of a space that differ where they are told to: other symbols; of all else what stands elsewhere."""
    other: NDArray[Any]
    if isinstance(space, Tokens):
        other = (values + rng.integers(1, max(space.size, 2), values.shape)) % space.size
    else:
        steps, examples = values.shape[:2]
        other = values.reshape(steps * examples, -1)[rng.permutation(steps * examples)].reshape(values.shape)
    spread = where.reshape(*where.shape, *[1] * (values.ndim - where.ndim))
    return np.where(spread, other.astype(values.dtype), values)


def _differ(found: NDArray[Any], wanted: NDArray[Any], rounding: float) -> bool:
    largest = float(np.abs(found - wanted).max(initial=0.0))
    return not largest <= rounding * float(np.abs(wanted).max(initial=0.0))
