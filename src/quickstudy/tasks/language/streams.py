"""Several tasks as one: a common vocabulary, and streams whose task or difficulty changes while a learner learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import configure, parameters_of
from quickstudy.tasks.language.checking import Verdict, judge


@dataclass(frozen=True)
class Translated:
    """A task in a larger vocabulary: the same sequences of words, with the ids that the words have there."""

    task: Any
    vocabulary: tuple[str, ...]

    def __post_init__(self) -> None:
        missing = [word for word in self.task.vocabulary if word not in self.vocabulary]
        if missing:
            raise UsageError(f'"{missing[0]}", a word of {self.task.id}, is missing in the common vocabulary')

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """What the task itself gives, translated."""
        examples: Examples = self.task.sample(rng, count)
        ids = np.array([self.vocabulary.index(word) for word in self.task.vocabulary], dtype=examples.inputs.dtype)
        inside = np.arange(examples.steps)[:, None] < examples.lengths
        inputs, targets = (np.where(inside, ids[tokens], 0) for tokens in (examples.inputs, examples.targets))
        return replace(examples, inputs=inputs, targets=targets)

    def check(self, tokens: Any) -> Verdict:
        """What the task itself says of the same words."""
        return judge(tokens, self.vocabulary, self.task.check)


class Segment(NamedTuple):
    """A part of a stream: the task that is learned in it, and its share of the whole; shares add up to 1."""

    task: Translated
    share: float


def common_vocabulary(tasks: Sequence[Any]) -> tuple[str, ...]:
    """All words of all tasks, in the order in which they first come."""
    return tuple(dict.fromkeys(word for task in tasks for word in task.vocabulary))


def chained(tasks: Sequence[Any], weights: Sequence[float] | None = None) -> tuple[Segment, ...]:
    """One task after the other in one vocabulary. weights: how long each lasts; without them, all last as long."""
    if not tasks:
        raise UsageError("a stream needs at least 1 task, got none")
    weights = [1.0] * len(tasks) if weights is None else list(weights)
    if len(weights) != len(tasks):
        raise UsageError(f"there must be one weight for each of {len(tasks)} tasks, got {len(weights)}")
    # The negation makes nan fail as well.
    if not all(0 < weight < float("inf") for weight in weights):
        raise UsageError(f"weights must be above 0 and finite, got {', '.join(map(str, weights))}")
    words = common_vocabulary(tasks)
    return tuple(
        Segment(Translated(task, words), weight / sum(weights)) for task, weight in zip(tasks, weights, strict=True)
    )


def growing(
    task: Any, steps: Sequence[Mapping[str, Any]], weights: Sequence[float] | None = None
) -> tuple[Segment, ...]:
    """One task that changes: each step gives the parameters that differ from the task's own, as text or values.

    `growing(periodic, [{"longest": 3}, {"longest": 6}, {}])` asks for longer and longer periods.
    """
    changed = [configure(task.id, type(task), {**parameters_of(task), **step}) for step in steps]
    return chained(changed, weights)
