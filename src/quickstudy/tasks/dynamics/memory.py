"""What a memory holds of noise: a series in which nothing can be foreseen, its control and its
oracle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Series
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import control, task
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals
from quickstudy.tasks.controls import FixedRule
from quickstudy.tasks.dynamics.series import taxonomy

BASES = {"uniform": "legendre", "normal": "hermite", "binary": "walsh"}
"""By the distribution of the inputs, the functions that are orthonormal under it."""


@task(
    "dynamics/memory",
    version=1,
    controls=["no-memory", "delay-line"],
    oracle="none: a delay line of n states remembers n steps, for every n",
    protocol="properties",
)
@dataclass(frozen=True)
class Memory:
    """Memory capacity, processing capacity (IPC), ranks and Lyapunov exponent of states driven by
    white noise.

    Sees: an independent random number per step.
    Answers: the numbers of 1 to `delays` steps ago. Under the protocol `properties` nothing is
        asked, and the states are measured.
    Scored: memory capacity.
    Chance: 0.
    Ceiling: the number of states. A delay line of `delays` steps is a baseline.
    Source: Jaeger 2001; Dambre et al. 2012; Wringe, Trefzer and Stepney 2024, section 8.

    Parameters
    ----------
    delays:
        The longest delay.
    distribution:
        `uniform` in -1 to 1, `normal` with standard deviation 1, or `binary`, -1 and 1.
    washout:
        Steps before training that are neither learned from nor scored.
    training:
        Steps the learner is trained on.
    test:
        Steps that are scored.
    """

    inputs: ClassVar[Reals] = Reals(1)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("property", "none")
    delays: int = parameter(20, at_least=1)
    distribution: str = parameter("uniform", choices=tuple(BASES))
    washout: int = parameter(200, at_least=0)
    training: int = parameter(5000, at_least=1)
    test: int = parameter(5000, at_least=1)

    @property
    def outputs(self) -> Reals:
        """One number per delay."""
        return Reals(self.delays)

    def signal(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Independent numbers of the distribution."""
        if self.distribution == "uniform":
            return rng.uniform(-1.0, 1.0, shape)
        return (
            rng.normal(size=shape)
            if self.distribution == "normal"
            else rng.choice([-1.0, 1.0], shape)
        )

    def response(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """(time, delay): the inputs of 1 .. `delays` steps ago, 0 before the first."""
        before = np.concatenate([np.zeros(self.delays), inputs[:, 0]])
        return np.column_stack(
            [before[self.delays - delay :][: len(inputs)] for delay in range(1, self.delays + 1)]
        )

    def drive(self, rng: np.random.Generator) -> Series:
        """A fresh series."""
        inputs = self.signal(rng, (self.washout + self.training + self.test, 1))
        return Series(inputs, self.response(inputs), self.washout, self.training, 0, self.test)


@task(
    "dynamics/charc",
    version=1,
    controls=["no-memory"],
    oracle="unknown: all behaviours of a substrate",
    protocol="charc",
)
@dataclass(frozen=True)
class Characterisation(Memory):
    """Measure how many different behaviours one kind of core can have (CHARC).

    Sees: independent numbers, uniform in -1 to 1.
    Answers: nothing.
    Scored: number of voxels of the space of kernel rank, generalisation rank and memory capacity
        that a novelty search reaches, next to a random search with as many evaluations.
    Chance: 1, a single fixed behaviour.
    Source: Dale et al. 2019.
    """


NARROW, NARROW_STEPS = 0.1, 1000
"""The range of the inputs that a rank under small inputs is measured with, of the whole range, and
how many there are.
"""


def narrow_noise(task: Memory, streams: Streams) -> NDArray[np.float64]:
    """(step, 1): small noise for a device, its own washout first."""
    return NARROW * task.signal(streams.numpy("generalisation"), (task.washout + NARROW_STEPS, 1))


class StateRule(FixedRule):
    """A fixed rule with states to look at."""

    reads = gives = (Reals,)

    def __init__(self, task: Memory, brief: Brief, seed: int) -> None:
        self._task, self._width = task, brief.outputs.width

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The mean of all answers."""
        return np.zeros((len(inputs), self._width))


@control("no-memory", version=1, role="control")
class NoMemory(StateRule):
    """A state that is the current input."""

    def states(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """(time, 1)."""
        return inputs


@control("delay-line", version=1, role="control")
class DelayLine(StateRule):
    """The inputs of 1 to `delays` steps ago: the most that as many states can hold."""

    def states(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """(time, delay)."""
        return self._task.response(inputs)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The requested targets; before they are read, another task may have requested others."""
        return self.states(inputs) if self._width == self._task.delays else super().predict(inputs)
