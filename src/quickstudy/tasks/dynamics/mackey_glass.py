"""The delay equation of Mackey and Glass: the published Euler recurrence, and accurate
solutions.
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
from quickstudy.numba_gateway import njit
from quickstudy.tasks.dynamics.series import RULES, Floats, Forecast, is_setting, taxonomy

INTERNAL = {"euler-0.1": 0.1, "rk4": 0.1, "exact": 0.01}
"""The internal step of each method."""


@task(
    "dynamics/mackey-glass-17",
    version=1,
    **RULES,
    oracle="the state is a whole history, of which every tenth is seen",
)
@dataclass(frozen=True)
class MackeyGlass(Forecast):
    """Predict the series of Mackey and Glass, mildly chaotic at delay 17 (Jaeger 2001).

    Sees: y(n) = tanh(x(n) - 1), or x(n) if `raw`, where x' = beta x(t-delay) / (1 +
        x(t-delay)^power) - gamma x(t), sampled every `step`.
    Answers: y(n + ahead).
    Scored: NRMSE with true inputs; in free runs, the error after 84 and after 120 steps over all
        starts, divided by the standard deviation of the series (NRMSE_84 is one value per run, not
        a mean along it).
    Chance: 1, by answering the mean; persistence is far lower.
    Ceiling: unknown.
    Source: Jaeger 2001, whose 3,000 steps are washout 1,000 and training 2,000 here; Wringe,
        Trefzer and Stepney 2024, section 5.1 and Table 3.

    Parameters
    ----------
    delay:
        Delay of the equation, in time units.
    beta:
        Strength of the delayed term.
    power:
        Exponent of the delayed term.
    gamma:
        Decay rate.
    step:
        Time between two values.
    transient:
        Values that are dropped first.
    start:
        A constant history; none: 1.2 plus uniform numbers in +-0.1, as in Jaeger 2001.
    method:
        `euler-0.1`: the published recurrence (steps of 0.1, every tenth value kept), which is the
        benchmark. `rk4` (steps of 0.1) and `exact` (0.01) interpolate the history by cubics; they
        give other series after 200 time units.
    """

    washout: int = parameter(1000, at_least=0)
    test: int = parameter(2000, at_least=2)
    free: int = parameter(120, at_least=0)
    starts: int = parameter(50, at_least=1)
    delay: float = parameter(17.0, at_least=0.2)
    beta: float = 0.2
    power: float = 10.0
    gamma: float = 0.1
    step: float = parameter(1.0, above=0)
    transient: int = parameter(1000, at_least=0)
    start: float | None = None
    method: str = parameter("euler-0.1", choices=tuple(INTERNAL))

    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "prediction", "known", running="driven and free"
    )

    def __post_init__(self) -> None:
        for name in ("delay", "step"):
            steps = getattr(self, name) / INTERNAL[self.method]
            if abs(steps - round(steps)) > 1e-6 or round(steps) < 1:
                raise ValueError(
                    f"{name} must be a multiple of {INTERNAL[self.method]:g}, the step of"
                    f" {self.method}"
                )

    @property
    def lyapunov(self) -> float | None:  # type: ignore[override]  # known for one setting
        """The largest exponent, where it is known."""
        usual = is_setting((self.delay, self.beta, self.power, self.gamma), (17.0, 0.2, 10.0, 0.1))
        return 0.0065 if usual else None

    @property
    def draws(self) -> bool:
        """Whether repetitions differ."""
        return self.start is None

    @property
    def interval(self) -> float:  # type: ignore[override]  # a parameter here
        """Time from one value to the next."""
        return self.step

    def drive(self, rng: np.random.Generator) -> Series:
        """The values after the transient."""
        size = round(self.delay / INTERNAL[self.method]) + 1
        history = (
            1.2 + rng.uniform(-0.1, 0.1, size) if self.start is None else np.full(size, self.start)
        )
        raw = _kept(self, history.tobytes(), self.transient + self.length)[self.transient :, None]
        facts = {
            "shown": "raw" if self.raw else "tanh(x - 1)",
            "varies": ["start", "weights"][not self.draws :],
        }
        return self.forecast(raw if self.raw else np.tanh(raw - 1.0), **facts)


@lru_cache(maxsize=8)
def _kept(of: MackeyGlass, history: bytes, count: int) -> Floats:
    """x(0), x(step) ... from a history up to time 0. Kept, since the next learner gets the same."""
    h = INTERNAL[of.method]
    every = round(of.step / h)
    solve = _by_euler if of.method == "euler-0.1" else by_rk4
    fine = solve(np.frombuffer(history), of.beta, of.power, of.gamma, h, (count - 1) * every + 1)
    return np.ascontiguousarray(fine[::every])


@njit
def _by_euler(
    history: Floats, beta: float, power: float, gamma: float, h: float, count: int
) -> Floats:
    lag = len(history) - 1
    x = np.empty(lag + count)
    x[: lag + 1] = history
    for k in range(lag, lag + count - 1):
        late = x[k - lag]
        x[k + 1] = x[k] + h * (beta * late / (1.0 + late**power) - gamma * x[k])
    return x[lag:]


@njit
def by_rk4(
    history: Floats, beta: float, power: float, gamma: float, h: float, count: int
) -> Floats:
    """x(0), x(h) ... by steps of Runge and Kutta, the history interpolated by cubics."""
    lag = len(history) - 1
    x, slope = np.empty(lag + count), np.zeros(lag + count)
    x[: lag + 1] = history
    for k in range(lag - 1):  # of a history that is given by points alone
        slope[k + 1] = (x[k + 2] - x[k]) / (2 * h)
    for k in range(lag, lag + count - 1):
        begin, end = x[k - lag], x[k - lag + 1]
        # At time 0 the slope jumps: up to there it is that of the history.
        before = slope[k - lag + 1] if k != 2 * lag - 1 else (end - x[k - lag]) / h
        middle = (begin + end) / 2 + h / 8 * (slope[k - lag] - before)
        made = beta * middle / (1.0 + middle**power)
        k1 = beta * begin / (1.0 + begin**power) - gamma * x[k]
        k2 = made - gamma * (x[k] + h / 2 * k1)
        k3 = made - gamma * (x[k] + h / 2 * k2)
        k4 = beta * end / (1.0 + end**power) - gamma * (x[k] + h * k3)
        slope[k] = k1
        x[k + 1] = x[k] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x[lag:]


task.variant(
    "dynamics/mackey-glass-16",
    version=1,
    of=MackeyGlass,
    summary="Predict the series of Mackey and Glass, periodic at delay 16 (Jaeger 2001).",
    delay=16.0,
)
task.variant(
    "dynamics/mackey-glass-30",
    version=1,
    of=MackeyGlass,
    summary="Predict the series of Mackey and Glass, strongly chaotic at delay 30 (Jaeger 2001).",
    delay=30.0,
)
task.variant(
    "dynamics/mackey-glass-18",
    version=1,
    of=MackeyGlass,
    summary="Predict the series of Mackey and Glass at delay 18 (Moon et al.).",
    delay=18.0,
)
PHYSIOLOGICAL = {"delay": 2.0, "beta": 2.0, "gamma": 1.0, "step": 0.1, "method": "rk4"}
task.variant(
    "dynamics/mackey-glass-2-periodic",
    version=1,
    of=MackeyGlass,
    summary="Predict the series of Glass and Mackey, periodic at delay 2 and power 8.5.",
    power=8.5,
    **PHYSIOLOGICAL,
)
task.variant(
    "dynamics/mackey-glass-2-chaotic",
    version=1,
    of=MackeyGlass,
    summary="Predict the series of Glass and Mackey, chaotic at delay 2 and power 9.65.",
    power=9.65,
    **PHYSIOLOGICAL,
)
