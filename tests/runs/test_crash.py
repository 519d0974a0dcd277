"""Runs that are killed, interrupted or doubled: the same numbers as if nothing had happened."""

import os
import signal
import subprocess
import time

import pytest

from quickstudy.runs.doctor import examine_folder
from quickstudy.runs.merge import read_results

TASKS = ("specimen/a", "specimen/large")
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


def wait_for(process, word, times=1):
    for line in process.stdout:
        times -= line.strip() == word
        if times == 0:
            return
    raise AssertionError(f"the driver ended before {word}: {process.stderr.read()}")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process that has ended and was not waited for is still listed.
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def journal_pids(folder):
    return {int(path.stem.split("-")[-2]) for path in (folder / "runs").glob("*.jsonl")}


@pytest.mark.slow
def test_killed_at_any_moment_and_run_again(lab, tmp_path, rng):
    work = TASKS, ["slow", "good"], 8
    lab.run(tmp_path / "whole", work[1], work[2], tasks=TASKS)
    killed, sizes = tmp_path / "killed", []
    for group in (False, True, True, False):
        process = lab.driver(killed, 2, *work, **PIPES, start_new_session=True)
        with process:
            wait_for(process, "Done", int(rng.integers(1, 6)))
            time.sleep(float(rng.uniform(0.0, 0.05)))
            # The driver alone, or its workers with it, whatever they are writing.
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
        reading = read_results(killed)
        assert not reading.damage
        sizes.append(len(reading.records))
    assert 0 < sizes[0] < 32
    assert sizes == sorted(sizes)
    with lab.driver(killed, 2, *work, **PIPES) as process:
        assert process.wait() == 0
    assert lab.numbers(killed) == lab.numbers(tmp_path / "whole")
    leftovers = ("killed", "cut off", "no record names it")
    assert all(any(words in each.problem for words in leftovers) for each in examine_folder(killed))


def test_workers_leave_when_their_driver_is_killed(lab, tmp_path):
    process = lab.driver(tmp_path, 1, ["specimen/a"], ["hang"], 2, **PIPES)
    with process:
        wait_for(process, "Begun", 2)
        process.kill()
    (pid,) = journal_pids(tmp_path)
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


@pytest.mark.slow
def test_two_runs_into_one_folder_never_show_anything_twice(lab, tmp_path):
    lab.run(tmp_path / "alone", ["slow"], 15, tasks=TASKS)
    both = [lab.driver(tmp_path / "shared", 1, TASKS, ["slow"], 15, **PIPES) for _ in range(2)]
    assert [process.communicate() and process.returncode for process in both] == [0, 0]
    reading = read_results(tmp_path / "shared")
    assert len(reading.records) == 30
    assert reading.lines > 30, "the runs did not overlap"
    assert lab.numbers(tmp_path / "shared") == lab.numbers(tmp_path / "alone")


@pytest.mark.parametrize("workers", [0, 1])
def test_one_interrupt_finishes_saves_and_stops(lab, tmp_path, workers):
    process = lab.driver(
        tmp_path, workers, ["specimen/a"], ["slow"], 200, **PIPES, start_new_session=True
    )
    with process:
        wait_for(process, "Done", 3)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to the workers as well
        output, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert errors == ""
    reading = read_results(tmp_path)
    assert 3 <= len(reading.records) < 200
    assert {record.status for record in reading.records.values()} == {"ok"}
    assert not reading.torn
    assert output.count("Begun") <= output.count("Done") + 1
    assert f'"ok": {len(reading.records)}' in output


@pytest.mark.parametrize("workers", [0, 1])
def test_two_interrupts_stop_now(lab, tmp_path, workers):
    process = lab.driver(
        tmp_path, workers, ["specimen/a"], ["hang"], 4, **PIPES, start_new_session=True
    )
    with process:
        wait_for(process, "Begun", 2)
        time.sleep(0.2)
        for _ in range(2):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.4)
        _, errors = process.communicate(timeout=10)
    assert process.returncode == 130, errors
    assert errors == ""
    assert lab.by_repetition(tmp_path, "hang") == {0: ("ok", "")}
    assert not any(alive(pid) for pid in journal_pids(tmp_path))
