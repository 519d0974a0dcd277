"""Pictures of games: accuracy by test of learners, and rules as level lines."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.blocks import Mark, Plot, Traced
from quickstudy.base.trace import Trace
from quickstudy.figures.games import games_curve, over_observations


def trace(observations: list[float], correct: list[int]) -> Trace:
    arrays = {
        "observations": np.array(observations),
        "correct": np.array(correct),
        "asked": np.full(len(correct), 10),
    }
    return Trace("games", arrays, {})


def test_a_mean_over_runs_by_hand() -> None:
    curve = games_curve([trace([100, 200], [5, 9]), trace([100, 200], [7, 9])])
    assert curve is not None
    assert (curve.runs, curve.steps) == (2, (100, 200))
    assert curve.mean == pytest.approx((0.6, 0.9))
    assert games_curve([Trace("learning-curve", {}, {})]) is None


def test_learners_rise_and_rules_are_level() -> None:
    rows = [
        Traced("attention", "learner", Mark(number=0), [trace([100, 800], [5, 9])]),
        Traced("blind", "control", Mark(number=1), [trace([800], [7])]),
    ]
    (plot,) = over_observations("games/listener", rows)
    assert isinstance(plot, Plot)
    learner, rule = plot.panels[0].series
    assert (list(learner.x), list(learner.y)) == ([100, 800], [0.5, 0.9])
    assert (list(rule.x), list(rule.y)) == ([100, 800], [0.7, 0.7])
    assert over_observations("games/listener", rows[1:]) == []
