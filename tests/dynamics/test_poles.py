"""Two poles on a cart, an oscillator and an arm: their equations, their trials, and learners in
control.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.exchange import Rehearsal
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.protocols.dynamics import DynamicsProtocol
from quickstudy.protocols.trials import TrialsProtocol
from quickstudy.tasks.dynamics import pole, pole_teacher
from quickstudy.tasks.dynamics.arm import TwoJointedArm
from quickstudy.tasks.dynamics.control import VanDerPol
from quickstudy.tasks.dynamics.pole import DoublePole, all_starts, moved, upright
from quickstudy.tasks.dynamics.pole_teacher import taught


def make(id, **given):
    return configure(f"dynamics/{id}", registries.task.get(f"dynamics/{id}"), given)


def energy(state):
    _, v, *poles = state
    total = 0.5 * pole.CART * v * v
    for (m, half), angle, speed in zip(pole.POLES, poles[::2], poles[1::2], strict=True):
        total += (
            0.5 * m * (v * v + 2 * v * half * speed * np.cos(angle) + 4 / 3 * half**2 * speed**2)
        )
        total += m * 9.8 * half * np.cos(angle)
    return total


def test_poles_keep_their_energy_without_friction(monkeypatch):
    monkeypatch.setattr(pole, "HINGE", 0.0)
    state = np.array([0.1, 0.2, 0.05, -0.1, 0.03, 0.2])
    first = energy(state)
    for _ in range(100):
        state = moved(state, np.float64(0.0), 0.0, np)
    assert energy(state) == pytest.approx(first, abs=1e-6)


def test_poles_by_hand_at_rest():
    """A push of 1 N on upright poles: x'' = 1 / (1 + (0.1 + 0.01) / 4), and a pole turns by -3/4
    x'' / half length.
    """
    push = pole.slope(np.zeros(6), np.float64(1.0), 0.0, np)
    assert push[1] == pytest.approx(1 / (1 + 0.11 / 4))
    assert push[3] == pytest.approx(-0.75 * push[1] / 0.5)
    assert push[5] == pytest.approx(-0.75 * push[1] / 0.05)
    leaning = pole.slope(np.array([0, 0, 0.1, 0, 0, 0.0]), np.float64(0.0), 0.0, np)
    assert leaning[3] > 0  # it falls on
    rubbed = pole.slope(np.array([0, 1.0, 0, 0, 0, 0]), np.float64(0.0), 5e-4, np)
    assert rubbed[1] == pytest.approx(-5e-4 / (1 + 0.11 / 4))


def test_starts_of_generalisation():
    starts = all_starts()
    assert starts.shape == (625, 6)
    widest = 0.9 * np.array([2.16, 1.35, np.deg2rad(3.6), np.deg2rad(8.6), 0, 0])
    assert np.abs(starts).max(axis=0) == pytest.approx(widest)
    assert (starts == 0).all(axis=1).sum() == 1


@jax.jit
def once(state, action):
    return DoublePole().step(None, state, action)


def played(world, force, steps):
    state, _ = world.reset(None)
    turns = []
    for _ in range(steps):
        state, turn = once(state, jnp.asarray([force]))
        turns.append(turn)
        if bool(turn.done):
            break
    return state, turns


def test_a_trial_that_falls_early_is_paid_for_its_steps_alone():
    """Unpushed, the long pole falls from 4.5 degrees: fewer than 100 steps, so no share for being
    calm.
    """
    _, turns = played(DoublePole(), 0.0, 200)
    held = int(turns[-1].info["steps"])
    state, count = DoublePole().first(), 0
    while upright(moved(state, np.float64(0), 0.0, np), np):
        state, count = moved(state, np.float64(0), 0.0, np), count + 1
    assert held == count < 100
    assert sum(float(turn.reward) for turn in turns) == pytest.approx(0.1 * held / 1000, abs=1e-6)


def test_fitness_of_gruau():
    """By the teacher: 1,000 steps, then 0.75 over the unrest of the last state and the hundred
    before.
    """
    world = DoublePole()
    step = jax.jit(lambda state, action: world.step(None, state, action))
    state, _ = world.reset(None)
    total, unrest = 0.0, [float(np.abs(np.asarray(state.numbers)[:4]).sum())]
    for _ in range(1000):
        state, turn = step(state, jnp.asarray(taught(np.asarray(state.numbers, np.float64)[None])))
        total += float(turn.reward)
        unrest.append(float(np.abs(np.asarray(state.numbers)[:4]).sum()))
    assert bool(turn.done)
    assert bool(turn.info["held"])
    assert total == pytest.approx(0.1 + 0.9 * 0.75 / sum(unrest[-101:]), rel=1e-3)
    _, after = step(state, jnp.asarray([1.0]))
    assert float(after.reward) == 0


def test_the_teacher_and_the_observer_can_do_it():
    starts, up = all_starts(), np.ones(625, bool)
    state = starts.copy()
    for _ in range(300):
        state = moved(state, 10 * taught(state), 0.0, np)
        up &= upright(state, np)
    assert up.sum() > 500
    task = DoublePole()
    oracle = choose_learner("oracle", "corrected", task).make(task)
    trace = TrialsProtocol(trials=1, every=1).examine(task, oracle, [Streams(0, "x", 0)]).traces[0]
    assert trace.facts["solved"] == 1
    scores = registries.measure.get("trials")(trace)
    assert scores["endured"] == 100_000
    assert scores["held-starts"] > 500
    assert scores["trials-to-success"] == 1


def test_evolution_finds_a_balance_and_goes_on_where_it_was_cut():
    task = make("double-pole-velocities", horizon=200, fitness="steps")
    chosen = choose_learner(
        "ngrc:delays=1,degrees=2,candidates=12", "corrected", task, "fitness"
    ).make(task)
    streams = Streams(0, task.id, 0)
    brief = Brief(task.inputs, task.outputs, "reward", 200, 600)
    whole, cut = (chosen.begin(brief, [streams]) for _ in range(2))
    rehearsal = Rehearsal(task, jnp.stack([streams.jax("data")]))
    together = whole.rehearse(rehearsal, 0, 240)
    parts = [cut.rehearse(rehearsal, *ends) for ends in ((0, 5), (5, 31), (31, 240))]
    assert np.array_equal(
        together.rewards, np.concatenate([part.rewards for part in parts], axis=1)
    )
    fitness = np.asarray(together.info["steps"]).max(axis=2)[0]
    assert fitness[-60:].mean() > 2 * fitness[:24].mean()
    best = whole.perform(rehearsal, 0, 1)
    assert np.asarray(best.info["steps"]).max() == fitness.max()


def test_imitation_puts_the_learner_on_the_cart(for_a_while):
    task = make("double-pole-imitation", training=2000, validation=0, test=400)
    series = task.drive(np.random.default_rng(0))
    assert np.abs(series.targets).max() <= 1
    run = task.free_run(series)
    state, standing = run.begin(), np.zeros((625, 1))
    for step in range(40):
        state, seen, up = run.advance(state, standing, step)
    assert seen.shape == (625, 4)
    assert 0 < up.sum() < 625  # who starts upright stays so for a while
    found = []
    for name in ("linear", "ngrc:delays=4,strength=1e-6"):  # step by step, and as one program
        learner = choose_learner(name, "corrected", task, "reals").make(task)
        trace = DynamicsProtocol().examine(task, learner, [Streams(0, task.id, 0)]).traces[0]
        found.append(registries.measure.get("balance")(trace)["balanced-steps"])
    assert min(found) > 50


@pytest.fixture
def for_a_while(monkeypatch):
    """A fifth of the time on the cart."""
    monkeypatch.setattr(pole_teacher, "HELD", 200)


def test_a_closed_loop_is_the_same_step_by_step(for_a_while):
    """The compiled one agrees with the host's, as long as chaos allows."""
    from quickstudy.protocols.dynamics import _step_by_step

    task = make("double-pole-imitation", training=2000, validation=0, test=400)
    examined = DynamicsProtocol().examine(
        task,
        choose_learner("esn:units=30", "corrected", task, "reals").make(task),
        [Streams(0, task.id, 0)],
    )
    run = task.free_run(task.drive(Streams(0, task.id, 0).numpy("data")))
    host = np.swapaxes(_step_by_step(examined.pupil, [run]), 1, 2)[0]
    compiled = examined.traces[0].arrays["balance_answer"]
    assert (host == compiled).mean() > 0.99


