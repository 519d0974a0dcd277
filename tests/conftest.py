"""A busy machine breaks no promise: an example of Hypothesis may take as long as it takes. And a process that has
compiled thousands of programs, as no run does, gives them back: each is mapped into memory, and Linux allows 65,530.
"""

import gc
import pathlib
import sys

import pytest
from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
MOST_MAPS = 20_000
LONG = pathlib.Path(__file__).with_name("long.txt")
"""Tests that take more than six seconds each, mostly of compiling what another test compiles in a smaller form: `make
long` runs them, and `make test` leaves them out.
"""


def pytest_collection_modifyitems(items):
    """Mark what is long."""
    long = set(LONG.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid.removeprefix("tests/") in long:
            item.add_marker("long")


@pytest.fixture(scope="module", autouse=True)
def few_programs():
    """Before the tests of a file: programs of others are forgotten when there are too many."""
    maps = pathlib.Path("/proc/self/maps")
    if "jax" in sys.modules and maps.exists() and len(maps.read_bytes().splitlines()) > MOST_MAPS:
        sys.modules["jax"].clear_caches()
        gc.collect()
