"""How many parameters a host learner has: what it says, in any form it may say it, and unknown
where it does not.
"""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Tokens
from quickstudy.learners.host import HostPupil
from quickstudy.report.build import gather
from quickstudy.report.export import as_csv
from quickstudy.report.page import FORMS

as_text = FORMS["text"]

BRIEF = Brief(Tokens(10), Tokens(10), "cross-entropy", 4, 3)


class Host:
    """Answers with the last input."""

    def __init__(self, brief=None, seed=0, **said):
        vars(self).update(said)

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        return inputs.copy()


class Weights:
    """What PyTorch's parameters have: `numel`, `requires_grad`, and a `size` that is no number."""

    def __init__(self, *shape, requires_grad=True):
        self._shape, self.requires_grad = shape, requires_grad

    def numel(self):
        return math.prod(self._shape)

    def size(self):
        return self._shape


class Module(Host):
    """Has `parameters` as a method that gives a new generator each time, as torch.nn.Module has."""

    def parameters(self, recurse=True):
        yield Weights(10, 7)
        yield Weights(7)
        yield Weights(5, 5, requires_grad=False)


def counted(host, **options):
    (cost,) = HostPupil(host, BRIEF, **options).cost()
    return cost.trained_parameters, cost.fixed_parameters


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (70, 70),
        (np.prod((10, 7)), 70),
        (np.int32(70), 70),
        ([np.zeros((10, 7)), np.zeros(7)], 77),
        (lambda: 70, 70),
        (lambda: (array for array in [np.zeros(70)]), 70),
        (0, 0),
    ],
)
def test_a_number_and_arrays_are_counted(said, expected):
    assert counted(Host(parameters=said)) == (expected, 0)


@pytest.mark.parametrize(
    "said", [None, True, "many", 7.5, object(), [3, 4], iter([np.zeros(3)]), lambda which: 3]
)
def test_what_cannot_be_counted_is_unknown_and_never_0(said):
    assert counted(Host(parameters=said)) == (None, 0)


def test_a_host_that_says_nothing_is_unknown_and_a_rule_has_none():
    assert counted(Host()) == (None, 0)
    assert counted(Host(learns=False)) == (0, 0)
    assert counted(Host(), control=True) == (0, 0)


def test_a_module_is_counted_every_time_and_what_is_frozen_apart():
    pupil = HostPupil(Module(), BRIEF)
    for (cost,) in (pupil.cost(), pupil.cost()):
        assert (cost.trained_parameters, cost.fixed_parameters) == (77, 25)


def test_torch_is_counted():
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(10, 7)

    assert counted(Net()) == (77, 0)
    assert counted(Host(parameters=Net().parameters)) == (77, 0)


def test_unknown_goes_through_record_report_and_tables(tmp_path):
    sizes = {"protocol": {"sequences": 20}, "seeds": 1, "workers": 0}
    results = qs.run("language/periodic", [Host, Module], out=tmp_path / "r", **sizes)
    by_learner = {
        record.labels["learner"]: record.cost["trained_parameters"] for record in results.records
    }
    assert (by_learner["Host"], by_learner["Module"], by_learner["majority"]) == (None, 77, 0)
    shown = as_text(gather([results.folder]))
    assert "unknown" in shown
    assert "77" in shown
    assert "unknown" in results.report().read_text()
    rows = {
        row["learner"]: row["cost"]
        for table in results.as_json()["tasks"]
        for row in table["learners"]
    }
    assert "trained_parameters" not in rows["Host"]
    assert rows["Module"]["trained_parameters"] == 77
    lines = csv.DictReader(io.StringIO(as_csv(gather([results.folder]))))
    written = {line["learner"]: line["trained_parameters"] for line in lines}
    assert (written["Host"], float(written["Module"])) == ("", 77)
    assert results.score().exit_status == 0  # the trace is read with its cost
