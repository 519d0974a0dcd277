"""Auxiliary losses: to learn sooner what to remember, a network also reconstructs what it reads and
predicts what it will read next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals
from quickstudy.jax_gateway import jnp, optax

Read = Callable[[int], Any]
"""(question, number): what is read so many steps after each question."""


@dataclass(frozen=True)
class AuxiliaryLosses:
    """Losses of further outputs of the same head, added to the loss of a question.

    Only what the learner reads anyhow is used.

    rebuild: weight of reconstructing the input at the question (Hill et al. 2020: the
        reconstruction loss of the published listener).
    foretell: weight of predicting the input one step later, which in a referential game is what
        the speaker saw.
    numbers: how many numbers at the beginning of an input count, by their squared errors.
    bits: how many zeros and ones after them (in a game, the message) are reconstructed too, by
        their cross-entropy.
    """

    rebuild: float
    foretell: float
    numbers: int
    bits: int = 0

    @classmethod
    def of(
        cls, rebuild: float, foretell: float, numbers: int, bits: int, brief: Brief
    ) -> AuxiliaryLosses | None:
        """The losses of a training's parameters; None where both weights are 0.

        Raises NotApplicable where inputs are not real numbers, or are too few.
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
        """Number of further outputs."""
        return self.numbers * ((self.rebuild > 0) + (self.foretell > 0)) + self.bits

    def __call__(self, outputs: Any, read: Read) -> Any:
        """(question,): the mean errors by their weights."""
        total = jnp.zeros(len(outputs))
        if self.rebuild:
            total += self.rebuild * reconstruction_error(outputs, read(0), self.numbers, self.bits)
        if self.foretell:
            later = read(1)
            there = (later != 0).any(axis=1)  # after the end of an example nothing is read
            total += (
                self.foretell
                * reconstruction_error(outputs[:, -self.numbers :], later, self.numbers)
                * there
            )
        return total

    def rebuilt(self, outputs: Any) -> Any:
        """(..., number): of the further outputs, the reconstructed numbers."""
        return outputs[..., : self.numbers]


def reconstruction_error(outputs: Any, read: Any, numbers: int, bits: int = 0) -> Any:
    """(...,): the mean squared error of the first numbers read, plus the mean cross-entropy, in
    nats, of the zeros and ones after them, of which outputs are the logits.
    """
    missed = jnp.square(outputs[..., :numbers] - read[..., :numbers]).mean(axis=-1)
    if bits:
        here = slice(numbers, numbers + bits)
        missed += optax.sigmoid_binary_cross_entropy(outputs[..., here], read[..., here]).mean(
            axis=-1
        )
    return missed
