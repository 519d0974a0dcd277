"""The span formula by hand, and what it is equal to elsewhere."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.learner import Cost
from quickstudy.base.trace import Trace
from quickstudy.measures.grammar import b_index, reach
from quickstudy.measures.memory import Harvest
from quickstudy.measures.memory_scores import memory_capacity
from quickstudy.measures.span import (
    examples_to,
    examples_to_span,
    linear_span,
    prediction_horizon,
    psychometric,
    span,
    span_scores,
)
from quickstudy.protocols.span import _covariance

GRID = (1, 2, 3, 4, 6, 8, 12, 16)


@pytest.mark.parametrize("last", range(len(GRID) + 1))
def test_a_perfect_step_at_a_difficulty_is_that_difficulty(last):
    p = np.arange(len(GRID)) < last
    assert span(p, GRID) == pytest.approx(0 if last == 0 else GRID[last - 1])


def test_nothing_is_the_difficulty_that_costs_nothing():
    assert span([0, 0], [2, 4], least=1) == pytest.approx(1)
    assert span([-0.3, -0.1], [2, 4], least=1) == pytest.approx(1), "the sum is clipped to the axis"


def test_by_hand_between_two_points():
    # ln(1 + S) = ln 2 + 0.5 (ln 3 - ln 2)
    assert span([1, 0.5], [1, 2]) == pytest.approx(math.sqrt(2 * 3) - 1)


def test_single_bins_are_not_clipped():
    # A bin below chance by noise takes away what another has above it by noise.
    noisy = span([0.5, 0.1, -0.1], [1, 2, 3])
    widths = np.diff(np.log1p([0, 1, 2, 3]))
    assert np.log1p(noisy) == pytest.approx(0.5 * widths[0] + 0.1 * widths[1] - 0.1 * widths[2])


def test_on_a_linear_axis_with_r_squared_it_is_memory_capacity():
    """Of one reservoir, its inputs and its fits: the capacity by the measure of memory, and the
    area.
    """
    rng = np.random.default_rng(0)
    drive, delays, train, washout = rng.uniform(-1, 1, 1200), range(1, 13), 500, 200
    weights = rng.normal(size=(20, 20)) * 0.9 / np.sqrt(20)
    states, state = [], np.zeros(20)
    for value in drive:
        state = np.tanh(weights @ state + 0.3 * value * np.linspace(-1, 1, 20))
        states.append(state)
    table = np.array(states)[washout:]
    tested = Harvest(table).memory_split(drive, delays, train)
    stored = Trace(
        "properties",
        {"memory": tested, "memory_in_sample": tested},
        {"tested_steps": len(table) - train, "size": 20, "threshold": 0.0},
        Cost(),
    )
    capacity = memory_capacity(stored)["memory-capacity-raw"]

    targets = np.stack([drive[washout - delay : len(drive) - delay] for delay in delays], axis=1)
    features = np.column_stack([np.ones(len(table)), table])
    fit = np.linalg.lstsq(features[:train], targets[:train], rcond=None)[0]
    covariance = _covariance(targets[train:], features[train:] @ fit)
    arrays = {"step": np.array([1]), "covariance": covariance[None], "difficulty": np.array(delays)}
    p = psychometric(Trace("span", arrays, {"least": 0}, Cost()))[-1]
    assert 2 < capacity < 12
    assert linear_span(p, delays) == pytest.approx(capacity, rel=1e-3)


@given(st.lists(st.booleans(), min_size=1, max_size=16))
def test_with_all_or_nothing_it_is_the_reach_of_the_b_index(right):
    """One string of every size: p of a size is 1 where it and all shorter ones are right."""
    sizes = np.arange(1, len(right) + 1)
    arrays = {
        "factor": np.full(len(right), 100.0),
        "tested": np.ones(len(right), bool),
        "size": sizes,
        "wrong": 1 - np.array(right, int),
        "steps": sizes,
    }
    facts = {"margins": [0], "metric": "argmax", "upto": "first-wrong", "order": 0}
    outcomes = Trace("string-outcomes", arrays, facts, Cost())
    found = span(np.logical_and.accumulate(right), sizes)
    assert found == pytest.approx(reach(outcomes)["largest-right"])
    assert found == pytest.approx(b_index(outcomes)["b-continuous"])


def trace(correct, asked, chance, **more):
    arrays = {
        "step": np.array([10, 40, 160]),
        "correct": np.array(correct),
        "asked": np.array(asked),
        "chance": np.array(chance),
        "difficulty": np.array([1, 2, 3]),
        **more,
    }
    return Trace("span", arrays, {"least": 0, "unit": "symbols", "taught": 2}, Cost())


def test_scores_of_a_trace_by_hand():
    made = trace(
        [[0, 5, 5], [10, 5, 5], [10, 10, 5]],
        [10, 10, 10],
        [0.5, 0.5, 0.5],
        whole=np.array([[0, 0, 0], [10, 0, 0], [10, 10, 0]]),
        tests=np.array([10, 10, 10]),
    )
    assert psychometric(made)[-1].tolist() == [1, 1, 0]
    scores = span_scores(made)
    assert scores["span"] == pytest.approx(2)
    assert scores["share"] == pytest.approx(math.log(3) / math.log(4))
    assert scores["span-within"] == pytest.approx(2), "of the bins up to what was taught"
    assert scores["whole-span"] == pytest.approx(2)
    # spans 0 (below chance, clipped), 1 and 2 at the three checkpoints: the mean is of ln(1 + span)
    assert scores["mean-span"] == pytest.approx((1 * 2 * 3) ** (1 / 3) - 1)


def test_examples_to_a_span():
    made = trace([[5, 5, 5], [10, 5, 5], [10, 10, 5]], [10, 10, 10], [0.5, 0.5, 0.5])
    assert (examples_to(made, 1), examples_to(made, 2), examples_to(made, 3)) == (40, 160, math.inf)
    assert examples_to_span(made) == {"examples-to-1": 40, "examples-to-2": 160}
    never = trace([[5, 5, 5]] * 3, [10, 10, 10], [0.5, 0.5, 0.5])
    assert examples_to_span(never) == {
        "examples-to-1": math.inf,
        "examples-to-2": math.inf,
    }


def test_the_horizon_is_the_span_in_lyapunov_times():
    covariance = np.array([[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0]]])
    arrays = {"step": np.array([1]), "covariance": covariance, "difficulty": np.array([1, 2, 3])}
    made = Trace("span", arrays, {"least": 0, "lyapunov": 0.25}, Cost())
    assert prediction_horizon(made) == {"horizon": pytest.approx(2 * 0.25)}
    assert prediction_horizon(Trace("span", arrays, {"least": 0}, Cost())) == {}


def test_of_real_numbers_p_is_the_squared_correlation_and_0_where_it_is_negative():
    covariance = np.array([[[1.0, 0.9, 0.9], [1.0, 0.5, 1.0], [1.0, -0.9, 1.0]]])
    arrays = {"step": np.array([1]), "covariance": covariance, "difficulty": np.array([1, 2, 3])}
    made = Trace("span", arrays, {"least": 0, "unit": "steps"}, Cost())
    assert psychometric(made)[0] == pytest.approx([0.9, 0.25, 0.0])
