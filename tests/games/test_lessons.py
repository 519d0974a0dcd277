"""Episodes as lessons: the same whoever draws them beside, and worth what the world would give for
them.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

import itertools

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Pace
from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.pages.hypotheses import verdict
from quickstudy.protocols.games import GamesProtocol, _Asked
from quickstudy.studies.s2b_disentanglement import disentanglement
from quickstudy.tasks.games.listener import Listener
from quickstudy.tasks.worlds import episode_keys

TASK = Listener(samples=4)
STREAMS = [Streams(2, "lessons", lane) for lane in range(2)]


class Noting:
    """A pupil that keeps the lessons it is given."""

    lanes = 2
    reads_streams = True

    def __init__(self):
        self.lessons = []

    def learn(self, lesson, start, stop):
        self.lessons.append(lesson)

    def answer(self, exam):
        raise AssertionError


def test_lanes_are_drawn_together_as_alone():
    for whole, stream in zip(TASK.lessons(STREAMS, 3, 20), STREAMS, strict=True):
        alone = TASK.lesson(stream, 3, 20)
        np.testing.assert_array_equal(whole.inputs, alone.inputs)
        np.testing.assert_array_equal(whole.targets, alone.targets)
        np.testing.assert_array_equal(whole.lengths, alone.lengths)


def test_payoffs_are_what_the_world_gives():
    stream, world = STREAMS[0], TASK.world()
    lesson = TASK.payoffs(TASK.lesson(stream, 0, 1))
    reset, step = eqx.filter_jit(world.reset), eqx.filter_jit(world.step)
    state, _ = reset(episode_keys(stream.jax("data"), jnp.int32(0))[0])
    rng, given, brought = np.random.default_rng(0), [], []
    for time in range(3 * int(lesson.lengths[0]) // 2 - 1):
        decision = int(rng.integers(2))
        state, turn = step(jax.random.key(0), state, decision)
        if time % 3 == 1:
            given.append(float(turn.reward))
            brought.append(lesson.targets[2 * (time // 3), 0, decision])
    assert given == brought
    assert set(given) == {-2.0, 0.0, 1.0}


def test_batches_are_of_about_equal_length_and_hold_every_episode():
    pupil = Noting()
    side = _Asked(TASK, pupil, STREAMS, Pace(passes=2, batch=8), by_payoff=False)
    side.learn(0, 64)
    (lesson,) = pupil.lessons
    assert lesson.stream
    for lane, order in zip(lesson.examples, lesson.order, strict=True):
        first, again = order[:64], order[64:]
        assert sorted(first) == sorted(again) == list(range(64))
        lengths = lane.lengths[first].reshape(-1, 8)
        spans = sorted((row.min(), row.max()) for row in lengths)
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    by_time = [
        np.argsort(lane.lengths[order[:64]].reshape(-1, 8).mean(axis=1))
        for lane, order in zip(lesson.examples, lesson.order, strict=True)
    ]
    np.testing.assert_array_equal(*by_time)


def test_payoffs_need_a_task_that_has_them():
    from quickstudy.tasks.games.pair import Pair

    with pytest.raises(NotApplicable, match="give reward"):
        GamesProtocol(teaching="payoff").examine(Pair(), None, STREAMS)


def test_hypotheses_are_judged():
    assert verdict(["holds", "open"], 2) == "undecided"
    assert verdict(["holds", "open", "contradicted"], 3) == "falls"
    assert verdict(["holds"] * 3, 3) == "stands"


def test_stimuli_stand_for_values():
    found = disentanglement(Listener(fewest=5, most=5, samples=4))
    assert found["factor-vae"] == 1.0
    assert found["mig"] > 0.95
    assert found["modularity"] > 0.99
