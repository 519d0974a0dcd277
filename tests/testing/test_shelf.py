"""The shelf of specimens with a fault of choice: each is caught by the finding that is about its
fault, and by no other; without a fault, it keeps every promise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pytest

import faulty
import quickstudy as qs
from quickstudy.learners.host import HostPupil
from quickstudy.testing import check_learner, check_task
from quickstudy.testing.small_tasks import Levers, LeverWorld, Partners, PureLevers


def puller(fault):
    return check_learner(partial(faulty.FaultyPuller, fault=fault), Levers(levers=8))


def speaker_of_numbers(fault):
    """It refuses symbols, so that all that is found of it is about real numbers."""
    findings = check_learner(faulty.FaultySpeaker(fault, reals=True))
    return [
        replace(finding, what=finding.what.removeprefix("real numbers: ")) for finding in findings
    ]


SHELF = {
    "series": (lambda fault: check_task(faulty.FaultySeries(fault)), faulty.SERIES),
    "world": (lambda fault: check_task(faulty.FaultyLevers(fault=fault)), faulty.WORLDS),
    "pure world": (
        lambda fault: check_task(faulty.FaultyPureLevers(fault=fault, players=2)),
        faulty.PURE_WORLDS,
    ),
    "puller": (puller, faulty.ACTORS),
    "player": (
        lambda fault: check_learner(faulty.FaultyPlayer(fault), PureLevers(levers=8)),
        faulty.PLAYERS,
    ),
    "reader": (lambda fault: check_learner(faulty.FaultyReader(fault)), faulty.READERS),
    "speaker": (lambda fault: check_learner(faulty.FaultySpeaker(fault)), faulty.SPEAKERS),
    "speaker of numbers": (
        speaker_of_numbers,
        {"not finite": "answers in the right shape, all finite"},
    ),
}


def broken(findings):
    return [finding.what for finding in findings if not finding.ok]


@pytest.mark.parametrize("kind", SHELF)
def test_the_honest_keep_every_promise(kind):
    check, _ = SHELF[kind]
    assert broken(check("none")) in ([], ["learns from nothing"])


@pytest.mark.parametrize(
    ("kind", "fault"), [(kind, fault) for kind, (_, faults) in SHELF.items() for fault in faults]
)
def test_a_fault_is_caught_by_its_finding_and_no_other(kind, fault):
    check, faults = SHELF[kind]
    findings = check(fault)
    assert broken(findings) == [faults[fault]]
    assert all(finding.detail for finding in findings if not finding.ok)


def test_what_is_asked_in_vain_is_said_and_no_fault():
    """A learner's faces, and the ways of being asked that it is not for, with the reason."""

    def faces(learner, task=None):
        (found,) = [
            finding for finding in check_learner(learner, task) if finding.what == "its faces"
        ]
        assert found.ok
        return found.detail

    assert (
        faces(faulty.FaultyReader())
        == "answers, steps, shows, keeps; not found: answers with real numbers (it answers with"
        " symbols), acts (_Pairs does not act: it has no act), rehearses (_Pairs does not play"
        " whole episodes: it has no rehearse and no perform)"
    )
    assert faces(faulty.FaultySpeaker(reals=True)).startswith(
        "answers; not found: steps, shows, keeps, answers with symbols (it answers with real"
        " numbers)"
    )
    assert faces(faulty.FaultyPlayer(), PureLevers()) == "rehearses, keeps"
    assert faces(faulty.FaultyPuller).endswith(
        "rehearses (FaultyPuller does not play whole episodes: it has no rehearse and no perform)"
    )


def test_a_class_need_not_know_of_symbols():
    """One that is for real numbers, and raises when it is asked for symbols, is a learner all the
    same.
    """

    class Mean:
        def __init__(self, brief, seed):
            self.slope = 0.0

        def learn(self, inputs, targets):
            self.slope += 0.1 * float(
                np.mean(inputs[:, 0] * (targets[:, 0] - self.slope * inputs[:, 0]))
            )

        def predict(self, inputs):
            return self.slope * inputs

    findings = check_learner(Mean)
    assert "real numbers: same seed, same answers" in [finding.what for finding in findings]
    assert "same seed, same answers" not in [finding.what for finding in findings]
    (faces,) = [finding.detail for finding in findings if finding.what == "its faces"]
    assert "answers with symbols (IndexError" in faces


def test_fixed_data_are_no_fault_where_they_are_said():
    for task in (faulty.FaultySeries("fixed"), faulty.FaultyLevers(fault="fixed")):
        details = {finding.what: finding.detail for finding in check_task(task)}
        assert "its data are fixed, as declared" in details.values()
        assert broken(check_task(task)) == []


def test_a_task_of_two_kinds_keeps_the_promises_of_both():
    @dataclass(frozen=True)
    class Both(Partners):
        """Draws examples, and is a world."""

        horizon: int = 10

        def open(self, streams):
            return Levers(levers=len(self.vocabulary)).open(streams)

    found = {finding.what: finding.ok for finding in check_task(Both())}
    assert found["examples: draws what its spaces say"]
    assert found["world: live is step after step"]


class Trusting(LeverWorld):
    """Takes every action, and says which it has seen."""

    seen: ClassVar[list] = []

    def check(self, action):
        self.seen.append(action)


@dataclass(frozen=True)
class TrustingLevers(Levers):
    def open(self, streams):
        return Trusting(self, streams.numpy("data"))


def test_a_world_need_not_refuse_an_action_that_it_never_sees():
    task = TrustingLevers()
    failed = [str(finding) for finding in check_task(task) if not finding.ok]
    assert not [finding for finding in failed if "action" in finding]
    for action in (-1, task.levers, 0.5, None):
        host = faulty.FaultyPuller(qs.Brief(*qs.spaces_of(task), "reward", 10, 10), 0)
        host.act = lambda *_, action=action: action
        pupil = HostPupil(host, qs.Brief(*qs.spaces_of(task), "reward", 10, 10))
        lifetime = qs.Lifetime(pupil, task, [qs.Streams(0, "levers", 0)], qs.Clock())
        Trusting.seen.clear()
        with pytest.raises(qs.LearnerFault):
            lifetime.go_on(3)
        assert not Trusting.seen
