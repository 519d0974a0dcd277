"""Classes that act step by step, in the listener's game."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable
from quickstudy.base.seeds import Streams
from quickstudy.learners.host import Hosted
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.protocols.games import GamesProtocol

PROTOCOL = GamesProtocol(teaching="reward", observations=100, tests=1, episodes=3)


class NeverMeant:
    """Decides that none is meant, as the control `always-none` does, and writes down what it is
    called with.
    """

    def __init__(self, brief, seed):
        self.calls, self.last = [], brief.outputs.size - 1

    def act(self, observation, reward, first, learning=True):
        assert np.asarray(observation).ndim == 1
        self.calls.append((learning, first, reward))
        return self.last


def examined(make):
    task = registries.typed_task("games/listener", "corrected")
    learner = make if hasattr(make, "begin") else Hosted(make)
    return PROTOCOL.examine(task, learner, [Streams(0, task.id, 0)])


def test_a_class_that_acts_has_the_score_of_the_rule_that_does_the_same():
    task = registries.typed_task("games/listener", "corrected")
    found = examined(NeverMeant)
    rule = examined(choose_learner("always-none", "corrected", task).make(task))
    for name in ("correct", "asked", "right", "episode", "game", "query", "foil"):
        assert found.traces[0].arrays[name].tolist() == rule.traces[0].arrays[name].tolist(), name
    calls = found.pupil.host.calls
    lessons = [call for call in calls if call[0]]
    assert lessons
    assert len(lessons) < len(calls)
    assert {reward for _, first, reward in lessons if not first} >= {0.0, 1.0}
    assert found.traces[0].cost.examples == len(lessons)


def test_a_class_that_cannot_hold_still_is_refused_with_the_remedy():
    class Learning(NeverMeant):
        def act(self, observation, reward, first):
            return self.last

    with pytest.raises(NotApplicable, match="act must have a parameter learning"):
        examined(Learning)
