from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.cores import topologies
from quickstudy.cores.esn import EchoState
from quickstudy.cores.topologies import joined, smallest, sparse_weights, spectral_radius
from quickstudy.jax_gateway import jax


def dense(sources, strengths):
    """The recurrent matrix that the groups of a core, or of a draw, stand for."""
    units = sum(group.shape[1] for group in sources)
    matrix, first = np.zeros((units, units)), 0
    for source, strength in zip(sources, strengths, strict=True):
        rows = first + np.arange(source.shape[1])
        np.add.at(
            matrix,
            (np.broadcast_to(rows, source.shape), np.asarray(source)),
            np.asarray(strength, float),
        )
        first += source.shape[1]
    return matrix


def matrix_of(core):
    return dense(core.sources, core.strengths)


@pytest.fixture(scope="module")
def large():
    """300 units with 10 terms each on average, and what was drawn for them."""
    return dense(*zip(*sparse_weights(300, 10 / 300, np.random.default_rng(1)), strict=True))


def test_entries_are_as_many_as_a_coin_for_each_pair_would_give(large):
    """3000 expected, with a standard deviation of 54."""
    assert abs(np.count_nonzero(large) - 3000) < 4 * np.sqrt(300 * 300 * (1 / 30) * (29 / 30))


def test_entries_are_spread_evenly_over_rows_and_columns(large):
    columns = np.count_nonzero(large, axis=0)
    assert abs(columns.mean() - 10) < 1
    assert columns.std() == pytest.approx(np.sqrt(10 * 29 / 30), rel=0.2)
    rows = np.count_nonzero(large, axis=1)
    assert rows.std() == pytest.approx(np.sqrt(10 * 29 / 30), rel=0.2)
    assert (np.diff(rows) <= 0).all()


def test_entries_are_uniform_between_minus_one_and_one(large):
    values = large[large != 0]
    assert np.abs(values).max() < 1
    counts = np.histogram(values, bins=10, range=(-1, 1))[0]
    expected = len(values) / 10
    assert (
        (counts - expected) ** 2 / expected
    ).sum() < 33.7  # chi-square with 9 degrees of freedom, p = 0.0001


def test_the_radius_of_what_the_paper_draws():
    """Independent entries of variance v give a radius near the square root of v times the units:
    1.83 here.
    """
    drawn = sparse_weights(600, 10 / 600, np.random.default_rng(0))
    assert spectral_radius(drawn) == pytest.approx(np.sqrt(10 / 3), rel=0.06)


@pytest.mark.parametrize("units", [40, 260, 300])
def test_the_radius_is_that_of_the_dense_matrix(units):
    for seed in range(12):
        drawn = sparse_weights(units, 10 / units, np.random.default_rng(seed))
        expected = np.abs(np.linalg.eigvals(dense(*zip(*drawn, strict=True)))).max()
        assert spectral_radius(drawn) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("topology", ["random", "lattice"])
@pytest.mark.parametrize("units", [60, 100, 200])
def test_the_radius_is_found_without_all_eigenvalues_to_rounding(topology, units, monkeypatch):
    """So well that the weights, in float32, are those that all eigenvalues give."""
    for seed in range(6):
        scaled = joined(topology, units, 10, 0.9, np.random.default_rng(seed))
        with monkeypatch.context() as slow:
            slow.setattr(topologies, "_largest", lambda matrix: None)
            others = joined(topology, units, 10, 0.9, np.random.default_rng(seed))
        for (_, found), (_, wanted) in zip(scaled, others, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-13)
            np.testing.assert_array_equal(np.float32(found), np.float32(wanted))


def test_a_radius_that_is_not_found_so_is_found_by_all_eigenvalues():
    """Thirty products do not set two hundred eigenvalues on one circle apart; without a loop there
    is none to find.
    """
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(200, 200)))[0]
    assert topologies._largest(turned / np.linalg.norm(turned)) is None
    assert topologies._radius_of(3 * turned) == pytest.approx(3, rel=1e-12)
    assert topologies._radius_of(np.eye(200, k=1)) == 0
    assert topologies._radius_of(np.zeros((100, 100))) == 0


