"""The flows of Gilpin's catalogue, out of the user's own copy of it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.dynamics.flow import Flow
from quickstudy.tasks.dynamics.series import RULES, Floats


@task("dynamics/gilpin", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Catalogued(Flow):
    """Predict a chaotic flow of Gilpin's catalogue.

    Sees: all coordinates of the flow, divided by twice the largest of their standard deviations.
    Answers: the same, `ahead` steps later.
    Scored: NRMSE with true inputs; in free runs, how long the error stays below 0.4, in units of
        the catalogue's largest Lyapunov exponent.
    Chance: 1, by answering the mean.
    Ceiling: 0, by integrating the flow.
    Source: Gilpin 2021, 135 flows with periods and exponents.

    The catalogue is not part of this package: install the Python package `dysts`. Flows with a
    delay or an explicit dependence on time are refused. The catalogue has beta = 2.667 for Lorenz
    '63, and 4 places for '96. A flow starts at the catalogue's initial point, each coordinate moved
    by up to a thousandth of its scale.

    Parameters
    ----------
    system:
        Name of the flow in the catalogue.
    per_period:
        Values per period of the flow.
    step:
        Time between two values; 0 takes it from `per_period`.
    """

    system: str = "Lorenz"
    per_period: int = parameter(50, at_least=2)
    step: float = parameter(0.0, at_least=0)
    method: str = parameter("dop853", choices=("rk4", "dop853"))

    def ready(self) -> None:
        """Raise UsageError, with the remedy, if the catalogue is not on this machine, or has
        no such flow.
        """
        _found(self.system)

    @property
    def interval(self) -> float:  # type: ignore[override]  # by the period
        """Time from one value to the next."""
        return self.step or float(_found(self.system).period) / self.per_period

    @property
    def width(self) -> int:  # type: ignore[override]  # by the system
        """Its coordinates."""
        return len(self.origin)

    @property
    def origin(self) -> tuple[float, ...]:
        """Where the catalogue starts it."""
        return tuple(np.asarray(_found(self.system).ic, dtype=np.float64).ravel().tolist())

    @property
    def scale(self) -> float:  # type: ignore[override]  # by the system
        """What values are shown over."""
        return 2.0 * float(np.max(_found(self.system).std))

    @property
    def lyapunov(self) -> float | None:  # type: ignore[override]  # by the system
        """The largest exponent that the catalogue has estimated."""
        return float(_found(self.system).maximum_lyapunov_estimated)

    def slope(self, x: Floats) -> Floats:
        """By the catalogue."""
        parts = _found(self.system).rhs(x, 0.0)
        return np.stack([np.broadcast_to(part, x.shape[:-1]) for part in parts], axis=-1)

    def start_near(self, rng: np.random.Generator) -> Floats:
        """The catalogue's start, moved a little: its coordinates may be of any size."""
        return np.asarray(self.origin) + 1e-3 * self.scale * rng.uniform(-1.0, 1.0, self.width)


@lru_cache(maxsize=32)
def _found(system: str) -> Any:
    try:
        flows = importlib.import_module("dysts.flows")
    except ImportError as error:
        raise UsageError(
            f"Gilpin's catalogue cannot be imported: {error}; type: pip install dysts, in an"
            " environment of your own"
        ) from None
    known = [
        name
        for name, value in vars(flows).items()
        if isinstance(value, type) and hasattr(value, "_rhs")
    ]
    if system not in known:
        raise UsageError(f'dynamics/gilpin: no system "{system}"; {nearest(system, known)}')
    flow: Any = getattr(flows, system)()
    if getattr(flow, "delay", False) or getattr(flow, "nonautonomous", False):
        raise UsageError(
            f"dynamics/gilpin: {system} has a delay or depends on the time; take another"
        )
    return flow
