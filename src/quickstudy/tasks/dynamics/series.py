"""What the series of this family have in common: their parts, prediction from the values so far,
running free, and where each stands in the review's taxonomy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Reals

Floats = NDArray[np.float64]

RULES: dict[str, Any] = {"controls": ["mean", "persistence", "linear"]}
"""The rules beside every score of the family. An error without the linear one overstates
reservoirs.
"""
FED_BACK = 1e3
"""The largest value that is fed back in a free run. What leaves these bounds has diverged, and is
scored as it is.
"""
MOST_READ = 1000
"""Steps that are read, true ones, before a free run."""
VALIDATION_STARTS = 10
"""Free runs by which a setting is chosen on a validation part."""


def taxonomy(
    type: str,
    dynamics: str,
    *,
    stationary: bool = True,
    output: str = "real",
    supervised: bool = True,
    running: str = "driven",
    licence: str = "generated",
) -> dict[str, Any]:
    """Where a task stands. type: `imitation`, `prediction`, `computation`, `classification` or
    `property`; dynamics: `known`, `unknown` or `none`; stationary: its input; output: `real`,
    `one-hot` or `binary`; running: how it is tested, `driven`, `free` or `in situ`; licence: of its
    data. Source: Wringe, Trefzer and Stepney, section 3.
    """
    return {**locals()}


def is_setting(given: Sequence[float], known: Sequence[float]) -> bool:
    """Whether parameters are those for which an exponent is known, up to a rounding by hand.

    >>> is_setting((10.0, 28.0, 2.6667), (10.0, 28.0, 8 / 3)), is_setting((9.9,), (10.0,))
    (True, False)
    """
    return all(math.isclose(one, two, rel_tol=1e-4) for one, two in zip(given, known, strict=True))


@dataclass(frozen=True)
class Parts:
    """The steps of a series: washout, training, validation (by which settings are chosen) and test,
    in that order.
    """

    washout: int = parameter(200, at_least=0)
    training: int = parameter(2000, at_least=10)
    validation: int = parameter(500, at_least=0)
    test: int = parameter(1000, at_least=2)

    @property
    def steps(self) -> int:
        """Of the whole series."""
        return self.washout + self.training + self.validation + self.test

    def series(self, inputs: Floats, targets: Floats, **facts: Any) -> Series:
        """One draw, cut into its parts. facts: what the record should say of it."""
        cut = (self.washout, self.training, self.validation, self.test)
        return Series(
            np.ascontiguousarray(inputs), np.ascontiguousarray(targets), *cut, facts=facts
        )


@dataclass(frozen=True)
class FreeRun:
    """What a learner reads before its answers decide what it reads next, and what should come then.

    warm: (time, row, width) true inputs, one row for each start; target: (row, step, width). Here
    its own answer is its next input. kind: the name under which a trace keeps what was reached.
    """

    warm: Floats
    target: Floats

    kind: ClassVar[str] = "free"

    def begin(self) -> Any:
        """The state of what it acts on, before its first answer."""
        return None

    def advance(self, state: Any, answers: Floats, step: int) -> tuple[Any, Floats, Floats]:
        """Of the answers (row, width) at a step: the state after it, what is read next, and what
        was reached.
        """
        return None, np.clip(answers, -FED_BACK, FED_BACK), answers


@dataclass(frozen=True)
class OwnAnswers(FreeRun):
    """The learner's own answer of the step before is read beside the true inputs (step, width), one
    row.
    """

    inputs: Floats

    def advance(self, state: Any, answers: Floats, step: int) -> tuple[Any, Floats, Floats]:
        """The next input and the answer just given; behind the last there is none."""
        following = self.inputs[min(step + 1, len(self.inputs) - 1)]
        return (
            None,
            np.concatenate([following[None], np.clip(answers, -FED_BACK, FED_BACK)], axis=1),
            answers,
        )


@dataclass(frozen=True)
class Forecast(Parts):
    """Prediction of a series from its own values: `ahead` steps later, and free-running.

    ahead: steps from what was just read to what is asked. raw: the values as the system gives them.
    free: steps that the learner runs on its own answers (at ahead=1). starts: from so many places
    of the test part, evenly apart. running: `free` where the score is that of one free run through
    the whole test part.
    """

    ahead: int = parameter(1, at_least=1)
    raw: bool = False
    free: int = parameter(0, at_least=0)
    starts: int = parameter(1, at_least=1)

    running: ClassVar[str] = "driven"
    width: ClassVar[int] = 1
    interval: ClassVar[float] = 1.0
    lyapunov: ClassVar[float | None] = None
    taps: ClassVar[int] = 10

    @property
    def inputs(self) -> Reals:
        """The values of one step."""
        return Reals(self.width)

    @property
    def outputs(self) -> Reals:
        """The same, later."""
        return Reals(self.width)

    @property
    def length(self) -> int:
        """Values that a series needs."""
        return self.steps + self.ahead

    def forecast(self, values: Floats, **facts: Any) -> Series:
        """The series of values (time, width): what is read, and what comes `ahead` steps later."""
        if not np.isfinite(values).all():
            raise UsageError("the series has left all bounds; give a smaller step or another start")
        later = values[self.ahead : self.ahead + self.steps]
        return self.series(values[: self.steps], later, ahead=self.ahead, raw=self.raw, **facts)

    def free_run(self, series: Series) -> FreeRun | None:
        """The true values from some places of the test part on; None where nothing runs free."""
        steps = self.test if self.running == "free" else self.free
        if not steps or self.ahead != 1:
            return None
        if steps > self.test:
            raise UsageError(
                f"a free run of {steps} steps does not fit into a test part of {self.test}"
            )
        return _from_places(series, len(series.inputs) - self.test, self.test, steps, self.starts)

    @property
    def validates_free(self) -> bool:
        """Whether a learner may choose settings by free runs on the validation part: the test has
        free runs as well.
        """
        return self.ahead == 1 and self.validation > 1 and bool(self.free or self.running == "free")

    def validation_run(self, series: Series) -> FreeRun:
        """Free runs of half of the validation part at most, from places of it that leave room for
        them.
        """
        most = self.validation if self.running == "free" else self.free
        first = self.washout + self.training
        return _from_places(
            series, first, self.validation, min(most, self.validation // 2), VALIDATION_STARTS
        )


def _from_places(series: Series, first: int, length: int, steps: int, starts: int) -> FreeRun:
    """Free runs of so many steps from places evenly apart in a part of a series."""
    read = min(first + 1, MOST_READ)
    places = np.linspace(first, first + length - steps, starts).astype(np.int64)
    before = places + np.arange(1 - read, 1)[:, None]
    return FreeRun(series.inputs[before], series.targets[places[:, None] + np.arange(steps)])
