"""PyTorch modules as learners: whole sequences and cells, kept, and refused in words."""

from __future__ import annotations

import functools
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base import registries
from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Lesson
from quickstudy.base.learner import Brief, Pace, Showing, face
from quickstudy.base.parameters import configure, parse_assignments
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.learners.host import HostPupil
from quickstudy.learners.learner_spec import bring, choose_learner, choose_named
from quickstudy.protocols.dynamics import DynamicsProtocol
from quickstudy.report.build import gather
from quickstudy.testing import check_learner

torch = pytest.importorskip("torch")

from quickstudy.adapters.torch import CellModel, SequenceModel  # noqa: E402

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "torch_model.py"
BRIEF = Brief(Tokens(4), Tokens(3), "cross-entropy", 5, 10)


class Net(torch.nn.Module):
    def __init__(self, brief, width=16):
        super().__init__()
        self.memory = torch.nn.GRU(brief.inputs.width, width)
        self.dropout = torch.nn.Dropout(0.1)
        self.readout = torch.nn.Linear(width, brief.outputs.width)

    def forward(self, inputs):
        return self.readout(self.dropout(self.memory(inputs)[0]))


class Cell(torch.nn.Module):
    def __init__(self, brief, width=16):
        super().__init__()
        self.memory = torch.nn.GRUCell(brief.inputs.width, width)
        self.readout = torch.nn.Linear(width, brief.outputs.width)

    def forward(self, x, state):
        state = self.memory(x, state)
        return self.readout(state), state


class Backwards(Net):
    def forward(self, inputs):
        return super().forward(inputs.flip(0)).flip(0)


def broken(findings):
    return [str(finding) for finding in findings if not finding.ok]


@pytest.mark.parametrize(("kind", "net"), [(SequenceModel, Net), (CellModel, Cell)])
def test_they_keep_the_promises_of_a_learner(kind, net):
    assert broken(check_learner(kind(net, rate=0.02))) == []


def test_a_cell_goes_on_from_where_it_is():
    """To the last bit as if all were read again."""
    host = CellModel(BRIEF, 1, build=Cell)
    read = np.array([[0, 1, 2, 3], [3, 3, 1, 0]], np.int32)
    state = host.start(2, 4)
    for time in range(3):
        state, scores = host.step(state, read[:, time])
    assert (scores == [host.predict(row[:3])[-1] for row in read]).all()
    _, scores = host.step(host.rows(state, np.array([1, 1])), np.array([0, 2], np.int32))
    assert (scores[0] == host.predict(read[1])[-1]).all()


def test_rows_that_run_free_are_read_side_by_side():
    asked = []

    class Counting(SequenceModel):
        def predict_many(self, sequences):
            asked.append(len(sequences))
            return super().predict_many(sequences)

    pupil = HostPupil(Counting(BRIEF, 1, build=Net), BRIEF)
    state, _ = pupil.step(pupil.start(20, 2), np.zeros((1, 20), np.int32))
    asked.clear()
    pupil.step(state, np.ones((1, 20), np.int32))
    assert asked == [20]


def test_one_that_looks_ahead_is_caught():
    assert any(
        "look ahead" in finding
        for finding in broken(check_learner(SequenceModel(Backwards, rate=0.02)))
    )


def test_the_example_is_a_learner():
    choice = choose_learner(f"{EXAMPLE}:Model:rate=0.01", "corrected")
    assert choice.what["parameters"]["rate"] == 0.01
    host = choice.make(None).make(BRIEF, 3)
    assert host.predict(np.array([0, 1, 2], np.int32)).shape == (3, 3)


def test_a_function_makes_the_class_with_it():
    made = SequenceModel(Net, rate=0.01)
    assert isinstance(made, functools.partial)
    assert made.keywords == {"build": Net, "rate": 0.01}
    assert bring(made) == "SequenceModel:build=Net,rate=0.01"


def test_one_step_is_adam_on_the_mean_loss_of_what_is_asked():
    host = SequenceModel(BRIEF, 1, build=Cell_of_nothing, rate=0.1)
    before = host.network.weight.detach().clone()
    host.learn(np.array([1, 2], np.int32), np.array([-1, 0], np.int32))
    change = (host.network.weight - before).detach().numpy()
    # Adam's first step is the rate against the sign of the gradient; only symbol 2 was asked at.
    assert np.allclose(change[:, 2], [0.1, -0.1, -0.1], atol=1e-4)
    assert np.allclose(np.delete(change, 2, axis=1), 0)


