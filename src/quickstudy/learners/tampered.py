"""A learner that is tested on inputs with false answers in them: one that does not look ahead cannot notice."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import learner
from quickstudy.base.examples import Examples
from quickstudy.base.learner import Answering, Brief, Cost, Keeping, Snapshot, face
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.parameters import CONVENTIONS, parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens, check_spaces
from quickstudy.cores.core import ABSENT
from quickstudy.learners.wrapping import Wrapping


@learner("tampered", version=1)
@dataclass(frozen=True)
class Tampered(Wrapping):
    """Another learner, trained as ever, that is tested on sequences whose answers have been tampered with.

    learner: the other one, a core with its training, such as transformer:causal=false. how: `exchange` puts another
    answer in the place of each (the next of those that occur, the first after the last: YES and NO change places),
    `blank` takes it away. Answers are marked against the true ones. Only an answer that ends its sequence is tampered
    with: any other is an honest input to later questions. convention: of the other learner.

    The answer to a question comes after it, so a learner that reads only what comes before scores the same as
    untampered. One that reads answers off its inputs falls: with answers exchanged to what false answers are worth,
    with answers taken away to what it has learned apart from reading them. Source: ours.
    """

    learner: str = "transformer"
    how: str = parameter("exchange", choices=("exchange", "blank"))
    convention: str = parameter("corrected", choices=CONVENTIONS)

    programs: ClassVar[int] = 2
    reads: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> TamperedPupil:
        """A fresh pupil. Raises NotApplicable for anything but symbols: no other answers can be exchanged."""
        check_spaces("tampered", self, brief.inputs, brief.outputs)
        return TamperedPupil(face(self.other.begin(brief, streams), Answering), self.how)


class TamperedPupil:
    """Learns as the pupil that it holds, and hands it false exams."""

    def __init__(self, pupil: Answering, how: str) -> None:
        self.lanes = pupil.lanes
        self._pupil = pupil
        self._how = how
        self._exam: tuple[Exam, Exam] | None = None

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """As the other one."""
        self._pupil.learn(lesson, start, stop)

    def answer(self, exam: Exam) -> NDArray[Any]:
        """What the other one answers when the answers in its inputs are false."""
        if self._exam is None or self._exam[0] is not exam:
            self._exam = exam, Exam([tampered(lane, self._how) for lane in exam.examples])
        return self._pupil.answer(self._exam[1])

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


def tampered(examples: Examples, how: str) -> Examples:
    """The examples with another last token, or none, wherever the last token is an answer."""
    place = examples.lengths - 1, np.arange(examples.count)
    true, asked = examples.targets[place], examples.asked[place]
    known = np.unique(true[asked])
    targets, false = examples.targets.copy(), true.copy()
    false[asked] = ABSENT if how == "blank" else np.roll(known, -1)[np.searchsorted(known, true[asked])]
    targets[place] = false
    return dataclasses.replace(examples, targets=targets)
