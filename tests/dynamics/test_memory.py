"""Capacities, ranks and stability against what is known beforehand, and against plain least
squares.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pytest
from numpy.polynomial import hermite_e, legendre

from quickstudy.base.errors import UsageError
from quickstudy.measures.memory import (
    Harvest,
    effective_rank,
    orthonormal_columns,
    ranks,
    significance,
)
from quickstudy.measures.memory_scores import groups, growth
from quickstudy.measures.memory_terms import orthonormal, processing_capacity, shell

WASHOUT, STEPS, SIZE = 100, 1500, 8


@pytest.fixture(scope="module")
def drive():
    return np.random.default_rng(1).uniform(-1, 1, WASHOUT + STEPS)


@pytest.fixture(scope="module")
def states(drive):
    """A small reservoir with biases, so that even degrees are held as well."""
    rng = np.random.default_rng(2)
    weights = rng.normal(size=(SIZE, SIZE))
    weights *= 0.8 / np.abs(np.linalg.eigvals(weights)).max()
    inward, bias = rng.uniform(-1, 1, SIZE), rng.uniform(-0.5, 0.5, SIZE)
    found, state = np.zeros((len(drive), SIZE)), np.zeros(SIZE)
    for step, value in enumerate(drive):
        found[step] = state = np.tanh(weights @ state + inward * value + bias)
    return found


@pytest.fixture(scope="module")
def harvest(states):
    return Harvest(states[WASHOUT:])


def explained(states, target):
    """The share of variance by plain least squares with a constant."""
    rows = np.column_stack([np.ones(len(states)), states])
    return 1 - np.mean(
        (target - rows @ np.linalg.lstsq(rows, target, rcond=None)[0]) ** 2
    ) / np.var(target)


def test_every_capacity_is_that_of_least_squares(drive, states, harvest):
    found = processing_capacity(harvest, drive, 0.0, [4, 3, 2])
    wanted = []
    for degree, largest in enumerate([4, 3, 2], 1):
        for term in combinations_with_replacement(range(largest + 1), degree):
            target = np.ones(STEPS)
            for delay, power in Counter(term).items():
                values = legendre.legval(
                    drive[WASHOUT - delay : len(drive) - delay], [0] * power + [1]
                )
                target = target * values * math.sqrt(2 * power + 1)
            wanted.append(explained(states[WASHOUT:], target))
    assert len(found.capacity) == 5 + 10 + 10
    np.testing.assert_allclose(np.sort(found.capacity), np.sort(wanted), atol=1e-12)
    np.testing.assert_allclose(
        harvest.memory(drive, range(5)), found.capacity[found.degree == 1], atol=1e-12
    )


def test_memory_on_other_steps_is_a_squared_correlation_there(drive, states, harvest):
    found = harvest.memory_split(drive, [0, 3], 900)
    rows = np.column_stack([np.ones(STEPS), states[WASHOUT:]])
    for delay, value in zip([0, 3], found, strict=True):
        target = drive[WASHOUT - delay : len(drive) - delay]
        given = rows[900:] @ np.linalg.lstsq(rows[:900], target[:900], rcond=None)[0]
        assert value == pytest.approx(np.corrcoef(given, target[900:])[0, 1] ** 2, rel=1e-5)


@pytest.mark.parametrize(
    ("largest", "degree", "count"), [(40, 1, 41), (14, 2, 120), (8, 3, 165), (5, 4, 126)]
)
def test_there_are_as_many_terms_as_the_formula_says(largest, degree, count):
    terms = [term for delay in range(largest + 1) for term in shell(degree, delay)]
    assert len(terms) == len(set(terms)) == count == math.comb(largest + degree, degree)


def test_the_threshold_is_that_of_the_worked_example():
    assert significance(20, 10_000) == pytest.approx(0.010477, abs=5e-7)


def test_a_delay_line_holds_its_length_and_nothing_else(drive):
    line = np.column_stack([np.roll(drive, delay) for delay in range(1, 7)])[WASHOUT:]
    harvest = Harvest(line)
    assert harvest.memory(drive, range(10))[1:7] == pytest.approx(np.ones(6))
    found = processing_capacity(harvest, drive, harvest.threshold())
    assert found.total() == pytest.approx(6)
    assert found.total(1) == found.total()
    assert found.complete


def test_a_dead_time_hides_nothing(drive):
    """All that is held is a square of the input of nine steps ago: the first shells are empty, and
    degree 1 is.
    """
    late = np.roll(drive, 9)
    harvest = Harvest(np.column_stack([1.5 * late**2, np.roll(drive, 10) * late])[WASHOUT:])
    found = processing_capacity(harvest, drive, harvest.threshold())
    assert found.total(2) == pytest.approx(2, abs=1e-6)
    assert found.total(2, window=1) == pytest.approx(1, abs=0.01)
    assert found.total(2, window=2) == pytest.approx(1, abs=0.01)


def test_a_budget_that_is_used_up_is_said(drive, harvest):
    assert not processing_capacity(harvest, drive, harvest.threshold(), budget=20).complete


@pytest.mark.parametrize("basis", ["legendre", "hermite", "trigonometric", "moments"])
def test_functions_of_a_basis_are_orthonormal(basis):
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=400_000) if basis == "hermite" else rng.uniform(-1, 1, 400_000)
    found = orthonormal(inputs, 3, basis)
    assert found @ found.T / len(inputs) == pytest.approx(np.eye(3), abs=0.03)
    assert found.mean(axis=1) == pytest.approx(np.zeros(3), abs=0.01)
    if basis == "hermite":
        np.testing.assert_allclose(
            found[2], hermite_e.hermeval(inputs, [0, 0, 0, 1]) / math.sqrt(6), atol=1e-9
        )


def test_inputs_that_a_basis_is_not_for_are_refused(drive, harvest):
    with pytest.raises(UsageError, match=r"uniform in -1 \.\. 1; these have mean 0\.5"):
        processing_capacity(harvest, (drive + 1) / 2, 0.01, [3])
    with pytest.raises(UsageError, match="-1 or 1"):
        processing_capacity(harvest, drive, 0.01, [3], basis="walsh")
    with pytest.raises(
        UsageError, match="2 different values have 1 independent functions, and 2 are asked for"
    ):
        processing_capacity(harvest, np.sign(drive), 0.01, [3, 3], basis="moments")
    with pytest.raises(UsageError, match="1 different values have 0"):
        processing_capacity(harvest, np.ones_like(drive), 0.01, [3], basis="moments")


def test_parities_are_what_a_walsh_basis_finds():
    inputs = np.random.default_rng(4).choice([-1.0, 1.0], 2000)
    held = np.column_stack([np.roll(inputs, 1) * np.roll(inputs, 3), np.roll(inputs, 2)])[50:]
    found = processing_capacity(Harvest(held), inputs, 0.02, [4, 4], basis="walsh")
    assert (found.degree == 2).sum() == 10
    assert [found.total(1), found.total(2)] == pytest.approx([1, 1])


def test_states_that_hang_together_count_once(drive, states):
    doubled = Harvest(np.column_stack([states, states[:, :3], np.full(len(states), 7.0)])[WASHOUT:])
    assert (doubled.size, doubled.rank, doubled.constant) == (SIZE + 3, SIZE, 1)
    alone = Harvest(states[WASHOUT:])
    np.testing.assert_allclose(
        doubled.memory(drive, range(4)), alone.memory(drive, range(4)), atol=1e-9
    )
    assert doubled.threshold() == alone.threshold()


@pytest.mark.parametrize("likeness", [0.0, 1e-3, 1e-6, 1e-9, 1e-13])
def test_states_are_factored_to_rounding_however_alike_they_are(likeness):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(600, 6))
    rows[:, 5] = rows[:, 0] + likeness * rows[:, 5]
    found, triangle = orthonormal_columns(rows)
    np.testing.assert_allclose(found.T @ found, np.eye(6), atol=1e-13)
    np.testing.assert_allclose(found @ triangle, rows, atol=1e-13)
    np.testing.assert_array_equal(triangle, np.triu(triangle))


def test_ranks_are_counted_on_states_that_are_not_centred(states, harvest):
    values = np.linalg.svd(states[WASHOUT:], compute_uv=False)
    np.testing.assert_allclose(harvest.singular_values, values)
    assert ranks(np.array([1.0, 0.05, 0.005, 1e-7])) == {
        "0.1": 1,
        "0.01": 2,
        "0.001": 3,
        "1e-06": 3,
        "charc": 2,
    }
    assert effective_rank(np.ones(5)) == pytest.approx(5)


@pytest.mark.parametrize("rate", [-0.3, 0.05])
def test_growth_is_read_between_rounding_and_spread(rate):
    steps = np.arange(200)
    distance = np.maximum(1e-4 * np.exp(rate * steps), 1e-9)[:, None]
    assert growth(np.minimum(distance, 1.0), 1e-9, 1.0) == pytest.approx(rate, abs=1e-6)
    assert growth(np.zeros((50, 2)), 0.0, 1.0) is None


def test_paths_that_are_far_apart_are_different_responses():
    ends = np.array([0.0, 0.0001, 3.0, 9.0])
    assert groups(np.abs(ends[:, None] - ends), 0.01) == 3


@pytest.fixture
def files(tmp_path, monkeypatch, drive, states):
    monkeypatch.chdir(tmp_path)
    np.save("states.npy", states)
    (tmp_path / "inputs.csv").write_text(
        "u\n" + "\n".join(map(repr, drive.tolist())), encoding="utf-8"
    )


def command(capsys, *arguments):
    from quickstudy.cli.main import main

    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return left.value.code, *capsys.readouterr()


CAPACITY = ("score", "capacity", "states.npy", "--inputs", "inputs.csv")


def test_recorded_states_are_scored(files, capsys, harvest, drive):
    status, out, _ = command(
        capsys, *CAPACITY, "--washout", WASHOUT, "--delays", "6,3", "--train", "900", "--json"
    )
    found = json.loads(out)
    assert status == 0
    assert found["memory_in_sample"] == pytest.approx(harvest.memory(drive, range(7)))
    assert found["memory_split"] == pytest.approx(harvest.memory_split(drive, range(7), 900))
    assert {degree: part["terms"] for degree, part in found["ipc"].items()} == {"1": 7, "2": 10}
    counted = [value for value in found["memory_in_sample"] if value >= found["threshold"]]
    assert found["ipc"]["1"]["total"] == pytest.approx(sum(counted))
    assert set(found["rank"]) == {"0.1", "0.01", "0.001", "1e-06", "charc"}
    assert len(found["singular_values"]) == SIZE
    assert "degree" in command(capsys, *CAPACITY, "--washout", WASHOUT)[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--factor", "nan"), "--factor above 0, got 0.0001 and nan"),
        (
            ("--washout", 1600),
            "--washout must be from 0 to below the 1600 rows of the series, got 1600",
        ),
        (("--washout", 10, "--delays", "40"), "give a washout of 40 steps or more"),
        (("--delays", "4;5"), "--delays must be whole numbers"),
        (("--train", 5), "steps to train on must lie between 10"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(files, capsys, options, said):
    status, _, err = command(capsys, *CAPACITY, *options)
    assert status == 2
    assert said in err
    assert err.count("\n") == 1
