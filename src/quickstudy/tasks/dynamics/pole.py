"""Two poles on a cart: their equations, and the world in which they are balanced by trial."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.base.task import Turn
from quickstudy.tasks.dynamics.series import Floats, taxonomy

STEP, STRONGEST = 0.01, 10.0
"""Seconds of the integration, of which two are a control step; newtons."""
CART, POLES = 1.0, ((0.1, 0.5), (0.01, 0.05))
"""Mass of the cart; mass and half length of each pole. (Ports that have masses of 1 and 0.1 are
another task.)
"""
GRAVITY, HINGE = -9.8, 2e-6
EDGE, STEEPEST = 2.4, 36.0 * np.pi / 180.0
"""Metres from the middle and radians from upright at which a trial is over."""
SCALES = (4.8, 2.0, 0.52, 2.0, 0.52, 2.0)
"""What place, speed, and angle and its speed of both poles are shown over."""
PLACES = (0, 2, 4)
"""Of the six numbers, those that are seen without velocities."""
FRACTIONS = (0.05, 0.25, 0.5, 0.75, 0.95)
RANGES = (2.16, 1.35, 3.6 * np.pi / 180.0, 8.6 * np.pi / 180.0)
"""Of the starts that a solution must generalise to: +- these of place, speed, the long pole's angle
and its speed.
"""
LONG, ENOUGH = 100_000, 200
"""Steps of the long run, and starts that must be held."""
JUDGED = 101
"""States whose unrest counts: the last, and those of the hundred steps before it."""


def slope(state: Any, force: Any, friction: float, xp: Any) -> Any:
    """Of (..., 6): x, x', angle and its speed of the long and the short pole; the force (...) in
    newtons. xp: NumPy or JAX. Source: Wieland's equations.
    """
    x, v = state[..., 0], state[..., 1]
    angles, speeds = (state[..., 2], state[..., 4]), (state[..., 3], state[..., 5])
    pull, mass = force - friction * xp.sign(v), CART + 0.0 * x
    for (m, half), angle, speed in zip(POLES, angles, speeds, strict=True):
        hinge = HINGE * speed / (m * half) + GRAVITY * xp.sin(angle)
        pull = pull + m * half * speed**2 * xp.sin(angle) + 0.75 * m * xp.cos(angle) * hinge
        mass = mass + m * (1.0 - 0.75 * xp.cos(angle) ** 2)
    push = pull / mass
    turns = [
        -0.75 * (push * xp.cos(angle) + GRAVITY * xp.sin(angle) + HINGE * speed / (m * half)) / half
        for (m, half), angle, speed in zip(POLES, angles, speeds, strict=True)
    ]
    return xp.stack([v, push, speeds[0], turns[0], speeds[1], turns[1]], axis=-1)


def moved(state: Any, force: Any, friction: float, xp: Any) -> Any:
    """The states one control step of 0.02 s later: two steps of RK4, the force held."""
    h = STEP
    for _ in range(2):
        k1 = slope(state, force, friction, xp)
        k2 = slope(state + h / 2 * k1, force, friction, xp)
        k3 = slope(state + h / 2 * k2, force, friction, xp)
        k4 = slope(state + h * k3, force, friction, xp)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


def upright(state: Any, xp: Any) -> Any:
    """Whether neither the cart nor a pole has gone too far."""
    leaning = xp.maximum(xp.abs(state[..., 2]), xp.abs(state[..., 4]))
    return (xp.abs(state[..., 0]) <= EDGE) & (leaning <= STEEPEST)


def all_starts() -> Floats:
    """(625, 6): the starts of the test of generalisation, the short pole upright and at rest."""
    grid = np.stack(np.meshgrid(*[FRACTIONS] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    starts = np.zeros((len(grid), 6))
    starts[:, :4] = (2.0 * grid - 1.0) * RANGES
    return starts


class Balancing(NamedTuple):
    """State of a trial: the six numbers, steps so far, the motion of the last states, and whether
    the trial is over.
    """

    numbers: Any
    time: Any
    unrest: Any
    over: Any


@dataclass(frozen=True)
class Cart:
    """Two poles on a cart.

    Parameters
    ----------
    velocities:
        Also show the velocities.
    friction:
        Friction of the cart: 0 as in the usual programs, 0.0005 in Wieland's paper.
    start:
        Initial angle of the long pole, in degrees.
    """

    velocities: bool = False
    friction: float = parameter(0.0, at_least=0)
    start: float = parameter(4.5, at_least=-36, at_most=36)

    outputs: ClassVar[Reals] = Reals(1)

    @property
    def inputs(self) -> Reals:
        """The observation, and a constant."""
        return Reals(7 if self.velocities else 4)

    def seen(self, state: Any, xp: Any = np) -> Any:
        """(..., inputs): over their scales, and 0.5."""
        shown = state / xp.asarray(SCALES, dtype=state.dtype)
        shown = shown if self.velocities else shown[..., PLACES]
        return xp.concatenate([shown, xp.full((*shown.shape[:-1], 1), 0.5, shown.dtype)], axis=-1)

    def first(self) -> Floats:
        """(6,): the start of a trial."""
        return np.array([0.0, 0.0, np.deg2rad(self.start), 0.0, 0.0, 0.0])


@task(
    "dynamics/double-pole",
    version=1,
    controls=["no-force"],
    oracle="pole-observer",
    protocol="trials",
)
@dataclass(frozen=True)
class DoublePole(Cart):
    """Balance two poles on a cart without seeing any velocity, learning by trials.

    Sees: position of the cart divided by 4.8, angles of both poles divided by 0.52, and the
        constant 0.5; with velocities, these divided by 2.
    Answers: the force for 0.02 seconds, in units of 10 newtons, clipped to -1 to 1.
    Scored: the best controller so far, at intervals: from how many of 625 starts the poles stay up
        for 1,000 steps, and how long from the usual start. Solved means 100,000 steps there, and
        200 starts.
    Chance: 0.01, by doing nothing.
    Ceiling: what a controller with the equations and an observer holds.
    Source: Wieland 1991; Gomez and Miikkulainen; Wringe, Trefzer and Stepney 2024, section 4.5.

    A trial ends when the cart is 2.4 m from the middle, a pole leans by 36 degrees, or after
    `horizon` steps. The fitness is paid at the end. Control steps are integrated by two steps of
    RK4 of 0.01 s.

    Parameters
    ----------
    horizon:
        Most control steps of a trial.
    fitness:
        `gruau`: 0.1 t / horizon + 0.9 f after t balanced steps, where f is 0 below 100 steps and
        else 0.75 divided by the sum of |x| + |x'| + |a| + |a'| (of the long pole) over the last
        state and the 100 before it, so that shaking does not pay (Gruau et al. 1996). `steps`: t /
        horizon.
    """

    horizon: int = parameter(1000, at_least=100)
    fitness: str = parameter("gruau", choices=("gruau", "steps"))

    draws: ClassVar[bool] = False
    asks: ClassVar[str] = "fitness"
    facts: ClassVar[Mapping[str, Any]] = {"endurance": LONG, "enough": ENOUGH}
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "imitation", "unknown", supervised=False, running="in situ"
    )

    def reset(self, key: Any) -> tuple[Balancing, Any]:
        """Always the same start."""
        return self._begun(self.first())

    def _begun(self, numbers: Any) -> tuple[Balancing, Any]:
        from quickstudy.jax_gateway import jnp

        state = jnp.asarray(numbers, jnp.float32)
        unrest = jnp.zeros(JUDGED).at[0].set(jnp.abs(state[:4]).sum())
        return Balancing(state, jnp.int32(0), unrest, jnp.bool_(False)), self.seen(state, jnp)

    def step(self, key: Any, state: Balancing, action: Any) -> tuple[Balancing, Turn]:
        """One control step; what has fallen lies where it is."""
        from quickstudy.jax_gateway import jnp

        force = STRONGEST * jnp.clip(action[0], -1.0, 1.0)
        numbers = moved(state.numbers, force, self.friction, jnp)
        held = upright(numbers, jnp) & ~state.over
        time = state.time + held
        there = state.unrest.at[time % JUDGED].set(jnp.where(held, jnp.abs(numbers[:4]).sum(), 0.0))
        unrest = jnp.where(held, there, state.unrest)
        over = ~held | (time >= self.horizon)
        calm = jnp.where(time >= JUDGED - 1, 0.75 / jnp.maximum(unrest.sum(), 1e-6), 0.0)
        share = jnp.where(held, 1.0 / self.horizon, 0.0)
        paid = 0.1 * share + jnp.where(over, 0.9 * calm, 0.0) if self.fitness == "gruau" else share
        reward = jnp.where(state.over, 0.0, paid)
        numbers = jnp.where(held, numbers, state.numbers)
        info = {"steps": time, "held": time >= self.horizon}
        return Balancing(numbers, time, unrest, over | state.over), Turn(
            self.seen(numbers, jnp), reward, over, info
        )

    def exam(self) -> tuple[Any, int]:
        """The world of the 625 starts, 1,000 steps each, and how many they are."""
        return dataclasses.replace(_Elsewhere(**_fields(self)), horizon=1000), len(all_starts())

    def endurance(self) -> Any:
        """The usual start, for 100,000 steps."""
        return dataclasses.replace(self, horizon=LONG)

    @staticmethod
    def solved(held: NDArray[np.bool_], endured: int) -> bool:
        """Whether a test was passed: from which starts it was balanced, and for how many steps of
        the long run.
        """
        return endured >= LONG and int(held.sum()) >= ENOUGH


@dataclass(frozen=True)
class _Elsewhere(DoublePole):
    """Episode n begins at start number n."""

    def episode(self, key: Any, number: Any) -> tuple[Balancing, Any]:
        """From one of the 625 starts."""
        from quickstudy.jax_gateway import jnp

        return self._begun(jnp.asarray(all_starts(), jnp.float32)[number])


def _fields(world: DoublePole) -> dict[str, Any]:
    return {field.name: getattr(world, field.name) for field in dataclasses.fields(world)}


task.variant(
    "dynamics/double-pole-velocities",
    version=1,
    of=DoublePole,
    summary="Balance two poles on a cart, by trial, velocities seen.",
    velocities=True,
)
