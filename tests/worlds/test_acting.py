"""Acting: a host's fast way and its slow way, what it costs, and rules that have more than a
learner.
"""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Rehearsal
from quickstudy.base.learner import Acting, Brief, Living, Rehearsing, face
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.base.task import spaces_of
from quickstudy.jax_gateway import jnp
from quickstudy.learners.host import Hosted
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.protocols.examination import Clock
from quickstudy.protocols.lifetime import Lifetime


class Learning:
    """Walks on until it learns of a wall, and writes down what else it is given."""

    def __init__(self, brief, seed):
        self.action, self.given = 2, []

    def act(self, observation, reward, first, learning=True):
        self.given.append((reward, first))
        if learning:
            self.action = {0: 2, 6: 0}.get(int(observation), self.action)
        return self.action


class Detour:
    """A pupil without `live`."""

    lanes = 1

    def __init__(self, pupil):
        self.act, self.cost = pupil.act, pupil.cost


def brief_of(task):
    return Brief(*spaces_of(task), "reward", task.horizon, 1000)


def pupil_of(make, task, streams):
    return Hosted(make).begin(brief_of(task), [streams])


def days(lifetime, steps, **options):
    """Lives until so many steps are lived."""
    lives = []
    while steps:
        lives += lifetime.go_on(steps, **options)
        steps -= len(lives[-1].actions)
    return lives


def test_the_fast_way_is_the_slow_way(specimens, streams):
    task = specimens.Corridor()
    fast, slow = (pupil_of(Learning, task, streams) for _ in range(2))
    assert face(fast, Living) is fast
    lives = days(Lifetime(fast, task, [streams], Clock()), 300)
    assert lives == days(Lifetime(Detour(slow), task, [streams], Clock()), 300)
    assert sum(life.done for life in lives) > 5
    assert fast.host.given == slow.host.given
    assert [reward for reward, _ in fast.host.given[1:]] == [
        reward for life in lives for reward in life.rewards
    ][:-1]
    assert [first for _, first in fast.host.given] == [
        step == 0 for life in lives for step in range(len(life.actions))
    ]
    assert fast.cost() == slow.cost()


def test_steps_and_seconds_of_acting_are_counted(specimens, streams):
    task, clock = specimens.Corridor(), Clock()
    pupil = pupil_of(Learning, task, streams)
    lifetime = Lifetime(pupil, task, [streams], clock)
    days(lifetime, 200)
    assert pupil.cost()[0].examples == 200
    (cost,) = clock.charge(pupil.cost())
    assert cost.learn_seconds > 0 == cost.answer_seconds
    still = {action for life in days(lifetime, 50, learning=False) for action in life.actions}
    (later,) = clock.charge(pupil.cost())
    assert len(still) == 1
    assert (later.examples, later.learn_seconds) == (200, cost.learn_seconds)
    assert later.answer_seconds > 0


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        (3, r"act must give a token 0\.\.2, got 3"),
        (-1, r"act must give a token 0\.\.2, got -1"),
        (1.0, r"act must give a token 0\.\.2, got 1\.0"),
        (None, r"act must give a token 0\.\.2, got None"),
        ("1", r"act must give a token 0\.\.2, got '1'"),
        (np.array([1]), r"act must give a token 0\.\.2 of shape \(\), got array"),
    ],
)
@pytest.mark.parametrize("way", [lambda pupil: pupil, Detour])
def test_an_action_outside_its_space_is_refused(specimens, streams, action, complaint, way):
    task = specimens.Corridor()

    class Wrong(Learning):
        def act(self, observation, reward, first):
            return action

    with pytest.raises(LearnerFault, match=complaint):
        Lifetime(way(pupil_of(Wrong, task, streams)), task, [streams], Clock()).go_on(5)


@pytest.mark.parametrize("way", [lambda pupil: pupil, Detour])
def test_a_host_plays_for_all_players_in_fields(specimens, streams, way):
    task = specimens.Signals()
    pupil = pupil_of(specimens.HostTalkers, task, streams)
    lifetime = Lifetime(way(pupil), task, [streams], Clock())
    lives = [lifetime.go_on(10)[0] for _ in range(4)]
    assert [len(life.actions) for life in lives] == [2] * 4
    assert np.array([life.rewards for life in lives]).tolist() == [[[0, 0], [1, 1]]] * 4
    assert pupil.host.calls == [((2,), True), ((2,), False)] * 4
    assert pupil.cost()[0].examples == 8
    pupil.host.act = lambda *_: {"choice": np.zeros(2, int)}
    with pytest.raises(
        LearnerFault, match="a mapping with choice, message, lights, got one with choice"
    ):
        lifetime.go_on(1)


