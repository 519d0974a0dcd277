"""Bootstrap intervals: the same as SciPy's from the same draws, and sane where there is little to go by."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from quickstudy.base.errors import UsageError
from quickstudy.stats.bootstrap import METHODS, mean_band, mean_interval


@pytest.fixture
def values():
    return np.random.default_rng(5).gamma(2.0, size=17)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_same_as_scipy(values, method, level):
    found = mean_interval(values, rng=3, level=level, resamples=1500, method=method)
    reference = scipy.stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=1500,
        confidence_level=level,
        method={"percentile": "percentile", "bca": "BCa"}[method],
        rng=np.random.default_rng(3),
    ).confidence_interval
    assert found == pytest.approx((reference.low, reference.high), rel=1e-10)


def test_seed_and_generator_are_the_same(values):
    assert mean_interval(values, rng=7) == mean_interval(values, rng=np.random.default_rng(7))
    assert mean_interval(values, rng=7) != mean_interval(values, rng=8)


@pytest.mark.parametrize("method", METHODS)
def test_a_band_is_the_interval_of_every_column(method):
    curves = np.random.default_rng(2).random((9, 700))
    band = mean_band(curves, rng=4, resamples=300, method=method)
    assert band.low.shape == band.high.shape == (700,)
    for column in (0, 511, 512, 699):  # more columns than are worked on at once
        single = mean_interval(curves[:, column], rng=4, resamples=300, method=method)
        assert (band.low[column], band.high[column]) == pytest.approx(single, rel=1e-12)
    assert (band.low < curves.mean(axis=0)).all()
    assert (band.high > curves.mean(axis=0)).all()


@pytest.mark.parametrize("method", METHODS)
def test_runs_that_agree(method):
    assert mean_interval([0.1] * 7, rng=0, method=method) == (0.1, 0.1)


@pytest.mark.parametrize("method", METHODS)
def test_unknown_where_a_value_is_not_finite(method):
    curves = np.array([[0.1, math.nan, 0.3], [0.2, 0.2, math.inf], [0.4, 0.1, 0.2]])
    band = mean_band(curves, rng=0, method=method)
    assert np.isnan(band.low).tolist() == np.isnan(band.high).tolist() == [False, True, True]
    assert (band.low[0], band.high[0]) == mean_interval(curves[:, 0], rng=0, method=method)


def test_unknown_for_a_single_run():
    assert all(map(math.isnan, mean_interval([0.4], rng=0)))


def test_two_runs_by_hand():
    # Means of resamples: 0 (1/4), 0.5 (1/2), 1 (1/4): the 95 % interval is the whole range, the 40 % one the middle.
    assert mean_interval([0.0, 1.0], rng=0) == (0.0, 1.0)
    assert mean_interval([0.0, 1.0], rng=0, level=0.4) == (0.5, 0.5)


def test_few_runs_drawn_again_as_they_are():
    # Resamples with exactly the observed mean are a large share here, and rounding must not put them to one side.
    whole = np.array([4.0, 9.0, 6.0, 0.0])
    expected = np.array(mean_interval(whole, rng=1, method="bca")) / 10
    assert mean_interval(whole / 10, rng=1, method="bca") == pytest.approx(tuple(expected), rel=1e-12)


def test_covers_the_true_mean_about_as_often_as_it_says():
    draws = np.random.default_rng(11).normal(size=(40, 2000))
    band = mean_band(draws, rng=12, resamples=500)
    assert 0.91 < ((band.low <= 0) & (band.high >= 0)).mean() < 0.97


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        ([], {}, "at least one run"),
        ([[0.1]], {}, "one number per run, got shape"),
        ([0.1, 0.2], {"level": 1.0}, "level must be between 0 and 1, got 1.0"),
        ([0.1, 0.2], {"resamples": 0}, "resamples must be at least 1, got 0"),
        ([0.1, 0.2], {"method": "basic"}, 'no bootstrap method "basic"'),
    ],
)
def test_refused(values, options, words):
    with pytest.raises(UsageError, match=words):
        mean_interval(values, rng=0, **options)
