"""The series and the error of NeuroBench's chaotic prediction."""

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.trace import Trace
from quickstudy.measures.smape import smape
from quickstudy.studies.neurobench_mackey_glass import _verdict
from quickstudy.tasks.dynamics.mackey_glass_neurobench import SETTINGS


def test_a_series_has_75_values_in_a_lyapunov_time_of_a_true_solution():
    task = registries.task.get("dynamics/mackey-glass-neurobench")()
    series = task.drive(np.random.default_rng(1))
    values = series.inputs[:, 0]
    assert len(values) == 1500
    assert series.training + series.washout == series.test == 750
    assert np.array_equal(series.inputs[1:], series.targets[:-1])
    # The equation, from central differences over values that are 197/75 apart, with the value of 17
    # time units ago between the grid: they are smooth enough for a tenth of the slope.
    from scipy.interpolate import CubicSpline

    step = SETTINGS[17][0] / 75
    spline = CubicSpline(np.arange(1500) * step, values)
    t = np.linspace(100, 3500, 500)
    late = spline(t - 17)
    slope = 0.2 * late / (1 + late**10) - 0.1 * spline(t)
    assert np.abs(spline(t, 1) - slope).max() < 0.1 * np.abs(slope).max()


def test_repetitions_begin_at_places_half_a_lyapunov_time_apart():
    task = registries.task.get("dynamics/mackey-glass-neurobench")()
    firsts = {task.drive(np.random.default_rng(seed)).facts["first"] for seed in range(12)}
    assert len(firsts) > 3
    assert all(first in {int(37.5 * place) for place in range(30)} for first in firsts)


def predictions(answer, target):
    shape = (1, len(answer), 1)
    arrays = {
        "free_answer": np.reshape(answer, shape).astype(float),
        "free_target": np.reshape(target, shape).astype(float),
    }
    return Trace("predictions", arrays, {})


@pytest.mark.parametrize(
    ("answer", "target", "error"),
    [([1, 2], [1, 2], 0.0), ([1, 0], [3, 0], 50.0), ([-1, 1], [1, 1], 100.0)],
)
def test_smape_by_hand(answer, target, error):
    # |1 - 3| / 4 is a half, 0 / 0 is 0: 200 times the mean of 0.5 and 0. Opposite signs: 2 / 2.
    assert smape(predictions(answer, target)) == {"smape": pytest.approx(error)}


def test_nothing_without_a_free_run():
    assert smape(Trace("predictions", {}, {})) == {}


def test_a_learner_is_below_the_target_by_its_whole_interval_and_its_multiplications():
    target = {"smape": 13.37, "macs": 4370}
    facts = {
        "wide": {"runs": 6, "smape": 5.0, "interval": (1.0, 14.0), "macs": 10.0},
        "large": {"runs": 6, "smape": 5.0, "interval": (4.0, 6.0), "macs": 5000.0},
        "unknown": {"runs": 6, "smape": 5.0, "interval": (4.0, 6.0), "macs": None},
        "once": {"runs": 6, "smape": 5.0, "interval": None, "macs": 10.0},
        "one failed": {"runs": 5, "smape": 5.0, "interval": (4.0, 6.0), "macs": 10.0},
    }
    assert _verdict(facts, target, 6).endswith("no learner.")
    facts["good"] = {"runs": 6, "smape": 9.0, "interval": (8.0, 10.0), "macs": 4370.0}
    assert _verdict(facts, target, 6).endswith(": good.")
