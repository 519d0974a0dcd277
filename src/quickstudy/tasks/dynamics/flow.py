"""Systems of differential equations: what they share, and how they are solved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.numba_gateway import njit
from quickstudy.tasks.dynamics.series import Floats, Forecast, taxonomy

Term: TypeAlias = tuple[int, float, tuple[int, ...]]
"""Of which coordinate's slope it is a part, its strength, and the coordinates that are multiplied
(two at most).
"""
INTERNAL = 0.002
"""The longest step of the integration."""


@dataclass(frozen=True)
class Flow(Forecast):
    """A system of differential equations.

    To add your own, write a class with `width` and either `terms` (sums of products of at most two
    coordinates) or `slope(x)`, which returns an array like x. Values are divided by `scale` unless
    raw.

    Parameters
    ----------
    step:
        Time between two values.
    transient:
        Values that are dropped first.
    start:
        The first point; none: `origin` with each coordinate moved by up to 0.1, in every
        repetition.
    method:
        `rk4` with internal steps of at most 0.002, or `dop853`.
    tolerance:
        Relative tolerance of `dop853`.
    climate:
        Length of a free run from which the Lyapunov exponents and the statistics of the learner's
        own series are computed and compared with the true ones.
    """

    step: float = parameter(0.02, above=0)
    transient: int = parameter(1000, at_least=0)
    start: tuple[float, ...] | None = None
    method: str = parameter("rk4", choices=("rk4", "dop853"))
    tolerance: float = parameter(1e-10, at_least=3e-14, added=True)
    free: int = parameter(500, at_least=0)
    starts: int = parameter(20, at_least=1)
    climate: int = parameter(0, at_least=0, added=True)

    scale: ClassVar[float] = 1.0
    internal: ClassVar[float] = INTERNAL
    exponents: ClassVar[tuple[float, ...]] = ()
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "prediction", "known", running="driven and free"
    )

    def __post_init__(self) -> None:
        if (
            self.start is not None and len(self.start) != self.width
        ):  # asked only then: it may be in a file
            raise ValueError(f"start must have {self.width} coordinates, got {len(self.start)}")
        if self.climate and (not self.exponents or self.ahead != 1):
            raise ValueError("climate needs ahead=1, and a system whose exponents are known")

    @property
    def draws(self) -> bool:
        """Whether repetitions differ."""
        return self.start is None

    @property
    def interval(self) -> float:  # type: ignore[override]  # a parameter here
        """Time from one value to the next."""
        return self.step

    @property
    def lyapunov(self) -> float | None:  # type: ignore[override]  # the first of the exponents
        """The largest exponent, where it is known."""
        return self.exponents[0] if self.exponents else None

    @property
    def origin(self) -> tuple[float, ...]:
        """Where it starts, about."""
        return (1.0,) * self.width

    @property
    def terms(self) -> tuple[Term, ...]:
        """The slopes."""
        raise NotImplementedError

    def slope(self, x: Floats) -> Floats:
        """(..., width): of states (..., width)."""
        into, strengths, factors = _table(self.terms)
        products = strengths * np.concatenate([x, np.ones_like(x[..., :1])], axis=-1)[
            ..., factors
        ].prod(axis=-1)
        found = np.zeros_like(x)
        for term, place in enumerate(into):
            found[..., place] += products[..., term]
        return found

    @property
    def substeps(self) -> int:
        """Steps of the integration by RK4 for each that is shown."""
        return int(np.ceil(self.interval / self.internal - 1e-9))

    def flow(self, start: Floats, count: int) -> Floats:
        """(count, width): raw values, the first of them the start."""
        first = np.asarray(start, dtype=np.float64)
        if self.method == "rk4" and type(self).slope is Flow.slope:
            return _by_rk4(first, *_table(self.terms), self.interval, self.substeps, count)
        if self.method == "rk4":
            return self._by_slope(first, count)
        return self._by_dop853(first, count)

    def _by_dop853(self, start: Floats, count: int) -> Floats:
        """The same of states (..., width) side by side, which share the steps of the
        integration.
        """
        from scipy.integrate import solve_ivp

        def slope(_: float, x: Floats) -> Floats:
            return self.slope(x.reshape(start.shape)).ravel()

        at = self.interval * np.arange(count)
        found = solve_ivp(
            slope,
            (0.0, at[-1]),
            start.ravel(),
            "DOP853",
            at,
            rtol=self.tolerance,
            atol=self.tolerance / 100,
        )
        return np.asarray(found.y.T).reshape(count, *start.shape)

    def _by_slope(self, start: Floats, count: int) -> Floats:
        """By RK4 with any function as slope, of states (..., width) side by side."""
        values, x, h = np.empty((count, *start.shape)), start, self.interval / self.substeps
        for number in range(count):
            values[number] = x
            for _ in range(self.substeps if number + 1 < count else 0):
                k1 = self.slope(x)
                k2 = self.slope(x + h / 2 * k1)
                k3 = self.slope(x + h / 2 * k2)
                x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + self.slope(x + h * k3))
        return values

    def values(self, rng: np.random.Generator, count: int) -> tuple[Floats, dict[str, Any]]:
        """(count, width) values as shown, after the transient, and what a record should
        say of them.
        """
        start = self.start_near(rng) if self.start is None else np.asarray(self.start)
        raw = _kept(self, tuple(start.tolist()), self.transient + count)[self.transient :]
        facts = {
            "first": start.tolist(),
            "internal_step": self.interval / self.substeps if self.method == "rk4" else None,
            "shown": "raw" if self.raw else f"x / {self.scale:g}",
            "varies": ["start", "weights"] if self.draws else ["weights"],
        }
        return raw if self.raw else raw / self.scale, facts

    def start_near(self, rng: np.random.Generator) -> Floats:
        """A start of one repetition."""
        return np.asarray(self.origin) + rng.uniform(-0.1, 0.1, self.width)

    def drive(self, rng: np.random.Generator) -> Series:
        """The values after the transient."""
        values, facts = self.values(rng, self.length)
        return self.forecast(values, **facts)

    def exact(self, inputs: Floats) -> Floats:
        """`ahead` steps from every state that is read."""
        raw = inputs if self.raw else inputs * self.scale
        if self.method == "dop853":
            later = self._by_dop853(raw, self.ahead + 1)[-1]
        elif type(self).slope is not Flow.slope:
            later = self._by_slope(raw, self.ahead + 1)[-1]
        else:
            later = np.stack([self.flow(state, self.ahead + 1)[-1] for state in raw])
        return np.asarray(later if self.raw else later / self.scale)


@lru_cache(maxsize=8)
def _kept(flow: Flow, start: tuple[float, ...], count: int) -> Floats:
    """Kept, since the next learner of the same repetition gets the same."""
    return flow.flow(np.asarray(start), count)


@lru_cache(maxsize=32)
def _table(terms: tuple[Term, ...]) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Terms as arrays; -1 means the constant 1 after the last coordinate."""
    if any(len(factors) > 2 for _, _, factors in terms):
        raise UsageError("a term multiplies two coordinates at most")
    factors = [(*factors, -1, -1)[:2] for _, _, factors in terms]
    into, strengths = (
        np.array([term[0] for term in terms]),
        np.array([float(term[1]) for term in terms]),
    )
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
    start: Floats,
    into: Any,
    strengths: Floats,
    factors: Any,
    step: float,
    substeps: int,
    count: int,
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
