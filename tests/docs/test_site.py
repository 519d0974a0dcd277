"""The documentation site: MkDocs builds it without a warning, whole, and without the network."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import pytest

from quickstudy.base import registries


@pytest.fixture(scope="module")
def site(build: Any, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("site")
    done = build.build(folder)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert "WARNING" not in done.stdout + done.stderr
    return folder


def test_every_task_is_in_the_gallery(site: pathlib.Path) -> None:
    for name in [
        entry.id
        for entry in registries.task.entries()
        if (entry.module or "").startswith("quickstudy.")
    ]:
        page = (site / "gallery" / "tasks" / f"{name.partition('/')[0]}.html").read_text()
        anchor = re.sub(r"[^\w-]", "", name)
        assert f'id="{anchor}"' in page, name


def test_every_study_has_a_page(site: pathlib.Path) -> None:
    studies = {path.stem for path in (site / "studies" / "pages").glob("*.html")}
    declared = pathlib.Path(registries.__file__).parents[1] / "studies"
    assert {path.stem for path in declared.glob("*.toml")} <= studies


def test_pages_load_nothing_from_elsewhere(site: pathlib.Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"', page.read_text())
        assert not [one for one in loaded if one.startswith(("http:", "https:", "//"))], page


def test_the_search_finds_an_item(site: pathlib.Path) -> None:
    entries = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    assert any("span/lookup" in entry["text"] + entry["title"] for entry in entries)
