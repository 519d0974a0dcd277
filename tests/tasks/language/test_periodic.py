from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from quickstudy.base.errors import UsageError
from quickstudy.tasks.language.periodic import Periodic


def enumerate_all(shortest: int, longest: int, length: int) -> dict[tuple[str, int], Fraction]:
    """(sequence, first supervised index) with probability, from the definition."""
    weights: dict[tuple[str, int], Fraction] = {}
    for period in range(shortest, longest + 1):
        for number in range(2**period):
            pattern = format(number, f"0{period}b")
            sequence = (pattern * length)[:length]
            delays = range(period - 1) if period > 1 else range(1)
            for delay in delays:
                weight = Fraction(1, (longest - shortest + 1) * 2**period * len(delays))
                key = sequence, 2 * period + delay
                weights[key] = weights.get(key, Fraction(0)) + weight
    return weights


def test_presets(make_task):
    assert [
        make_task("language/periodic", convention).longest
        for convention in ("published", "written", "corrected")
    ] == [
        5,
        10,
        10,
    ]
    assert make_task("language/periodic") == Periodic(shortest=1, longest=10, length=100)
    assert Periodic().vocabulary == ("0", "1")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shortest": 6, "longest": 5}, r"shortest must be at most longest \(5\), got 6"),
        ({"longest": 34}, "length must be above 100"),
        (
            {"length": 28},
            "length must be above 28, where the first question of period 10 may stand, got 28",
        ),
        ({"longest": 0}, "longest must be at least 1, got 0"),
    ],
)
def test_parameters_that_do_not_fit(make_task, given, message):
    with pytest.raises(UsageError, match=message):
        make_task("language/periodic", **given)
    assert make_task("language/periodic", longest=33).longest == 33


def test_joint_distribution_of_sequence_and_mask():
    task = Periodic(shortest=1, longest=5, length=100)
    weights = enumerate_all(1, 5, 100)
    assert len({sequence for sequence, _ in weights}) == 52
    examples = task.sample(np.random.default_rng(0), 20000)
    found: Counter[tuple[str, int]] = Counter()
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        assert mask == list(range(mask[0], 100))
        found["".join(map(str, tokens)), mask[0]] += 1
    assert set(found) <= set(weights)
    expected = [float(weight) * examples.count for weight in weights.values()]
    assert chisquare([found[key] for key in weights], expected).pvalue > 1e-4


@pytest.mark.parametrize(("longest", "mean"), [(5, 93.4), (10, 87.2)])
def test_supervised_tokens_per_sequence(longest, mean):
    weights = enumerate_all(1, longest, 100)
    assert float(sum(weight * (100 - start) for (_, start), weight in weights.items())) == mean
    deviation = np.sqrt(
        float(sum(weight * (100 - start) ** 2 for (_, start), weight in weights.items())) - mean**2
    )
    examples = Periodic(longest=longest).sample(np.random.default_rng(1), 6000)
    assert examples.questions / examples.count == pytest.approx(
        mean, abs=4 * deviation / np.sqrt(6000)
    )
    assert set(examples.lengths) == {99}


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_every_draw_checks_out(data, seed):
    longest = data.draw(st.integers(1, 12))
    shortest = data.draw(st.integers(1, longest))
    length = data.draw(st.integers(3 * longest + 1, 120))
    task = Periodic(shortest, longest, length)
    examples = task.sample(np.random.default_rng(seed), 4)
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        verdict = task.check(tokens)
        assert verdict.accepts(mask)
        assert verdict.reason == ""
        assert set(verdict.supervised) <= set(mask)


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_a_changed_answer_is_wrong_and_named(make_task, convention):
    task = make_task("language/periodic", convention)
    rng = np.random.default_rng(2)
    examples = task.sample(rng, 300)
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        place = int(rng.choice(mask))
        tokens[place] = 1 - tokens[place]
        verdict = task.check(tokens)
        assert not verdict.right
        assert not verdict.accepts(mask)
        assert verdict.well_formed
        assert (
            verdict.reason
            == f'index {place}: the answer is "{tokens[place]}", right is "{1 - tokens[place]}"'
        )


def test_masks_that_the_words_leave_open():
    task = Periodic(shortest=1, longest=4, length=20)
    # 0101...: period 2 (from 4) or the pattern 0101 of period 4 (from 8, 9 or 10).
    verdict = task.check("0 1 " * 10)
    assert [mask[0] for mask in verdict.masks] == [4, 8, 9, 10]
    assert verdict.supervised == tuple(range(10, 20))
    assert [answer.indices[0] for answer in verdict.answers] == list(range(4, 20))
    # 011 011 ...: period 3 only.
    assert [mask[0] for mask in task.check([0, 1, 1] * 6 + [0, 1]).masks] == [6, 7]


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ([0] * 19, "index 19: there must be 20 tokens, got 19"),
        ([0] * 21, "index 20: there must be 20 tokens, got 21"),
        ([], "index 0: there must be 20 tokens, got 0"),
        ([0, 1, 2] + [0] * 17, "index 2: id 2 is not in 0..1"),
        ([0, -1] + [0] * 18, "index 1: id -1 is not in 0..1"),
        (["0", "2"] + ["0"] * 18, 'index 1: "2" is not in the vocabulary: 0 1'),
        ([0.0] + [0] * 19, "index 0: 0.0 is neither a word nor an id"),
        (None, "index 0: a sequence of words or ids must be given, not NoneType"),
        # 0 1 1 0 1 0 ...: period 1 breaks at 1, 2 at 2, 3 at 5, 4 at 5; none is twice as long as
        # its period.
        ([0, 1, 1, 0, 1, 0] + [0] * 14, "index 5: no period 1..4 holds up to here"),
    ],
)
def test_malformed(tokens, reason):
    verdict = Periodic(shortest=1, longest=4, length=20).check(tokens)
    assert not verdict.well_formed
    assert not verdict.right
    assert verdict.masks == ()
    assert verdict.reason == reason


@pytest.mark.parametrize("period", range(1, 9))
def test_oracle_is_right_from_two_periods_on_for_every_pattern(make_control, period):
    oracle = make_control("periodic-oracle", Periodic())
    for pattern in itertools.product((0, 1), repeat=period):
        sequence = np.resize(pattern, 5 * period + 3)
        answers = oracle.predict(sequence[:-1])
        assert np.array_equal(answers[2 * period - 1 :], sequence[2 * period :])


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_oracle_reaches_the_ceiling(make_task, accuracy, convention):
    task = make_task("language/periodic", convention)
    assert accuracy("periodic-oracle", task, task.sample(np.random.default_rng(3), 400)) == 1.0
