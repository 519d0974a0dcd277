"""Table-driven tasks as pure functions are the worlds they stand for, byte for byte, and so are
lives in them.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("jax")

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.task import PureWorldTask, WorldTask, asked_of
from quickstudy.jax_gateway import jax, jnp, key_from_words, lax
from quickstudy.learners.actor_critic_programs import Lived
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.protocols.examination import Clock
from quickstudy.protocols.lifetime import Lifetime
from quickstudy.tasks.curriculum import loop, pure_tables
from quickstudy.tasks.curriculum.compiled_rollouts import TableLives
from quickstudy.tasks.curriculum.pure_tables import key_name, stepped
from quickstudy.tasks.curriculum.queues import MOST_ASKED, Rows, rules
from quickstudy.tasks.curriculum.tables import TABLES

SPACE = 32
STEPS = 1500


def made(name, **parameters):
    return configure(name, registries.task.get(f"curriculum/{name}"), parameters)


def replies(world, slips, rng, steps):
    """What one says who knows the answers and slips now and then, and what the world shows, pays
    and tells of it.
    """
    texts, place, rows = 0, 0, []
    for _ in range(steps):
        stage = world.stage
        place = 0 if stage.texts != texts else place + 1
        texts = stage.texts
        answered = place - (len(stage.text.rstrip(b" ")) or 1) + 1
        reply = world.shown_as(
            stage.expected[answered] if 0 <= answered < len(stage.expected) else SPACE
        )
        if rng.random() < slips:
            reply = int(rng.integers(256)) if rng.random() < 0.5 else SPACE
        turn = world.step(reply)
        rows.append(
            (
                reply,
                turn.observation,
                turn.reward,
                1 + turn.info["success"] if turn.info else 0,
                turn.done,
            )
        )
        if turn.done:
            break
    return np.array(rows)


@functools.cache
def program():
    """One program for all tasks."""

    def step(state, action):
        after, byte, reward, ended = stepped(state, action)
        return after, (byte, reward, ended, after.over)

    return jax.jit(lambda state, actions: lax.scan(step, state, actions)[1])


def told_twice(number, root, slips, renamed, program):
    """A life in the world on the host, and by the compiled step: reply, byte, reward, end, over."""
    task = made(f"micro-{number}", successes=3, renamed=renamed)
    streams = Streams(root, task.id, 0)
    state, seen = TableLives.of([task.open(streams)]).supplied()
    world = task.open(streams)
    assert seen[0] == world.reset()
    told = replies(world, slips, np.random.default_rng(root), STEPS)
    actions = np.pad(told[:, 0], (0, STEPS - len(told)))
    found = np.stack(
        program(jax.tree.map(lambda part: part[0], state), jnp.asarray(actions)), axis=1
    )
    # As far as instances were handed over.
    queued = np.cumsum(told[:, 3] > 0) < len(state.queue.lefts[0])
    return told[queued, 1:], found[: len(told)][queued]


@settings(max_examples=25)
@given(
    st.sampled_from(sorted(TABLES)),
    st.integers(0, 2**40),
    st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0]),
    st.booleans(),
)
def test_every_step_is_that_of_the_world(number, root, slips, renamed):
    told, found = told_twice(number, root, slips, renamed, program())
    assert (found == told).all()


def test_an_instance_that_runs_out_of_steps_does_so_in_both_forms(monkeypatch):
    """In the middle of a question, of an answer, and of the text after it."""
    for module in (loop, pure_tables):
        monkeypatch.setattr(module, "MICRO_STEPS", 67)
    short = program.__wrapped__()
    for number in ("1", "5.5", "5.12", "5.14", "5.18"):
        for slips in (0.05, 0.5, 1.0):
            told, found = told_twice(number, 5, slips, False, short)
            assert (found == told).all()
            assert (told[:, 2] == 1).sum() > 5 or number == "1"


@pytest.mark.parametrize("number", ["1", "3", "5.6", "5.14"])
def test_the_world_of_a_key_is_that_of_its_name(number):
    task = made(f"micro-{number}", successes=2)
    assert isinstance(task, PureWorldTask)
    assert isinstance(task, WorldTask)
    assert asked_of(task) == "reward"
    words = np.array([7, len(number)], np.uint32)
    world = task.open(Streams(0, task.id, 0))
    world.names = [key_name(words)]
    first = world.reset()
    told = replies(world, 0.02, np.random.default_rng(3), 400)

    @jax.jit
    def lived(key, actions):
        state, begun = task.reset(key)

        def step(state, action):
            state, turn = task.step(key, state, action)
            return state, (turn.observation, turn.reward, turn.info["ended"], turn.done)

        return begun, lax.scan(step, state, actions)[1]

    begun, found = lived(key_from_words(words), jnp.asarray(told[:, 0]))
    assert int(begun) == first
    assert (np.stack(found, axis=1) == told[:, 1:]).all()


def test_tasks_of_another_kind_are_no_pure_worlds():
    assert not isinstance(made("micro-6"), PureWorldTask)
    assert not isinstance(made("mini-1"), PureWorldTask)
    with pytest.raises(UsageError, match="limits in questions, got limits=steps"):
        made("micro-1", limits="steps").reset(key_from_words([0, 0]))


@pytest.mark.parametrize("number", TABLES)
def test_no_instance_is_shorter_or_longer_than_was_reckoned(number):
    """The perfect learner's steps, and the questions of one that knows nothing of letters but
    echoes.
    """
    task = made(f"micro-{number}", successes=4)
    world = task.open(Streams(1, task.id, 0))
    world.reset()
    told = replies(world, 0.0, np.random.default_rng(0), 4000)
    ends = np.flatnonzero(told[:, 3])
    assert np.diff(ends, prepend=-1).min() >= rules(number).least
    rows = Rows.empty(2)
    rows.fill(number, "any", 0)
    assert rows.order.shape[1] == MOST_ASKED == 967


def begun(learner, task, lanes, steps=600):
    chosen = choose_learner(learner, "corrected", task, "reward").make(task)
    brief = Brief(task.inputs, task.outputs, "reward", task.horizon, steps)
    pupil = chosen.begin(brief, [Streams(0, "learner", lane) for lane in range(lanes)])
    return Lifetime(pupil, task, [Streams(3, task.id, lane) for lane in range(lanes)], Clock())


def told_of(lifetime, pieces):
    lives = [lifetime.go_on(steps) for steps in pieces]
    flat = [
        (
            bytes(life.observations),
            bytes(life.actions),
            list(life.rewards),
            list(life.events),
            life.done,
        )
        for piece in lives
        for life in piece
    ]
    return flat, lifetime.pupil.cost(), lifetime.pupil.snapshot()


@pytest.mark.parametrize(("learner", "lanes"), [("rnn:units=8", 1), ("esn:units=20", 2)])
def test_a_compiled_life_is_the_one_that_is_lived_step_by_step(learner, lanes):
    """Also where pieces end between two updates."""
    task = made("micro-5.1")
    lifetime, other = begun(learner, task, lanes), begun(learner, task, lanes)
    assert lifetime._arrays is not None
    other._arrays = None
    (flat, cost, kept), (wanted, wanted_cost, wanted_kept) = (
        told_of(one, (1, 13, 250, 8)) for one in (lifetime, other)
    )
    assert lifetime._arrays is not None
    assert flat == wanted
    assert cost == wanted_cost
    assert kept.facts == wanted_kept.facts
    for name, array in kept.arrays.items():
        assert (array == wanted_kept.arrays[name]).all(), name


class Knows:
    """Lives in pure functions and always says what is right, by looking into another world that is
    the same.
    """

    lanes = 1

    def __init__(self, world):
        self.world, self.calls, self.texts, self.place = world, 0, 0, 0
        world.reset()

    def reply(self):
        stage = self.world.stage
        self.place = 0 if stage.texts != self.texts else self.place + 1
        self.texts = stage.texts
        answered = self.place - (len(stage.text.rstrip(b" ")) or 1) + 1
        return stage.expected[answered] if 0 <= answered < len(stage.expected) else SPACE

    def live_in(self, world, state, observation, reward, first, steps):
        self.calls += 1
        step, halts = (jax.jit(part) for part in world)
        inner, shown = jax.tree.map(lambda part: part[0], state), int(observation[0])
        lived = []
        while len(lived) < steps and not bool(halts(inner)):
            reply = self.reply()
            self.world.step(reply)
            inner, byte, gained = step(inner, reply)
            lived.append((shown, reply, int(gained)))
            shown = int(byte)
        seen, done, gained = np.array(lived).T[:, None]
        state = jax.tree.map(lambda part: part[None], inner)
        return Lived(None, state, np.array([shown]), gained[:, -1], len(lived), seen, done, gained)

    def act(self, observation, reward, first, learning=True):
        return np.array([SPACE])


def test_a_chain_goes_from_task_to_task_and_on_to_what_has_no_tables():
    task = made("chain", members="micro-1/micro-5.1/micro-6", successes=1)
    streams = Streams(0, task.id, 0)
    pupil = Knows(task.open(streams))
    lifetime = Lifetime(pupil, task, [streams], Clock())
    (life,) = lifetime.go_on(60)
    ends = [(step, info["task"], info["success"]) for step, info in life.events]
    assert ends == [(9, 0, True), (29, 1, True)]
    assert pupil.calls == 2
    assert len(life.actions) == 60
    assert bytes(life.observations[30:42]) == b"random_map: "
