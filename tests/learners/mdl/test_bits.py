"""Networks in bits: the released ones, and those built by hand, on the released strings."""

import dataclasses
import json
import pathlib
from fractions import Fraction

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.genes import description_bits, integer_bits
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.speaking import NetworkHost

FOUR = ["linear", "relu", "sigmoid", "tanh"]
EXTENDED = ["sigmoid", "linear", "relu", "square", "step", "floor", "mod2", "mod3"]
FACTS = {
    "bliss-an-bn": ("an-bn", FOUR, 178, (309.477, 761.351, 1538.636, 3040.527)),
    "bliss-an-bm-cnm": ("an-bm-cnm", FOUR, 252, (614.022, 1533.171, 3022.536, 5972.797)),
    "bliss-dyck-1": ("dyck-1", FOUR, 145, (222.749, 576.767, 1164.591, 2435.205)),
    "bliss-an-bn-cn": ("an-bn-cn", FOUR, 256, (285.395, 750.713, 1483.966, 2952.944)),
    "bliss-an-bn-cn-2023": ("an-bn-cn", FOUR, 386, (285.445, 755.941, 1492.029, 2967.030)),
    "built-an-bn": ("an-bn", FOUR, 169, (463.0,)),
    "built-dyck-2": ("dyck-2", EXTENDED, 483, (298.6040, None, None, 3289.7498)),
}
"""Of each network its language, the activations allowed, |H|, and |D:H| on 100, 250, 500 and 1,000
released strings.
"""


def tree_of(language, size):
    examples = registries.task.get(f"grammar/{language}")().released(100, size)
    strings = [
        (examples.inputs[:length, number].tolist(), examples.targets[:length, number].tolist())
        for number, length in enumerate(examples.lengths)
    ]
    return Tree.of(strings, int(examples.inputs.max()) + 1)


@pytest.mark.parametrize("name", FACTS)
def test_bits_are_those_of_the_original(name):
    language, activations, description, data = FACTS[name]
    network = Network.read(name)
    for size, bits in zip((100, 250, 500, 1000), data, strict=False):
        if bits is not None:
            found = network.all_bits(tree_of(language, size), activations)
            assert found[0] == description == network.bits(activations)
            assert found[1] == pytest.approx(bits, abs=0.0006)


def test_a_tree_is_as_small_as_its_strings_allow():
    tree = tree_of("an-bn", 100)
    assert len(tree.read) == 121
    assert tree.counts.sum() == 826


def test_what_is_impossible_costs_infinitely_much():
    assert Network.read("bliss-an-bn").all_bits(Tree.of([([0, 2], [2, 0])], 3), FOUR)[1] == np.inf


def test_whole_numbers_and_weights_in_bits():
    assert [integer_bits(number) for number in (0, 1, 2, 3, 4, 8)] == [1, 3, 5, 5, 7, 9]
    facts = Network.read("bliss-an-bn").as_facts()
    wider = {**facts, "biases": [[4, 1, 6, 2]]}  # the same value as 3, in more bits
    assert Network.from_facts(wider).bits(FOUR) == 178 + (7 + 5) - (5 + 3)


@pytest.mark.parametrize("name", FACTS)
def test_a_network_comes_back_from_its_row_and_from_its_file(name, tmp_path):
    network = Network.read(name)
    path = tmp_path / "net.json"
    path.write_text(json.dumps(network.as_facts()))
    assert Network.read(path) == network == Network.of_row(network.as_row(), network.symbols)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"forward": [[0, 9, 1, 1, 1]]},
            "forward edge [0, 9, 1, 1, 1]: there is no unit 9, only 0 to 6",
        ),
        ({"forward": [[6, 6, 1, 1, 1]]}, "forward edges make a cycle: 6 to 6"),
        (
            {"forward": [[6, 5, 1, 1, 1], [5, 6, 1, 1, 1]]},
            "forward edges make a cycle: 5 to 6 to 5",
        ),
        # A cycle is what is said, even where an edge of it is there twice.
        (
            {"forward": [[6, 5, 1, 1, 1], [5, 6, 1, 1, 1], [6, 5, 1, 2, 1]]},
            "make a cycle: 5 to 6 to 5",
        ),
        ({"forward": [[6, 5, 1, 1, 1]] * 2}, "forward edge 6 to 5 is there twice"),
        ({"recurrent": [[6, 6, 1, 1, 0]]}, "a denominator from 1"),
        ({"recurrent": [[6, 6, 1, 0, 1]]}, "a denominator from 1"),
        ({"recurrent": [[6, 6, 1, 1]]}, "recurrent edge must be 5 whole numbers, got [6, 6, 1, 1]"),
        ({"recurrent": [[6, 6, 1, 1, 1]] * 2}, "is there twice"),
        ({"activations": ["linear"] * 6}, "one for each of 7 units"),
        (
            {"activations": ["linear"] * 6 + ["reul"]},
            'unit 6: no such activation "reul"; did you mean "relu"',
        ),
        ({"unit_types": ["sum"] * 6 + ["max"]}, 'no such unit type "max"'),
        ({"biases": [[7, 1, 1, 1]]}, "there is no unit 7"),
        ({"biases": [[6, 1, 1, 1], [6, 1, 2, 1]]}, "bias of unit 6 is there twice"),
        ({"n_outputs": 2}, "n_outputs must be n_inputs"),
        ({"n_units": 5}, "n_units must be from 6"),
    ],
)
def test_a_faulty_file_is_refused_with_the_reason(change, said):
    facts = {**Network.read("bliss-an-bn").as_facts(), **change}
    with pytest.raises(UsageError) as refused:
        Network.from_facts(facts, "net.json")
    assert said in str(refused.value)
    assert str(refused.value).startswith("net.json: ")


