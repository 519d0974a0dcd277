"""Control by imitation: a teacher forces an oscillator onto a circle; then the learner is in the
teacher's place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from quickstudy.base.examples import Series
from quickstudy.base.exchange import FED_BACK
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.numba_gateway import njit
from quickstudy.tasks.dynamics.series import RULES, Floats, FreeRun, Parts, taxonomy

STEP = 0.01
"""Seconds of a control step, which is one step of the integration; the force is held meanwhile."""
STRONGEST = 50.0
GAINS = (50.0, 10.0, 20.0)
"""Of the teacher: on the error, its integral and its slope."""
WIDEST = 3.0
"""Starts are uniform in +- this, place and speed."""


@dataclass(frozen=True)
class InPlace(FreeRun):
    """A free run in which the learner's force moves the oscillators, one row per start.

    Parameters
    ----------
    first:
        Positions and velocities at the start, of shape (row, 2).
    """

    first: Floats
    task: VanDerPol

    kind: ClassVar[str] = "situ"

    def begin(self) -> Floats:
        """The starts."""
        return self.first

    def advance(self, state: Floats, answers: Floats, step: int) -> tuple[Floats, Floats, Floats]:
        """One control step. What runs away is held where a float still has digits."""
        state = np.clip(self.task.moved(state, answers[:, 0]), -FED_BACK, FED_BACK)
        return state, self.task.seen(state, step + 1), state


@task(
    "dynamics/van-der-pol",
    version=1,
    **RULES,
    oracle="the integral that the teacher keeps is not seen",
)
@dataclass(frozen=True)
class VanDerPol(Parts):
    """Force an oscillator of Van der Pol onto a circle, imitating a teacher.

    Sees: x and x' of x'' - mu (1 - x^2) x' + x = F, and x and x' of the reference one step later, x
        = A cos wt.
    Answers: the force of a PID teacher, at most 50 in either direction.
    Scored: NRMSE of the force while the teacher acts. In situ, the learner's force moves `starts`
        oscillators from new points, and x and x' are compared with the reference after 5 seconds.
    Chance: 1.
    Ceiling: unknown; the teacher itself has 0.03 to 0.09.
    Source: Wringe, Trefzer and Stepney 2024, section 4.4. The gains, the circle and the protocol
        are ours, since none are published.

    Parameters
    ----------
    mu:
        Nonlinear damping of the oscillator.
    radius:
        Radius A of the circle.
    speed:
        Angular velocity w of the reference.
    restart:
        Seconds after which the teacher starts again from another point.
    starts:
        Number of oscillators in the test.
    seconds:
        Duration of the test.
    """

    washout: int = parameter(100, at_least=0)
    training: int = parameter(4900, at_least=10)
    test: int = parameter(500, at_least=2)
    mu: float = 1.5
    radius: float = parameter(1.0, above=0)
    speed: float = parameter(1.0, above=0)
    restart: float = parameter(5.0, above=0)
    starts: int = parameter(20, at_least=1)
    seconds: float = parameter(20.0, above=0)

    inputs: ClassVar[Reals] = Reals(4)
    outputs: ClassVar[Reals] = Reals(1)
    taps: ClassVar[int] = 3
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "imitation", "unknown", running="driven and in situ"
    )

    def reference(self, steps: ArrayLike) -> Floats:
        """(..., 2): place and speed on the circle after so many control steps."""
        angle = self.speed * STEP * np.asarray(steps, dtype=np.float64)
        return np.stack(
            [self.radius * np.cos(angle), -self.radius * self.speed * np.sin(angle)], axis=-1
        )

    def seen(self, state: Floats, step: int) -> Floats:
        """(row, 4): what a controller sees at a control step."""
        return np.concatenate(
            [state, np.broadcast_to(self.reference(step + 1), state.shape)], axis=1
        )

    def moved(self, state: Floats, force: Floats) -> Floats:
        """(row, 2) one control step later, by RK4."""
        held = np.clip(force, -STRONGEST, STRONGEST)
        return np.stack(_moved(self.mu, state[:, 0], state[:, 1], held), axis=1)

    def taught(self, state: Floats, count: int, first: int = 0) -> tuple[Floats, Floats]:
        """The teacher from a place and speed (2,) on, control steps first .. first+count-1: what it
        saw, its forces.
        """
        reference = self.reference(np.arange(first, first + count + 1))
        states, forces = _taught(self.mu, float(state[0]), float(state[1]), reference)
        return np.concatenate([states, reference[1:]], axis=1), forces[:, None]

    def drive(self, rng: np.random.Generator) -> Series:
        """The teacher from random starts."""
        each = max(1, round(self.restart / STEP))
        seen, forces = [], []
        for first in range(0, self.steps, each):
            state = rng.uniform(-WIDEST, WIDEST, 2)
            part = self.taught(state, min(each, self.steps - first), first)
            seen.append(part[0])
            forces.append(part[1])
        places = rng.uniform(-WIDEST, WIDEST, (self.starts, 2))
        facts = {
            "settled": round(5 / STEP),
            "starts": places.tolist(),
            "varies": ["start", "weights"],
        }
        return self.series(np.concatenate(seen), np.concatenate(forces), **facts)

    def free_run(self, series: Series) -> InPlace:
        """The learner in the teacher's place."""
        places = np.asarray(series.facts["starts"])
        ahead = self.reference(np.arange(1, round(self.seconds / STEP) + 1))
        target = np.broadcast_to(ahead, (len(places), *ahead.shape))
        return InPlace(self.seen(places, 0)[None], target, places, self)


def moved(mu: float, x: Any, v: Any, force: Any) -> tuple[Any, Any]:
    """Place and speed one control step later, by RK4: numbers, or arrays of them, NumPy's or
    JAX's.
    """
    h = STEP
    a1 = mu * (1 - x * x) * v - x + force
    x2, v2 = x + h / 2 * v, v + h / 2 * a1
    a2 = mu * (1 - x2 * x2) * v2 - x2 + force
    x3, v3 = x + h / 2 * v2, v + h / 2 * a2
    a3 = mu * (1 - x3 * x3) * v3 - x3 + force
    x4, v4 = x + h * v3, v + h * a3
    a4 = mu * (1 - x4 * x4) * v4 - x4 + force
    return x + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


_moved = njit(moved)


@njit
def _taught(mu: float, x: float, v: float, reference: Floats) -> tuple[Floats, Floats]:
    count, total = len(reference) - 1, 0.0
    states, forces = np.empty((count, 2)), np.empty(count)
    for place in range(count):
        error = reference[place, 0] - x
        total += error * STEP
        force = GAINS[0] * error + GAINS[1] * total + GAINS[2] * (reference[place, 1] - v)
        forces[place] = min(STRONGEST, max(-STRONGEST, force))
        states[place, 0], states[place, 1] = x, v
        x, v = _moved(mu, x, v, forces[place])
    return states, forces
