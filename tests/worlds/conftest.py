from __future__ import annotations

import pathlib

import pytest

from quickstudy.base.registry import include
from quickstudy.base.seeds import Streams


@pytest.fixture(scope="session")
def specimens():
    return include(pathlib.Path(__file__).parent / "specimens.py")


@pytest.fixture(scope="session")
def streams():
    return Streams(0, "specimen/corridor", 0)
