"""Learners on the host sit the battery: what each can take has a span, and the rest has a
reason.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.adapters.sklearn import WindowModel
from quickstudy.cli.main import main as command_line

SYMBOLS, SERIES, WORLD = (
    "span/count:longest=8",
    "span/delay:longest=4,training=200,test=200",
    "span/mapping:longest=2",
)
SHORT = {SYMBOLS: {"sequences": 24, "tests": 2, "checkpoints": 1}, SERIES: {}, WORLD: {}}
PROGRAM = """
import sys
for line in sys.stdin:
    word, *rest = line.split()
    if word == "begin":
        print("ready" if rest[1].startswith("symbols") else "no I answer with symbols", flush=True)
    else:
        print("ok" if word == "learn" else " ".join("0" for _ in rest), flush=True)
"""


class Usual:
    """The most frequent answer; uses the number of symbols, and does not act."""

    def __init__(self, brief, seed):
        self.counts = np.zeros(brief.outputs.size)

    def learn(self, inputs, targets):
        np.add.at(self.counts, targets[targets >= 0], 1)

    def predict(self, inputs):
        return np.full(len(inputs), self.counts.argmax())


class Everything:
    """Takes symbols, real numbers and worlds."""

    def __init__(self, brief, seed):
        self.width = brief.outputs.width

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        return np.zeros((len(inputs), self.width))

    def act(self, observation, reward, first, learning=True):
        return 0


def estimator(brief):
    from sklearn.linear_model import Ridge, SGDClassifier

    return SGDClassifier() if hasattr(brief.outputs, "size") else Ridge()


def recurrent(brief):
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.memory = nn.RNN(brief.inputs.width, 8)
            self.readout = nn.Linear(8, brief.outputs.width)

        def forward(self, inputs):
            return self.readout(self.memory(inputs)[0])

    return Net()


def reasons(learner, tmp_path):
    """By item, what keeps it from a span; a span must be a number on its axis."""
    found = {}
    for task, protocol in SHORT.items():
        given = f"{task},rounds=1,block=30" if task == WORLD else task
        done = qs.run(
            given,
            learner,
            seeds=1,
            controls=False,
            protocol=protocol,
            workers=0,
            out=tmp_path / "runs",
        )
        record = next(one for one in done.records if one.labels["task"] == given)
        found[task] = f"{record.status}: {record.reason}" if record.status != "ok" else ""
        if record.status == "ok":
            assert 0 <= record.scores["span"]["values"]["span"] <= 8
    return [found[task] for task in (SYMBOLS, SERIES, WORLD)]


NOT = "not-applicable: "


def test_plain_classes(tmp_path):
    symbols, series, world = reasons(Usual, tmp_path)
    assert (symbols, world) == ("", f"{NOT}Usual does not act: it has no act")
    assert series.startswith(f"{NOT}Usual is for symbols: it uses `size` of its inputs or outputs")
    assert reasons(Everything, tmp_path) == ["", "", ""]


def test_estimators_of_scikit_learn(tmp_path):
    pytest.importorskip("sklearn")
    symbols, series, world = reasons(WindowModel(estimator), tmp_path)
    assert (symbols, series) == ("", "")
    assert world.startswith(NOT)
    assert "does not act" in world


def test_networks_of_pytorch(tmp_path):
    pytest.importorskip("torch")
    from quickstudy.adapters.torch import SequenceModel

    assert reasons(SequenceModel(recurrent, passes=1), tmp_path) == ["", "", ""]


def test_programs(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    symbols, series, world = reasons(
        f"lines:command={sys.executable} {tmp_path / 'program.py'}", tmp_path
    )
    assert symbols == ""
    assert series.startswith(f"{NOT}the program refused")
    assert world.startswith(f"{NOT}it talks in bytes")
    pytest.importorskip("zmq")
    assert all(
        reason.startswith(f"{NOT}it talks in bytes")
        for reason in reasons("zeromq:connect=0.1", tmp_path)
    )


def test_recorded_answers(tmp_path, capsys):
    file, answered = tmp_path / "questions.jsonl", tmp_path / "answered.jsonl"
    typed = [
        part for item in SHORT[SYMBOLS].items() for part in ("--set", "=".join(map(str, item)))
    ]
    with pytest.raises(SystemExit) as ended:
        command_line(["drive", SYMBOLS, "--questions", *typed, "--out", str(file)])
    assert not ended.value.code
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        if "predict" in line:
            line["answers"] = [0] * len(line["predict"])
    answered.write_text("".join(json.dumps(line) + "\n" for line in lines))
    symbols, series, world = reasons(f"recorded:file={answered}", tmp_path)
    assert symbols == ""
    assert all("has no answers to this run" in reason for reason in (series, world))
