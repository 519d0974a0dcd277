"""Learners that hold another: one that restarts after every so many examples, the baseline of
retention; and one that is tested on inputs with false answers in them, which one that does not look
ahead cannot notice.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import (
    Answering,
    Brief,
    Cost,
    Keeping,
    Learner,
    Pace,
    Snapshot,
    face,
    pace_of,
)
from quickstudy.base.parameters import CONVENTIONS, HANDED_ON, parameter
from quickstudy.base.registries import learner
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens, check_spaces
from quickstudy.cores.core import ABSENT
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.resolved_learner import Choice


class Wrapping:
    """A learner around another, a core with its training. A frozen dataclass with `learner` and
    `convention`.
    """

    learner: str
    convention: str
    id: ClassVar[str]

    compiled: ClassVar[bool] = True
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = HANDED_ON

    asked: ClassVar[str] = "symbols"
    """The kind of output, also of the inner learner; not a parameter: it follows from task and
    protocol.
    """

    def __post_init__(self) -> None:
        self._choice  # noqa: B018  # a learner that does not exist is reported now

    def asked_for(self, asked: str) -> Self:
        """The same around the learner that is usual for what is asked."""
        twin = copy.copy(self)
        for kept in ("other", "_choice"):
            vars(twin).pop(kept, None)
        vars(twin)["asked"] = asked
        return twin

    @property
    def pace(self) -> Pace:
        """As the other learner, but always by whole examples."""
        return dataclasses.replace(pace_of(self.other), by_question=False)

    @property
    def most_lanes(self) -> int:
        """As the other learner."""
        return self._choice.most_lanes

    @cached_property
    def other(self) -> Learner:
        """The learner within."""
        return self._choice.make(None)

    @property
    def within(self) -> Mapping[str, Any]:
        """What the learner within is, its version and all its parameters: another one makes another
        learner.
        """
        return self._choice.what

    @cached_property
    def _choice(self) -> Choice:
        choice = choose_learner(self.learner, self.convention, asked=self.asked)
        if not choice.compiled or choice.what["id"] == self.id:
            raise UsageError(
                f"{self.id}: learner must be a core with its training, such as esn, got"
                f" {self.learner}"
            )
        return choice


class WrappingPupil:
    """As the pupil that it holds, but for what a subclass does otherwise."""

    def __init__(self, pupil: Answering) -> None:
        self.lanes, self._pupil = pupil.lanes, pupil

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """As the other one."""
        self._pupil.learn(lesson, start, stop)

    def answer(self, exam: Exam) -> NDArray[Any]:
        """As the other one."""
        return self._pupil.answer(exam)

    @property
    def scale(self) -> str:
        """As the other one."""
        return self._pupil.scale

    def snapshot(self) -> Snapshot:
        """The other one."""
        return face(self._pupil, Keeping).snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        face(self._pupil, Keeping).restore(snapshot)

    def cost(self) -> Sequence[Cost]:
        """Of the other one."""
        return self._pupil.cost()


@learner("relearning", version=1)
@dataclass(frozen=True)
class Relearning(Wrapping):
    """Another learner that is reset after a fixed number of examples: a baseline for continual
    learning.

    It is not told where a segment ends. Each time it starts from the same initial weights. At the
    end of a stream a learner that keeps what it learned must score above it; within a segment, a
    learner that profits from earlier segments must.

    Source: ours.

    Parameters
    ----------
    learner:
        The other learner, such as recall or esn+rls:units=200.
    every:
        Examples between two resets; 960 is the usual length of a segment.
    convention:
        Convention of the other learner.
    """

    learner: str = "recall"
    every: int = parameter(960, at_least=1)
    convention: str = parameter("corrected", choices=CONVENTIONS)

    programs: ClassVar[int] = 4

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> RelearningPupil:
        """A fresh pupil."""
        return RelearningPupil(self.other, self.every, brief, streams)


class RelearningPupil(WrappingPupil):
    """Holds the pupil that is learning now, and counts what its predecessors have cost."""

    def __init__(
        self, other: Learner, every: int, brief: Brief, streams: Sequence[Streams]
    ) -> None:
        self._begin: Callable[[], Answering] = lambda: face(other.begin(brief, streams), Answering)
        super().__init__(self._begin())
        self._every, self._since = every, 0
        self._before = np.zeros((self.lanes, 2), dtype=np.int64)

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """In pieces that end where it restarts."""
        while start < stop:
            if self._since == self._every:
                self._before += np.array(
                    [(cost.examples, cost.updates) for cost in self._pupil.cost()]
                )
                self._pupil, self._since = self._begin(), 0
            end = min(stop, start + self._every - self._since)
            self._pupil.learn(lesson, start, end)
            self._since += end - start
            start = end

    def snapshot(self) -> Snapshot:
        """The pupil of now, and the counts, with the lane axis."""
        kept = super().snapshot()
        counts = {"since": np.full(self.lanes, self._since), "before": self._before.copy()}
        return Snapshot({**kept.arrays, **counts}, kept.facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        arrays = dict(snapshot.arrays)
        self._since, self._before = int(arrays.pop("since")[0]), arrays.pop("before").copy()
        super().restore(Snapshot(arrays, snapshot.facts))

    def cost(self) -> list[Cost]:
        """Examples and updates of all pupils so far, the parameters of one."""
        return [
            dataclasses.replace(
                cost, examples=cost.examples + int(examples), updates=cost.updates + int(updates)
            )
            for cost, (examples, updates) in zip(self._pupil.cost(), self._before, strict=True)
        ]


@learner("tampered", version=1)
@dataclass(frozen=True)
class Tampered(Wrapping):
    """Another learner, tested on sequences whose answers are altered: shows whether it reads the
    answer.

    The answer comes after its question, so that a learner that reads only what comes before has the
    same score as without tampering. One that reads answers off its inputs drops. Answers are marked
    against the true ones. Only an answer that ends its sequence is altered: any other is a
    legitimate input of later questions.

    Source: ours.

    Parameters
    ----------
    learner:
        The other learner, such as transformer:causal=no.
    how:
        `exchange` replaces each answer by the next of those that occur (YES and NO are swapped);
        `blank` removes it.
    convention:
        Convention of the other learner.
    """

    learner: str = "transformer"
    how: str = parameter("exchange", choices=("exchange", "blank"))
    convention: str = parameter("corrected", choices=CONVENTIONS)

    programs: ClassVar[int] = 2
    reads: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> TamperedPupil:
        """A fresh pupil. Raises NotApplicable for anything but symbols: no other answers can be
        exchanged.
        """
        check_spaces("tampered", self, brief.inputs, brief.outputs)
        return TamperedPupil(face(self.other.begin(brief, streams), Answering), self.how)


class TamperedPupil(WrappingPupil):
    """Learns as the pupil that it holds, and hands it false exams."""

    def __init__(self, pupil: Answering, how: str) -> None:
        super().__init__(pupil)
        self._how = how
        self._exam: tuple[Exam, Exam] | None = None

    def answer(self, exam: Exam) -> NDArray[Any]:
        """What the other one answers when the answers in its inputs are false."""
        if self._exam is None or self._exam[0] is not exam:
            self._exam = exam, Exam([tampered(lane, self._how) for lane in exam.examples])
        return super().answer(self._exam[1])


def tampered(examples: Examples, how: str) -> Examples:
    """The examples with another last token, or none, wherever the last token is an answer."""
    place = examples.lengths - 1, np.arange(examples.count)
    true, asked = examples.targets[place], examples.asked[place]
    known = np.unique(true[asked])
    targets, false = examples.targets.copy(), true.copy()
    false[asked] = (
        ABSENT if how == "blank" else np.roll(known, -1)[np.searchsorted(known, true[asked])]
    )
    targets[place] = false
    return dataclasses.replace(examples, targets=targets)
