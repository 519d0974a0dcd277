"""Numbers of the pages that have stored evidence are those of the evidence."""

from __future__ import annotations

import importlib
import pathlib
from types import SimpleNamespace

import pytest

from quickstudy.api.study import take_over
from quickstudy.base.errors import UsageError
from quickstudy.base.study import find_study
from quickstudy.pages.profile import battery
from quickstudy.runs.archive import pack

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
    sorted(
        path.parent
        for kind in ("runs", "runs.zip")
        for path in STORED.glob(f"*/{kind}")
        if path.parent.name != "battery"
    ),
    ids=lambda folder: folder.name,
)
def test_the_page_of_tables_is_what_the_stored_runs_give(folder, results):
    page = results.PAGE.read_text(encoding="utf-8")
    assert page.startswith(results.HEAD)
    assert results.section(folder) in page


@pytest.mark.parametrize(
    ("items", "complete"),
    [
        ([(6, ""), (0, "not-applicable: it reads symbols")], True),
        ([(6, ""), (5, "")], False),
        ([(6, ""), (0, "not run yet")], False),
        ([(6, ""), (0, "failed: out of memory")], False),
    ],
)
def test_a_learner_is_in_the_norms_once_all_its_runs_are_there(norms, items, complete):
    profile = SimpleNamespace(
        items=[
            SimpleNamespace(spans=SimpleNamespace(values=[1.0] * seeds), why=why)
            for seeds, why in items
        ]
    )
    assert battery.complete(profile, norms.SEEDS) == complete


def test_the_norms_and_their_page_are_what_the_stored_runs_give(norms):
    texts = norms.texts(STORED / "battery")
    for path, text in zip((norms.NORMS, norms.PAGE, norms.PICTURE), texts, strict=True):
        assert path.read_text(encoding="utf-8") == text, (
            "type: python docs/norms.py published/battery"
        )


def test_every_demand_of_the_battery_that_is_not_met_has_a_reason(norms):
    """And no reason is left of one that is met by now."""
    lines = (
        norms.PAGE.read_text(encoding="utf-8")
        .partition(norms.FAILS)[2]
        .partition("##")[0]
        .split("\n- ")[1:]
    )
    assert len(lines) == len(norms.REASONS)
    for line in lines:
        text = " ".join(line.split())
        assert any(text.endswith(reason.strip()) for reason in norms.REASONS.values()), line


PAGES = ("what-stands", "better-learners", "conventions")
"""Explanations whose tables are printed by studies with stored runs."""


def _shown(pages):
    """(page, command, folder, lines) for every command of a study that a page shows and that has
    stored runs.
    """
    for name in PAGES:
        page = ROOT / "docs" / "explanation" / f"{name}.md"
        for block in pages.blocks(page):
            for command in pages.commands(block) if "no-run" in block.options else ():
                words = command.line.split()
                if words[1] == "reproduce":
                    folder = STORED / find_study(words[2]).runs
                    if folder.is_dir():
                        yield name, command.line, folder, command.printed


def test_tables_of_explanations_are_what_the_stored_runs_give(pages, results):
    shown = list(_shown(pages))
    assert {page for page, *_ in shown} == set(PAGES)
    for page, command, folder, lines in shown:
        printed = {" ".join(line.split()) for line in results.printed(command, folder, width=1000)}
        wanted = [
            " ".join(line.split())
            for line in lines
            if line.strip() and not line.startswith(("...", "Report"))
        ]
        assert [line for line in wanted if line not in printed] == [], (page, command)


def test_the_table_of_coverage_is_that_of_the_stored_runs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    table = importlib.import_module("stored_coverage").table()
    page = (ROOT / "docs" / "explanation" / "intervals.md").read_text(encoding="utf-8")
    assert "\n".join(f"    {line}" for line in table) in page


def test_the_table_of_closed_forms(shortcuts):
    rows = shortcuts.stored()
    assert {row["form"] for row in rows} == {
        form for forms in shortcuts.FORMS.values() for form in forms
    }
    assert shortcuts.table(rows) in shortcuts.PAGE.read_text(encoding="utf-8")


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


@pytest.mark.parametrize("place", [0, 40])
def test_a_damaged_archive_is_told(tmp_path, place):
    """At its head, and inside of what is packed."""
    (tmp_path / "stored" / "runs").mkdir(parents=True)
    (tmp_path / "stored" / "runs" / "a-1-x.jsonl").write_text("{}\n" * 100)
    pack(tmp_path / "stored", tmp_path / "runs.zip")
    content = bytearray((tmp_path / "runs.zip").read_bytes())
    content[place:] = (
        b"" if place == 0 else bytes(byte ^ 255 for byte in content[place:80]) + content[80:]
    )
    (tmp_path / "runs.zip").write_bytes(content)
    with pytest.raises(UsageError, match=r"runs\.zip cannot be unpacked .*; get it again"):
        take_over(tmp_path, tmp_path / "own")
