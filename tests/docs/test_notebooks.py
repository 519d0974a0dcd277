"""Every notebook runs from its first cell to its last, and shows what is stored in its file."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_its_file_holds(notebooks: Any, path: pathlib.Path) -> None:
    cells = [cell for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "code"]
    for cell, found in zip(cells, notebooks.outputs(path), strict=True):
        assert [one["output_type"] for one in cell["outputs"]] == [
            one["output_type"] for one in found
        ]
        for stored, made in zip(cell["outputs"], found, strict=True):
            assert made.get("text") == stored.get("text"), "python docs/notebooks.py"


def test_an_error_in_a_cell_is_reported(notebooks: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "broken.ipynb"
    path.write_text(
        '{"cells": [{"cell_type": "code", "source": ["x = 1\\n", "x / 0"], "outputs": []}]}'
    )
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        notebooks.outputs(path)
