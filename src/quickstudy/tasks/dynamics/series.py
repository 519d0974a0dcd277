"""Common parts of the series of this family: sections, prediction, free runs, and the taxonomy of
the review by Wringe et al.
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
from quickstudy.base.exchange import FED_BACK
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Reals

Floats = NDArray[np.float64]

RULES: dict[str, Any] = {"controls": ["mean", "persistence", "linear"]}
"""The baselines of every score of the family. An error without the linear one overstates
reservoirs.
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
    """The place of a task in the taxonomy of Wringe, Trefzer and Stepney (section 3).

    Parameters
    ----------
    type:
        `imitation`, `prediction`, `computation`, `classification` or `property`.
    dynamics:
        `known`, `unknown` or `none`.
    stationary:
        Whether the input is stationary.
    output:
        `real`, `one-hot` or `binary`.
    running:
        How the task is tested: `driven`, `free` or `in situ`.
    licence:
        Licence of the data.
    """
    return {**locals()}


def is_setting(given: Sequence[float], known: Sequence[float]) -> bool:
    """Whether these are the parameters for which an exponent is known, up to rounding when typed.

    >>> is_setting((10.0, 28.0, 2.6667), (10.0, 28.0, 8 / 3)), is_setting((9.9,), (10.0,))
    (True, False)
    """
    return all(math.isclose(one, two, rel_tol=1e-4) for one, two in zip(given, known, strict=True))


@dataclass(frozen=True)
class Parts:
    """A series in four consecutive sections.

    Parameters
    ----------
    washout:
        Steps before training that are neither learned from nor scored.
    training:
        Steps the learner is trained on.
    validation:
        Steps on which settings such as the ridge strength are chosen.
    test:
        Steps that are scored.
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
        """One sample, cut into its sections.

        Parameters
        ----------
        facts:
            Facts stored with the sample in the record.
        """
        cut = (self.washout, self.training, self.validation, self.test)
        return Series(
            np.ascontiguousarray(inputs), np.ascontiguousarray(targets), *cut, facts=facts
        )


@dataclass(frozen=True)
class FreeRun:
    """A free run: the learner first reads true values, then its own answers.

    Parameters
    ----------
    warm:
        True inputs of shape (time, row, width), one row per start.
    target:
        The true values that follow, of shape (row, step, width).
    kind:
        The name of the outcome in the trace.
    """

    warm: Floats
    target: Floats

    kind: ClassVar[str] = "free"

    def begin(self) -> Any:
        """The initial state of the environment, before the first answer."""
        return None

    def advance(self, state: Any, answers: Floats, step: int) -> tuple[Any, Floats, Floats]:
        """The next state, the next input and the outcome, given the answers (row, width)."""
        return None, np.clip(answers, -FED_BACK, FED_BACK), answers

    def row(self, number: int) -> FreeRun:
        """One of its rows alone."""
        chosen = slice(number, number + 1)
        return FreeRun(self.warm[:, chosen], self.target[chosen])


@dataclass(frozen=True)
class OwnAnswers(FreeRun):
    """A free run in which the learner reads its previous answer together with the true inputs.

    Parameters
    ----------
    inputs:
        True inputs of shape (step, width); there is one row.
    """

    inputs: Floats

    def advance(self, state: Any, answers: Floats, step: int) -> tuple[Any, Floats, Floats]:
        """The next input and the current answer; after the last step no input follows."""
        following = self.inputs[min(step + 1, len(self.inputs) - 1)]
        return (
            None,
            np.concatenate([following[None], np.clip(answers, -FED_BACK, FED_BACK)], axis=1),
            answers,
        )


@dataclass(frozen=True)
class Forecast(Parts):
    """Prediction of a series from its own values.

    Parameters
    ----------
    ahead:
        Steps from the last input to the value to predict.
    raw:
        Show the values as the system gives them, without scaling.
    free:
        Length of each free run in steps; free runs need ahead=1.
    starts:
        Number of free runs, started at evenly spaced steps of the test section.
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
