"""What makes a user's code another one, and where it was that raised."""

from __future__ import annotations

import hashlib
import pathlib
import sys

import pytest

import quickstudy
from quickstudy.base import registries
from quickstudy.base.code_identity import code_of
from quickstudy.base.registry import include
from quickstudy.base.script_identity import object_origin
from quickstudy.base.text import described, place_of


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def raised(call):
    with pytest.raises(Exception) as caught:  # whatever it is
        call()
    return caught.value


def test_a_component_of_the_package_has_a_version_and_no_code():
    assert code_of(registries.task.get("language/qa"), registries.control.get("majority")) == {}


def test_the_code_of_a_file_is_its_content(tmp_path):
    codes = []
    for number, name in enumerate(("one", "two", "three")):
        (tmp_path / f"{name}.py").write_text(f"class Mine:\n    number = {number // 2}\n")
        codes.append(code_of(include(tmp_path / f"{name}.py").Mine)["code"])
    assert codes[0] == codes[1] != codes[2]
    assert codes[0] == sha256(tmp_path / "one.py")


def test_in_a_script_only_the_class_counts(monkeypatch):
    class Mine:
        pass

    monkeypatch.setattr(Mine, "__module__", "__main__")
    assert code_of(Mine) != {"code": sha256(pathlib.Path(__file__))}
    assert set(code_of(Mine)) == {"code"}


def test_a_place_in_the_package_is_named_from_the_package_on():
    rule, task = registries.control.get("remaining-share"), registries.task.get("language/qa")()
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


def test_a_class_of_the_package_may_move_within_it(monkeypatch):
    """A script's learner that names it keeps its identity, and so its stored runs."""
    namespace = {"__name__": "__main__", "Streams": quickstudy.Streams}
    exec("class Mine:\n    def learn(self): return Streams\n", namespace)
    before = object_origin(namespace["Mine"]).version
    monkeypatch.setattr(quickstudy.Streams, "__module__", "quickstudy.base.elsewhere")
    assert object_origin(namespace["Mine"]).version == before
    namespace["Streams"] = quickstudy.Brief
    assert object_origin(namespace["Mine"]).version != before
