"""Learners that answer, most of them with one fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.learners.host import HostPupil


class Table:
    """An honest learner: remembers which answer followed a token last, and says it."""

    def __init__(self, brief: Brief, seed: int) -> None:
        self._table = np.random.default_rng(seed).integers(
            brief.outputs.width, size=brief.inputs.width
        )

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        for token, answer in zip(inputs, targets, strict=True):
            if answer >= 0:
                self._table[token] = answer

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._table[inputs])


class Peeker(Table):
    """Reads the answer off the next input where there is one."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.append(inputs[1:], super().predict(inputs)[-1:])


class GlobalSeeder(Table):
    """Seeds NumPy's shared generator: its own answers are repeatable, and everybody else's numbers
    change.
    """

    def __init__(self, brief: Brief, seed: int) -> None:
        np.random.seed(seed)  # noqa: NPY002  # the fault
        super().__init__(brief, seed)


class Guesser(Table):
    """Guesses from a generator of its own that nobody seeded."""

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self._rng = np.random.default_rng()
        self._width = brief.outputs.width

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return self._rng.integers(self._width, size=len(inputs))


class Scribbler(Table):
    """Uses the array it was handed as scratch paper."""

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        super().learn(inputs, targets)
        targets[:] = -1


class WrongShape(Table):
    """Gives one answer for a whole sequence."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return super().predict(inputs)[-1:]


class NotFinite(Table):
    """Has diverged."""

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self._width = brief.outputs.width

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.full((len(inputs), self._width), np.nan)


class CarriesOver(Table):
    """Does not start afresh with a sequence: answers by the last token of the sequence before."""

    _last = 0

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The table's answers for the inputs shifted by one, across sequences."""
        shifted = np.append(self._last, inputs[:-1])
        self._last = int(inputs[-1])
        return super().predict(shifted)


class _HastyPupil(HostPupil):
    """Learns from the first item of every call."""

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        super().learn(lesson, start, min(stop, start + 1))
        self._shown += max(0, stop - start - 1)


@dataclass(frozen=True)
class Hasty:
    """Learns the more, the more often a lesson is interrupted."""

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        return _HastyPupil(Table(brief, streams[0].integer("host")), brief)


class _CribbingPupil(HostPupil):
    """Reads the answers out of the exam."""

    def answer(self, exam: Exam) -> NDArray[np.float64]:
        return np.asarray(np.eye(self._brief.outputs.width)[exam.targets])


@dataclass(frozen=True)
class Cribber:
    """A learner that is handed the whole exam and looks at the back."""

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        return _CribbingPupil(Table(brief, streams[0].integer("host")), brief)


class LastAnswer:
    """Answers what it was last told: a rule, not a model."""

    def __init__(self, brief: Brief, seed: int) -> None:
        self._answer = 0

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        self._answer = int(targets[-1])

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.full(len(inputs), self._answer)
