"""Every training that is not usual in a family, every learner of the package, every protocol, and
further forms of cores and trainings.
"""

from __future__ import annotations

import pytest

from quickstudy.base import registries
from quickstudy.learners.core_with_training import default_training
from tiny_runs import CORES, LEARNERS, OUTSIDE, PROTOCOLS, TRAININGS, ids, outcome

RUNS = [
    *((f"core {name}", run) for name, runs in CORES.items() for run in runs),
    *((f"training {name}", run) for name, runs in TRAININGS.items() for run in runs),
    *((f"learner {name}", run) for name, run in LEARNERS.items()),
    *((f"protocol {name}", run) for name, run in PROTOCOLS.items()),
]
NAMES = [f"{component}: {' '.join(filter(None, run))}" for component, run in RUNS]
HOW = "add a line to {} in tests/shared/tiny_runs.py, then python -m pytest tests/net --renew"


@pytest.mark.parametrize(
    ("name", "run"), [(name, run) for name, (_, run) in zip(NAMES, RUNS, strict=True)], ids=NAMES
)
def test_runs(name, run, expected):
    versions, found = outcome(run)
    assert name.partition(":")[0] in versions
    assert "refused" not in found
    expected.check("components", name, versions, found)


def test_no_other_runs_are_stored(expected):
    expected.names("components", NAMES)


def test_every_training_is_run():
    usually = {
        default_training(registries.core.get(core), "corrected", asked)
        for core in ids("core")
        for asked in ("symbols", "reals", "strings", "reward")
    }
    missing = set(ids("training")) - usually - TRAININGS.keys()
    assert not missing, f"trainings without a run: {sorted(missing)}; {HOW.format('TRAININGS')}"


def test_every_learner_is_run():
    missing = set(ids("learner")) - LEARNERS.keys() - OUTSIDE.keys()
    assert not missing, f"learners without a run: {sorted(missing)}; {HOW.format('LEARNERS')}"


def test_every_protocol_is_run():
    missing = set(ids("protocol")) - PROTOCOLS.keys()
    assert not missing, f"protocols without a run: {sorted(missing)}; {HOW.format('PROTOCOLS')}"
