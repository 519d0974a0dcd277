"""The smallest machine, the unifilar one, and equality: against plain definitions, on machines
drawn at random.
"""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import known_machines as known
from known_machines import HALF
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.machines.beliefs import unifilar
from quickstudy.machines.chains import exact_stationary, stationary
from quickstudy.machines.files import describe
from quickstudy.machines.minimal import behaviour_classes, equivalent, minimised
from quickstudy.machines.transducer import Transducer, joined

CHANCES = (Fraction(1, 3), HALF)


@st.composite
def machines(draw, inputs=2, most=7):
    """Unifilar ones with two outputs, or one where the chance is 1."""
    size = draw(st.integers(1, most))
    arrows = []
    for state in range(size):
        for symbol in range(inputs):
            chance = draw(st.sampled_from([*CHANCES, Fraction(1)]))
            targets = [draw(st.integers(0, size - 1)) for _ in range(2)]
            arrows.append((state, symbol, "x", targets[0], chance))
            if chance != 1:
                arrows.append((state, symbol, "y", targets[1], 1 - chance))
    return Transducer.of(arrows, states=range(size))


def by_definition(machine):
    """Classes by rounds: begun as one, parted until nothing changes."""
    rows = [{} for _ in machine.states]
    for source, symbol, shown, target, chance in machine.edges.tolist():
        rows[source][symbol, shown] = (chance, target)
    classes = [0] * machine.size
    while True:
        names: dict = {}
        finer = [
            names.setdefault(
                (classes[s], tuple(sorted((k, c, classes[t]) for k, (c, t) in row.items()))),
                len(names),
            )
            for s, row in enumerate(rows)
        ]
        if len(names) == len(set(classes)):
            return finer
        classes = finer


@settings(max_examples=150, deadline=None)
@given(machines())
def test_classes_are_those_of_the_definition(machine):
    assert behaviour_classes(machine).tolist() == by_definition(machine)


@settings(max_examples=60, deadline=None)
@given(machines(), st.integers(0, 10**6))
def test_copies_of_states_change_nothing(machine, seed):
    """Every state twice, each edge into either copy: the smallest machine is the same."""
    rng = np.random.default_rng(seed)
    arrows = [
        ((one.source, copy), one.input, one.output, (one.target, int(rng.integers(2))), one.chance)
        for one in machine.arrows()
        for copy in (0, 1)
    ]
    doubled = Transducer.of(arrows)
    assert minimised(doubled).machine.size == minimised(machine).machine.size
    assert equivalent(doubled, machine)
    assert minimised(minimised(machine).machine).machine.size == minimised(machine).machine.size


def test_a_machine_is_not_one_that_does_something_else():
    assert not equivalent(known.golden_mean(), known.even())
    assert not equivalent(known.golden_mean(), known.golden_mean(Fraction(3, 10)))
    assert equivalent(known.parity({0: Fraction(1)}), known.parity({0: Fraction(1)}))
    assert not equivalent(known.parity({0: Fraction(1)}), known.parity({1: Fraction(1)}))
    assert not equivalent(known.delay(), known.golden_mean())
    assert joined(known.even(), known.golden_mean()).size == 4


