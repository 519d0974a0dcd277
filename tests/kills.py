"""Killed at any moment, cut at any byte, in any order and with any number of workers: a part of `make chaos`.

`quickstudy run` is killed (the whole group, its driver alone, one worker alone) at moments drawn at random, and the
same command is given again until it ends. It has held if at every moment all that is read is as an undisturbed run has
it, to the bit, if nothing that was there is gone, and if in the end nothing is missing and nothing is there twice.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

import numpy as np

from quickstudy.base.canonical import canonical
from quickstudy.runs.reader import read_results
from quickstudy.runs.traces import load_snapshot, load_trace

LEARNER = '''
import numpy as np
from quickstudy import Snapshot


class Counted:
    """Counts which answer follows a token, after a beginning that is drawn."""

    def __init__(self, brief, seed, scale=1.0):
        self.counts = np.random.default_rng(seed).random((brief.inputs.size, brief.outputs.width)) * scale

    def learn(self, inputs, targets):
        np.add.at(self.counts, (inputs[targets >= 0], targets[targets >= 0]), 1.0)

    def predict(self, inputs):
        return self.counts[inputs]

    def snapshot(self):
        return Snapshot({"counts": self.counts})

    def restore(self, snapshot):
        self.counts = np.array(snapshot.arrays["counts"])
'''
TASKS = ["language/qa", "language/periodic"]
LEARNERS = ["counted.py:Counted", "counted.py:Counted:scale=5.0"]
WAYS = ("group", "group", "group", "worker", "worker", "driver")
SEEDS = 10
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def command(folder, workers=2, tasks=TASKS, learners=LEARNERS, seeds=SEEDS):
    """The words of a run; what has failed, since a worker was killed, is run again."""
    named = [word for learner in learners for word in ("-l", learner)]
    some = ["--set", "sequences=60", "--keep-learners", "--retry-failed", "--quiet"]
    start = [sys.executable, "-m", "quickstudy", "run", *tasks, *named, *some]
    return [*start, "--seeds", str(seeds), "-j", str(workers), "--out", str(folder)]


def bits(folder):
    """Everything of every run that does not depend on when and where it was made, and what is said to be wrong."""
    reading = read_results(folder)
    found = {}
    for key, record in reading.records.items():
        if record.status == "failed" and "worker died" in record.reason:
            continue
        parts = [canonical([record.what, record.status, record.reason, record.scores, record.labels, record.legend])]
        for load in (load_trace, load_snapshot) if record.saved else (load_trace,):
            arrays = load(folder, record).arrays
            parts += [(name, one.dtype.str, one.shape, one.tobytes()) for name, one in sorted(arrays.items())]
        found[key] = parts
    return found, [str(one) for one in reading.damage]


def try_kills(place, count, rng):
    """Kill so many times. Gives how often each way, how many studies were whole in the end, and what did not hold."""
    began = time.monotonic()
    subprocess.run(command(place / "whole"), cwd=place, check=True, capture_output=True)
    length, (whole, _) = time.monotonic() - began, bits(place / "whole")
    counts, studies, faults, before = Counter(), 0, [], {}
    folder = place / "killed-0"
    while sum(counts.values()) < count:
        way = WAYS[rng.integers(len(WAYS))]
        way = _killed(command(folder), place, way, float(rng.uniform(0.1, length)))
        counts.update([way] if way else [])
        found, damage = bits(folder)
        faults += damage + [f"{way}: {key[:8]} is other" for key in found if found[key] != whole.get(key)]
        faults += [f"{way}: {key[:8]} is gone" for key in before if key not in found]
        before = found
        if len(found) == len(whole) or sum(counts.values()) == count:
            subprocess.run(command(folder), cwd=place, check=True, capture_output=True)
            if bits(folder) != (whole, []):
                faults.append(f"{folder.name}: not the same bits in the end")
            studies, before = studies + 1, {}
            folder = place / f"killed-{studies}"
    return counts, studies, faults


def _killed(words, place, way, seconds):
    """Start a command and kill it. Gives what was killed: the group where no worker was; nothing if it had ended."""
    with subprocess.Popen(words, cwd=place, start_new_session=True, **SILENT) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return ""
        workers = [
            int(word) for word in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        ]
        if way == "worker" and workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(workers[-1], signal.SIGKILL)
        elif way == "driver":
            process.kill()
        else:
            way = "group"
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    while any(pathlib.Path(f"/proc/{worker}").exists() for worker in workers):  # they leave by themselves
        time.sleep(0.02)
    return way


def try_cuts(whole, folder):
    """Cut a journal of three lines at every byte of the last two. Gives how often, and what did not hold."""
    longest = max((whole / "runs").iterdir(), key=lambda one: one.stat().st_size)
    content = b"".join(longest.read_bytes().splitlines(keepends=True)[-3:])
    path = folder / "runs" / longest.name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    whole, faults = read_results(folder).records, []
    lines = content.splitlines(keepends=True)
    start = len(content) - len(lines[-1]) - len(lines[-2])
    for length in range(start, len(content)):
        path.write_bytes(content[:length])
        reading = read_results(folder)
        # A line that lacks nothing but its end is whole.
        missing = 2 - (length >= start + len(lines[-2]) - 1) - (length == len(content) - 1)
        if len(whole) - len(reading.records) != missing or reading.damage:
            faults.append(f"cut at {length}: {len(whole) - len(reading.records)} missing, {reading.damage}")
        faults += [f"cut at {length}: {key} is other" for key, one in reading.records.items() if one != whole[key]]
    return len(content) - start, faults


def try_orders(place):
    """The same runs with other workers, in another order, in two steps. Gives how many runs, and what did not hold."""
    whole, tried, faults = bits(place / "whole")[0], 0, []
    for name, steps in {
        "no workers": [{"workers": 0}],
        "1 worker": [{"workers": 1}],
        "3 workers": [{"workers": 3}],
        "other order": [{"tasks": TASKS[::-1], "learners": LEARNERS[::-1]}],
        "extended": [{"seeds": 3}, {}],
        "one by one": [{"tasks": [task], "learners": [learner]} for task in TASKS for learner in LEARNERS],
    }.items():
        for step in steps:
            subprocess.run(command(place / name, **step), cwd=place, check=True, capture_output=True)
        found, damage = bits(place / name)
        tried += len(whole)
        faults += damage + [f"{name}: {key[:8]}" for key in whole if found.get(key) != whole[key]]
        faults += [f"{name}: {key[:8]} is one too many" for key in found.keys() - whole.keys()]
    return tried, faults


def main(kills=120, seed=0):
    rng, began = np.random.default_rng(seed), time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        place = pathlib.Path(made)
        (place / "counted.py").write_text(LEARNER)
        counts, studies, faults = try_kills(place, kills, rng)
        print(f"kills  {sum(counts.values())} {dict(counts)}, {studies} runs to their end", flush=True)
        tried, more = try_cuts(place / "whole", place / "cut")
        print(f"cuts   {tried} bytes of the last two lines", flush=True)
        runs, other = try_orders(place)
        print(f"orders {runs} runs with other workers and in other orders")
    faults += more + other
    for fault in faults[:20]:
        print(fault)
    print(f"{len(faults)} did not hold, {time.monotonic() - began:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
