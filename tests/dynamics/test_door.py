"""The door for devices: a drive goes out, states come back, and what may be wrong with them is
said.
"""

from __future__ import annotations

import json
import pathlib
import sys

import numpy as np
import pytest

from quickstudy.adapters.device import Device, LineDevice, SteppedDevice
from quickstudy.base.errors import LearnerFault
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals
from quickstudy.data.recordings import read_drive
from quickstudy.measures.checklist import WANTED, missing, one_sided, verdict

NARMA = "dynamics/narma-10:training=600,validation=200,test=300"
MEMORY = "dynamics/memory:training=500,test=500"


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    from quickstudy.cli.main import main

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return left.value.code, *capsys.readouterr()

    return call


def shift_register(inputs, taps=12):
    """A device whose states are the last inputs, one more that is always the same, in its own
    units.
    """
    padded = np.concatenate([np.zeros(taps - 1), inputs[:, 0]])
    windows = np.lib.stride_tricks.sliding_window_view(padded, taps)[:, ::-1]
    return np.column_stack([7 * windows, np.full(len(inputs), 0.5)])


@pytest.fixture
def recorded(command):
    """What a shift register gives to a drive, as it was written in volts; saved by name and
    rows.
    """
    status, *_ = command(
        "drive", NARMA, MEMORY, "-o", "drive.csv", "--rate", 50, "--volts", "-2:3", "-r", 2
    )
    assert status == 0
    header, volts = read_drive("drive.csv")
    return header, volts, shift_register(volts)


def written(name, states, stamp=None, stamps=()):
    names = [*([stamp] if stamp else []), *(f"n{place}" for place in range(states.shape[1]))]
    table = np.column_stack([*([stamps] if stamp else []), states])
    np.savetxt(name, table, delimiter=",", header=",".join(names), comments="")


def test_a_drive_says_all_that_is_needed_to_read_it(recorded):
    header, volts, _ = recorded
    assert (
        header["samples"]
        == len(volts)
        == 2 * (200 + 600 + 200 + 300) + 2 * (200 + 1000 + 200 + 1000)
    )
    assert [part["role"] for part in header["segments"]] == [
        *["series"] * 2,
        *["series", "generalisation"] * 2,
    ]
    assert [part["start"] for part in header["segments"]] == [0, 1300, 2600, 3800, 5000, 6200]
    assert volts[:1300].min() == pytest.approx(-2)
    assert volts[:1300].max() == pytest.approx(3)
    first = header["segments"][0]
    inputs = (volts[:1300] - first["offset"]) / first["scale"]
    assert 0 <= inputs.min() < inputs.max() <= 0.5
    narrow = volts[3800:5000]
    assert np.ptp(narrow) == pytest.approx(0.5, rel=0.02)


def test_states_of_a_shift_register_are_scored_for_what_they_are(command, recorded):
    written("states.csv", recorded[2])
    given = (
        "--configuration",
        "12 taps",
        "--encoding",
        "volts",
        "--noise",
        "none",
        "--precision",
        "double",
    )
    status, out, _ = command(
        "score", "dynamics", "states.csv", "--drive", "drive.csv", "--json", *given
    )
    found = json.loads(out)
    assert status == 0
    assert (found["states"], found["constant"], found["repeated"]) == (13, 1, 0)
    assert found["checklist"]["comparable"]
    for run in found["tasks"][NARMA]:
        # A linear filter of the same taps is all that a shift register can be.
        assert run["readout"]["nrmse"] == pytest.approx(run["linear"]["nrmse"], rel=0.02)
        assert 0.3 < run["readout"]["nrmse"] < 0.6 < run["persistence"]["nrmse"] < 1.2
        assert run["mean"]["nrmse"] == pytest.approx(1, abs=0.1)
    assert len(found["tasks"][NARMA]) == len(found["properties"]) == 2
    for one in found["properties"]:
        assert sum(one["memory_split"][1:12]) == pytest.approx(11, abs=1e-6)
        assert one["ipc_total"] == pytest.approx(12, abs=1e-6)
        assert one["kernel_rank"]["0.01"] == 12
    said = command("score", "dynamics", "states.csv", "--drive", "drive.csv", "--noise", "none")[1]
    assert (
        "configuration, encoding, precision not stated  ->  not comparable until --configuration"
        in said
    )
    assert "linear (12 taps)" in said


