"""The plugin of pytest, on models that are right and on the same models with planted bugs."""

import json
import subprocess
import sys

import pytest

from planted import BUGS, ON, Lookup, Policy, Reservoir, with_bug
from quickstudy.base.errors import UsageError
from quickstudy.testing import plugin
from quickstudy.testing.plugin import Learned, NotShown, assert_learns, write_report

SMALL = ON[Lookup][2]


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """What is tried here is not reported as found by this run of the tests."""
    monkeypatch.setattr(plugin, "_found", [])


@pytest.mark.parametrize("model", [Reservoir, Policy, Lookup])
def test_a_right_model_passes(model):
    item, demand, protocol = ON[model]
    found = assert_learns(model, item, demand, **protocol)
    assert found.decision == "passed"
    assert len(found.spans) <= 3


@pytest.mark.parametrize(
    ("model", "bug"), [(model, bug) for model, bugs in BUGS.items() for bug in bugs]
)
def test_a_planted_bug_is_caught(model, bug):
    item, demand, protocol = ON[model]
    with pytest.raises(AssertionError, match=r"at least|looks ahead"):
        assert_learns(with_bug(model, bug), item, demand, **protocol)


def test_there_are_ten_bugs():
    assert sum(map(len, BUGS.values())) == 10


def test_stored_spans_are_the_demand(tmp_path, monkeypatch):
    file = tmp_path / "learns.json"
    with pytest.raises(UsageError, match="run pytest --store-learns once"):
        assert_learns(Lookup, "span/lookup", since=file, **SMALL)
    monkeypatch.setattr(plugin, "_stores", True)
    assert assert_learns(Lookup, "span/lookup", since=file, most=4, **SMALL).decision == "stored"
    stored = json.loads(file.read_text())
    assert stored == {"Lookup span/lookup sequences=150 tests=6": [16.0] * 4}
    monkeypatch.setattr(plugin, "_stores", False)
    assert assert_learns(Lookup, "span/lookup", since=file, **SMALL).decision == "passed"
    worse = type("Lookup", (Lookup,), {"bug": "keys for values"})
    with pytest.raises(AssertionError, match="at least 16 demanded"):
        assert_learns(worse, "span/lookup", since=file, **SMALL)


def test_a_demand_that_is_missed_by_chance_warns():
    with pytest.warns(NotShown, match="not clearly below"):
        found = assert_learns(Policy, "span/mapping:block=400", 2.9, most=2)
    assert found.decision == "undecided"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "either at_least=SPAN or since=FILE"),
        ({"at_least": 1, "since": "x.json"}, "either"),
        ({"at_least": -1}, "from 0, got -1"),
        ({"at_least": 8, "most": 1}, "at least 2"),
        ({"at_least": 8, "alarm": 2}, "between 0 and 1"),
    ],
)
def test_calls_that_cannot_be_say_what_is_wrong(given, words):
    with pytest.raises(UsageError, match=words):
        assert_learns(Lookup, "span/lookup", **given)


def test_a_task_without_a_span_is_refused():
    with pytest.raises(UsageError, match="has no span"):
        assert_learns("majority", "language/periodic", 1, sequences=20)


def test_a_file_that_is_no_store_is_refused(tmp_path):
    file = tmp_path / "learns.json"
    file.write_text("[1, 2]")
    with pytest.raises(UsageError, match="not a file of stored spans"):
        assert_learns(Lookup, "span/lookup", since=file)


def test_the_report_has_a_table_and_a_badge(tmp_path):
    found = [
        Learned("Model", "span/copy", 8.0, [9.0, 9.0], "passed", 3.0),
        Learned("Model", "span/count", 8.0, [0.0, 0.0, 0.0], "failed", 3.0),
    ]
    write_report(tmp_path / "report", found)
    table = (tmp_path / "report" / "learns.md").read_text()
    assert "| Model | span/count | 0 | 8 | 3 | failed |" in table
    badge = json.loads((tmp_path / "report" / "badge.json").read_text())
    assert (badge["message"], badge["color"], badge["schemaVersion"]) == ("1 of 2", "red", 1)
    write_report(tmp_path / "none", [])
    assert json.loads((tmp_path / "none" / "badge.json").read_text())["message"] == "not tested"


def test_pytest_prints_and_reports_what_was_found(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "from quickstudy.testing.plugin import assert_learns\n\n"
        "def test_good():\n"
        "    assert_learns('by-position', 'span/copy', at_least=1, sequences=30, tests=6)\n\n"
        "def test_bad():\n"
        "    assert_learns('by-position', 'span/copy', at_least=9, sequences=30, tests=6)\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "quickstudy.testing.plugin", "-p", "no:xdist"),
            *("-q", "--learns-report", "report", "test_it.py"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "does it still learn?" in done.stdout
    assert "by-position on span/copy" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert json.loads((tmp_path / "report" / "badge.json").read_text())["message"] == "1 of 2"
