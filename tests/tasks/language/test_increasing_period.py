from __future__ import annotations

import doctest
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from quickstudy.base.errors import UsageError
from quickstudy.tasks.language import periodic
from quickstudy.tasks.language.periodic import IncreasingPeriod, Periodic


def written_out(pattern: str, length: int, increase: int = 1) -> str:
    """Each bit once, then each 1 + increase times ..., from the definition."""
    passes = (
        "".join(bit * (1 + number * increase) for bit in pattern) for number in itertools.count()
    )
    sequence = ""
    while len(sequence) < length:
        sequence += next(passes)
    return sequence[:length]


def test_doctests():
    result = doctest.testmod(periodic)
    assert result.attempted >= 1
    assert result.failed == 0


def test_presets(make_task):
    tasks = [
        make_task("language/increasing-period", c) for c in ("published", "written", "corrected")
    ]
    assert all(task == IncreasingPeriod(1, 10, 100, 1, False) for task in tasks)
    assert IncreasingPeriod().vocabulary == ("0", "1")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shortest": 11}, r"shortest must be at most longest \(10\), got 11"),
        (
            {"length": 38},
            "length must be above 38, where the first question of period 10 may stand, got 38",
        ),
        ({"length": 40, "turns": True}, "length must be above 40, where the first question"),
        ({"increase": 8}, "length must be above 108"),
        ({"increase": 0}, "increase must be at least 1, got 0"),
    ],
)
def test_parameters_that_do_not_fit(make_task, given, message):
    with pytest.raises(UsageError, match=message):
        make_task("language/increasing-period", **given)
    assert make_task("language/increasing-period", length=39).length == 39


def test_joint_distribution_of_sequence_and_mask():
    weights: Counter[tuple[str, int]] = Counter()
    for period in range(1, 5):
        delays = range(max(period - 1, 1))
        for bits, delay in itertools.product(itertools.product("01", repeat=period), delays):
            key = written_out("".join(bits), 60), 3 * period + delay
            weights[key] += Fraction(1, 4 * 2**period * len(delays))
    assert sum(weights.values()) == 1
    examples = IncreasingPeriod(longest=4, length=60).sample(np.random.default_rng(0), 8000)
    found: Counter[tuple[str, int]] = Counter()
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        assert mask == list(range(mask[0], 60))
        found["".join(map(str, tokens)), mask[0]] += 1
    assert set(found) <= set(weights)
    assert (
        chisquare(
            [found[key] for key in weights], [float(w) * 8000 for w in weights.values()]
        ).pvalue
        > 1e-4
    )


def test_supervised_tokens_per_sequence():
    # 100 - 3p - j: p has mean 5.5, j has mean (p - 2) / 2 from p = 2 on, 1.8 in all.
    examples = IncreasingPeriod().sample(np.random.default_rng(1), 6000)
    starts = 100 - examples.asked.sum(axis=0)
    assert starts.mean() == pytest.approx(16.5 + 1.8, abs=4 * starts.std() / np.sqrt(6000))
    assert (starts.min(), starts.max()) == (3, 38)
    assert set(examples.lengths) == {99}


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_every_draw_checks_out(data, seed):
    longest, increase = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 3))
    shortest = data.draw(st.integers(1, longest))
    length = data.draw(st.integers((3 + increase) * longest + 2 * increase + 1, 120))
    task = IncreasingPeriod(shortest, longest, length, increase, data.draw(st.booleans()))
    examples = task.sample(np.random.default_rng(seed), 4)
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        assert mask
        verdict = task.check(tokens)
        assert verdict.accepts(mask)
        assert set(verdict.supervised) <= set(mask)


@pytest.mark.parametrize("turns", [False, True])
def test_a_changed_answer_is_wrong_and_named(turns):
    task = IncreasingPeriod(turns=turns)
    rng = np.random.default_rng(2)
    examples = task.sample(rng, 200)
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        place = int(rng.choice(mask))
        tokens[place] = 1 - tokens[place]
        verdict = task.check(tokens)
        assert verdict.well_formed
        assert not verdict.accepts(mask)
        assert (
            verdict.reason
            == f'index {place}: the answer is "{tokens[place]}", right is "{1 - tokens[place]}"'
        )


