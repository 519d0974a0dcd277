"""LSTMs behind layers: against the equations written out, the published agents by their sizes, and
in a game.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.errors import NotApplicable
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.encoded_lstm import EncodedCore, EncodedLSTM
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.learner_spec import choose_learner

PAPER = {"layers": (512, 256, 256), "sight": (512, 256, 128), "upper": 128}
LATER = {"units": 512, "layers": (0,), "sight": (64, 32), "speech": (64, 32), "beside": (30, 31)}
PARTED: dict[str, Any] = {
    "units": 4,
    "layers": (6, 5),
    "sight": (4, 3, 3),
    "speech": (5, 2),
    "perceived": 2,
    "heard": 3,
    "upper": 3,
    "beside": (5, 7),
}


def numbers_in(core: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(core) if eqx.is_inexact_array(leaf))


def layers(*widths: int) -> int:
    """Weights and biases of layers, from the width of the input on."""
    return sum(first * second + second for first, second in itertools.pairwise(widths))


def lstm(inputs: int, units: int) -> int:
    """Four gates, each with two biases."""
    return 4 * units * (inputs + units + 2)


def test_the_agent_of_the_paper_has_its_sizes() -> None:
    """33 numbers are read of which three are a stimulus: 128 features of it and 30 others make
    158.
    """
    core = EncodedLSTM(**PAPER).build(Reals(33), np.random.default_rng(0))
    expected = (
        layers(3, 512, 256, 128) + layers(158, 512, 256, 256) + lstm(256, 256) + lstm(256, 128)
    )
    assert (core.width, numbers_in(core)) == (128, expected)


def test_the_later_agent_has_its_sizes() -> None:
    """33 numbers are read: of three stimulus and 21 message, 32 features each, and nine others go
    to the LSTM as they are; whether a decision is due stands beside its 512 units.
    """
    core = EncodedLSTM(**LATER).build(Reals(33), np.random.default_rng(0))
    expected = layers(3, 64, 32) + layers(21, 64, 32) + lstm(32 + 32 + 9, 512)
    assert (core.width, numbers_in(core)) == (513, expected)
    x = np.zeros((2, 33), np.float32)
    x[1, 30] = 1
    assert core.step(core.start(2, 1), jnp.asarray(x))[1][:, -1].tolist() == [0, 1]


def relu_through(encoder: Any, x: Any) -> Any:
    x = np.maximum(x @ np.asarray(encoder.read.weights) + np.asarray(encoder.bias), 0)
    for layer in (encoder.onward, *encoder.further):
        x = np.maximum(x @ np.asarray(layer.weights) + np.asarray(layer.bias), 0)
    return x


def lstm_step(weights: Any, layer: Any, state: Any, x: Any) -> Any:
    hidden, cell = state
    gates = (
        x @ np.asarray(weights)
        + hidden @ np.asarray(layer.recurrent)
        + np.asarray(layer.bias).sum(axis=0)
    )
    i, f, g, o = np.split(gates, 4)
    i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
    cell = f * cell + i * np.tanh(g)
    return o * np.tanh(cell), cell


def test_it_is_its_equations() -> None:
    rng = np.random.default_rng(2)
    core: Any = EncodedLSTM(**PARTED).build(Reals(7), rng)
    xs = rng.normal(size=(4, 7))
    given = np.asarray(core.unroll(core.start(1, 4), jnp.asarray(xs[:, None], jnp.float32))[1])[
        :, 0
    ]
    first, second = core.layers
    encoder, states = first.inputs.encoder, [(np.zeros(4),) * 2, (np.zeros(3),) * 2]
    for x, features in zip(xs, given, strict=True):
        joined = np.concatenate(
            [relu_through(encoder.sight, x[:2]), relu_through(encoder.speech, x[2:5]), x[5:]]
        )
        states[0] = lstm_step(
            first.inputs.weights, first, states[0], relu_through(encoder.onward, joined)
        )
        states[1] = lstm_step(second.inputs.weights, second, states[1], states[0][0])
        np.testing.assert_allclose(features, [*states[1][0], *x[5:]], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("space", [Reals(9), Tokens(9)])
@pytest.mark.parametrize("settings", [PARTED, {"units": 4, "hidden": 3, "features": 3, "upper": 2}])
def test_step_after_step_is_all_at_once(space: Any, settings: Any) -> None:
    """Written out for a GPU, too."""
    rng = np.random.default_rng(5)
    core = EncodedLSTM(**settings).build(space, rng)
    assert isinstance(core, EncodedCore)
    xs = (
        rng.integers(9, size=(5, 3))
        if isinstance(space, Tokens)
        else rng.normal(size=(5, 3, 9)).astype(np.float32)
    )
    state, steps = core.start(3, 5), []
    for x in xs:
        state, features = core.step(state, x)
        steps.append(features)
    for one in (core, replace(core, straight=True)):
        after, whole = one.unroll(one.start(3, 5), xs)
        np.testing.assert_allclose(whole, np.stack(steps), atol=1e-6)
        for found, expected in zip(jax.tree.leaves(after), jax.tree.leaves(state), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-6)


def test_what_cannot_be() -> None:
    for settings, said in (
        ({"sight": (64,)}, "sight must be two widths or more, such as 64/32, got 64"),
        ({"layers": (0,)}, "give sight too"),
        ({"speech": (4, 4)}, "give sight too"),
        ({"beside": (3,)}, "beside must be two places, such as 30/31, got 3"),
        ({"beside": (3, 3)}, "beside must be two places"),
    ):
        with pytest.raises(ValueError, match=said):
            EncodedLSTM(**settings)
    rng = np.random.default_rng(0)
    with pytest.raises(
        NotApplicable, match=r"perceived \+ heard must be at most the 7 numbers of an input, got 24"
    ):
        EncodedLSTM(sight=(4, 4), speech=(4, 4)).build(Reals(7), rng)
    with pytest.raises(NotApplicable, match="beside must end within the 7 numbers"):
        EncodedLSTM(beside=(30, 31)).build(Reals(7), rng)


def test_both_agents_are_named_with_any_training() -> None:
    """As the docstring names them."""
    sheet = " ".join((EncodedLSTM.__doc__ or "").split())
    for settings, text in (
        (PAPER, "layers=512/256/256,sight=512/256/128,upper=128"),
        (LATER, "units=512,layers=0,sight=64/32,speech=64/32,beside=30/31"),
    ):
        assert f"`{text}`" in sheet
        for name in ("encoded-lstm", "encoded-lstm+r2d2"):
            assert choose_learner(f"{name}:{text}", "corrected").make(None).core == EncodedLSTM(
                **settings
            )


def test_a_smaller_one_learns_a_game_from_answers(tmp_path: Any) -> None:
    """Every weight of it is trained."""
    learner = (
        "encoded-lstm:layers=0,sight=6/4,speech=6/4,beside=30/31,units=8,upper=4,batch=8,passes=1"
    )
    found = qs.run(
        "games/listener:most=2",
        learner,
        seeds=1,
        controls=False,
        workers=0,
        out=tmp_path / "results",
        protocol={"observations": 1000, "episodes": 8, "tests": 1, "lesson": 32},
    )
    (record,) = found.records
    assert record.status == "ok"
    assert (record.cost["fixed_parameters"], record.cost["updates"] > 0) == (0, True)
