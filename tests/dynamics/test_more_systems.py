"""Maps, the double scroll, systems of one's own, channels of bits, the sleeper, speech, sequences
with a long gap.
"""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.climate import histogram_distance, spectrum_distance
from quickstudy.measures.errors import aligned
from quickstudy.protocols.dynamics import DynamicsProtocol
from quickstudy.protocols.long_memory import LongMemoryProtocol
from quickstudy.tasks.dynamics.apnea import stopped
from quickstudy.tasks.dynamics.blind import DELAYS
from quickstudy.tasks.dynamics.flow import Flow
from quickstudy.tasks.dynamics.gilpin import _found
from quickstudy.tasks.dynamics.speech import cochlea, spikes


def make(id, convention="corrected", **given):
    return configure(f"dynamics/{id}", registries.task.get(f"dynamics/{id}"), given, convention)


def drive(task, repetition=0):
    return task.drive(Streams(0, task.id, repetition).numpy("data"))


def scores(task, name, asked="reals", **protocol):
    learner = choose_learner(name, "corrected", task, asked).make(task)
    trace = DynamicsProtocol(**protocol).examine(task, learner, [Streams(0, task.id, 0)]).traces[0]
    found = [registries.measure.get(measure)(trace) for measure in DynamicsProtocol.measures]
    return {name: value for part in found for name, value in part.items()}


TABLE = {
    "narma-5-fujii": (0, 0.1753, 0.0144, 1.110),
    "narma-5": (0, 0.3133, 0.0938, 1.046),
    "narma-10": (0.009, 0.3886, 0.1089, 0.877),
    "narma-10-fujii": (0, 0.1902, 0.0148, 1.069),
    "narma-15-fujii": (0, 0.2129, 0.0156, 0.990),
    "narma-20": (0, 0.2028, 0.0936, 0.959),
    "narma-20-fujii": (0, 0.2643, 0.0192, 0.786),
    "narma-30": (0.0013, 0.1570, 0.0925, 1.074),
    "narma-30-dale": (0, 0.1207, 0.0847, 1.252),
}
"""Share of streams of 2,000 steps that diverge, and of the rest behind 200 values: mean, deviation,
persistence.
"""


@pytest.mark.parametrize("id", TABLE)
def test_narma_as_measured_elsewhere(id):
    task, (diverged, mean, deviation, persistence) = make(id), TABLE[id]
    rng = np.random.default_rng(0)
    found = [task.values(rng.uniform(0, task.high, 2000)) for _ in range(300)]
    kept = np.stack([x[201:] for x in found if not np.isnan(x).any()])
    assert abs(1 - len(kept) / 300 - diverged) < 0.02
    assert kept.mean() == pytest.approx(mean, rel=0.01)
    assert kept.std(axis=1).mean() == pytest.approx(deviation, rel=0.02)
    errors = np.sqrt(np.square(np.diff(kept, axis=1)).mean(axis=1) / kept[:, 1:].var(axis=1))
    assert errors.mean() == pytest.approx(persistence, abs=0.01)


def test_maps_by_hand():
    values = drive(make("henon", start=0.2, transient=0)).inputs[:, 0]
    assert values[:3] == pytest.approx([0.2, 1 - 1.4 * 0.04, 1 - 1.4 * 0.944**2 + 0.3 * 0.2])
    assert make("henon").response(values[:50, None])[1:49, 0] == pytest.approx(values[2:50])
    noisy = drive(make("henon-noisy"))
    assert np.std(noisy.targets - make("henon-noisy").response(noisy.inputs)) > 0.05
    shown = drive(make("logistic", start=0.2, transient=0)).inputs[:3, 0]
    assert shown * 0.5 + 0.5 == pytest.approx([0.2, 3.9 * 0.16, 3.9 * 0.624 * 0.376])
    x = 0.5 + 0.5 * drive(make("logistic", training=20_000)).inputs[:, 0]
    assert np.log(np.abs(3.9 * (1 - 2 * x))).mean() == pytest.approx(
        make("logistic").lyapunov, abs=0.01
    )
    assert make("logistic", rate=3.8).lyapunov is None


def test_the_ceiling_of_the_noisy_map_uses_all_that_was_read():
    task = make("henon-noisy")
    series = drive(task)
    last = np.concatenate([np.zeros((1, 1)), series.inputs[:-1]])
    two = task.shown(1 - 1.4 * task.meant(series.inputs) ** 2 + 0.3 * task.meant(last))
    errors = [
        np.std((answers - series.targets)[100:]) for answers in (two, task.response(series.inputs))
    ]
    # Without process noise, the error of a linear filter is that of the target's own noise times
    # the map's expansion.
    assert 0.05 * np.exp(0.4192) < errors[1] * task.scale < 0.75 * errors[0] * task.scale


