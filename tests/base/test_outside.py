"""A task and a core from outside the package, one file each, run end to end without an edit
anywhere else.
"""

from __future__ import annotations

import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.registry import include
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting

TASK = '''
from dataclasses import dataclass

import numpy as np

import quickstudy as qs


@qs.task(
    "language/backwards", version=1, controls=["majority", "copy-last"], oracle="backwards-oracle"
)
@dataclass(frozen=True)
class Reverse:
    """Repeat a string backwards."""

    symbols: int = qs.parameter(3, at_least=2)
    longest: int = qs.parameter(3, at_least=1)

    @property
    def vocabulary(self):
        return (*"abcdefgh"[: self.symbols], "|")

    def sample(self, rng, count):
        lengths = (rng.integers(1, self.longest + 1) for _ in range(count))
        words = [rng.integers(self.symbols, size=length) for length in lengths]
        return qs.Examples.from_pairs(([*word, self.symbols], word[::-1]) for word in words)


@qs.control("backwards-oracle", version=1, role="oracle")
class Oracle:
    """Turns the string round."""

    def __init__(self, task, brief, seed):
        self.bar = task.symbols

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        bar = inputs.tolist().index(self.bar) if self.bar in inputs else len(inputs)
        backwards = inputs[:bar][::-1].tolist()
        after = [*backwards, 0][: len(inputs) - bar]
        return np.array([0] * (len(inputs) - len(after)) + after, dtype=int)
'''

CORE = '''
from dataclasses import dataclass
from typing import ClassVar

import quickstudy as qs
from quickstudy.cores.core import InputWeights, Reservoir
from quickstudy.jax_gateway import jnp


class DelayLine(Reservoir):
    """The last inputs, one after the other."""

    inputs: InputWeights
    steps: int

    @property
    def width(self):
        return self.steps * self.inputs.weights.shape[1]

    def start(self, batch, capacity):
        return jnp.zeros((batch, self.width))

    def step(self, state, x, *, key=None):
        now = self.inputs(x)
        state = jnp.concatenate([now, state[:, : -now.shape[1]]], axis=1)
        return state, state


@qs.core("windowed", version=1)
@dataclass(frozen=True)
class DelayLineSpec:
    """A window on the last inputs."""

    window: int = qs.parameter(4, at_least=1)

    frozen: ClassVar[bool] = True

    def build(self, inputs, rng):
        return DelayLine(InputWeights(jnp.eye(inputs.width), inputs), self.window)
'''


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    for name, text in (("reverse.py", TASK), ("delay.py", CORE)):
        (folder / name).write_text(text)
        include(folder / name)
    return folder


def run(learner, task="language/backwards"):
    (outcome,) = examine(Setting(task, learner, protocol={"sequences": 40}), [0])
    assert outcome.record.status == "ok", outcome.record.reason
    return outcome


def final(learner):
    return run(learner).trace.arrays["accuracy"][-1]


def test_they_are_known_by_name(files):
    assert "language/backwards" in registries.task.names()
    assert registries.task.find("language/backwards").summary == "Repeat a string backwards."
    assert registries.core.find("windowed").origin == str(files / "delay.py")


def test_a_task_from_outside_runs_with_controls_and_oracle(files):
    assert final("oracle") == 1.0
    assert final("majority") < 1.0
    record = run("majority", "language/backwards:symbols=4,longest=4").record
    assert record.what["task"]["parameters"] == {"symbols": 4, "longest": 4}
    assert record.labels["task"] == "language/backwards:symbols=4,longest=4"
    with pytest.raises(UsageError, match="symbols must be at least 2"):
        Setting("language/backwards:symbols=1", "majority").resolve()


def test_a_core_from_outside_learns_the_task(files):
    outcome = run("windowed+rls:window=7,ridge=0.1")
    record = outcome.record
    assert record.what["learner"]["id"] == "windowed+rls"
    assert record.what["learner"]["parameters"]["window"] == 7
    assert record.cost["trained_parameters"] == (7 * 4 + 1) * 4
    assert outcome.trace.arrays["accuracy"][-1] > final("majority") + 0.1
    assert run("windowed").record.what["learner"]["id"] == "windowed+sgd"


def test_a_core_from_outside_takes_the_other_tasks(files):
    trace = run("windowed+rls:window=12", "language/periodic:longest=6,length=24").trace
    assert trace.arrays["accuracy"][-1] > trace.facts["constant"]
