"""Runs on a local Dask cluster have the numbers of runs in this process, whatever happens."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import quickstudy as qs
from clusters import COUNTED, GIVEN, HELPER, LOCAL, SLOW, cluster_of_its_own, run
from quickstudy.base.errors import UsageError
from quickstudy.base.hardware import descendants
from quickstudy.runs.engines import (
    Begun,
    Done,
    Note,
    Tick,
    choose_engine,
    connection,
    hand_back,
    remote,
)
from quickstudy.runs.engines.dask import Dask
from quickstudy.runs.merge import read_results


@pytest.fixture(scope="module", autouse=True)
def clusters_closed():
    """One local cluster serves all tests of this file: an engine keeps it for the next run."""
    yield
    connection._close_all()


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A user's learner in a file, which imports another one next to it."""
    folder = tmp_path_factory.mktemp("counted")
    (folder / "counted.py").write_text(COUNTED)
    (folder / "helper.py").write_text(HELPER)
    return folder / "counted.py"


@pytest.fixture(scope="module")
def alone(lab, counted, tmp_path_factory):
    """The same runs in this process: what the numbers must be."""
    folder = tmp_path_factory.mktemp("alone")
    run(folder, counted, engine="serial", keep_learners=True)
    return folder


@pytest.fixture
def slow(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    return tmp_path / "slow.py"


def processes(reading_folder):
    """The processes that have written journals, with the ids of the learners that they ran."""
    found = {}
    for path in (reading_folder / "runs").glob("*.jsonl"):
        text = path.read_text()
        found[path.name] = {name for name in ("Counted", '"majority"') if name in text}
    return found


def kept(folder):
    """The trained learners of a folder."""
    return {path.name: path.read_bytes() for path in (folder / "learners").iterdir()}


def test_the_numbers_are_those_of_this_process(lab, counted, alone, tmp_path):
    events = []
    run(tmp_path, counted, progress=events.append, keep_learners=True)
    numbers = lab.numbers(tmp_path)
    assert (numbers, kept(tmp_path)) == (lab.numbers(alone), kept(alone))
    assert len(numbers) == 8
    assert [event.status for event in events if isinstance(event, Done)] == ["ok"] * 8
    assert {key for one in events if isinstance(one, Begun) for key in one.keys} == set(numbers)
    # A process that has imported a user's file has run nothing else.
    assert all(len(ran) == 1 for ran in processes(tmp_path).values())
    assert not list(tmp_path.glob(".driver*"))
    again = run(tmp_path, counted)
    assert (again.execution.found, again.execution.ok) == ({"ok": 8}, 0)


def test_without_a_shared_disk_results_come_back(lab, counted, alone, tmp_path, monkeypatch):
    made = hand_back.Probe.__init__

    def elsewhere(self, journal):
        made(self, journal)
        self.secret = "not what the file says"

    monkeypatch.setattr(hand_back.Probe, "__init__", elsewhere)
    run(tmp_path, counted, keep_learners=True)
    assert (lab.numbers(tmp_path), kept(tmp_path)) == (lab.numbers(alone), kept(alone))
    # The driver alone has written.
    (journal,) = (tmp_path / "runs").iterdir()
    assert journal.name.split("-")[-2] == str(os.getpid())
    assert not qs.Results(tmp_path).damage
    sources = [
        sorted(path.name for path in (one / "sources").iterdir()) for one in (tmp_path, alone)
    ]
    assert sources[0] == sources[1]


def test_a_worker_that_is_killed_costs_nothing(lab, slow, tmp_path):
    killed = []

    def kill(event):
        if isinstance(event, Done) and not killed:
            client = next(iter(connection._kept.values())).client
            pids = list(client.run(os.getpid, on_error="ignore").values())
            if pids:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])

    given = {"seeds": 6, **GIVEN}
    results = qs.run(
        "language/qa", f"{slow}:Slow", out=tmp_path / "a", engine=LOCAL, progress=kill, **given
    )
    assert len(killed) == 1
    assert (results.execution.ok, results.execution.failed) == (6, 0)
    qs.run("language/qa", f"{slow}:Slow", out=tmp_path / "b", engine="serial", **given)
    assert lab.numbers(tmp_path / "a") == lab.numbers(tmp_path / "b")
    # What a lost worker had finished is not made again.
    lines = [path.read_text().count("\n") for path in (tmp_path / "a" / "runs").iterdir()]
    assert sum(lines) == 6