def test_the_perfect_force_keeps_the_circle():
    """F* = -mu (1 - x^2) x' at speed 1: from the circle it stays there."""
    task = VanDerPol()
    state = task.reference(0)[None]
    for step in range(500):
        middle = task.reference(step + 0.5)
        state = task.moved(state, np.array([-1.5 * (1 - middle[0] ** 2) * middle[1]]))
    assert state[0] == pytest.approx(task.reference(500), abs=1e-3)


@pytest.mark.parametrize("start", [(2.0, 0.0), (-3.0, 3.0), (3.0, 3.0)])
def test_the_teacher_of_the_circle_is_as_good_as_said(start):
    task = VanDerPol()
    seen, _ = task.taught(np.array(start), 2000)
    reference = task.reference(np.arange(2000))
    for column in (0, 1):
        off, wanted = seen[500:, column] - reference[500:, column], reference[500:, column]
        assert 0.02 < np.sqrt(np.mean(off**2) / wanted.var()) < 0.095


def test_the_oscillator_by_trial():
    task = make("van-der-pol-trial")
    for name, least, most in (("oracle", 0.9, 1.0), ("no-force", 0.0, 0.1)):
        learner = choose_learner(name, "corrected", task).make(task)
        trace = (
            TrialsProtocol(trials=1, every=1)
            .examine(task, learner, [Streams(0, task.id, 0)])
            .traces[0]
        )
        assert least <= registries.measure.get("trials")(trace)["held"] <= most
    assert registries.measure.get("in-situ")(trace)["in-situ-nrmse"] > 1
    assert "trials-to-success" not in registries.measure.get("trials")(trace)


