"""Links, pictures and the lists of the reference agree with what is there."""

from __future__ import annotations

import importlib
import pathlib
import re
import xml.dom.minidom
from typing import Any

import pytest
import typer.main

import quickstudy
from quickstudy.cli.main import app

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def test_every_link_is_good(build: Any) -> None:
    assert build.faults() == []


def test_a_bad_link_is_found(
    build: Any, pages: Any, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    page = tmp_path / "README.md"
    page.write_text(
        "# A title\n[a](no.md) [b](#a-title) [c](#no) `[d](code.md)`\n```\n[e](code.md)\n```\n"
    )
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "pages", lambda: [page, tmp_path / "lonely.md"])
    (tmp_path / "lonely.md").write_text("# Lonely\n")
    assert build.faults() == [
        "README.md, line 2: no.md does not exist",
        "README.md, line 2: #no: README.md has no heading #no",
        "no page leads to lonely.md",
    ]


def test_a_block_that_is_not_closed_is_an_error(pages: Any, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python file=a.py flag\nx = 1\n```\n\n```console\n$ ls\n")
    with pytest.raises(ValueError, match="line 5: this block is never closed"):
        pages.blocks(page)


def test_the_picture_is_whole_and_small() -> None:
    path = ROOT / "docs" / "images" / "reference-learners.svg"
    assert path.stat().st_size < 200_000
    picture: Any = xml.dom.minidom.parse(str(path))
    words = {node.firstChild.data for node in picture.getElementsByTagName("text")}
    assert {"esn", "lstm", "deltanet", "attention"} <= words
    assert "http" not in path.read_text().replace("http://www.w3.org/2000/svg", "")


def test_the_reference_has_every_verb_and_option_and_no_other() -> None:
    text = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    parts = dict(
        re.findall(r"^## quickstudy (\w+)\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    )
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert set(parts) == set(commands)
    for verb, command in commands.items():
        within = (
            [command.get_command(None, name) for name in command.list_commands(None)]
            if hasattr(command, "list_commands")
            else []
        )
        known = {
            name
            for part in (command, *within)
            for parameter in part.params
            for name in (*parameter.opts, *parameter.secondary_opts)
            if name.startswith("-")
        }
        written = set(re.findall(r"`(-{1,2}[a-z][a-z-]*)", parts[verb]))
        assert written == known - {"--help", "-h"}, verb


def test_the_page_of_types_names_them_all() -> None:
    text = (ROOT / "docs" / "reference" / "types.md").read_text()
    rooms = (
        "errors",
        "examples",
        "learner",
        "exchange",
        "measure",
        "record",
        "seeds",
        "spaces",
        "task",
        "trace",
    )
    modules = [importlib.import_module(f"quickstudy.base.{room}") for room in rooms]
    own = {
        name
        for module in modules
        for name, value in vars(module).items()
        if _is_own_class(value, module)
    }
    assert {name for name in own if not re.search(rf"\b{name}\b", text)} == set()


def _is_own_class(value: Any, module: Any) -> bool:
    return (
        isinstance(value, type)
        and value.__module__ == module.__name__
        and not value.__name__.startswith("_")
    )


def test_versions_agree() -> None:
    version = quickstudy.__version__
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()
