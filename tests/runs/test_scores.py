"""The scores that a run will have, before it is run."""

import dataclasses

import pytest

from quickstudy.base import catalogue
from quickstudy.base.errors import UsageError
from quickstudy.base.study import find_study, study_names
from quickstudy.runs.scores import check_scores, score_names


def test_the_names_that_the_measures_give():
    assert score_names(["accuracy", "wade"]) == ["final-accuracy", "maximum-accuracy", "wade"]
    assert score_names(["wade-smoothed"]) == ["wade-smoothed"]
    assert "wade-within-3" in score_names(["wade-within"])
    assert all(map(score_names, ([id] for id in catalogue.measure.names())))


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
