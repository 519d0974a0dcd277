"""The examples run as they are, and are as short as they promise."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PUBLIC = re.compile(r"quickstudy(\.learners|\.(cores|numba_gateway|testing|adapters)(\.\w+)*)?")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: pathlib.Path, tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.strip()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short(example: pathlib.Path) -> None:
    assert len(example.read_text().splitlines()) < 40


@pytest.mark.parametrize(
    "written", [*EXAMPLES, *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda path: path.stem
)
def test_a_reader_imports_public_names_only(written: pathlib.Path) -> None:
    named = re.findall(r"\b(?:from|import) (quickstudy[\w.]*)", written.read_text(encoding="utf-8"))
    assert [module for module in named if not PUBLIC.fullmatch(module.rstrip("."))] == []


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4
