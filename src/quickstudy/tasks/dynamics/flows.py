"""Chaotic flows: Lorenz '63 and '96, Roessler, each a few products of coordinates; and what can be seen of one from a
part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import task
from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Reals
from quickstudy.compiled import njit
from quickstudy.tasks.dynamics.series import RULES, Floats, Forecast, Parts, taxonomy

Term: TypeAlias = tuple[int, float, tuple[int, ...]]
"""Of which coordinate's slope it is a part, its strength, and the coordinates that are multiplied (two at most)."""
INTERNAL = 0.002
"""The longest step of the integration."""


@dataclass(frozen=True)
class Flow(Forecast):
    """A system of differential equations whose slopes are sums of products of at most two coordinates.

    A system of one's own is a class with `width` and `terms`. step: time from one value to the next, at k times the
    step exactly. transient: values that are dropped first. start: the first of these; none: as `origin`, each
    coordinate moved by up to 0.1, anew in every repetition. method: `rk4`, with internal steps of 0.002 at most, or
    `dop853`, at a relative tolerance of 1e-10. Values are shown over `scale`, unless they are raw.
    """

    step: float = parameter(0.02, above=0)
    transient: int = parameter(1000, at_least=0)
    start: tuple[float, ...] | None = None
    method: str = parameter("rk4", choices=("rk4", "dop853"))
    free: int = parameter(500, at_least=0)
    starts: int = parameter(20, at_least=1)

    scale: ClassVar[float] = 1.0
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("prediction", "known", running="driven and free")

    def __post_init__(self) -> None:
        if self.start is not None and len(self.start) != self.width:
            raise ValueError(f"start must have {self.width} coordinates, got {len(self.start)}")

    @property
    def draws(self) -> bool:
        """Whether repetitions differ."""
        return self.start is None

    @property
    def interval(self) -> float:  # type: ignore[override]  # a parameter here
        """Time from one value to the next."""
        return self.step

    @property
    def origin(self) -> tuple[float, ...]:
        """Where it starts, about."""
        return (1.0,) * self.width

    @property
    def terms(self) -> tuple[Term, ...]:
        """The slopes."""
        raise NotImplementedError

    def flow(self, start: Floats, count: int) -> Floats:
        """(count, width): raw values, the first of them the start."""
        if self.method == "rk4":
            substeps = int(np.ceil(self.step / INTERNAL - 1e-9))
            return _by_rk4(np.asarray(start, dtype=np.float64), *_table(self.terms), self.step, substeps, count)
        from scipy.integrate import solve_ivp

        into, strengths, factors = _table(self.terms)

        def slope(_: float, x: Floats) -> Floats:
            products = strengths * np.append(x, 1.0)[factors].prod(axis=1)
            return np.bincount(into, products, minlength=len(x)).astype(np.float64)

        at = self.step * np.arange(count)
        return np.asarray(solve_ivp(slope, (0.0, at[-1]), start, "DOP853", at, rtol=1e-10, atol=1e-12).y.T)

    def values(self, rng: np.random.Generator, count: int) -> tuple[Floats, dict[str, Any]]:
        """(count, width) values as they are shown, behind the transient, and what a record should say of them."""
        if self.start is None:
            start = np.asarray(self.origin) + rng.uniform(-0.1, 0.1, self.width)
        else:
            start = np.asarray(self.start)
        raw = _kept(self, tuple(start.tolist()), self.transient + count)[self.transient :]
        facts = {
            "first": start.tolist(),
            "internal_step": self.step / np.ceil(self.step / INTERNAL - 1e-9) if self.method == "rk4" else None,
            "shown": "raw" if self.raw else f"x / {self.scale:g}",
            "varies": ["start", "weights"] if self.draws else ["weights"],
        }
        return raw if self.raw else raw / self.scale, facts

    def drive(self, rng: np.random.Generator) -> Series:
        """The values behind the transient."""
        values, facts = self.values(rng, self.length)
        return self.forecast(values, **facts)

    def exact(self, inputs: Floats) -> Floats:
        """`ahead` steps from every state that is read."""
        raw = inputs if self.raw else inputs * self.scale
        later = np.stack([self.flow(state, self.ahead + 1)[-1] for state in raw])
        return later if self.raw else later / self.scale


