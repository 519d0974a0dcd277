"""What is read before a learner runs free: 1,000 steps, or all there are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from quickstudy.base.seeds import Streams
from quickstudy.protocols.dynamics import run_on


@pytest.mark.parametrize(("before", "read"), [(300, 300), (800, 800), (1000, 1000), (1500, 1000)])
def test_a_short_series_is_read_whole(before, read):
    seen = []

    def exponents(warm, count, steps):
        seen.append(warm[0, :, 0].tolist())
        return np.zeros((1, count)), np.zeros((1, steps, 1))

    values = lambda rng, steps: (np.zeros((steps, 1)),)  # noqa: E731
    task = SimpleNamespace(climate=5, exponents=(0.9,), interval=1.0, values=values)
    series = SimpleNamespace(inputs=np.arange(before + 300.0)[:, None], test=300)
    run_on(task, SimpleNamespace(exponents=exponents), [series], [Streams(0, "warm", 0)])
    assert seen == [list(np.arange(before - read, before, dtype=float))]