def test_the_ceiling_of_the_noisy_map_stays_bounded_on_its_own_answers():
    task = make("henon-noisy")
    for repetition in range(10):
        read = drive(task, repetition).inputs[:200]
        for _ in range(100):
            read = np.concatenate([read, task.response(read)[-1:]])
        assert np.abs(task.meant(read)).max() < 2


def test_the_double_scroll_against_another_solver():
    task = make("double-scroll", start="0.4/0.1/-0.1", transient=0, raw=True, free=0)
    values = drive(task).inputs[:60]

    def slope(_, s):
        v, w, i = s
        g = (v - w) / 3.44 + 2 * 2.25e-5 * np.sinh(11.6 * (v - w))
        return [v / 1.2 - g, g - i, w - 0.193 * i]

    other = solve_ivp(
        slope, (0, 15), [0.4, 0.1, -0.1], "DOP853", 0.25 * np.arange(60), rtol=1e-11, atol=1e-12
    ).y.T
    assert values == pytest.approx(other, abs=1e-4)
    long = drive(make("double-scroll", transient=200, training=600, validation=0, test=100, free=0))
    assert (long.inputs[:, 0] > 0.5).any()
    assert (long.inputs[:, 0] < -0.5).any()


@dataclass(frozen=True)
class Circle(Flow):
    """A system of one's own."""

    id: ClassVar[str] = "dynamics/circle"
    width: ClassVar[int] = 2
    terms = ((0, 1.0, (1,)), (1, -1.0, (0,)))


@dataclass(frozen=True)
class SameCircle(Circle):
    """By a function."""

    def slope(self, x):
        return np.stack([x[..., 1], -x[..., 0]], axis=-1)


def test_a_system_of_ones_own():
    given = {
        "start": (1.0, 0.0),
        "transient": 0,
        "step": 0.1,
        "raw": True,
        "free": 0,
        "training": 100,
        "test": 50,
    }
    values = [
        kind(**given, method=method).drive(None).inputs
        for kind in (Circle, SameCircle)
        for method in ("rk4", "dop853")
    ]
    time = 0.1 * np.arange(len(values[0]))
    for found in values:
        assert found == pytest.approx(np.stack([np.cos(time), -np.sin(time)], axis=1), abs=1e-7)
    state = np.array([[1.0, 0.0], [0.0, 2.0]])
    for kind in (Circle, SameCircle):
        for method in ("rk4", "dop853"):
            turned = kind(**given, method=method, ahead=3).exact(state)
            assert turned == pytest.approx(
                state @ [[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]], abs=1e-7
            )


def test_exponents_are_known_for_the_usual_constants_alone():
    assert make("lorenz-63").lyapunov == 0.9056
    assert make("lorenz-63", beta=2.6667).lyapunov == 0.9056  # 8/3, as it is typed
    assert make("lorenz-63", rho=35.0).lyapunov is None
    assert make("mackey-glass-17").lyapunov == 0.0065
    assert make("mackey-glass-17", delay=30.0).lyapunov is None
    assert make("mackey-glass-30").lyapunov is None
    with pytest.raises(UsageError, match="exponents are known"):
        make("lorenz-63", rho=35.0, climate=100)


@pytest.mark.parametrize("id", ["lorenz-63", "roessler"])
def test_stated_exponents_are_those_of_the_flow(id):
    """By tangents that are kept at right angles, over finite differences."""
    task = make(id)
    state = task.flow(np.array(task.origin), 3000)[-1]
    axes, grown, count = np.eye(3), np.zeros(3), 3000
    for _ in range(count):
        away = state + 1e-6 * axes.T
        after = (
            task._by_rows(np.concatenate([state[None], away]))
            if hasattr(task, "_by_rows")
            else np.stack([task.flow(one, 2)[-1] for one in (state, *away)])
        )
        axes, upper = np.linalg.qr((after[1:] - after[0]).T / 1e-6)
        grown += np.log(np.abs(np.diag(upper)))
        state = after[0]
    found = grown / (count * task.step)
    assert found == pytest.approx(task.exponents, abs=0.06 if id == "lorenz-63" else 0.03)


def test_the_climate_of_a_good_learner():
    """Next-generation features are the flow itself, nearly: its exponents are the flow's."""
    found = scores(make("lorenz-63-climate", climate=12_000, free=0), "ngrc:strength=1e-4")
    assert found["exponent-1"] == pytest.approx(0.9, abs=0.15)
    assert found["exponent-error"] == pytest.approx(abs(found["exponent-1"] - 0.9056))
    assert found["histogram-distance"] < 0.2
    assert found["spectrum-distance"] < 0.2


