"""Clusters on this machine, and learners in files, for the tests of the engines."""

import contextlib
import pathlib
import subprocess
import sys
import time

import quickstudy as qs

LOCAL = "dask://local?workers=2"
GIVEN = {"protocol": {"sequences": 40}, "controls": False}
HELPER = "SCALE = 2.0\n"
COUNTED = """
import helper
import numpy as np
from quickstudy import Snapshot


class Counted:
    def __init__(self, brief, seed):
        shape = brief.inputs.size, brief.outputs.width
        self.counts = np.random.default_rng(seed).random(shape) * helper.SCALE

    def learn(self, inputs, targets):
        np.add.at(self.counts, (inputs[targets >= 0], targets[targets >= 0]), 1.0)

    def predict(self, inputs):
        return self.counts[inputs]

    def snapshot(self):
        return Snapshot({"counts": self.counts})

    def restore(self, snapshot):
        self.counts = np.array(snapshot.arrays["counts"])
"""
SLOW = """
import os
import time

import numpy as np


class Slow:
    def __init__(self, brief, seed, how="sleep"):
        self.bias = np.random.default_rng(seed).random(brief.outputs.width)
        if how == "sleep":
            time.sleep(0.4)
        if how == "hang":
            time.sleep(600)
        if how == "die":
            os._exit(3)

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        return np.tile(self.bias, (len(inputs), 1))
"""


def run(folder, counted, engine=LOCAL, **options):
    """Eight runs, of a user's learner and of a rule."""
    learners = [f"{counted}:Counted", "majority"]
    return qs.run(
        "language/qa", learners, seeds=4, out=folder, engine=engine, **{**GIVEN, **options}
    )


def start(*words, **options):
    """A module as a process of its own, without a word."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, "-m", *words], **silent, **options)


@contextlib.contextmanager
def cluster_of_its_own(folder, workers=1, nanny=False):
    """A scheduler on the loopback and workers as processes of their own. Gives the processes and
    the scheduler's file.
    """
    file = pathlib.Path(folder, "scheduler.json")
    processes = [start_scheduler(file)]
    try:
        for number in range(workers):
            processes.append(start_worker(file, f"w{number}", nanny))
        yield processes, file
    finally:
        for process in processes:
            process.kill()
            process.wait()


def start_scheduler(file, port=0):
    """A scheduler, once it has written its file."""
    words = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    process = start("distributed.cli.dask_scheduler", *words, "--scheduler-file", str(file))
    deadline = time.monotonic() + 30
    while not file.exists() or not file.read_text().endswith("}"):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


def start_worker(file, name, nanny=False):
    """A worker; it waits for its scheduler."""
    words = ["--nthreads", "1", "--name", name, "--nanny" if nanny else "--no-nanny"]
    more = ["--no-dashboard", "--local-directory", str(file.parent), "--death-timeout", "20"]
    return start(
        "distributed.cli.dask_worker", "--scheduler-file", str(file), *words, *more, cwd=file.parent
    )