def test_samples_that_came_twice_are_taken_once(command, recorded):
    _, _, states = recorded
    rows = [0, 0, 1, *range(2, len(states))]
    written("twice.csv", states[rows], "step", rows)
    _, out, _ = command("score", "dynamics", "twice.csv", "--drive", "drive.csv", "--json")
    assert json.loads(out)["repeated"] == 1


def test_parquet_is_read_like_the_rest(command, recorded):
    duckdb = pytest.importorskip("duckdb")
    written("states.csv", recorded[2])
    duckdb.read_csv("states.csv").write_parquet("states.parquet")
    answers = [
        json.loads(
            command("score", "dynamics", f"states.{kind}", "--drive", "drive.csv", "--json")[1]
        )["tasks"]
        for kind in ("csv", "parquet")
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("short", "7399 rows, but the drive has 7400 samples"),
        ("missing", "1 of 7400 samples is missing, the first is 5; take --missing hold"),
        ("jump", "row 4: the time jumps to 0.09"),
        ("milliseconds", "goes on by 20 a sample, and the drive by 0.02 s: is it in milliseconds?"),
        ("from 1", "steps run from 1 to 7400, the drive's from 0 to 7399"),
        ("shuffled", "row 2: step 0 comes after 1; sort the rows"),
        ("clock", 'column "Time (s)" goes on by 0.02 at every row: it is a clock'),
        ("drive", 'column "input_1" is the drive and no state'),
        ("nan", "row 9, column 1: every cell must be a number, got nan"),
        ("constant", "all 13 states are constant"),
        ("semicolons", "its cells stand between semicolons; write commas for them\n"),
        ("decimal commas", "write commas for them and decimal points for decimal commas"),
        ("other drive", "is not a drive; make one with"),
    ],
)
def test_what_is_wrong_with_a_recording_is_said(command, recorded, fault, said):
    _, _, states = recorded
    steps = np.arange(len(states), dtype=np.float64)
    if fault == "short":
        written("states.csv", states[:-1])
    elif fault == "missing":
        written("states.csv", np.delete(states, 5, axis=0), "step", np.delete(steps, 5))
    elif fault == "jump":
        times = steps / 50
        times[3:] += 0.03
        written("states.csv", states, "time", times)
    elif fault == "milliseconds":
        written("states.csv", states, "time", steps * 20)
    elif fault == "from 1":
        written("states.csv", states, "step", steps + 1)
    elif fault == "shuffled":
        written("states.csv", states, "step", [1, *steps[:1], *steps[2:]])
    elif fault == "clock":
        written("states.csv", states, "Time (s)", steps / 50)
    elif fault == "drive":
        written("states.csv", states, "input_1", recorded[1][:, 0])
    elif fault == "nan":
        written("states.csv", np.where(steps[:, None] == 8, np.nan, states))
    elif fault == "constant":
        written("states.csv", np.ones_like(states))
    elif fault in ("semicolons", "decimal commas"):
        written("states.csv", states)
        text = pathlib.Path("states.csv").read_text().replace(",", ";")
        pathlib.Path("states.csv").write_text(text.replace(".", "," if "decimal" in fault else "."))
    else:
        written("drive.csv", states)
        written("states.csv", states)
    status, _, err = command("score", "dynamics", "states.csv", "--drive", "drive.csv")
    assert status == 2
    assert said in err
    assert err.count("\n") == 1


