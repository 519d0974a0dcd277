"""Several language tasks as one: a common vocabulary, and the task that mixes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import (
    CONVENTIONS,
    HANDED_ON,
    configure,
    parameter,
    parse_assignments,
)
from quickstudy.base.registries import task
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.tasks.language.checking import Verdict, judge


@dataclass(frozen=True)
class Translated:
    """A task in a larger vocabulary: the same sequences of words, with the ids that the words have
    there.
    """

    task: Any
    vocabulary: tuple[str, ...]

    def __post_init__(self) -> None:
        missing = [word for word in self.task.vocabulary if word not in self.vocabulary]
        if missing:
            raise UsageError(
                f'"{missing[0]}", a word of {self.task.id}, is missing in the common vocabulary'
            )

    @property
    def id(self) -> str:
        """The task's own."""
        return str(self.task.id)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """What the task itself gives, translated."""
        examples: Examples = self.task.sample(rng, count)
        ids = np.array(
            [self.vocabulary.index(word) for word in self.task.vocabulary],
            dtype=examples.inputs.dtype,
        )
        inside = np.arange(examples.steps)[:, None] < examples.lengths
        inputs, targets = (
            np.where(inside, ids[tokens], 0) for tokens in (examples.inputs, examples.targets)
        )
        return replace(examples, inputs=inputs, targets=targets)

    def check(self, tokens: Any) -> Verdict:
        """What the task itself declares about the same words."""
        return judge(tokens, self.vocabulary, self.task.check)


def named_task(text: str, convention: str) -> Any:
    """A language task from its name without `language/`, with parameters after colons if need be.
    It is the first version unless the name has another (`qa@2`): what is made of other tasks
    must not change when they do.

    >>> named_task("periodic:longest=3:length=20", "corrected")
    Periodic(shortest=1, longest=3, length=20)
    """
    name, *given = text.split(":")
    id = f"language/{name}"
    versioned = id if "@" in name else f"{id}@1"
    return configure(
        id, registries.task.get(versioned), parse_assignments(",".join(given)), convention
    )


def members_verdict(words: list[str], tasks: Sequence[Any]) -> Verdict:
    """The verdict of the task that finds a sequence right, with the masks of all that do; otherwise
    of the first that finds it well formed, or of the first.
    """
    verdicts: list[Verdict] = [task.check(words) for task in tasks]
    best = max(verdicts, key=lambda found: (found.right, found.well_formed))
    masks = dict.fromkeys(mask for found in verdicts if found.right for mask in found.masks)
    return replace(best, masks=tuple(masks) or best.masks)


def common_vocabulary(tasks: Sequence[Any]) -> tuple[str, ...]:
    """All words of all tasks, in the order in which they first come. UsageError for a task that has
    no words.
    """
    for member in tasks:
        if stated(member, TaskFacts).vocabulary is None:
            raise UsageError(
                f"{member.id} has no vocabulary; only tasks that read and answer words can be put"
                " together"
            )
    return tuple(dict.fromkeys(word for member in tasks for word in member.vocabulary))


@task("language/mixed", version=1, controls=["majority", "copy-last"], oracle="mixed-oracle")
@dataclass(frozen=True)
class Mixed:
    """Do what a sequence asks for, where each may come from another task.

    Sees: a sequence of one of the members, each as likely as the others. The vocabulary is that of
        all members, in the order in which their words first come; only the words show which
        member it is.
    Answers: what that member asks for.
    Scored: share of right answers, over all members; members that ask more count more.
    Chance: depends on the members; the controls are the most frequent answer and the token just
        read.
    Ceiling: 1 where the words before a question tell its member, as far as the answer depends on
        it. That is so unless `periodic` and `increasing-period` are mixed, where 0.9998 was
        reached.
    Example: members=periodic/qa, `0 1 0 1 0 1 ...` or `I SEE TOM BUT I DO NOT SEE PAUL . DO I SEE
        TOM ? YES`.
    Source: Cisneros, Sivic and Mikolov 2022, section 7, and the hybrid task of their task package.
    Departures: none; the members are those of the convention.

    Parameters
    ----------
    members:
        Names of the tasks that are mixed.
    convention:
        Convention of the members.
    """

    members: tuple[str, ...] = parameter(("periodic", "qa"))
    """Names of language tasks without `language/`, such as periodic/qa, or periodic:longest=5/qa@2
    (else version 1).
    """
    convention: str = parameter("corrected", choices=CONVENTIONS)
    """The convention of the members."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = HANDED_ON

    def __post_init__(self) -> None:
        if (
            not self.members
            or "mixed" in self.members
            or len(set(self.members)) < len(self.members)
        ):
            raise ValueError(
                f"members must be different tasks other than mixed, got {'/'.join(self.members)}"
            )
        self.tasks  # noqa: B018  # a member that does not exist is reported now

    @cached_property
    def tasks(self) -> tuple[Any, ...]:
        """The members themselves."""
        return tuple(named_task(member, self.convention) for member in self.members)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return common_vocabulary(self.tasks)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        parts = [Translated(member, self.vocabulary) for member in self.tasks]
        # One by one, so that the draws do not depend on how they are grouped.
        return Examples.joined(
            [parts[int(rng.random() * len(parts))].sample(rng, 1) for _ in range(count)]
        )

    def check(self, tokens: Any) -> Verdict:
        """What the members say; see `members_verdict`."""
        return judge(tokens, self.vocabulary, lambda words: members_verdict(words, self.tasks))
