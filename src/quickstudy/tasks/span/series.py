"""Span items of real numbers: how far back a learner remembers and how far ahead it predicts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Series
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import control, task
from quickstudy.base.spaces import Reals
from quickstudy.tasks.controls import FixedRule
from quickstudy.tasks.dynamics.mackey_glass import MackeyGlass
from quickstudy.tasks.dynamics.memory import Memory
from quickstudy.tasks.span.item import Axis

WASHOUT, VALIDATION = 200, 300
"""Steps that are only read, and those by which a readout chooses its strength."""


class SeriesItem(Axis):
    """A series whose targets are the same quantity at every difficulty of the grid.

    Parameters
    ----------
    training:
        Steps to learn from.
    test:
        Steps that are scored.
    """

    inputs: ClassVar[Reals] = Reals(1)
    family: ClassVar[str] = "dynamics"
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    training: int
    test: int

    @property
    def outputs(self) -> Reals:
        """One number for every difficulty."""
        return Reals(len(self.grid))

    @abstractmethod
    def signal(self, rng: np.random.Generator, steps: int) -> NDArray[np.float64]:
        """(steps,): the series itself."""

    @abstractmethod
    def answers(self, signal: NDArray[np.float64], now: NDArray[np.int64]) -> NDArray[np.float64]:
        """(time, difficulty): the targets at some steps of the signal."""

    def drive(self, rng: np.random.Generator) -> Series:
        """A fresh series; the signal has a margin on either side for the longest delay or
        horizon.
        """
        steps, margin = WASHOUT + self.training + VALIDATION + self.test, self.longest + 2
        signal = self.signal(rng, steps + 2 * margin)
        now = np.arange(margin, margin + steps)
        answers = self.answers(signal, now)
        return Series(signal[now, None], answers, WASHOUT, self.training, VALIDATION, self.test)


@task(
    "span/delay",
    version=1,
    controls=["last-input"],
    protocol="span-series",
    oracle="a shift register holds every delay: 1 by construction",
)
@dataclass(frozen=True)
class Delay(SeriesItem):
    """Remember what was read d steps ago, for all d of the grid at once.

    Sees: white noise, uniform in -1 .. 1.
    Answers: one number for each delay.
    Scored: r^2 at each delay.
    Chance: 0.
    Ceiling: 1.
    Source: the memory task (Jaeger 2001), for learners that are trained to recall.

    Parameters
    ----------
    longest:
        The longest delay.
    """

    unit: ClassVar[str] = "steps remembered"
    can: ClassVar[str] = "remembers {} steps"
    longest: int = parameter(64, at_least=2)
    training: int = parameter(2000, at_least=100)
    test: int = parameter(1000, at_least=100)

    def signal(self, rng: np.random.Generator, steps: int) -> NDArray[np.float64]:
        """White noise of `dynamics/memory`."""
        return np.asarray(Memory().signal(rng, (steps,)))

    def answers(self, signal: NDArray[np.float64], now: NDArray[np.int64]) -> NDArray[np.float64]:
        """The input of d steps ago."""
        return np.stack([signal[now - delay] for delay in self.grid], axis=1)


@task(
    "span/product",
    version=1,
    controls=["last-input"],
    protocol="span-series",
    oracle="a shift register and one product: 1 by construction",
)
@dataclass(frozen=True)
class Product(Delay):
    """Compute the product of two inputs d and d + 1 steps ago (nonlinear memory), for all d at
    once.

    Sees: white noise, uniform in -1 .. 1.
    Answers: one product for each delay.
    Scored: r^2 at each delay.
    Chance: 0.
    Ceiling: 1.
    Source: a capacity of degree 2 (Dambre et al. 2012), for learners that are trained on it.

    Parameters
    ----------
    longest:
        The longest delay.
    """

    unit: ClassVar[str] = "steps back, of products"
    can: ClassVar[str] = "multiplies inputs {} steps back"
    longest: int = parameter(32, at_least=2)

    def answers(self, signal: NDArray[np.float64], now: NDArray[np.int64]) -> NDArray[np.float64]:
        """The product of two neighbouring inputs, with variance 1/3 as the inputs have."""
        pairs = [signal[now - delay] * signal[now - delay - 1] for delay in self.grid]
        return np.asarray(np.sqrt(3.0) * np.stack(pairs, axis=1))


@task(
    "span/ahead",
    version=1,
    controls=["last-input"],
    protocol="span-series",
    oracle="the equation itself, from the true state: not known from the series alone",
)
@dataclass(frozen=True)
class Ahead(SeriesItem):
    """Predict a chaotic series d steps ahead, for all d of the grid at once.

    Sees: the Mackey-Glass series with delay 17, tanh(x - 1), one value a time unit.
    Answers: one number for each horizon.
    Scored: r^2 at each horizon.
    Chance: 0.
    Ceiling: 1.
    Source: the series of `dynamics/mackey-glass` (Jaeger 2001).
    Marks: last-input 7.9 is persistence: the series is smooth.

    Parameters
    ----------
    longest:
        The longest horizon.
    test:
        Steps that are scored; the series is nearly periodic, so that r^2 over 1,000 steps varies by
        a quarter of the span from seed to seed.
    """

    unit: ClassVar[str] = "steps predicted ahead"
    can: ClassVar[str] = "predicts {} steps ahead"
    longest: int = parameter(512, at_least=2)
    training: int = parameter(2000, at_least=100)
    test: int = parameter(6000, at_least=100)

    @property
    def lyapunov(self) -> float | None:
        """The largest exponent of the series, per step."""
        return MackeyGlass().lyapunov

    def signal(self, rng: np.random.Generator, steps: int) -> NDArray[np.float64]:
        """The series of `dynamics/mackey-glass`, standardised by constants."""
        world = MackeyGlass(
            washout=0, training=steps - 2 * MackeyGlass().ahead, test=2, free=0, starts=1
        )
        series = world.drive(rng)
        return np.asarray(series.inputs[:steps, 0] * 5.0)

    def answers(self, signal: NDArray[np.float64], now: NDArray[np.int64]) -> NDArray[np.float64]:
        """The value d steps later."""
        return np.stack([signal[now + ahead] for ahead in self.grid], axis=1)


@control("last-input", version=1, role="control")
class LastInput(FixedRule):
    """Answers the last input at every difficulty: persistence."""

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._width = brief.outputs.width

    def predict(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        """The input, once for every difficulty."""
        return np.repeat(np.asarray(inputs, np.float64)[:, :1], self._width, axis=1)
