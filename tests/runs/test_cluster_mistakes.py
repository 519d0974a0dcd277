"""Clusters that are not there, refuse, or are not like this machine: one line, what to do, within
ten seconds, and nothing of the folder is changed.
"""

import os
import pathlib
import socket
import stat
import sys
import time

import pytest

import quickstudy as qs
from clusters import GIVEN, cluster_of_its_own, start_worker
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.runs.engines import choose_engine, connection, dask
from quickstudy.runs.merge import read_results

REFUSING = """#!/bin/sh
echo 'sbatch: error: invalid partition specified: nowhere' >&2
exit 1
"""
STARTING = """#!/bin/sh
# The batch system of one machine: a job is a process group, and its number that of the group.
script=$(mktemp)
cp "$1" "$script"
setsid sh -c "bash $script" > "$script.out" 2>&1 < /dev/null &
echo "Submitted batch job $!"
"""
ENDING = """#!/bin/sh
for job in "$@"; do kill -TERM -- "-$job" 2> /dev/null; done
exit 0
"""


def refusal(engine, within=10):
    """What is reported, and that it comes in time."""
    began = time.monotonic()
    with pytest.raises(UsageError) as caught:
        choose_engine(engine=engine).open()
    assert time.monotonic() - began < within
    assert "\n" not in str(caught.value)
    assert caught.value.exit_status == 2
    return str(caught.value)


def test_a_port_where_nothing_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = refusal(f"dask://127.0.0.1:{port}")
    assert said.startswith(f"no scheduler answers at 127.0.0.1:{port} (")
    assert f"`dask scheduler --host 127.0.0.1 --port {port}`" in said


def test_a_port_that_does_not_answer(monkeypatch):
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = refusal(f"dask://127.0.0.1:{silent.getsockname()[1]}")
    assert "does not answer as a Dask scheduler" in said


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("dask://nowhere", 'no scheduler at "nowhere"; give its host and port'),
        ("dask://127.0.0.1:http", "give its host and port, dask://127.0.0.1:8786"),
        ("dask:///nowhere/scheduler.json", "is not the file of a Dask scheduler ("),
    ],
)
def test_an_address_that_is_none(engine, words, monkeypatch):
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 0.5)
    assert words in refusal(engine)


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("dask://127.0.0.1:8786?workers=2", "leave out workers=2"),
        ("dask://local?workers=0", "workers must be at least 1, got 0"),
        ("dask://local?cores=2", 'no parameter "cores"'),
        ("slurm://?cores=two", 'cores must be a whole number, got "two"'),
        ("slurm://?jobs=0", "jobs must be at least 1, got 0"),
    ],
)
def test_parameters_are_checked_before_anything_is_asked(engine, words):
    with pytest.raises(UsageError, match=r"^[^\n]*$") as caught:
        choose_engine(engine=engine)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("engine", "library"), [("dask://local", "distributed"), ("slurm://", "dask_jobqueue")]
)
def test_what_is_not_installed_is_named_with_the_command(engine, library, monkeypatch):
    connection.load_distributed()
    monkeypatch.setitem(sys.modules, library, None)
    assert "is not installed; type: pip install" in (said := refusal(engine))
    assert "[cluster]" in said


def program(folder, name, text):
    path = pathlib.Path(folder, name)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_without_sbatch_there_is_no_slurm(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal("slurm://").startswith("there is no sbatch on this machine; run the command on")


def test_a_queue_that_refuses(monkeypatch, tmp_path):
    program(tmp_path, "sbatch", REFUSING)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    said = refusal("slurm://nowhere?host=127.0.0.1&jobs=2")
    assert said == ("SLURM refuses the job: sbatch: error: invalid partition specified: nowhere")


def test_jobs_of_slurm_give_the_same_numbers(lab, monkeypatch, tmp_path):
    program(tmp_path, "sbatch", STARTING)
    program(tmp_path, "scancel", ENDING)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    engine = "slurm://?cores=1&memory=1GB&time=00:05:00&jobs=2&host=127.0.0.1"
    given = {"seeds": 3, **GIVEN}
    results = qs.run("language/qa", "majority", out=tmp_path / "a", engine=engine, **given)
    connection._close_all()
    assert (results.execution.ok, results.execution.failed) == (3, 0)
    qs.run("language/qa", "majority", out=tmp_path / "b", engine="serial", **given)
    assert lab.numbers(tmp_path / "a") == lab.numbers(tmp_path / "b")


def test_a_scheduler_without_workers_and_one_with_other_code(tmp_path, monkeypatch):
    (tmp_path / "quickstudy").mkdir()
    (tmp_path / "quickstudy" / "__init__.py").write_text("")
    with cluster_of_its_own(tmp_path, 0) as (started, file):
        assert "has no workers; start some, as `dask worker tcp://127" in refusal(
            f"dask://{file}?wait=0"
        )
        # The worker finds another quickstudy first: it lacks the modules of this one.
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        started.append(start_worker(file, "stranger"))
        said = refusal(f"dask://{file}?wait=40", within=50)
        assert said.startswith("worker stranger cannot run quickstudy: ")
        assert "No module named 'quickstudy.runs'" in said
    assert not read_results(tmp_path).records


def test_where_all_runs_are_found_no_cluster_is_asked(tmp_path):
    given = {"seeds": 2, "out": tmp_path, **GIVEN}
    qs.run("language/qa", "majority", engine="serial", **given)
    again = qs.run("language/qa", "majority", engine="dask://127.0.0.1:1", **given)
    assert again.execution.found == {"ok": 2}


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_worker_that_dies_while_a_local_cluster_starts_costs_another_try(failures):
    tries = []

    def start():
        tries.append(1)
        if len(tries) <= failures:
            raise RuntimeError("Nanny failed to start.")
        return "a cluster"

    if failures < dask.STARTS:
        assert dask._started(start) == "a cluster"
        assert len(tries) == failures + 1
    else:
        with pytest.raises(QuickstudyError, match="does not start \\(Nanny failed") as raised:
            dask._started(start)
        assert not isinstance(raised.value, UsageError)
        assert len(tries) == dask.STARTS
