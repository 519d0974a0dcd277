"""Multiplications of programs, against counts worked out by hand."""

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.jax_gateway import jax, jnp, lax
from quickstudy.learners.footprint import footprint
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.work import with_work, work_of


def step_of(name, inputs, **parameters):
    core = registries.core.get(name)(**parameters).build(inputs, np.random.default_rng(0))
    x = jnp.zeros(1, int) if isinstance(inputs, Tokens) else jnp.ones((1, inputs.width))
    return core, core.start(1, 8), x


@pytest.mark.parametrize(
    ("name", "blocks", "gated"), [("lstm", 4, 3), ("gru", 3, 3), ("rnn", 1, 0)]
)
def test_a_recurrent_step_has_the_products_of_its_equations(name, blocks, gated):
    h, i = 7, 3
    core, state, x = step_of(name, Reals(i), units=h)
    work = work_of(core.step, state, x)
    assert work.matrix == blocks * h * (h + i)
    assert work.macs == work.matrix + gated * h
    # A symbol picks a row of the input weights: nothing is multiplied for it.
    core, state, x = step_of(name, Tokens(5), units=h)
    assert work_of(core.step, state, x).matrix == blocks * h * h


def test_loops_branches_and_powers_count_what_they_repeat():
    a = np.ones((3, 4), np.float32)
    weights = np.ones((4, 4), np.float32)
    looped = work_of(lambda a: lax.fori_loop(0, 5, lambda _, x: x @ weights, a), a)
    assert (looped.macs, looped.matrix) == (5 * 3 * 4 * 4,) * 2
    branched = work_of(
        lambda a: lax.cond(a[0, 0] > 0, lambda x: x * 2, lambda x: x @ weights, a), a
    )
    assert branched.macs == 48  # of two branches the one with more
    assert work_of(lambda a: a**3, a).macs == 2 * 12
    assert work_of(lambda a: a.astype(int) * 2, a).macs == 0  # whole numbers are not MACs


def test_what_cannot_be_counted_is_named():
    assert work_of(jnp.fft.fft, np.ones(8)).unknown == {"a Fourier transform"}
    endless = work_of(
        lambda a: lax.while_loop(lambda x: x.sum() < 9, lambda x: x * 2.0, a), np.ones(3)
    )
    assert endless.unknown == {"a loop whose length depends on its values"}


def test_effective_products_have_two_factors_that_are_not_zero():
    left = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]], np.float32)
    right = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 5.0]], np.float32)

    def program(left, right):
        return jax.nn.relu(left - 1.0) @ right * jnp.array([0.0, 1.0])

    values, count = jax.jit(with_work(program))(left, right)
    assert np.array_equal(values, program(left, right))
    # relu(left - 1) is [[0, 0, 1], [0, 0, 2]]; its ones meet the row [0, 5]: 2 products. Of the 4
    # products by [0, 1], the first column has a factor 0: 2 are left.
    assert int(count) == 2 + 2


def test_effective_products_follow_loops_and_branches():
    def program(x):
        x = lax.while_loop(lambda x: x[0] < 8, lambda x: x * jnp.array([2.0, 0.0]), x)
        x, _ = lax.scan(lambda x, y: (x * y, None), x, jnp.array([1.0, 0.0, 1.0]))
        return lax.cond(x[0] > 0, lambda x: x * x * x, lambda x: x + 1, x)

    values, count = with_work(program)(jnp.array([1.0, 1.0]))
    assert values.tolist() == [1.0, 1.0]
    assert int(count) == 3 + 1  # 1, 2, 4 are doubled; then [8, 0] by 1, and nothing by 0


def test_a_sparse_reservoir_multiplies_less_than_its_program():
    core, state, x = step_of("esn", Reals(2), units=40, terms=4.0)
    ones = jax.tree.map(jnp.ones_like, state)
    _, count = jax.jit(with_work(core.step))(ones, x)
    recurrent = int(np.count_nonzero(np.asarray(core.matrix())))
    # Inputs, then the part of the state that is renewed: all of it, so that the old part has a
    # factor 0.
    assert int(count) == recurrent + 2 * 40 + 40
    assert int(count) < work_of(core.step, state, x).macs


def begun(name, brief, asked):
    learner = choose_learner(name, "corrected", None, asked).make(None)
    return learner.begin(brief, [Streams(0, "test", 0)])


def test_a_learner_is_measured_with_its_head_on_its_own_sequences():
    brief = Brief(Tokens(5), Tokens(3), "cross-entropy", 12, 100)
    pupil = begun("lstm:units=7", brief, "symbols")
    found = footprint(pupil, brief, [np.array([0, 1, 2, 3])])
    assert found.known["state_bytes"] == 2 * 7 * 4
    assert found.known["matrix_macs"] == 4 * 7 * 7 + 7 * 3
    assert found.known["macs"] == found.known["matrix_macs"] + 3 * 7
    # Nothing is remembered at the first of four steps: no product with h, and none with c.
    less = (4 * 7 * 7 + 7) / 4
    assert found.known["effective_macs"] == found.known["macs"] - less
    assert found.unknown == {}


def test_memories_that_grow_are_measured_with_room_for_the_longest_sequence():
    sizes = [
        footprint(begun("transformer", brief, "symbols"), brief).known["state_bytes"]
        for brief in (Brief(Tokens(5), Tokens(3), "cross-entropy", n, 100) for n in (16, 64))
    ]
    assert sizes[1] > 3 * sizes[0]


def test_a_number_in_double_precision_takes_eight_bytes():
    brief = Brief(Reals(1), Reals(1), "squared", 12, 100)
    found = footprint(begun("lstm:units=4,precision=float64", brief, "reals"), brief)
    assert found.known["state_bytes"] == 2 * 4 * 8
    assert found.known["matrix_macs"] == 4 * 4 * 5 + 4
    assert "effective_macs" in found.unknown


class Reader:
    """Remembers the last two symbols, and gives the older."""

    def __init__(self, brief, seed):
        self.outputs = brief.outputs.size

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        return np.zeros((len(inputs), self.outputs))

    def start(self, rows, capacity):
        return np.zeros((rows, 2), np.int16)

    def step(self, state, inputs):
        return np.stack([state[:, 1], inputs], axis=1).astype(np.int16), np.zeros(
            (len(state), self.outputs)
        )

    def rows(self, state, numbers):
        return state[numbers]


def test_a_host_shows_its_state_and_not_its_arithmetic():
    from quickstudy.learners.host import Hosted

    brief = Brief(Tokens(5), Tokens(3), "cross-entropy", 12, 100)
    pupil = Hosted(Reader).begin(brief, [Streams(0, "test", 0)])
    found = footprint(pupil, brief, [np.array([0, 1])])
    assert found.known == {"state_bytes": 4}
    assert set(found.unknown) == {"macs", "matrix_macs", "effective_macs"}
    assert "plain Python" in found.unknown["macs"]


def test_a_measurement_that_fails_gives_its_reason():
    class Broken(Reader):
        def start(self, rows, capacity):
            raise ValueError("no state today")

    from quickstudy.learners.host import Hosted

    brief = Brief(Tokens(5), Tokens(3), "cross-entropy", 12, 100)
    pupil = Hosted(Broken).begin(brief, [Streams(0, "test", 0)])
    found = footprint(pupil, brief, [np.array([0, 1])])
    assert found.known == {}
    assert "no state today" in found.unknown["state_bytes"]
