"""What makes a user's code another one, and where it was that raised."""

from __future__ import annotations

import pathlib
import sys

import pytest

import quickstudy
from quickstudy.base import catalogue
from quickstudy.base.file_origin import file_version
from quickstudy.base.origin import code_of
from quickstudy.base.registry import include
from quickstudy.base.wording import described, place_of


def raised(call):
    with pytest.raises(Exception) as caught:  # whatever it is
        call()
    return caught.value


def test_a_component_of_the_package_has_a_version_and_no_code():
    assert code_of(catalogue.task.get("language/qa"), catalogue.control.get("majority")) == {}


def test_the_code_of_a_file_is_its_content(tmp_path):
    codes = []
    for number, name in enumerate(("one", "two", "three")):
        (tmp_path / f"{name}.py").write_text(f"class Mine:\n    number = {number // 2}\n")
        codes.append(code_of(include(tmp_path / f"{name}.py").Mine)["code"])
    assert codes[0] == codes[1] != codes[2]
    assert codes[0] == file_version(str(tmp_path / "one.py"))


def test_in_a_script_only_the_class_counts(monkeypatch):
    class Mine:
        pass

    monkeypatch.setattr(Mine, "__module__", "__main__")
    assert code_of(Mine) != {"code": file_version(__file__)}
    assert set(code_of(Mine)) == {"code"}


def test_a_place_in_the_package_is_named_from_the_package_on():
    rule, task = catalogue.control.get("remaining-share"), catalogue.task.get("language/qa")()
    error = raised(lambda: sys.modules[rule.__module__].RemainingShare(task, None, 0))
    frames = error.__traceback__.tb_next  # without the frame of this file, which is a user's
    assert place_of(error.with_traceback(frames.tb_next)).startswith(
        "quickstudy/tasks/language/counting_rules.py:"
    )


def test_a_users_place_comes_before_that_of_a_library(tmp_path, monkeypatch):
    (tmp_path / "draws.py").write_text("import numpy as np\n\n\ndef draw():\n    np.stack([])\n")
    module = include(tmp_path / "draws.py")
    error = raised(module.draw)
    monkeypatch.chdir(tmp_path)
    assert place_of(error) == "draws.py:5"
    monkeypatch.chdir(pathlib.Path("/"))
    assert (
        described(error)
        == f"ValueError: need at least one array to stack ({str(tmp_path)[1:]}/draws.py:5)"
    )


def test_an_error_that_was_never_raised_has_no_place():
    assert described(ValueError()) == "ValueError"
    assert described(ValueError("two\nlines")) == "ValueError: two"


HOMES = {
    "quickstudy.base.learner": (
        "Brief Cost Pace Snapshot Answering Stepping Acting Living Rehearsing Showing Keeping "
        "pace_of face distribution"
    ),
    "quickstudy.base.task": "Life Turn World spaces_of",
    "quickstudy.base.lesson": "Lesson Exam Rehearsal Transcript",
    "quickstudy.base.examples": "Examples Series",
    "quickstudy.base.spaces": "Tokens Reals Bits Fields",
    "quickstudy.base.actions": "Policy",
    "quickstudy.base.seeds": "Streams",
    "quickstudy.base.measure": "Score",
    "quickstudy.base.trace": "Trace",
    "quickstudy.base.errors": "UsageError NotApplicable LearnerFault",
    "quickstudy.base.parameters": "parameter",
}


@pytest.mark.parametrize("home", HOMES)
def test_what_a_script_may_import_stays_in_its_module(home: str) -> None:
    """A learner of a script is known, among other things, by the module of every class of ours that
    it names: to move one is to give another key to all runs of such a learner.
    """
    for name in HOMES[home].split():
        assert getattr(quickstudy, name).__module__ == home, name
