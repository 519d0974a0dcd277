"""A network says the same whether symbols or single steps are asked for, whatever stands beside a
string.
"""

import json

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.errors import UsageError
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.speaking import NetworkHost

NAMES = (
    "bliss-an-bn",
    "bliss-an-bn-cn",
    "bliss-an-bn-cn-2023",
    "bliss-an-bm-cnm",
    "bliss-dyck-1",
    "built-dyck-2",
)


def host(name, precision="float64"):
    network = Network.read(name)
    return NetworkHost(network, network.symbols, precision), network.symbols


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_symbols_are_those_of_the_largest_scores(name, precision):
    own, symbols = host(name, precision)
    rng = np.random.default_rng(0)
    read = np.repeat(rng.integers(symbols, size=(12, 7)), rng.integers(1, 9, 12), axis=0).astype(
        np.int8
    )
    targets, counts = rng.integers(symbols, size=read.shape), rng.random(read.shape) < 0.5
    _, scores = own.unroll(own.start(7, 99), read)
    wanted = scores.argmax(axis=-1)
    state, cut = own.start(7, 99), len(read) // 2
    state, first, some = own.judged(state, read[:cut], targets[:cut], counts[:cut])
    state, then, more = own.judged(state, read[cut:], targets[cut:], counts[cut:])
    assert np.array_equal(np.concatenate([first, then]), wanted)
    assert (some + more).tolist() == ((wanted != targets) & counts).sum(axis=0).tolist()
    _, next_said = own.unroll(own.rows(state, np.array([3, 3, 0])), read[:5, [3, 3, 0]])
    _, all_said = own.unroll(own.start(7, 99), np.concatenate([read, read[:5]]))
    assert np.array_equal(next_said, all_said[-5:, [3, 3, 0]])


def test_states_are_told_apart_by_what_reaches_over_a_step():
    """Up to five and down to three, or up to three: of all that a counter holds, only the count
    matters.
    """
    own, _ = host("bliss-an-bn")
    nothing = own.start(1, 99)

    def behind(symbols):
        return own.unroll(nothing, np.array(symbols)[:, None])[0]

    up, down, other = (
        behind([0, 1, 1, 1, 1, 2]),
        behind([0, 1, 1, 1, 1, 1, 2, 2]),
        behind([0, 1, 1, 1, 2]),
    )
    assert own.fingerprint(up) == own.fingerprint(down) != own.fingerprint(other)
    assert own.fingerprint(nothing) not in {own.fingerprint(behind([0])), own.fingerprint(up)}


SINGLE = {
    "n_inputs": 3,
    "n_outputs": 1,
    "n_units": 5,
    "activations": ["linear", "linear", "linear", "linear", "linear"],
    "unit_types": ["sum"] * 5,
    "biases": [[3, -1, 1, 3]],
    "forward": [[1, 4, 1, 1, 3], [2, 4, -1, 1, 2], [4, 3, 1, 1, 1]],
    "recurrent": [[4, 4, 1, 1, 1]],
}


def test_a_single_output_is_the_chance_of_the_second_answer():
    """A counter goes up by a third with each a, down by a half with each b; the output is a third
    less.
    """
    network = Network.from_facts(SINGLE)
    assert Network.from_facts(network.as_facts()) == network
    wide = network.spread()
    own = NetworkHost(wide, network.answers)
    read = np.array([0, 1, 1, 1, 2, 1, 1, 1, 1, 1, 2, 2, 2, 2])
    counter = np.cumsum(np.select([read == 1, read == 2], [1 / 3, -1 / 2], 0.0))
    chance = np.clip(counter - 1 / 3, 0.0, 1.0)
    assert {0.0, 1.0} < set(chance)
    assert own.predict(read) == pytest.approx(np.stack([1 - chance, chance], axis=1))
    # What it costs is itself, not the form in which it is computed: 5 units, 4 edges, 1 bias.
    targets = np.where(chance > 0.5, 1, 0)
    tree = Tree.of([(read.tolist(), targets.tolist())], wide.symbols)
    described, data = network.all_bits(tree, ["linear", "relu", "tanh"])
    assert (
        described
        == network.bits(["linear", "relu", "tanh"])
        < wide.bits(["linear", "relu", "tanh"])
    )
    assert data == pytest.approx(-np.log2(np.where(targets == 1, chance, 1 - chance)).sum())


def test_a_single_output_answers_where_there_are_two_answers(tmp_path):
    path = tmp_path / "single.json"
    path.write_text(json.dumps(SINGLE))
    found = qs.run(
        ["grammar/an-bn:setup=accept", "grammar/an-bn"],
        f"network:file={path}",
        seeds=1,
        out=tmp_path / "out",
        protocol={"order": 1, "factors": (1,)},
        controls=False,
    )
    status = {
        record.what["task"]["parameters"]["setup"]: (record.status, record.reason)
        for record in found.records
    }
    assert status["accept"][0] == "ok"
    assert status["next"][0] == "not-applicable"
    assert "single output" in status["next"][1]
    Network.from_facts(SINGLE).draw(tmp_path / "net.svg", "#ab")
    assert "<svg" in (tmp_path / "net.svg").read_text()
    with pytest.raises(UsageError, match="n_outputs must be n_inputs, or 1"):
        Network.from_facts({**SINGLE, "n_outputs": 2})
