"""Chaotic maps, of which one step is one formula: Henon's, with noise or without, and the logistic
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.numba_gateway import njit
from quickstudy.tasks.dynamics.series import RULES, Floats, Forecast, is_setting, taxonomy


@dataclass(frozen=True)
class Iterated(Forecast):
    """A map applied to its own values, which are shown less `middle` and divided by `scale` unless
    raw.

    Parameters
    ----------
    start:
        The first value; none: uniform in 0.1 to 0.4 in every repetition.
    transient:
        Values that are dropped first.
    """

    start: float | None = None
    transient: int = parameter(1000, at_least=0)
    free: int = parameter(100, at_least=0)
    starts: int = parameter(20, at_least=1)

    middle: ClassVar[float] = 0.0
    scale: ClassVar[float] = 1.0
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "prediction", "known", running="driven and free"
    )

    @property
    def draws(self) -> bool:
        """Whether repetitions differ."""
        return self.start is None

    def raw_values(self, first: float, count: int, rng: np.random.Generator) -> Floats:
        """(count,): from the first on."""
        raise NotImplementedError

    def shown(self, raw: Floats) -> Floats:
        """As they are read."""
        return raw if self.raw else (raw - self.middle) / self.scale

    def meant(self, shown: Floats) -> Floats:
        """The inverse of `shown`."""
        return shown if self.raw else shown * self.scale + self.middle

    def drive(self, rng: np.random.Generator) -> Series:
        """The values after the transient."""
        first = float(rng.uniform(0.1, 0.4)) if self.start is None else self.start
        raw = self.raw_values(first, self.transient + self.length, rng)
        said = "raw" if self.raw else f"(x - {self.middle:g}) / {self.scale:g}"
        varies = ["start", "weights"] if self.draws else ["weights"]
        return self.forecast(
            self.shown(raw[self.transient :, None]), first=first, shown=said, varies=varies
        )


@task("dynamics/logistic", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Logistic(Iterated):
    """Predict the logistic map.

    Sees: 2 x(t) - 1, where x(t+1) = rate x(t) (1 - x(t)).
    Answers: the same, `ahead` steps later.
    Scored: NRMSE with true inputs, and in free runs.
    Chance: 1, by answering the mean.
    Ceiling: 0, by computing the map.
    Source: a base case in the literature reviewed by Wringe, Trefzer and Stepney 2024.

    Parameters
    ----------
    rate:
        Growth rate of the map.
    """

    rate: float = parameter(3.9, above=0, at_most=4)

    middle: ClassVar[float] = 0.5
    scale: ClassVar[float] = 0.5

    @property
    def lyapunov(self) -> float | None:  # type: ignore[override]  # known for one setting
        """Per step, where it is known."""
        return 0.496 if is_setting((self.rate,), (3.9,)) else None

    def raw_values(self, first: float, count: int, rng: np.random.Generator) -> Floats:
        """By the formula."""
        return _logistic(first, self.rate, count)

    def exact(self, inputs: Floats) -> Floats:
        """`ahead` steps from every value that is read."""
        x = self.meant(inputs)
        for _ in range(self.ahead):
            x = self.rate * x * (1 - x)
        return self.shown(x)


@njit
def _logistic(first: float, rate: float, count: int) -> Floats:
    x = np.empty(count)
    x[0] = first
    for t in range(count - 1):
        x[t + 1] = rate * x[t] * (1.0 - x[t])
    return x


@task("dynamics/henon", version=2, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Henon(Iterated):
    """Predict the map of Henon (1976).

    Sees: x(t) plus Gaussian noise, where x(t+1) = 1 - 1.4 x(t)^2 + 0.3 x(t-1).
    Answers: the same, `ahead` steps later, including its noise.
    Scored: NRMSE with true inputs, and in free runs.
    Chance: 1, by answering the mean.
    Ceiling: the map itself; with noise, an extended Kalman filter that knows the map and the noise.
    Departures: the noise is added to what the learner sees. In the recurrence, as printed in the
        source, it drives every series of this length out of bounds.
    Source: Rodan and Tino 2011 (noise 0.05).

    Parameters
    ----------
    noise:
        Standard deviation of the noise.
    """

    noise: float = parameter(0.0, at_least=0)

    @property
    def lyapunov(self) -> float | None:  # type: ignore[override]  # known without noise
        """Per step, where it is known."""
        return 0.4192 if not self.noise else None

    @property
    def draws(self) -> bool:
        """Whether repetitions differ."""
        return self.start is None or self.noise > 0

    @property
    def validates_free(self) -> bool:
        """Not with noise in what is seen: noise already keeps the readout from a strength that is
        too small.
        """
        return not self.noise and super().validates_free

    def raw_values(self, first: float, count: int, rng: np.random.Generator) -> Floats:
        """By the formula."""
        return _henon(first, count) + self.noise * rng.standard_normal(count)

    def response(self, inputs: Floats) -> Floats:
        """What the map makes of each value and the one before, `ahead` steps later; before the
        first there was 0. With noise, what it makes of the filtered values.
        """
        now = self.meant(np.asarray(inputs, dtype=np.float64))
        if self.noise:
            now, before = np.split(_filtered(now[:, 0], self.noise), 2, axis=1)
        else:
            before = np.concatenate([np.zeros((1, 1)), now[:-1]])
        for _ in range(self.ahead):
            now, before = 1.0 - 1.4 * now**2 + 0.3 * before, now
        return self.shown(now)


@njit
def _henon(first: float, count: int) -> Floats:
    x = np.empty(count)
    x[0], before = first, 0.0
    for t in range(count - 1):
        x[t + 1] = 1.0 - 1.4 * x[t] ** 2 + 0.3 * before
        before = x[t]
    return x


SPREAD, INFLATION = 0.5, 0.004
"""Of the filter: variance before anything is read, and what keeps it from being too sure of a map
that folds, in variances of the noise. Of 0, 0.0004, 0.004 and 0.04, its errors on 16,000 steps were
least at 0.004.
"""


@njit
def _filtered(seen: Floats, noise: float) -> Floats:
    """(time, 2): estimates of each value and of the one before it, by an extended Kalman filter."""
    found = np.empty((len(seen), 2))
    now, before, own, both, past = 0.26, 0.26, SPREAD, 0.0, SPREAD
    for t in range(len(seen)):
        total, gap = own + noise**2, seen[t] - now
        now, before = now + own / total * gap, before + both / total * gap
        past = past - both * both / total
        own, both = own - own * own / total, both - own * both / total
        found[t] = now, before
        slope = -2.8 * now
        later = slope * slope * own + 0.6 * slope * both + 0.09 * past + INFLATION * noise**2
        both, past = slope * own + 0.3 * both, own
        now, before = 1.0 - 1.4 * (now * now + own) + 0.3 * before, now
        own = later
    return found


task.variant(
    "dynamics/henon-noisy",
    version=1,
    of=Henon,
    summary="Predict the map of Henon with noise (Rodan and Tino 2011).",
    oracle="filtered-state",
    noise=0.05,
)