def test_distances_of_climates():
    rng = np.random.default_rng(0)
    one, same, other = rng.normal(size=4000), rng.normal(size=4000), rng.normal(size=4000) + 9
    assert histogram_distance(one, one) == 0
    assert histogram_distance(one, same) < 0.1
    assert histogram_distance(other, one) > 0.99
    slow = np.sin(np.arange(4000) / 50)
    assert spectrum_distance(slow, slow) == 0
    assert spectrum_distance(one, slow) > 0.9
    assert spectrum_distance(np.zeros(4000), slow) == 1


def test_gilpins_catalogue(monkeypatch):
    class Lorenz:
        ic, period, std, maximum_lyapunov_estimated = (
            np.array([1.0, 1.0, 1.0]),
            1.5,
            np.array([8.0, 9, 8.5]),
            0.89,
        )

        def _rhs(self, x, y, z):
            return 10 * (y - x), 28 * x - x * z - y, x * y - 8 / 3 * z

        def rhs(self, X, t):
            return self._rhs(*X.T)

    class Late(Lorenz):
        delay = True

    _found.cache_clear()
    monkeypatch.setitem(sys.modules, "dysts", types.ModuleType("dysts"))
    flows = types.ModuleType("dysts.flows")
    flows.Lorenz, flows.Late = Lorenz, Late
    monkeypatch.setitem(sys.modules, "dysts.flows", flows)
    task = make("gilpin", step=0.02, start="1/1/1", transient=0, raw=True)
    ours = make("lorenz-63", start="1/1/1", transient=0, raw=True)
    assert drive(task).inputs[:200] == pytest.approx(drive(ours).inputs[:200], abs=2e-4)
    assert make("gilpin").interval == pytest.approx(0.03)
    for system, fault in (("Lorez", 'did you mean "Lorenz"'), ("Late", "has a delay")):
        with pytest.raises(UsageError, match=fault):
            make("gilpin", system=system).ready()
    _found.cache_clear()


def test_without_the_catalogue_it_says_what_to_do(monkeypatch):
    _found.cache_clear()
    monkeypatch.setitem(sys.modules, "dysts.flows", None)
    with pytest.raises(UsageError, match="pip install dysts"):
        make("gilpin").ready()


def test_bits_through_a_channel():
    task = make("binary-channel", snr=300.0)
    series = drive(task)
    d = series.targets[:, 0]  # d(n - 2)
    assert series.inputs[50:60, 0] == pytest.approx(0.5 * d[52:62] + d[51:61], abs=1e-9)
    bent = drive(make("binary-channel-cubic", snr=300.0))
    s = bent.targets[52:62, 0] + 0.6 * bent.targets[51:61, 0]
    assert bent.inputs[50:60, 0] == pytest.approx(s + 0.1 * s**3, abs=1e-9)
    assert make("binary-channel").noise == pytest.approx(np.sqrt(1.25 / 100))


def test_the_posterior_is_that_of_all_that_could_have_been_sent():
    """Against a sum over all sequences of a few bits."""
    task = make("binary-channel", snr=3.0, lag=1)
    received = np.array([0.4, -0.9, 0.3])
    bits = 2.0 * ((np.arange(2**4)[:, None] >> np.arange(4)) & 1) - 1  # d(-1) .. d(2)
    heard = 0.5 * bits[:, 1:] + bits[:, :-1]
    weight = np.exp(-np.square(received - heard).sum(axis=1) / (2 * task.noise**2))
    wanted = (weight * bits[:, 2]).sum() / weight.sum()  # d(2 - 1)
    host = registries.control.get("posterior")(
        task, Brief(task.inputs, task.outputs, "squared", 3, 1), 0
    )
    assert host.predict(received[:, None])[2, 0] == pytest.approx(wanted)


def test_blind_answers_are_scored_up_to_sign_and_delay():
    rng = np.random.default_rng(0)
    sent = rng.choice([-1.0, 1.0], (400, 1))
    answer = -np.roll(sent, 3, axis=0) * 0.9
    facts = {"delays": DELAYS, "levels": [-1.0, 1.0]}
    trace = Trace("predictions", {"answer": answer, "target": sent}, facts)
    given, wanted = aligned(trace)
    assert given == pytest.approx(0.9 * wanted)
    assert len(given) == 400 - DELAYS + 1
    assert registries.measure.get("symbol-errors")(trace)["symbol-error-rate"] == 0
    assert registries.measure.get("errors")(trace)["nrmse"] == pytest.approx(0.1, rel=0.01)
    noise = Trace("predictions", {"answer": rng.normal(size=(400, 1)), "target": sent}, facts)
    assert 0.35 < registries.measure.get("symbol-errors")(noise)["symbol-error-rate"] < 0.5


