"""Numba's door: the same source, compiled or not, gives the same numbers; its seconds are on the
clock.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from quickstudy.numba_gateway import sources_digest
from quickstudy.protocols.examination import Clock

pytest.importorskip("numba")

PROGRAM = """
import sys
if {hidden}:
    sys.modules["numba"] = None
import numpy as np
from quickstudy import numba_gateway
@numba_gateway.njit(fastmath=False)
def mixed(values):
    total, word = 0.0, 1
    for value in values:
        word = (word * 1103515245 + 12345) % 2147483648
        total = 0.5 * total + value * (word % 7)
    return total, word
found = mixed(np.linspace(-1.0, 1.0, 1000))
print(*found, hasattr(mixed, "py_func"), numba_gateway.compile_seconds() > 0)
"""


def run(hidden):
    program = PROGRAM.format(hidden=hidden)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.split()


def test_compiled_and_uncompiled_give_the_same_numbers():
    compiled, plain = run(hidden=False), run(hidden=True)
    assert compiled[:2] == plain[:2]
    assert (compiled[2:], plain[2:]) == (["True", "True"], ["False", "False"])


def collatz(number):
    steps = 0
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return steps


def test_its_seconds_are_taken_out_of_the_clock(tmp_path, monkeypatch):
    from numba import config

    from quickstudy.numba_gateway import compile_seconds, njit

    assert os.environ["NUMBA_CACHE_DIR"]
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))  # nothing is kept there yet
    clock, before, began = Clock(), compile_seconds(), time.perf_counter()
    with clock.timing("learn"):
        counted = njit(collatz)
        assert [counted(number) for number in (1, 7, 27)] == [0, 16, 111]
    wall = time.perf_counter() - began
    assert clock.seconds["compile"] == pytest.approx(compile_seconds() - before)
    assert clock.seconds["compile"] > 0.01
    assert clock.seconds["compile"] + clock.seconds["learn"] == pytest.approx(wall, abs=0.1)
    assert list(tmp_path.rglob("*.nbi"))
    assert counted.py_func(27) == np.int64(111)


def test_what_is_kept_is_known_by_all_that_is_compiled(tmp_path):
    """A function whose callee has changed in another file must not be found again as it was."""
    (tmp_path / "callee.py").write_text("from quickstudy.numba_gateway import njit\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    first = sources_digest(tmp_path)
    (tmp_path / "other.py").write_text("x = 2\n")
    assert sources_digest(tmp_path) == first
    (tmp_path / "callee.py").write_text("from quickstudy.numba_gateway import njit\nx = 2\n")
    assert sources_digest(tmp_path) != first