def test_saved_python_objects_are_refused_with_the_remedy(command, recorded):
    np.save("states.npy", recorded[2].astype(object), allow_pickle=True)
    status, _, err = command("score", "dynamics", "states.npy", "--drive", "drive.csv")
    assert status == 2
    assert "it holds Python objects; save numbers" in err


def test_nothing_held_is_printed_without_degrees(command, recorded):
    written("states.csv", np.random.default_rng(0).normal(size=recorded[2].shape))
    out = command("score", "dynamics", "states.csv", "--drive", "drive.csv")[1]
    assert "memory capacity 0.0 (of 13)   IPC 0.0\n" in out
    assert "(noise above a threshold counts as rank)" in out


def test_a_missing_sample_can_be_held(command, recorded):
    states = recorded[2]
    steps = np.arange(len(states))
    written("states.csv", np.delete(states, 5, axis=0), "step", np.delete(steps, 5))
    _, out, _ = command(
        "score", "dynamics", "states.csv", "--drive", "drive.csv", "--missing", "hold"
    )
    assert out.startswith("7,399 of 7,400 samples, 1 missing (held)")


def test_a_missing_cell_can_be_held(command, recorded):
    states = recorded[2].copy()
    states[8, 2] = np.nan
    written("states.csv", states)
    np.save("states.npy", states)
    for name in ("states.csv", "states.npy"):
        _, out, _ = command("score", "dynamics", name, "--drive", "drive.csv", "--missing", "hold")
        assert out.startswith("7,399 of 7,400 samples, 1 missing (held)")
    states[0, 2] = np.nan
    written("states.csv", states)
    status, _, err = command(
        "score", "dynamics", "states.csv", "--drive", "drive.csv", "--missing", "hold"
    )
    assert (status, err) == (
        2,
        "states.csv, row 1: a state is missing, and there is none before it to hold\n",
    )


def test_a_row_of_separators_is_a_missing_sample_and_not_an_empty_line(command, recorded):
    written("states.csv", recorded[2])
    lines = pathlib.Path("states.csv").read_text().splitlines()
    lines[9] = "," * (recorded[2].shape[1] - 1)
    pathlib.Path("states.csv").write_text("\n".join([*lines, "", lines[9], ""]))
    asked = ("score", "dynamics", "states.csv", "--drive", "drive.csv")
    status, _, err = command(*asked)
    assert (status, err.partition(":")[0]) == (2, "states.csv, row 9, column 1")
    assert command(*asked, "--missing", "hold")[1].startswith(
        "7,399 of 7,400 samples, 1 missing (held)"
    )


def twelve_nodes(volts):
    """Twelve nodes with 1 % noise."""
    states = shift_register(volts)[:, :12] / 7
    return np.tanh(states) + 0.01 * np.random.default_rng(1).normal(size=states.shape)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("none", ""),
        ("monitor", 'column "n12" follows the drive at every sample'),
        ("twice", 'columns that equal another one: "n12" ("n3")'),
        ("coarse", 'columns with at most 16 different values: "n3"'),
        ("clipped", 'columns with over 1% of their samples at one end: "n3"'),
        ("drift", 'the mean goes one way with time in "n3"'),
        ("fading", 'the deviation goes one way with time in "n3"'),
        ("slow", "states are like those of 50 samples before"),
        ("dead", 'nor its square shows in "n3"'),
    ],
)
def test_what_looks_wrong_with_a_node_is_warned_of(command, fault, said):
    command("drive", "dynamics/memory:training=2000,test=2000,washout=50", "-o", "drive.csv")
    volts = read_drive("drive.csv")[1]
    states, time = twelve_nodes(volts), np.arange(len(volts))
    if fault == "monitor":
        states = np.column_stack([states, 0.3 * volts[:, 0] + 2])
    elif fault == "twice":
        states = np.column_stack([states, states[:, 3]])
    elif fault == "coarse":
        states[:, 3] = np.round(4 * states[:, 3])
    elif fault == "clipped":
        states[:, 3] = np.minimum(states[:, 3], np.quantile(states[:, 3], 0.98))
    elif fault == "drift":
        states[:, 3] += time / 2000
    elif fault == "fading":
        states[:, 3] *= np.exp(-time / 2000)
    elif fault == "slow":
        for step in time[1:]:
            states[step, 3] = 0.99 * states[step - 1, 3] + 0.01 * volts[step, 0]
    elif fault == "dead":
        states[:, 3] = np.random.default_rng(2).normal(size=len(time))
    written("states.csv", states)
    status, _, err = command("score", "dynamics", "states.csv", "--drive", "drive.csv")
    assert status == 0
    assert said in err
    assert bool(said) == bool(err)


