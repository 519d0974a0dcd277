"""From a name to its checker."""

from __future__ import annotations

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.testing.check import check_name

FILE = '''
from dataclasses import dataclass

import numpy as np

import quickstudy as qs


@qs.task("testing/echo", version=1, controls=["majority"], oracle="copy-last")
@dataclass(frozen=True)
class Echo:
    """Say every word twice."""

    words: int = 4

    @property
    def vocabulary(self):
        return tuple("abcdefgh"[: self.words])

    def sample(self, rng, count):
        drawn = rng.integers(self.words, size=(count, 5))
        return qs.Examples.from_sequences(np.repeat(drawn, 2, axis=1), [range(1, 10, 2)] * count)


class Forgets:
    """Answers with word 0."""

    def __init__(self, brief, seed):
        self.answer = 0

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        return np.zeros(len(inputs), dtype=int)
'''


@pytest.fixture
def file(tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "echo_file.py"
    path.write_text(FILE)
    return path


def outcome(name):
    return {finding.what: finding.ok for finding in check_name(name)}


def test_a_task_by_name_with_parameters():
    found = outcome("language/qa:verbs=1")
    assert all(found.values())
    assert "its oracle is always right" in found


def test_a_control_is_checked_on_a_task_that_names_it():
    found = outcome("polarity")
    assert all(found.values())
    assert "learns from nothing" not in found


def test_a_core_and_the_learner_of_its_name():
    found = outcome("esn:units=24")
    assert all(found.values())
    assert {"core: unroll agrees with the scan of step", "learns from what it is told"} <= set(found)


def test_a_file_with_one_registered_task(file):
    found = outcome(str(file))
    assert all(found.values())
    assert found["its oracle is always right"]


def test_classes_of_a_file(file):
    assert outcome(f"{file}:Echo")["has a spec sheet"]
    assert not outcome(f"{file}:Forgets")["learns from nothing"]


def test_wrong_names(file, tmp_path):
    with pytest.raises(UsageError, match=r'no task or learner "langauge/qa"; did you mean "language/qa"\?'):
        check_name("langauge/qa")
    with pytest.raises(UsageError, match="units must be at least 1"):
        check_name("esn:units=-5")
    with pytest.raises(UsageError, match='no learner "Forgot"'):
        check_name(f"{file}:Forgot")
    with pytest.raises(UsageError, match="no file"):
        check_name(str(tmp_path / "absent.py"))
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n")
    with pytest.raises(UsageError, match="nothing is registered"):
        check_name(str(empty))