def test_blind_learners_are_told_a_modulus_and_no_answer():
    task, told = make("blind-channel-cubic", training=800, validation=0, test=400), []

    class Spy:
        def begin(self, brief, streams):
            told.append(brief.loss)
            raise UsageError("enough")

    with pytest.raises(UsageError, match="enough"):
        DynamicsProtocol().examine(task, Spy(), [Streams(0, task.id, 0)])
    assert told == ["modulus"]
    assert scores(task, "blind-linear")["symbol-error-rate"] < 0.01
    assert scores(task, "esn:units=20,passes=200", "fitness")["symbol-error-rate"] < 0.1


def test_scores_of_two_symbols():
    answer, target = np.array([[0.9], [0.6], [0.4], [0.1]]), np.array([[1.0], [0.0], [1.0], [0.0]])
    found = registries.measure.get("symbol-errors")(
        Trace("predictions", {"answer": answer, "target": target}, {"levels": [0.0, 1.0]})
    )
    assert (found["false-positive-rate"], found["false-negative-rate"]) == (0.5, 0.5)
    assert found["symbol-auc"] == 0.75
    assert found["symbol-accuracy"] == 0.5


def test_feedback_of_answers():
    task = make("narma-5", feedback=True, training=400, validation=0, test=60)
    series = drive(task)
    assert series.inputs[1:, 1] == pytest.approx(series.targets[:-1, 0])
    assert scores(task, "exact-state")["nrmse"] < 1e-6
    run = task.free_run(series)
    _, following, reached = run.advance(None, np.array([[0.7]]), 0)
    assert following.tolist() == [[series.inputs[-59, 0], 0.7]]
    assert reached.tolist() == [[0.7]]


def test_who_does_not_breathe():
    rows = np.sin(np.arange(1200))
    rows[900:960] *= 0.01
    found = stopped(rows)
    assert np.isnan(found[:258]).all()
    assert found[258:900].sum() == 0
    assert found[925:960].all()
    assert found[985:].sum() == 0


def test_spikes_and_the_cochlea():
    time = np.arange(4000) / 8000
    seen = cochlea(np.sin(2 * np.pi * 440 * time), 8000)
    assert seen.shape == (50, 40)
    loudest = seen[10:].mean(axis=0).argmax()
    assert seen[10:].mean(axis=0)[loudest] > 1.5 * np.median(seen[10:].mean(axis=0))
    high = cochlea(np.sin(2 * np.pi * 2000 * time), 8000)
    assert high[10:].mean(axis=0).argmax() > loudest
    found = spikes(np.tile([[0.0, 0.5, 1.0]], (100, 1)))
    assert set(np.unique(found)) <= {0, 1}
    assert found[:90].mean(axis=0) == pytest.approx([0, 0.5, 1], abs=0.15)


@pytest.mark.parametrize(
    "id", [name for name in registries.task.names() if name.startswith("dynamics/long-")]
)
def test_long_gaps_have_one_right_answer(id):
    task = configure(id, registries.task.get(id), {"span": 40})
    examples = task.sample(np.random.default_rng(0), 30)
    assert examples.asked.sum(axis=0).tolist() == [task.asked_last] * 30
    learner = choose_learner("exact-state", "corrected", task).make(task)
    protocol = LongMemoryProtocol(sequences=10, validation=0, test=20)
    trace = protocol.examine(task, learner, [Streams(0, id, 0)]).traces[0]
    assert registries.measure.get("failures")(trace)["failure-rate"] == 0


def test_long_gaps_by_hand():
    addition = make("long-addition", span=20)
    rows = np.array([[0.5, 1], [0.9, 0], [0.25, 1], [0.3, 0.0]])
    assert addition.response(rows)[-1, 0] == pytest.approx(0.375)
    assert make("long-multiplication").response(rows)[-1, 0] == pytest.approx(0.125)
    assert make("long-xor").response(np.array([[1.0, 1], [0, 1], [1, 0]]))[-1, 0] == 1
    assert make("long-order").response(np.eye(6)[[3, 1, 4, 0, 5]])[-1].tolist() == [0, 0, 1, 0]
    recall = make("long-recall-5", span=20).sample(np.random.default_rng(0), 3)
    assert (recall.targets[recall.asked[:, 0], 0] == recall.inputs[:5, 0, :2]).all()
    trace = Trace(
        "sequences",
        {"answer": np.array([[[0.5]], [[0.1]]]), "target": np.array([[[0.52]], [[0.2]]])},
        {"tolerance": 0.04},
    )
    assert registries.measure.get("failures")(trace)["failure-rate"] == 0.5