def test_jitter_and_a_fast_clock_are_no_jumps(command, recorded):
    states = recorded[2]
    steps = np.arange(len(states))
    shaken = np.random.default_rng(0).normal(scale=0.1, size=len(steps))
    for times in ((steps + shaken) / 50, steps * 1.001 / 50):
        written("states.csv", states, "time", times)
        assert command("score", "dynamics", "states.csv", "--drive", "drive.csv")[0] == 0


def test_a_time_beside_the_step_is_looked_at(command, recorded):
    states = recorded[2]
    steps = np.arange(len(states))
    times = np.where(steps < 9, steps, steps + 25) * 20.0
    table = np.column_stack([steps, times, states])
    names = ["step", "time", *(f"n{place}" for place in range(states.shape[1]))]
    np.savetxt("states.csv", table, delimiter=",", header=",".join(names), comments="")
    _, _, err = command("score", "dynamics", "states.csv", "--drive", "drive.csv")
    assert "row 10: the time jumps from 160 to 680, and the step does not" in err
    assert "is it in milliseconds?" in err


def test_rows_that_are_a_sample_early_or_late_are_warned_of(command, recorded):
    for shift, said in ((-1, "rows are a sample early"), (1, "rows are a sample late"), (0, "")):
        written("states.csv", np.roll(recorded[2], shift, axis=0))
        _, _, err = command("score", "dynamics", "states.csv", "--drive", "drive.csv")
        assert said in err
        assert bool(said) == ("rows are a sample" in err)


def test_shifted_rows_are_seen_on_narma_alone(command):
    command("drive", NARMA, "-o", "drive.csv")
    states = shift_register(read_drive("drive.csv")[1])
    for shift, said in ((-1, "rows are a sample early"), (1, "rows are a sample late"), (0, "")):
        written("states.csv", np.roll(states, shift, axis=0))
        _, _, err = command("score", "dynamics", "states.csv", "--drive", "drive.csv")
        assert said in err
        assert bool(said) == ("rows are a sample" in err)
        assert err.count("rows are a sample") < 2


def test_a_memory_that_is_longer_than_twice_the_nodes_is_summed_to_its_end(command, recorded):
    # One leaky node: the memory goes on by 0.9 a step, far beyond two delays.
    inputs, leaky = recorded[1][:, 0], np.zeros(len(recorded[1]))
    for step, value in enumerate(inputs):
        leaky[step] = (0.9 * leaky[step - 1] if step else 0.0) + value
    written("states.csv", leaky[:, None])
    _, out, _ = command("score", "dynamics", "states.csv", "--drive", "drive.csv", "--json")
    one = json.loads(out)["properties"][0]
    curve = np.array(one["memory_split"][1:])
    assert len(curve) > 10
    assert one["memory_capacity"] == pytest.approx(curve[curve >= one["memory_threshold"]].sum())
    assert one["memory_capacity"] > 1.5 * curve[:2].sum()


def test_capacities_of_too_few_steps_are_not_given(command):
    short = "dynamics/memory:training=100,test=100,washout=0"
    command("drive", short, "-o", "drive.csv")
    inputs = read_drive("drive.csv")[1]
    rng = np.random.default_rng(0)
    written(
        "states.csv", np.tanh(shift_register(inputs, 16)[:, :16] @ rng.normal(size=(16, 64)) / 50)
    )
    _, out, err = command("score", "dynamics", "states.csv", "--drive", "drive.csv")
    assert not err
    assert "200 steps are too few for 64 states: capacities need about 1,100; not given" in out
    assert "capacity 0" not in out
    assert "IPC" not in out


