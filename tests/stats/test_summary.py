"""The usual numbers, also where some runs never got there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.stats.intervals import Summary, summarise


def test_worked():
    found = summarise([4.0, 1.0, 2.0, 3.0])
    assert found == Summary(4, 2.5, pytest.approx(math.sqrt(5 / 3)), 2.5, 1.75, 3.25, 1.0, 4.0)


def test_one_run():
    found = summarise([0.3])
    assert (found.n, found.mean, found.median, found.lower_quartile, found.upper_quartile) == (
        1,
        0.3,
        0.3,
        0.3,
        0.3,
    )
    assert math.isnan(found.sd)


def test_nan_is_never_left_out():
    found = summarise([1.0, math.nan, 2.0])
    assert found.n == 3
    numbers = [
        found.mean,
        found.sd,
        found.median,
        found.lower_quartile,
        found.upper_quartile,
        found.minimum,
        found.maximum,
    ]
    assert all(map(math.isnan, numbers))


def test_infinite_values():
    found = summarise([8.0, math.inf, 16.0, 4.0, math.inf])
    assert found.mean == math.inf
    assert math.isnan(found.sd)
    assert (found.lower_quartile, found.median, found.upper_quartile) == (8.0, 16.0, math.inf)
    assert (found.minimum, found.maximum) == (4.0, math.inf)
    assert summarise([1.0, math.inf]).median == math.inf
    assert summarise([math.inf, math.inf]).median == math.inf


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_agrees_with_numpy(values):
    found = summarise(values)
    assert found.mean == pytest.approx(np.mean(values), rel=1e-12, abs=1e-9)
    assert found.sd == pytest.approx(np.std(values, ddof=1), rel=1e-12, abs=1e-9)
    quartiles = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    assert [found.lower_quartile, found.median, found.upper_quartile] == pytest.approx(
        quartiles, rel=1e-12, abs=1e-9
    )


@pytest.mark.parametrize("values", [[], 3.0, [[1.0, 2.0]]])
def test_refused(values):
    with pytest.raises(UsageError, match="at least one run, got shape"):
        summarise(values)
