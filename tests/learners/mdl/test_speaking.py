"""A network says the same whether its states are computed or looked up, whatever stands beside a string."""

import numpy as np
import pytest

from quickstudy.learners.mdl import speaking
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.speaking import NetworkHost

NAMES = ("bliss-an-bn", "bliss-an-bn-cn", "bliss-an-bn-cn-2023", "bliss-an-bm-cnm", "bliss-dyck-1", "built-dyck-2")


def host(name, precision="float64"):
    network = Network.read(name)
    return NetworkHost(network.symbols, network.as_row(), network.symbols, precision), network.symbols


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_looking_up_is_as_good_as_computing(name, precision, monkeypatch):
    own, symbols = host(name, precision)
    rng = np.random.default_rng(0)
    read = np.repeat(rng.integers(symbols, size=(12, 7)), rng.integers(1, 9, 12), axis=0).astype(np.int8)
    targets, counts = rng.integers(symbols, size=read.shape), rng.random(read.shape) < 0.5
    _, scores = own.unroll(own.start(7, 99), read)
    wanted = scores.argmax(axis=-1)
    for enough in (speaking.ROOM, 3):  # known states throughout; and given up after three
        monkeypatch.setattr(speaking, "ROOM", enough)
        other, _ = host(name, precision)
        state, cut = other.start(7, 99), len(read) // 2
        state, first, some = other.judged(state, read[:cut], targets[:cut], counts[:cut])
        state, then, more = other.judged(state, read[cut:], targets[cut:], counts[cut:])
        assert np.array_equal(np.concatenate([first, then]), wanted)
        assert (some + more).tolist() == ((wanted != targets) & counts).sum(axis=0).tolist()
        _, next_said = other.unroll(other.rows(state, np.array([3, 3, 0])), read[:5, [3, 3, 0]])
        _, all_said = own.unroll(own.start(7, 99), np.concatenate([read, read[:5]]))
        assert np.array_equal(next_said, all_said[-5:, [3, 3, 0]])


def test_a_counter_that_comes_back_is_hardly_computed():
    own, _ = host("bliss-an-bn")
    n = np.arange(1, 200)
    read = np.array([[0] * 199, *([1 if t < k else 2 for k in n] for t in range(400))])[:400]
    counts = (np.arange(400)[:, None] > n) & (np.arange(400)[:, None] <= 2 * n)
    targets = np.where(np.arange(400)[:, None] == 2 * n, 0, 2)
    _, _, wrong = own.judged(own.start(199, 400), read, targets, counts)
    assert not wrong.any()
    assert own._states.count < 700


def test_what_is_read_step_by_step_leads_to_states_that_are_known():
    own, _ = host("bliss-an-bn")
    state = own.start(1, 400)
    for symbol in [0, *[1] * 90]:
        state, _ = own.step(state, np.array([symbol]))
    read = np.full((90, 5), 2)
    after, _, wrong = own.judged(
        own.rows(state, np.zeros(5, int)), read, np.where(read[:, :1].cumsum(0) < 180, 2, 0), read > 0
    )
    assert not wrong.any()
    before = own._states.count
    again, _, _ = own.judged(own.rows(state, np.zeros(5, int)), read, read, read > 0)
    assert own._states.count == before < 250
    assert own.same(after, again)