def test_worked_example_and_masks_that_the_words_leave_open():
    task = IncreasingPeriod(length=40)
    verdict = task.check(" ".join(written_out("10", 40)))
    assert verdict.right
    assert verdict.masks == (tuple(range(6, 40)),)
    assert "".join(task.check(" ".join(written_out("10", 40))).answers[6].expected) == "1"
    # 0000...: any period; questions from 3, 6, 9 and 10, 12 to 14, ... for periods 1, 2, 3, 4 on.
    assert [mask[0] for mask in IncreasingPeriod(longest=4, length=40).check([0] * 40).masks] == [
        3,
        6,
        9,
        10,
        12,
        13,
        14,
    ]


def test_turns_are_where_a_bit_begins():
    # 1 0 | 11 00 | 111 000 | 1111 0000: the third pass begins at 6, its second bit at 9, the fourth
    # pass at 12.
    task = IncreasingPeriod(shortest=2, longest=2, length=20, turns=True)
    assert task.check(" ".join(written_out("10", 20))).masks == ((6, 9, 12, 16),)
    # The questions of a period of 3 come a turn later if the first place after them is no turn.
    task = IncreasingPeriod(shortest=3, longest=3, length=25, turns=True)
    assert task.check(" ".join(written_out("100", 25))).masks == (
        (9, 12, 15, 18, 22),
        (12, 15, 18, 22),
    )


def test_what_is_not_asked_must_be_right_all_the_same():
    sequence = [int(bit) for bit in written_out("10", 20)]
    sequence[17] = 1 - sequence[17]
    verdict = IncreasingPeriod(shortest=2, longest=2, length=20, turns=True).check(sequence)
    assert verdict.reason == 'index 17: expected "0", got "1"'
    assert not verdict.well_formed


def test_malformed():
    task = IncreasingPeriod(longest=3, length=20)
    assert task.check([0] * 19).reason == "index 19: there must be 20 tokens, got 19"
    # 0 1 0 1: period 1 breaks at 1, 2 (0 1 00 11) at 3, 3 (010 00 11) at 3.
    assert task.check([0, 1] * 10).reason == "index 3: no period 1..3 holds up to here"


@pytest.mark.parametrize("increase", [1, 2])
def test_oracle_is_right_from_the_third_pass_on_for_every_pattern(make_control, increase):
    task = IncreasingPeriod(longest=12, length=100, increase=increase)
    oracle = make_control("increasing-period-oracle", task)
    for period in range(1, 8):
        for bits in itertools.product("01", repeat=period):
            sequence = np.array([int(bit) for bit in written_out("".join(bits), 80, increase)])
            first = (2 + increase) * period
            assert np.array_equal(oracle.predict(sequence[:-1])[first - 1 :], sequence[first:])


def test_two_periods_that_both_fit_go_on_in_the_same_way():
    """What the oracle rests on: agreeing in two passes of the longer period is agreeing for
    ever.
    """
    for period in range(1, 9):
        for bits in itertools.product("01", repeat=period):
            sequence = written_out("".join(bits), 150)
            for longer in range(period + 1, 13):
                other = written_out(sequence[:longer], 150)
                assert other == sequence or other[: 3 * longer] != sequence[: 3 * longer]


def test_ceiling_and_controls(accuracy):
    examples = IncreasingPeriod().sample(np.random.default_rng(3), 1000)
    assert accuracy("increasing-period-oracle", IncreasingPeriod(), examples) == 1.0
    turns = IncreasingPeriod(shortest=2, turns=True)
    examples = turns.sample(np.random.default_rng(3), 4000)
    assert accuracy("increasing-period-oracle", turns, examples.take(range(300))) == 1.0
    # Turns of one sequence are not independent: a tolerance as if there were two a sequence.
    assert accuracy("copy-last", turns, examples) == pytest.approx(
        0.5, abs=4 * np.sqrt(0.25 / 8000)
    )


def test_without_increase_it_would_be_the_periodic_task():
    groups = periodic.bit_groups(3, 0, 10)
    assert (groups % 3).tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    assert periodic.pattern_verdict("011011011011", range(1, 5), 12) == Periodic(
        longest=3, length=12
    ).check([0, 1, 1] * 4)
