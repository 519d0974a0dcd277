import errno
import os
import time
from dataclasses import replace

import numpy as np
import pytest

from quickstudy.base import hardware
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.hardware import one_thread
from quickstudy.learners.learner_spec import bring
from quickstudy.runs import execute as execute_module
from quickstudy.runs.array_files import load_snapshot
from quickstudy.runs.engines import (
    Begun,
    Broken,
    Bundle,
    Done,
    Finished,
    Ready,
    choose_engine,
)
from quickstudy.runs.engines.messages import message_line, read_message
from quickstudy.runs.engines.process import ProcessEngine
from quickstudy.runs.execute import Execution, Started, execute
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.plan import make_plan
from quickstudy.runs.run_spec import Setting

TASKS = ("specimen/a", "specimen/large")


def counts(execution):
    return execution.ok, execution.failed, execution.not_applicable


def test_one_worker_two_workers_and_none_give_the_same_bits(lab, tmp_path):
    for workers in (0, 1, 2):
        execution = lab.run(tmp_path / str(workers), ["good", "lanes", "absent"], 6, workers, TASKS)
        assert counts(execution) == (24, 0, 12)
        assert execution.exit_status == 0
    first = lab.numbers(tmp_path / "0")
    assert len(first) == 36
    assert lab.numbers(tmp_path / "1") == first
    assert lab.numbers(tmp_path / "2") == first
    assert len(list((tmp_path / "2" / "runs").iterdir())) == 2
    assert len(list((tmp_path / "1" / "runs").iterdir())) == 1


def test_the_same_command_again_does_nothing_and_more_seeds_leave_the_old_alone(lab, tmp_path):
    lab.run(tmp_path, ["good"], 3)
    before = {path: path.read_bytes() for path in (tmp_path / "runs").iterdir()}
    numbers = lab.numbers(tmp_path)
    again = lab.run(tmp_path, ["good"], 3)
    assert (again.found, counts(again)) == ({"ok": 3}, (0, 0, 0))
    assert {path: path.read_bytes() for path in (tmp_path / "runs").iterdir()} == before
    more = lab.run(tmp_path, ["good"], 5)
    assert (more.found, counts(more)) == ({"ok": 3}, (2, 0, 0))
    assert all(path.read_bytes() == content for path, content in before.items())
    after = lab.numbers(tmp_path)
    assert {key: after[key] for key in numbers} == numbers
    assert len(after) == 5


TROUBLE = {
    "raise": "ValueError: cannot add apples",
    "exit": "SystemExit: 3",
    "status": 'unknown status "splendid"',
    "objects": "cannot be written down: Object arrays",
    "exotic": "cannot be written down",
    "stranger": "another run was examined",
}


def test_whatever_a_learner_does_the_others_go_on(lab, tmp_path):
    learners = [*TROUBLE, "prints", "good"]
    execution = lab.run(tmp_path, learners, 3)
    assert counts(execution) == (3 * len(learners) - len(TROUBLE), len(TROUBLE), 0)
    assert execution.exit_status == 1
    for learner, words in TROUBLE.items():
        found = lab.by_repetition(tmp_path, learner)
        assert [found[number][0] for number in range(3)] == ["ok", "failed", "ok"]
        assert words in found[1][1]
    assert not read_results(tmp_path).damage


def test_a_worker_that_dies_costs_its_repetition_only(lab, tmp_path):
    execution = lab.run(tmp_path, ["die", "leave", "raise", "good"], 3, workers=2)
    assert counts(execution) == (9, 3, 0)
    assert lab.by_repetition(tmp_path, "die") == {
        0: ("ok", ""),
        1: ("failed", "worker died twice (signal 9; out of memory?)"),
        2: ("ok", ""),
    }
    assert lab.by_repetition(tmp_path, "leave")[1] == ("failed", "worker died (exit status 3)")
    assert lab.by_repetition(tmp_path, "raise")[1][0] == "failed"


def test_a_run_whose_worker_died_is_tried_once_more_in_a_fresh_one(lab, tmp_path, monkeypatch):
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    assert counts(lab.run(tmp_path / "died", ["die-once"], 3, workers=1)) == (3, 0, 0)
    assert (tmp_path / "notes").exists()
    assert counts(lab.run(tmp_path / "whole", ["die-once"], 3, workers=1)) == (3, 0, 0)
    assert lab.numbers(tmp_path / "died") == lab.numbers(tmp_path / "whole")


@pytest.mark.parametrize("most", [0, hardware.CROWDED])
def test_a_worker_with_too_many_memory_maps_is_replaced(lab, tmp_path, monkeypatch, most):
    monkeypatch.setattr(hardware, "CROWDED", most)
    assert counts(lab.run(tmp_path, ["good", "prints", "slow"], 2, workers=1)) == (6, 0, 0)
    # Every process has a journal of its own.
    assert len(list((tmp_path / "runs").iterdir())) == (1 if most else 3)


