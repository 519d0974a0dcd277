"""What counts as other code, and what does not."""

from __future__ import annotations

import pathlib

import pytest

from quickstudy.base import fingerprint as module
from quickstudy.base.fingerprint import fingerprint

TEXT = """
from rooms.one.other import helper

def run(x):
    return helper(x) * 2.0
"""
OTHER = "def helper(x):\n    return x + 1\n"


@pytest.fixture
def told(tmp_path, monkeypatch):
    """The fingerprint of a module in a room of its own, with files as given."""
    room = tmp_path / "rooms" / "one"
    room.mkdir(parents=True)
    (tmp_path / "rooms" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))

    def of(text=TEXT, other=OTHER):
        (room / "__init__.py").write_text("")
        (room / "main.py").write_text(text)
        (room / "other.py").write_text(other)
        for one in (fingerprint, module._room, module._parsed, module._normalised):
            one.cache_clear()
        return fingerprint("rooms.one.main")

    return of


def test_comments_docstrings_and_layout_do_not_count(told):
    plain = told()
    assert told(TEXT.replace("def run(x):", '# why\n\ndef run(x):\n    """What."""')) == plain
    assert told(TEXT.replace("helper(x) * 2.0", "(helper(x)\n        * 2.0)")) == plain
    assert told(other=OTHER + '"""Of the end."""\n') == plain


def test_constants_names_and_what_is_imported_count(told):
    plain = told()
    assert told(TEXT.replace("2.0", "2.1")) != plain
    assert told(other=OTHER.replace("1", "2")) != plain
    assert told(TEXT.replace("2.0", "2")) != plain


def test_a_module_of_another_room_does_not_count(told, tmp_path):
    away = tmp_path / "rooms" / "two"
    away.mkdir()
    (away / "far.py").write_text("X = 1\n")
    text = TEXT + "from rooms.two.far import X\n"
    before = told(text)
    pathlib.Path(away / "far.py").write_text("X = 2\n")
    assert told(text) == before


def test_a_record_says_which_code_its_components_had():
    from quickstudy.runs.run_one import examine
    from quickstudy.runs.run_spec import Setting

    (outcome,) = examine(Setting("language/qa", "majority", protocol={"sequences": 10}), [0])
    found = outcome.record.where["fingerprints"]
    assert found["task language/qa"] == fingerprint("quickstudy.tasks.language.inner_qa")
    assert {"control majority", "protocol language", "measure wade"} <= found.keys()
    assert "fingerprints" not in str(outcome.record.what)