def test_a_drive_of_another_task_version_is_refused(command, recorded):
    header, _, states = recorded
    written("states.csv", states)
    with open("drive.csv", encoding="utf-8") as file:
        text = file.read().replace(header["segments"][0]["sha256"], "0" * 16)
    with open("drive.csv", "w", encoding="utf-8") as file:
        file.write(text)
    status, _, err = command("score", "dynamics", "states.csv", "--drive", "drive.csv")
    assert status == 2
    assert "now draws other inputs than those that were written" in err


def begins_nowhere(header):
    header["segments"][0]["start"] = header["samples"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda header: header.update(format=2), "is of format 2, and 1 is read here"),
        (
            lambda header: header.pop("seed"),
            "its header was changed: seed must be a whole number, got None",
        ),
        (
            lambda header: header.update(segments=[5]),
            "its header was changed: segments must be objects, got 5",
        ),
        (
            lambda header: header["segments"][0].pop("task"),
            "its header was changed: task must be a text, got None",
        ),
        (begins_nowhere, "its header was changed: segments begin in 0 .. "),
        (lambda header: header["segments"].pop(2), "after its noise of the whole range"),
    ],
)
def test_a_drive_whose_header_was_changed_is_refused(command, recorded, change, said):
    header, _, states = recorded
    change(header)
    written("states.csv", states)
    drive = pathlib.Path("drive.csv")
    drive.write_text(
        f"# quickstudy drive {json.dumps(header)}\n" + drive.read_text().partition("\n")[2]
    )
    status, _, err = command("score", "dynamics", "states.csv", "--drive", "drive.csv")
    assert status == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((MEMORY, "--rate", "nan"), "--rate above 0, got 1 and nan"),
        ((MEMORY, "--volts", "1:-1"), "--volts must be two numbers, the lower one first"),
        ((MEMORY, "-r", 0), "--repetitions must be at least 1"),
        (("language/qa",), "language/qa is neither a series nor sequences"),
        (
            ("dynamics/memory", "dynamics/lorenz-63"),
            "dynamics/memory has 1, dynamics/lorenz-63 has 3; write one drive",
        ),
        ((MEMORY, "--rest", -1), "--rest and --again must be at least 0, got -1 and 0"),
        (("curriculum/micro-5.4",), "cannot drive a device; write what it asks with --questions"),
    ],
)
def test_a_drive_that_cannot_be_is_refused(command, options, said):
    status, _, err = command("drive", *options, "-o", "drive.csv")
    assert status == 2
    assert said in err


def test_what_is_not_stated_is_named():
    stated = {name: "said" for part in WANTED.values() for name in part}
    assert verdict(stated) == (
        "checklist: everything is stated (the statements themselves are not checked)"
    )
    assert list(missing({**stated, "washout": None, "noise": 0})) == ["washout"]
    assert verdict({**stated, "noise": ""}, ["noise"]).endswith(
        "not comparable until --noise is given"
    )
    assert one_sided(["imitation", "prediction"]) == ""


def test_an_experiment_from_elsewhere_is_held_to_the_checklist(command, tmp_path):
    stated = {name: "said" for part in WANTED.values() for name in part}
    (tmp_path / "whole.json").write_text(json.dumps(stated), encoding="utf-8")
    (tmp_path / "half.json").write_text(json.dumps({**stated, "scaling": ""}), encoding="utf-8")
    assert command("score", "checklist", "whole.json")[0] == 0
    status, out, _ = command("score", "checklist", "half.json", "--json")
    assert status == 1
    assert list(json.loads(out)["missing"]["half.json"]) == ["scaling"]