@lru_cache(maxsize=8)
def _kept(flow: Flow, start: tuple[float, ...], count: int) -> Floats:
    """Kept, since the next learner of the same repetition gets the same."""
    return flow.flow(np.asarray(start), count)


@lru_cache(maxsize=32)
def _table(terms: tuple[Term, ...]) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Terms as arrays; -1 stands for the constant 1 behind the last coordinate."""
    if any(len(factors) > 2 for _, _, factors in terms):
        raise UsageError("a term multiplies two coordinates at most")
    factors = [(*factors, -1, -1)[:2] for _, _, factors in terms]
    into, strengths = np.array([term[0] for term in terms]), np.array([float(term[1]) for term in terms])
    return into, strengths, np.array(factors, dtype=np.int64)


@njit
def _slope(x: Floats, into: Any, strengths: Floats, factors: Any, out: Floats) -> None:
    out[:] = 0.0
    for term in range(len(into)):
        product = strengths[term]
        for place in range(2):
            if factors[term, place] >= 0:
                product *= x[factors[term, place]]
        out[into[term]] += product


@njit
def _by_rk4(
    start: Floats, into: Any, strengths: Floats, factors: Any, step: float, substeps: int, count: int
) -> Floats:
    values = np.empty((count, len(start)))
    x, h = start.copy(), step / substeps
    k1, k2, k3, k4 = np.empty_like(x), np.empty_like(x), np.empty_like(x), np.empty_like(x)
    for number in range(count):
        values[number] = x
        for _ in range(substeps):
            _slope(x, into, strengths, factors, k1)
            _slope(x + h / 2 * k1, into, strengths, factors, k2)
            _slope(x + h / 2 * k2, into, strengths, factors, k3)
            _slope(x + h * k3, into, strengths, factors, k4)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return values


@task("dynamics/lorenz-63", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Lorenz63(Flow):
    """Predict the flow of Lorenz (1963).

    Sees: x, y, z of x' = sigma (y - x), y' = x (rho - z) - y, z' = x y - beta z, every `step`. Answers: the same,
    `ahead` steps later. Scored: NRMSE with the true values read; running free, how long the error stays below 0.4, in
    Lyapunov times of 1 / 0.9056. Chance 1, by the mean. Ceiling: the flow itself. Source: Wringe, Trefzer and Stepney,
    section 5.4, whose first equation has the wrong sign.
    """

    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8 / 3

    width: ClassVar[int] = 3
    scale: ClassVar[float] = 20.0
    lyapunov: ClassVar[float | None] = 0.9056

    @property
    def terms(self) -> tuple[Term, ...]:
        """x, y, z."""
        sigma, rho, beta = self.sigma, self.rho, self.beta
        of_y: tuple[Term, ...] = ((1, rho, (0,)), (1, -1.0, (0, 2)), (1, -1.0, (1,)))
        return (0, sigma, (1,)), (0, -sigma, (0,)), *of_y, (2, 1.0, (0, 1)), (2, -beta, (2,))


@task("dynamics/roessler", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Roessler(Flow):
    """Predict the flow of Roessler (1976).

    Sees: x, y, z of x' = -y - z, y' = x + a y, z' = b + z (x - c), every `step`. Answers: the same `ahead` steps later.
    Scored: NRMSE with the true values read, and running free. Chance 1, by the mean. Ceiling: the flow itself.
    """

    a: float = 0.2
    b: float = 0.2
    c: float = 5.7
    step: float = parameter(0.1, above=0)

    width: ClassVar[int] = 3
    scale: ClassVar[float] = 5.0
    lyapunov: ClassVar[float | None] = 0.0714

    @property
    def terms(self) -> tuple[Term, ...]:
        """x, y, z."""
        of_z: tuple[Term, ...] = ((2, self.b, ()), (2, 1.0, (2, 0)), (2, -self.c, (2,)))
        return (0, -1.0, (1,)), (0, -1.0, (2,)), (1, 1.0, (0,)), (1, self.a, (1,)), *of_z


@task("dynamics/lorenz-96", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Lorenz96(Flow):
    """Predict the ring of Lorenz (1996), 40 places, forced by 8 (Vlachas et al. 2018, 2020).

    Sees: x_i of x_i' = (x_(i+1) - x_(i-2)) x_(i-1) - x_i + force, on a ring of `places`, every `step`. Answers: the
    same, `ahead` steps later. Scored: NRMSE with the true values read, and running free. Chance 1, by the mean.
    Ceiling: the flow itself. It starts at the force everywhere, 0.01 more at the first place. Source: Wringe, Trefzer
    and Stepney, section 5.4 and Table 4, where "0-40 places" is the range of a plot.
    """

    places: int = parameter(40, at_least=4)
    force: float = 8.0
    step: float = parameter(0.05, above=0)
    free: int = parameter(200, at_least=0)

    scale: ClassVar[float] = 4.0
    taps: ClassVar[int] = 4

    @property
    def width(self) -> int:  # type: ignore[override]  # a parameter here
        """One coordinate per place."""
        return self.places

    @property
    def lyapunov(self) -> float | None:  # type: ignore[override]  # known for one setting
        """The largest exponent, where it is known."""
        return 1.68 if (self.places, self.force) == (40, 8.0) else None

    @property
    def origin(self) -> tuple[float, ...]:
        """Nearly at rest."""
        return (self.force + 0.01, *(self.force,) * (self.places - 1))

    @property
    def terms(self) -> tuple[Term, ...]:
        """Around the ring."""
        return tuple(
            term
            for i in range(self.places)
            for term in (
                (i, 1.0, ((i + 1) % self.places, (i - 1) % self.places)),
                (i, -1.0, ((i - 2) % self.places, (i - 1) % self.places)),
                (i, -1.0, (i,)),
                (i, self.force, ()),
            )
        )


task.variant("dynamics/lorenz-96-f4", version=1, of=Lorenz96, summary="The ring of Lorenz, forced by 4.", force=4.0)
task.variant("dynamics/lorenz-96-f10", version=1, of=Lorenz96, summary="The ring of Lorenz, forced by 10.", force=10.0)
task.variant("dynamics/lorenz-96-f16", version=1, of=Lorenz96, summary="The ring of Lorenz, forced by 16.", force=16.0)
task.variant(
    "dynamics/lorenz-96-canaday", version=1, of=Lorenz96,
    summary="The ring of Lorenz, 11 places, forced by 8 (Canaday et al.).", places=11,
)  # fmt: skip


@task("dynamics/lorenz-63-observer", version=1, **RULES, oracle="what is unseen follows from the whole past of x")
@dataclass(frozen=True)
class Lorenz63Observer(Parts):
    """Infer the unseen coordinates of Lorenz '63.

    Sees: x, every `step` of the flow of dynamics/lorenz-63. Answers: y and z of the same time. Scored: NRMSE of both
    together. Chance 1, by the mean. Ceiling: unknown. Source: Wringe, Trefzer and Stepney, section 5.4.
    """

    step: float = parameter(0.02, above=0)
    transient: int = parameter(1000, at_least=0)

    inputs: ClassVar[Reals] = Reals(1)
    outputs: ClassVar[Reals] = Reals(2)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("imitation", "known")

    def drive(self, rng: np.random.Generator) -> Series:
        """One coordinate is read, the others are asked for."""
        values, facts = Lorenz63(step=self.step, transient=self.transient).values(rng, self.steps)
        return self.series(values[:, :1], values[:, 1:], **facts)