@pytest.mark.parametrize("id", ["arm", "arm-slotine"])
def test_the_arm(id):
    """Torques do work: d/dt (a' H a' / 2) = T a'; the perfect torques end where they should."""
    task = make(id)
    state, torque = np.array([[0.3, 1.0, 0.5, -0.4]]), np.array([[0.2, -0.1]])
    for _ in range(20):
        after = task.moved(state, torque)
        work = float((torque * (after[:, :2] - state[:, :2])).sum())
        kinetic = [0.5 * s[0, 2:] @ task.inertia(s[0, 1]) @ s[0, 2:] for s in (state, after)]
        assert kinetic[1] - kinetic[0] == pytest.approx(work, abs=1e-9)
        state = after
    point = task.around(np.array([2.0]))[0]
    hand, angles, torques = task.path(point)
    assert task.hand(angles) == pytest.approx(hand)
    arm = task.at_rest()[None]
    for before, after in itertools.pairwise(torques):
        arm = task.moved(arm, (before + after)[None] / 2)
    assert task.hand(arm[:, :2])[0] == pytest.approx(point, abs=1e-4)


def test_lumped_constants_of_two_uniform_links():
    """m = 1, l = 0.5, lc = 0.25, I = 0.03: a1 = 0.0625 + 0.03 + 0.25 + 0.0625 + 0.03."""
    assert TwoJointedArm().lumped == pytest.approx((0.435, 0.0925, 0.125, 0.0))
    with pytest.raises(UsageError, match="within the arm's circle"):
        make("arm", reach=0.4)


def test_reaching_by_hand():
    wanted = np.stack([np.linspace(0, 1, 11), np.zeros(11)], axis=1)[None]
    hand = np.concatenate([wanted, wanted * 0.9])
    from quickstudy.base.trace import Trace

    arrays = {"situ_answer": hand, "situ_target": np.repeat(wanted, 2, axis=0)}
    found = registries.measure.get("reaching")(Trace("predictions", arrays, {"reach": 1.0}))
    assert found["reached"] == 0.5
    assert found["last-distance"] == pytest.approx(0.05)
