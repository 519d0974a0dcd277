"""Settings of all tests.

An example of Hypothesis may take any time, since the machine may be busy. A process that has
compiled thousands of programs, as no run does, frees them: each is mapped into memory, and Linux
allows 65,530. All processes of the tests share one cache of compiled programs, apart from the
user's, in which small programs are kept too: the same ones are compiled in hundreds of processes,
at 20 to 60 ms each, and found in 6 to 10 ms.
"""

import gc
import os
import pathlib
import sys

import pytest
from hypothesis import settings

from expected import Expected, blamed

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
MOST_MAPS = 20_000
PROGRAMS = pathlib.Path(__file__).parents[1] / ".pytest_cache" / "programs"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(PROGRAMS))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
if "PYTEST_XDIST_WORKER" in os.environ and hasattr(os, "sched_setaffinity"):
    # One core for each process of pytest-xdist. A run that a test starts then has one worker unless
    # it asks for more. Two of them would load and compile the same: 4.6 s of processor time instead
    # of 3.0 for a small echo-state network.
    allowed = sorted(os.sched_getaffinity(0))
    number = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    os.sched_setaffinity(0, {allowed[number % len(allowed)]})


def pytest_addoption(parser):
    """How the stored values of the net are renewed."""
    group = parser.getgroup("net", "stored values of tests/net")
    group.addoption(
        "--renew", action="store_true", help="store what is new or has a raised version"
    )
    group.addoption(
        "--force", action="store_true", help="with --renew: also where no version is raised"
    )


def pytest_configure(config):
    """Two processes must not write one file."""
    if config.getoption("--renew") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--renew writes files: use it with -n 0")


def pytest_terminal_summary(terminalreporter):
    """Which components explain what failed in the net."""
    found = [
        (dict(report.user_properties)["components"], report.passed)
        for kind in ("passed", "failed")
        for report in terminalreporter.stats.get(kind, ())
        if report.when == "call" and "components" in dict(report.user_properties)
    ]
    if all(held for _, held in found):
        return
    terminalreporter.section("components with other numbers")
    for line in blamed(found):
        terminalreporter.line(f"{line}; raise its version or find out why")


@pytest.fixture
def expected(request, record_property):
    """The stored values of the net."""
    options = request.config.getoption
    return Expected(options("--renew"), options("--force"), record_property)


@pytest.fixture(scope="module", autouse=True)
def few_programs():
    """Before the tests of a file: programs of others are forgotten when there are too many."""
    maps = pathlib.Path("/proc/self/maps")
    if "jax" in sys.modules and maps.exists() and len(maps.read_bytes().splitlines()) > MOST_MAPS:
        sys.modules["jax"].clear_caches()
        gc.collect()
