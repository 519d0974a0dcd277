"""Numbers of the pages that have stored evidence are those of the evidence."""

from __future__ import annotations

import importlib
import pathlib

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.reproducing import take_over
from quickstudy.runs.pack import pack

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STORED = ROOT / "published"


def test_every_folder_says_where_it_comes_from():
    folders = [path for path in STORED.iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        assert "quickstudy" in (folder / "command.txt").read_text()
        kinds = ("results.jsonl", "runs.zip", "runs/*.jsonl")
        assert any(path for kind in kinds for path in folder.glob(kind))
        assert f"`{folder.name}`" in (STORED / "README.md").read_text()


@pytest.mark.parametrize(
    "folder",
    sorted(path.parent for kind in ("runs", "runs.zip") for path in STORED.glob(f"*/{kind}")),
    ids=lambda folder: folder.name,
)
def test_the_page_of_tables_is_what_the_stored_runs_give(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    made = importlib.import_module("results")
    page = made.PAGE.read_text(encoding="utf-8")
    assert page.startswith(made.HEAD)
    assert made.section(folder) in page


def test_the_table_of_closed_forms(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    made = importlib.import_module("shortcuts")
    rows = made.stored()
    assert {row["form"] for row in rows} == {form for forms in made.FORMS.values() for form in forms}
    assert made.table(rows) in made.PAGE.read_text(encoding="utf-8")


def test_stored_runs_are_taken_over_once(tmp_path):
    stored, folder = tmp_path / "stored", tmp_path / "mine"
    (stored / "runs").mkdir(parents=True)
    (stored / "runs" / "a-1-x.jsonl").write_text("{}\n")
    assert take_over(stored, folder) == 1
    assert (folder / "runs" / "a-1-x.jsonl").read_text() == "{}\n"
    assert take_over(stored, folder) == 0
    packed = tmp_path / "packed"
    packed.mkdir()
    pack(stored, packed / "runs.zip")
    assert take_over(packed, tmp_path / "other") == 1
    assert (tmp_path / "other" / "runs" / "a-1-x.jsonl").read_text() == "{}\n"
    with pytest.raises(UsageError, match="has no runs to take over"):
        take_over(tmp_path / "nothing", folder)
