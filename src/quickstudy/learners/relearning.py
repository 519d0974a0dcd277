"""A learner that keeps nothing: after every so many examples it begins anew. The baseline of keeping."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import learner
from quickstudy.base.learner import Answering, Brief, Cost, Keeping, Learner, Snapshot, face
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.parameters import CONVENTIONS, parameter
from quickstudy.base.seeds import Streams
from quickstudy.learners.wrapping import Wrapping


@learner("relearning", version=1)
@dataclass(frozen=True)
class Relearning(Wrapping):
    """Another learner that begins anew after every so many examples, and so keeps nothing from before.

    learner: the other one, a core with its training, such as recall or esn+rls:units=200. every: examples between two
    beginnings; 960 is what a segment of a stream usually shows. It is not told where a segment ends: it goes by its own
    count. Each time it begins with the same initial weights. convention: of the other learner.

    What it scores in a stream, one that has learned must beat at the end; what it scores within a segment, one to which
    earlier segments are of use must beat there. Source: ours.
    """

    learner: str = "recall"
    every: int = parameter(960, at_least=1)
    convention: str = parameter("corrected", choices=CONVENTIONS)

    programs: ClassVar[int] = 4

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> RelearningPupil:
        """A fresh pupil."""
        return RelearningPupil(self.other, self.every, brief, streams)


class RelearningPupil:
    """Holds the pupil that is learning now, and counts what its predecessors have cost."""

    def __init__(self, other: Learner, every: int, brief: Brief, streams: Sequence[Streams]) -> None:
        self.lanes = len(streams)
        self._every = every
        self._begin: Callable[[], Answering] = lambda: face(other.begin(brief, streams), Answering)
        self._pupil = self._begin()
        self._since = 0
        self._before = np.zeros((self.lanes, 2), dtype=np.int64)

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """In pieces that end where it begins anew."""
        while start < stop:
            if self._since == self._every:
                self._before += self._spent()
                self._pupil, self._since = self._begin(), 0
            end = min(stop, start + self._every - self._since)
            self._pupil.learn(lesson, start, end)
            self._since += end - start
            start = end

    def answer(self, exam: Exam) -> NDArray[Any]:
        """What the pupil of now answers."""
        return self._pupil.answer(exam)

    @property
    def scale(self) -> str:
        """As the other learner."""
        return self._pupil.scale

    def snapshot(self) -> Snapshot:
        """The pupil of now, and the counts, with the lane axis."""
        kept = face(self._pupil, Keeping).snapshot()
        counts = {"since": np.full(self.lanes, self._since), "before": self._before.copy()}
        return Snapshot({**kept.arrays, **counts}, kept.facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        arrays = dict(snapshot.arrays)
        self._since, self._before = int(arrays.pop("since")[0]), arrays.pop("before").copy()
        face(self._pupil, Keeping).restore(Snapshot(arrays, snapshot.facts))

    def cost(self) -> list[Cost]:
        """Examples and updates of all pupils so far, the parameters of one."""
        return [
            dataclasses.replace(cost, examples=cost.examples + int(examples), updates=cost.updates + int(updates))
            for cost, (examples, updates) in zip(self._pupil.cost(), self._before, strict=True)
        ]

    def _spent(self) -> NDArray[np.int64]:
        return np.array([(cost.examples, cost.updates) for cost in self._pupil.cost()])
