"""A recording as a learner: the states that a device gave to a drive, next to other reservoirs."""

from __future__ import annotations

import json

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.data.recordings import read_drive

NARMA = "dynamics/narma-10:training=600,validation=200,test=300"
MEMORY = "dynamics/memory:training=500,test=500"
SEQUENCES = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import quickstudy as qs
from quickstudy.tasks.dynamics.recordings import Recordings


@qs.task("dynamics/ramps", version=1, controls=["mean", "linear-whole"], protocol="classification",
         oracle="the sign of the slope")
@dataclass(frozen=True)
class Ramps(Recordings):
    """Tell rising ramps from falling ones.

    Sees: a value per step. Answers: the kind. Scored: wrong answers. Chance: 0.5. Source: ours.
    """

    sets: ClassVar = ()
    classes: ClassVar[int] = 2
    inputs: ClassVar[qs.Reals] = qs.Reals(1)

    taxonomy: ClassVar = {}

    def sequences(self):
        rng = np.random.default_rng(0)
        labels = rng.integers(2, size=80)
        found = [
            (1 + np.arange(length) * (2 * label - 1) / 20 + 0.1 * rng.normal(size=length))[:, None]
            for label, length in zip(labels, rng.integers(6, 12, size=80))
        ]
        return found, labels, np.arange(80) >= 50