def test_runs_of_a_folder_are_held_to_it_too(command):
    import quickstudy as qs

    given = {"steps": 300, "budget": 50}
    qs.run(
        "dynamics/memory",
        "delay-line",
        seeds=1,
        out="alone",
        controls=False,
        protocol=given,
        workers=0,
    )
    qs.run(
        "dynamics/memory",
        "esn:units=5",
        seeds=1,
        out="alone",
        controls=False,
        protocol=given,
        workers=0,
    )
    assert command("score", "checklist", "alone")[1].startswith(
        "dynamics/memory esn:units=5  checklist: everything"
    )
    qs.run(
        "dynamics/memory",
        "esn:units=5",
        seeds=1,
        out="bare",
        controls=False,
        protocol=given,
        workers=0,
    )
    status, out, _ = command("score", "checklist", "bare")
    assert status == 1
    assert "controls not stated" in out


PROGRAM = """
import sys
state = 0.0
for line in sys.stdin:
    if line.strip() == "reset":
        state = 0.0
        continue
    if line.strip() == "{stop}":
        break
    state = 0.5 * state + float(line)
    print(state, state ** 2, flush=True)
"""


def test_a_process_that_answers_lines_is_a_device(tmp_path):
    brief, inputs = (
        Brief(Reals(1), Reals(1), "squared", 50, 1),
        np.random.default_rng(0).uniform(-1, 1, (50, 1)),
    )
    (tmp_path / "bench.py").write_text(
        PROGRAM.format(stop=repr(float(inputs[30, 0]))), encoding="utf-8"
    )

    class Bench(LineDevice):
        command = (sys.executable, str(tmp_path / "bench.py"))

    class Exact(Device):
        def respond(self, inputs):
            found, state = [], 0.0
            for value in inputs[:, 0]:
                state = 0.5 * state + value
                found.append((state, state**2))
            return found

    bench, exact = Bench(brief, 0), Exact(brief, 0)
    try:
        for device in (bench, exact):
            device.learn(inputs[:30], 3 * exact.states(inputs[:30])[:, :1] + 1)
        np.testing.assert_array_equal(bench.states(inputs[:20]), exact.states(inputs[:20]))
        np.testing.assert_array_equal(bench.predict(inputs[:20]), exact.predict(inputs[:20]))
        np.testing.assert_allclose(
            exact.predict(inputs), 3 * exact.states(inputs)[:, :1] + 1, atol=1e-5
        )
        with pytest.raises(
            LearnerFault, match=r"ended with status \d+ at step 30|does not read any more"
        ):
            bench.states(inputs)
    finally:
        bench.close()


def test_another_drive_is_not_overwritten(command):
    assert command("drive", MEMORY, "-o", "drive.csv")[0] == 0
    assert command("drive", MEMORY, "-o", "drive.csv")[0] == 0
    status, _, err = command("drive", MEMORY, "-o", "drive.csv", "--seed", 1)
    assert status == 2
    assert "drive.csv holds another drive" in err


@pytest.mark.parametrize(
    ("respond", "said"),
    [
        (None, r"the device Bench needs respond\(inputs\)"),
        (lambda self, inputs: np.ones((9, 3)), "all 3 states"),
    ],
)
def test_a_device_that_gives_nothing_is_named(respond, said):
    made = type("Bench", (Device,), {"respond": respond} if respond else {})
    device = made(Brief(Reals(1), Reals(1), "squared", 9, 1), 0)
    with pytest.raises(LearnerFault, match=said):
        device.learn(np.arange(9.0)[:, None], np.arange(9.0)[:, None])


class Leaky(SteppedDevice):
    """Leaky nodes that are fed step by step; counts its steps."""

    fed = 0

    def reset(self):
        self.values = np.zeros(6)

    def feed(self, inputs):
        Leaky.fed += 1
        rates = np.linspace(0.2, 1, 6)
        weights = np.sin(np.arange(6 * len(inputs))).reshape(6, -1)
        self.values = (1 - rates) * self.values + rates * np.tanh(
            weights @ inputs + 0.3 * self.values
        )
        return self.values


