"""What the tracer bullets share: one repetition's streams, and a^n b^n as a task from outside the
package.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Lesson
from quickstudy.base.learner import Brief, pace_of
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of


@dataclass(frozen=True)
class Counting:
    """a^n b^n between two `#`, n geometric. Every token is asked for in training, only the certain
    ones in a test.
    """

    stop: float = 0.3
    vocabulary: ClassVar[tuple[str, ...]] = ("#", "a", "b")

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        strings = [self.string(n) for n in rng.geometric(self.stop, count)]
        return Examples.from_sequences(strings, [range(1, len(string)) for string in strings])

    def beyond(self, counts: Iterable[int]) -> Examples:
        """The strings of these n, asked from the token after the first b (so n questions) to the
        final `#`.
        """
        counts = list(counts)
        return Examples.from_sequences(
            [self.string(n) for n in counts], [range(n + 2, 2 * n + 2) for n in counts]
        )

    @staticmethod
    def string(n: int) -> list[int]:
        return [0, *[1] * n, *[2] * n, 0]


@pytest.fixture(scope="session")
def counting() -> Counting:
    return Counting()


@pytest.fixture(scope="session")
def streams() -> Streams:
    return Streams(0, "tracer", 0)


@pytest.fixture(scope="session")
def taught() -> Any:
    """A function that begins a pupil of one lane, lets it learn all of some examples, and gives
    it.
    """

    def teach(learner: Any, task: Any, examples: Examples, streams: Streams) -> Any:
        passes = pace_of(learner).passes
        orders = [
            streams.numpy(f"order-{number}").permutation(examples.count) for number in range(passes)
        ]
        lesson = Lesson([examples], np.concatenate(orders)[None])
        inputs, outputs = spaces_of(task)
        loss = "squared" if np.issubdtype(examples.targets.dtype, np.floating) else "cross-entropy"
        pupil = learner.begin(Brief(inputs, outputs, loss, examples.steps, lesson.items), [streams])
        pupil.learn(lesson, 0, lesson.items)
        return pupil

    return teach
