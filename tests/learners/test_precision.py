"""The same weights in double precision: closer to the truth, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Keeping, Stepping, face
from quickstudy.base.parameters import parameters_of
from quickstudy.base.spaces import Reals
from quickstudy.cores.esn import EchoState
from quickstudy.jax_gateway import jnp
from quickstudy.learners.learner_spec import choose_learner


def pupil_of(name, world):
    train = world.examples(20)
    pupil = choose_learner(name, "corrected").make(None).begin(world.brief(train), world.streams())
    pupil.learn(world.lesson(train), 0, 16)
    return pupil


@pytest.mark.parametrize("name", ["esn:units=40,radius=0.9", "lstm:units=5", "esn+rls:units=20"])
def test_double_precision_is_the_same_learner_to_rounding(world, name):
    exam = Exam([world.examples(10, seed=1)])
    single, double = (
        pupil_of(f"{name},precision={kind}", world) for kind in ("float32", "float64")
    )
    assert (single.answer(exam).dtype, double.answer(exam).dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(double.answer(exam), single.answer(exam), atol=2e-4)
    states = [np.asarray(pupil.states(exam.examples[0].inputs)) for pupil in (single, double)]
    assert states[1].dtype == np.float64
    assert 0 < np.abs(states[0] - states[1]).max() < 1e-4
    assert double.cost() == single.cost()
    kept = face(double, Keeping).snapshot()
    again = pupil_of(f"{name},precision=float64", world)
    again.restore(kept)
    assert np.array_equal(again.answer(exam), double.answer(exam))
    _, scores = face(double, Stepping).step(double.start(2, 3), np.array([[1, 2]]))
    assert scores.dtype == np.float64
    assert jnp.zeros(1).dtype == np.float32  # nothing of it is left outside


def test_states_in_double_precision_are_those_of_numpy(world):
    spec = EchoState(units=12, terms=4, radius=0.9, precision="float64")
    core = EchoState(units=12, terms=4, radius=0.9).build(Reals(1), np.random.default_rng(0))
    matrix = np.zeros((12, 12))
    for sources, strengths in zip(
        core.sources, core.strengths, strict=True
    ):  # twelve units are one group
        np.add.at(
            matrix,
            (np.arange(12)[None].repeat(len(sources), 0), np.asarray(sources)),
            np.asarray(strengths),
        )
    drive = np.random.default_rng(1).uniform(-1, 1, 200)
    state, wanted = np.zeros(12), []
    for x in drive:
        outer = np.asarray(core.inputs.weights, float)[0] * x + np.asarray(core.bias, float)
        state = np.tanh(matrix @ state + outer)
        wanted.append(state)
    from quickstudy.jax_gateway import double

    with double():
        built = spec.build(Reals(1), np.random.default_rng(0))
        found = built.unroll(built.start(1, 200), jnp.asarray(drive)[:, None, None])[1][:, 0]
    np.testing.assert_allclose(np.asarray(found), wanted, atol=1e-13)


def test_single_precision_is_no_part_of_the_identity():
    assert "precision" not in parameters_of(EchoState())
    assert (
        choose_learner("esn:precision=float64", "corrected").what["parameters"]["precision"]
        == "float64"
    )
    assert choose_learner("esn:precision=float64", "corrected").label == "esn:precision=float64"