def test_lanes_go_on_together_as_each_would_alone(specimens):
    """As far as to where a world is over, in any lane; then that one begins anew."""
    task, streams = (
        specimens.Corridor(),
        [Streams(0, "specimen/corridor", number) for number in range(3)],
    )

    class Beside:
        """Three learners in one pupil."""

        lanes = 3

        def __init__(self):
            self.pupils = [pupil_of(Learning, task, stream) for stream in streams]

        def act(self, observation, reward, first, learning=True):
            lanes = zip(
                self.pupils, observation[:, None], reward[:, None], first[:, None], strict=True
            )
            return np.concatenate([pupil.act(*lane) for pupil, *lane in lanes])

    lifetime = Lifetime(Beside(), task, streams, Clock())
    pieces = [lifetime.go_on(20) for _ in range(30)]
    assert {len({len(life.actions) for life in piece}) for piece in pieces} == {1}
    assert all(any(life.done for life in piece) or len(piece[0].actions) == 20 for piece in pieces)
    for lane, stream in enumerate(streams):
        together = [action for piece in pieces for action in piece[lane].actions]
        alone = days(
            Lifetime(pupil_of(Learning, task, stream), task, [stream], Clock()), len(together)
        )
        assert together == [action for life in alone for action in life.actions]
    with pytest.raises(UsageError, match="a pupil of 3 lanes cannot live in 1 worlds"):
        Lifetime(Beside(), task, streams[:1], Clock())


def test_a_rule_that_watches_the_world(specimens, streams):
    task = specimens.Corridor()
    rule = choose_learner("specimen/seer", "corrected", task)
    lifetime = Lifetime(
        face(rule.make(task).begin(brief_of(task), [streams]), Acting), task, [streams], Clock()
    )
    for _ in range(20):
        (life,) = lifetime.go_on(100)
        assert life.rewards == [-0.25] * (
            abs(lifetime.worlds[0].goal - life.observations[0]) - 1
        ) + [1.0]
    learner = pupil_of(lambda brief, seed: specimens.Seer(task, brief, seed), task, streams)
    assert not hasattr(learner, "watch")


def test_a_rule_that_is_told_each_answer_after_its_own(specimens, streams):
    task = specimens.Wandering()
    series = task.drive(streams.numpy("data"))
    exam = Exam([series.part("test")])
    rule = choose_learner("specimen/persistence", "corrected", task).make(task)
    brief = Brief(Reals(1), Reals(1), "squared", 100, 1)
    said = rule.begin(brief, [streams]).answer(exam)
    assert np.array_equal(said[0], series.targets[-41:-1])
    learner = Hosted(lambda brief, seed: specimens.Persistence(task, brief, seed)).begin(
        brief, [streams]
    )
    assert not learner.answer(exam).any()


def test_what_a_rule_is_told_cannot_be_the_answer_to_the_row(specimens, streams):
    told = []

    class Listening(specimens.Persistence):
        def told(self, answers):
            told.append(answers.tolist())

    examples = Examples.from_sequences([[1, 2, 3, 4], [5, 6]], [[1, 3], [1]])
    listening = Hosted(lambda brief, seed: Listening(None, brief, seed), control=True)
    pupil = listening.begin(Brief(Tokens(9), Tokens(1), "cross-entropy", 4, 1), [streams])
    pupil.answer(Exam([examples]))
    assert told == [[-1, 2, 3], [-1]]


def test_a_rule_that_is_compiled(specimens):
    task, streams = (
        specimens.Signals(),
        [Streams(0, "specimen/signals", number) for number in range(2)],
    )
    choice = choose_learner("specimen/talkers", "corrected", task)
    assert choice.compiled
    assert (choice.role, choice.programs) == ("control", 1)
    pupil = face(
        choice.make(task).begin(brief_of(task), [stream.for_learner() for stream in streams]),
        Rehearsing,
    )
    rehearsal = Rehearsal(task, jnp.stack([stream.jax("data") for stream in streams]))
    played = pupil.rehearse(rehearsal, 0, 50)
    assert played.rewards.shape == played.actions["choice"].shape == (2, 50, 3, 2)
    assert played.actions["lights"].shape == (2, 50, 3, 2, 2)
    assert played.done.shape == (2, 50, 3)
    assert np.array_equal(played.rewards[:, :, :2].sum(axis=2), np.ones((2, 50, 2)))
    assert [cost.examples for cost in pupil.cost()] == [100, 100]
    # Dice are thrown anew in every lane, episode and step, and where a protocol cuts makes no
    # difference.
    words = np.asarray(played.actions["message"]["second"])
    assert not words[:, :, 0].any()
    assert np.bincount(words[:, :, 1].ravel(), minlength=4).min() > 25
    assert not np.array_equal(words[0], words[1])
    cut = [
        pupil.perform(rehearsal, *bounds).actions["message"]["second"]
        for bounds in ((0, 20), (20, 50))
    ]
    assert np.array_equal(np.concatenate(cut, axis=1), words)
    assert pupil.cost()[0].examples == 100
    with pytest.raises(NotApplicable, match="RulePupil does not act: it has no act"):
        face(pupil, Acting)
