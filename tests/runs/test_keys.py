"""The keys of forty runs, stored: a key that changed would make strangers of all runs that anybody has on disk.

A key may change only with the version of what is run. Then, and only for those, `RENEW=keys pytest
tests/runs/test_keys.py` stores the new one, and the change log says which version was raised.
"""

from __future__ import annotations

import json
import os
import pathlib

import pytest

from quickstudy.base import catalogue
from quickstudy.base.canonical import digest
from quickstudy.base.parameters import parse_assignments
from quickstudy.runs.setting import Setting, identity

STORED = pathlib.Path(__file__).with_name("keys.json")
LINES = {
    "corrected": """
language/qa@1 esn
language/qa@1 esn:units=200,leak=0.3
language/qa@1 esn+rls
language/qa@1 esn+logistic:units=100
language/qa@1 reca:rule=90
language/qa@1 recall
language/qa@1 rnn
language/qa@1 gru:units=20
language/qa@1 lstm
language/qa@1 lstm:passes=1
language/qa@1 transformer
language/qa@1 majority
language/qa@1 polarity
language/qa@1 oracle
language/qa@1 relearning:learner=esn+rls,every=480
language/qa@1 tampered:learner=lstm,how=blank
language/qa@1 relearning:learner=lstm:units=8,every=100
language/qa@1 esn schedule=every
language/qa@1 esn sequences=60,share=0.5
language/qa@1:verbs=1 lstm order=published
language/harder-qa@1 uniform
language/world-qa@1 recall
language/world-qa-counting@1 esn
language/adjective-qa@1 reca
language/adjective-qa-counting@1 question-majority
language/periodic copy-last
language/periodic:longest=5 rnn
language/increasing-period lstm
language/symbol-counting esn+rls
language/pattern-counting seen-or-not
language/mixed best-rule
language/mixed recall
continual/chained esn+rls
continual/chained lstm replay=true
continual/growing recall schedule=every
reviews/imdb bag+sparse
reviews/imdb:pieces=2000 gru+pooled stride=5
""",
    "published": """
language/qa@1 esn
language/periodic lstm
reviews/imdb bag+sparse
""",
}
CELLS = [(convention, line) for convention, lines in LINES.items() for line in lines.strip().splitlines()]


@pytest.fixture(autouse=True)
def _data_need_not_be_here(monkeypatch):
    monkeypatch.setattr(catalogue.task.get("reviews/imdb"), "ready", lambda task: None)


def now(convention, line):
    """The key of a cell, and the versions of task, learner and protocol behind it, and of a learner in the learner."""
    task, learner, assignments = [*line.split(), ""][:3]
    setting = Setting(task, learner, convention, protocol=parse_assignments(assignments))
    what = identity(setting, setting.resolve(), 3)
    versions = [what[part]["version"] for part in ("task", "learner", "protocol")]
    within = what["learner"].get("within")
    return {"key": digest(what), "versions": [*versions, *([within["version"]] if within else [])]}


def test_there_are_forty():
    assert len(CELLS) == 40
    assert sorted(json.loads(STORED.read_text())) == sorted(map(" ".join, CELLS))
    assert len({cell["key"] for cell in json.loads(STORED.read_text()).values()}) == 40


def test_a_key_changes_only_with_a_version():
    stored = json.loads(STORED.read_text())
    found = {" ".join(cell): now(*cell) for cell in CELLS}
    changed = [name for name, cell in found.items() if cell["key"] != stored[name]["key"]]
    silent = [name for name in changed if found[name]["versions"] == stored[name]["versions"]]
    assert not silent, f"another key and the same versions: {silent}"
    raised = {name: (stored[name]["versions"], found[name]["versions"]) for name in changed}
    if os.environ.get("RENEW") == "keys":
        STORED.write_text(json.dumps(found, indent=1) + "\n")
        raised = {}
    assert not raised, f"another version of task, learner or protocol; RENEW=keys stores the new keys: {raised}"
