from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import pytest

ANCHORS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "anchors.py"


@pytest.fixture(scope="session")
def anchors() -> Any:
    """The program of docs/ that measures anchors."""
    spec = importlib.util.spec_from_file_location("anchors", ANCHORS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