def test_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "net.json").write_text("[1, 2")
    with pytest.raises(UsageError, match=r"net\.json is not JSON: line 1"):
        Network.read(tmp_path / "net.json")
    for path in (tmp_path / "none.json", pathlib.Path("bliss-an-bm")):
        with pytest.raises(UsageError, match=r"no file .*a network is a JSON file"):
            Network.read(path)
    with pytest.raises(UsageError, match="expected an object"):
        Network.from_facts([1])


@pytest.mark.parametrize("name", FACTS)
def test_a_network_written_out_is_as_long_as_it_costs(name):
    _, activations, description, _ = FACTS[name]
    code = Network.read(name).code(activations)
    assert set(code) == {"0", "1"}
    assert (
        len(code) == description == description_bits(Network.read(name).as_row(), len(activations))
    )


def test_softmax_of_the_outputs():
    network, strings = Network.read("bliss-an-bn"), [([0, 1, 1, 2, 2], [1, 1, 2, 2, 0])]
    host = NetworkHost(network, 3, softmax=True)
    chances = host.predict(np.array(strings[0][0]))
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    values = [[0, 3, 0], [0, 3, np.tanh(1.5)]]  # of the outputs, by hand, behind # and a
    np.testing.assert_allclose(
        chances[:2], np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    )
    wanted = -np.log2(chances[np.arange(5), strings[0][1]]).sum()
    assert network.all_bits(Tree.of(strings, 3), FOUR, softmax=True) == (178, pytest.approx(wanted))
    assert (
        network.all_bits(Tree.of([([0, 2], [2, 0])], 3), FOUR, softmax=True)[1] < np.inf
    )  # nothing is impossible


def enlarged(units=0, edges=0, above=1):
    """The released network of a^n b^n with more units, with more edges among these, and with one
    weight that is `above` times what it was. None of the new units reaches an output.
    """
    facts = Network.read("bliss-an-bn").as_facts()
    own = facts["n_units"]
    facts["n_units"] += units
    facts["activations"] += ["linear"] * units
    facts["unit_types"] += ["sum"] * units
    facts["forward"] += [
        [own + edge // units, own + edge % units, 1, 1, 1]
        for edge in range(units * units)
        if edge // units < edge % units
    ][:edges]
    facts["forward"][0][3] *= above
    return facts


def test_large_networks_are_read_scored_and_asked():
    small, tree = Network.from_facts(enlarged()), tree_of("an-bn", 100)
    large = Network.from_facts(enlarged(1017, 3000))
    assert (large.units, len(large.edges)) == (1024, len(small.edges) + 3000)
    # 1,024 units and 10 bits a target; each new unit: edges, type, activation, no bias; each new
    # edge 1/1.
    outgoing = [sum(key[1] == unit for key in large.edges) for unit in range(7, 1024)]
    own = sum(integer_bits(number) + 1 + 2 + 1 + 2 for number in outgoing)
    wider = integer_bits(1024) - integer_bits(7) + len(small.edges) * (10 - 3)
    assert large.bits(FOUR) == 178 + wider + own + 3000 * (1 + 10 + 7)
    assert large.all_bits(tree, FOUR)[1] == small.all_bits(tree, FOUR)[1]
    read = np.array([0, 1, 1, 1, 2, 2])
    assert np.array_equal(NetworkHost(large, 3).predict(read), NetworkHost(small, 3).predict(read))
    with pytest.raises(UsageError, match="n_units must be from 6 to 1024, got 1025"):
        Network.from_facts(enlarged(1018))
    chain = {**large.as_facts(), "forward": [[unit, unit + 1, 1, 1, 1] for unit in range(6, 1023)]}
    assert Network.from_facts(chain).cycle() == []
    chain["forward"].append([1023, 6, 1, 1, 1])
    with pytest.raises(UsageError, match="make a cycle: 6 to 7 to 8"):
        Network.from_facts(chain)


@pytest.mark.parametrize("above", [2**31, 2**53 + 1, 10**400])
def test_weights_have_parts_of_any_size(above):
    small, facts = Network.from_facts(enlarged()), enlarged(above=above)
    source, target, *_ = facts["forward"][0]
    before = small.edges["forward", source, target][0]
    large = Network.from_facts(facts)
    assert large.bits(FOUR) == 178 + 2 * ((above * before).bit_length() - before.bit_length())
    # A fraction whose parts are huge is the one it is, 1/2 here.
    weights = {**small.edges, ("forward", 1, 6): (above, 2 * above)}
    same = dataclasses.replace(small, edges=weights)
    tree = tree_of("an-bn", 100)
    assert Fraction(*small.edges["forward", 1, 6]) == Fraction(1, 2)
    assert same.all_bits(tree, FOUR)[1] == small.all_bits(tree, FOUR)[1]


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_weights_that_no_float_holds_are_held_at_the_largest(precision):
    room, _ = Network.from_facts(enlarged(above=10**400)).laid_out(precision)
    assert np.isfinite(room.weight).all()
    assert abs(room.weight).max() == np.finfo(precision).max
