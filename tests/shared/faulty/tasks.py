"""Tasks that draw data, most of them with one fault."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples, Series
from quickstudy.base.spaces import Reals, Space
from quickstudy.testing.small_tasks import Partners


@dataclass(frozen=True)
class Forgetful(Partners):
    """A task that keeps state: every draw continues where the one before ended."""

    memory: list[int] = field(default_factory=list, init=False, compare=False, repr=False)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        rng.random(len(self.memory))
        self.memory.append(count)
        return super().sample(rng, count)


@dataclass(frozen=True)
class OwnStream(Partners):
    """A task that ignores the stream: all repetitions are one."""

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        return super().sample(np.random.default_rng(0), count)


@dataclass(frozen=True)
class SharedStream(Partners):
    """A task that draws from NumPy's shared generator as well."""

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        np.random.random()  # noqa: NPY002  # the fault
        return super().sample(rng, count)


@dataclass(frozen=True)
class WrongOracle(Partners):
    """A task that calls a rule its oracle which was made for another, and is wrong here."""

    oracle: ClassVar[str] = "periodic-oracle"


@dataclass(frozen=True)
class Silent(Partners):
    """A task with examples that ask nothing."""

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        examples = super().sample(rng, count)
        examples.asked[:, 0] = False
        return examples


@dataclass(frozen=True)
class OutOfVocabulary(Partners):
    """A task that shows a token which is no word."""

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return super().vocabulary[:-1]


@dataclass(frozen=True)
class FaultySeries:
    """Say a number again, with what is left of the one before: y(t) = 0.8 u(t) + 0.2 u(t-1). With a
    fault of choice.
    """

    fault: str = "none"

    version: ClassVar[int] = 1
    inputs: ClassVar[Space] = Reals(1)
    outputs: ClassVar[Space] = Reals(1)
    drives: ClassVar[list[str]] = []

    @property
    def draws(self) -> bool:
        return self.fault not in ("fixed", "not fixed")

    @property
    def controls(self) -> tuple[str, ...]:
        """One that takes real numbers; with the fault `rules`, one that looks for words in the
        task.
        """
        return {"rules": ("polarity",), "controls": ("testing-maen",)}.get(
            self.fault, ("testing-mean",)
        )

    @property
    def oracle(self) -> str:
        """None; with the fault `oracle`, its control."""
        return (
            "testing-mean"
            if self.fault == "oracle"
            else "none is needed: nobody learns from a specimen"
        )

    def drive(self, rng: np.random.Generator) -> Any:
        if self.fault == "global":
            np.random.random()  # noqa: NPY002  # the fault
        if self.fault == "state":
            rng.random(len(self.drives))
            self.drives.append("another")
        if self.fault in ("deaf", "fixed"):
            rng = np.random.default_rng(0)
        inputs = rng.normal(size=(160, 1))
        targets = self.response(inputs)
        if self.fault == "wide":
            targets = np.repeat(targets, 2, axis=1)
        if self.fault == "not finite":
            targets[7] = np.nan
        if self.fault == "no series":
            return inputs, targets
        parts = {"sum": (16, 80, 32, 31), "negative": (16, 120, -8, 32)}.get(
            self.fault, (16, 80, 32, 32)
        )
        return Series(
            inputs, targets, *parts, facts={"scale": rng if self.fault == "facts" else 1.0}
        )

    def response(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The answers to given numbers; with the fault `ahead`, a step early."""
        seen = np.roll(inputs, -1, axis=0) if self.fault == "ahead" else inputs
        return np.asarray(0.8 * seen + 0.2 * np.concatenate([np.zeros_like(seen[:1]), seen[:-1]]))

    def __hash__(self) -> int:
        if self.fault == "unhashable":
            raise TypeError("unhashable type: 'list'")
        return hash(self.fault)


SERIES = {
    "no series": "draws what its spaces say",
    "sum": "draws what its spaces say",
    "wide": "draws what its spaces say",
    "not finite": "draws what its spaces say",
    "state": "same stream, same data",
    "deaf": "another repetition, other data",
    "not fixed": "another repetition, other data",
    "negative": "its parts can be learned from and tested on",
    "facts": "its facts are plain JSON",
    "ahead": "what comes later changes no earlier answer",
    "unhashable": "can be hashed",
    "rules": "its rules can be made for it",
    "controls": "names controls that exist",
    "oracle": "names its oracle, or why there is none",
    "global": "touches no global randomness",
}
"""Every fault of a series, and the finding that is about it."""
