"""A learner from outside, under watch: its data are its own, and in the end it is asked whether it
looks ahead.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, QuickstudyError
from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Brief, Pupil, name_of
from quickstudy.base.spaces import Space, Tokens
from quickstudy.base.text import described
from quickstudy.learners.host import HostPupil

T = TypeVar("T")
Ask = Callable[[], NDArray[np.float64]]
Alter = Callable[[Exam, Sequence[NDArray[np.int64]]], tuple[Exam, NDArray[np.bool_]]]

SEQUENCES = 4
"""Of how many sequences a host learner is asked again. Others are asked the whole exam: its program
is there.
"""
ROUNDING = 1e-4
"""How much scores may change, of the largest, when inputs change and their number does not: same
sums, same bits but for what a library may do.
"""
ROUNDING_WHEN_CUT = 0.05
"""The same when inputs are cut off: sums of other lengths, and half precision has three digits."""

ASKINGS = 8
"""How often a learner whose answers changed is asked both questions again before they count as
steady: one that guesses between two answers gives four twice alike once in 16 times.

How often an unsteady learner is asked either question. There are 6,435 ways to halve 16 answers,
and only if the two questions part them furthest does it look ahead: with four tests of a run, 6
honest ones in 10,000.
"""
SEQUENCES_WHEN_UNSTEADY = 16
"""Of how many sequences an unsteady host is asked: there is more to see above the noise."""

NOTHING_FOUND = "nothing found"
UNSTEADY = "cannot be told: asked the same twice, it gives two answers"


class Watched:
    """A wrapped pupil: it gets copies of lessons and exams, and `look_ahead` checks it.

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
        return (
            partial(getattr(self, f"_{name}"), found)
            if name in ("learn", "answer", "states")
            else found
        )

    @property
    def called(self) -> str:
        """As the pupil is."""
        return name_of(self._pupil)

    def look_ahead(self) -> str:
        """The result; empty if it was never asked anything. Raises LearnerFault if it
        looks ahead.

        Called when all that counts has been answered: a learner that changes by answering changes
        no number of its run. And it has learned by then: one that answers with symbols may show
        nothing before. One that raises where only what comes after the question is new has looked
        at that.
        """
        try:
            found = [self._of_exam(self._exam)] if self._exam is not None else []
            found += [self._of_states(self._inputs)] if self._inputs is not None else []
        except QuickstudyError:
            raise
        except Exception as error:  # it does not even answer again what it has answered
            return f"cannot be told: {described(error)}"
        return UNSTEADY if UNSTEADY in found else NOTHING_FOUND if found else ""

    def _learn(self, learn: Callable[..., None], lesson: Any, start: int, stop: int) -> None:
        learn(self._own("lesson", lesson), start, stop)

    def _answer(self, answer: Callable[[Exam], Any], exam: Exam) -> Any:
        self._exam = exam
        return answer(self._own("exam", exam))

    def _states(self, states: Callable[..., Any], inputs: NDArray[Any], **apart: bool) -> Any:
        self._inputs = inputs[0] if apart.get("apart") else inputs
        return states(inputs if self._hosted else inputs.copy(), **apart)

    def _own(self, name: str, given: T) -> T:
        if self._hosted:
            return given
        if name not in self._copies or self._copies[name][0] is not given:
            self._copies[name] = given, copy.deepcopy(given)
        return self._copies[name][1]  # type: ignore[no-any-return]

    def _of_exam(self, exam: Exam) -> str:
        alterations: list[tuple[Alter, float]] = [
            (partial(disturbed, brief=self._brief, rng=self._rng), ROUNDING)
        ]
        if self._hosted:
            alterations.append((_shortened, ROUNDING_WHEN_CUT))
        found = [
            self._compared(
                partial(self._questions, exam, share, alter),
                rounding,
                "its answers change when only what comes after the question does",
            )
            for share in (0.0, 0.5)
            for alter, rounding in alterations
        ]
        return UNSTEADY if UNSTEADY in found else NOTHING_FOUND

    def _questions(self, exam: Exam, share: float, alter: Alter, sequences: int) -> tuple[Ask, Ask]:
        """The questions up to this share of all; asked with the original rest, and with an
        altered rest.
        """
        exam = Exam([_some(lane, sequences) for lane in exam.examples]) if self._hosted else exam
        other, early = alter(exam, [_places(lane.asked, share) for lane in exam.examples])
        # Where the other asks less, it asks those up to the cut and nothing else.
        read = early if other.counted.shape == early.shape else other.counted

        def asked(given: Exam, where: NDArray[np.bool_]) -> NDArray[np.float64]:
            return np.array(self._pupil.answer(copy.deepcopy(given)), float)[where]

        return partial(asked, exam, early), partial(asked, other, read)

    def _of_states(self, inputs: NDArray[Any]) -> str:
        cut = (len(inputs) + 1) // 2
        # The first half twice: it accepts these values; in another order a mean
        # would be the same.
        other = np.concatenate([inputs[:cut], inputs[: len(inputs) - cut]])

        def asked(given: NDArray[Any]) -> NDArray[np.float64]:
            return np.array(self._pupil.states(given.copy()), float)[:, :cut]

        return self._compared(
            lambda _: (partial(asked, inputs), partial(asked, other)),
            ROUNDING,
            "its states change when only what comes after them does",
        )

    def _compared(
        self, questions: Callable[[int], tuple[Ask, Ask]], rounding: float, seen: str
    ) -> str:
        """What two questions show that have one answer for who does not look ahead. questions: of
        so many sequences.
        """
        plain, altered = questions(SEQUENCES)
        whole = plain()
        if not _differ(_answered(altered, plain), whole, rounding):
            return NOTHING_FOUND
        steady = all(
            not _differ(plain(), whole, ROUNDING)
            and _differ(_answered(altered, plain), whole, rounding)
            for _ in range(ASKINGS)
        )
        if steady or _apart(*questions(SEQUENCES_WHEN_UNSTEADY), rounding, self._rng):
            raise LearnerFault(f"it looks ahead: {seen}")
        return UNSTEADY


