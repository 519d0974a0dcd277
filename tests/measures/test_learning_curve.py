"""The registered measures of a learning curve."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.trace import Trace
from quickstudy.measures import wade

MEASURES = ["accuracy", "log-area", "steps-to-accuracy", "wade", "wade-above-chance"]
STEPS, ACCURACY = [1, 8, 16, 32], [0.5, 0.25, 0.75, 0.875]


def trace(steps=STEPS, accuracy=ACCURACY, **facts):
    usual = {
        "unit": "sequences",
        "tokens_per_sequence": 2.0,
        "constant": 0.5,
        "classes": 2,
        "item": "example",
    }
    arrays = {"step": np.array(steps), "accuracy": np.array(accuracy, dtype=np.float64)}
    return Trace("learning-curve", arrays, usual | facts)


def values(name, given, convention="corrected"):
    return dict(registries.measure.get(name)(given, convention))


@pytest.mark.parametrize("name", MEASURES)
def test_registered_with_all_a_reader_needs(name):
    found = registries.measure.get(name)
    assert found.kinds == ("learning-curve",)
    assert found.direction in ("higher", "lower")
    assert found.range[0] < found.range[1]
    assert all([found.unit, found.chance, found.equation])
    assert registries.measure.find(name).summary.endswith(".")


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("convention", ["corrected", "written", "published"])
@pytest.mark.parametrize("item", ["example", "question"])
def test_in_range_and_plain_floats(name, convention, item):
    low, high = registries.measure.get(name).range
    for value in values(name, trace(item=item), convention).values():
        assert type(value) is float
        assert low <= value <= high


@pytest.mark.parametrize("convention", ["corrected", "written"])
def test_wade_as_printed(convention):
    # Reached at 1: 0.01 ... 0.50; at 16: up to 0.75; at 32: up to 0.87.
    expected = (sum(range(1, 51)) + sum(range(51, 76)) / 16 + sum(range(76, 88)) / 32) / 5050
    assert values("wade", trace(), convention) == {"wade": pytest.approx(expected, rel=1e-14)}


def test_wade_published_for_networks():
    # Evaluations 1, 3, 4; strictly above 0 ... 0.49, 0.50 ... 0.74, 0.75 ... 0.87.
    expected = (sum(range(50)) + sum(range(50, 75)) / 3 + sum(range(75, 88)) / 4) / 4950
    found = values("wade", trace(steps=[8, 16, 24, 32], batch=8), "published")
    assert found == {"wade": pytest.approx(expected, rel=1e-14)}


def test_wade_published_for_reservoirs():
    # m = 4: evaluations 1, 3, 4 are at T = 1, 5, 7.
    expected = (sum(range(50)) + sum(range(50, 75)) / 5 + sum(range(75, 88)) / 7) / 4950
    for facts in ({"tokens_per_sequence": 4.0}, {"published_tokens_per_sequence": 4.0}):
        found = values(
            "wade",
            trace(steps=[1, 9, 17, 20], item="question", unit="tokens", **facts),
            "published",
        )
        assert found == {"wade": pytest.approx(expected, rel=1e-14)}


def test_a_thinned_curve_has_the_times_of_the_whole_one():
    """What was tested less often is scored at the same times."""
    steps, accuracy = np.arange(8, 808, 8), np.minimum(np.arange(1, 101) / 50, 1.0)
    whole = values("wade", trace(steps=steps, accuracy=accuracy, batch=8), "published")
    kept = [place for place in range(100) if place < 60 or place % 7 == 0]
    thin = values("wade", trace(steps=steps[kept], accuracy=accuracy[kept], batch=8), "published")
    assert thin == whole


def test_steps_in_tokens_are_turned_into_sequences():
    # 2 tokens to a sequence: the tokens 1, 8, 16, 32 are 1 (a part counts as one), 4, 8, 16
    # sequences.
    tokens, sequences = trace(unit="tokens", item="question"), trace(steps=[1, 4, 8, 16])
    for name in MEASURES[2:]:
        assert values(name, tokens) == values(name, sequences)


def test_wade_above_chance():
    expected = wade.wade_above_chance(STEPS, ACCURACY, 0.5)
    # Thresholds up to 0.75 (k ≤ 50) at 16, up to 0.875 (k ≤ 75) at 32; 0.5 at step 1 is no merit.
    assert expected == pytest.approx(
        (sum(range(1, 51)) / 16 + sum(range(51, 76)) / 32) / 5050, rel=1e-14
    )
    for convention in ("corrected", "written", "published"):
        assert values("wade-above-chance", trace(), convention) == {"wade-above-chance": expected}
    assert math.isnan(values("wade-above-chance", trace(constant=1.0))["wade-above-chance"])


def test_accuracy():
    found = values("accuracy", trace(accuracy=[0.5, 0.9, 0.25, 0.75]))
    assert found == {"final-accuracy": 0.75, "maximum-accuracy": 0.9}


def test_steps_to_accuracy():
    assert values("steps-to-accuracy", trace()) == {
        "steps-to-0.5": 1,
        "steps-to-0.75": 16,
        "steps-to-0.9": math.inf,
    }


def area(**changes):
    return values("log-area", trace(**changes))["log-area"]


def test_log_area_by_hand():
    # One doubling at 0.5 on the mean, one at 0.75; nothing is shown after the last test.
    assert area(steps=[1, 2, 4], accuracy=[0.0, 1.0, 0.5]) == pytest.approx(0.625)
    # The best constant answer (0.5) for three doublings, 0.6 on the way to 0.7 for one, 0.7 for the
    # last.
    known = {"steps": [8, 16], "accuracy": [0.5, 0.7], "training_sequences": 32, "passes": 1}
    assert area(**known) == pytest.approx((3 * 0.5 + 0.6 + 0.7) / 5)


def test_the_window_is_that_of_what_is_shown_not_of_the_tests():
    flat = {"accuracy": [0.5] * 3, "training_sequences": 64}
    assert (
        area(steps=[1, 2, 3], passes=1, **flat) == area(steps=[8, 16, 64], passes=1, **flat) == 0.5
    )
    rise = {"steps": [16, 32, 64], "accuracy": [0.5, 0.75, 1.0], "training_sequences": 64}
    once, twice = area(passes=1, **rise), area(passes=2, **rise)
    assert once == pytest.approx((4 * 0.5 + 0.625 + 0.875) / 6)
    assert twice == pytest.approx((4 * 0.5 + 0.625 + 0.875 + 1.0) / 7)
    # A trace of an earlier version does not say its passes: its last test does, though a last batch
    # may be missing.
    assert area(**rise) == pytest.approx(once)
    late = {**rise, "steps": [16, 32, 120]}
    assert area(**late) == area(**late, passes=2)


def test_log_area_of_single_questions_is_in_sequences():
    # Four questions a sequence: those before the fourth count as the first sequence, the last of
    # them decides.
    facts = {
        "unit": "tokens",
        "item": "question",
        "tokens_per_sequence": 4.0,
        "training_sequences": 4,
        "passes": 1,
    }
    found = area(steps=[1, 3, 8, 17], accuracy=[0.9, 0.5, 0.5, 1.0], **facts)
    assert found == pytest.approx((0.5 + 0.75) / 2)
    assert area(steps=[1], accuracy=[0.25], training_sequences=1, passes=1) == 0.25


def test_who_never_learns_has_the_accuracy_of_the_best_constant_answer():
    assert area(
        steps=[8, 64], accuracy=[0.5, 0.5], training_sequences=960, passes=10
    ) == pytest.approx(0.5)


def test_missing_or_impossible_facts():
    bare = Trace(
        "learning-curve",
        {"step": np.array([1]), "accuracy": np.array([0.5])},
        {"unit": "sequences"},
    )
    with pytest.raises(UsageError, match='no fact "constant"'):
        values("wade-above-chance", bare)
    with pytest.raises(UsageError, match='sequences or tokens, got "epochs"'):
        values("wade", trace(unit="epochs"))
    with pytest.raises(UsageError, match="tokens_per_sequence must be a number above 0, got 0"):
        values("steps-to-accuracy", trace(unit="tokens", tokens_per_sequence=0))
    with pytest.raises(UsageError, match='no convention "publishd"; did you mean "published"'):
        values("wade", trace(), "publishd")
