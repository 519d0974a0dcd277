"""Worlds: lived in as stepped, opened alike, written down; turns that leave compiled functions."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.seeds import Streams
from quickstudy.base.task import PureWorldTask, Turn, WorldTask, players_of
from quickstudy.jax_gateway import jax, jnp, lax
from quickstudy.learners.episodes import Ruled
from quickstudy.tasks.worlds import by_chance, open_world, transcript


class Walker:
    """Acts by chance and writes down what it is given."""

    def __init__(self, task, seed):
        self.act, self.given = by_chance(task, np.random.default_rng(seed)), []

    def __call__(self, observation, reward):
        self.given.append((observation, reward))
        return self.act(observation, reward)


def stepped(world, act, steps):
    """What `live` promises, one step at a time: rows of (observation, action, reward, done,
    info).
    """
    turn, rows = Turn(None, 0.0, True), []
    for _ in range(steps):
        if turn.done:
            turn = Turn(world.reset(), turn.reward, False)
        action, seen = act(turn.observation, turn.reward), turn.observation
        turn = world.step(action)
        rows.append((seen, action, turn.reward, turn.done, turn.info))
    return rows


def lived(world, act, pieces):
    """The same by `live`; a piece is a number of steps, lived through as many episodes as it
    takes.
    """
    rows = []
    for steps in pieces:
        left = steps
        while left:
            life = world.live(act, left)
            assert 1 <= len(life.actions) == len(life.observations) == len(life.rewards) <= left
            assert life.done or len(life.actions) == left
            info, last = dict(life.events), len(life.actions) - 1
            for step, row in enumerate(
                zip(life.observations, life.actions, life.rewards, strict=True)
            ):
                rows.append((*row, life.done and step == last, info.get(step, {})))
            left -= len(life.actions)
    return rows


def lives_as_it_steps(task, streams, pieces, seed=0):
    """The contract of `World.live`."""
    one, other = Walker(task, seed), Walker(task, seed)
    alike = stepped(open_world(task, streams), one, sum(pieces)) == lived(
        open_world(task, streams), other, pieces
    )
    return alike and one.given == other.given


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), max_size=5), st.integers(0, 9))
def test_a_world_is_lived_in_as_it_is_stepped_wherever_it_is_cut(specimens, pieces, seed):
    for kind in (specimens.CorridorWorld, specimens.FastCorridorWorld):
        assert lives_as_it_steps(specimens.Corridor(kind), Streams(0, "a", seed), pieces, seed)


def test_a_careless_loop_is_found_out(specimens, streams):
    assert not lives_as_it_steps(
        specimens.Corridor(specimens.CarelessCorridorWorld), streams, [100]
    )


def test_a_life_by_hand(specimens, streams):
    """From place p to the goal g: |g - p| steps, the last of them rewarded, and the reward comes
    with the next one.
    """
    world = specimens.Corridor().open(streams)
    first = specimens.Corridor().open(streams)
    start, goal = first.reset(), first.goal
    given = []

    def act(observation, reward):
        given.append(reward)
        return 2 if goal > start else 0

    life, distance = world.live(act, 1000), abs(goal - start)
    assert list(life.observations) == list(range(start, goal, 1 if goal > start else -1))
    assert life.rewards == [-0.25] * (distance - 1) + [1.0]
    assert (life.events, life.done) == ([(distance - 1, {"episode": 1})], True)
    assert world.live(act, 0) == ([], [], [], [], False)
    world.live(act, 1)
    assert given == [0.0] + [-0.25] * (distance - 1) + [1.0]


def test_a_member_of_a_chain_shows_what_it_shows_alone(specimens, streams):
    chain, alone = specimens.Chain().open(streams), specimens.Corridor().open(streams)
    starts = [(chain.reset(), chain.members[number % 2].goal) for number in range(6)]
    assert starts[::2] == [(alone.reset(), alone.goal) for _ in range(3)]
    assert starts[::2] != starts[1::2]


def test_what_is_a_world_and_how_many_play_in_it(specimens, streams):
    assert isinstance(specimens.Corridor(), WorldTask)
    assert isinstance(specimens.Signals(), PureWorldTask)
    assert not isinstance(specimens.Signals(), WorldTask)
    assert (players_of(specimens.Corridor()), players_of(specimens.Signals())) == (1, 2)
    with pytest.raises(UsageError, match="Wandering is not a world"):
        open_world(specimens.Wandering(), streams)


@pytest.mark.parametrize("info", [{}, {"target": 3.0}])
def test_turns_leave_compiled_functions(info):
    def turn(number):
        told = {name: number * value for name, value in info.items()}
        return (
            Turn(number, number + 1, number > 2, told)
            if info
            else Turn(number, number + 1, number > 2)
        )

    numbers = jnp.arange(4.0)
    one = jax.jit(turn)(2.0)
    assert (float(one.observation), float(one.reward), bool(one.done)) == (2.0, 3.0, False)
    assert one.info == ({"target": 6.0} if info else {})
    for many in (
        jax.vmap(turn)(numbers),
        lax.scan(lambda carry, number: (carry, turn(number)), 0, numbers)[1],
    ):
        assert isinstance(many, Turn)
        assert many.done.tolist() == [False, False, False, True]
        assert {name: value.tolist() for name, value in many.info.items()} == (
            {"target": [0.0, 3.0, 6.0, 9.0]} if info else {}
        )


def test_a_transcript_of_a_host_world(specimens, streams):
    rows = transcript(specimens.Corridor(), streams, 60)
    assert [row.step for row in rows] == list(range(60))
    assert {row.action for row in rows} == {0, 1, 2}
    for row, after in pairwise(rows):
        assert row.done == (row.reward == 1.0) == bool(row.info)
        assert row.done or after.observation == min(
            max(row.observation + row.action - 1, 0), specimens.PLACES - 1
        )
    assert rows == transcript(specimens.Corridor(specimens.FastCorridorWorld), streams, 60)
    assert rows != transcript(specimens.Corridor(), Streams(0, "specimen/corridor", 1), 60)
    scripted = transcript(specimens.Corridor(), streams, 5, lambda observation, reward: 1)
    assert [row.observation for row in scripted] == [rows[0].observation] * 5


def test_a_transcript_of_a_pure_world_with_players(specimens, streams):
    rows = transcript(specimens.Signals(), streams, 40)
    assert [tuple(row) for row in rows] == [tuple(json.loads(json.dumps(row))) for row in rows]
    assert [row.done for row in rows] == [False, True] * 20
    for talk, choice in zip(rows[::2], rows[1::2], strict=True):
        assert choice.observation["heard"]["first"] == talk.action["message"]["first"][::-1]
        assert choice.info["shown"] == talk.observation["seen"]
        right = [
            a == b for a, b in zip(choice.action["choice"], choice.info["shown"][::-1], strict=True)
        ]
        assert (talk.reward, choice.reward) == ([0.0, 0.0], [float(each) for each in right])
    # Of 40 choices among 3, between 4 and 23 are right with probability 0.999.
    assert 4 <= sum(sum(row.reward) for row in rows) <= 23
    assert np.shape(rows[0].action["lights"]) == (2, 2)


def test_a_pure_world_on_the_host_has_the_episodes_of_a_rehearsal(specimens, streams):
    task = specimens.Signals()
    pupil = Ruled(specimens.Talkers, task).begin(None, [streams])
    played = pupil.perform(Rehearsal(task, streams.jax("data")[None]), 0, 8)
    world = open_world(task, streams)
    assert [world.reset()["seen"].tolist() for _ in range(8)] == played.info["shown"][
        0, :, 0
    ].tolist()


def test_steps_after_the_end_belong_to_no_episode():
    done = np.array(
        [
            [[False, True, False, True], [True, False, False, False]],
            [[False] * 4, [False, False, True, True]],
        ]
    )
    assert Transcript(None, None, done, {}).steps().tolist() == [3, 7]
