"""When a learner is tested, and how its time is counted."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.protocols.examination import Clock, thinned
from quickstudy.protocols.language import every


def test_worked_schedules():
    assert every(20, 8, first=1).tolist() == [1, 9, 17, 20]
    assert every(17, 8, first=1).tolist() == [1, 9, 17]
    assert every(16, 8).tolist() == [8, 16]
    assert every(5, 1).tolist() == [1, 2, 3, 4, 5]
    assert thinned(np.arange(1, 101), 4, 2).tolist() == [
        1,
        2,
        3,
        4,
        6,
        8,
        11,
        16,
        23,
        32,
        45,
        64,
        91,
        100,
    ]
    assert thinned(every(20, 8, first=1), 2, 12).tolist() == [1, 9, 17, 20]
    assert thinned(np.zeros(0, dtype=np.int64), 16, 12).tolist() == []


@given(st.integers(1, 5000), st.integers(1, 20), st.none() | st.integers(1, 10))
def test_every(total, stride, first):
    points = every(total, stride, first)
    assert (np.diff(points) > 0).all()
    assert points[-1] == total
    assert points[0] == min(first or stride, total)
    assert np.diff(points).max(initial=0) <= stride


@given(st.integers(1, 20000), st.integers(1, 32), st.integers(1, 24))
def test_thinned(count, dense, per_octave):
    points = thinned(3 * np.arange(1, count + 1), dense, per_octave) // 3
    assert (np.diff(points) > 0).all()
    assert points[-1] == count
    assert points[: min(dense, count)].tolist() == list(range(1, min(dense, count) + 1))
    # Later on, no two points are much farther apart than the share of an octave between them.
    later = points[points >= dense]
    assert (np.diff(later) <= later[:-1] * (2 ** (1 / per_octave) - 1) + 1.5).all()


def test_the_published_tests_of_a_readout():
    """One after the first question, then one every eight: 1 + ceil(tokens / 8) for a lesson of
    tokens + 1 items.
    """
    for tokens in (1, 8, 9, 16, 958, 960):
        assert len(every(tokens + 1, 8, first=1)) == 1 + -(-tokens // 8)


def test_the_clock_takes_compilation_out(monkeypatch):
    import sys
    from types import SimpleNamespace

    now = {"compiled": 0.0, "time": 100.0}
    monkeypatch.setitem(
        sys.modules,
        "quickstudy.jax_gateway",
        SimpleNamespace(compile_seconds=lambda: now["compiled"]),
    )
    monkeypatch.setattr("quickstudy.protocols.session.time.perf_counter", lambda: now["time"])
    clock = Clock()
    with clock.timing("learn"):
        now["time"], now["compiled"] = 110.0, 7.0
    with clock.timing("learn"):
        now["time"] = 111.0
    with clock.timing("answer"):
        now["time"], now["compiled"] = 111.5, 8.0
    assert clock.seconds == {"compile": 8.0, "learn": 4.0, "answer": 0.0}
