"""a^n b^n, a task from outside the package: learn short strings, be asked long ones, log an outcome
for every step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from quickstudy.base.exchange import Exam
from quickstudy.base.registry import Registry
from quickstudy.base.seeds import Streams
from quickstudy.base.task import ExampleTask
from quickstudy.base.trace import Trace
from quickstudy.cores.esn import EchoState
from quickstudy.cores.recurrent import LSTM
from quickstudy.learners.adam import Adam
from quickstudy.learners.core_with_training import Trained
from quickstudy.learners.host import Hosted
from quickstudy.learners.online_readouts import RecursiveLeastSquares


class AlwaysB:
    def __init__(self, brief: Any, seed: int) -> None: ...

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None: ...

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.full(len(inputs), 2)


class Counter(AlwaysB):
    """Counts a up and b down: `#` where the two have met."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.where((inputs == 2).cumsum() < (inputs == 1).cumsum(), 2, 0)


def outcomes(pupil: Any, exam: Exam) -> Trace:
    """Every question's string and whether it was answered right."""
    right = np.asarray(pupil.answer(exam)).argmax(axis=-1)[0] == exam.targets[0]
    return Trace(
        "string-outcomes",
        {"string": exam.positions[0, :, 1], "correct": right},
        cost=pupil.cost()[0],
    )


def strings_right(trace: Trace) -> NDArray[np.bool_]:
    steps, correct = np.bincount(trace.arrays["string"]), trace.arrays["correct"]
    return np.asarray(np.bincount(trace.arrays["string"], correct) == steps)


@pytest.fixture(scope="module")
def traces(counting: Any, streams: Streams, taught: Any) -> dict[str, Trace]:
    """Learners taught 100 strings, asked n = 1 .. 30."""
    examples, exam = (
        counting.sample(streams.numpy("data"), 100),
        Exam([counting.beyond(range(1, 31))]),
    )
    learners = {
        "esn": Trained(
            EchoState(units=150, terms=3, radius=0.9), RecursiveLeastSquares(ridge=1e-3)
        ),
        "lstm": Trained(LSTM(units=16), Adam(rate=0.02, batch=20, passes=60)),
        "always-b": Hosted(AlwaysB),
        "oracle": Hosted(Counter),
    }
    return {
        name: outcomes(taught(learner, counting, examples, streams), exam)
        for name, learner in learners.items()
    }


def test_the_rule_that_always_says_b_errs_once_a_string(traces: dict[str, Trace]) -> None:
    trace = traces["always-b"]
    assert len(trace.arrays["correct"]) == 30 * 31 // 2
    assert trace.arrays["correct"].sum() == 29 * 30 // 2
    assert not strings_right(trace).any()


def test_the_oracle_has_every_string_right(traces: dict[str, Trace]) -> None:
    assert strings_right(traces["oracle"]).all()


@pytest.mark.parametrize("name", ["esn", "lstm"])
def test_learners_count_as_far_as_their_data_and_not_for_ever(
    name: str, traces: dict[str, Trace]
) -> None:
    right = strings_right(traces[name])
    assert right[:4].all()
    assert not right.all()


def test_a_task_needs_no_place_in_the_package(counting: Any) -> None:
    tasks: Registry[Any] = Registry("task", lambda: iter(()))
    tasks("outside/counting", version=1, controls=["majority"], oracle="none is named here")(
        type(counting)
    )
    assert isinstance(tasks.get("outside/counting")(stop=0.5), ExampleTask)
    assert counting.beyond([2]).asked[:, 0].tolist() == [False, False, False, True, True]
