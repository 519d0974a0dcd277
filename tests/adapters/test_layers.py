"""Layers by name: PyTorch's own, and stand-ins for libraries that are not installed here."""

import sys
import types

import numpy as np
import pytest

from quickstudy.base.errors import LearnerFault, MissingExtra, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import with_first
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.outside import reached

BRIEF = Brief(Tokens(4), Tokens(3), "cross-entropy", 12, 100)
SEQUENCE = np.array([0, 1, 2, 3, 1, 0])


def test_the_first_parameter_may_stand_without_its_name():
    class Layer:
        first = "layer"

    assert with_first(Layer, "a.b.C") == "layer=a.b.C"
    assert with_first(Layer, "a.b.C:width=8,x=1") == "layer=a.b.C,width=8,x=1"
    assert with_first(Layer, "layer=a.b.C,width=8") == "layer=a.b.C,width=8"
    assert with_first(Layer, "") == ""
    assert with_first(object, "a.b.C") == "a.b.C"


def test_a_study_says_what_a_layer_imports():
    assert reached("torch:my.module.Layer:width=8") == ["torch (imports my.module.Layer)"]
    assert reached("reservoirpy:Reservoir") == ["reservoirpy (imports reservoirpy)"]


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def begun(name, brief=BRIEF, seed=0):
    from quickstudy.adapters.torch_layer import TorchLayer

    kind, _, rest = name.partition(":")
    assert kind == "torch"
    layer, _, _ = rest.partition(":")
    return TorchLayer(brief, seed, layer=layer, width=6)


def test_both_spellings_are_one_learner_whose_identity_has_the_version_of_the_library(torch):
    short = choose_learner("torch:torch.nn.GRU:width=8", "corrected")
    long = choose_learner("torch:layer=torch.nn.GRU,width=8", "corrected")
    assert short.what == long.what
    assert short.what["imported"] == {"layer": f"torch {torch.__version__}"}


def test_a_recurrent_layer_answers_step_by_step_what_it_answers_at_once(torch):
    host = begun("torch:torch.nn.LSTM")
    whole = host.predict(SEQUENCE)
    state, rows = host.start(2, 6), []
    for symbol in SEQUENCE:
        state, scores = host.step(state, np.array([symbol, symbol]))
        rows.append(scores)
    assert np.allclose(np.stack(rows)[:, 0], whole, atol=1e-5)
    assert np.array_equal(np.stack(rows)[:, 0], np.stack(rows)[:, 1])


def test_a_layer_learns(torch):
    host = begun("torch:torch.nn.GRU")
    targets = SEQUENCE % 3
    for _ in range(60):
        host.learn(SEQUENCE, targets)
    assert (host.predict(SEQUENCE).argmax(axis=1) == targets).all()


def module_with(monkeypatch, name, **classes):
    module = types.ModuleType(name)
    vars(module).update(classes)
    monkeypatch.setitem(sys.modules, name, module)


def test_layers_that_break_the_contract_are_refused_with_the_reason(torch, monkeypatch):
    class Mean(torch.nn.Module):
        """Every step sees the mean of all."""

        def __init__(self, d_model):
            super().__init__()

        def forward(self, x):
            return x + x.mean(dim=1, keepdim=True)

    class Wide(Mean):
        def forward(self, x):
            return torch.cat([x, x], dim=-1)

    class Unequal(Mean):
        def forward(self, x):
            return x.cumsum(dim=1)

        def step(self, x, state):
            total = x if state is None else state + 0.5 * x
            return total, total

    class Needy(Mean):
        def __init__(self, d_model, heads):
            super().__init__(d_model)

    module_with(monkeypatch, "odd_layers", Mean=Mean, Wide=Wide, Unequal=Unequal, Needy=Needy)
    for name, error, words in (
        ("Mean", LearnerFault, "looks ahead: with other inputs from step 7 on"),
        ("Wide", LearnerFault, r"must give .*\(2, 12, 6\), got \(2, 12, 12\)"),
        ("Unequal", LearnerFault, "step form gives other numbers than its parallel form"),
        ("Needy", UsageError, "needs heads"),
        ("Absent", UsageError, "no class Absent"),
    ):
        with pytest.raises(error, match=words):
            begun(f"torch:odd_layers.{name}")


