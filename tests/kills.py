"""Killed at any moment, cut at any byte, in any order and with any number of workers: a part of
`make chaos`.

`kills`: `quickstudy run` is killed (the whole group, its driver alone, one worker alone) at moments
drawn at random, and the same command is given again until it ends. It has held if all that is read
after the kill is as an undisturbed run has it, to the bit, if nothing that was there is gone, if
every worker leaves, and if in the end nothing is missing and nothing is there twice. `tails`: a
journal is cut at every byte of its last two lines, traces and learners at every byte; what was cut
off is missing, and nothing else. `orders`: the same runs with other workers, in another order, in
two steps, or after those of another root are the same to the bit.
"""

import contextlib
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from chaos import Damaged, make_folder
from tally import Tally, chosen, generator

from quickstudy.base.canonical import canonical
from quickstudy.base.errors import QuickstudyError
from quickstudy.runs.array_files import load_snapshot, load_trace
from quickstudy.runs.doctor import examine_folder
from quickstudy.runs.merge import read_results

LEARNER = '''
import numpy as np
from quickstudy import Snapshot


class Counted:
    """Counts which answer follows a token, after a beginning that is drawn."""

    def __init__(self, brief, seed, scale=1.0):
        shape = brief.inputs.size, brief.outputs.width
        self.counts = np.random.default_rng(seed).random(shape) * scale

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
PATIENCE_SECONDS = 60
"""Until the workers of a driver that was killed have left, on a busy machine."""
LONGEST_SECONDS = 900
"""Of a command, after one of its workers was killed."""
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def command(folder, workers=2, tasks=TASKS, learners=LEARNERS, seeds=SEEDS, root=0):
    """The words of a run; what has failed, since a worker was killed, is run again."""
    named = [word for learner in learners for word in ("-l", learner)]
    some = ["--set", "sequences=60", "--keep-learners", "--retry-failed", "--quiet"]
    start = [sys.executable, "-m", "quickstudy", "run", *tasks, *named, *some]
    return [
        *start,
        "--seeds",
        str(seeds),
        "--root",
        str(root),
        "-j",
        str(workers),
        "--out",
        str(folder),
    ]


def bits(folder):
    """Everything of every run that does not depend on when and where it was made, and what is said
    to be wrong.
    """
    reading = read_results(folder)
    found = {}
    for key, record in reading.records.items():
        if record.what["root"] or (record.status == "failed" and "worker died" in record.reason):
            continue
        parts = [
            canonical(
                [
                    record.what,
                    record.status,
                    record.reason,
                    record.scores,
                    record.labels,
                    record.legend,
                ]
            )
        ]
        for load in ([load_trace] if record.trace else []) + (
            [load_snapshot] if record.saved else []
        ):
            arrays = load(folder, record).arrays
            parts += [
                (name, one.dtype.str, one.shape, one.tobytes())
                for name, one in sorted(arrays.items())
            ]
        found[key] = parts
    return found, [str(one) for one in reading.damage]


def try_kills(place, numbers, tally):
    """Kill so many times, and go on with the same command. When nothing is left to do, the next
    folder is begun.
    """
    whole, length = _undisturbed(place)
    folders, before = (place / f"killed-{count}" for count in itertools.count()), {}
    folder, tally.total = next(folders), f"{len(numbers)} and the ends of all studies"
    for number in numbers:
        rng, span, way = generator("kills", number), length, ""
        while not way:
            way, faults = _killed(
                command(folder), place, WAYS[number % len(WAYS)], float(rng.uniform(0.1, span))
            )
            if (
                not way
            ):  # it has ended before: less was left to do, or the machine has become faster
                _end(folder, whole, tally)
                folder, before, span = next(folders), {}, span / 2
        found, damage = bits(folder)
        faults += damage + [f"{key[:8]} is other" for key in found if found[key] != whole.get(key)]
        faults += [f"{key[:8]} is gone" for key in before if key not in found]
        tally.add(way, "lost" if faults else "whole", f"number {number}: {faults}")
        before = found
        if len(found) == len(whole) or number == numbers[-1]:
            subprocess.run(command(folder), cwd=place, check=True, capture_output=True)
            _end(folder, whole, tally)
            folder, before = next(folders), {}


def _undisturbed(place):
    """What the runs are when nobody disturbs them, and how long that takes."""
    began, folder = time.monotonic(), place / "whole"
    subprocess.run(command(folder), cwd=place, check=True, capture_output=True)
    return bits(folder)[0], time.monotonic() - began


def _end(folder, whole, tally):
    """All runs of a folder are there, and as they are undisturbed."""
    tally.add("in the end", "whole" if bits(folder) == (whole, []) else "other", folder.name)
    shutil.rmtree(folder)


def _killed(words, place, way, seconds):
    """Start a command and kill it after so many seconds, or as soon as there is a worker to be
    killed. Gives what was killed, nothing if the command had ended, and what did not hold.
    """
    with subprocess.Popen(words, cwd=place, start_new_session=True, **SILENT) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return "", []
        while not (workers := _children(process.pid)) and way == "worker":
            if process.poll() is not None:
                return "", []
            time.sleep(0.02)
        if way == "worker":
            with contextlib.suppress(ProcessLookupError):
                os.kill(workers[-1], signal.SIGKILL)
        elif way == "driver":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
        try:
            process.wait(LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return way, ["the command does not end"]
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(
        pathlib.Path(f"/proc/{worker}").exists() for worker in workers
    ):  # they leave by themselves
        if time.monotonic() > deadline:
            return way, ["a worker has not left"]
        time.sleep(0.02)
    return way, []


def _children(process):
    """The workers of a driver that is at work."""
    try:
        words = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
        return [
            int(word) for word in words if b"quickstudy.runs.engines.worker" in _command_line(word)
        ]
    except OSError:  # it has just ended
        return []


def _command_line(process):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def try_tails(place, numbers, tally):
    """Cut a journal at every byte of its last two lines, traces and learners at every byte."""
    folder = place / "torn" / "results"
    folder.parent.mkdir()
    make_folder(folder, generator("folder", 0))
    damaged, records = Damaged(folder), read_results(folder).records
    journal = max(damaged.of("runs"), key=lambda path: path.stat().st_size)
    content, whole = damaged.files[journal][0], len(records)
    *_, before, last = content.splitlines(keepends=True)
    start = len(content) - len(last) - len(before)
    tails = [(journal, length) for length in range(start, len(content))]
    files = [*damaged.of("traces"), *damaged.of("learners")]
    tails += [(path, length) for path in files for length in range(path.stat().st_size)]
    tally.total = len(numbers := numbers[: len(tails)])
    for path, length in (tails[number] for number in numbers):
        path.write_bytes(damaged.files[path][0][:length])
        reading, faults = read_results(folder), []
        if path == journal:  # a line that lacks nothing but its end is whole
            missing = 2 - (length >= start + len(before) - 1) - (length == len(content) - 1)
            faults += (
                []
                if whole - len(reading.records) == missing
                else [f"{whole - len(reading.records)} are missing"]
            )
        else:
            faults += [] if len(reading.records) == whole else ["records are missing"]
            record = next(one for one in records.values() if one.key == path.stem)
            faults += _read_all_the_same(folder, record, path)
        faults += [str(one) for one in reading.damage]
        faults += [
            f"{key[:8]} is other" for key, one in reading.records.items() if one != records[key]
        ]
        tally.add(path.parent.name, "other" if faults else "whole", f"cut at {length}: {faults}")
        path.write_bytes(damaged.files[path][0])


def _read_all_the_same(folder, record, path):
    """Whether a file that was cut is read, or the doctor does not find it."""
    load = load_trace if path.parent.name == "traces" else load_snapshot
    with contextlib.suppress(QuickstudyError):
        load(folder, record)
        return ["it is read"]
    found = examine_folder(folder)
    return (
        []
        if [one.file for one in found] == [f"{path.parent.name}/{path.name}"]
        else [f"the doctor says {found}"]
    )


def try_orders(place, numbers, tally):
    """The same runs with other workers, in another order, in steps, after those of another root."""
    whole = _undisturbed(place)[0]
    ways = {
        "no workers": [{"workers": 0}],
        "1 worker": [{"workers": 1}],
        "2 workers": [{}],
        "3 workers": [{"workers": 3}],
        "other order": [{"tasks": TASKS[::-1], "learners": LEARNERS[::-1]}],
        "extended": [{"seeds": 3}, {}],
        "other root first": [{"root": 1, "seeds": 2}, {}],
    }
    tally.total = len(whole) * len(ways)
    for name, steps in list(ways.items())[numbers.start : numbers.stop]:
        for step in steps:
            subprocess.run(
                command(place / name, **step), cwd=place, check=True, capture_output=True
            )
        found, damage = bits(place / name)
        for key in whole:
            tally.add(name, "whole" if found.get(key) == whole[key] else "other", key[:8])
        for fault in [
            *damage,
            *(f"{key[:8]} is one too many" for key in found.keys() - whole.keys()),
        ]:
            tally.add(name, "other", fault)


TRIALS = {"kills": (try_kills, 120), "tails": (try_tails, 1_000_000), "orders": (try_orders, 7)}
"""By name, what is done, and how often at most."""


def main(words):
    whole = True
    for name, numbers in chosen(
        words, {name: count for name, (_, count) in TRIALS.items()}
    ).items():
        with tempfile.TemporaryDirectory() as made:
            pathlib.Path(made, "counted.py").write_text(LEARNER)
            tally = Tally(name, len(numbers))
            TRIALS[name][0](pathlib.Path(made), numbers, tally)
            whole &= tally.end()
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
