"""NARMA: driven systems of a known recurrence, in every published parameter set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.numba_gateway import njit
from quickstudy.tasks.dynamics.series import (
    MOST_READ,
    RULES,
    Floats,
    FreeRun,
    OwnAnswers,
    Parts,
    taxonomy,
)

DIVERGED = 10.0
"""Beyond this the recurrence only grows."""
MOST_STREAMS = 100
"""Inputs that are drawn for one series before it is given up."""
_WINDOWS = {"stated": (0, -1, -1), "charc": (1, -1, -1), "reservoirpy": (1, 0, 0)}
"""Of each window: the newest value in the sum (x(t-i)), the oldest, the older input; the latter two
less the order.
"""


@dataclass(frozen=True)
class Driven(Parts):
    """A system driven by uniform numbers. A drive on which the system diverges is sampled again and
    counted in the record.

    Parameters
    ----------
    order:
        Steps of its own past that the system uses.
    high:
        Largest input; the smallest is 0.
    lead:
        1 asks for x(t+1) after u(t), 0 for x(t).
    feedback:
        Also show the previous answer: the true one during training, the learner's own during the
        test.
    drawn:
        `uniform`, or `sines`: high / 2 (1 + sin(2.11 s) sin(3.73 s) sin(4.11 s)) with s = 2 pi t /
        100, from a random step of its period of 10,000 (Fujii and Nakajima 2017).
    """

    order: int = parameter(10, at_least=1)
    high: float = parameter(0.5, above=0)
    lead: int = parameter(1, at_least=0, at_most=1)
    feedback: bool = parameter(False, added=True)
    drawn: str = parameter("uniform", choices=("uniform", "sines"), added=True)

    outputs: ClassVar[Reals] = Reals(1)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("imitation", "known")

    @property
    def inputs(self) -> Reals:
        """What it is driven by, and perhaps the answer before."""
        return Reals(1 + self.feedback)

    @property
    def running(self) -> str:
        """How it is tested."""
        return "free" if self.feedback else "driven"

    def free_run(self, series: Series) -> FreeRun | None:
        """The test part on its own answers, after all that comes before it; None without
        feedback.
        """
        if not self.feedback:
            return None
        first = len(series.inputs) - series.test
        warm = series.inputs[max(0, first + 1 - MOST_READ) : first + 1, None]
        return OwnAnswers(warm, series.targets[None, first:], series.inputs[first:, :1])

    @property
    def validates_free(self) -> bool:
        """Whether a learner may choose settings by a free run on the validation part."""
        return self.feedback and self.validation > 1

    def validation_run(self, series: Series) -> FreeRun:
        """The validation part on its own answers."""
        first = series.washout + series.training
        asked = slice(first, first + series.validation)
        warm = series.inputs[max(0, first + 1 - MOST_READ) : first + 1, None]
        return OwnAnswers(warm, series.targets[None, asked], series.inputs[asked, :1])

    @property
    def taps(self) -> int:
        """Of the linear control: twice the order."""
        return 2 * self.order

    def values(self, inputs: Floats) -> Floats:
        """x(0) .. x(T) for inputs u(0) .. u(T-1); nan from where it diverges."""
        raise NotImplementedError

    def response(self, inputs: Floats) -> Floats:
        """x(1) .. x(T), or x(0) .. x(T-1) without a lead, from a start at zero. Raises UsageError
        if it diverges.
        """
        x = self.values(np.ascontiguousarray(inputs[:, 0], dtype=np.float64))
        lost = np.flatnonzero(np.isnan(x))
        if len(lost):
            raise UsageError(
                f"with these inputs the system diverges: |x({lost[0]})| would be above"
                f" {DIVERGED:g}; give smaller ones"
            )
        return x[self.lead : len(inputs) + self.lead, None]

    def _input(self, rng: np.random.Generator, count: int) -> Floats:
        if self.drawn == "uniform":
            return rng.uniform(0.0, self.high, count)
        angle = 2 * np.pi / 100 * (rng.integers(10_000) + np.arange(count))
        waves = np.sin(2.11 * angle) * np.sin(3.73 * angle) * np.sin(4.11 * angle)
        return np.asarray(self.high / 2 * (1 + waves))

    def drive(self, rng: np.random.Generator) -> Series:
        """A fresh input, after a transient of max(200, 10 order) steps that is not shown."""
        transient = max(200, 10 * self.order)
        for diverged in range(MOST_STREAMS):
            u = self._input(rng, transient + self.steps)
            x = self.values(u)
            if not np.isnan(x).any():
                later = x[transient + self.lead : transient + self.lead + self.steps]
                facts = {
                    "diverged": diverged,
                    "transient": transient,
                    "input": f"{self.drawn} in 0 .. {self.high:g}",
                }
                seen = [u[transient:], x[transient + self.lead - 1 :][: self.steps]][
                    : 1 + self.feedback
                ]
                return self.series(
                    np.stack(seen, axis=1), later[:, None], **facts, varies=["inputs", "weights"]
                )
        raise UsageError(
            f"all of {MOST_STREAMS} inputs ({self.drawn}) in 0 .. {self.high:g} made the system"
            " diverge; give a smaller high, a shorter series or squashed=true"
        )


@task("dynamics/narma-10", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class Narma(Driven):
    """Follow the NARMA system of order 10 (Atiya and Parlos 2000).

    Sees: one input u(t) per step, uniform in 0 to `high`.
    Answers: x(t+1) = alpha x(t) + beta x(t) (x(t) + ... + x(t-order+1)) + gamma u(t-order+1) u(t) +
        delta, from x(0) = ... = x(order-1) = 0.
    Scored: NRMSE over the test section.
    Chance: 1, by answering the mean. Persistence is above 1 for half of the published settings, so
        errors of different orders cannot be compared.
    Ceiling: 0, by computing the recurrence.
    Source: Wringe, Trefzer and Stepney 2024, section 4.1 and Table 2. The lengths of the sections
        are ours.

    Drives on which the system diverges (|x| > 10) are sampled again and counted in the record: nine
    in a thousand of 2,000 steps at order 10.

    Parameters
    ----------
    alpha:
        Weight of the last value.
    beta:
        Weight of the last value times the sum of the window.
    gamma:
        Weight of the product of two inputs.
    delta:
        Constant term.
    squashed:
        Take the tanh of the right-hand side.
    window:
        Which values are summed: `stated` as in the formula; `charc` omits x(t); `reservoirpy` sums
        x(t-1) to x(t-order) and multiplies by u(t-order). The last two are what public programs
        compute.
    """

    alpha: float = 0.3
    beta: float = 0.05
    gamma: float = 1.5
    delta: float = 0.1
    squashed: bool = False
    window: str = parameter("stated", choices=tuple(_WINDOWS))

    def values(self, inputs: Floats) -> Floats:
        """By the compiled recurrence."""
        newest, oldest, lag = _WINDOWS[self.window]
        window = newest, self.order + oldest, self.order + lag
        return _narma(inputs, self.alpha, self.beta, self.gamma, self.delta, self.squashed, *window)


@njit
def _narma(
    u: Floats,
    alpha: float,
    beta: float,
    gamma: float,
    delta: float,
    squashed: bool,
    newest: int,
    oldest: int,
    lag: int,
) -> Floats:
    x = np.zeros(len(u) + 1)
    for t in range(max(oldest, lag), len(u)):
        total = 0.0
        for back in range(newest, oldest + 1):
            total += x[t - back]
        following = alpha * x[t] + beta * x[t] * total + gamma * u[t - lag] * u[t] + delta
        if squashed:
            following = np.tanh(following)
        if not abs(following) <= DIVERGED:
            x[t + 1 :] = np.nan
            break
        x[t + 1] = following
    return x


FUJII = {"high": 0.2}
task.variant(
    "dynamics/narma-5", version=1, of=Narma, summary="Follow NARMA of order 5 (Dale 2018).", order=5
)
task.variant(
    "dynamics/narma-5-fujii",
    version=1,
    of=Narma,
    summary="Follow NARMA of order 5, input in 0 .. 0.2 (Fujii and Nakajima 2017).",
    order=5,
    **FUJII,
)
task.variant(
    "dynamics/narma-10-fujii",
    version=1,
    of=Narma,
    summary="Follow NARMA of order 10, input in 0 .. 0.2 (Fujii and Nakajima 2017).",
    **FUJII,
)
task.variant(
    "dynamics/narma-15-fujii",
    version=1,
    of=Narma,
    summary="Follow NARMA of order 15, input in 0 .. 0.2 (Fujii and Nakajima 2017).",
    order=15,
    **FUJII,
)
task.variant(
    "dynamics/narma-20-fujii",
    version=1,
    of=Narma,
    summary="Follow NARMA of order 20, input in 0 .. 0.2 (Fujii and Nakajima 2017).",
    order=20,
    **FUJII,
)
task.variant(
    "dynamics/narma-20",
    version=1,
    of=Narma,
    summary="Follow NARMA of order 20, squashed by tanh (Rodan and Tino 2011).",
    order=20,
    delta=0.01,
    squashed=True,
)
task.variant(
    "dynamics/narma-30",
    version=1,
    of=Narma,
    summary="Follow NARMA of order 30 (Schrauwen et al. 2008).",
    order=30,
    alpha=0.2,
    beta=0.04,
    delta=0.001,
)
task.variant(
    "dynamics/narma-30-dale",
    version=1,
    of=Narma,
    summary="Follow NARMA of order 30, its sum ten times weaker (Dale 2018).",
    order=30,
    alpha=0.2,
    beta=0.004,
    delta=0.001,
)


@task("dynamics/narma-2", version=1, **RULES, oracle="exact-state")
@dataclass(frozen=True)
class SecondOrder(Driven):
    """Follow the second-order system of Atiya and Parlos (2000), which has its own equation.

    Sees: one input u(t) per step in 0 to `high`.
    Answers: x(t+1) = 0.4 x(t) + 0.4 x(t) x(t-1) + 0.6 u(t)^3 + 0.1, from x(0) = x(1) = 0.
    Scored: NRMSE over the test section.
    Chance: 1, by answering the mean.
    Ceiling: 0, by computing the recurrence.
    Source: Atiya and Parlos 2000.

    Parameters
    ----------
    order:
        Always 2.
    """

    order: int = parameter(2, at_least=2, at_most=2)

    def values(self, inputs: Floats) -> Floats:
        """By the compiled recurrence."""
        return _second_order(inputs)


task.variant(
    "dynamics/narma-2-fujii",
    version=1,
    of=SecondOrder,
    summary=(
        "Follow the second-order system, driven by a product of three sines (Fujii and Nakajima"
        " 2017)."
    ),
    drawn="sines",
    **FUJII,
)


@njit
def _second_order(u: Floats) -> Floats:
    x = np.zeros(len(u) + 1)
    for t in range(1, len(u)):
        following = 0.4 * x[t] + 0.4 * x[t] * x[t - 1] + 0.6 * u[t] ** 3 + 0.1
        if not abs(following) <= DIVERGED:
            x[t + 1 :] = np.nan
            break
        x[t + 1] = following
    return x
