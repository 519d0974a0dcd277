"""NARMA-10 as one driven series, and a memory capacity for any learner that shows its states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from quickstudy.base.examples import Series
from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals
from quickstudy.base.task import SeriesTask
from quickstudy.cores.esn import EchoState
from quickstudy.cores.recurrent import LSTM
from quickstudy.learners.adam import Adam
from quickstudy.learners.core_with_training import Trained
from quickstudy.learners.online_readouts import RecursiveLeastSquares

ESN = Trained(
    EchoState(units=100, terms=4, radius=0.9, input_scale=0.5), RecursiveLeastSquares(ridge=1e-3)
)


@dataclass(frozen=True)
class Narma:
    """x(t+1) = 0.3 x(t) + 0.05 x(t) sum of the last 10 x + 1.5 u(t-9) u(t) + 0.1; the target after
    u(t) is x(t+1).
    """

    inputs: ClassVar[Reals] = Reals(1)
    outputs: ClassVar[Reals] = Reals(1)

    def drive(self, rng: np.random.Generator) -> Series:
        u, x = rng.uniform(0.0, 0.5, 1500), np.zeros(1501)
        for t in range(9, 1500):
            x[t + 1] = (
                0.3 * x[t] + 0.05 * x[t] * x[t - 9 : t + 1].sum() + 1.5 * u[t - 9] * u[t] + 0.1
            )
        return Series(u[:, None], x[1:, None], washout=200, training=900, validation=0, test=400)


def error(values: NDArray[Any], targets: NDArray[Any]) -> float:
    return float(np.sqrt(np.square(values - targets).mean() / np.var(targets)))


def memory_capacity(pupil: Any, rng: np.random.Generator, delays: int = 40) -> float:
    """Squared correlations, on the second half, of delayed inputs with what the states give by
    least squares.
    """
    drive = rng.uniform(-1.0, 1.0, 4200)
    states = np.asarray(pupil.states(drive[:, None, None]), dtype=np.float64)[0, 200:, 0]
    features = np.column_stack([states, np.ones(len(states))])
    delayed = np.column_stack([drive[200 - k : len(drive) - k] for k in range(1, delays + 1)])
    fitted = features[2000:] @ np.linalg.lstsq(features[:2000], delayed[:2000], rcond=1e-6)[0]
    return float(
        sum(np.corrcoef(a, b)[0, 1] ** 2 for a, b in zip(fitted.T, delayed[2000:].T, strict=True))
    )


@pytest.fixture(scope="module")
def series(streams: Streams) -> Series:
    task = Narma()
    assert isinstance(task, SeriesTask)
    return task.drive(streams.numpy("data"))


def test_a_reservoir_imitates_better_than_the_trivial_rules(
    series: Series, streams: Streams, taught: Any
) -> None:
    exam = Exam([series.part("test")])
    pupil = taught(ESN, Narma(), series.part("training"), streams)
    targets = exam.targets[0]
    persistence = error(series.targets[-401:-1], targets)
    assert error(np.full_like(targets, targets.mean()), targets) == pytest.approx(1.0)
    assert 0.7 < persistence < 1.1
    assert 0.05 < error(np.asarray(pupil.answer(exam))[0], targets) < 0.6 < persistence


def test_a_gradient_learner_takes_a_series_too(
    series: Series, streams: Streams, taught: Any
) -> None:
    exam = Exam([series.part("test")])
    whole = taught(
        Trained(LSTM(units=16), Adam(rate=0.02, batch=1, passes=3)),
        Narma(),
        series.part("training"),
        streams,
    )
    assert whole.cost()[0].updates == 3
    pupil = taught(
        Trained(LSTM(units=16), Adam(rate=0.02, passes=120)),
        Narma(),
        series.windows("training", 20, 20),
        streams,
    )
    assert error(np.asarray(pupil.answer(exam))[0], exam.targets[0]) < 0.65


@pytest.mark.parametrize(("learner", "units"), [(ESN, 100), (Trained(LSTM(units=16), Adam()), 16)])
def test_every_core_has_a_memory_capacity(learner: Any, units: int, streams: Streams) -> None:
    pupil = learner.begin(Brief(Reals(1), Reals(1), "squared", 1, 1), [streams])
    capacity = memory_capacity(pupil, streams.numpy("states"))
    assert 0.5 < capacity <= units
    assert capacity == memory_capacity(pupil, streams.numpy("states"))
