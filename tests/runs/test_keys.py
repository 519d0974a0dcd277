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
language/qa esn
language/qa esn:units=200,leak=0.3
language/qa esn+rls
language/qa esn+logistic:units=100
language/qa reca:rule=90
language/qa recall
language/qa rnn
language/qa gru:units=20
language/qa lstm
language/qa lstm:passes=1
language/qa transformer
language/qa majority
language/qa polarity
language/qa oracle
language/qa relearning:learner=esn+rls,every=480
language/qa tampered:learner=lstm,how=blank
language/qa relearning:learner=lstm:units=8,every=100
language/qa esn schedule=every
language/qa esn sequences=60,share=0.5
language/qa:verbs=1 lstm order=published
language/harder-qa uniform
language/world-qa recall
language/world-qa-counting esn
language/adjective-qa reca
language/adjective-qa-counting question-majority
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
language/qa esn
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