def test_a_learner_that_dies_or_hangs_costs_its_own_runs(slow, tmp_path):
    notes = []
    results = qs.run(
        "language/qa",
        [f"{slow}:Slow:how=die", f"{slow}:Slow:how=fine"],
        seeds=2,
        out=tmp_path,
        engine=LOCAL,
        progress=notes.append,
        **GIVEN,
    )
    assert (results.execution.ok, results.execution.failed) == (2, 2)
    reasons = {one.reason for one in results.records if one.status == "failed"}
    assert reasons <= {f"worker died (exit status 3), on worker {name}" for name in (0, 1)}
    assert reasons
    assert any("what it printed on worker" in one.text for one in notes if isinstance(one, Note))
    assert 2 in {one.workers for one in notes if isinstance(one, Tick)}


def test_the_time_limit_is_a_kill(slow, tmp_path):
    began = time.monotonic()
    learner, limit = f"{slow}:Slow:how=hang", {"limit_seconds": 0.5}
    results = qs.run("language/qa", learner, seeds=1, out=tmp_path, engine=LOCAL, **limit, **GIVEN)
    (record,) = results.records
    assert record.reason.startswith("took longer than 0.5 s, on worker ")
    assert time.monotonic() - began < 20


def test_stopped_in_between_and_resumed_on_another_engine(slow, tmp_path):
    """Ctrl-C ends calls in progress and begins no others; the same command goes on anywhere."""
    from quickstudy.runs.execute import execute
    from quickstudy.runs.options import ExecuteOptions
    from quickstudy.runs.plan import make_plan
    from quickstudy.runs.run_spec import Setting

    plan = make_plan([Setting("language/qa", f"{slow}:Slow", protocol={"sequences": 40})], 8)
    interrupted = threading.Event()

    def interrupt(event):
        if isinstance(event, Done) and not interrupted.is_set():
            interrupted.set()
            os.kill(os.getpid(), signal.SIGINT)

    execution = execute(plan, tmp_path, ExecuteOptions(engine=LOCAL, progress=interrupt))
    assert execution.interrupted
    assert execution.exit_status == 130
    assert 1 <= execution.ok < 8
    assert execution.failed == 0
    rest = execute(plan, tmp_path, ExecuteOptions(engine="serial"))
    assert rest.found == {"ok": execution.ok}
    assert rest.ok == 8 - execution.ok


def test_other_versions_on_a_worker_are_refused(counted, tmp_path, monkeypatch):
    found = {**remote.installed(), "numpy": "1.0.0"}
    choose_engine(engine=LOCAL).open().shutdown()  # it runs, with what is installed
    monkeypatch.setattr(remote, "installed", lambda: found)
    with pytest.raises(UsageError, match=r"numpy 1\.0\.0 here and .* there; install the same"):
        run(tmp_path, counted)
    assert not read_results(tmp_path).records


def command(learner, file, folder):
    words = ["run", "language/qa", "--learner", str(learner), "--seeds", "40", "--no-controls"]
    more = ["--engine", f"dask://{file}?wait=40", "--set", "sequences=40", "--quiet"]
    return [sys.executable, "-m", "quickstudy", *words, *more, "--out", str(folder)]


def wait_until(true, process, seconds=60):
    deadline = time.monotonic() + seconds
    while not true():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_a_command_or_a_scheduler_that_dies_stops_the_work_and_keeps_what_is_done(slow, tmp_path):
    with cluster_of_its_own(tmp_path) as (started, file):
        # The command dies: its worker stops what it does, and goes on with what others want.
        worker = started[1]
        with subprocess.Popen(command(f"{slow}:Slow:how=hang", file, tmp_path / "a")) as process:
            wait_until(lambda: descendants(worker.pid), process)
            process.kill()
        wait_until(lambda: not descendants(worker.pid), worker, 10)
        # The scheduler dies: the command says so.
        words = command(f"{slow}:Slow", file, tmp_path / "out")
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
            wait_until(lambda: read_results(tmp_path / "out").records, process)
            started[0].kill()
            killed = time.monotonic()
            errors = process.communicate(timeout=30)[1]
    assert process.returncode == 2
    assert "no longer answers; start it again, and give the same command" in errors
    assert "Traceback" not in errors
    assert time.monotonic() - killed < 20
    reading = read_results(tmp_path / "out")
    assert 1 <= len(reading.records) < 40
    assert set(reading.statuses().values()) == {"ok"}
    assert not reading.damage


def test_names():
    assert choose_engine(3, "dask://local") == Dask("local", 3)
    assert choose_engine(engine="dask://tls://host:8786?wait=60").address == "tls://host:8786"
    assert choose_engine(engine="slurm://gpu?gpus=2&jobs=3").planned_workers() == 6
