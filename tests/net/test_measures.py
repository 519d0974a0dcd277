"""Every measure on stored traces, so that no task or learner can change its numbers."""

from __future__ import annotations

import pytest

from quickstudy.base import registries
from quickstudy.base.parameters import CONVENTIONS
from stored_traces import RUNS, make_missing, stored
from tiny_runs import ids

HOW = "add a run that has such a trace to RUNS in tests/shared/stored_traces.py, then"


@pytest.fixture(scope="module")
def traces(request):
    if request.config.getoption("--renew"):
        make_missing()
    return stored()


def test_the_traces_are_stored(traces):
    assert sorted(traces) == sorted(RUNS), "python -m pytest tests/net --renew"


@pytest.mark.parametrize("name", ids("measure"))
def test_measures(name, traces, expected):
    measure = registries.measure.get(name)
    found = {}
    for trace, content in traces.items():
        if content.kind in measure.kinds:
            for convention in CONVENTIONS[:2]:
                if values := dict(measure(content, convention)):
                    found[f"{trace}, {convention}"] = values
    assert found, f"measure {name}: no stored trace gives it a number; {HOW} --renew"
    expected.check("measures", name, {f"measure {name}": measure.version}, found)


def test_no_other_measures_are_stored(expected):
    expected.names("measures", ids("measure"))
