"""What learners that hold another learner have in common: it is named by text, and shown the material as it asks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Learner
from quickstudy.base.parameters import HANDED_ON
from quickstudy.learners.naming import Choice, choose_learner


class Wrapping:
    """A learner around another, a core with its training. A frozen dataclass with `learner` and `convention`."""

    learner: str
    convention: str
    id: ClassVar[str]

    compiled: ClassVar[bool] = True
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = HANDED_ON

    def __post_init__(self) -> None:
        self.other  # noqa: B018  # a learner that does not exist is said now

    @property
    def passes(self) -> int:
        """As the other learner."""
        return int(getattr(self.other, "passes", 1))

    @property
    def batch(self) -> int:
        """As the other learner."""
        return int(self.other.batch)  # type: ignore[attr-defined]

    @property
    def training(self) -> Any:
        """As the other learner."""
        return getattr(self.other, "training", None)

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
        choice = choose_learner(self.learner, self.convention)
        if not choice.compiled or choice.what["id"] == self.id:
            raise UsageError(f"{self.id}: learner must be a core with its training, such as esn, got {self.learner}")
        return choice