'''


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command(capsys):
    from quickstudy.cli.main import main

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return left.value.code, *capsys.readouterr()

    return call


def reservoir(inputs, units=12):
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(units, units)) / np.sqrt(units) * 0.8
    inward, state, states = rng.uniform(-1, 1, (units, inputs.shape[1])), np.zeros(units), []
    for x in inputs:
        state = np.tanh(weights @ state + inward @ x + 0.2)
        states.append(state)
    return np.array(states)


def saved(drive, name="states.npy"):
    np.save(name, reservoir(read_drive(drive)[1]))
    return f"recorded-states:file={name},drive={drive}"


def test_a_run_of_a_recording_has_the_scores_of_score_dynamics(command):
    qs.drive([NARMA, MEMORY], "drive.csv", volts=(0.0, 1.0), repetitions=2)
    learner = saved("drive.csv")
    found = json.loads(
        command("score", "dynamics", "states.npy", "--drive", "drive.csv", "--json")[1]
    )
    runs = qs.run([NARMA, MEMORY], [learner], seeds=2, controls=False, progress=False).records
    assert {run.status for run in runs} == {"ok"}, [run.reason for run in runs]

    def scores(measure):
        return {
            run.what["repetition"]: run.scores[measure]["values"]
            for run in runs
            if measure in run.scores
        }

    errors, held, more = map(scores, ("errors", "memory-capacity", "processing-capacity"))
    ranks = scores("state-ranks")
    wanted = found["tasks"][NARMA]
    assert [errors[part["repetition"]]["nrmse"] for part in wanted] == pytest.approx(
        [part["readout"]["nrmse"] for part in wanted], rel=1e-9
    )
    for part in found["properties"]:
        place = part["repetition"]
        capacity = held[place]["memory-capacity"]
        assert capacity == pytest.approx(part["memory_capacity"], rel=1e-9)
        assert more[place]["processing-capacity"] == pytest.approx(part["ipc_total"], rel=1e-9)
        assert ranks[place]["kernel-rank-stream-at-0.01"] == part["kernel_rank"]["0.01"]
        # These need inputs that no drive has.
        assert "kernel-rank" not in ranks[place]
    assert not any(map(len, scores("stability").values()))


def test_a_run_that_was_not_driven_is_not_applicable():
    qs.drive([NARMA], "drive.csv")
    learner = saved("drive.csv")
    runs = qs.run([NARMA], [learner], seeds=2, controls=False, progress=False).records
    assert sorted(run.status for run in runs) == ["not-applicable", "ok"]
    [reason] = [run.reason for run in runs if run.status != "ok"]
    assert "1 repetition, root seed 0" in reason
    assert "as many --seeds as there are repetitions" in reason


def test_sequences_drive_a_device_with_a_rest_before_each(command):
    with open("ramps.py", "w") as file:
        file.write(SEQUENCES)
    asked = ("drive", "dynamics/ramps", "--include", "ramps.py", "--out", "drive.csv")
    status, out, _ = command(*asked, "--rest", 5, "--volts", "-1:1", "--repetitions", 3)
    header, volts = read_drive("drive.csv")
    [segment] = header["segments"]  # an official split has one order, whatever the repetition
    assert status == 0
    assert len(segment["lengths"]) == 80
    assert len(volts) == sum(segment["lengths"]) + 80 * 5
    assert (segment["training"], segment["test"]) == (50, 30)
    saved("drive.csv")
    given = ("states.npy", "--drive", "drive.csv", "--include", "ramps.py")
    status, out, _ = command("score", "dynamics", *given)
    assert status == 0, out
    assert "dynamics/ramps wrong" in out
    found = json.loads(command("score", "dynamics", *given, "--json")[1])
    [scores] = found["tasks"]["dynamics/ramps"]
    # A reservoir of twelve units tells a slope from its reverse; half would be by chance.
    assert scores["readout"]["error-rate"] < 0.2


def test_changed_files_are_refused():
    from quickstudy.learners.recorded_states import RecordedStates

    qs.drive([NARMA], "drive.csv")
    saved("drive.csv")
    known = RecordedStates("states.npy", "drive.csv")
    np.save("states.npy", np.ones((3, 2)))
    with pytest.raises(ValueError, match="has changed"):
        RecordedStates("states.npy", "drive.csv", content=known.content)


def test_a_series_that_is_given_again_shows_the_noise_of_a_device(command):
    qs.drive([NARMA, MEMORY], "drive.csv", again=1)
    header, volts = read_drive("drive.csv")
    roles = [segment["role"] for segment in header["segments"]]
    assert roles == ["series", "again", "series", "again", "generalisation"]
    states = np.concatenate(
        [reservoir(part) for part in np.split(volts, [s["start"] for s in header["segments"]][1:])]
    )
    begin = header["segments"][2]["start"]
    noise = 0.05 * states[begin + 200 : begin + 1200].std(axis=0)
    np.save("states.npy", states + noise * np.random.default_rng(0).normal(size=states.shape))
    given = ("score", "dynamics", "states.npy", "--drive", "drive.csv")
    found = json.loads(command(*given, "--json")[1])
    narma, memory = found["repeats"]
    assert memory["noise"] == pytest.approx(0.05, rel=0.1)
    # A signal of variance 1 with independent noise of variance 0.0025 each time.
    assert memory["correlation"] == pytest.approx(1 / 1.0025, abs=1e-3)
    [run] = found["tasks"][NARMA]
    assert narma["readout"]["nrmse"] == pytest.approx(run["readout"]["nrmse"], rel=0.1)
    shaken = [run["with_noise"][level]["nrmse"] for level in ("0.001", "0.01", "0.1")]
    assert shaken[0] == pytest.approx(run["readout"]["nrmse"], rel=0.02)
    assert shaken[0] < shaken[2]
    out = command(*given)[1]
    assert "given again: nodes correlate 0.99" in out
    assert "of each node's deviation   0.001: " in out


def test_charc_searches_the_settings_of_a_device():
    from quickstudy.adapters.device import Device

    class Gain(Device):
        searched = {"gain": (0.05, 3.0)}

        def __init__(self, brief, seed, gain=1.0):
            super().__init__(brief, seed)
            self.gain = gain

        def respond(self, inputs):
            return reservoir(self.gain * np.asarray(inputs))

    settings = {"population": 4, "generations": 4}
    [run] = qs.run(
        "dynamics/charc", Gain, seeds=1, protocol=settings, controls=False, progress=False
    ).records
    assert run.status == "ok", run.reason
    assert run.scores["coverage"]["values"]["voxels"] > 1
