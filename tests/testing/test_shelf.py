"""The shelf of specimens with a fault of choice: each is caught by the finding that is about its fault, and by no
other; without a fault, it keeps every promise.
"""

from __future__ import annotations

from functools import partial

import pytest

from quickstudy.testing import check_learner, check_task, specimens
from quickstudy.testing.small_tasks import Levers, PureLevers


def puller(fault):
    return check_learner(partial(specimens.FaultyPuller, fault=fault), Levers(levers=8))


SHELF = {
    "series": (lambda fault: check_task(specimens.FaultySeries(fault)), specimens.SERIES),
    "world": (lambda fault: check_task(specimens.FaultyLevers(fault=fault)), specimens.WORLDS),
    "pure world": (lambda fault: check_task(specimens.FaultyPureLevers(fault=fault, players=2)), specimens.PURE_WORLDS),
    "puller": (puller, specimens.ACTORS),
    "player": (lambda fault: check_learner(specimens.FaultyPlayer(fault), PureLevers(levers=8)), specimens.PLAYERS),
    "reader": (lambda fault: check_learner(specimens.FaultyReader(fault)), specimens.READERS),
    "speaker": (lambda fault: check_learner(specimens.FaultySpeaker(fault)), specimens.SPEAKERS),
}


def broken(findings):
    return [finding.what for finding in findings if not finding.ok]


@pytest.mark.parametrize("kind", SHELF)
def test_the_honest_keep_every_promise(kind):
    check, _ = SHELF[kind]
    assert broken(check("none")) in ([], ["learns from nothing"])


@pytest.mark.parametrize(("kind", "fault"), [(kind, fault) for kind, (_, faults) in SHELF.items() for fault in faults])
def test_a_fault_is_caught_by_its_finding_and_no_other(kind, fault):
    check, faults = SHELF[kind]
    findings = check(fault)
    assert broken(findings) == [faults[fault]]
    assert all(finding.detail for finding in findings if not finding.ok)
