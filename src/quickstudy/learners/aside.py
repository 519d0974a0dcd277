"""What a network is asked beside the questions, to learn sooner what to remember: to give back what it reads, and to
foretell what it will read next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals
from quickstudy.gateway import jnp

Read = Callable[[int], Any]
"""(question, number): what is read so many steps after each question."""


@dataclass(frozen=True)
class Aside:
    """Squared errors beside the loss of a question, from further outputs of the same head.

    rebuild: weight of the error in what is read at the question (Hill et al. 2020: the reconstruction loss of the
    published listener); foretell: of that in what is read one step later, which in a referential game is what the
    speaker saw. Nothing but what the learner reads anyhow is used. numbers: of an input, the first so many are meant.
    """

    rebuild: float
    foretell: float
    numbers: int

    @classmethod
    def of(cls, rebuild: float, foretell: float, numbers: int, brief: Brief) -> Aside | None:
        """None where nothing is asked. Raises NotApplicable where inputs are no real numbers, or too few."""
        if not (rebuild or foretell):
            return None
        if not isinstance(brief.inputs, Reals):
            raise NotApplicable(f"rebuild and foretell are for inputs of real numbers, not {brief.inputs}")
        if numbers > brief.inputs.width:
            raise NotApplicable(f"numbers must be at most the {brief.inputs.width} of an input, got {numbers}")
        return cls(rebuild, foretell, numbers or brief.inputs.width)

    @property
    def width(self) -> int:
        """Further outputs."""
        return self.numbers * ((self.rebuild > 0) + (self.foretell > 0))

    def __call__(self, outputs: Any, read: Read) -> Any:
        """(question,): the mean squared errors by their weights."""
        total, parts = jnp.zeros(len(outputs)), iter(jnp.split(outputs, outputs.shape[1] // self.numbers, axis=1))
        if self.rebuild:
            total += self.rebuild * self._error(next(parts), read(0)).mean(axis=1)
        if self.foretell:
            later = read(1)
            there = (later != 0).any(axis=1)  # behind the end of an example nothing is read
            total += self.foretell * self._error(next(parts), later).mean(axis=1) * there
        return total

    def _error(self, outputs: Any, wanted: Any) -> Any:
        return jnp.square(outputs - wanted[:, : self.numbers])

    def rebuilt(self, outputs: Any) -> Any:
        """(..., number): of further outputs those that give back what was read."""
        return outputs[..., : self.numbers]


def with_aside(losses: Callable[[Any, Any, Any], Any], aside: Aside | None) -> Callable[..., Any]:
    """The loss at every question of outputs, targets, a key and what is read; the last outputs are those aside."""
    return _Together(losses, aside)


@dataclass(frozen=True)
class _Together:
    """By value, so that the program for it is found again."""

    losses: Callable[[Any, Any, Any], Any]
    aside: Aside | None

    def __call__(self, outputs: Any, targets: Any, key: Any, read: Read) -> Any:
        if self.aside is None:
            return self.losses(outputs, targets, key)
        own, further = jnp.split(outputs, [outputs.shape[1] - self.aside.width], axis=1)
        return self.losses(own, targets, key) + self.aside(further, read)
