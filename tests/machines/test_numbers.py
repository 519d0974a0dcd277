"""The numbers that are known of processes and channels, to their digits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import known_machines as known
from known_machines import HALF
from quickstudy.base.errors import UsageError
from quickstudy.machines.chains import (
    exact_stationary,
    long_run,
    matrix,
    memoryless,
    stationary,
    stationary_under,
)
from quickstudy.machines.entropies import (
    channel,
    complexity,
    entropy,
    entropy_rate,
    excess_entropy,
    topological,
)
from quickstudy.machines.minimal import minimised

THREE = Fraction(3, 10)


@pytest.mark.parametrize(
    ("machine", "shares", "remembers", "surprise", "excess"),
    [
        (known.coin(HALF), [1], 0, 1, 0),
        (known.coin(Fraction(7, 10)), [1], 0, 0.881291, 0),
        (known.period(2), [1 / 2] * 2, 1, 0, 1),
        (known.period(3), [1 / 3] * 3, 1.584963, 0, 1.584963),
        (known.period(5), [1 / 5] * 5, 2.321928, 0, 2.321928),
        (known.golden_mean(), [2 / 3, 1 / 3], 0.918296, 2 / 3, 0.251629),
        (known.even(), [2 / 3, 1 / 3], 0.918296, 2 / 3, 0.918296),
        (known.golden_mean(THREE), [1 / 1.3, 0.3 / 1.3], 0.779350, 0.677916, 0.101434),
        (known.even(THREE), [1 / 1.3, 0.3 / 1.3], 0.779350, 0.677916, 0.779350),
        (known.alternating(), [1 / 2, 1 / 2], 1, 1 / 2, 1),
        (known.random_random_xor(), [1 / 3, *[1 / 6] * 4], 2.251629, 2 / 3, 2.251629),
        (known.sticky(), [2 / 3, 1 / 3], 0.918296, 0.553306, 0.364990),
    ],
)
def test_a_process(machine, shares, remembers, surprise, excess):
    small = minimised(machine).machine
    assert sorted(stationary(small), reverse=True) == pytest.approx(shares, abs=1e-12)
    assert complexity(small) == pytest.approx(remembers, abs=1e-6)
    assert entropy_rate(small) == pytest.approx(surprise, abs=1e-6)
    assert excess_entropy(small) == pytest.approx(excess, abs=1e-6)
    assert excess_entropy(small) <= complexity(small) + 1e-9


def test_a_memoryless_channel_remembers_nothing():
    flips = Fraction(1, 10)
    symmetric = known.channel(
        [("A", x, y, "A", 1 - flips if x == y else flips) for x in (0, 1) for y in (0, 1)]
    )
    z = known.channel([("A", 0, 0, "A", 1), ("A", 1, 1, "A", HALF), ("A", 1, 0, "A", HALF)])
    for machine in (symmetric, z):
        assert minimised(machine).machine.size == 1
        assert complexity(machine) == 0


def test_a_delay_remembers_its_input():
    one = known.delay()
    assert complexity(one) == 1
    assert complexity(one, memoryless(one, {"1": 0.9, "0": 0.1})) == pytest.approx(
        0.468996, abs=1e-6
    )
    best = channel(one)
    assert best.complexity == pytest.approx(1, abs=1e-9)
    assert best.complexity <= topological(one) + 1e-12
    driven = known.generator(("A", "1", "A", HALF), ("A", "0", "B", HALF), ("B", "1", "A", 1))
    assert complexity(one, driven) == pytest.approx(0.918296, abs=1e-6)
    for steps in (2, 3):
        longer = known.delay(steps)
        chances = memoryless(longer, {"1": 0.3, "0": 0.7})
        assert minimised(longer).machine.size == 2**steps
        assert complexity(longer, chances) == pytest.approx(steps * entropy(np.array([0.3, 0.7])))


def test_parity_remembers_one_bit_whatever_comes():
    for p in (0.01, 0.3, 1.0):
        machine = known.parity({0: Fraction(1)})
        assert complexity(machine, memoryless(machine, {1: p, 0: 1 - p})) == pytest.approx(1)
    never = known.parity({0: Fraction(1)})
    assert complexity(never, memoryless(never, {1: 0.0, 0: 1.0})) == 0
    with pytest.raises(UsageError, match="not ergodic: 2 recurrent classes"):
        complexity(known.parity(), memoryless(known.parity(), {1: 0.0, 0: 1.0}))


def test_inputs_that_cannot_be_are_refused():
    one = known.delay()
    with pytest.raises(UsageError, match='"2" is not an input'):
        memoryless(one, {"2": 1.0})
    with pytest.raises(UsageError, match=r"sum to 1, got 0\.9"):
        memoryless(one, {"1": 0.9})
    with pytest.raises(UsageError, match="not an input of the machine"):
        stationary_under(one, known.golden_mean())
    with pytest.raises(UsageError, match="given nothing"):
        stationary_under(one, known.delay())


def test_several_ends_are_reached_as_often_as_chance_has_it():
    # From 0: a third to 1, which stays; two thirds to 2, from which half goes to 3 and 4, which
    # change places.
    rows = {
        (0, 1): 1 / 3,
        (0, 2): 2 / 3,
        (1, 1): 1,
        (2, 3): 1 / 2,
        (2, 0): 1 / 2,
        (3, 4): 1,
        (4, 3): 1,
    }
    places, weights = np.array(list(rows)).T, np.array(list(rows.values()), dtype=float)
    chain = matrix(5, *places, weights)
    start = np.array([1.0, 0, 0, 0, 0])
    assert long_run(chain, start) == pytest.approx([0, 1 / 2, 0, 1 / 4, 1 / 4])


@pytest.mark.parametrize("size", [40, 400])
def test_a_chain_that_hardly_ever_leaves_its_halves_keeps_its_digits(size):
    """Two rings, left once in 10^15 and 2 10^15 steps: solving equations in floats gives any shares
    at all.
    """
    arrows, rare = [], {0: Fraction(1, 10**15), 1: Fraction(2, 10**15)}
    for half in (0, 1):
        for place in range(size):
            away = rare[half] if place == 0 else Fraction(0)
            arrows.append(((half, place), "on", (half, (place + 1) % size), 1 - away))
            if away:
                arrows.append(((half, place), "over", (1 - half, 0), away))
    shares = stationary(known.generator(*arrows))
    names = known.generator(*arrows).states
    first = sum(share for share, name in zip(shares, names, strict=True) if name.startswith("(0"))
    assert first == pytest.approx(2 / 3, abs=1e-9)


def test_exact_shares_are_fractions():
    assert sorted(exact_stationary(minimised(known.random_random_xor()).machine).values()) == [
        Fraction(1, 6)
    ] * 4 + [Fraction(1, 3)]
    assert exact_stationary(known.even(THREE)) == {0: Fraction(10, 13), 1: Fraction(3, 13)}


def test_topological_complexity_counts_states():
    assert topological(known.period(5)) == pytest.approx(math.log2(5))
