"""Power cuts at every moment of real runs: a part of `make chaos`.

A command is run, and all that a disk may hold after a cut at any moment of it is made again
(`disk.py`). A cut has held if every run that was reported as ended is read, those of the last
SYNC_SECONDS apart, and if the rest is read without a fault. That what is rebuilt after the last
change is what the folder holds shows that nothing was missed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
from collections import defaultdict

from disk import FOLDER, STRACE, Disk, traced
from tally import Tally, chosen, generator

from quickstudy.runs.array_files import load_snapshot, load_trace
from quickstudy.runs.doctor import repair
from quickstudy.runs.journal import SYNC_SECONDS
from quickstudy.runs.merge import read_results

LATER = 0.25
"""Seconds that a busy machine may take beyond SYNC_SECONDS."""

LEARNER = '''
import time
import numpy as np
from quickstudy import Snapshot


class Table:
    """Remembers which answer followed a token last, as slowly as it is told to."""

    def __init__(self, brief, seed, seconds=0.0):
        time.sleep(seconds)
        self.table = np.zeros(brief.inputs.size, dtype=int)

    def learn(self, inputs, targets):
        self.table[inputs[targets >= 0]] = targets[targets >= 0]

    def predict(self, inputs):
        return self.table[inputs]

    def snapshot(self):
        return Snapshot({"table": self.table})

    def restore(self, snapshot):
        self.table = np.array(snapshot.arrays["table"])
'''


class Trial(Tally):
    """Cuts in one command. moments: at which the power was cut, with several states of the disk
    each; longest: seconds after which a run that had been reported could still be lost.
    """

    moments, longest = 0, 0.0


def try_cuts(words, place, folder, trial, skipped=()):
    """Cut the power in every moment of a command that writes to `place`/`folder`. skipped: syncs
    that are taken for not made, files or folders: what they are good for shows when they are
    missing.
    """
    disk, rng = Disk(place), generator(trial.name, 0)
    before = set(_runs(place / folder)[0])
    events = [
        one
        for one in traced(words, place)
        if not (one.name == "sync" and _kind(one, place) in skipped)
    ]
    expected, _ = _runs(place / folder)
    ended, seen = _ended(events, expected), {}
    for number, event in enumerate(events):
        disk.do(event)
        until = events[number + 1].at if number + 1 < len(events) else float("inf")
        trial.moments += 1
        for state in disk.states(rng):
            name = hash(tuple(state.items()))
            if name not in seen:
                seen[name] = _look(state, place, folder, expected)
            found, verdict = seen[name]
            lost = [
                key
                for key, (written, told, _) in ended.items()
                if told <= event.at and key not in found
            ]
            lags = {key: until - ended[key][0] for key in lost}
            gone = [key for key in lost if ended[key][2] or lags[key] > SYNC_SECONDS + LATER] + [
                *before.difference(found)
            ]
            trial.longest = max(
                [trial.longest, *(lag for lag in lags.values() if lag < float("inf"))]
            )
            fault = (
                f"{event.name} {event.path}: {verdict}, lost"
                f" {[(key[:6], lags.get(key)) for key in gone]}"
            )
            trial.add("states", "lost" if gone else verdict, fault)
    rebuilt = {path: one for path, one in disk.now().items() if one is not FOLDER}
    held = {
        str(path): path.read_bytes() for path in pathlib.Path(place).rglob("*") if path.is_file()
    }
    assert rebuilt == held, "something was done to the folder that was not seen"
    return trial


def _kind(event, place):
    return "folder" if not pathlib.Path(event.path).suffix else "file"


def _ended(events, expected):
    """When each run was written, when it was told, and whether it took so long that it must be
    there by then.
    """
    ended, calls = {}, defaultdict(list)
    for number, event in enumerate(events):
        if (
            event.name == "write"
            and event.path.endswith(".jsonl")
            and "/runs/" in event.path
            and "forgotten" not in event.path
        ):
            for line in event.more.splitlines():
                key = json.loads(line)["key"]
                told = (
                    one.at
                    for one in events[number:]
                    if (one.name, one.thread) == ("tell", event.thread)
                )
                where = expected[key].where
                calls[event.thread, where["started"]].append(key)
                ended[key] = (
                    event.at,
                    next(told, float("inf")),
                    where["seconds"] / where["lanes"] >= SYNC_SECONDS,
                )
    for keys in calls.values():  # those of one call are there when the last of them is told
        last = max(ended[key][1] for key in keys)
        for key in keys:
            ended[key] = ended[key][0], last if ended[key][2] else ended[key][1], ended[key][2]
    return ended


def _runs(folder):
    """All records of a folder and of what was forgotten in it, and whether damage is said."""
    records, damage = {}, False
    for one in (folder, *sorted(folder.glob("forgotten/*"))):
        reading = read_results(one)
        records.update(reading.records)
        damage |= bool(reading.damage)
        for record in reading.records.values():
            if record.trace:
                load_trace(one, record)
            if record.saved:
                load_snapshot(one, record)
    return records, damage


def _look(state, place, folder, expected):
    """What is read of a state, and whether all is well with it, before and after a repair."""
    with tempfile.TemporaryDirectory() as made:
        for path, content in state.items():
            target = pathlib.Path(made) / pathlib.Path(path).relative_to(place)
            if content is FOLDER:
                target.mkdir()
            else:
                target.write_bytes(content)
        left = pathlib.Path(made) / folder
        try:
            records, damage = _runs(left)
            if (left / "quickstudy.json").exists():
                repair(left)
                again, more = _runs(left)
                assert not more, "damage after the repair"
                assert again.keys() == records.keys(), "the repair has changed what is read"
            for key, record in records.items():
                assert record.scores == expected[key].scores, "other scores"
                assert record.saved == expected[key].saved, "its learner is gone"
        except Exception as error:
            return (), f"{type(error).__name__}: {error}"
        return records.keys(), "noticed" if damage else "whole"


RUN = [
    "run",
    "language/qa",
    "--set",
    "sequences=60",
    "--out",
    "new/results",
    "--quiet",
    "--keep-learners",
]
TABLE = [*RUN, "-l", "table.py:Table", "--no-controls"]
TRIALS = {
    "short-runs": ([], [*RUN, "-l", "table.py:Table", "-j", "2", "--seeds", "4"]),
    "long-runs": (
        [],
        [*TABLE[:-2], "table.py:Table:seconds=0.6", "--no-controls", "-j", "2", "--seeds", "6"],
    ),
    "lanes": ([], [*RUN, "-l", "esn:units=2000", "--no-controls", "-j", "1", "--seeds", "8"]),
    "made-again": ([*TABLE, "--seeds", "3"], [*TABLE, "-j", "1", "--seeds", "3", "--rerun"]),
    "forgotten": (
        [*RUN, "-l", "table.py:Table", "--seeds", "2"],
        ["forget", "new/results", "--learner", "table*"],
    ),
}
"""By name: what is run before, undisturbed, and the command in which the power is cut."""


def try_all(names, skipped=(), loud=False):
    """Cut the power in some of the trials. Gives what came of each."""
    for name in names:
        with tempfile.TemporaryDirectory() as made:
            place = pathlib.Path(made).resolve()
            (place / "table.py").write_text(LEARNER)
            before, words = TRIALS[name]
            if before:
                subprocess.run(
                    [sys.executable, "-m", "quickstudy", *before],
                    cwd=place,
                    check=True,
                    capture_output=True,
                )
            trial = Trial(name, "many", loud)
            try_cuts(words, place, "new/results", trial, skipped)
            yield trial


def main(words):
    if STRACE is None:
        print("power cuts: not tried, there is no strace here")
        return 0
    whole = True
    for trial in try_all(chosen(words, dict.fromkeys(TRIALS, 1)), loud=True):
        whole &= trial.end()
        print(
            f"{trial.name} at {trial.moments} moments; reported runs could be lost for"
            f" {trial.longest:.2f} s",
            flush=True,
        )
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