def test_the_radius_can_be_chosen():
    core = EchoState(units=80, radius=0.9).build(Tokens(3), np.random.default_rng(0))
    assert np.abs(np.linalg.eigvals(matrix_of(core))).max() == pytest.approx(0.9, rel=1e-5)


def test_a_network_without_loops_has_no_radius_to_choose():
    rng = np.random.default_rng(1)  # draws no loop for these three units
    with pytest.raises(UsageError, match=r"joined in no loop.*radius 0\.9"):
        EchoState(units=3, terms=0.5, radius=0.9).build(Tokens(2), rng)
    with pytest.raises(UsageError, match=r"joined in no loop.*radius 0\.9"):
        EchoState(units=201, terms=1e-6, radius=0.9).build(Tokens(2), rng)


@pytest.mark.parametrize("units", [1, 2, 5, 63, 64, 100, 200])
def test_all_draws_have_the_same_shapes(units):
    """So seeds share one compiled program, and stand side by side in lanes."""
    rng = np.random.default_rng(0)
    shapes = {
        tuple(s.shape for s, _ in sparse_weights(units, min(1.0, 10 / units), rng))
        for _ in range(200)
    }
    assert len(shapes) == 1


def test_few_units_are_joined_to_all():
    core = EchoState(units=6).build(Tokens(2), np.random.default_rng(0))
    assert np.count_nonzero(matrix_of(core)) == 36


def test_the_smallest_in_order():
    assert smallest(np.array([[0.5, 0.1, 0.9, 0.3], [0.1, 0.2, 0.3, 0.0]]), 3).tolist() == [
        [1, 3, 0],
        [3, 0, 1],
    ]
    assert smallest(np.array([[0.5, 0.1]]), 2).tolist() == [[1, 0]]


@pytest.mark.parametrize("units", [3, 100, 2048, 2100])
def test_the_smallest_are_those_of_sorting(units):
    values = np.random.default_rng(0).random((7, units))
    values[:, ::3] = values[:, :1]  # equal ones by their place
    count = min(20, units)
    assert np.array_equal(
        smallest(values, count), np.argsort(values, axis=1, kind="stable")[:, :count]
    )


@pytest.mark.parametrize("highest", [0.001, 50.0])  # all below the bound; hardly any below it
def test_of_many_they_are_so_whatever_the_bound(highest):
    values = np.random.default_rng(0).random((7, 2100)) * highest
    assert np.array_equal(smallest(values, 20), np.argsort(values, axis=1)[:, :20])


def test_scales_of_inputs_and_bias():
    spec = EchoState(units=400, input_scale=0.5, bias_scale=2.0)
    core = spec.build(Tokens(10), np.random.default_rng(0))
    weights, bias = np.asarray(core.inputs.weights), np.asarray(core.bias)
    assert np.abs(weights).max() <= 0.5
    assert weights.std() == pytest.approx(0.5 / np.sqrt(3), rel=0.05)
    # The sum of two numbers uniform in +- s has variance 2 s^2 / 3.
    assert np.abs(bias).max() <= 2 * 2.0 / 20
    assert bias.std() == pytest.approx(np.sqrt(2 / 3) * 2.0 / 20, rel=0.1)


def test_an_update_by_hand():
    """r <- (1 - leak) r + leak tanh(W r + W_in x + b), in float64 NumPy."""
    core = EchoState(units=9, leak=0.3, terms=4).build(Tokens(4), np.random.default_rng(5))
    recurrent, inputs, bias = (
        matrix_of(core),
        np.asarray(core.inputs.weights, float),
        np.asarray(core.bias, float),
    )
    tokens = np.random.default_rng(0).integers(4, size=(6, 2))
    _, features = core.unroll(core.start(2, 6), tokens)
    states = np.zeros((2, 9))
    for step in range(6):
        for example in range(2):
            drive = recurrent @ states[example] + inputs[tokens[step, example]] + bias
            states[example] = 0.7 * states[example] + 0.3 * np.tanh(drive)
        np.testing.assert_allclose(np.asarray(features[step]), states, atol=2e-6)