@pytest.mark.parametrize("learner", ["pipes", "pipes-pickle", "pipes-long"])
def test_bytes_in_the_pipe_to_the_driver_fail_one_run_and_run_nothing(
    lab, tmp_path, monkeypatch, learner
):
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))
    assert counts(lab.run(tmp_path / "runs", [learner, "good"], 3, workers=1)) == (5, 1, 0)
    found = lab.by_repetition(tmp_path / "runs", learner)
    assert found[1] == (
        "failed",
        "worker died (the learner wrote into the pipe between worker and driver)",
    )
    assert not (tmp_path / "notes").exists()


@pytest.mark.parametrize(
    "message",
    [Ready(), Begun(("a", "b")), Done("a", "ok", "\ud800", 0.5), Finished(), Broken("full", True)],
)
def test_messages_come_back_and_nothing_else_is_one(message):
    line = message_line(message)
    assert read_message(line) == message
    for other in (
        b"[]\n",
        b"1\n",
        b'["Lost", {}]\n',
        b'["Done", {"key": []}]\n',
        line[:-3],
        b"[" * 100_000,
    ):
        with pytest.raises(ValueError, match="not a message"):
            read_message(other)


def test_a_learner_that_limits_the_size_of_files_costs_its_own_run_only(lab, tmp_path):
    assert counts(lab.run(tmp_path, ["small-files", "good"], 3, workers=1)) == (5, 1, 0)
    assert lab.by_repetition(tmp_path, "small-files")[1] == (
        "failed",
        "worker died (exit status 1)",
    )


def test_what_learners_print_stays_out_of_the_output(lab, tmp_path, capfd):
    for workers in (0, 1):
        assert counts(lab.run(tmp_path / str(workers), ["prints"], 2, workers)) == (2, 0, 0)
    output, errors = capfd.readouterr()
    assert output == ""
    assert errors.count("a learner speaks") == 2


def test_a_call_in_lanes_dies_together(lab, tmp_path):
    lab.run(tmp_path, ["lanes-die"], 6, workers=1)
    found = lab.by_repetition(tmp_path, "lanes-die")
    assert [found[number][0] for number in range(6)] == ["failed"] * 4 + ["ok"] * 2


@pytest.mark.parametrize("workers", [0, 1])
def test_a_learner_that_hangs_is_stopped_at_the_limit(lab, tmp_path, workers):
    began = time.monotonic()
    execution = lab.run(tmp_path, ["hang", "good"], 3, workers, limit_seconds=0.5)
    assert counts(execution) == (5, 1, 0)
    assert lab.by_repetition(tmp_path, "hang")[1] == ("failed", "took longer than 0.5 s")
    assert time.monotonic() - began < 15


def test_the_limit_must_be_positive(lab, tmp_path):
    with pytest.raises(UsageError, match="above 0"):
        lab.run(tmp_path, ["good"], 1, limit_seconds=0)
    with pytest.raises(UsageError, match="whole number from 0"):
        ExecuteOptions(workers=-1)


def test_failed_cells_run_again_only_when_asked(lab, tmp_path, monkeypatch):
    lab.run(tmp_path, ["raise"], 2)
    again = lab.run(tmp_path, ["raise"], 2)
    assert (again.found, counts(again), again.exit_status) == ({"ok": 1, "failed": 1}, (0, 0, 0), 1)
    assert counts(lab.run(tmp_path, ["raise"], 2, retry_failed=True)) == (0, 1, 0)
    monkeypatch.setattr(lab.specimens, "_trouble", lambda learner: None)
    mended = lab.run(tmp_path, ["raise"], 2, retry_failed=True)
    assert (mended.found, counts(mended), mended.exit_status) == ({"ok": 1}, (1, 0, 0), 0)
    assert lab.by_repetition(tmp_path, "raise") == {0: ("ok", ""), 1: ("ok", "")}


def test_trained_learners_are_kept_on_demand(lab, tmp_path):
    lab.run(tmp_path, ["good"], 1, keep_learners=True)
    (record,) = read_results(tmp_path).records.values()
    assert record.saved == f"learners/{record.key}.npz"
    assert load_snapshot(tmp_path, record).facts == {"width": 3}


def test_the_report_hears_every_event_once(lab, tmp_path):
    events = []
    lab.run(tmp_path, ["good"], 3, progress=events.append)
    assert isinstance(events[0], Started)
    assert (len(events[0].cells), events[0].found) == (3, 0)
    done = [event.key for event in events if isinstance(event, Done)]
    assert done == [cell.key for cell in events[0].cells]
    assert isinstance(events[-1], Execution)


def test_damage_in_the_folder_is_told_and_does_not_stop_the_run(lab, tmp_path):
    lab.run(tmp_path, ["good"], 2)
    (path,) = (tmp_path / "runs").iterdir()
    first, second = path.read_text().splitlines()
    path.write_text(f"{first[:50]}\n{second}\n")
    execution = lab.run(tmp_path, ["good"], 2)
    assert (execution.found, counts(execution), len(execution.damage)) == ({"ok": 1}, (1, 0, 0), 1)


