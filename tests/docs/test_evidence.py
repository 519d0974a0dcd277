"""Numbers of the pages that have stored evidence are those of the evidence."""

from __future__ import annotations

import importlib
import json
import pathlib
import re

import pytest

from quickstudy.base.canonical import plain
from quickstudy.base.errors import UsageError
from quickstudy.pages.page import page_of
from quickstudy.profiling import request_profile
from quickstudy.reproducing import take_over

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STORED = ROOT / "published"


def test_every_folder_says_where_it_comes_from():
    folders = [path for path in STORED.iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        assert "quickstudy" in (folder / "command.txt").read_text()
        assert (folder / "results.jsonl").exists() or any((folder / "runs").glob("*.jsonl"))
        assert f"`{folder.name}`" in (STORED / "README.md").read_text()


@pytest.mark.parametrize(
    "folder",
    sorted(path.parent for path in STORED.glob("*/runs") if not any(path.parent.glob("card-*.json"))),
    ids=lambda folder: folder.name,
)
def test_the_page_of_tables_is_what_the_stored_runs_give(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    made = importlib.import_module("results")
    page = made.PAGE.read_text(encoding="utf-8")
    assert page.startswith(made.HEAD)
    assert made.section(folder) in page


def test_the_gallery_is_that_of_the_stored_cards(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    made = importlib.import_module("gallery")
    assert (ROOT / "docs" / "reference" / "cards.md").read_text(encoding="utf-8") == made.gallery(
        STORED / "profile-quick"
    )


def test_a_stored_card_is_what_its_runs_give():
    folder = STORED / "profile-quick"
    request = request_profile("bag", seeds=6, out=folder)
    facts = plain(page_of(request).facts["card"])
    assert facts == json.loads((folder / "card-bag.json").read_text(encoding="utf-8"))


def test_the_table_of_closed_forms():
    rows = [json.loads(line) for line in (STORED / "shortcuts" / "results.jsonl").read_text().splitlines()]

    def best(task, version, fitted):
        some = [row for row in rows if (row["task"], row["version"], row["fitted"]) == (task, version, fitted)]
        return max(row["accuracy"] for row in some)

    page = (ROOT / "docs" / "explanation" / "conventions.md").read_text()
    lines = re.findall(r"^\| \d+ (\S+) \| \S+ (0\.\d{3}) \| (0\.\d{3}) \| \S+ (0\.\d{3}) \| (0\.\d{3}) \|$", page, re.M)
    assert [line[0] for line in lines] == [
        *("qa", "harder-qa", "world-qa", "world-qa-counting", "adjective-qa", "adjective-qa-counting")
    ]
    for name, *shown in lines:
        wanted = [best(f"language/{name}", version, fitted) for version in (1, 2) for fitted in (False, True)]
        assert [float(number) for number in shown] == wanted


def test_stored_runs_are_taken_over_once(tmp_path):
    stored, folder = tmp_path / "stored", tmp_path / "mine"
    (stored / "runs").mkdir(parents=True)
    (stored / "runs" / "a-1-x.jsonl").write_text("{}\n")
    assert take_over(stored, folder) == 1
    assert (folder / "runs" / "a-1-x.jsonl").read_text() == "{}\n"
    assert take_over(stored, folder) == 0
    with pytest.raises(UsageError, match="has no runs to take over"):
        take_over(tmp_path / "nothing", folder)
