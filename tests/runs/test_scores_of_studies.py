"""The scores that a run will have, before it is run."""

import dataclasses

import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.score_metadata import installed_score
from quickstudy.base.study import find_study, study_names
from quickstudy.base.trace import Trace
from quickstudy.runs.scoring import check_scores


@pytest.mark.parametrize(
    ("score", "title"),
    [
        ("wade", "WADE"),
        ("final-accuracy", "final accuracy"),
        ("maximum-accuracy", "maximum accuracy"),
        ("steps-to-0.75", "steps to 0.75"),
        ("wade-within", "WADE within segments"),
        ("wade-within-3", "WADE within segment 3"),
        ("wade-smoothed", "WADE of the smoothed curve"),
    ],
)
def test_a_score_is_read_as_its_measure_says(score, title):
    assert (installed_score(score).name, installed_score(score).title) == (score, title)


def test_a_score_that_nobody_gives():
    assert installed_score("max-accuracy") is None


def test_a_measure_gives_no_number_that_it_does_not_announce():
    """So what is known before a run is what the run has."""
    measure = dataclasses.replace(
        registries.measure.get("log-area"), function=lambda trace, convention: {"area": 1.0}
    )
    with pytest.raises(ValueError, match='log-area gives "area", but announces log-area'):
        measure(Trace("learning-curve", {}, {}))


def test_every_study_of_the_package_asks_for_scores_that_exist():
    for name in study_names():
        check_scores(find_study(name))


def test_an_unknown_score_is_answered_with_the_nearest():
    study = dataclasses.replace(find_study("wade-table4"), scores=("max-accuracy",))
    with pytest.raises(
        UsageError, match='no score "max-accuracy"; did you mean "maximum-accuracy"'
    ):
        check_scores(study)
    stream = dataclasses.replace(find_study("wade-continual"), scores=("wade",))
    with pytest.raises(UsageError, match='has no score "wade"'):
        check_scores(stream)
