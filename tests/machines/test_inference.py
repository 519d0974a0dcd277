"""Machines from data: sizes and numbers of processes that are known, and data that say nothing."""

from __future__ import annotations

import numpy as np
import pytest

import known_machines as known
from quickstudy.base.errors import UsageError
from quickstudy.machines.entropies import complexity, entropy_rate
from quickstudy.machines.inference import reconstructed
from quickstudy.machines.minimal import equivalent, minimised

PROCESSES = {
    "coin": known.coin(known.Fraction(7, 10)),
    "golden mean": known.golden_mean(),
    "even": known.even(),
    "even 0.3": known.even(known.Fraction(3, 10)),
    "alternating": known.alternating(),
    "sticky": known.sticky(),
    "period 3": known.period(3),
    "period 5": known.period(5),
}


@pytest.mark.parametrize("history", [3, 5])
@pytest.mark.parametrize("name", PROCESSES)
def test_ten_thousand_symbols_are_enough(name, history):
    """With histories too short for the longest period, what is found is at least no smaller."""
    machine = minimised(PROCESSES[name]).machine
    found = reconstructed(known.drawn(machine, 10_000, seed=3), history=history)
    if name == "period 5" and history == 3:
        assert 1 < found.size < 5
        return
    figures = found.figures()
    assert figures["states"] == machine.size
    assert figures["statistical_complexity"] == pytest.approx(complexity(machine), abs=0.05)
    assert figures["entropy_rate"] == pytest.approx(entropy_rate(machine), abs=0.03)
    assert figures["unexplained"] == 0


def test_what_is_found_is_the_machine_up_to_its_chances():
    found = reconstructed(known.drawn(known.even(), 20_000), history=4).machine()
    words = {(one.output, one.source == one.target) for one in found.arrows()}
    assert words == {(0, True), (1, False)}
    assert {one.chance == 1 for one in found.arrows()} == {True, False}
    assert not equivalent(found, known.even())  # a half is never met exactly


def test_a_hard_one_needs_long_histories_and_much_data():
    machine = minimised(known.random_random_xor()).machine
    figures = reconstructed(known.drawn(machine, 100_000, seed=1), history=6).figures()
    assert figures["states"] == 5
    assert figures["statistical_complexity"] == pytest.approx(2.251629, abs=0.01)
    assert figures["entropy_rate"] == pytest.approx(2 / 3, abs=0.01)


def test_channels_are_told_by_inputs_and_outputs():
    inputs = ["01"[one] for one in np.random.default_rng(0).integers(2, size=10_000)]
    for machine, states in (
        (known.delay(), 2),
        (known.delay(2), 4),
        (minimised(known.parity()).machine, 2),
    ):
        given = inputs if machine.inputs == ("0", "1") else [int(one) for one in inputs]
        found = reconstructed(known.drawn(machine, len(given), inputs=given), given)
        assert found.size == states
        assert found.figures()["statistical_complexity"] == pytest.approx(
            complexity(machine), abs=0.01
        )
        assert found.figures()["entropy_rate"] == 0
        assert found.machine().size == states
    noisy = [
        int(one) ^ int(flip)
        for one, flip in zip(inputs, np.random.default_rng(1).random(10_000) < 0.1, strict=True)
    ]
    assert reconstructed(noisy, inputs).size == 1


def test_chance_finds_no_structure_more_often_than_its_level():
    rng = np.random.default_rng(5)
    sizes = [
        reconstructed(rng.integers(2, size=2000).tolist(), history=4, level=0.001).size
        for _ in range(30)
    ]
    assert sizes.count(1) >= 29


COINS = np.random.default_rng(0).integers(2, size=20_000).tolist()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outputs": [0, 1] * 50, "inputs": [0]}, "an input for every output, got 1 and 100"),
        ({"outputs": [0, 1] * 50, "level": 2.0}, "level must lie between 0 and 1, got 2"),
        ({"outputs": [0, 1] * 50, "history": 0}, "history must be at least 1"),
        ({"outputs": [0, 1] * 50, "history": 90}, "short enough for 2 symbols, got 90"),
        ({"outputs": [0, 1], "history": 3}, "2 symbols are too few for histories of 3"),
        (
            {"outputs": COINS, "history": 50},
            r"histories of 13 symbols come 2\.. times each.* at most 12, not 50",
        ),
    ],
)
def test_data_that_say_nothing_are_refused(given, said):
    with pytest.raises(UsageError, match=said):
        reconstructed(**given)


@pytest.mark.parametrize("seed", range(3))
def test_a_rare_symbol_tells_states_apart(seed):
    """A delay by one of an input that is 1 nine times in ten: two states, and nothing is left to
    chance.
    """
    given = (np.random.default_rng(seed).random(10_000) < 0.9).astype(int)
    found = reconstructed(np.roll(given, 1), given, history=1)
    figures = found.figures()
    assert len(found.machine().states) == 2
    assert figures["statistical_complexity"] == pytest.approx(0.469, abs=0.02)
    assert figures["entropy_rate"] == pytest.approx(0, abs=1e-3)


def test_symbols_that_never_come_again_are_no_obstacle():
    assert reconstructed("c" + "ab" * 100, history=1).figures()["entropy_rate"] == pytest.approx(
        0, abs=1e-6
    )
