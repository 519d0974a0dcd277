"""Effect sizes by hand and by the plain double loop."""

from __future__ import annotations

import math

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.stats.paired import cliffs_delta, cohens_d_paired

values = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False)), min_size=1, max_size=12
)


def test_cohens_d_worked():
    # Differences 1, 2, 3: mean 2, standard deviation 1.
    assert cohens_d_paired([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]) == 2.0
    assert cohens_d_paired([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == -2.0


def test_cohens_d_is_the_paired_t_over_root_n():
    first, second = [0.3, 0.5, 0.9, 0.4], [0.2, 0.6, 0.5, 0.1]
    reference = scipy.stats.ttest_rel(first, second).statistic / 2
    assert cohens_d_paired(first, second) == pytest.approx(reference, rel=1e-12)


def test_cohens_d_without_spread():
    assert math.isnan(cohens_d_paired([1.0], [2.0]))
    assert math.isnan(cohens_d_paired([1.0, 2.0], [1.0, 2.0]))
    assert cohens_d_paired([2.0, 3.0], [1.0, 2.0]) == math.inf
    assert cohens_d_paired([1.0, 2.0], [2.0, 3.0]) == -math.inf
    assert math.isnan(cohens_d_paired([1.0, math.inf], [2.0, 3.0]))


def test_cliffs_delta_worked():
    assert cliffs_delta([3.0, 4.0], [1.0, 2.0]) == 1.0
    assert cliffs_delta([1.0, 2.0], [1.0, 2.0]) == 0.0
    # Of six pairs two are above, three below, one a tie.
    assert cliffs_delta([1.0, 3.0], [1.0, 2.0, 5.0]) == pytest.approx(-1 / 6)
    assert cliffs_delta([math.inf, 8.0], [math.inf, 16.0]) == -0.25


@given(values, values)
def test_cliffs_delta_equals_the_double_loop(first, second):
    signs = [(one > other) - (one < other) for one in first for other in second]
    assert cliffs_delta(first, second) == pytest.approx(sum(signs) / len(signs), abs=1e-12)


def test_cliffs_delta_is_mann_whitney_rescaled():
    first, second = [0.1, 0.4, 0.4, 0.8], [0.2, 0.4, 0.3]
    share = scipy.stats.mannwhitneyu(first, second, method="asymptotic").statistic / 12
    assert (1 + cliffs_delta(first, second)) / 2 == pytest.approx(share, rel=1e-12)


def test_nan_and_refusals():
    assert math.isnan(cliffs_delta([math.nan], [1.0]))
    with pytest.raises(UsageError, match="two lists of numbers"):
        cliffs_delta([], [1.0])
    with pytest.raises(UsageError, match="two equally long lists"):
        cohens_d_paired([1.0], [1.0, 2.0])
