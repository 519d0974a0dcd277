"""WADE: worked values, the definition as a plain loop, and what happens exactly on the grid."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.measures.wade import (
    above_chance,
    paper,
    published_imdb,
    published_nets,
    published_reservoirs,
    wade,
    wade_above_chance,
    wade_preset,
)

TENTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
ALL = [
    paper(),
    paper(100),
    published_nets(),
    published_reservoirs(2.5),
    published_imdb(),
    above_chance(0.3),
]


def by_definition(steps, accuracy, thresholds, weights, strict, time):
    """The formula, threshold by threshold, evaluation by evaluation."""
    total = 0.0
    for threshold, weight in zip(thresholds, weights, strict=True):
        for step, value in zip(steps, accuracy, strict=True):
            if step >= 1 and (value > threshold if strict else value >= threshold):
                total += weight / time(step)
                break
    return total / sum(weights)


# Many values on the grids of all presets, and some between.
accuracies = st.one_of(
    st.integers(0, 100).map(lambda k: k / 100),
    st.integers(0, 240).map(lambda k: k / 240),
    st.floats(0, 1),
)


@st.composite
def curves(draw):
    accuracy = draw(st.lists(accuracies, min_size=1, max_size=30))
    gaps = draw(st.lists(st.integers(1, 50), min_size=len(accuracy), max_size=len(accuracy)))
    first = draw(st.integers(-1, 0))
    return [first + total for total in np.cumsum(gaps).tolist()], accuracy


@pytest.mark.parametrize(
    "preset", [*ALL, above_chance(0.0), above_chance(0.99)], ids=lambda preset: preset.id
)
@pytest.mark.parametrize("length", [1, 7])
def test_constantly_right_is_one(preset, length):
    assert preset.score(range(1, length + 1), [1.0] * length) == 1.0


def test_constant_curve_worked():
    steps, accuracy = range(1, 6), [0.6] * 5
    assert published_nets().score(steps, accuracy) == pytest.approx(17.7 / 49.5, rel=1e-14)
    assert published_reservoirs(3.7).score(steps, accuracy) == pytest.approx(17.7 / 49.5, rel=1e-14)
    assert paper(10).score(steps, accuracy) == pytest.approx(2.1 / 5.5, rel=1e-14)
    assert paper(100).score(steps, accuracy) == pytest.approx(18.3 / 50.5, rel=1e-14)
    line = sum(Fraction(49 + 9 * j, 49) for j in range(10)) / 275
    assert published_imdb().score(steps, accuracy) == pytest.approx(float(line), rel=1e-14)
    assert round(float(line), 4) == 0.0664


def test_rising_curve_worked():
    expected = (0.1 + 0.2 + (0.3 + 0.4 + 0.5 + 0.6 + 0.7) / 3) / 5.5
    assert paper().score([1, 2, 3], [0.2, 0.2, 0.7]) == pytest.approx(expected, rel=1e-14)
    assert round(expected, 4) == 0.2061


def test_times_of_the_rising_curve():
    times = paper().times([1, 2, 3], [0.2, 0.2, 0.7])
    assert times.tolist() == [1, 1, 3, 3, 3, 3, 3, math.inf, math.inf, math.inf]


def test_published_unit_of_reservoirs_worked():
    # Evaluations after 1, 8, 16 tokens; 4 tokens to a sequence: T = 1, 3, 5.
    preset = published_reservoirs(4)
    assert sorted(set(preset.times([1, 2, 3], [0.105, 0.205, 0.305]))) == [1, 3, 5, math.inf]
    sums = [sum(range(0, 11)), sum(range(11, 21)), sum(range(21, 31))]
    expected = Fraction(sums[0], 1) + Fraction(sums[1], 3) + Fraction(sums[2], 5)
    assert preset.score([1, 2, 3], [0.105, 0.205, 0.305]) == pytest.approx(
        float(expected / 4950), rel=1e-14
    )


def test_thresholds_are_the_decimal_literals():
    assert list(paper().thresholds) == TENTHS
    assert list(published_nets().thresholds) == [float(f"0.{k:02}") for k in range(100)]
    assert published_imdb().thresholds[0] == 0.5
    assert published_imdb().thresholds[-1] == 0.99
    assert len(published_imdb().thresholds) == 50
    assert (published_imdb().weights[0], published_imdb().weights[-1]) == (1, 10)


def test_value_on_the_grid():
    # 0.7 reaches 0.7 with ≥ and not with >; 0.1 * 7 would be above 0.7, 0.7000000000000001.
    at_least = wade([1], [0.7], thresholds=TENTHS, weights=TENTHS, strict=False)
    above = wade([1], [0.7], thresholds=TENTHS, weights=TENTHS, strict=True)
    assert at_least == pytest.approx(2.8 / 5.5, rel=1e-14)
    assert above == pytest.approx(2.1 / 5.5, rel=1e-14)


@pytest.mark.parametrize("count", [10, 100])
def test_every_value_on_the_grid_reaches_itself(count):
    for k in range(1, count + 1):
        # The accuracy as a count of right answers, in three sizes of test.
        for size in (count, 3 * count, 7 * count):
            reached = np.isfinite(paper(count).times([1], [k * (size // count) / size])).sum()
            assert reached == k
            strictly = np.isfinite(published_nets().times([1], [k * (size // count) / size])).sum()
            assert strictly == k * (100 // count)


def test_step_zero_is_ignored():
    assert paper().score([0, 1, 2], [1.0, 0.2, 0.4]) == paper().score([1, 2], [0.2, 0.4])
    assert paper().score([0], [1.0]) == 0.0


def test_only_the_first_passage_counts():
    assert paper().score([1, 2, 3], [0.3, 0.0, 0.3]) == paper().score([1], [0.3])


def test_never_reached_is_zero():
    assert paper().score([1, 2], [0.05, 0.09]) == 0.0
    assert published_imdb().score([1, 2], [0.5, 0.3]) == 0.0


@given(curves())
def test_equals_the_definition(curve):
    steps, accuracy = curve
    for preset in ALL[:-1]:
        expected = by_definition(
            steps,
            accuracy,
            preset.thresholds,
            preset.weights,
            preset.strict,
            lambda step, preset=preset: preset.time(step),
        )
        assert preset.score(steps, accuracy) == pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(curves())
def test_between_zero_and_one(curve):
    for preset in ALL:
        assert 0.0 <= preset.score(*curve) <= 1.0


@given(curves(), st.data())
def test_a_better_curve_scores_no_less(curve, data):
    steps, accuracy = curve
    better = [data.draw(st.floats(value, 1)) for value in accuracy]
    for preset in ALL:
        assert preset.score(steps, better) >= preset.score(steps, accuracy)


@given(curves(), st.integers(2, 5))
def test_a_slower_learner_scores_no_more(curve, factor):
    steps, accuracy = curve
    for preset in ALL:
        assert preset.score([step * factor for step in steps], accuracy) <= preset.score(
            steps, accuracy
        )


@st.composite
def counted_answers(draw):
    questions = draw(st.sampled_from([1, 7, 10, 100, 240, 479]))
    constant = draw(st.integers(0, questions - 1))
    right = draw(st.lists(st.integers(0, questions), min_size=1, max_size=12))
    return questions, constant, right


@given(counted_answers())
def test_above_chance_equals_exact_fractions(case):
    questions, constant, right = case
    chance = Fraction(constant, questions)
    total = Fraction(0)
    for k in range(1, 101):
        threshold = chance + (1 - chance) * Fraction(k, 100)
        for index, count in enumerate(right):
            following = right[min(index + 1, len(right) - 1)]
            if (
                Fraction(count, questions) >= threshold
                and Fraction(following, questions) >= threshold
            ):
                total += Fraction(k, 100 * (index + 1))
                break
    score = wade_above_chance(
        range(1, len(right) + 1), [count / questions for count in right], constant / questions
    )
    assert score == pytest.approx(float(total / Fraction(101, 2)), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("questions", [10, 20, 100])
def test_above_chance_on_its_own_grid(questions):
    # In floats c + (1 - c) k/100 can lie above the accuracy it equals: c = 2/10, accuracy 6/10, k =
    # 50 is one case.
    for constant in range(questions):
        preset = above_chance(constant / questions)
        for right in range(constant, questions + 1):
            reached = 100 * (right - constant) // (questions - constant)
            assert np.isfinite(preset.times([1], [right / questions])).sum() == reached


@given(counted_answers())
def test_never_above_the_constant_answer_is_exactly_zero(case):
    questions, constant, right = case
    accuracy = [min(count, constant) / questions for count in right]
    assert wade_above_chance(range(1, len(right) + 1), accuracy, constant / questions) == 0.0


def test_above_chance_worked():
    # c = 0.5: thresholds 0.505 ... 1. A single lucky 0.9 counts only as far as the evaluation after
    # it, 0.6. T = 1 up to 0.6 (k ≤ 20), T = 8 for the rest up to 1.
    low, rest = sum(range(1, 21)), sum(range(21, 101))
    score = wade_above_chance([1, 2, 4, 8], [0.9, 0.6, 0.5, 1.0], 0.5)
    assert score == pytest.approx((low + rest / 8) / 5050, rel=1e-14)


def test_last_evaluation_needs_only_itself():
    assert wade_above_chance([1, 4], [0.0, 1.0], 0.0) == 0.25


def test_above_chance_is_undefined_where_a_constant_answer_is_perfect():
    assert math.isnan(wade_above_chance([1], [1.0], 1.0))
    with pytest.raises(UsageError, match="below 1, got 1"):
        above_chance(1.0)


@pytest.mark.parametrize("constant", [-0.1, 1.5, math.nan])
def test_impossible_constant(constant):
    with pytest.raises(UsageError, match="at least 0 and below 1"):
        wade_above_chance([1], [1.0], constant)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("papr", {}, 'did you mean "paper"'),
        ("published-nets", {"thresholds": 10}, "leave them out, or choose the preset paper"),
        ("published-imdb", {"thresholds": 100}, "has its own thresholds, got 100"),
        (
            "published-reservoirs",
            {"thresholds": 100, "tokens_per_sequence": 2.0},
            "has its own thresholds",
        ),
        ("published-reservoirs", {}, "needs tokens per sequence"),
        ("published-reservoirs", {"tokens_per_sequence": 0.0}, "above 0, got 0.0"),
        ("published-reservoirs", {"tokens_per_sequence": -3.0}, "above 0, got -3.0"),
        ("published-reservoirs", {"tokens_per_sequence": math.nan}, "above 0, got nan"),
        ("published-reservoirs", {"tokens_per_sequence": math.inf}, "above 0, got inf"),
        ("paper", {"tokens_per_sequence": 2.0}, "does not use tokens per sequence"),
        ("paper", {"thresholds": 0}, "at least 1, got 0"),
        ("paper", {"constant": 0.5}, "does not use the best constant answer, got 0.5"),
        ("above-chance", {}, "needs the best constant answer, none given"),
        ("above-chance", {"constant": 1.0}, "at least 0 and below 1, got 1.0"),
    ],
)
def test_refused_presets(name, options, words):
    with pytest.raises(UsageError, match=words):
        wade_preset(name, **options)


def test_presets_by_name():
    assert wade_preset("paper") == paper(10)
    assert wade_preset("paper", thresholds=100) == paper(100)
    assert wade_preset("published-nets") == published_nets()
    assert wade_preset("published-imdb") == published_imdb()
    curve = [1, 2, 3], [0.1, 0.4, 0.8]
    assert wade_preset("published-reservoirs", None, 2.5).score(*curve) == published_reservoirs(
        2.5
    ).score(*curve)
    assert wade_preset("above-chance", constant=0.25).score(*curve) == above_chance(0.25).score(
        *curve
    )


def test_refused_weights():
    with pytest.raises(UsageError, match="one weight per threshold, got 1 and 2"):
        wade([1], [0.5], thresholds=[0.1, 0.2], weights=[1.0], strict=False)
    for weights in ([0.0, 0.0], [1.0, -1.0], [math.nan, 1.0], [math.inf, 1.0]):
        with pytest.raises(UsageError, match="weights must be finite"):
            wade([1], [0.5], thresholds=[0.1, 0.2], weights=weights, strict=False)


@pytest.mark.parametrize(
    ("steps", "accuracy", "words"),
    [
        ([1, 2], [0.1, math.nan], "evaluation 2: accuracy must be between 0 and 1, got nan"),
        ([1, 2], [1.2, 0.1], "evaluation 1: accuracy must be between 0 and 1, got 1.2"),
        ([2, 2], [0.1, 0.1], r"evaluation 2: step must be above the one before \(2\), got 2"),
        ([], [], "at least one evaluation"),
        ([1, 2], [0.1], "equally long"),
    ],
)
def test_refused_curves(steps, accuracy, words):
    with pytest.raises(UsageError, match=words):
        paper().score(steps, accuracy)