class AtOnce(Device):
    """The same nodes, which only answer whole series."""

    def respond(self, inputs):
        nodes = Leaky.__new__(Leaky)
        nodes.reset()
        return [nodes.feed(values) for values in inputs]


def test_a_device_that_steps_runs_free_without_replaying_prefixes():
    from quickstudy.base import registries
    from quickstudy.base.seeds import Streams
    from quickstudy.learners.learner_spec import bring, choose_learner
    from quickstudy.protocols.dynamics import DynamicsProtocol

    task = registries.typed_task(
        "dynamics/lorenz-63:training=300,validation=60,test=160,washout=50,free=40"
    )
    streams = [Streams(0, "dynamics/lorenz-63", 0)]
    found, fed = {}, {}
    for kind in (Leaky, AtOnce):
        Leaky.fed = 0
        learner = choose_learner(bring(kind), "corrected", task, "reals").make(task)
        found[kind] = DynamicsProtocol().examine(task, learner, streams).traces[0].arrays
        fed[kind] = Leaky.fed
    np.testing.assert_allclose(found[Leaky]["answer"], found[AtOnce]["answer"], rtol=1e-9)
    free = [found[kind]["free_answer"][:, :8] for kind in (Leaky, AtOnce)]
    np.testing.assert_allclose(*free, rtol=1e-7)  # rounding grows in a free run
    assert fed[Leaky] < fed[AtOnce] / 5


def test_rows_of_a_stepped_device_are_replayed_where_they_part():
    device = Leaky(Brief(Reals(1), Reals(1), "squared", 10, 1), 0)
    inputs = np.random.default_rng(0).uniform(-1, 1, (5, 3, 1))
    targets = np.ones((5, 1))
    device.learn(inputs[:, 0], targets + inputs[:, 0])
    state = device.start(3, 5)
    for x in inputs:
        state, answers = device.step(state, x)
    wanted = [device.predict(inputs[:, row])[-1] for row in range(3)]
    np.testing.assert_allclose(answers, wanted, rtol=1e-12)
    _, again = device.step(device.rows(state, np.array([2])), np.zeros((1, 1)))
    longer = np.concatenate([inputs[:, 2], np.zeros((1, 1))])
    np.testing.assert_allclose(again[0], device.predict(longer)[-1], rtol=1e-12)


def test_a_device_may_choose_its_strength_like_a_recording(recorded, command):
    import quickstudy as qs

    class Chosen(Device):
        strength = None

        def respond(self, inputs):
            return shift_register(inputs)

    written("states.csv", recorded[2])
    listed = json.loads(
        command("score", "dynamics", "states.csv", "--drive", "drive.csv", "--json")[1]
    )
    wanted = [run["readout"]["nrmse"] for run in listed["tasks"][NARMA]]
    runs = qs.run(NARMA, Chosen, seeds=2, controls=False, progress=False, workers=1).records
    found = [run.scores["errors"]["values"]["nrmse"] for run in runs]
    assert sorted(found) == pytest.approx(sorted(wanted), rel=1e-3)


def test_a_gain_that_changes_at_once_is_seen_and_chance_is_not():
    from quickstudy.data.recording_checks import odd_under_noise

    seen = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        inputs = rng.uniform(-1, 1, 3200)
        weights = rng.normal(size=(8, 8)) * 0.3
        states = np.zeros((3200, 8))
        for step in range(1, 3200):
            states[step] = np.tanh(weights @ states[step - 1] + inputs[step] * np.arange(1, 9) / 8)
        names = [f"n{number}" for number in range(8)]
        assert not odd_under_noise(states, inputs, 200, names)
        states[800:, 3] *= 1.5
        seen += odd_under_noise(states, inputs, 200, names)
    found = [warning for warning in seen if "deviation of n3 changes at once" in warning]
    assert len(found) >= 10
    assert any("near sample 8" in warning for warning in found)
