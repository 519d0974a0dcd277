"""The sequential rule: what it decides, how often it raises a false alarm, and what it finds."""

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.testing.sequential import FAILED, MORE, PASSED, UNDECIDED, Rule

RUNS = 10_000


def test_it_stops_as_soon_as_the_mean_reaches_the_demand():
    rule = Rule()
    assert rule.decide([9.0], 8.0) == MORE
    assert rule.decide([9.0, 8.0], 8.0) == PASSED
    assert rule.decide([9.0, 6.0], 8.0) == MORE
    assert rule.go(lambda seed: [9.0, 6.0, 12.0][seed], 8.0) == (PASSED, [9.0, 6.0, 12.0])


def test_what_learns_nothing_fails_after_three_seeds():
    decision, spans = Rule().go(lambda seed: 0.0, 8.0)
    assert (decision, len(spans)) == (FAILED, 3)


def test_what_is_a_little_below_is_undecided_at_the_end():
    spans = [7.5, 7.9, 7.0, 8.4, 7.7, 7.9, 7.2, 7.8]
    assert Rule().go(lambda seed: spans[seed], 8.0) == (UNDECIDED, spans)


def test_an_unchanged_learner_passes_by_its_own_stored_spans():
    stored = [5.0, 9.0, 2.0, 7.0]
    assert Rule().decide(stored, np.expm1(np.log1p(stored).mean()), stored) == PASSED


@pytest.mark.parametrize("given", [{"most": 1}, {"fewest": 1}, {"alarm": 0.0}, {"alarm": 1.0}])
def test_rules_that_cannot_be_are_refused(given):
    with pytest.raises(UsageError):
        Rule(**given)


def rates(draw, demand=np.log(9.0), stored=0, rule=Rule()):  # noqa: B008, frozen
    """Shares of failed and of passed tests; draw: (rng, count) values of ln(1 + span)."""
    rng = np.random.default_rng(7)
    ends = {FAILED: 0, PASSED: 0, UNDECIDED: 0}
    for _ in range(RUNS):
        values = np.expm1(np.maximum(draw(rng, rule.most), 0.0))
        before = np.expm1(np.maximum(draw(rng, stored), 0.0)) if stored else ()
        wanted = np.log1p(before).mean() if stored else demand
        ends[rule.go(lambda seed, v=values: v[seed], float(np.expm1(wanted)), before)[0]] += 1
    return {name: count / RUNS for name, count in ends.items()}


MEAN = np.log(9.0)
NULLS = {
    "normal": lambda rng, n: rng.normal(MEAN, 0.3, n),
    "wide": lambda rng, n: rng.normal(MEAN, 0.6, n),
    "narrow": lambda rng, n: rng.normal(MEAN, 0.02, n),
    "steps": lambda rng, n: np.round(rng.normal(MEAN, 0.3, n) * 2) / 2,
    "skewed down": lambda rng, n: MEAN + 0.3 - rng.exponential(0.3, n),
}
"""Spans of a learner whose true span is exactly what is demanded."""


@pytest.mark.parametrize("name", NULLS)
def test_false_alarms_are_no_more_frequent_than_promised(name):
    alarms = rates(NULLS[name])[FAILED]
    assert alarms <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / RUNS)


def test_false_alarms_against_stored_spans():
    assert rates(NULLS["normal"], stored=8)[FAILED] <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / RUNS)


def test_a_span_that_falls_to_a_third_is_found():
    assert rates(lambda rng, n: rng.normal(MEAN - np.log(9 / 3.7), 0.3, n))[FAILED] > 0.9