def test_a_layer_with_a_step_that_agrees_is_read_step_by_step(torch, monkeypatch):
    class Sum(torch.nn.Module):
        def __init__(self, dim):
            super().__init__()

        def forward(self, x):
            return x.cumsum(dim=1), None

        def step(self, x, state):
            total = x if state is None else state + x
            return total, total

    module_with(monkeypatch, "sum_layers", Sum=Sum)
    assert hasattr(begun("torch:sum_layers.Sum"), "step")
    module_with(monkeypatch, "fla", layers=None)
    module_with(monkeypatch, "fla.layers", Sum=Sum)
    from quickstudy.adapters.fla import FlaLayer

    host = FlaLayer(BRIEF, 0, layer="Sum", width=5, layers=2)
    assert host.predict(SEQUENCE).shape == (6, 3)


def test_without_a_library_its_learner_says_what_to_install():
    for module, name in (("reservoirpy", "reservoirpy:Reservoir"), ("memax", "memax:LRU")):
        if module in sys.modules:
            pytest.skip(f"{module} is installed")
        try:
            __import__(module)
        except ModuleNotFoundError:
            with pytest.raises(MissingExtra, match=module):
                choose_learner(name, "corrected")


class Leaky:
    """A stand-in for a node of reservoirpy: a leaky integrator of its inputs."""

    def __init__(self, units=3, lr=0.5, seed=None):
        self.units, self.lr, self.output_dim = units, lr, units
        self.weights = np.random.default_rng(seed).uniform(-1, 1, (units, 0))
        self.seed, self.state = seed, {}

    def step(self, x):
        if not self.state:
            self.weights = np.random.default_rng(self.seed).uniform(-1, 1, (self.units, len(x)))
            self.state = {"out": np.zeros(self.units)}
        new = (1 - self.lr) * self.state["out"] + self.lr * np.tanh(self.weights @ x)
        self.state = {"out": new}
        return new

    def run(self, xs):
        return np.stack([self.step(x) for x in xs])


@pytest.fixture
def nodes(monkeypatch):
    """The real library, where it is installed, and the stand-in."""
    Trainable = type("Trainable", (Leaky,), {})
    module_with(monkeypatch, "reservoirpy", __version__="0")
    module_with(monkeypatch, "reservoirpy.nodes", Leaky=Leaky, Ridge=Trainable)
    module_with(monkeypatch, "reservoirpy.node", Node=Leaky, TrainableNode=Trainable)
    sys.modules["reservoirpy"].nodes = sys.modules["reservoirpy.nodes"]


def test_a_node_is_read_from_rest_and_its_readout_is_solved_for(nodes):
    from quickstudy.adapters.reservoirpy import ReservoirNode

    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(300, 1))
    targets = np.zeros_like(inputs)  # the same leak, of the inputs themselves
    for t in range(300):
        targets[t] = 0.5 * (targets[t - 1] if t else 0.0) + 0.5 * inputs[t]
    brief = Brief(Reals(1), Reals(1), "squared", 300, 1)
    host = ReservoirNode(brief, 1, node="Leaky", units=30, strength=1e-8)
    host.learn(inputs, targets)
    answers = host.predict(inputs)
    assert np.square(answers - targets).mean() < 0.05 * targets.var()
    assert np.array_equal(answers, host.predict(inputs))
    state, rows = host.start(2, 300), []
    for x in inputs[:5]:
        state, scores = host.step(state, np.stack([x, x]))
        rows.append(scores[0])
    assert np.allclose(rows, answers[:5])
    assert host.parameters == 31


def test_a_node_that_trains_itself_or_does_not_exist_is_refused(nodes):
    from quickstudy.adapters.reservoirpy import ReservoirNode

    for name in ("Ridge", "Reservor", ""):
        with pytest.raises(UsageError, match="reservoirpy"):
            ReservoirNode(BRIEF, 0, node=name)


def test_work_of_a_network_by_hand(torch):
    host = begun("torch:torch.nn.LSTM")
    found = host.count_work([SEQUENCE])
    # One-hot inputs 4 x 6, LSTM 4 x 6 x 12, readout 6 x 3.
    assert found["matrix_macs"] == 4 * 6 + 4 * 6 * 12 + 6 * 3
    gates = 3 * 6
    assert found["macs"] >= found["matrix_macs"] + gates
    assert found["effective_macs"] <= found["macs"] - 3 * 6  # of four symbols three are zeros
