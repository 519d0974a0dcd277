"""Several tasks as one: a common vocabulary, and streams whose task or difficulty changes while a learner learns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base import catalogue
from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import configure, parameters_of, parse_assignments
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

    @property
    def id(self) -> str:
        """The task's own."""
        return str(self.task.id)

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
    """A part of a stream: the task that is learned in it, its share of the whole (shares add up to 1), its name."""

    task: Translated
    share: float
    label: str


class Stream(ABC):
    """Segments one after the other, seen as a task: whatever is drawn from it may come from any segment.

    A stream that is learned from in the order of its segments is the business of the protocol `continual`.
    """

    @property
    @abstractmethod
    def segments(self) -> tuple[Segment, ...]:
        """The parts in their order."""

    @cached_property
    def tasks(self) -> tuple[Any, ...]:
        """The tasks of the segments, each in its own vocabulary."""
        return tuple(segment.task.task for segment in self.segments)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words of all segments; a token's id is its position."""
        return self.segments[0].task.vocabulary

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences, each of a segment that is as likely as its share is large."""
        ends = np.cumsum([segment.share for segment in self.segments])[:-1]
        drawn = []
        for _ in range(count):
            # One by one, so that the draws do not depend on how they are grouped.
            part = self.segments[int(np.searchsorted(ends, rng.random(), side="right"))]
            drawn.append(part.task.sample(rng, 1))
        return Examples.joined(drawn)

    def check(self, tokens: Any) -> Verdict:
        """What the tasks of the segments say; see `members_verdict`."""
        return judge(tokens, self.vocabulary, lambda words: members_verdict(words, self.tasks))


def named_task(text: str, convention: str) -> Any:
    """A language task from its name without `language/`, with parameters after colons if need be.

    >>> named_task("periodic:longest=3:length=20", "corrected")
    Periodic(shortest=1, longest=3, length=20)
    """
    name, *given = text.split(":")
    id = f"language/{name}"
    return configure(id, catalogue.task.get(id), parse_assignments(",".join(given)), convention)


def members_verdict(words: list[str], tasks: Sequence[Any]) -> Verdict:
    """The verdict of the task that finds a sequence right, with the masks of all that do; otherwise of the first that
    finds it well formed, or of the first.
    """
    verdicts: list[Verdict] = [task.check(words) for task in tasks]
    best = max(verdicts, key=lambda found: (found.right, found.well_formed))
    masks = dict.fromkeys(mask for found in verdicts if found.right for mask in found.masks)
    return replace(best, masks=tuple(masks) or best.masks)


def common_vocabulary(tasks: Sequence[Any]) -> tuple[str, ...]:
    """All words of all tasks, in the order in which they first come. UsageError for a task that has no words."""
    for task in tasks:
        if not hasattr(task, "vocabulary"):
            raise UsageError(f"{task.id} has no vocabulary; only tasks that read and answer words can be put together")
    return tuple(dict.fromkeys(word for task in tasks for word in task.vocabulary))


def chained(
    tasks: Sequence[Any], weights: Sequence[float] | None = None, labels: Sequence[str] | None = None
) -> tuple[Segment, ...]:
    """One task after the other in one vocabulary.

    weights: how long each lasts; without them, all last as long. labels: how the segments are called; without them, by
    the ids of their tasks.
    """
    if not tasks:
        raise UsageError("a stream needs at least 1 task, got none")
    weights = [1.0] * len(tasks) if weights is None else list(weights)
    if len(weights) != len(tasks):
        raise UsageError(f"there must be one weight for each of {len(tasks)} tasks, got {len(weights)}")
    # The negation makes nan fail as well.
    if not all(0 < weight < float("inf") for weight in weights):
        raise UsageError(f"weights must be above 0 and finite, got {', '.join(map(str, weights))}")
    words = common_vocabulary(tasks)
    names = [task.id for task in tasks] if labels is None else labels
    return tuple(
        Segment(Translated(task, words), weight / sum(weights), name)
        for task, weight, name in zip(tasks, weights, names, strict=True)
    )


def growing(
    task: Any,
    steps: Sequence[Mapping[str, Any]],
    weights: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> tuple[Segment, ...]:
    """One task that changes: each step gives the parameters that differ from the task's own, as text or values.

    `growing(periodic, [{"longest": 3}, {"longest": 6}, {}])` asks for longer and longer periods.
    """
    changed = [configure(task.id, type(task), {**parameters_of(task), **step}) for step in steps]
    return chained(changed, weights, labels)
