"""An arm with two joints that reaches for points, taught by the torques that would have moved it;
then in their place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Series
from quickstudy.base.exchange import FED_BACK
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.tasks.dynamics.series import RULES, Floats, FreeRun, Parts, taxonomy

STEP = 0.002
"""Seconds of a control step, which is one step of the integration; the torques are held
meanwhile.
"""
REST, MOVE = 100, 250
"""Control steps at rest before a movement, and of it: half a second."""
TARGETS = 8


@dataclass(frozen=True)
class InPlace(FreeRun):
    """A free run in which the learner's torques move the arm, one row per target point."""

    points: Floats
    task: TwoJointedArm

    kind: ClassVar[str] = "situ"

    def begin(self) -> tuple[Floats, Floats]:
        """At rest: (row, 4) angles and their speeds, and the angles of all steps that are not seen
        yet.
        """
        rest = np.tile(self.task.at_rest(), (len(self.points), 1))
        return rest, np.tile(rest[:, None, :2], (1, self.task.late, 1))

    def advance(self, state: Any, answers: Floats, step: int) -> tuple[Any, Floats, Floats]:
        """One control step. What runs away is held where a float still has digits."""
        arm, unseen = state
        arm = np.clip(self.task.moved(arm, answers), -FED_BACK, FED_BACK)
        unseen = np.concatenate([unseen, arm[:, None, :2]], axis=1)
        seen = np.concatenate([self.points, unseen[:, 0]], axis=1)
        return (arm, unseen[:, 1:]), seen, self.task.hand(arm[:, :2])


