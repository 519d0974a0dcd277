"""The oscillator of Van der Pol as a world: no teacher shows how it is forced onto a circle, trials
are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import control, task
from quickstudy.base.spaces import Reals
from quickstudy.base.task import Turn
from quickstudy.tasks.dynamics.control import GAINS, STEP, STRONGEST, WIDEST, moved
from quickstudy.tasks.dynamics.pole_teacher import NoForce
from quickstudy.tasks.dynamics.series import taxonomy

STARTS = ((2.0, 0.0), (-3.0, 3.0), (3.0, 3.0), (-1.0, -2.0))
"""Places and speeds from which a trial goes, one after the other."""
PIECE, EXAM, MANY = 500, 2000, 20
"""Control steps from each of them; of an exam's run; starts of the exam."""
FAR = 0.5
"""A trial further from the reference, in position or speed, than half the radius after the
settling time is lost.
"""


class Swinging(NamedTuple):
    """State of a trial: position and velocity, control steps so far, whether it was lost."""

    numbers: Any
    time: Any
    lost: Any


@task(
    "dynamics/van-der-pol-trial",
    version=1,
    controls=["no-force"],
    oracle="circle-teacher",
    protocol="trials",
)
@dataclass(frozen=True)
class VanDerPolTrial:
    """Force an oscillator of Van der Pol onto a circle, learning by trials.

    Sees: x and x' of x'' - mu (1 - x^2) x' + x = F, and x and x' of the reference one step later,
        all divided by 3.
    Answers: the force divided by 50, clipped to -1 to 1.
    Scored: from 20 new starts, for 20 seconds each: the share that stays within half a radius of
        the reference after 5 seconds, and NRMSE against the reference from then on.
    Chance: 0, and NRMSE 1.
    Ceiling: the PID teacher of dynamics/van-der-pol.
    Source: Wringe, Trefzer and Stepney 2024, section 4.4; all constants are ours.

    A trial lasts 5 seconds from each of four starts. Its fitness is minus the mean squared distance
    from the reference, at most 10 per step.

    Parameters
    ----------
    mu:
        Nonlinear damping of the oscillator.
    radius:
        Radius of the circle.
    horizon:
        Control steps of a trial.
    """

    mu: float = 1.5
    radius: float = parameter(1.0, above=0)
    horizon: int = parameter(len(STARTS) * PIECE, at_least=PIECE)

    inputs: ClassVar[Reals] = Reals(4)
    outputs: ClassVar[Reals] = Reals(1)
    draws: ClassVar[bool] = False
    asks: ClassVar[str] = "fitness"
    facts: ClassVar[Mapping[str, Any]] = {"settled": PIECE}
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "imitation", "unknown", supervised=False, running="in situ"
    )

    def reset(self, key: Any) -> tuple[Swinging, Any]:
        """Always from the first of four starts."""
        return self._begun(STARTS[0])

    def _begun(self, numbers: Any) -> tuple[Swinging, Any]:
        from quickstudy.jax_gateway import jnp

        state = Swinging(jnp.asarray(numbers, jnp.float32), jnp.int32(0), jnp.bool_(False))
        return state, self._seen(state.numbers, state.time)

    def _reference(self, time: Any) -> Any:
        from quickstudy.jax_gateway import jnp

        angle = STEP * time.astype(jnp.float32)
        return self.radius * jnp.stack([jnp.cos(angle), -jnp.sin(angle)])

    def _seen(self, numbers: Any, time: Any) -> Any:
        from quickstudy.jax_gateway import jnp

        return jnp.concatenate([numbers, self._reference(time + 1)]) / WIDEST

    def step(self, key: Any, state: Swinging, action: Any) -> tuple[Swinging, Turn]:
        """One control step. What runs away is held where a float still has digits."""
        from quickstudy.jax_gateway import jnp

        force = STRONGEST * jnp.clip(action[0], -1.0, 1.0)
        numbers = jnp.clip(
            jnp.stack(moved(self.mu, state.numbers[0], state.numbers[1], force)), -1e3, 1e3
        )
        time = state.time + 1
        wanted = self._reference(time)
        lost = state.lost | (
            self._settled(time) & (jnp.abs(numbers - wanted).max() > FAR * self.radius)
        )
        off = jnp.minimum(jnp.square(numbers - wanted).mean(), 10.0)
        reward = jnp.where(state.time < self.horizon, -off / self.horizon, 0.0)
        info = {
            "steps": time,
            "held": (time >= self.horizon) & ~lost,
            "reached": numbers,
            "reference": wanted,
        }
        numbers = self._moved_on(numbers, time)
        turn = Turn(self._seen(numbers, time), reward, time >= self.horizon, info)
        return Swinging(numbers, time, lost), turn

    @staticmethod
    def _settled(time: Any) -> Any:
        """Whether it should be on the circle: in the last second of a piece."""
        return time % PIECE > PIECE - 100

    def _moved_on(self, numbers: Any, time: Any) -> Any:
        """Elsewhere, when a piece of the trial is over."""
        from quickstudy.jax_gateway import jnp

        following = jnp.asarray(STARTS)[(time // PIECE) % len(STARTS)]
        return jnp.where(time % PIECE == 0, following, numbers)

    def exam(self) -> tuple[Any, int]:
        """The world of the other starts, and how many they are."""
        return _Elsewhere(self.mu, self.radius, EXAM), MANY

    def endurance(self) -> None:
        """The exam's run is the longest."""

    @staticmethod
    def solved(held: NDArray[np.bool_], endured: int) -> bool:
        """It can always be better."""
        return False


@dataclass(frozen=True)
class _Elsewhere(VanDerPolTrial):
    """Episode n begins at start number n and is not divided."""

    def episode(self, key: Any, number: Any) -> tuple[Swinging, Any]:
        """From one of the starts, which are always the same."""
        from quickstudy.jax_gateway import jnp

        starts = np.random.default_rng(0).uniform(-WIDEST, WIDEST, (MANY, 2))
        return self._begun(jnp.asarray(starts, jnp.float32)[number])

    def _moved_on(self, numbers: Any, time: Any) -> Any:
        return numbers

    @staticmethod
    def _settled(time: Any) -> Any:
        return time > PIECE


@control("circle-teacher", version=1, role="oracle", compiled=True)
@dataclass(frozen=True)
class CircleTeacher(NoForce):
    """The PID teacher of dynamics/van-der-pol. It knows the current reference, one step before what
    is shown.
    """

    def start(self, batch: int, capacity: int) -> Any:
        """The integral of the error."""
        from quickstudy.jax_gateway import jnp

        return jnp.zeros((batch, 1))

    def step(self, state: Any, observation: Any, *, key: Any) -> tuple[Any, Any]:
        """The force over its strongest."""
        from quickstudy.jax_gateway import jnp

        x, v, later, later_speed = jnp.split(observation * WIDEST, 4, axis=1)
        back, up = np.float32(np.cos(STEP)), np.float32(np.sin(STEP))
        place, speed = back * later - up * later_speed, back * later_speed + up * later
        error = place - x
        state = state + STEP * error
        force = GAINS[0] * error + GAINS[1] * state + GAINS[2] * (speed - v)
        return state, jnp.clip(force / STRONGEST, -1.0, 1.0)
