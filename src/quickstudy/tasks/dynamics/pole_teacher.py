"""Controllers of two poles: a linear one that knows the equations, as a teacher and as an
oracle; and controls that fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import control, task
from quickstudy.base.spaces import Reals
from quickstudy.tasks.dynamics.pole import (
    LONG,
    PLACES,
    RANGES,
    SCALES,
    STRONGEST,
    Cart,
    all_starts,
    moved,
    upright,
)
from quickstudy.tasks.dynamics.series import RULES, Floats, FreeRun, Parts, taxonomy

DIFFERENCE = 1e-5
"""By which a number is moved to see what comes of it."""
HELD = 1000
"""Control steps for which the learner's force is to hold each of the 625 starts."""


@lru_cache
def gains() -> tuple[Floats, Floats, Floats, Floats]:
    """Around upright, one control step: how the six numbers go on (6, 6), and what a newton adds
    (6,); the force with the least quadratic cost is -gains (6,) times the numbers; what an observer
    corrects (6, 3) by what it is shown.
    """
    from scipy.linalg import solve_discrete_are

    apart = DIFFERENCE * np.eye(6)
    onward = (moved(apart, np.zeros(6), 0.0, np) - moved(-apart, np.zeros(6), 0.0, np)).T / (
        2 * DIFFERENCE
    )
    push = moved(np.zeros(6), np.float64(DIFFERENCE), 0.0, np) / DIFFERENCE
    cost = solve_discrete_are(
        onward, push[:, None], np.diag([1.0, 0.1, 10.0, 0.1, 10.0, 0.1]), np.eye(1) * 0.1
    )
    force = push @ cost @ onward / (0.1 + push @ cost @ push)
    shown, doubt = np.eye(6)[list(PLACES)], np.eye(3) * 1e-8
    spread = solve_discrete_are(onward.T, shown.T, np.diag([1e-8, 1e-3] * 3), doubt)
    return onward, push, force, spread @ shown.T @ np.linalg.inv(shown @ spread @ shown.T + doubt)


def taught(state: Floats) -> Floats:
    """(row,): the teacher's force over 10 newtons, of all six numbers (row, 6)."""
    return np.clip(-(state @ gains()[2]) / STRONGEST, -1.0, 1.0)


@dataclass(frozen=True)
class OnTheCart(FreeRun):
    """A free run in which the learner's force moves the carts, one row per start; the outcome is 1
    while both poles are up, else 0.
    """

    first: Floats
    task: TaughtPole

    kind: ClassVar[str] = "balance"

    def begin(self) -> tuple[Floats, Any]:
        """The starts, and that all are up."""
        return self.first, np.ones(len(self.first), dtype=np.bool_)

    @property
    def moving(self) -> Any:
        """The same for all starts and seeds, so that it can be part of a compiled program."""
        return self.task.moving

    def advance(self, state: Any, answers: Floats, step: int) -> tuple[Any, Floats, Floats]:
        """One control step, on the host."""
        return self.task.moving(state, answers, step, np)


