"""run, report, compare, doctor as a user types them, with real learners in small sizes."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from quickstudy.base import registries

SMALL = ("--set", "sequences=60")

LEARNERS = '''
import time
import numpy as np


class LastAnswer:
    """Answers what it was last told."""

    def __init__(self, brief, seed):
        self.answer = 0

    def learn(self, inputs, targets):
        self.answer = targets[-1]

    def predict(self, inputs):
        return np.full(len(inputs), self.answer)


class Raises(LastAnswer):
    def predict(self, inputs):
        raise ZeroDivisionError("by design")


class Hangs(LastAnswer):
    def predict(self, inputs):
        time.sleep(3600)


class WrongShape(LastAnswer):
    def predict(self, inputs):
        return np.zeros((len(inputs), 3))
'''


@pytest.fixture
def learners(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(LEARNERS)
    return path


def test_run_report_and_again(quickstudy, tmp_path):
    command = (
        "run",
        "language/qa",
        "-l",
        "esn:units=50",
        "-l",
        "majority",
        "--seeds",
        2,
        *SMALL,
        "--out",
        "out",
    )
    first = quickstudy(*command)
    assert first.status == 0, first.err
    assert first.out.rstrip().endswith("Report: out/report.html")
    assert "<svg" in (tmp_path / "out" / "report.html").read_text()
    before = quickstudy("report", "out", "--json").out
    again = json.loads(quickstudy(*command, "--json").out)
    assert again["ok"] == 0
    rows = 2 + len(registries.task.get("language/qa").controls)  # esn, the controls and the oracle
    assert again["found"] == {"ok": 2 * rows}
    assert quickstudy("report", "out", "--json").out == before
    preview = json.loads(quickstudy(*command, "--dry-run", "--json").out)
    assert preview["to_do"] == 0
    more = json.loads(quickstudy(*command, "--seeds", 3, "--json").out)
    assert more["ok"] == rows
    compared = quickstudy("compare", "esn:units=50", "majority", "--out", "out", "--json")
    assert json.loads(compared.out)["pairs"] == 3
    counted = quickstudy("query", "out", "select count(*) as n from runs", "--json")
    assert json.loads(counted.out) == {"n": 3 * rows}


def test_dry_run_counts_and_writes_nothing(quickstudy, tmp_path):
    answer = quickstudy(
        "run",
        "language/q?",
        "language/symbol-*",
        "-l",
        "esn",
        "--seeds",
        4,
        "--no-controls",
        "--dry-run",
    )
    assert answer.status == 0
    assert "8 runs: 0 found, 8 to do" in answer.out
    assert "programs to compile" in answer.out
    assert not (tmp_path / "results").exists()


def test_a_learner_and_a_task_from_files(quickstudy, tmp_path, learners, task_file):
    (tmp_path / "reverse.py").write_text(task_file)
    listed = quickstudy("ls", "tasks", "--include", "reverse.py", "--json")
    assert "mine/reverse" in listed.out
    arguments = (
        "-l",
        "mine.py:LastAnswer",
        "-l",
        "lstm:units=4",
        "--seeds",
        2,
        *SMALL,
        "--out",
        "out",
        "--json",
    )
    answer = quickstudy("run", "mine/reverse", "--include", "reverse.py", *arguments)
    assert answer.status == 0, answer.err
    assert json.loads(answer.out)["ok"] == 8


@pytest.mark.parametrize(
    ("name", "reason"),
    [("Raises", "by design"), ("WrongShape", "one row per input row"), ("Hangs", "longer than")],
)
def test_a_bad_learner_fails_alone(quickstudy, learners, name, reason):
    arguments = (
        "-l",
        f"mine.py:{name}",
        "-l",
        "mine.py:LastAnswer",
        "--no-controls",
        "--seeds",
        2,
        "--limit",
        3,
    )
    answer = quickstudy("run", "language/qa", *arguments, *SMALL, "--out", "out", "--json")
    assert answer.status == 1
    counts = json.loads(answer.out)
    assert (counts["ok"], counts["failed"]) == (2, 2)
    report = quickstudy("report", "out", "--json")
    assert report.status == 0
    assert reason in report.out


def test_a_folder_that_cannot_be_written(quickstudy, tmp_path):
    (tmp_path / "file").write_text("in the way")
    answer = quickstudy("run", "language/qa", "-l", "majority", *SMALL, "--out", "file/out")
    assert answer.status == 2
    assert len(answer.err.strip().splitlines()) == 1
    assert "Traceback" not in answer.err


def test_damage_is_explained_and_repaired_never_silently(quickstudy, tmp_path):
    command = (
        "run",
        "language/qa",
        "-l",
        "majority",
        "--no-controls",
        "--seeds",
        2,
        *SMALL,
        "--out",
        "out",
    )
    assert quickstudy(*command, "-j", 1).status == 0
    journal = next((tmp_path / "out" / "runs").glob("*.jsonl"))
    text = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b'{"key": broken}\n' + text[1])
    told = quickstudy("report", "out")
    assert told.status == 0
    assert "doctor" in (tmp_path / "out" / "report.html").read_text()
    repaired = quickstudy("doctor", "out")
    assert repaired.status == 0
    assert "line 1" in repaired.out
    assert any((tmp_path / "out" / "damaged").iterdir())
    assert quickstudy("doctor", "out").out.strip() == "out is sound: 1 run"
    assert json.loads(quickstudy(*command, "--json").out)["ok"] == 1


def test_the_doctor_counts_the_runs_of_a_sound_folder(quickstudy, tmp_path):
    """No file lists what a folder should hold: a deleted journal shows in the number alone."""
    command = ["run", "language/qa", "--learner", "majority", "--set", "sequences=20"]
    run = quickstudy(*command, "--no-controls", "--out", "out", "-j", 0, "--seeds", 2)
    assert run.status == 0
    assert quickstudy("doctor", "out").out.strip() == "out is sound: 2 runs"
    for journal in (tmp_path / "out" / "runs").glob("*.jsonl"):
        journal.unlink()
    assert quickstudy("doctor", "out").out.strip() == "out is sound: 0 runs"


def test_killed_in_the_middle_and_run_again(quickstudy, tmp_path):
    command = [
        "run",
        "language/qa",
        "-l",
        "esn:units=60",
        "-l",
        "majority",
        "--seeds",
        "4",
    ]
    command += [*SMALL, "--out", "out"]
    process = subprocess.Popen(
        [sys.executable, "-m", "quickstudy", *command],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    journals = tmp_path / "out" / "runs"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not any(
        path.stat().st_size for path in journals.glob("*.jsonl")
    ):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    resumed = json.loads(quickstudy(*command, "--json").out)
    assert resumed["found"]["ok"] >= 1
    assert resumed["failed"] == 0
    whole = quickstudy(*command[:-1], "whole", "--json", "-j", 1)
    assert whole.status == 0
    assert scores(quickstudy, "out") == scores(quickstudy, "whole")


def scores(quickstudy, folder):
    rows = quickstudy(
        "query", folder, "select * from scores order by key, measure, name", "--json"
    ).out.splitlines()
    assert rows
    return rows
