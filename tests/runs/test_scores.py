"""The scores that a run will have, before it is run."""

import dataclasses

import pytest

from quickstudy.base import catalogue
from quickstudy.base.errors import UsageError
from quickstudy.base.study import find_study, study_names
from quickstudy.base.trace import Trace
from quickstudy.runs.scores import check_scores, measure_of


@pytest.mark.parametrize(
    ("score", "measure"),
    [
        ("wade", "wade"),
        ("final-accuracy", "accuracy"),
        ("maximum-accuracy", "accuracy"),
        ("steps-to-0.75", "steps-to-accuracy"),
        ("wade-within-3", "wade-within"),
        ("wade-smoothed", "wade-smoothed"),
    ],
)
def test_the_measure_that_gives_a_score(score, measure):
    assert measure_of(score) is catalogue.measure.get(measure)


def test_a_score_that_nobody_gives():
    assert measure_of("max-accuracy") is None


def test_a_measure_gives_no_number_that_it_does_not_announce():
    """So what is known before a run is what the run has."""
    measure = dataclasses.replace(catalogue.measure.get("log-area"), function=lambda trace, convention: {"area": 1.0})
    with pytest.raises(ValueError, match='log-area gives "area", but announces log-area'):
        measure(Trace("learning-curve", {}, {}))


def test_every_study_of_the_package_asks_for_scores_that_exist():
    for name in study_names():
        check_scores(find_study(name))


def test_an_unknown_score_is_answered_with_the_nearest():
    study = dataclasses.replace(find_study("wade-table4"), scores=("max-accuracy",))
    with pytest.raises(UsageError, match='no score "max-accuracy"; did you mean "maximum-accuracy"'):
        check_scores(study)
    stream = dataclasses.replace(find_study("wade-continual"), scores=("wade",))
    with pytest.raises(UsageError, match='has no score "wade"'):
        check_scores(stream)
