"""Learners that play whole episodes are taught, whether or not they can be kept."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from quickstudy.base import registries
from quickstudy.base.seeds import Streams
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.protocols.games import GamesProtocol


@dataclass(frozen=True)
class Counting:
    """Plays as another learner does, and counts what it is asked; it has no snapshot."""

    inner: object
    calls: list

    def begin(self, brief, streams):
        return _Counting(self.inner.begin(brief, streams), self.calls)


class _Counting:
    def __init__(self, pupil, calls):
        self.lanes, self.cost, self._pupil, self._calls = pupil.lanes, pupil.cost, pupil, calls

    def rehearse(self, rehearsal, start, stop):
        self._calls.append((start, stop))
        return self._pupil.perform(rehearsal, start, stop)

    def perform(self, rehearsal, start, stop):
        return self._pupil.perform(rehearsal, start, stop)


@pytest.mark.parametrize("rule", [False, True])
def test_only_what_declares_that_it_never_learns_is_not_taught(rule):
    task, calls = registries.typed_task("games/listener"), []
    rules = [choose_learner(name, "corrected", task) for name in task.controls]
    played = next(rule for rule in rules if rule.compiled).make(task)
    protocol = GamesProtocol(teaching="reward", observations=200, tests=1, episodes=4)
    protocol.examine(task, played if rule else Counting(played, calls), [Streams(0, task.id, 0)])
    assert bool(calls) is not rule