def Cell_of_nothing(brief):
    return torch.nn.Linear(brief.inputs.width, brief.outputs.width, bias=False)


def test_real_numbers_where_nothing_is_asked_do_not_count():
    brief = Brief(Reals(1), Reals(1), "squared", 5, 10)
    host = SequenceModel(brief, 1, build=Cell_of_nothing, rate=0.1)
    host.learn(np.array([[1.0], [2.0]]), np.array([[np.nan], [1.0]]))
    assert np.isfinite(host.predict(np.array([[1.0]]))).all()
    assert host.scale == "values"


def test_kept_and_set_back_it_goes_on_the_same():
    inputs, targets = np.array([0, 1, 2, 3], np.int32), np.array([-1, 0, 1, 2], np.int32)
    one, other = SequenceModel(BRIEF, 1, build=Net), SequenceModel(BRIEF, 2, build=Net)
    one.learn(inputs, targets)
    other.restore(one.snapshot())
    for host in (one, other):
        host.learn(inputs, targets)  # with dropout: chance goes on the same too
    np.testing.assert_array_equal(one.predict(inputs), other.predict(inputs))


def test_what_is_wrong_is_said():
    with pytest.raises(UsageError, match="give a function of the brief"):
        SequenceModel("net")
    with pytest.raises(UsageError, match="rate must be above 0"):
        SequenceModel(BRIEF, 0, build=Net, rate=0.0)
    with pytest.raises(UsageError, match="has no build"):
        SequenceModel(BRIEF, 0)
    with pytest.raises(LearnerFault, match=r"must give a torch.nn.Module, got int"):
        SequenceModel(BRIEF, 0, build=lambda brief: 3)
    wide = SequenceModel(BRIEF, 0, build=lambda brief: torch.nn.Linear(4, 7))
    with pytest.raises(LearnerFault, match=r"scores of shape \(2, 1, 3\), got \(2, 1, 7\)"):
        wide.predict(np.array([0, 1], np.int32))
    with pytest.raises(LearnerFault, match="its scores and its next state"):
        CellModel(BRIEF, 0, build=lambda brief: Single()).predict(np.array([0, 1], np.int32))


class Single(torch.nn.Module):
    def forward(self, x, state):
        return x


class ByBuild(SequenceModel):
    """Parameters of the network are those of `build`."""

    def build(self, brief, width=16):
        return Net(brief, width)


class ByInit(SequenceModel):
    """Parameters of its own constructor; those of training are passed on."""

    def __init__(self, brief, seed, width=16, **training):
        self.width = width
        super().__init__(brief, seed, **training)

    def build(self, brief):
        return Net(brief, self.width)


class Closed(SequenceModel):
    """A constructor that passes on the rate alone."""

    def __init__(self, brief, seed, width=16, rate=0.003):
        self.width = width
        super().__init__(brief, seed, rate=rate)

    build = ByInit.build


def width_of(choice):
    return choice.make(None).make(BRIEF, 3).network.memory.hidden_size


@pytest.mark.parametrize("kind", [ByBuild, ByInit, Closed])
def test_a_subclass_has_parameters_of_its_own(kind):
    for given in (functools.partial(kind, width=8), kind(width=8)):
        name = bring(given)
        assert name == f"{kind.__name__}:width=8"
        assert width_of(choose_learner(name, "corrected")) == 8
    assert bring(kind) == kind.__name__
    usual = choose_learner(bring(kind), "corrected")
    assert (usual.label, width_of(usual)) == (kind.__name__, 16)
    assert usual.what["parameters"]["width"] == 16


def test_a_subclass_in_a_file_has_parameters_of_its_own(tmp_path):
    file = tmp_path / "models.py"
    file.write_text(
        "import torch\nfrom quickstudy.adapters.torch import SequenceModel\n"
        "class Model(SequenceModel):\n"
        "    def build(self, brief, width=16):\n"
        "        return torch.nn.Linear(brief.inputs.width, brief.outputs.width * width // width)\n"
    )
    choice = choose_learner(f"{file}:Model:width=8,rate=0.01", "corrected")
    assert choice.label == "models.py:Model:width=8,rate=0.01"
    with pytest.raises(UsageError, match=r'no parameter "widht"; did you mean "width"'):
        choose_learner(f"{file}:Model:widht=8", "corrected")
    with pytest.raises(UsageError) as refused:
        choose_learner(f"{file}:Model:zzz=8", "corrected")
    assert "width" in str(refused.value)
    assert "build" not in str(refused.value)  # a function is not a parameter


