from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.tasks.controls import uniform_by_prefix

LANGUAGE = [id for id in registries.task.names() if id.startswith(("language/", "continual/"))]
FOUR_TOKENS = SimpleNamespace(vocabulary=("a", "b", "c", "d"))


def test_majority(make_control):
    majority = make_control("majority", FOUR_TOKENS)
    inputs = np.array([1, 2, 3])
    assert majority.predict(inputs).tolist() == [0, 0, 0]
    majority.learn(inputs, np.array([-1, 3, -1]))
    assert majority.predict(inputs).tolist() == [3, 3, 3]
    majority.learn(inputs, np.array([2, -1, -1]))  # a tie between 2 and 3
    assert majority.predict(inputs[:1]).tolist() == [2]
    majority.learn(inputs, np.array([3, 3, -1]))
    assert majority.predict(inputs[:1]).tolist() == [3]
    majority.learn(inputs, np.array([-1, -1, -1]))
    assert majority.predict(inputs[:1]).tolist() == [3]


def test_copy_last(make_control):
    inputs = np.array([1, 2, 0])
    copied = make_control("copy-last", FOUR_TOKENS).predict(inputs)
    assert copied.tolist() == [1, 2, 0]
    assert not np.shares_memory(copied, inputs)


def test_uniform_guesses_evenly_among_the_answers_seen(make_control):
    uniform = make_control("uniform", FOUR_TOKENS)
    rng = np.random.default_rng(0)
    sequences = rng.integers(4, size=(300, 10))
    before = np.concatenate([uniform.predict(sequence) for sequence in sequences])
    assert set(before) == {0, 1, 2, 3}
    uniform.learn(np.array([0, 0]), np.array([1, 3]))
    uniform.learn(np.array([0, 0]), np.array([3, -1]))
    guesses = np.concatenate([uniform.predict(sequence)[5:] for sequence in sequences])
    assert set(guesses) == {1, 3}
    assert abs(np.mean(guesses == 1) - 0.5) < 4 * np.sqrt(0.25 / guesses.size)


@pytest.mark.parametrize("id", LANGUAGE)
def test_a_rule_that_says_it_never_learns_never_does(make_control, id):
    task = registries.task.get(id)()
    examples = task.sample(np.random.default_rng(5), 30)
    sequences = [examples.inputs[:, index] for index in range(30)]
    for name in {*task.controls, task.oracle}:
        rule = make_control(name, task)
        before = [rule.predict(sequence) for sequence in sequences]
        for sequence in sequences:
            rule.learn(sequence, np.zeros_like(sequence))
        after = [rule.predict(sequence) for sequence in sequences]
        same = all((one == other).all() for one, other in zip(before, after, strict=True))
        assert same or getattr(rule, "learns", True), name


def test_coins_are_uniform_and_depend_on_the_prefix_and_the_seed_only():
    sequences = np.random.default_rng(1).integers(16, size=(2000, 12))
    coins = np.array([uniform_by_prefix(3, sequence, 16) for sequence in sequences])
    assert coins.min() >= 0
    assert coins.max() < 1
    counts = np.histogram(coins[:, -1], bins=10, range=(0, 1))[0]
    assert (
        (counts - 200) ** 2 / 200
    ).sum() < 33.7  # chi-square with 9 degrees of freedom, p = 0.0001
    # Neighbours in time are independent of each other: the correlation of 2000 pairs has a standard
    # deviation of 0.022.
    assert abs(np.corrcoef(coins[:, -2], coins[:, -1])[0, 1]) < 0.09
    changed = sequences[0].copy()
    changed[6] = (changed[6] + 1) % 16
    assert np.array_equal(uniform_by_prefix(3, changed, 16)[:6], coins[0, :6])
    assert not np.any(uniform_by_prefix(3, changed, 16)[6:] == coins[0, 6:])
    assert np.array_equal(uniform_by_prefix(3, sequences[0, :4], 16), coins[0, :4])
    assert not np.any(uniform_by_prefix(4, sequences[0], 16) == coins[0])


def test_every_task_names_controls_and_an_oracle_that_exist():
    assert len(LANGUAGE) == 33
    for id in LANGUAGE:
        task = registries.task.get(id)
        assert task.version == (3 if id.endswith(("qa", "qa-counting")) else 1)
        assert {registries.control.get(name).role for name in task.controls} == {"control"}
        assert registries.control.get(task.oracle).role == "oracle"


@pytest.mark.parametrize("id", LANGUAGE)
def test_no_rule_looks_ahead_and_all_are_deterministic(make_task, make_control, id):
    task = make_task(id, "published")
    examples = task.sample(np.random.default_rng(0), 12)
    rng = np.random.default_rng(1)
    for name in (*task.controls, "uniform", task.oracle):
        rule = make_control(name, task)
        rule.learn(examples.inputs[:, 0], np.where(examples.asked, examples.targets, -1)[:, 0])
        for index, length in enumerate(examples.lengths):
            inputs = examples.inputs[:length, index]
            whole = rule.predict(inputs)
            assert whole.shape == (length,)
            assert np.array_equal(rule.predict(inputs), whole)
            cut = int(rng.integers(1, length + 1))
            noise = np.concatenate(
                [inputs[:cut], rng.integers(len(task.vocabulary), size=length - cut)]
            )
            assert np.array_equal(rule.predict(noise)[:cut], whole[:cut]), name