@pytest.mark.parametrize("units", [40, 90])
def test_groups_of_units_add_up_to_the_whole_matrix(units):
    core = EchoState(units=units).build(Reals(2), np.random.default_rng(3))
    state = np.random.default_rng(0).uniform(-1, 1, (units, 3)).astype(np.float32)
    x = np.random.default_rng(1).normal(size=(3, 2)).astype(np.float32)
    found = core.step(state, x)[1]
    drive = (
        matrix_of(core) @ state
        + (x @ np.asarray(core.inputs.weights)).T
        + np.asarray(core.bias)[:, None]
    )
    np.testing.assert_allclose(np.asarray(found), np.tanh(drive).T, atol=3e-6)


def test_fields_are_read_side_by_side():
    space = Fields({"word": Tokens(3), "level": Reals(2), "flags": Bits(2)})
    core = EchoState(units=7).build(space, np.random.default_rng(0))
    weights = np.asarray(core.inputs.weights)
    assert weights.shape == (7, 7)
    word, level, flags = (
        np.array([2, 0]),
        np.array([[0.5, -1.0], [0.0, 2.0]]),
        np.array([[1, 0], [1, 1]]),
    )
    flat = np.concatenate([np.eye(3)[word], level, flags], axis=1)
    found = core.inputs({"word": word, "level": level, "flags": flags})
    np.testing.assert_allclose(np.asarray(found), flat @ weights, atol=1e-6)


def test_nothing_is_trained():
    core = EchoState(units=5).build(Tokens(2), np.random.default_rng(0))
    assert not any(jax.tree.leaves(core.trainable()))


@pytest.mark.parametrize(
    ("given", "precision"),
    [
        ({}, "float32"),
        ({"leak": 0.3, "late": True}, "float64"),
        ({"direct": True}, "float64"),
        ({"topology": "ring"}, "float64"),
    ],
)
def test_one_stream_by_the_whole_matrix_is_the_scan_of_steps(given, precision):
    from quickstudy.cores.core import Core
    from quickstudy.jax_gateway import double

    inputs = np.random.default_rng(1).uniform(-1, 1, (30, 1, 2))
    with double():
        core = EchoState(**{"units": 40, "radius": 0.9, "precision": precision, **given}).build(
            Reals(2), np.random.default_rng(0)
        )
        ours, plain = (
            way(core, core.start(1, 30), inputs.astype(precision))
            for way in (type(core).unroll, Core.unroll)
        )
        tolerance = 1e-13 if precision == "float64" else 1e-5
        for one, other in zip(ours, plain, strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), atol=tolerance)


def test_the_matrix_is_what_the_terms_say():
    core = EchoState(units=30, terms=4, radius=0.7).build(Reals(1), np.random.default_rng(0))
    matrix = np.asarray(core.matrix(), np.float64)
    assert np.abs(np.linalg.eigvals(matrix)).max() == pytest.approx(0.7, rel=1e-5)
    state = np.random.default_rng(1).normal(size=(30, 1)).astype(np.float32)
    after, _ = core.step(state, np.zeros((1, 1), np.float32))
    np.testing.assert_allclose(
        np.asarray(after), np.tanh(matrix @ state + np.asarray(core.bias)[:, None]), atol=1e-5
    )


def test_many_terms_are_added_in_parts_with_the_same_sum(monkeypatch):
    core = EchoState(units=20, terms=14, radius=0.9).build(Reals(1), np.random.default_rng(0))
    state = jax.numpy.asarray(np.random.default_rng(1).normal(size=(20, 3)), np.float32)
    whole, _ = core.step(state, np.zeros((3, 1), np.float32))
    monkeypatch.setattr("quickstudy.cores.esn.TERMS", 4)
    parts, _ = core.step(state, np.zeros((3, 1), np.float32))
    np.testing.assert_allclose(np.asarray(parts), np.asarray(whole), atol=1e-6)
