"""Corrections for many comparisons."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.stats.paired import holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_worked():
    given_values = [0.01, 0.04, 0.03, 0.005]
    # In order: 0.005 x 4, 0.01 x 3, 0.03 x 2, then 0.04 x 1 is lifted to 0.06.
    assert holm(given_values).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]).tolist() == [1.0, 1.0]
    assert holm([0.03]).tolist() == [0.03]
    assert holm([]).tolist() == []


@given(p_values)
def test_holm_equals_its_definition(given_values):
    count, adjusted = len(given_values), holm(given_values)
    ranked = sorted(given_values)
    for value, found in zip(given_values, adjusted, strict=True):
        upto = max(place for place, other in enumerate(ranked) if other == value)
        expected = max(min(1.0, (count - place) * ranked[place]) for place in range(upto + 1))
        assert found == pytest.approx(expected, rel=1e-12)


@given(p_values)
def test_laws(given_values):
    before, after = np.array(given_values), holm(given_values)
    harder = np.minimum(before * len(before), 1.0)  # Bonferroni: never the weaker one
    assert (after >= before).all()
    assert (after <= harder + 1e-15).all()
    assert (after <= 1).all()
    order = np.argsort(before)
    assert (np.diff(after[order]) >= 0).all()


@given(p_values, st.randoms(use_true_random=False))
def test_order_of_the_input_does_not_matter(given_values, random):
    places = list(range(len(given_values)))
    random.shuffle(places)
    shuffled = holm([given_values[place] for place in places])
    assert shuffled.tolist() == holm(given_values)[places].tolist()


def test_nan_stays_and_counts():
    assert holm([math.nan, 0.01]).tolist() == pytest.approx([math.nan, 0.02], nan_ok=True)
    assert holm([0.01, math.nan]).tolist() == pytest.approx([0.02, math.nan], nan_ok=True)


def test_refused():
    with pytest.raises(UsageError, match=r"p-value 2 must be between 0 and 1, got 1.5"):
        holm([0.5, 1.5])
    with pytest.raises(UsageError, match="must be a list"):
        holm([[0.5]])
