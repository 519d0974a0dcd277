"""How the dynamics family examines and scores."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.learner import Pace
from quickstudy.base.parameters import configure, parameters_of
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace
from quickstudy.jax_gateway import device_kind
from quickstudy.learners.host import Hosted
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.errors import nmse
from quickstudy.protocols.dynamics import DynamicsProtocol
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting


def make(id, **given):
    return configure(f"dynamics/{id}", registries.task.get(f"dynamics/{id}"), given)


def examined(task, learner, lanes=1, **protocol):
    streams = [Streams(0, task.id, repetition) for repetition in range(lanes)]
    chosen = choose_learner(learner, "corrected", task, "reals").make(task)
    return DynamicsProtocol(**protocol).examine(task, chosen, streams).traces


def scores(trace):
    found = [registries.measure.get(name)(trace) for name in DynamicsProtocol.measures]
    return {name: value for part in found for name, value in part.items()}


def test_errors_by_hand():
    target = np.array([[0.0, 10], [2, 10], [4, 40]])
    answer = np.array([[0.0, 10], [2, 10], [1, 40]])
    found = scores(Trace("predictions", {"answer": answer, "target": target}))
    assert found["mse"] == pytest.approx(1.5)
    assert found["nmse"] == pytest.approx(9 / (8 + 600))
    assert found["nrmse"] == pytest.approx(np.sqrt(9 / 608))
    assert (found["dimension-nrmse-1"], found["dimension-nrmse-2"]) == (
        pytest.approx(np.sqrt(9 / 8)),
        0,
    )
    assert nmse(np.full((3, 2), target.mean(axis=0)), target) == 1
    still = scores(Trace("predictions", {"answer": answer[:, :1], "target": np.ones((3, 1))}))
    assert "nrmse" not in still
    assert still["mse"] > 0


@pytest.mark.parametrize(
    ("deviation", "mse", "nrmse"), [(0.1, 0.009, 1.0), (1, 0.81, 1.0), (2, 3.7, 1.02)]
)
def test_table_8(deviation, mse, nrmse):
    """Constant 0 against 100 Gaussian numbers: the error of one scale says nothing on another, the
    NRMSE does.
    """
    target = np.random.default_rng(0).normal(0, deviation, (100, 1))
    found = scores(Trace("predictions", {"answer": 0 * target, "target": target}))
    assert found["mse"] == pytest.approx(mse, rel=0.4)
    assert found["nrmse"] == pytest.approx(nrmse, abs=0.03)


def test_symbols_by_hand():
    target = np.array([[-3.0], [-1], [1], [3]])
    trace = Trace(
        "predictions",
        {"answer": np.array([[-9], [-2.1], [0.1], [1.9]]), "target": target},
        {"levels": [-3, -1, 1, 3]},
    )
    assert scores(trace)["symbol-error-rate"] == 0.5
    many = Trace(
        "predictions",
        {"answer": np.tile(target, (250, 1)), "target": np.tile(target, (250, 1))},
        {"levels": [-3, -1, 1, 3]},
    )
    assert scores(many)["symbol-error-bound"] == pytest.approx(3 / 1000, rel=0.01)


def test_free_runs_by_hand():
    """Two starts: one leaves at step 100, one never; the error at 84 is that of step 84 alone."""
    target = np.ones((2, 130, 1))
    answer = target.copy()
    answer[0, 100:] = 1.5
    answer[1, 83] = 1.2
    series = np.array([[1.0], [-1.0]] * 50)
    facts = {"interval": 0.5, "lyapunov": 0.1}
    found = scores(
        Trace(
            "predictions",
            {"answer": series, "target": series, "free_answer": answer, "free_target": target},
            facts,
        )
    )
    assert found["nrmse-84"] == pytest.approx(np.sqrt(0.04 / 2))
    assert found["nrmse-120"] == pytest.approx(np.sqrt(0.25 / 2))
    assert found["valid-duration"] == pytest.approx(0.5 * (100 + 130) / 2)
    assert found["valid-time"] == pytest.approx(0.1 * 0.5 * (100 + 130) / 2)
    assert found["still-valid"] == 0.5


@pytest.mark.parametrize(("id", "most"), [("mso-2", 1e-9), ("mso-5", 1e-5), ("mso-8", 1e-3)])
def test_linear_rule_solves_oscillators(id, most):
    trace = examined(make(id), "linear")[0]
    assert trace.arrays["answer"].shape == (300, 1)
    assert scores(trace)["nrmse"] < most
    assert scores(examined(make(id), "persistence")[0])["nrmse"] > 0.5


def test_rules_of_driven_systems():
    """Against figures that were measured elsewhere; the oracle is exact but for its ninth
    decimal.
    """
    task = make("narma-10")
    found = {
        rule: np.mean([scores(one(task, rule, n))["nrmse"] for n in range(8)]) for rule in RULES
    }
    assert found["persistence"] == pytest.approx(0.88, abs=0.06)
    assert found["linear"] == pytest.approx(0.401, abs=0.04)
    assert found["mean"] == pytest.approx(1, abs=0.01)
    assert found["exact-state"] < 1e-7


RULES = ("mean", "persistence", "linear", "exact-state")


def one(task, rule, repetition):
    learner = choose_learner(rule, "corrected", task, "reals").make(task)
    return DynamicsProtocol().examine(task, learner, [Streams(0, task.id, repetition)]).traces[0]


def test_channel_rules():
    """The slicer and eleven taps make as many errors as was measured elsewhere."""
    for id, slicer, linear in (("channel-12", 0.202, 0.086), ("channel-20", 0.116, 0.0051)):
        task = make(id, test=20_000)
        assert scores(one(task, "slicer", 0))["symbol-error-rate"] == pytest.approx(
            slicer, rel=0.06
        )
        assert scores(one(task, "linear", 0))["symbol-error-rate"] == pytest.approx(
            linear, rel=0.25
        )


def test_training_lengths():
    """Every length learns from the beginning of the training part and from nothing else."""
    task = make("narma-10", validation=0)
    trace = examined(task, "linear", lengths=4)[0]
    assert trace.arrays["lengths"].tolist() == [250, 500, 1000, 2000]
    short = examined(make("narma-10", validation=0), "linear")[0]
    assert trace.arrays["answer"] == pytest.approx(short.arrays["answer"], abs=1e-9)
    series = task.drive(Streams(0, task.id, 0).numpy("data"))
    rule = registries.control.get("linear")(
        task, type("B", (), {"inputs": task.inputs, "outputs": task.outputs}), 0
    )
    first = series.part("training")
    targets = np.where(np.arange(first.steps)[:, None] < 200, np.nan, first.targets[:, 0])[:450]
    rule.learn(first.inputs[:450, 0], targets)
    assert trace.arrays["answers"][0] == pytest.approx(
        rule.predict(series.inputs)[-1000:], abs=1e-9
    )
    found = scores(trace)
    assert found["nrmse-after-250"] > found["nrmse-after-2000"]
    assert found["saturation-length"] in (250, 500, 1000, 2000)


class Steady:
    """A host without steps of its own: repeats what it reads, and counts how often it is asked."""

    pace = Pace()
    asked = 0

    def __init__(self, brief, seed):
        pass

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        type(self).asked += 1
        return inputs


def test_hosts_without_steps_run_free():
    from quickstudy.learners.host import Hosted

    task = make("mackey-glass-17", free=20, starts=3)
    trace = DynamicsProtocol().examine(task, Hosted(Steady), [Streams(0, task.id, 0)]).traces[0]
    rule = examined(task, "persistence")[0]
    assert (trace.arrays["free_answer"] == rule.arrays["free_answer"]).all()
    assert Steady.asked < 100


def test_reservoir_runs_free_as_it_answers():
    """The first answer of a free run is the answer of the driven test at that place; lanes have
    series of their own.
    """
    task = make("mackey-glass-17", free=30, starts=4, training=600, washout=200, test=200)
    traces = examined(task, "esn:units=30", lanes=2)
    for trace in traces:
        free, driven = trace.arrays["free_answer"], trace.arrays["answer"]
        assert free.shape == (4, 30, 1)
        assert free[0, 0] == pytest.approx(driven[0], abs=1e-4)
        assert free[3, 0] == pytest.approx(driven[170], abs=1e-4)
        assert json.dumps(dict(trace.facts))
    assert traces[0].arrays["target"][0] != traces[1].arrays["target"][0]


def test_gradient_learners_are_shown_windows():
    trace = examined(make("narma-2", training=200, test=50, validation=0), "gru:units=4")[0]
    assert trace.arrays["answer"].shape == (50, 1)


@pytest.mark.skipif(
    device_kind() != "cpu", reason="side by side on an accelerator, last digits depend on the lanes"
)
@pytest.mark.parametrize(
    "name", ["esn:units=30", "esn:units=20,precision=float64", "esn:units=20,state_noise=0.01"]
)
def test_runs_in_one_call_have_every_bit_that_they_have_alone(name):
    """Data, weights, harvest, choice of the ridge on the validation part, answers: on a CPU lanes
    go one by one.
    """
    task = make("narma-10", washout=60, training=300, validation=80, test=90)
    learner = choose_learner(name, "corrected", task, "reals").make(task)
    streams = [Streams(0, task.id, repetition) for repetition in range(4)]
    together = DynamicsProtocol(lengths=2).examine(task, learner, streams).traces
    for trace, stream in zip(together, streams, strict=True):
        (alone,) = DynamicsProtocol(lengths=2).examine(task, learner, [stream]).traces
        assert set(trace.arrays) == set(alone.arrays)
        for found in alone.arrays:
            np.testing.assert_array_equal(trace.arrays[found], alone.arrays[found])
    assert len({trace.arrays["answer"].tobytes() for trace in together}) == 4


def scores_of(
    learner: str, task: str = "dynamics/lorenz-63:starts=3", convention: str = "corrected"
) -> Any:
    (found,) = examine(Setting(task, learner, convention, 0, {}), [0])
    assert found.record.status == "ok", found.record.reason
    return {
        name: value
        for entry in found.record.scores.values()
        for name, value in entry["values"].items()
    }


def test_the_strength_of_a_free_run_is_chosen_by_free_runs():
    by_free_runs, by_one_step = (
        scores_of(f"ngrc:free_strength={choice}") for choice in ("free", "driven")
    )
    assert by_free_runs["valid-time"] > 4 * by_one_step["valid-time"]
    assert by_free_runs["nrmse"] == by_one_step["nrmse"]  # the readout that answers is the same
    assert scores_of("ngrc") == by_free_runs
    assert scores_of("ngrc", convention="published") == by_one_step


def test_only_tasks_with_free_runs_change_the_identity_of_a_ridge_readout():
    def what(task: str, convention: str = "corrected") -> Any:
        return Setting(task, "esn", convention, 0, {}).resolve().learner

    assert what("dynamics/lorenz-63").what["parameters"]["free_strength"] == "free"
    assert what("dynamics/lorenz-63").label == "esn"
    for task in ("dynamics/narma-10", "dynamics/henon-noisy", "dynamics/lorenz-63:free=0"):
        assert "free_strength" not in what(task).what["parameters"]
    assert "free_strength" not in what("dynamics/lorenz-63", "published").what["parameters"]


class Last:
    """Says what it read last; it has no step of its own."""

    def __init__(self, brief: Any, seed: int) -> None:
        pass

    def learn(self, inputs: Any, targets: Any) -> None:
        pass

    def predict(self, inputs: Any) -> Any:
        return inputs


def test_free_runs_by_prefixes_are_announced(capsys):
    task = make("lorenz-63", starts="1", free="900")
    DynamicsProtocol().examine(task, Hosted(Last), [Streams(0, task.id, 0)])
    said = capsys.readouterr().err
    assert "free runs of Last read 1,304,550 steps, since it has no step of its own" in said
    assert said.endswith("or take dynamics/lorenz-63:free=0\n")


def test_a_tighter_tolerance_moves_a_flow_a_little():
    loose, tight = (
        make("lorenz-63", method="dop853", **given) for given in ({}, {"tolerance": "1e-13"})
    )
    start = np.array([1.0, 1.0, 20.0])
    apart = np.abs(loose.flow(start, 500) - tight.flow(start, 500)).max()
    assert 0 < apart < 1e-3
    assert "tolerance" not in parameters_of(loose)
