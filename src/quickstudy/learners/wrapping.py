"""What learners that hold another learner have in common: it is named by text, and shown the material as it asks."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Learner, Pace, pace_of
from quickstudy.base.parameters import HANDED_ON
from quickstudy.learners.naming import Choice, choose_learner


class Wrapping:
    """A learner around another, a core with its training. A frozen dataclass with `learner` and `convention`."""

    learner: str
    convention: str
    id: ClassVar[str]

    compiled: ClassVar[bool] = True
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = HANDED_ON

    asked: ClassVar[str] = "symbols"
    """What is asked of it, and so of the learner within; no parameter: it follows from task and protocol."""

    def __post_init__(self) -> None:
        self._choice  # noqa: B018  # a learner that does not exist is said now

    def asked_for(self, asked: str) -> Self:
        """The same around the learner that is usual for what is asked."""
        twin = copy.copy(self)
        for kept in ("other", "_choice"):
            vars(twin).pop(kept, None)
        vars(twin)["asked"] = asked
        return twin

    @property
    def pace(self) -> Pace:
        """As the other learner, but always by whole examples."""
        return dataclasses.replace(pace_of(self.other), by_question=False)

    @property
    def most_lanes(self) -> int:
        """As the other learner."""
        return self._choice.most_lanes

    @cached_property
    def other(self) -> Learner:
        """The learner within."""
        return self._choice.make(None)

    @property
    def within(self) -> Mapping[str, Any]:
        """What the learner within is, its version and all its parameters: another one makes another learner."""
        return self._choice.what

    @cached_property
    def _choice(self) -> Choice:
        choice = choose_learner(self.learner, self.convention, asked=self.asked)
        if not choice.compiled or choice.what["id"] == self.id:
            raise UsageError(f"{self.id}: learner must be a core with its training, such as esn, got {self.learner}")
        return choice
