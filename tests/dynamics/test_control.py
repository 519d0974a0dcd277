"""A learner in the place of its teacher."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.learners.host import Hosted
from quickstudy.protocols.dynamics import DynamicsProtocol
from quickstudy.tasks.dynamics.control import STEP


def make(**given):
    return configure("dynamics/van-der-pol", registries.task.get("dynamics/van-der-pol"), given)


@pytest.mark.parametrize("start", [(2.0, 0.0), (-3.0, 3.0), (3.0, 3.0)])
def test_the_teacher_reaches_the_circle(start):
    """NRMSE 0.03 to 0.09 in x and 0.03 to 0.04 in x' after 5 seconds, as measured elsewhere."""
    seen = make().taught(np.array(start), 2000)[0][500:, :2]
    errors = np.sqrt(np.square(seen - make().reference(np.arange(500, 2000))).mean(axis=0) / 0.5)
    assert 0.02 < errors[0] < 0.1
    assert 0.02 < errors[1] < 0.05


def test_the_oscillator_alone_and_by_the_perfect_force():
    """Unforced it ends on a cycle of about 2; by F* = -mu (1 - x^2) x' it stays on the circle."""
    task = make()
    state = np.array([[0.1, 0.0]])
    trail = []
    for _ in range(4000):
        state = task.moved(state, np.zeros(1))
        trail.append(state[0, 0])
    assert np.abs(trail[2000:]).max() == pytest.approx(2.0, abs=0.05)
    state = task.reference([0])
    for step in range(300):
        x, v = task.reference(step + 0.5)  # the force is held: that of the middle of the step
        state = task.moved(state, np.array([-1.5 * (1 - x**2) * v]))
    assert state[0] == pytest.approx(task.reference(300), abs=1e-3)


class Proportional:
    """Knows the gains on error and slope, and nothing else. Answers by what it reads alone."""

    def __init__(self, brief, seed):
        pass

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        return 50 * (inputs[:, 2:3] - inputs[:, :1]) + 20 * (inputs[:, 3:] - inputs[:, 1:2])

    def start(self, rows, capacity):
        return None

    def step(self, state, inputs):
        return None, self.predict(inputs)

    def rows(self, state, numbers):
        return None


class Silent(Proportional):
    """No force at all."""

    def predict(self, inputs):
        return np.zeros((len(inputs), 1))


def test_a_controller_is_scored_at_the_system():
    task = make(washout=50, training=200, validation=0, test=200)
    found = {}
    for host in (Proportional, Silent):
        trace = DynamicsProtocol().examine(task, Hosted(host), [Streams(0, task.id, 0)]).traces[0]
        assert trace.arrays["situ_answer"].shape == (20, round(20 / STEP), 2)
        found[host] = registries.measure.get("in-situ")(trace)
    assert found[Proportional]["in-situ-nrmse"] < 0.15
    assert found[Silent]["in-situ-nrmse"] > 1
    assert found[Silent]["bounded"] == 1
