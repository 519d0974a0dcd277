"""Tasks that change while a learner learns: one after the other, or one that becomes harder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from quickstudy.base import parameters
from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import CONVENTIONS, HANDED_ON, configure, parameter, parameters_of
from quickstudy.base.registries import task
from quickstudy.tasks.language.checking import Verdict, judge
from quickstudy.tasks.language.mixed import (
    Translated,
    common_vocabulary,
    members_verdict,
    named_task,
)


class Segment(NamedTuple):
    """A part of a continual task: what is learned in it, its share of the whole (shares add up to
    1), its name.
    """

    task: Translated
    share: float
    label: str


class ContinualTask(ABC):
    """Segments one after the other, seen as a task: samples may come from any
    segment.

    That it is learned from in the order of its segments is the business of the protocol
    `continual`.
    """

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = HANDED_ON

    def __post_init__(self) -> None:
        self.segments  # noqa: B018  # impossible segments are reported now

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
        """`count` independent sequences, each of a segment that is as likely as its share is
        large.
        """
        ends = np.cumsum([segment.share for segment in self.segments])[:-1]
        # One by one, so that the draws do not depend on how they are grouped.
        places = (int(np.searchsorted(ends, rng.random(), side="right")) for _ in range(count))
        return Examples.joined([self.segments[place].task.sample(rng, 1) for place in places])

    def check(self, tokens: Any) -> Verdict:
        """What the tasks of the segments say; see `members_verdict`."""
        return judge(tokens, self.vocabulary, lambda words: members_verdict(words, self.tasks))


def chained(
    tasks: Sequence[Any],
    weights: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> tuple[Segment, ...]:
    """One task after the other in one vocabulary.

    weights: how long each lasts; without them, all last as long. labels: how the segments are
    called; without them, by the ids of their tasks.
    """
    if not tasks:
        raise UsageError("a stream needs at least 1 task, got none")
    weights = [1.0] * len(tasks) if weights is None else list(weights)
    if len(weights) != len(tasks):
        raise UsageError(
            f"there must be one weight for each of {len(tasks)} tasks, got {len(weights)}"
        )
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
    """One task that changes: each step gives the parameters that differ from the task's own, as
    text or values.

    `growing(periodic, [{"longest": 3}, {"longest": 6}, {}])` asks for longer and longer periods.
    """
    changed = [configure(task.id, type(task), {**parameters_of(task), **step}) for step in steps]
    return chained(changed, weights, labels)


@task(
    "continual/chained",
    version=1,
    controls=["majority", "copy-last", "best-rule"],
    oracle="mixed-oracle",
)
@dataclass(frozen=True)
class Chained(ContinualTask):
    """Learn one task after the other, and still know the first ones at the end.

    Sees: sequences of the first member, then of the second, and so on. The vocabulary is that of
        all members from the start, in the order in which their words first come; nothing but the
        words shows where a member begins or ends. A member may come again: periodic/qa/periodic.
    Answers: what the member asks for.
    Scored: by the protocol `continual`, on held-out sequences of every member all along the stream.
        Drawn from by itself (`sample`), it gives sequences of any member, as likely as the member's
        weight is large.
    Chance: depends on the members; the controls are the most frequent answer, the token just read,
        and the members' own controls (`best-rule`).
    Ceiling: as for `language/mixed` of the same members.
    Example: members=periodic/qa, `0 1 0 1 0 1 ...` many times, then many times sentences such as `I
        SEE TOM BUT I DO NOT SEE PAUL . DO I SEE TOM ? YES`.
    Source: ours; Cisneros, Sivic and Mikolov 2022, section 7, propose to chain their tasks and
        report no numbers.
    Departures: none; the members are those of the convention.

    Parameters
    ----------
    members:
        Names of the tasks, in order; a task may occur again.
    weights:
        Relative lengths of the members; none given: equal.
    convention:
        Convention of the members.
    """

    members: tuple[str, ...] = parameter(("periodic", "symbol-counting", "qa"))
    """Names of language tasks without `language/`, such as periodic/qa, or
    periodic:longest=5/qa.
    """
    weights: tuple[float, ...] = parameter(())
    """How long each member lasts, such as 1/2; none: all last as long."""
    convention: str = parameter("corrected", choices=CONVENTIONS)
    """The convention of the members."""

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The members in their order."""
        return chained(
            [named_task(name, self.convention) for name in self.members],
            self.weights or None,
            self.members,
        )


@task(
    "continual/growing",
    version=1,
    controls=["majority", "copy-last", "best-rule"],
    oracle="mixed-oracle",
)
@dataclass(frozen=True)
class Growing(ContinualTask):
    """Learn a task that becomes harder on the way, or easier, and answer all its stages at the end.

    Sees: sequences of the task with the first value of one of its parameters, then with the second,
        and so on. The vocabulary is that of all stages from the start; nothing marks where a stage
        begins or ends.
    Answers: what the task asks for.
    Scored: by the protocol `continual`, on held-out sequences of every stage all along the stream.
        Drawn from by itself (`sample`), it gives sequences of any stage, as likely as the stage's
        weight is large.
    Chance: depends on the task; the controls are the most frequent answer, the token just read, and
        the task's own controls (`best-rule`).
    Ceiling: the task's.
    Example: task=symbol-counting,parameter=longest,values=4/7/10 counts among 1 to 4 symbols, later
        among up to 10.
    Source: ours; Cisneros, Sivic and Mikolov 2022, section 7 and B.1, say that the tasks can be
        extended and their difficulty adjusted, and report no numbers.
    Departures: none; the task is that of the convention.

    Parameters
    ----------
    task:
        Name of the task.
    parameter:
        Parameter that changes from stage to stage.
    values:
        Its values, one per stage.
    weights:
        Relative lengths of the stages; none given: equal.
    convention:
        Convention of the task.
    """

    task: str = parameters.parameter("symbol-counting")
    """Name of a language task without `language/`, such as periodic, or periodic:length=40."""
    parameter: str = parameters.parameter("longest")
    """The parameter that changes."""
    values: tuple[str, ...] = parameters.parameter(("4", "7", "10"))
    """Its values one after the other."""
    weights: tuple[float, ...] = parameters.parameter(())
    """How long each stage lasts, such as 1/2/2; none: all last as long."""
    convention: str = parameters.parameter("corrected", choices=CONVENTIONS)
    """The convention of the task."""

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The stages in their order."""
        labels = [f"{self.parameter}={value}" for value in self.values]
        steps = [{self.parameter: value} for value in self.values]
        return growing(named_task(self.task, self.convention), steps, self.weights or None, labels)
