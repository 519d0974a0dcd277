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
from quickstudy.base.task import spaces_of


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
        """`sequences` examples to learn from, `passes` times over, and a third as many to be tested on."""
        streams = Streams(seed, getattr(task, "id", type(task).__name__), 0)
        train = task.sample(streams.numpy("data"), sequences)
        test = task.sample(streams.numpy("split"), max(8, sequences // 3))
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
        """The exam with every token changed after a random question of each example, and the questions up to there.

        Those questions must be answered as before: nothing in front of them is new.
        """
        test = self.exam.examples[0]
        cuts = np.array([rng.choice(np.flatnonzero(asked)) for asked in test.asked.T])
        late = np.arange(test.steps)[:, None] > cuts
        positions = self.exam.positions[0]
        early = positions[:, 0] <= cuts[positions[:, 1]]
        return Exam([replace(test, inputs=np.where(_spread(late, test.inputs), self._other(rng), test.inputs))]), early

    def _other(self, rng: np.random.Generator) -> NDArray[Any]:
        """Inputs that differ from the exam's everywhere."""
        inputs = self.exam.examples[0].inputs
        if isinstance(self.brief.inputs, Tokens):
            size = self.brief.inputs.size
            return np.asarray((inputs + rng.integers(1, max(size, 2), inputs.shape)) % size, inputs.dtype)
        return np.asarray(inputs + rng.normal(size=inputs.shape), inputs.dtype)

    def reversed(self) -> tuple[Exam, NDArray[np.int64]]:
        """The exam with its examples in reverse order, and where each of its questions stands there."""
        test = self.exam.examples[0]
        exam = Exam([test.take(np.arange(test.count)[::-1]).padded(test.steps)])
        positions = exam.positions[0].copy()
        positions[:, 1] = test.count - 1 - positions[:, 1]
        return exam, np.lexsort((positions[:, 0], positions[:, 1]))


def _spread(mask: NDArray[np.bool_], like: NDArray[Any]) -> NDArray[np.bool_]:
    return mask.reshape(*mask.shape, *[1] * (like.ndim - mask.ndim))


def _with_shuffled_answers(examples: Examples, rng: np.random.Generator) -> Examples:
    targets = examples.targets.copy()
    targets[examples.asked] = rng.permutation(targets[examples.asked])
    return replace(examples, targets=targets)