def test_parameters_of_a_function_that_builds():
    made = SequenceModel(Net, width=8)
    assert bring(made) == "SequenceModel:build=Net,width=8"
    assert width_of(choose_learner(bring(made), "corrected")) == 8
    with pytest.raises(UsageError, match='Net has no parameter "widht"'):
        SequenceModel(Net, widht=8)


@pytest.mark.parametrize("asked", ["symbols", "reals", "strings"])
def test_it_trains_as_the_built_in_adam_does(asked):
    """Passes, batch and rate are those of `lstm` for the same kind of task."""
    pytest.importorskip("jax")
    own, built_in = (
        choose_learner(name, "corrected", None, asked) for name in (bring(ByBuild), "lstm")
    )
    for name in ("passes", "batch", "rate"):
        assert own.what["parameters"][name] == built_in.what["parameters"][name]
    for choice in (own, choose_learner(bring(Closed), "corrected", None, asked)):
        pace, other = choice.make(None).pace, built_in.make(None).pace
        assert (pace.passes, pace.batch) == (other.passes, other.batch)


def test_settings_in_the_name():
    settings = "passes=3,batch=4,rate=0.02,optimizer=sgd,weight_decay=0.1,clip=1,device=cpu"
    name = f"{bring(ByBuild)}:{settings}"
    choice = choose_named("ByBuild", parse_assignments(name.partition(":")[2]), "corrected")
    learner = choice.make(None)
    assert learner.pace == Pace(passes=3, batch=4)
    host = learner.make(BRIEF, 3)
    assert isinstance(host._optimizer, torch.optim.SGD)
    assert (
        host._optimizer.defaults["lr"],
        host._optimizer.defaults["weight_decay"],
        host.clip,
    ) == (0.02, 0.1, 1)
    for given, words in (
        ({"optimizer": "adma"}, "optimizer must be one of adam, adamw, sgd, rmsprop"),
        ({"device": "fast"}, 'device "fast" cannot be used'),
        ({"weight_decay": -1.0}, "weight_decay must be at least 0, got -1.0"),
    ):
        with pytest.raises(UsageError, match=words):
            ByBuild(BRIEF, 0, **given)
    with pytest.raises(UsageError, match="batch of a learner must be a whole number from 0"):
        choose_named("ByBuild", {"batch": 0.5}, "corrected")


def test_a_class_that_states_its_pace_keeps_it():
    class Often(ByBuild):
        passes, batch = 20, 4

    learner = choose_learner(bring(Often), "corrected", None, "reals").make(None)
    assert learner.pace == Pace(passes=20, batch=4)


def test_a_batch_is_one_update_on_the_mean_of_its_sequences():
    """Padding does not count, and a sequence with many questions weighs no more than another."""
    sequences = [
        (np.array([0, 1, 2, 3], np.int32), np.array([-1, 0, 1, 2], np.int32)),
        (np.array([3, 0], np.int32), np.array([-1, 1], np.int32)),
    ]
    host = SequenceModel(BRIEF, 1, build=Cell_of_nothing, rate=0.1, optimizer="sgd")
    before = host.network.weight.detach().clone()
    with torch.enable_grad():
        losses = [
            torch.nn.functional.cross_entropy(
                torch.nn.functional.one_hot(torch.tensor(inputs).long(), 4).float()
                @ host.network.weight.T,
                torch.tensor(targets).long(),
                ignore_index=-1,
            )
            for inputs, targets in sequences
        ]
        (wanted,) = torch.autograd.grad(sum(losses) / 2, host.network.weight)
    host.learn_many(sequences)
    np.testing.assert_allclose((before - host.network.weight).detach() / 0.1, wanted, atol=1e-5)
    assert host.updates == 1


def test_a_pupil_updates_when_its_batch_is_full():
    """The same whichever way a lesson is cut, and what does not fill a batch changes nothing."""
    examples = Examples(
        np.array([[0, 1, 2, 3, 0, 1, 2]]),
        np.array([[0, 1, 2, 0, 1, 2, 0]]),
        np.ones((1, 7), bool),
        np.ones(7, int),
    )
    lesson = Lesson([examples], np.arange(7)[None])
    pupils = [
        HostPupil(SequenceModel(BRIEF, 1, build=Cell_of_nothing), BRIEF, batch=3) for _ in range(2)
    ]
    pupils[0].learn(lesson, 0, 7)
    for start, stop in ((0, 2), (2, 4), (4, 7)):
        pupils[1].learn(lesson, start, stop)
    one, other = (pupil.host.network.weight.detach().numpy() for pupil in pupils)
    np.testing.assert_array_equal(one, other)
    assert [(cost.examples, cost.updates) for pupil in pupils for cost in pupil.cost()] == [
        (7, 2)
    ] * 2


