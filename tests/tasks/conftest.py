from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.spaces import Tokens


@pytest.fixture(scope="session")
def make_task() -> Callable[..., Any]:
    def make(id: str, convention: str = "corrected", **given: Any) -> Any:
        return configure(id, registries.task.get(id), given, convention)

    return make


@pytest.fixture(scope="session")
def make_control() -> Callable[..., Any]:
    def make(name: str, task: Any, seed: int = 0) -> Any:
        size = Tokens(len(task.vocabulary))
        return registries.control.get(name)(
            task, Brief(size, size, "cross-entropy", 100, 1000), seed
        )

    return make


@pytest.fixture(scope="session")
def accuracy(make_control: Callable[..., Any]) -> Callable[..., float]:
    """Share of right answers of a control that has first been shown `shown`, or the same
    examples.
    """

    def measure(name: str, task: Any, examples: Any, seed: int = 0, shown: Any = None) -> float:
        learner = make_control(name, task, seed)
        lesson = examples if shown is None else shown
        targets = np.where(lesson.asked, lesson.targets, -1)
        for index, length in enumerate(lesson.lengths):
            learner.learn(lesson.inputs[:length, index], targets[:length, index])
        right = 0
        for index, length in enumerate(examples.lengths):
            answers = learner.predict(examples.inputs[:length, index])
            asked = examples.asked[:length, index]
            right += int((answers == examples.targets[:length, index])[asked].sum())
        return right / examples.questions

    return measure
