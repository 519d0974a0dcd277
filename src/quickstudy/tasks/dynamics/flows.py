"""Chaotic flows: Lorenz '63 and '96, Roessler, the double scroll; and what can be seen of one from
a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.tasks.dynamics.flow import Flow, Term
from quickstudy.tasks.dynamics.series import RULES, Floats, Parts, is_setting, taxonomy


@task("dynamics/lorenz-63", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Lorenz63(Flow):
    """Predict the flow of Lorenz (1963).

    Sees: x, y and z, where x' = sigma (y - x), y' = x (rho - z) - y, z' = x y - beta z, every
        `step`.
    Answers: the same, `ahead` steps later.
    Scored: NRMSE with true inputs; in free runs, how long the error stays below 0.4, in Lyapunov
        times of 1 / 0.9056.
    Chance: 1, by answering the mean.
    Ceiling: 0, by integrating the flow.
    Source: Wringe, Trefzer and Stepney 2024, section 5.4, where the first equation has the wrong
        sign.

    Parameters
    ----------
    sigma, rho, beta:
        Coefficient of the equations.
    """

    sigma: float = 10.0
    rho: float = 28.0
    beta: float = 8 / 3

    width: ClassVar[int] = 3
    scale: ClassVar[float] = 20.0

    @property
    def exponents(self) -> tuple[float, ...]:  # type: ignore[override]  # known for one setting
        """Lyapunov's, where they are known."""
        return (
            (0.9056, 0.0, -14.5723)
            if is_setting((self.sigma, self.rho, self.beta), (10.0, 28.0, 8 / 3))
            else ()
        )

    @property
    def terms(self) -> tuple[Term, ...]:
        """x, y, z."""
        sigma, rho, beta = self.sigma, self.rho, self.beta
        of_y: tuple[Term, ...] = ((1, rho, (0,)), (1, -1.0, (0, 2)), (1, -1.0, (1,)))
        return (0, sigma, (1,)), (0, -sigma, (0,)), *of_y, (2, 1.0, (0, 1)), (2, -beta, (2,))


task.variant(
    "dynamics/lorenz-63-climate",
    version=1,
    of=Lorenz63,
    summary="Run on with the flow of Lorenz (1963), and have its climate.",
    climate=20_000,
)


@task("dynamics/roessler", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Roessler(Flow):
    """Predict the flow of Roessler (1976).

    Sees: x, y and z, where x' = -y - z, y' = x + a y, z' = b + z (x - c), every `step`.
    Answers: the same, `ahead` steps later.
    Scored: NRMSE with true inputs, and in free runs.
    Chance: 1, by answering the mean.
    Ceiling: 0, by integrating the flow.
    Source: Roessler 1976.

    Parameters
    ----------
    a, b, c:
        Coefficient of the equations.
    """

    a: float = 0.2
    b: float = 0.2
    c: float = 5.7
    step: float = parameter(0.1, above=0)

    width: ClassVar[int] = 3
    scale: ClassVar[float] = 5.0

    @property
    def exponents(self) -> tuple[float, ...]:  # type: ignore[override]  # known for one setting
        """Lyapunov's, where they are known."""
        return (
            (0.0714, 0.0, -5.3943) if is_setting((self.a, self.b, self.c), (0.2, 0.2, 5.7)) else ()
        )

    @property
    def terms(self) -> tuple[Term, ...]:
        """x, y, z."""
        of_z: tuple[Term, ...] = ((2, self.b, ()), (2, 1.0, (2, 0)), (2, -self.c, (2,)))
        return (0, -1.0, (1,)), (0, -1.0, (2,)), (1, 1.0, (0,)), (1, self.a, (1,)), *of_z


@task("dynamics/double-scroll", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class DoubleScroll(Flow):
    """Predict the flow of the double-scroll circuit.

    Sees: V, W and I, where V' = V / 1.2 - g, W' = g - I, I' = W - 0.193 I, with g = D / 3.44 +
        4.5e-5 sinh(11.6 D) and D = V - W, every `step`.
    Answers: the same, `ahead` steps later.
    Scored: NRMSE with true inputs, and in free runs.
    Chance: 1, by answering the mean.
    Ceiling: 0, by integrating the flow.
    Source: Chang et al. 1998, with the constants of Gauthier et al. 2021.
    """

    step: float = parameter(0.25, above=0)

    width: ClassVar[int] = 3
    internal: ClassVar[float] = 0.05

    @property
    def origin(self) -> tuple[float, ...]:
        """On one of the scrolls."""
        return (0.37926545, 0.058339, -0.08167691)

    def slope(self, x: Floats) -> Floats:
        """V, W, I."""
        first, second, current = x[..., 0], x[..., 1], x[..., 2]
        apart = first - second
        across = apart / 3.44 + 4.5e-5 * np.sinh(11.6 * apart)
        return np.stack([first / 1.2 - across, across - current, second - 0.193 * current], axis=-1)


@task("dynamics/lorenz-96", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Lorenz96(Flow):
    """Predict the ring of Lorenz (1996), 40 places, forced by 8 (Vlachas et al. 2018, 2020).

    Sees: x_i at every place i, where x_i' = (x_(i+1) - x_(i-2)) x_(i-1) - x_i + force on a ring,
        every `step`.
    Answers: the same, `ahead` steps later.
    Scored: NRMSE with true inputs, and in free runs.
    Chance: 1, by answering the mean.
    Ceiling: 0, by integrating the flow.
    Source: Wringe, Trefzer and Stepney 2024, section 5.4 and Table 4, where "0-40 places" is the
        range of a plot.

    The flow starts near the force everywhere, 0.01 higher at the first place.

    Parameters
    ----------
    places:
        Number of places on the ring.
    force:
        The constant force.
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
    def exponents(self) -> tuple[float, ...]:  # type: ignore[override]  # known for one setting
        """The largest, where it is known."""
        return (1.68,) if is_setting((self.places, self.force), (40, 8.0)) else ()

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


task.variant(
    "dynamics/lorenz-96-f4",
    version=1,
    of=Lorenz96,
    summary="The ring of Lorenz, forced by 4.",
    force=4.0,
)
task.variant(
    "dynamics/lorenz-96-f10",
    version=1,
    of=Lorenz96,
    summary="The ring of Lorenz, forced by 10.",
    force=10.0,
)
task.variant(
    "dynamics/lorenz-96-f16",
    version=1,
    of=Lorenz96,
    summary="The ring of Lorenz, forced by 16.",
    force=16.0,
)
task.variant(
    "dynamics/lorenz-96-canaday",
    version=1,
    of=Lorenz96,
    summary="The ring of Lorenz, 11 places, forced by 8 (Canaday et al.).",
    places=11,
)


@task(
    "dynamics/lorenz-63-observer",
    version=1,
    **RULES,
    oracle="what is unseen follows from the whole past of x",
)
@dataclass(frozen=True)
class Lorenz63Observer(Parts):
    """Infer the unseen coordinates of Lorenz '63.

    Sees: x of dynamics/lorenz-63, every `step`.
    Answers: y and z at the same time.
    Scored: NRMSE of both together.
    Chance: 1, by answering the mean.
    Ceiling: unknown.
    Source: Wringe, Trefzer and Stepney 2024, section 5.4.

    Parameters
    ----------
    step:
        Time between two values.
    transient:
        Values that are dropped first.
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