def test_a_series_is_learned_in_windows():
    task = configure("dynamics/henon-noisy", registries.task.get("dynamics/henon-noisy"), {})
    learner = choose_named(bring(ByBuild), {"passes": 2}, "corrected", None, "reals").make(task)
    (trace,) = DynamicsProtocol().examine(task, learner, [Streams(0, task.id, 0)]).traces
    assert trace.cost.updates > 2


def test_states_are_what_the_readout_reads_or_what_the_network_gives():
    host = SequenceModel(BRIEF, 1, build=Net)
    read = np.array([0, 1, 2, 3], np.int32)
    states = host.states(read)
    assert states.shape == (4, 16)
    weights = host.network.readout
    np.testing.assert_allclose(
        states @ weights.weight.detach().numpy().T + weights.bias.detach().numpy(),
        host.predict(read),
        atol=1e-6,
    )
    cell = CellModel(BRIEF, 1, build=Cell)
    assert cell.states(read).shape == (4, 16)

    class Own(Net):
        def states(self, inputs):
            return torch.cat([self.memory(inputs)[0]] * 2, dim=-1)

    assert SequenceModel(BRIEF, 1, build=Own).states(read).shape == (4, 32)
    bare = SequenceModel(BRIEF, 1, build=lambda brief: torch.nn.RNN(4, 3))
    with pytest.raises(NotApplicable, match="does not show its states"):
        face(HostPupil(bare, BRIEF), Showing)


@pytest.mark.parametrize("kind", [SequenceModel, CellModel])
def test_it_learns_to_act(kind):
    """Say the symbol that is seen: 1 where it is right, -1 where it is wrong."""
    brief = Brief(Tokens(2), Tokens(2), "reward", 1, 1600)
    host = kind(brief, 1, build=Net if kind is SequenceModel else Cell)
    reward, rewards = 0.0, []
    for step, symbol in enumerate(np.random.default_rng(0).integers(2, size=1600).tolist()):
        reward = 1.0 if host.act(symbol, reward, step == 0) == symbol else -1.0
        rewards.append(reward)
    assert np.mean(rewards[:100]) < 0.5
    assert np.mean(rewards[-100:]) > 0.7
    assert host.updates == 199


def test_a_network_that_was_hardly_trained_is_reported(tmp_path):
    few, enough = ByBuild(passes=1), ByBuild(passes=2)
    qs.run(
        "language/periodic",
        [few, enough],
        seeds=1,
        protocol={"sequences": 50},
        controls=False,
        out=tmp_path,
    )
    (table,) = gather([tmp_path]).tables
    assert [remark for remark in table.verdict.remarks if "update" in remark] == [
        "ByBuild:passes=1: only 40 updates, which is hardly enough to train a network; set passes"
        " and batch in its name."
    ]


def test_check_finds_global_randomness_of_a_torch_that_is_imported_late(tmp_path):
    """In a process of its own, where nothing has imported torch before."""
    file = tmp_path / "late.py"
    file.write_text(
        "class Late:\n"
        "    def __init__(self, brief, seed):\n"
        "        import torch\n"
        "        torch.manual_seed(seed)\n"
        "        self.weights = torch.randn(brief.outputs.width).numpy()\n"
        "    def learn(self, inputs, targets): pass\n"
        "    def predict(self, inputs): return self.weights[None].repeat(len(inputs), 0)\n"
    )
    command = [sys.executable, "-m", "quickstudy", "check", f"{file}:Late"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "FAIL  touches no global randomness: the state of torch changed" in found.stdout
    text = file.read_text().replace(
        "torch.manual_seed(seed)", "g = torch.Generator().manual_seed(seed)"
    )
    file.write_text(text.replace("outputs.width)", "outputs.width, generator=g)"))
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "ok    touches no global randomness" in found.stdout


def test_show_lists_the_parameters_of_a_class_and_no_functions(tmp_path):
    from quickstudy.api.show import parameter_table as _parameters

    rows = {row["name"]: row for row in _parameters(ByBuild, "corrected")}
    assert rows["width"]["value"] == 16
    assert (rows["passes"]["value"], rows["passes"]["range"]) == (
        10,
        "reals: 200, strings: 100, reward: 1",
    )
    assert "build" not in rows
