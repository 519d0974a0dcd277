"""What a network is asked beside the questions, to learn sooner what to remember: to give back what
it reads, and to foretell what it will read next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals
from quickstudy.gateway import jnp, optax

Read = Callable[[int], Any]
"""(question, number): what is read so many steps after each question."""


@dataclass(frozen=True)
class Aside:
    """Errors beside the loss of a question, from further outputs of the same head.

    rebuild: weight of the error in what is read at the question (Hill et al. 2020: the
    reconstruction loss of the published listener); foretell: of that in what is read one step
    later, which in a referential game is what the speaker saw. Nothing but what the learner reads
    anyhow is used. numbers: of an input, the first so many are meant, by their squared errors.
    bits: so many behind them are zeros and ones (in a game, the message), and are to be given back
    too, by their cross-entropy.
    """

    rebuild: float
    foretell: float
    numbers: int
    bits: int = 0

    @classmethod
    def of(
        cls, rebuild: float, foretell: float, numbers: int, bits: int, brief: Brief
    ) -> Aside | None:
        """None where nothing is asked. Raises NotApplicable where inputs are no real numbers, or
        too few.
        """
        if not (rebuild or foretell):
            return None
        if not isinstance(brief.inputs, Reals):
            raise NotApplicable(
                f"rebuild and foretell are for inputs of real numbers, not {brief.inputs}"
            )
        numbers = numbers or brief.inputs.width
        if numbers + bits > brief.inputs.width:
            said = f"numbers + bits ({numbers} + {bits})" if bits else "numbers"
            raise NotApplicable(
                f"{said} must be at most the {brief.inputs.width} of an input, got {numbers + bits}"
            )
        return cls(rebuild, foretell, numbers, bits if rebuild else 0)

    @property
    def width(self) -> int:
        """Further outputs."""
        return self.numbers * ((self.rebuild > 0) + (self.foretell > 0)) + self.bits

    def __call__(self, outputs: Any, read: Read) -> Any:
        """(question,): the mean errors by their weights."""
        total = jnp.zeros(len(outputs))
        if self.rebuild:
            total += self.rebuild * given_back(outputs, read(0), self.numbers, self.bits)
        if self.foretell:
            later = read(1)
            there = (later != 0).any(axis=1)  # behind the end of an example nothing is read
            total += (
                self.foretell * given_back(outputs[:, -self.numbers :], later, self.numbers) * there
            )
        return total

    def rebuilt(self, outputs: Any) -> Any:
        """(..., number): of further outputs those that give back the numbers read."""
        return outputs[..., : self.numbers]


def given_back(outputs: Any, read: Any, numbers: int, bits: int = 0) -> Any:
    """(...,): the mean squared error in the first numbers read, and behind them the mean
    cross-entropy, in nats, of zeros and ones, of which outputs are the logits.
    """
    missed = jnp.square(outputs[..., :numbers] - read[..., :numbers]).mean(axis=-1)
    if bits:
        here = slice(numbers, numbers + bits)
        missed += optax.sigmoid_binary_cross_entropy(outputs[..., here], read[..., here]).mean(
            axis=-1
        )
    return missed


def with_aside(losses: Callable[[Any, Any, Any], Any], aside: Aside | None) -> Callable[..., Any]:
    """The loss at every question of outputs, targets, a key and what is read; the last outputs are
    those aside.
    """
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
