"""Periodic and nearly periodic series that a learner must go on with by itself: sums of sines, a
lying eight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.dynamics.series import RULES, Forecast, taxonomy

FREQUENCIES = (0.2, 0.311, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97, 1.08, 1.19, 1.27, 1.32)
"""Of the oscillators, in the order in which they are added; from the ninth on those of later
programs.
"""
LOOP = 200
"""Steps of the lying eight, drawn at its mean speed."""


@task("dynamics/mso-8", version=1, **RULES, oracle="the linear rule is exact to rounding")
@dataclass(frozen=True)
class Oscillators(Forecast):
    """Continue a sum of 8 sines.

    Sees: x(t) = sin(0.2 t) + sin(0.311 t) + ..., at t = start, start + step, ...
    Answers: x(t + ahead).
    Scored: NRMSE of one free run through the whole test section, and in windows of it.
    Chance: 1, by answering the mean.
    Ceiling: the linear baseline, which needs 2n past values for n sines and is exact up to
        rounding. Read every score next to it.
    Source: Wierstra et al. and Koryakin et al. (washout 100, training 300, test 300); Wringe,
        Trefzer and Stepney 2024, section 5.2.

    Parameters
    ----------
    oscillators:
        Number of sines.
    start:
        Time of the first value.
    step:
        Time between two values.
    """

    washout: int = parameter(100, at_least=0)
    training: int = parameter(300, at_least=10)
    validation: int = parameter(0, at_least=0)
    test: int = parameter(300, at_least=2)
    oscillators: int = parameter(8, at_least=1, at_most=len(FREQUENCIES))
    start: float = 0.0
    step: float = parameter(1.0, above=0, added=True)

    draws: ClassVar[bool] = False
    running: ClassVar[str] = "free"
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("prediction", "known", running="free")

    @property
    def taps(self) -> int:  # type: ignore[override]  # as many as solve it
        """Of the linear control."""
        return 2 * self.oscillators

    def drive(self, rng: np.random.Generator) -> Series:
        """Always the same."""
        t = self.start + self.step * np.arange(self.length)
        values = np.sin(np.multiply.outer(t, FREQUENCIES[: self.oscillators])).sum(axis=1)
        return self.forecast(values[:, None], shown="raw", varies=["weights"])


task.variant(
    "dynamics/mso-1", version=1, of=Oscillators, summary="Go on with a sine.", oscillators=1
)
task.variant(
    "dynamics/mso-2",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 2 sines.",
    oscillators=2,
)
task.variant(
    "dynamics/mso-3",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 3 sines.",
    oscillators=3,
)
task.variant(
    "dynamics/mso-4",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 4 sines.",
    oscillators=4,
)
task.variant(
    "dynamics/mso-5",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 5 sines.",
    oscillators=5,
)
task.variant(
    "dynamics/mso-6",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 6 sines.",
    oscillators=6,
)
task.variant(
    "dynamics/mso-7",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 7 sines.",
    oscillators=7,
)
task.variant(
    "dynamics/mso-9",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 9 sines.",
    oscillators=9,
)
task.variant(
    "dynamics/mso-10",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 10 sines.",
    oscillators=10,
)
task.variant(
    "dynamics/mso-11",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 11 sines.",
    oscillators=11,
)
task.variant(
    "dynamics/mso-12",
    version=1,
    of=Oscillators,
    summary="Go on with a sum of 12 sines.",
    oscillators=12,
)


@task("dynamics/lazy-eight", version=1, **RULES, oracle="the linear rule is exact to rounding")
@dataclass(frozen=True)
class LazyEight(Forecast):
    """Continue drawing a figure eight that lies on its side.

    Sees: x = sin p and y = sin(2p) / 2, where the phase p takes 200 steps for one loop.
    Answers: the next point.
    Scored: NRMSE of one free run through the test section and in its first loop; the distance to
        the nearest point of the true curve, at any phase; and the steps for which it stays near
        (use test=10000).
    Chance: 1, by answering the mean.
    Ceiling: the linear baseline at constant speed; unknown with `warp`.
    Source: after Jaeger et al. 2007, whose curve is not published; this one is ours. Wringe,
        Trefzer and Stepney 2024, section 5.3.

    Parameters
    ----------
    warp:
        Share by which the speed varies, with a period of 1,000 steps.
    """

    washout: int = parameter(1000, at_least=0)
    validation: int = parameter(0, at_least=0)
    warp: float = parameter(0.0, at_least=0, at_most=0.9)

    width: ClassVar[int] = 2
    draws: ClassVar[bool] = False
    running: ClassVar[str] = "free"
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("prediction", "known", running="free")

    def drive(self, rng: np.random.Generator) -> Series:
        """Always the same."""
        t = np.arange(self.length)
        # The integral of a speed of 2 pi / 200 (1 + warp sin(2 pi t / 1000)).
        phase = (
            2
            * np.pi
            / LOOP
            * (t + self.warp * 1000 / (2 * np.pi) * (1 - np.cos(2 * np.pi * t / 1000)))
        )
        values = np.stack([np.sin(phase), np.sin(2 * phase) / 2], axis=1)
        return self.forecast(values, shown="raw", varies=["weights"], closed_curve=True, loop=LOOP)


task.variant(
    "dynamics/lazy-eight-warped",
    version=1,
    of=LazyEight,
    summary="Go on drawing a lying figure eight whose speed goes up and down.",
    warp=0.5,
    oracle="unknown, since it is warped",
)
