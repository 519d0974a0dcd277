"""The keys of sixty runs: a key that changes would orphan all runs that are stored under it."""

from __future__ import annotations

import pytest

from expected import read
from quickstudy.base import registries
from quickstudy.base.canonical import digest
from quickstudy.base.parameters import parse_assignments
from quickstudy.runs.run_spec import Setting, identity
from tiny_runs import components

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
grammar/an-bn lstm
grammar/an-bn mdlrnn
grammar/dyck-1 esn order=2
grammar/parity-check gru
dynamics/narma-10 esn
dynamics/narma-10:training=500 esn:units=100
dynamics/lorenz-63 ngrc
dynamics/mackey-glass-17 lstm
dynamics/memory esn
dynamics/long-addition rnn
dynamics/double-pole esn
dynamics/channel-20 slicer
curriculum/micro-1 lstm
curriculum/chain search steps=1000
curriculum/transfer table
games/listener gru
games/listener gru+r2d2 teaching=reward
games/pair gru+channel
""",
    "published": """
language/qa@1 esn
language/periodic lstm
reviews/imdb bag+sparse
grammar/an-bn lstm
games/listener esn
""",
}
CELLS = [
    f"{convention} {line}"
    for convention, lines in LINES.items()
    for line in lines.strip().splitlines()
]


@pytest.fixture(autouse=True)
def _data_need_not_be_here(monkeypatch):
    monkeypatch.setattr(registries.task.get("reviews/imdb"), "ready", lambda task: None)


@pytest.mark.parametrize("cell", CELLS)
def test_keys(cell, expected):
    convention, task, learner, assignments = [*cell.split(), ""][:4]
    setting = Setting(task, learner, convention, protocol=parse_assignments(assignments))
    parts = setting.resolve()
    found = digest(identity(setting, parts, 3))
    expected.check("keys", cell, components(parts), {"key": found}, tells=False)


def test_there_are_sixty_different_keys(expected):
    expected.names("keys", CELLS)
    keys = {entry["value"]["key"] for entry in read("keys").values()}
    assert len(CELLS) == len(keys) == 60
