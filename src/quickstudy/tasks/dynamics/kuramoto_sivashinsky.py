"""The equation of Kuramoto and Sivashinsky: chaos along a line, solved in Fourier space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.tasks.dynamics.series import RULES, Floats, Forecast, Parts, taxonomy

INTERNAL = {"etdrk4": 1, "exact": 5}
"""Steps of the integration for each that is shown."""
LYAPUNOV = {22.0: 0.047, 60.0: 0.09, 100.0: 0.09, 200.0: 0.09}
"""The largest exponent by the length of the domain, about."""


@task(
    "dynamics/kuramoto-sivashinsky-22",
    version=1,
    **RULES,
    oracle="the flow needs steps that are not seen",
)
@dataclass(frozen=True)
class KuramotoSivashinsky(Forecast):
    """Predict the equation of Kuramoto and Sivashinsky on a ring of length 22.

    Sees: y at `points` places, where y_t = -y y_x - y_xx - y_xxxx + forcing cos(2 pi x /
        wavelength), every `step`.
    Answers: the same, `ahead` steps later.
    Scored: NRMSE with true inputs; in free runs, how long the error stays below 0.4.
    Chance: 1, by answering the mean.
    Ceiling: unknown.
    Source: Wringe, Trefzer and Stepney 2024, section 5.5. Sizes 12 to 100: Rafayelyan et al.; 200:
        Vlachas et al.; 100 to 1,600 and the forced one: Pathak et al.

    The equation is solved by ETDRK4 (Kassam and Trefethen).

    Parameters
    ----------
    size:
        Length of the ring.
    points:
        Number of places.
    step:
        Time between two values.
    transient:
        Values that are dropped first.
    start:
        `random`: three waves of random strength and phase in every repetition; `smooth`: cos(p) (1
        + sin(p)) once around the ring.
    forcing:
        Strength of the periodic forcing.
    wavelength:
        Wavelength of the forcing.
    dealias:
        Remove the upper third of the waves from products.
    contour:
        Points of the unit circle over which the coefficients of ETDRK4 are averaged.
    method:
        `etdrk4` with internal steps of `step`, or `exact` with a fifth of it.
    """

    size: float = parameter(22.0, above=0)
    points: int = parameter(64, at_least=8)
    step: float = parameter(0.25, above=0)
    transient: int = parameter(2500, at_least=0)
    start: str = parameter("random", choices=("random", "smooth"))
    forcing: float = 0.0
    wavelength: float = parameter(100.0, above=0)
    dealias: bool = True
    contour: int = parameter(32, at_least=8)
    method: str = parameter("etdrk4", choices=tuple(INTERNAL), added=True)
    free: int = parameter(400, at_least=0)
    starts: int = parameter(10, at_least=1)

    taps: ClassVar[int] = 4
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "prediction", "known", running="driven and free"
    )

    def __post_init__(self) -> None:
        if self.points % 2:
            raise ValueError(f"points must be even, got {self.points}")
        if (
            self.forcing
            and abs(self.size / self.wavelength - round(self.size / self.wavelength)) > 1e-9
        ):
            raise ValueError(
                f"size must be a multiple of the wavelength {self.wavelength:g}, got {self.size:g}"
            )

    @property
    def draws(self) -> bool:
        """Whether repetitions differ."""
        return self.start == "random"

    @property
    def width(self) -> int:  # type: ignore[override]  # a parameter here
        """One value per place."""
        return self.points

    @property
    def interval(self) -> float:  # type: ignore[override]  # a parameter here
        """Time from one value to the next."""
        return self.step

    @property
    def lyapunov(self) -> float | None:  # type: ignore[override]  # known for some sizes
        """The largest exponent, where it is known."""
        return None if self.forcing else LYAPUNOV.get(self.size)

    def values(self, rng: np.random.Generator, count: int) -> tuple[Floats, dict[str, Any]]:
        """(count, points) values after the transient, and their description for a record."""
        phase = 2 * np.pi * np.arange(self.points) / self.points
        if self.start == "smooth":
            first = np.cos(phase) * (1 + np.sin(phase))
        else:
            waves = np.multiply.outer((1, 2, 3), phase) + rng.uniform(0, 2 * np.pi, (3, 1))
            first = (rng.uniform(0.2, 0.6, (3, 1)) * np.cos(waves)).sum(axis=0)
        facts = {"shown": "raw", "varies": ["start", "weights"] if self.draws else ["weights"]}
        return _solved(self, first.tobytes(), self.transient + count)[self.transient :], facts

    def drive(self, rng: np.random.Generator) -> Series:
        """The values after the transient."""
        values, facts = self.values(rng, self.length)
        return self.forecast(values, **facts)


@lru_cache(maxsize=4)
def _solved(of: KuramotoSivashinsky, first: bytes, count: int) -> Floats:
    """(count, points) from the first value on, by ETDRK4. Kept, since the next learner gets the
    same.
    """
    points, h, every = of.points, of.step / INTERNAL[of.method], INTERNAL[of.method]
    wave = 2 * np.pi / of.size * np.arange(points // 2 + 1)
    linear = wave**2 - wave**4
    slope = -0.5j * wave
    slope[-1] = 0.0  # the derivative of the fastest wave is not on the grid
    if of.dealias:
        slope[np.arange(points // 2 + 1) > points // 3] = 0.0
    whole, half = np.exp(h * linear), np.exp(h * linear / 2)
    circle = np.exp(1j * np.pi * (np.arange(of.contour) + 0.5) / of.contour)
    z = h * linear[:, None] + circle
    q = h * ((np.exp(z / 2) - 1) / z).mean(axis=1).real
    f1 = h * ((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3).mean(axis=1).real
    f2 = h * ((2 + z + np.exp(z) * (-2 + z)) / z**3).mean(axis=1).real
    f3 = h * ((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3).mean(axis=1).real
    place = of.size * np.arange(points) / points
    forced = np.fft.rfft(of.forcing * np.cos(2 * np.pi * place / of.wavelength))

    def bent(v: Any) -> Any:
        return slope * np.fft.rfft(np.fft.irfft(v, points) ** 2) + forced

    v = np.fft.rfft(np.frombuffer(first))
    values = np.empty((count, points))
    for number in range((count - 1) * every + 1):
        if number % every == 0:
            values[number // every] = np.fft.irfft(v, points)
        here = bent(v)
        a = half * v + q * here
        at_a = bent(a)
        at_b = bent(half * v + q * at_a)
        at_c = bent(half * a + q * (2 * at_b - here))
        v = whole * v + f1 * here + 2 * f2 * (at_a + at_b) + f3 * at_c
    return values


task.variant(
    "dynamics/kuramoto-sivashinsky-12",
    version=1,
    of=KuramotoSivashinsky,
    summary="Predict the equation of Kuramoto and Sivashinsky on a ring of length 12.",
    size=12.0,
)
task.variant(
    "dynamics/kuramoto-sivashinsky-36",
    version=1,
    of=KuramotoSivashinsky,
    summary="Predict the equation of Kuramoto and Sivashinsky on a ring of length 36.",
    size=36.0,
)
task.variant(
    "dynamics/kuramoto-sivashinsky-60",
    version=1,
    of=KuramotoSivashinsky,
    summary="Predict the equation of Kuramoto and Sivashinsky on a ring of length 60.",
    size=60.0,
    points=128,
)
task.variant(
    "dynamics/kuramoto-sivashinsky-100",
    version=1,
    of=KuramotoSivashinsky,
    summary="Predict the equation of Kuramoto and Sivashinsky on a ring of length 100.",
    size=100.0,
    points=128,
)
task.variant(
    "dynamics/kuramoto-sivashinsky-200",
    version=1,
    of=KuramotoSivashinsky,
    summary="Predict the equation of Kuramoto and Sivashinsky on a ring of length 200.",
    size=200.0,
    points=512,
)
task.variant(
    "dynamics/kuramoto-sivashinsky-400",
    version=1,
    of=KuramotoSivashinsky,
    summary="Predict the equation of Kuramoto and Sivashinsky on a ring of length 400.",
    size=400.0,
    points=1024,
)
task.variant(
    "dynamics/kuramoto-sivashinsky-800",
    version=1,
    of=KuramotoSivashinsky,
    summary="Predict the equation of Kuramoto and Sivashinsky on a ring of length 800.",
    size=800.0,
    points=2048,
)
task.variant(
    "dynamics/kuramoto-sivashinsky-1600",
    version=1,
    of=KuramotoSivashinsky,
    summary="Predict the equation of Kuramoto and Sivashinsky on a ring of length 1600.",
    size=1600.0,
    points=4096,
)
task.variant(
    "dynamics/kuramoto-sivashinsky-forced",
    version=1,
    of=KuramotoSivashinsky,
    summary="Predict the forced equation of Kuramoto and Sivashinsky on a ring of length 200.",
    size=200.0,
    points=512,
    forcing=0.01,
)


@task(
    "dynamics/kuramoto-sivashinsky-observer",
    version=1,
    **RULES,
    oracle="unknown: what can be inferred of the rest",
)
@dataclass(frozen=True)
class KuramotoSivashinskyObserver(Parts):
    """Infer the equation of Kuramoto and Sivashinsky between the places that are seen.

    Sees: every eighth of 64 places on a ring of length 22.
    Answers: the other places at the same time.
    Scored: NRMSE of all together.
    Chance: 1, by answering the mean.
    Ceiling: unknown.
    Source: Wringe, Trefzer and Stepney 2024, section 5.5.

    Parameters
    ----------
    every:
        One place in this many is seen.
    """

    every: int = parameter(8, choices=(2, 4, 8, 16, 32))

    taps: ClassVar[int] = 4
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("imitation", "known")

    @property
    def inputs(self) -> Reals:
        """The places that are seen."""
        return Reals(64 // self.every)

    @property
    def outputs(self) -> Reals:
        """All others."""
        return Reals(64 - 64 // self.every)

    def drive(self, rng: np.random.Generator) -> Series:
        """Some places are read, the others are asked for."""
        values, facts = KuramotoSivashinsky().values(rng, self.steps)
        seen = np.arange(64) % self.every == 0
        return self.series(values[:, seen], values[:, ~seen], **facts)
