"""The series of Mackey and Glass as NeuroBench has them: coarse steps, little data, one long free
run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.dynamics.mackey_glass import by_rk4
from quickstudy.tasks.dynamics.series import RULES, Floats, Forecast, taxonomy

SETTINGS: Mapping[int, tuple[float, float]] = {
    17: (197.0, 0.7206597),
    18: (138.0, 0.7744313),
    19: (315.0, 0.7783468),
    20: (131.0, 0.9225991),
    21: (191.0, 0.9479431),
    22: (119.0, 0.5455960),
    23: (106.0, 0.8622247),
    24: (97.0, 0.3259660),
    25: (98.0, 0.8297825),
    26: (104.0, 1.0033490),
    27: (112.0, 0.6491406),
    28: (119.0, 1.0957495),
    29: (131.0, 0.9256179),
    30: (139.0, 0.2713639),
}
"""By delay, the Lyapunov time and the constant history."""
POINTS = 75
"""Values in a Lyapunov time."""
STARTS = 30
"""Places, half a Lyapunov time apart, from one of which a run takes its series."""
SOLVED = 0.01
"""Internal step of the solution."""


@task(
    "dynamics/mackey-glass-neurobench",
    version=1,
    **RULES,
    oracle="the state is a whole history, of which 75 values in a Lyapunov time are seen",
)
@dataclass(frozen=True)
class NeuroBenchMackeyGlass(Forecast):
    """Go on with a Mackey-Glass series for ten Lyapunov times, having seen ten.

    Sees: x(n), where x' = 0.2 x(t-delay) / (1 + x(t-delay)^10) - 0.1 x(t), 75 values in a Lyapunov
        time.
    Answers: x(n + 1).
    Scored: sMAPE of one free run over the whole test part, which begins with one true value; NRMSE
        with true inputs.
    Chance: that of the mean of the series.
    Ceiling: unknown.
    Source: Yik et al. 2025 (NeuroBench), chaotic function prediction. Its series are files made by
        an adaptive solver; these are solved with steps of 0.01 from the same histories, and so
        part from them after some Lyapunov times. Each repetition takes one of its 30 places.

    Parameters
    ----------
    delay:
        Delay of the equation, 17 to 30.
    """

    washout: int = parameter(45, at_least=0)
    training: int = parameter(705, at_least=10)
    validation: int = parameter(0, at_least=0)
    test: int = parameter(750, at_least=2)
    raw: bool = True
    free: int = parameter(750, at_least=0)
    delay: int = parameter(17, at_least=17, at_most=30)

    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "prediction", "known", running="driven and free"
    )

    @property
    def interval(self) -> float:  # type: ignore[override]  # follows from the delay
        """Time from one value to the next."""
        return SETTINGS[self.delay][0] / POINTS

    @property
    def lyapunov(self) -> float | None:  # type: ignore[override]  # follows from the delay
        """The largest exponent, as the publication has it."""
        return 1.0 / SETTINGS[self.delay][0]

    def drive(self, rng: np.random.Generator) -> Series:
        """The values from one of the places."""
        first = int(rng.integers(STARTS) * 0.5 * POINTS)
        values = _solved(self.delay, self.length + int(STARTS * 0.5 * POINTS))
        part = values[first : first + self.length, None]
        return self.forecast(part, first=first, varies=["start", "weights"])


@lru_cache(maxsize=4)
def _solved(delay: int, count: int) -> Floats:
    """The first values from the constant history, read off a solution by cubic splines."""
    from scipy.interpolate import CubicSpline

    interval, start = SETTINGS[delay][0] / POINTS, SETTINGS[delay][1]
    fine = round(count * interval / SOLVED) + 2
    history = np.full(round(delay / SOLVED) + 1, start)
    solution = by_rk4(history, 0.2, 10.0, 0.1, SOLVED, fine)
    spline = CubicSpline(np.arange(fine) * SOLVED, solution)
    return np.asarray(spline(np.arange(count) * interval))