@task(
    "dynamics/arm",
    version=1,
    **RULES,
    oracle="when a movement began is not seen, only a delayed arm",
)
@dataclass(frozen=True)
class TwoJointedArm(Parts):
    """Compute the torques that move an arm with two joints in a plane (Joshi and Maass 2005).

    Sees: the desired position of the hand, and both joint angles `delay` seconds ago, with Gaussian
        noise.
    Answers: the two torques T = H(a) a'' + C(a, a') a' that move the hand in a straight line with
        minimum jerk, in half a second, from the middle to a point `reach` metres away in any
        direction; 0 during the 0.2 seconds of rest before.
    Scored: NRMSE of the torques. In situ, the learner's torques move the arm towards 8 points
        around the middle: distance of the hand from the desired path on the way and at the end,
        share that end within 5 % of the distance, and likeness of the speed profile.
    Chance: 1.
    Ceiling: unknown.
    Source: Slotine and Li 1991; Joshi and Maass 2005 (two links of 1 kg and 0.5 m, from memory);
        Wringe, Trefzer and Stepney 2024, section 4.3. The movements and the protocol are ours.

    The equations are solved by RK4 with steps of 2 ms.

    Parameters
    ----------
    delay:
        Delay of the joint angles, in seconds.
    noise:
        Standard deviation of the noise on the angles.
    reach:
        Length of a movement, in metres.
    lumped:
        a1 to a4 of H11 = a1 + 2 a3 cos b + 2 a4 sin b, H12 = a2 + a3 cos b + a4 sin b, H22 = a2,
        where b is the angle of the elbow.
    lengths_of_links:
        Lengths of the links, in metres.
    """

    washout: int = parameter(350, at_least=0)
    training: int = parameter(14_000, at_least=10)
    validation: int = parameter(1750, at_least=0)
    test: int = parameter(3500, at_least=2)
    delay: float = parameter(0.2, at_least=0)
    noise: float = parameter(0.001, at_least=0)
    reach: float = parameter(0.1, above=0)
    lumped: tuple[float, ...] = (0.435, 0.0925, 0.125, 0.0)
    lengths_of_links: tuple[float, ...] = (0.5, 0.5)

    inputs: ClassVar[Reals] = Reals(4)
    outputs: ClassVar[Reals] = Reals(2)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "imitation", "unknown", running="driven and in situ"
    )

    def __post_init__(self) -> None:
        if len(self.lumped) != 4 or len(self.lengths_of_links) != 2:
            raise ValueError("lumped must be four numbers and lengths_of_links two")
        if (
            not abs(self.lengths_of_links[0] - self.lengths_of_links[1]) + self.reach
            < self._away
            < self._most
        ):
            raise ValueError(f"reach must leave the hand within the arm's circle, got {self.reach}")

    @property
    def _away(self) -> float:
        """Of the middle of all movements from the shoulder."""
        return 0.9 * math.hypot(*self.lengths_of_links)

    @property
    def _most(self) -> float:
        return sum(self.lengths_of_links) - self.reach

    @property
    def late(self) -> int:
        """Control steps of the delay."""
        return round(self.delay / STEP)

    def inertia(self, elbow: Floats) -> Floats:
        """(..., 2, 2): H of elbow angles (...)."""
        a1, a2, a3, a4 = self.lumped
        turn = a3 * np.cos(elbow) + a4 * np.sin(elbow)
        return np.stack(
            [np.stack([a1 + 2 * turn, a2 + turn], -1), np.stack([a2 + turn, a2 + 0 * turn], -1)], -2
        )

    def centrifugal(self, elbow: Floats, speeds: Floats) -> Floats:
        """(..., 2): C a' of elbow angles (...) and joint speeds (..., 2)."""
        h = self.lumped[2] * np.sin(elbow) - self.lumped[3] * np.cos(elbow)
        first, second = speeds[..., 0], speeds[..., 1]
        return np.stack(
            [-h * second * first - h * (first + second) * second, h * first * first], axis=-1
        )

    def slope(self, state: Floats, torque: Floats) -> Floats:
        """(..., 4): of angles and their speeds (..., 4) under torques (..., 2)."""
        elbow, speeds = state[..., 1], state[..., 2:]
        turns = np.linalg.solve(
            self.inertia(elbow), (torque - self.centrifugal(elbow, speeds))[..., None]
        )[..., 0]
        return np.concatenate([speeds, turns], axis=-1)

    def moved(self, state: Floats, torque: Floats) -> Floats:
        """(row, 4) one control step later."""
        k1 = self.slope(state, torque)
        k2 = self.slope(state + STEP / 2 * k1, torque)
        k3 = self.slope(state + STEP / 2 * k2, torque)
        return state + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + self.slope(state + STEP * k3, torque))

    def hand(self, angles: Floats) -> Floats:
        """(..., 2): where it is, of angles (..., 2)."""
        first, both = angles[..., 0], angles[..., 0] + angles[..., 1]
        near, far = self.lengths_of_links
        return np.stack(
            [near * np.cos(first) + far * np.cos(both), near * np.sin(first) + far * np.sin(both)],
            axis=-1,
        )

    def angles(self, hand: Floats) -> Floats:
        """(..., 2): of the joints, the elbow bent to one side, where the hand is."""
        near, far = self.lengths_of_links
        elbow = np.arccos((np.square(hand).sum(axis=-1) - near**2 - far**2) / (2 * near * far))
        beyond = np.arctan2(far * np.sin(elbow), near + far * np.cos(elbow))
        return np.stack([np.arctan2(hand[..., 1], hand[..., 0]) - beyond, elbow], axis=-1)

    def middle(self) -> Floats:
        """(2,): where all movements begin."""
        return np.array([0.0, self._away])

    def at_rest(self) -> Floats:
        """(4,): the arm there."""
        return np.concatenate([self.angles(self.middle()), np.zeros(2)])

    def path(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """Of a movement to a point (2,), at 0 .. MOVE control steps: hand (step, 2), joint angles,
        and torques.
        """
        s = np.arange(MOVE + 1)[:, None] / MOVE
        lasting, way = MOVE * STEP, point - self.middle()
        hand = self.middle() + way * (10 * s**3 - 15 * s**4 + 6 * s**5)
        speed = way * (30 * s**2 - 60 * s**3 + 30 * s**4) / lasting
        change = way * (60 * s - 180 * s**2 + 120 * s**3) / lasting**2
        angles = self.angles(hand)
        bend = self._jacobian(angles)
        turning = np.linalg.solve(bend, speed[..., None])[..., 0]
        near, far = self.lengths_of_links
        first, both = angles[:, 0], angles.sum(axis=1)
        spin = turning.sum(axis=1)
        pulled = -np.stack(
            [
                near * np.cos(first) * turning[:, 0] ** 2 + far * np.cos(both) * spin**2,
                near * np.sin(first) * turning[:, 0] ** 2 + far * np.sin(both) * spin**2,
            ],
            axis=-1,
        )
        faster = np.linalg.solve(bend, (change - pulled)[..., None])[..., 0]
        pushed = np.asarray((self.inertia(angles[:, 1]) @ faster[..., None])[..., 0])
        return (
            hand,
            angles,
            pushed + self.centrifugal(angles[:, 1], np.asarray(turning, dtype=np.float64)),
        )

    def _jacobian(self, angles: Floats) -> Floats:
        near, far = self.lengths_of_links
        first, both = angles[:, 0], angles.sum(axis=1)
        rows = [
            [-near * np.sin(first) - far * np.sin(both), -far * np.sin(both)],
            [near * np.cos(first) + far * np.cos(both), far * np.cos(both)],
        ]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def around(self, directions: Floats) -> Floats:
        """(row, 2): points around the middle."""
        return self.middle() + self.reach * np.stack(
            [np.cos(directions), np.sin(directions)], axis=-1
        )

    def drive(self, rng: np.random.Generator) -> Series:
        """Movement after movement, in random directions."""
        seen, torques = [], []
        for point in self.around(rng.uniform(0.0, 2 * np.pi, -(-self.steps // (REST + MOVE)))):
            _, angles, torque = self.path(point)
            shown = np.concatenate([np.tile(angles[0], (REST + self.late, 1)), angles[:-1]])[
                : REST + MOVE
            ]
            goal = np.where(np.arange(REST + MOVE)[:, None] < REST, self.middle(), point)
            seen.append(np.concatenate([goal, shown], axis=1))
            torques.append(np.concatenate([np.zeros((REST, 2)), torque[:-1]]))
        inputs = np.concatenate(seen)[: self.steps]
        inputs = inputs + self.noise * rng.standard_normal(inputs.shape)
        facts = {"reach": self.reach, "varies": ["direction", "weights"]}
        return self.series(inputs, np.concatenate(torques)[: self.steps], **facts)

    def free_run(self, series: Series) -> InPlace:
        """The learner in the place of the perfect torques, after a rest of twice the usual time."""
        points = self.around(2 * np.pi * np.arange(TARGETS) / TARGETS)
        still = np.concatenate([self.middle(), self.angles(self.middle())])
        warm = np.tile(still, (2 * REST + 1, TARGETS, 1))
        warm[-1, :, :2] = points
        hands = np.stack([self.path(point)[0][1:] for point in points])
        if not np.isfinite(hands).all():
            raise UsageError("the arm cannot get there; give a smaller reach")
        return InPlace(warm, hands, points, self)


task.variant(
    "dynamics/arm-slotine",
    version=1,
    of=TwoJointedArm,
    summary=(
        "Move an arm with two joints and a load in a plane, as the torques of a perfect movement"
        " would."
    ),
    lumped=(3.34, 0.97, 1.0392, 0.6),
    lengths_of_links=(1.0, 1.2),
    reach=0.2,
)
