"""Items by reward: worlds, bookkeeping by difficulty, oracle and chance."""

import dataclasses

import numpy as np
import pytest

from quickstudy.base.catalogue import typed_task
from quickstudy.base.seeds import Streams
from quickstudy.learners.naming import choose_learner
from quickstudy.measures.span import span_scores
from quickstudy.protocols.span_world import SpanWorldProtocol


def examined(task, learner, seed=0):
    chosen = choose_learner(learner, "corrected", task, "reward")
    return SpanWorldProtocol().examine(task, chosen.make(task), [Streams(0, task.id, seed)]).traces[0]


SMALL = {"span/mapping": {"block": 60}, "span/keep": {"block": 100}}


@pytest.mark.parametrize("name", SMALL)
def test_the_oracle_is_at_the_end_and_a_guess_at_the_floor(name):
    task = dataclasses.replace(typed_task(name), **SMALL[name])
    best, guess = (examined(task, one) for one in ("knows-mapping", "random-action"))
    assert span_scores(best, "corrected")["span"] == pytest.approx(task.grid[-1])
    right = guess.arrays["correct"].sum() / guess.arrays["asked"].sum()
    error = np.sqrt(1 / task.width / guess.arrays["asked"].sum())
    assert abs(right - 1 / task.width) < 4 * error
    assert span_scores(guess, "corrected")["span"] < 0.5


def test_every_level_of_a_mapping_is_judged_equally_often_in_its_last_third():
    task = dataclasses.replace(typed_task("span/mapping"), block=60)
    trace = examined(task, "random-action")
    assert trace.arrays["asked"].tolist() == [40] * 6, "12 blocks, two of every level, 20 steps each"


def test_a_mapping_has_its_own_cues_and_a_new_goal_in_every_block():
    task = dataclasses.replace(typed_task("span/mapping"), block=30, blocks=12)
    world = task.open(Streams(0, task.id, 1))
    cue, sizes, seen = world.reset(), [], set()
    for _ in range(12):
        goal = dict(world.goal)
        sizes.append(len(goal))
        assert len(set(goal.values())) == len(goal)
        for _ in range(30):
            assert cue in goal
            turn = world.step(goal[cue])
            assert turn.reward == 1
            cue = turn.observation
        seen.add(tuple(sorted(goal.items())))
    assert sorted(sizes) == sorted([1, 2, 3, 4, 6, 8] * 2)
    assert len(seen) > 10


def test_what_is_kept_is_counted_by_how_many_mappings_ago():
    task = dataclasses.replace(typed_task("span/keep"), block=50)
    world = task.open(Streams(0, task.id, 0))
    cue, order = world.reset(), []
    for _ in range(task.longest):
        cues = set()
        for _ in range(50):
            cues.add(cue)
            turn = world.step(0)
            assert not turn.info
            cue = turn.observation
        order.append(cues)
    assert all(len(one & other) == 0 for at, one in enumerate(order) for other in order[:at])
    for _ in range(200):
        ago = task.longest - next(at for at, cues in enumerate(order) if cue in cues)
        turn = world.step(world.goal[cue])
        low, high = ([0, *task.grid][turn.info["level"]], task.grid[turn.info["level"]])
        assert low < ago <= high
        assert turn.info["won"] == 1
        cue = turn.observation
