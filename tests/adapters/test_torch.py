"""PyTorch modules as learners: whole sequences and cells, kept, and refused in words."""

from __future__ import annotations

import functools
import pathlib

import numpy as np
import pytest

from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.learners.host import HostPupil
from quickstudy.learners.naming import bring, choose_learner
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
    assert any("look ahead" in finding for finding in broken(check_learner(SequenceModel(Backwards, rate=0.02))))


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
