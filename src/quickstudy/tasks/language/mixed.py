"""A language task made of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.catalogue import task
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import CONVENTIONS, HANDED_ON, parameter
from quickstudy.tasks.language.checking import Verdict, judge
from quickstudy.tasks.language.streams import Translated, common_vocabulary, members_verdict, named_task


@task("language/mixed", version=1, controls=["majority", "copy-last"], oracle="mixed-oracle")
@dataclass(frozen=True)
class Mixed:
    """Do what a sequence asks for, where each may come from another task.

    Sees: a sequence of one of the members, each as likely as the others. The vocabulary is that of all members, in the
    order in which their words first come; nothing but the words says which member it is.
    Answers: what that member asks for.
    Scored: share of right answers, over all members; members that ask more count more.
    Chance: depends on the members; the controls are the most frequent answer and the token just read.
    Ceiling: 1 where the words before a question tell its member, as far as the answer depends on it. That is so unless
    `periodic` and `increasing-period` are mixed, where 0.9998 was reached.
    Example: members=periodic/qa, `0 1 0 1 0 1 ...` or `I SEE TOM BUT I DO NOT SEE PAUL . DO I SEE TOM ? YES`.
    Source: Cisneros, Sivic and Mikolov 2022, section 7, and the hybrid task of their task package.

    Departures: none; the members are those of the convention.
    """

    members: tuple[str, ...] = parameter(("periodic", "qa"))
    """Names of language tasks without `language/`, such as periodic/qa, or periodic:longest=5/qa."""
    convention: str = parameter("corrected", choices=CONVENTIONS)
    """The convention of the members."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = HANDED_ON

    def __post_init__(self) -> None:
        if not self.members or "mixed" in self.members or len(set(self.members)) < len(self.members):
            raise ValueError(f"members must be different tasks other than mixed, got {'/'.join(self.members)}")
        self.tasks  # noqa: B018  # a member that does not exist is said now

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
        return Examples.joined([parts[int(rng.random() * len(parts))].sample(rng, 1) for _ in range(count)])

    def check(self, tokens: Any) -> Verdict:
        """What the members say; see `members_verdict`."""
        return judge(tokens, self.vocabulary, lambda words: members_verdict(words, self.tasks))
