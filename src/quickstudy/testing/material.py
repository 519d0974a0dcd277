"""What learners are checked with: a lesson, the same lesson with shuffled answers, and an exam in several versions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.learner import Brief
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import ExampleTask, spaces_of
from quickstudy.learners.watching import disturbed


@dataclass(frozen=True)
class Material:
    """All that a check needs of a task, drawn from one set of streams."""

    streams: Streams
    brief: Brief
    lesson: Lesson
    shuffled: Lesson
    exam: Exam

    @classmethod
    def of(cls, task: Any, passes: int, sequences: int, seed: int) -> Material:
        """`sequences` examples to learn from, `passes` times over, and a third as many to be tested on.

        Of a series, the part for training is one example, and that for the test another.
        """
        streams = Streams(seed, getattr(task, "id", type(task).__name__), 0)
        if isinstance(task, ExampleTask):
            train = task.sample(streams.numpy("data"), sequences)
            test = task.sample(streams.numpy("split"), max(8, sequences // 3))
        else:
            series = task.drive(streams.numpy("data"))
            train, test = series.part("training"), series.part("test")
        rng = streams.numpy("order")
        order = np.concatenate([rng.permutation(train.count) for _ in range(passes)])[None]
        inputs, outputs = spaces_of(task)
        loss = "cross-entropy" if isinstance(outputs, Tokens) else "squared"
        return cls(
            streams,
            Brief(inputs, outputs, loss, train.steps, order.shape[1]),
            Lesson([train], order),
            Lesson([_with_shuffled_answers(train, rng)], order),
            Exam([test]),
        )

    def disturbed(self, rng: np.random.Generator) -> tuple[Exam, NDArray[np.bool_]]:
        """The exam with all changed from the answer of a random question of each example on; the questions up to
        there.
        """
        cuts = np.array([rng.choice(np.flatnonzero(asked)) for asked in self.exam.examples[0].asked.T])
        exam, early = disturbed(self.exam, [cuts], self.brief, rng)
        return exam, early[0]

    def reversed(self) -> tuple[Exam, NDArray[np.int64]]:
        """The exam with its examples in reverse order, and where each of its questions stands there."""
        test = self.exam.examples[0]
        exam = Exam([test.take(np.arange(test.count)[::-1]).padded(test.steps)])
        positions = exam.positions[0].copy()
        positions[:, 1] = test.count - 1 - positions[:, 1]
        return exam, np.lexsort((positions[:, 0], positions[:, 1]))


def _with_shuffled_answers(examples: Examples, rng: np.random.Generator) -> Examples:
    targets = examples.targets.copy()
    targets[examples.asked] = rng.permutation(targets[examples.asked])
    return replace(examples, targets=targets)