def test_a_hundred_thousand_states_take_seconds():
    size, rng = 100_000, np.random.default_rng(0)
    targets = rng.integers(1000, size=(1000, 2)) + 1000 * rng.integers(
        size // 1000, size=(size // 1000, 1000, 2)
    )
    edges = np.zeros((2 * size, 5), dtype=np.int64)
    edges[:, 0], edges[:, 2] = np.repeat(np.arange(size), 2), np.tile([0, 1], size)
    edges[:, 3] = targets.reshape(size, 2).ravel()
    edges[:, 4] = np.repeat(
        np.tile(np.arange(1000) == 0, size // 1000), 2
    )  # one state in a thousand is another
    edges[1::2, 4] = np.where(edges[1::2, 4] == 1, 2, 0)
    machine = Transducer(
        tuple(map(str, range(size))),
        (None,),
        ("x", "y"),
        edges,
        (HALF, *CHANCES[:1], Fraction(2, 3)),
    )
    minimised(known.even())  # compiled by now
    began = time.process_time()
    assert minimised(machine).machine.size <= 1000
    ring = Transducer.of(
        [(place, None, int(place == 0), (place + 1) % size, Fraction(1)) for place in range(size)]
    )
    assert minimised(ring).machine.size == size
    assert time.process_time() - began < 20


def test_a_machine_that_is_not_unifilar_becomes_one():
    # The even process with its first state in two, of which one is taken by chance.
    q = Fraction(1, 4)
    split = known.generator(
        ("A", 0, "A", q),
        ("A", 0, "a", q),
        ("A", 1, "B", HALF),
        ("a", 0, "A", q),
        ("a", 0, "a", q),
        ("a", 1, "B", HALF),
        ("B", 1, "A", Fraction(1, 3)),
        ("B", 1, "a", Fraction(2, 3)),
    )
    assert not split.unifilar
    with pytest.raises(UsageError, match="unifilar"):
        minimised(split)
    found = describe(split)
    assert equivalent(found.machine, known.even())
    assert not found.was_unifilar


def test_hidden_states_are_told_apart_only_by_what_can_be_seen():
    """C has the mean of the futures of A and B. From S on both are equally likely, and more and
    more of that is C: the beliefs never come back, but what can be seen of them is always the same.
    """
    q = Fraction(1, 3)
    machine = known.generator(
        ("S", "s", "A", HALF),
        ("S", "s", "B", HALF),
        ("A", "u", "A", q / 2),
        ("A", "u", "C", q / 2),
        ("A", "a", "S", 1 - q),
        ("B", "u", "B", q / 2),
        ("B", "u", "C", q / 2),
        ("B", "b", "S", 1 - q),
        ("C", "u", "C", q),
        ("C", "a", "S", (1 - q) / 2),
        ("C", "b", "S", (1 - q) / 2),
    )
    mean = [("M", "u", "M", q), ("M", "a", "S", (1 - q) / 2), ("M", "b", "S", (1 - q) / 2)]
    assert equivalent(describe(machine).machine, known.generator(("S", "s", "M", 1), *mean))


def test_beliefs_without_end_are_said_to_be():
    simple = known.generator(
        ("A", 1, "A", HALF), ("A", 1, "B", HALF), ("B", 1, "B", HALF), ("B", 0, "A", HALF)
    )
    with pytest.raises(NotApplicable, match="300 beliefs are not all"):
        unifilar(simple, [(exact_stationary(simple), Fraction(1))], most=300)
    with pytest.raises(UsageError, match="no finite epsilon-machine was found"):
        describe(simple)


@settings(max_examples=40, deadline=None)
@given(machines(inputs=1, most=4), st.integers(0, 10**6))
def test_beliefs_show_what_the_hidden_machine_shows(machine, seed):
    """The chance of any word is the same, by hidden states and by beliefs."""
    rng = np.random.default_rng(seed)
    start = {state: Fraction(1, machine.size) for state in range(machine.size)}
    try:
        made = unifilar(machine, [(start, Fraction(1))], most=100).machine
    except NotApplicable:  # who does not know where it began may never know
        reject()
    for _ in range(5):
        word = [("x", "y")[one] for one in rng.integers(2, size=4)]
        assert chance_of(made, {made.start[0][0]: Fraction(1)}, word) == chance_of(
            machine, start, word
        )


def chance_of(machine, start, word):
    for symbol in word:
        later: dict = {}
        for source, _, shown, target, chance in machine.edges.tolist():
            if source in start and machine.outputs[shown] == symbol:
                later[target] = (
                    later.get(target, Fraction(0)) + start[source] * machine.chances[chance]
                )
        start = later
    return sum(start.values(), Fraction(0))


def test_chances_must_sum_to_one():
    with pytest.raises(UsageError, match=r'out of state "A" sum to 0\.5, not to 1'):
        known.generator(("A", 0, "A", HALF))
    with pytest.raises(UsageError, match="must not be below 0"):
        known.generator(("A", 0, "A", Fraction(3, 2)), ("A", 1, "A", -HALF))
    with pytest.raises(UsageError, match="got none"):
        Transducer.of([])
    with pytest.raises(UsageError, match='start "C" is not a state'):
        known.parity({"C": Fraction(1)})


def test_states_that_are_left_for_ever_are_said():
    found = describe(
        known.generator(
            ("T", 0, "A", 1),
            *((o.source, o.output, o.target, o.chance) for o in known.even().arrows()),
        )
    )
    assert (found.machine.size, found.transient) == (2, ("T",))
    assert stationary(found.machine).sum() == pytest.approx(1)