def _answered(altered: Ask, plain: Ask) -> NDArray[np.float64]:
    """The answers to the altered question. Raises LearnerFault where it gives none, and answers the
    plain one.
    """
    try:
        return altered()
    except QuickstudyError:
        raise
    except Exception as error:
        plain()
        raise LearnerFault(
            "it looks ahead: it does not answer when only what comes after the question changes:"
            f" {described(error)}"
        ) from error


def _apart(plain: Ask, altered: Ask, rounding: float, rng: np.random.Generator) -> bool:
    """Whether an unsteady learner's answers to two questions differ by more than its noise.

    Asked in random order, so that drift is no excuse: of all ways to halve the
    answers, the halves that belong to the two questions must have means that are further apart than
    in any other.
    """
    order = rng.permutation(np.repeat([1.0, -1.0], ASKINGS))
    answers = np.stack(
        [(plain() if side > 0 else _answered(altered, plain)).reshape(-1) for side in order]
    )
    if not _differ(answers[order < 0].mean(axis=0), answers[order > 0].mean(axis=0), rounding):
        return False
    centred = answers - answers.mean(axis=0)
    products = centred @ centred.T
    halves = _halves()
    gaps = ((halves @ products) * halves).sum(axis=1)
    return int((gaps >= (1 - 1e-9) * (order @ products @ order)).sum()) == 1


@cache
def _halves() -> NDArray[np.float64]:
    """(way, asking): 1 and -1, every way to halve the askings once."""
    halves = -np.ones((math.comb(2 * ASKINGS - 1, ASKINGS - 1), 2 * ASKINGS))
    for half, others in zip(halves, combinations(range(1, 2 * ASKINGS), ASKINGS - 1), strict=True):
        half[[0, *others]] = 1.0
    return halves


def disturbed(
    exam: Exam, cuts: Sequence[NDArray[np.int64]], brief: Brief, rng: np.random.Generator
) -> tuple[Exam, NDArray[np.bool_]]:
    """The exam with all changed after a step of each example; and (lane, question) those up to
    there.

    cuts: per lane (example,) steps. Those questions must be answered as before: nothing in front of
    them is new. The answers are changed as well, from the step on, since an exam holds them: a
    learner may be handed the whole of it.
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


def _some(examples: Any, sequences: int) -> Any:
    """A few examples with more than one question, from all over; where there are none, nothing can
    be seen ahead.
    """
    several = np.flatnonzero(examples.asked.sum(axis=0) > 1)
    if not len(several):
        return examples.take(np.arange(min(1, examples.count)))
    return examples.take(
        several[np.unique(np.linspace(0, len(several) - 1, sequences).astype(int))]
    )


def _places(asked: NDArray[np.bool_], share: float) -> NDArray[np.int64]:
    """(example,): the step of the question at this share of its questions."""
    times = [np.flatnonzero(column) for column in asked.T]
    return np.array([place[int(share * (len(place) - 1))] if len(place) else 0 for place in times])


def _changed(
    values: NDArray[Any], where: NDArray[np.bool_], space: Space, rng: np.random.Generator
) -> NDArray[Any]:
    """Values of a space that differ at the marked positions: other symbols; for other spaces
    values from other positions.
    """
    other: NDArray[Any]
    if isinstance(space, Tokens):
        other = (values + rng.integers(1, max(space.size, 2), values.shape)) % space.size
    else:
        steps, examples = values.shape[:2]
        other = values.reshape(steps * examples, -1)[rng.permutation(steps * examples)].reshape(
            values.shape
        )
    spread = where.reshape(*where.shape, *[1] * (values.ndim - where.ndim))
    return np.where(spread, other.astype(values.dtype), values)


def _differ(found: NDArray[Any], wanted: NDArray[Any], rounding: float) -> bool:
    largest = float(np.abs(found - wanted).max(initial=0.0))
    return not largest <= rounding * float(np.abs(wanted).max(initial=0.0))