def test_a_trace_that_was_lost_is_made_again(lab, tmp_path):
    lab.run(tmp_path, ["good"], 2, tasks=["specimen/large"])
    before = lab.numbers(tmp_path)
    next((tmp_path / "traces").iterdir()).unlink()
    assert counts(lab.run(tmp_path, ["good"], 2, tasks=["specimen/large"])) == (1, 0, 0)
    assert lab.numbers(tmp_path) == before
    assert not read_results(tmp_path).damage


@pytest.mark.parametrize("workers", [0, 1])
def test_results_that_cannot_be_written_stop_the_run_with_one_line(lab, tmp_path, workers):
    class Vandal:
        """Puts a file where the journals belong, once the folder has been prepared."""

        here = False

        def open(self):
            self.engine = choose_engine(workers).open()
            return self

        def __getattr__(self, name):
            return getattr(self.engine, name)

        def results(self):
            (tmp_path / "runs").rmdir()
            (tmp_path / "runs").write_text("")
            return self.engine.results()

    with pytest.raises(QuickstudyError) as caught:
        execute(lab.plan(["good"], 2), tmp_path, ExecuteOptions(engine=Vandal()))
    assert "cannot write" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_driver_that_cannot_write_a_failure_stops(lab, tmp_path, monkeypatch):
    class Full(Journal):
        def write(self, record):
            raise QuickstudyError(os.strerror(errno.ENOSPC))

    monkeypatch.setattr(execute_module, "Journal", Full)
    with pytest.raises(QuickstudyError, match="No space left"):
        lab.run(tmp_path, ["die"], 3, workers=1)


def test_workers_that_cannot_start_stop_the_run(lab, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(QuickstudyError, match=r"workers do not start \(exit status 1\)"):
        lab.run(tmp_path, ["good"], 2, workers=2)


def test_what_a_worker_cannot_include_stops_the_run_with_one_line(lab, tmp_path):
    plan = replace(lab.plan(["good"], 1), includes=("/nowhere.py",))
    with pytest.raises(UsageError, match=r"no file /nowhere\.py"):
        execute(plan, tmp_path, ExecuteOptions(workers=1))


def test_an_object_of_this_process_runs_here_and_not_in_workers(tmp_path):
    class Zero:
        def __init__(self, brief, seed):
            pass

        def learn(self, inputs, targets):
            pass

        def predict(self, inputs):
            return np.zeros(len(inputs), dtype=int)

    plan = make_plan([Setting("language/periodic", bring(Zero))], 1)
    with pytest.raises(UsageError, match='no learner "Zero"'):
        execute(plan, tmp_path, ExecuteOptions(workers=1))
    assert counts(execute(plan, tmp_path, ExecuteOptions(workers=0))) == (1, 0, 0)


@pytest.mark.slow
def test_real_learners_have_the_same_numbers_whatever_the_workers(lab, tmp_path):
    learners = ["majority", "uniform"]
    settings = [Setting("language/qa", learner) for learner in learners]
    for workers in (0, 2):
        folder = tmp_path / str(workers)
        assert counts(execute(make_plan(settings, 2), folder, ExecuteOptions(workers=workers))) == (
            4,
            0,
            0,
        )
    assert lab.numbers(tmp_path / "0") == lab.numbers(tmp_path / "2")
    extended = make_plan(settings, 3, reading=read_results(tmp_path / "0"))
    assert (extended.summary().found, extended.summary().measured) == (4, 2)
    assert {record.labels["role"] for record in read_results(tmp_path / "0").records.values()} == {
        "control"
    }


class _Hand:
    """A worker that is on a task, in a room."""

    def __init__(self, task, room=()):
        self.task, self.room = task, room


def test_a_worker_stays_on_its_task_and_leaves_those_of_others_alone(tmp_path):
    engine = ProcessEngine(2)
    for task, learner in (("b", "1"), ("a", "1"), ("c", "1"), ("a", "2")):
        engine.submit(Bundle(Setting(task, learner), (0,), ("key",), str(tmp_path)))
    engine._staff = [_Hand("a"), _Hand("b")]
    order = [engine._next(engine._staff[0]).setting for _ in range(4)]
    # Its own task first; then one that nobody is on; only then the other's.
    assert [(setting.task, setting.learner) for setting in order] == [
        ("a", "1"),
        ("a", "2"),
        ("c", "1"),
        ("b", "1"),
    ]


def test_a_worker_changes_rooms_only_when_there_is_nothing_else_to_do(tmp_path):
    engine = ProcessEngine(1)
    for task, room in (("a", ("file",)), ("b", ()), ("a", ("other",))):
        engine.submit(Bundle(Setting(task, "1"), (0,), ("key",), str(tmp_path), room=room))
    engine._staff = [_Hand("a")]
    assert [engine._next(engine._staff[0]).room for _ in range(3)] == [(), ("file",), ("other",)]


def test_with_a_gpu_only_the_compiler_keeps_its_threads(monkeypatch):
    monkeypatch.setattr("quickstudy.base.hardware.has_gpu", lambda: False)
    alone = one_thread()
    monkeypatch.setattr("quickstudy.base.hardware.has_gpu", lambda: True)
    assert set(alone) - set(one_thread()) == {"NPROC", "PJRT_NPROC"}
    assert set(alone.values()) == {"1"}
