"""Every mutation makes a network of a network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.learners.mdl.genes import (
    EDGES,
    MOST_EDGES,
    MOST_UNITS,
    NAMES,
    TYPE,
    UNITS,
    WIDTH,
    Parts,
)
from quickstudy.learners.mdl.mutation import DRAWS, first_network, geometric, mutate
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.parallel_tempering import _accumulate, _reweigh, _rewire


def parts_of(symbols, names, products):
    return Parts(symbols, np.array([NAMES.index(name) for name in names], np.int32), products)


def assert_sound(row, parts):
    network = Network.of_row(row, parts.symbols)
    assert len(network.edges) == row[EDGES] <= MOST_EDGES, "an edge is there twice"
    assert 2 * parts.symbols <= network.units <= MOST_UNITS
    assert network.cycle() == []
    for _, source, target in network.edges:
        assert 0 <= source < network.units
        assert parts.symbols <= target < network.units, "an edge leads into an input"
        assert not parts.symbols <= source < 2 * parts.symbols, "an edge comes from an output"
    assert all(
        above and below > 0 for above, below in [*network.edges.values(), *network.biases.values()]
    )
    assert min(network.biases, default=parts.symbols) >= parts.symbols
    allowed = [NAMES[number] for number in parts.activations]
    assert set(network.activations[parts.symbols :]) <= set(allowed)
    assert set(network.activations[: parts.symbols]) == {"linear"}
    assert parts.products or not any(network.products)
    assert Network.from_facts(network.as_facts()) == network


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    symbols=st.integers(1, 5),
    names=st.sampled_from(
        [["linear"], ["linear", "relu", "tanh"], ["sigmoid", "relu", "step", "mod3"]]
    ),
    products=st.booleans(),
)
def test_a_network_stays_one(seed, symbols, names, products):
    parts, rng = parts_of(symbols, names, products), np.random.default_rng(seed)
    row = np.zeros(WIDTH, np.int32)
    first_network(row, parts, rng.random(5 * symbols))
    assert_sound(row, parts)
    for number in range(60):
        if number % 10 == 9 and symbols > 1:
            _accumulate(row, parts, rng.random(DRAWS))
        elif number % 10 == 4:
            _reweigh(row, symbols, rng.random(DRAWS))
        elif number % 3 == 0:
            edges = row[EDGES]
            _rewire(row, symbols, rng.random(DRAWS))
            assert row[EDGES] == edges
        else:
            mutate(row, parts, rng.random(DRAWS), 3)
        assert_sound(row, parts)


def test_a_full_network_goes_on_being_one():
    parts, rng = parts_of(3, ["linear", "relu"], True), np.random.default_rng(0)
    row = np.zeros(WIDTH, np.int32)
    first_network(row, parts, rng.random(15))
    for _ in range(200):  # the first of those that apply: a unit more
        mutate(row, parts, np.concatenate([[0.0], rng.random(DRAWS - 1)]), 0)
    assert row[UNITS] == MOST_UNITS
    for _ in range(2000):
        mutate(row, parts, rng.random(DRAWS), 3)
    assert_sound(row, parts)


def test_every_mutation_comes_up_and_is_what_it_says():
    parts, rng = parts_of(3, ["linear", "relu"], True), np.random.default_rng(1)
    start = Network.read("bliss-an-bn").as_row()
    seen = set()
    for _ in range(600):
        row = start.copy()
        mutate(row, parts, rng.random(DRAWS), 3)
        before, after = Network.of_row(start, 3), Network.of_row(row, 3)
        seen.add(
            (
                after.units - before.units,
                np.sign(len(after.edges) - len(before.edges)),
                len(after.biases) - len(before.biases),
                before.activations != after.activations,
                bool((row[TYPE : TYPE + 7] != start[TYPE : TYPE + 7]).any()),
            )
        )
    unit_more = {(1, 1, 0, True, False), (1, 1, 0, True, True)}
    others = {
        (0, 1, 0, False, False),
        (0, -1, 0, False, False),
        (0, 0, 1, False, False),
        (0, 0, -1, False, False),
        (0, 0, 0, True, False),
        (0, 0, 0, False, True),
        (0, 0, 0, False, False),
    }
    unit_less = {one for one in seen if one[0] == -1}
    assert unit_less
    assert seen - unit_less - {(1, 1, 0, True, False), (1, 1, 0, True, True)} == others
    assert seen & unit_more


def test_removing_a_unit_bridges_what_it_joined():
    facts = {
        "n_inputs": 1,
        "n_outputs": 1,
        "n_units": 4,
        "activations": ["linear"] * 4,
        "unit_types": ["sum"] * 4,
        "biases": [],
        "forward": [[0, 2, 1, 3, 1], [2, 1, 1, 1, 1]],
        "recurrent": [[2, 2, 1, 1, 1], [2, 3, -1, 1, 2]],
    }
    row = Network.from_facts(facts).as_row()
    draws = np.zeros(DRAWS)
    # Those that apply: unit more, unit less, connection more, ...: the second of seven; of two
    # hidden units the first.
    draws[0] = 1.5 / 7
    mutate(row, parts_of(1, ["linear"], False), draws, 0)
    after = Network.of_row(row, 1)
    assert after.units == 3  # the last takes the number of the one that is gone
    assert after.edges == {("forward", 0, 1): (3, 1), ("recurrent", 0, 2): (3, 1)}


@pytest.mark.parametrize(
    ("draw", "number"), [(0.99, 1), (0.51, 1), (0.5, 2), (0.26, 2), (0.25, 3), (0.0, 997)]
)
def test_numbers_of_random_weights_halve_in_chance(draw, number):
    assert geometric(draw) == number
