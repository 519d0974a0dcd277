"""Faults that the tracer bullets found, each mended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Series
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.cores.esn import EchoState
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.features import Shape, harvest
from quickstudy.learners.host import HostPupil
from quickstudy.learners.lanes import named_arrays, stack_lanes, with_arrays
from quickstudy.learners.online_readouts import RecursiveLeastSquares


class Host:
    """Does what it is asked to, and knows how long its description is."""

    bits = 12.5

    def learn(self, inputs: Any, targets: Any) -> None: ...

    def predict(self, inputs: Any) -> Any:
        return inputs

    def act(self, observation: Any, reward: float, first: bool) -> int:
        return int(observation["message"]) + int(observation["role"][1])


def test_a_host_acts_on_fields() -> None:
    spaces = Fields({"message": Tokens(5), "role": Bits(2)}), Tokens(6)
    pupil: Any = HostPupil(Host(), Brief(*spaces, "reward", 1, 1))
    observation = {"message": np.array([3]), "role": np.array([[0, 1]])}
    assert pupil.act(observation, np.zeros(1, np.float32), np.ones(1, np.bool_)).tolist() == [4]


def test_a_host_has_a_description_length() -> None:
    assert (
        HostPupil(Host(), Brief(Tokens(2), Tokens(2), "cross-entropy", 1, 1)).cost()[0].bits == 12.5
    )


def test_a_random_key_can_be_kept_in_a_snapshot(streams: Streams) -> None:
    mind = stack_lanes([{"key": streams.jax("noise"), "weights": jnp.zeros(3)}])
    again = with_arrays(mind, named_arrays(mind))
    assert (jax.random.key_data(again["key"]) == jax.random.key_data(mind["key"])).all()


@pytest.fixture(scope="module")
def series(streams: Streams) -> Series:
    drive = streams.numpy("data").uniform(-1.0, 1.0, (1000, 1))
    delayed = np.roll(drive, 3, axis=0) * np.roll(drive, 1, axis=0)
    return Series(drive, delayed, washout=100, training=600, validation=0, test=300)


def test_a_series_costs_no_more_than_its_length(series: Series, streams: Streams) -> None:
    exam = Exam([series.part("training")])
    cores = stack_lanes([EchoState(units=20).build(Reals(1), streams.numpy("core"))])
    assert harvest(cores, exam, Shape.of(exam.examples, cores)).shape[1] <= 2 * 700


def test_a_ridge_that_float32_cannot_hold_is_refused() -> None:
    with pytest.raises(UsageError, match=r"ridge must be at least 0\.001"):
        configure("rls", RecursiveLeastSquares, {"ridge": 1e-6})


def test_least_squares_at_the_smallest_ridge_are_those_of_the_normal_equations(
    series: Series, streams: Streams
) -> None:
    brief = Brief(Reals(1), Reals(1), "squared", 1000, 1)
    core: Any = EchoState(units=50, terms=4, radius=0.9, input_scale=0.1)
    pupil = RecursiveLeastSquares(ridge=1e-3).begin(core, brief, [streams])
    pupil.learn(Lesson([series.part("training")], np.zeros((1, 1), np.int64)), 0, 1)
    states = np.asarray(pupil.states(series.inputs[:, None]), np.float64)[0, :, 0]
    features = np.column_stack([states, np.ones(1000)])
    moment = features[100:700].T @ features[100:700] + 1e-3 * np.eye(51)
    exact = features[700:] @ np.linalg.solve(moment, features[100:700].T @ series.targets[100:700])
    given = pupil.answer(Exam([series.part("test")]))[0]
    assert np.sqrt(np.square(given - exact).mean()) < 0.1 * exact.std()