@task(
    "dynamics/double-pole-imitation",
    version=1,
    **RULES,
    oracle="the velocities that the teacher sees are not shown",
)
@dataclass(frozen=True)
class TaughtPole(Parts, Cart):
    """Balance two poles on a cart, imitating a teacher who sees their velocities.

    Sees: the same as in dynamics/double-pole.
    Answers: the teacher's force in units of 10 newtons, -1 to 1: a linear controller with the
        equations and all six numbers.
    Scored: NRMSE of the force while the teacher acts. In situ, from how many of the 625 starts of
        dynamics/double-pole, and for how many steps, the learner's force keeps the poles up.
    Chance: NRMSE 1, and 0 starts.
    Ceiling: unknown.
    Source: Wringe, Trefzer and Stepney 2024, section 4.5; the teacher is ours.

    Parameters
    ----------
    shake:
        Random forces on the cart, in newtons, that the teacher does not know.
    restart:
        Steps after which the teacher starts again.
    long:
        Test from the usual start only, for 100,000 steps.
    """

    training: int = parameter(8000, at_least=10)
    shake: float = parameter(1.0, at_least=0)
    restart: int = parameter(200, at_least=1)
    long: bool = False

    taps: ClassVar[int] = 4
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "imitation", "unknown", running="driven and in situ"
    )

    def drive(self, rng: np.random.Generator) -> Series:
        """The teacher from random starts, many carts at once, one after the other in the series."""
        carts = -(-self.steps // self.restart)
        state = np.zeros((carts, 6))
        state[:, :4] = rng.uniform(-1.0, 1.0, (carts, 4)) * RANGES
        seen, forces = [], []
        for _ in range(self.restart):
            force = taught(state)
            seen.append(self.seen(state))
            forces.append(force)
            shaken = STRONGEST * force + self.shake * rng.standard_normal(carts)
            state = moved(state, np.clip(shaken, -STRONGEST, STRONGEST), self.friction, np)
            state = np.where(upright(state, np)[:, None], state, 0.0)
        inputs, targets = (
            np.stack(part, axis=1).reshape(carts * self.restart, -1) for part in (seen, forces)
        )
        return self.series(inputs[: self.steps], targets[: self.steps], varies=["start", "weights"])

    def moving(self, state: Any, answers: Any, step: Any, xp: Any) -> tuple[Any, Any, Any]:
        """One control step of (places, whether they are up); what has fallen stays where it was."""
        numbers, up = state
        pushed = moved(numbers, STRONGEST * xp.clip(answers[:, 0], -1.0, 1.0), self.friction, xp)
        up = up & upright(pushed, xp)
        numbers = xp.where(up[:, None], pushed, numbers)
        return (numbers, up), self.seen(numbers, xp), up[:, None].astype(numbers.dtype)

    def free_run(self, series: Series) -> OnTheCart:
        """The learner in the teacher's place."""
        first, steps = (self.first()[None], LONG) if self.long else (all_starts(), HELD)
        return OnTheCart(self.seen(first)[None], np.ones((len(first), steps, 1)), first, self)


task.variant(
    "dynamics/double-pole-imitation-long",
    version=1,
    of=TaughtPole,
    summary=(
        "Balance two poles on a cart for 100,000 steps, as a teacher does who sees their"
        " velocities."
    ),
    long=True,
)


@control("no-force", version=1, role="control", compiled=True)
@dataclass(frozen=True)
class NoForce:
    """Always answers 0."""

    task: Any
    brief: Brief

    gives: ClassVar[tuple[type[Reals], ...]] = (Reals,)

    def start(self, batch: int, capacity: int) -> Any:
        """Nothing is kept in mind."""
        from quickstudy.jax_gateway import jnp

        return jnp.zeros((batch, self.brief.outputs.width))

    def step(self, state: Any, observation: Any, *, key: Any) -> tuple[Any, Any]:
        """0 again."""
        return state, state


@control("pole-observer", version=1, role="oracle", compiled=True)
@dataclass(frozen=True)
class PoleObserver(NoForce):
    """A linear controller with the equations that estimates the velocities with a linear observer.
    It is the best of its kind near upright; the best of all kinds is unknown.
    """

    def start(self, batch: int, capacity: int) -> Any:
        """What it thinks the six numbers are; nothing yet."""
        from quickstudy.jax_gateway import jnp

        return jnp.full((batch, 6), jnp.nan)

    def step(self, state: Any, observation: Any, *, key: Any) -> tuple[Any, Any]:
        """Correct, and push."""
        from quickstudy.jax_gateway import jnp

        onward, push, force, correct = (jnp.asarray(part, jnp.float32) for part in gains())
        places = list(PLACES)
        columns = places if self.task.velocities else [0, 1, 2]
        shown = observation[:, jnp.asarray(columns)] * jnp.asarray(SCALES)[jnp.asarray(places)]
        first = jnp.zeros_like(state).at[:, jnp.asarray(places)].set(shown)
        foreseen = jnp.where(jnp.isnan(state), first, state)

        def times(
            matrix: Any, rows: Any
        ) -> Any:  # row by row: a product may round the last rows differently
            return (rows[:, None] * matrix).sum(axis=2)

        found = foreseen + times(correct, shown - foreseen[:, jnp.asarray(places)])
        action = jnp.clip(-times(force[None], found) / STRONGEST, -1.0, 1.0)
        return times(onward, found) + STRONGEST * action * push, action
