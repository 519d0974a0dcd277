"""Cores with a memory, against the published form in NumPy: dense matrices for the moves, one step
at a time.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from quickstudy.base.spaces import Tokens
from quickstudy.cores.stack_lstm import BabyNTM, StackLSTM
from quickstudy.jax_gateway import jnp

ROWS = 12


def moves(rows):
    """The five moves of the tape as matrices."""
    up = np.eye(rows, k=1)
    around_up, around_down = up.copy(), up.T.copy()
    around_up[-1, 0] = around_down[0, -1] = 1
    return [around_up, around_down, np.eye(rows), up.T, up]


def softmax(values):
    weights = np.exp(values - values.max())
    return weights / weights.sum()


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def weights(core):
    parts = (
        core.read,
        core.act,
        core.new,
        core.controller.inputs.weights,
        core.controller.recurrent,
    )
    return *(np.asarray(part, np.float64) for part in parts), np.asarray(
        core.controller.bias, np.float64
    ).sum(axis=0)


def by_hand(core, xs, step):
    """Features of one sequence, by a function from (drive, state) to state."""
    read, act, new, inputs, recurrent, bias = weights(core)
    hidden, cell, memory = np.zeros(core.width), np.zeros(core.width), np.zeros((ROWS, core.cell))
    said = []
    for x in xs:
        mixed = hidden + memory[0] @ read[:-1] + read[-1]
        hidden, cell = step(inputs[x] + mixed @ recurrent + bias, cell)
        actions, row = softmax(hidden @ act[:-1] + act[-1]), sigmoid(hidden @ new[:-1] + new[-1])
        if len(actions) == 5:
            memory = (
                sum(share * move for share, move in zip(actions, moves(ROWS), strict=True)) @ memory
            )
            memory[0] += row
        else:
            pushed, popped = (
                np.vstack([row, memory[:-1]]),
                np.vstack([memory[1:], np.zeros(core.cell)]),
            )
            rest = actions[2] * memory if len(actions) == 3 else 0
            memory = actions[0] * pushed + actions[1] * popped + rest
        said.append(hidden)
    return np.array(said)


def lstm(drive, cell):
    i, f, g, o = np.split(drive, 4)
    cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(cell), cell


def tanh(drive, cell):
    return np.tanh(drive), cell


@pytest.mark.parametrize(
    ("spec", "step"),
    [
        (StackLSTM(rows=ROWS), lstm),
        (StackLSTM(rows=ROWS, resting=True), lstm),
        (BabyNTM(rows=ROWS), tanh),
    ],
)
def test_features_are_those_of_the_published_form(spec, step):
    """Over more steps than there are rows, so that the ends of the memory are met."""
    core = spec.build(Tokens(4), np.random.default_rng(0))
    xs = np.random.default_rng(1).integers(4, size=(30, 1))
    features = np.asarray(core.unroll(core.start(1, 30), jnp.asarray(xs))[1])[:, 0]
    assert features == pytest.approx(by_hand(core, xs[:, 0], step), abs=2e-5)


@pytest.mark.parametrize("spec", [StackLSTM, BabyNTM])
def test_a_memory_can_be_enlarged_and_a_small_one_overflows(spec):
    xs = jnp.asarray(np.random.default_rng(1).integers(3, size=(20, 2)))

    def features(rows, capacity):
        core = spec(rows=rows).build(Tokens(3), np.random.default_rng(0))
        return np.asarray(core.unroll(core.start(2, capacity), xs)[1])

    endless = features(None, 20)
    assert features(None, 100) == pytest.approx(endless, abs=1e-6)
    assert features(60, 20) == pytest.approx(endless, abs=1e-6)
    assert np.array_equal(features(None, 20), features(400, 20))
    assert np.abs(features(2, 20) - endless).max() > 1e-4


@pytest.mark.parametrize("rows", [None, 11])
@pytest.mark.parametrize("spec", [StackLSTM, functools.partial(StackLSTM, resting=True), BabyNTM])
def test_a_memory_has_only_the_rows_that_were_reached_and_may_come_back(spec, rows):
    """A tape of 11 rows comes around in 48 steps; with as many rows as there are steps nothing
    does.
    """
    rng = np.random.default_rng(3)
    core, total, piece = spec(units=3, cell=2, rows=rows).build(Tokens(3), rng), 48, 4
    xs, rooms = rng.integers(3, size=(total, 2)), []
    wanted = core.unroll(core.start(2, total), xs)[1]
    state, said = core.start(2, total), []
    for place in range(0, total, piece):
        rooms.append(core.room(min(place + piece, total - place), total))
        state, features = core.unroll(core.resized(state, rooms[-1]), xs[place : place + piece])
        said.append(features)
    np.testing.assert_allclose(np.concatenate(said), wanted, rtol=1e-6)
    assert rooms[0] < max(rooms) > rooms[-1]
    assert state[1].shape == (2, rooms[-1] * core.cell)
    assert max(rooms) == (rows if rows else core.rows_for(total) - (spec is not BabyNTM))


@pytest.mark.parametrize("rows", [16, 21, 47])
@pytest.mark.parametrize("spec", [StackLSTM, functools.partial(StackLSTM, resting=True), BabyNTM])
def test_rows_far_from_the_ends_are_moved_once_for_several_steps(spec, rows):
    """On a memory that is full of anything: both ends are met, and every row is where all steps
    would have put it.
    """
    rng, steps = np.random.default_rng(4), 2
    core = spec(units=3, cell=2, rows=rows).build(Tokens(3), rng)
    inner, memory = core.start(5, rows)
    state = inner, jnp.asarray(rng.normal(size=(5, 2 * rows)), memory.dtype)
    xs = rng.integers(3, size=(3 * steps, 5))
    wanted, features = core.unroll(state, xs)
    for place in range(0, 3 * steps, steps):
        near, said = core.unroll(core.near(state, steps), xs[place : place + steps])
        np.testing.assert_allclose(said, features[place : place + steps], rtol=1e-5)
        assert near[1].shape == (5, 2 * 4 * steps)
        state = core.caught_up(state, near)
    np.testing.assert_allclose(state[1], wanted[1], rtol=1e-4, atol=1e-6)
    assert core.near(state, rows) is None  # nothing is saved
    assert core.near(core.start(5, rows), steps) is None
