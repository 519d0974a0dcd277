"""A network says the same whether symbols or single steps are asked for, whatever stands beside a string."""

import numpy as np
import pytest

from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.speaking import NetworkHost

NAMES = ("bliss-an-bn", "bliss-an-bn-cn", "bliss-an-bn-cn-2023", "bliss-an-bm-cnm", "bliss-dyck-1", "built-dyck-2")


def host(name, precision="float64"):
    network = Network.read(name)
    return NetworkHost(network.symbols, network.as_row(), network.symbols, precision), network.symbols


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_symbols_are_those_of_the_largest_scores(name, precision):
    own, symbols = host(name, precision)
    rng = np.random.default_rng(0)
    read = np.repeat(rng.integers(symbols, size=(12, 7)), rng.integers(1, 9, 12), axis=0).astype(np.int8)
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
    """Up to five and down to three, or up to three: of all that a counter holds, only the count matters."""
    own, _ = host("bliss-an-bn")
    nothing = own.start(1, 99)

    def behind(symbols):
        return own.unroll(nothing, np.array(symbols)[:, None])[0]

    up, down, other = behind([0, 1, 1, 1, 1, 2]), behind([0, 1, 1, 1, 1, 1, 2, 2]), behind([0, 1, 1, 1, 2])
    assert own.fingerprint(up) == own.fingerprint(down) != own.fingerprint(other)
    assert own.fingerprint(nothing) not in {own.fingerprint(behind([0])), own.fingerprint(up)}
