"""From a name to its checker."""

from __future__ import annotations

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.testing import learners
from quickstudy.testing.check import check_name, check_sequences

FILE = '''
from dataclasses import dataclass

import numpy as np

import quickstudy as qs


@qs.task("testing/echo", version=1, controls=["majority"], oracle="copy-last", protocol="language")
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
    found = outcome("language/qa@1:verbs=1")
    assert all(found.values())
    assert "its oracle is always right" in found


def test_a_control_is_checked_on_a_task_that_names_it():
    found = outcome("polarity")
    assert all(found.values())
    assert "learns from nothing" not in found


def test_a_core_and_the_learner_of_its_name(monkeypatch):
    """Asked for symbols alone: learners that are asked in all ways are in tests/contract."""
    monkeypatch.setattr(learners, "_ROOMS", learners._ROOMS[:1])
    found = outcome("esn:units=24")
    assert [what for what, ok in found.items() if not ok] == []
    assert {"core: unroll agrees with the scan of step", "learns from targets"} <= set(found)


def test_a_file_with_one_registered_task(file):
    found = outcome(str(file))
    assert all(found.values())
    assert found["its oracle is always right"]


def test_classes_of_a_file(file):
    assert outcome(f"{file}:Echo")["has a spec sheet"]
    assert not outcome(f"{file}:Forgets")["learns from nothing"]


def test_wrong_names(file, tmp_path):
    with pytest.raises(
        UsageError, match=r'no task or learner "langauge/qa"; did you mean "language/qa"\?'
    ):
        check_name("langauge/qa")
    with pytest.raises(UsageError, match="units must be at least 1"):
        check_name("esn:units=-5")
    with pytest.raises(
        UsageError, match=r'no task, core or learner "Forgot" in .*; did you mean "Forgets"'
    ):
        check_name(f"{file}:Forgot")
    with pytest.raises(UsageError, match="no file"):
        check_name(str(tmp_path / "absent.py"))
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n")
    with pytest.raises(UsageError, match="nothing is registered"):
        check_name(str(empty))


def test_a_file_with_one_learner_need_not_name_it(tmp_path):
    file = tmp_path / "only.py"
    text = (
        "def helper():\n    pass\n\n\nclass {0}:\n    def __init__(self, brief, seed):\n       "
        " pass\n\n"
    )
    text += (
        "    def learn(self, inputs, targets):\n        pass\n\n    def predict(self, inputs):\n   "
        "     return None\n"
    )
    file.write_text(text.format("Only"))
    found = {str(one) for one in check_name(str(file)) if not one.ok}
    assert any("one row per input row" in one for one in found)
    two = tmp_path / "two.py"
    two.write_text(text.format("Only") + "\n\n" + text.format("Other"))
    with pytest.raises(
        UsageError, match=r"nothing is registered in .*; type .*two\.py:Only to check a class of it"
    ):
        check_name(str(two))


def included(tmp_path, name, text):
    (tmp_path / f"{name}.py").write_text(text)
    return str(tmp_path / f"{name}.py")


def test_a_task_that_no_protocol_examines(tmp_path):
    text = FILE.replace(', protocol="language"', "").replace("testing/echo", "mine/echo")
    findings = check_name(included(tmp_path, "homeless", text))
    (broken,) = [finding for finding in findings if not finding.ok]
    assert broken.what == "has a protocol"
    assert broken.detail.startswith('task "mine/echo": no protocol "mine"; known: charc, ')


def test_a_forgotten_version_is_said_in_words(tmp_path):
    path = included(tmp_path, "unversioned", FILE.replace("version=1, ", ""))
    with pytest.raises(UsageError, match=r'@task\("testing/echo"\) must say its version'):
        check_name(path)


def test_a_learner_that_raises_is_told_with_its_place(tmp_path):
    path = included(
        tmp_path,
        "raising",
        FILE.replace("testing/echo", "testing/e").replace("        pass", "        1 / 0"),
    )
    finding, *_ = check_name(f"{path}:Forgets")
    assert not finding.ok
    assert finding.detail == f"ZeroDivisionError: division by zero ({path}:32)"


def test_a_class_that_lacks_predict_is_no_learner(tmp_path):
    path = included(
        tmp_path,
        "mute",
        FILE.replace("testing/echo", "testing/m").replace("def predict", "def predcit"),
    )
    with pytest.raises(UsageError, match=r"the class has no predict, it has learn, predcit"):
        check_name(f"{path}:Forgets")


RIGHT = "I SEE TOM BUT I DO NOT SEE PAUL . DO I SEE PAUL ? NO"


def test_sequences_of_a_file_are_told_from_others(tmp_path):
    path = tmp_path / "said.txt"
    path.write_text(f"{RIGHT}\n\n{RIGHT[:-2]}YES\nI SEE TOM . DO I SEE TOM ? YES\nHELLO\n")
    found = check_sequences("language/qa@1", path)
    assert [(finding.what, finding.ok) for finding in found] == [
        ("line 1", True),
        ("line 3", False),
        ("line 4", False),
        ("line 5", False),
    ]
    assert found[1].detail == 'index 15: the answer is "YES", right is "NO"'
    assert found[2].detail.startswith("index 3: the statement ends here with 1 names")
    assert found[3].detail.startswith('index 0: "HELLO" is not in the vocabulary')
    published = check_sequences("language/qa", path, "published")
    assert [finding.ok for finding in published] == [True, False, True, False]
    assert [finding.ok for finding in check_sequences("language/qa@1:names=2,most=2", path)] == [
        False
    ] * 4


def test_what_cannot_be_read_as_sequences(tmp_path, file):
    path = tmp_path / "blank.txt"
    path.write_text("\n  \n")
    with pytest.raises(UsageError, match="has no sequences in it, one per line"):
        check_sequences("language/qa", path)
    with pytest.raises(UsageError, match="no file"):
        check_sequences("language/qa", tmp_path / "none.txt")
    with pytest.raises(
        UsageError, match="reviews/imdb cannot tell whether a sequence is one of its own"
    ):
        check_sequences("reviews/imdb", path)
