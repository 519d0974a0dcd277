"""Calls that were interrupted go on, with the numbers of calls that were not."""

import math
import os
import pathlib
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from quickstudy.base.registry import include
from quickstudy.learners.host import HostPupil
from quickstudy.protocols import examination
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.runs import checkpoints
from quickstudy.runs.archive import pack
from quickstudy.runs.doctor import examine_folder, repair
from quickstudy.runs.execute import execute
from quickstudy.runs.folder import prepare_folder
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting

LONG = pathlib.Path(__file__).with_name("long.py")
SMALL = {"sequences": 60, "schedule": "thinned"}
TESTS = 6
"""Fewer than any of the runs below makes."""


class Killed(BaseException):
    """As sudden as a signal, but inside this process."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(checkpoints, "HAND_IN_SECONDS", 0.0)
    monkeypatch.setattr(checkpoints, "MOST_OF_THE_TIME", math.inf)
    monkeypatch.setattr(
        examination, "PIECE_SECONDS", 600.0
    )  # not between two tests, however slow the machine


@pytest.fixture
def handed(monkeypatch):
    """Counts what is handed in, and kills the call after so many."""

    class Count:
        number, last = 0, math.inf

    write = checkpoints.UnfinishedCall._write

    def counting(self, so_far, seconds):
        write(self, so_far, seconds)
        Count.number += 1
        if Count.number == Count.last:
            raise Killed

    monkeypatch.setattr(checkpoints.UnfinishedCall, "_write", counting)
    return Count


def numbers(outcome):
    arrays = {
        name: (array.dtype.str, array.tobytes()) for name, array in outcome.trace.arrays.items()
    }
    cost = {
        name: value for name, value in outcome.record.cost.items() if not name.endswith("_seconds")
    }
    return outcome.record.status, outcome.record.scores, arrays, cost


LEARNERS = {
    "adam": ("language/qa", "lstm:units=5,passes=2", "corrected"),
    "noise": (
        "language/qa",
        "transformer:embedding=8,heads=2,hidden=6,dropout=0.5,passes=2",
        "corrected",
    ),
    "sgd": ("language/qa", "esn:units=30", "corrected"),
    "peek": ("language/qa", "esn:units=30", "published"),
    "rls": ("language/qa", "esn+rls:units=10", "corrected"),
    "ridge": ("language/qa", "esn+ridge:units=10", "corrected"),
    "voting": ("language/qa", "recall", "published"),
    "pooled": (
        "language/qa",
        "lstm+pooled:units=5,vectors=4,dropped=0.5,normed=true,passes=2",
        "corrected",
    ),
    "relearning": (
        "continual/chained",
        "relearning:learner=esn+rls:units=10,every=50",
        "corrected",
    ),
    "tampered": ("language/qa", "tampered:learner=esn:units=30", "corrected"),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.slow
def test_every_way_of_learning_goes_on_where_it_was(name, tmp_path, handed, rng):
    task, learner, convention = LEARNERS[name]
    setting = Setting(task, learner, convention, protocol=SMALL)
    (whole,) = examine(setting, [0])
    assert whole.record.status == "ok", whole.record.reason
    tests = len(whole.trace.arrays["step"])
    assert tests > TESTS
    journal = Journal(tmp_path)
    kills = np.sort(rng.choice(np.arange(1, tests), 2, replace=False)).tolist()
    for number, last in enumerate(kills):
        handed.last = last
        with pytest.raises(Killed):
            list(examine(setting, [0], journal=journal))
        assert handed.number == last, f"after {number} interruptions something was done twice"
    handed.last = math.inf
    (again,) = examine(setting, [0], journal=journal)
    assert handed.number == tests
    assert numbers(again) == numbers(whole)
    assert again.record.where["resumed"] == 2
    assert "resumed" not in whole.record.where
    assert len(list((tmp_path / "unfinished").iterdir())) == 1
    with journal:
        journal.save(again)
    assert not list((tmp_path / "unfinished").iterdir())


def the_last_alone(self, *arguments, points=LanguageProtocol._points):
    return points(self, *arguments)[-1:]


@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "relearning"])
@pytest.mark.slow
def test_a_long_lesson_with_a_single_test_goes_on_between_its_items(
    name, tmp_path, handed, monkeypatch
):
    task, learner, convention = LEARNERS[name]
    monkeypatch.setattr(LanguageProtocol, "_points", the_last_alone)
    setting = Setting(task, learner, convention, protocol=SMALL)
    (whole,) = examine(setting, [0])
    assert whole.record.status == "ok", whole.record.reason
    assert len(whole.trace.arrays["step"]) == 1
    monkeypatch.setattr(examination, "PIECE_SECONDS", 0.0)
    for handed.last in (2, 5):
        with pytest.raises(Killed):
            list(examine(setting, [0], journal=Journal(tmp_path)))
        assert handed.number == handed.last
    handed.last = math.inf
    (again,) = examine(setting, [0], journal=Journal(tmp_path))
    assert numbers(again) == numbers(whole)
    assert again.record.where["resumed"] == 2
    # One for every stride, and none of them twice.
    assert handed.number == -(
        -int(whole.trace.arrays["step"][-1]) // int(whole.trace.facts["batch"])
    )


def test_a_kill_costs_a_piece_of_a_lesson_with_a_single_test(tmp_path, handed, monkeypatch):
    monkeypatch.setattr(LanguageProtocol, "_points", the_last_alone)
    monkeypatch.setattr(examination, "PIECE_SECONDS", 0.0)
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    setting = Setting("language/qa", f"{LONG}:Slow:pause=0", protocol=SMALL)
    handed.last = 20
    with pytest.raises(Killed):
        list(examine(setting, [0], journal=Journal(tmp_path)))
    handed.last = math.inf
    (outcome,) = examine(setting, [0], journal=Journal(tmp_path))
    assert outcome.record.status == "ok"
    assert len((tmp_path / "notes").read_text().splitlines()) == 48


def test_a_lesson_is_cut_only_where_it_takes_its_time_and_something_is_kept(tmp_path, monkeypatch):
    calls = []
    learn = HostPupil.learn

    def counting(self, lesson, start, stop):
        calls.append((start, stop))
        learn(self, lesson, start, stop)

    monkeypatch.setattr(HostPupil, "learn", counting)
    monkeypatch.setattr(LanguageProtocol, "_points", the_last_alone)
    setting = Setting("language/qa", f"{LONG}:Slow:pause=0", protocol=SMALL)
    list(examine(setting, [0]))
    assert calls == [(0, 48)]
    calls.clear()
    list(examine(setting, [0], journal=Journal(tmp_path)))
    assert calls == [(0, 1), (1, 48)]  # the first is timed
    calls.clear()
    monkeypatch.delattr(include(LONG).Slow, "snapshot")
    list(examine(setting, [0], journal=Journal(tmp_path)))
    assert calls == [(0, 48)]


def test_lanes_side_by_side_are_one_call_and_one_file(tmp_path, handed, monkeypatch):
    monkeypatch.setattr("quickstudy.jax_gateway.device_kind", lambda: "gpu")
    setting = Setting("language/qa", "esn:units=10", protocol=SMALL)
    whole = [numbers(outcome) for outcome in examine(setting, [0, 1], wanted=3)]
    handed.last = 7
    with pytest.raises(Killed):
        list(examine(setting, [0, 1], wanted=3, journal=Journal(tmp_path)))
    assert len(list((tmp_path / "unfinished").iterdir())) == 1
    handed.last = math.inf
    with Journal(tmp_path) as journal:
        outcomes = list(examine(setting, [0, 1], wanted=3, journal=journal))
        assert [numbers(outcome) for outcome in outcomes] == whole
        assert [outcome.record.where["lanes"] for outcome in outcomes] == [3, 3]
        assert [outcome.record.where["resumed"] for outcome in outcomes] == [1, 1]
        for outcome in outcomes:
            assert len(list((tmp_path / "unfinished").iterdir())) == 1
            journal.save(outcome)
    assert not list((tmp_path / "unfinished").iterdir())


def test_times_are_the_sum_over_all_attempts(tmp_path, handed, monkeypatch):
    setting = Setting("language/qa", f"{LONG}:Slow:pause=0.01", protocol=SMALL)
    handed.last = 20
    with pytest.raises(Killed):
        list(examine(setting, [0], journal=Journal(tmp_path)))
    handed.last, began = math.inf, time.monotonic()
    (outcome,) = examine(setting, [0], journal=Journal(tmp_path))
    assert outcome.record.cost["learn_seconds"] >= 48 * 0.01
    assert (
        outcome.record.where["seconds"]
        > time.monotonic() - began
        > outcome.record.where["seconds"] - 1.0
    )


def killed_runs(folder, environment, rng):
    """A run of two seeds, its processes killed at moments that nobody chose, until it comes
    through: after some sequences that it has noted, for on a busy machine no number of seconds says
    how far it has come.
    """
    notes = pathlib.Path(environment["NOTES"])
    for attempt in range(8):
        workers = str(attempt % 3)
        command = [sys.executable, str(LONG), str(folder), workers, "2"]
        enough = noted(notes) + int(rng.integers(0, 12)) if attempt < 6 else math.inf
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
        ) as process:
            process.stdout.readline()
            while process.poll() is None and noted(notes) < enough:
                time.sleep(0.01)
            time.sleep(float(rng.uniform(0, 0.1)))
            if process.poll() is None:
                (os.killpg if attempt % 2 else os.kill)(process.pid, signal.SIGKILL)
        if process.returncode == 0:
            return attempt
        assert process.returncode == -signal.SIGKILL
    raise AssertionError("never came through")


def noted(notes):
    return len(notes.read_text().splitlines()) if notes.exists() else 0


@pytest.mark.slow
def test_killed_at_any_moment_and_run_again(tmp_path, lab, rng):
    long = include(LONG)
    execute(long.plan(2), tmp_path / "whole", ExecuteOptions(workers=0))
    notes = tmp_path / "notes"
    attempts = killed_runs(tmp_path / "killed", {**os.environ, "NOTES": str(notes)}, rng)
    assert lab.numbers(tmp_path / "killed") == lab.numbers(tmp_path / "whole")
    records = read_results(tmp_path / "killed").records.values()
    assert attempts >= 2, "the kills came too late"
    assert any(record.where.get("resumed") for record in records)
    # A kill costs no more than the sequence that was just being learned, in each of two processes.
    shown = noted(notes)
    assert 2 * long.SHOWN <= shown <= 2 * long.SHOWN + 2 * attempts, attempts
    assert not list((tmp_path / "killed" / "unfinished").glob("*.npz"))


def test_a_run_whose_worker_died_goes_on_in_another(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    long = include(LONG)
    died = execute(long.plan(1, "Dies"), tmp_path, ExecuteOptions(workers=1))
    assert (died.ok, died.failed) == (1, 0)
    assert examine_folder(tmp_path) == []
    assert len((tmp_path / "notes").read_text().splitlines()) == long.SHOWN + 1


@pytest.fixture
def interrupted(tmp_path, handed):
    """A folder with an unfinished call of one run, and the run as it should be."""
    setting = Setting("language/qa", f"{LONG}:Slow:pause=0", protocol=SMALL)
    folder = tmp_path / "results"
    prepare_folder(folder)
    handed.last = 4
    with pytest.raises(Killed):
        list(examine(setting, [0], journal=Journal(folder)))
    handed.last = math.inf
    (whole,) = examine(setting, [0])
    (path,) = (folder / "unfinished").iterdir()
    assert path.name == f"{whole.record.key}.npz"
    return folder, path, setting, whole


def change(path, **facts):
    """The same unfinished call, of another place."""
    kept = checkpoints.read_snapshot(path)
    call = {**kept.facts["call"], **facts}
    with open(path, "wb") as file:
        content = checkpoints.Snapshot(kept.arrays, {**kept.facts, "call": call})
        checkpoints.write_arrays(file, checkpoints.snapshot_arrays(content))


@pytest.mark.parametrize(
    ("spoil", "note"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:500]), "cannot be read"),
        (lambda path: path.write_bytes(b""), "cannot be read"),
        (lambda path: change(path, versions={"numpy": "0.1"}), "is of numpy 0.1, not"),
        (lambda path: change(path, lanes=100), "is of other lanes"),
        (lambda path: change(path, keys=["0" * 64]), "is of other keys"),
        (lambda path: change(path, device="gpu"), "is of other device"),
    ],
)
def test_a_damaged_or_foreign_file_is_left_alone_and_said(interrupted, capsys, spoil, note):
    folder, path, setting, whole = interrupted
    spoil(path)
    (outcome,) = examine(setting, [0], journal=Journal(folder))
    assert note in capsys.readouterr().err
    assert numbers(outcome) == numbers(whole)
    assert "resumed" not in outcome.record.where


def test_the_doctor_waits_for_an_unfinished_call_and_removes_one_that_is_finished(interrupted):
    folder, path, setting, _ = interrupted
    assert examine_folder(folder) == []
    assert repair(folder) == []
    kept = path.read_bytes()
    (outcome,) = examine(setting, [0], journal=Journal(folder))
    with Journal(folder) as journal:
        journal.save(outcome)
    assert not path.exists()
    path.write_bytes(kept)  # as if killed between the line and the removal
    (damage,) = examine_folder(folder)
    assert str(damage) == f"unfinished/{path.name}: left over from a run that was killed"
    assert repair(folder) == [
        f"removed unfinished/{path.name}, left over from a run that was killed"
    ]
    assert examine_folder(folder) == []
    path.write_bytes(kept[:300])
    assert len(repair(folder)) == 1
    assert not path.exists()


def test_a_packed_folder_holds_nothing_unfinished(interrupted):
    folder, *_ = interrupted
    assert not any("unfinished" in name for name in zipfile.ZipFile(pack(folder)).namelist())


@pytest.mark.parametrize("fault", ["cannot be kept", "kept as objects", "cannot be set back"])
def test_a_learner_that_cannot_be_kept_begins_anew(interrupted, monkeypatch, handed, capfd, fault):
    folder, path, setting, whole = interrupted
    kind = vars(include(LONG))["Slow"]

    def broken(*_):
        raise ValueError(fault)

    if fault == "cannot be set back":
        monkeypatch.setattr(kind, "restore", broken)
    else:
        path.unlink()
        objects = checkpoints.Snapshot({"x": np.array([object()])})
        monkeypatch.setattr(
            kind, "snapshot", broken if fault == "cannot be kept" else lambda self: objects
        )
    (outcome,) = examine(setting, [0], journal=Journal(folder))
    assert numbers(outcome) == numbers(whole)
    assert "resumed" not in outcome.record.where
    said = "restore failed, so its interrupted run restarts: ValueError: cannot be set back"
    assert (said in capfd.readouterr().err) == (fault == "cannot be set back")


def test_a_short_call_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "HAND_IN_SECONDS", 30.0)
    setting = Setting("language/qa", f"{LONG}:Slow:pause=0", protocol=SMALL)
    (outcome,) = examine(setting, [0], journal=Journal(tmp_path))
    assert outcome.record.status == "ok"
    assert not (tmp_path / "unfinished").exists()


def test_a_protocol_that_knows_nothing_of_it_hands_in_nothing(tmp_path, monkeypatch):
    setting = Setting("language/qa", f"{LONG}:Slow:pause=0", protocol=SMALL)
    (whole,) = examine(setting, [0])
    original = LanguageProtocol.examine
    monkeypatch.setattr(
        LanguageProtocol,
        "examine",
        lambda self, task, learner, streams: original(self, task, learner, streams),
    )
    (outcome,) = examine(setting, [0], journal=Journal(tmp_path))
    assert numbers(outcome) == numbers(whole)
    assert not (tmp_path / "unfinished").exists()


def test_writing_takes_a_small_part_of_the_time(tmp_path, monkeypatch):
    clock = {"now": 0.0}
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: clock["now"])
    monkeypatch.setattr(checkpoints, "HAND_IN_SECONDS", 30.0)
    monkeypatch.setattr(checkpoints, "MOST_OF_THE_TIME", 0.05)
    call = checkpoints.UnfinishedCall(
        Journal(tmp_path), ["a" * 64], {"versions": {}, "device": "cpu", "lanes": 1}
    )
    written = []

    def so_far():
        written.append(clock["now"])
        clock["now"] += 10.0  # as long as it takes
        return checkpoints.SoFar({}, {}, checkpoints.Snapshot({}))

    while clock["now"] < 1000.0:
        clock["now"] += 1.0
        call.hand_in(so_far)
    assert written[0] == 30.0
    assert np.diff(written).min() >= 10.0 / 0.05
    assert len(written) == 5


@pytest.mark.parametrize("search", ["tempering", "evolution"])
@pytest.mark.slow
def test_a_search_that_is_one_long_item_goes_on_in_the_midst_of_it(search, tmp_path, handed):
    """Of a description-length search of a second, killed three times, no round is made twice."""
    learner = (
        f"mdlrnn:search={search},effort=20,population=20,generations=400,islands=2,exchange=100"
    )
    setting = Setting("grammar/an-bn", learner, protocol={"order": 1, "factors": "2/1"})
    (whole,) = examine(setting, [0])
    assert whole.record.status == "ok", whole.record.reason
    for handed.last in (3, 5, 11):  # the last one is in the second factor, or behind the first
        with pytest.raises(Killed):
            list(examine(setting, [0], journal=Journal(tmp_path)))
        assert handed.number == handed.last
    handed.last = math.inf
    (again,) = examine(setting, [0], journal=Journal(tmp_path))
    assert numbers(again) == numbers(whole)
    assert again.record.where["resumed"] == 3
    interrupted, handed.number = handed.number, 0
    list(examine(setting, [0], journal=Journal(tmp_path / "another")))
    assert interrupted == handed.number
