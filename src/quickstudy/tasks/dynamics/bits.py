"""Computation on streams of bits: exclusive or, and parity of n bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.tasks.dynamics.series import RULES, Floats, Parts, taxonomy

CODES = {"signs": (-1.0, 1.0), "bits": (0.0, 1.0)}
"""How a bit of 0 and one of 1 are written."""


@task("dynamics/parity-3", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Parity(Parts):
    """Compute whether an odd number of the last 3 bits is set.

    Sees: a fair bit per step.
    Answers: u(t-delay) xor ... xor u(t-delay-bits+1), in the same code; bits before the first are
        unset.
    Scored: NRMSE, and the share of wrong answers (each rounded to the nearer value).
    Chance: NRMSE 1, and half of the answers wrong.
    Ceiling: 0.
    Source: Wringe, Trefzer and Stepney 2024, section 6.2, whose window is one bit too long. 3 bits:
        Haykin; 5: Schrauwen et al.; 2 to 5: Dion et al.; 4 and 6: Shougat et al.

    With signs the answer is, up to its sign, the product of the inputs: from 2 bits on, no linear
    filter has a smaller NRMSE than the mean.

    Parameters
    ----------
    bits:
        Number of bits.
    delay:
        Steps between the last of these bits and the current one.
    code:
        `signs`: -1 and 1. `bits`: 0 and 1.
    """

    bits: int = parameter(3, at_least=1)
    delay: int = parameter(0, at_least=0)
    code: str = parameter("signs", choices=tuple(CODES))

    inputs: ClassVar[Reals] = Reals(1)
    outputs: ClassVar[Reals] = Reals(1)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("computation", "none", output="binary")

    @property
    def taps(self) -> int:
        """Of the linear control: all bits that matter."""
        return self.delay + self.bits

    @property
    def levels(self) -> tuple[float, ...]:
        """What can be an answer."""
        return CODES[self.code]

    def response(self, inputs: Floats) -> Floats:
        """The parities of given bits; bits above the middle are set."""
        low, high = self.levels
        found = np.asarray(inputs)[:, 0] > (low + high) / 2
        padded = np.concatenate([np.zeros(self.delay + self.bits - 1, dtype=np.bool_), found])
        # Window number t of the padded bits ends at bit t - delay.
        windows = np.lib.stride_tricks.sliding_window_view(padded, self.bits)[: len(found)]
        return np.where(windows.sum(axis=1) % 2 == 1, high, low)[:, None]

    def drive(self, rng: np.random.Generator) -> Series:
        """Fresh bits."""
        bits = rng.integers(2, size=(self.steps, 1))
        inputs = np.asarray(self.levels)[bits]
        return self.series(
            inputs, self.response(inputs), levels=list(self.levels), varies=["inputs", "weights"]
        )


task.variant(
    "dynamics/parity-2",
    version=1,
    of=Parity,
    summary="Whether one of the last 2 bits is set.",
    bits=2,
)
task.variant(
    "dynamics/parity-4",
    version=1,
    of=Parity,
    summary="Whether an odd number of 4 bits is set.",
    bits=4,
)
task.variant(
    "dynamics/parity-5",
    version=1,
    of=Parity,
    summary="Whether an odd number of 5 bits is set.",
    bits=5,
)
task.variant(
    "dynamics/parity-6",
    version=1,
    of=Parity,
    summary="Whether an odd number of 6 bits is set.",
    bits=6,
)
task.variant(
    "dynamics/xor", version=1, of=Parity, summary="Exclusive or of the last two bits.", bits=2
)
task.variant(
    "dynamics/xor-delayed",
    version=1,
    of=Parity,
    summary="Exclusive or of two neighbouring bits of 5 steps ago (Verstraeten 2010).",
    bits=2,
    delay=5,
)


@task("dynamics/xor-spatial", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class SpatialXor(Parts):
    """Exclusive or of two simultaneous bits, which needs no memory and is not linearly separable.

    Sees: two fair bits per step, -1 or 1 each.
    Answers: 1 where they differ, else -1.
    Scored: NRMSE, and the share of wrong answers.
    Chance: NRMSE 1, and half of the answers wrong.
    Ceiling: 0.
    Source: Wringe, Trefzer and Stepney 2024, section 6.1.
    """

    inputs: ClassVar[Reals] = Reals(2)
    outputs: ClassVar[Reals] = Reals(1)
    taps: ClassVar[int] = 1
    levels: ClassVar[tuple[float, ...]] = CODES["signs"]
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("computation", "none", output="binary")

    def response(self, inputs: Floats) -> Floats:
        """Of given bits, by their signs."""
        return np.asarray(-np.sign(inputs).prod(axis=1, keepdims=True))

    def drive(self, rng: np.random.Generator) -> Series:
        """Fresh bits."""
        inputs = rng.choice(self.levels, (self.steps, 2))
        return self.series(
            inputs, self.response(inputs), levels=list(self.levels), varies=["inputs", "weights"]
        )
