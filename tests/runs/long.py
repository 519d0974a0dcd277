"""A learner that takes its time and can be kept, and a run of it in a process of its own, to be
killed: long.py FOLDER WORKERS SEEDS. Where the environment names a file for its NOTES, workers too
hand in after every test.
"""

import math
import os
import pathlib
import signal
import sys
import time

import numpy as np

from quickstudy.base.learner import Snapshot
from quickstudy.runs import checkpoints

if "NOTES" in os.environ:
    checkpoints.HAND_IN_SECONDS, checkpoints.MOST_OF_THE_TIME = 0.0, math.inf

HERE = pathlib.Path(__file__)
PROTOCOL = {"sequences": 40, "schedule": "every"}
SHOWN = 32
"""Sequences that one run shows: 40 x 0.8."""


class Slow:
    """Guesses by chance, weighted by what it has seen: its answers depend on every single thing
    that came before.

    Notes down every sequence it is shown, in the file that the environment names.
    """

    def __init__(self, brief, seed, pause=0.02):
        self.counts, self.pause = np.zeros(brief.outputs.width), pause
        self.rng = np.random.default_rng(seed)

    def learn(self, inputs, targets):
        time.sleep(self.pause)
        self.counts += (
            np.bincount(targets[targets >= 0], minlength=len(self.counts)) * self.rng.random()
        )
        if "NOTES" in os.environ:
            with open(os.environ["NOTES"], "a") as file:
                file.write("shown\n")

    def predict(self, inputs):
        return self.rng.random((len(inputs), len(self.counts))) * (self.counts + 0.1)

    def snapshot(self):
        return Snapshot({"counts": self.counts.copy()}, {"generator": self.rng.bit_generator.state})

    def restore(self, snapshot):
        self.counts = snapshot.arrays["counts"].copy()
        self.rng.bit_generator.state = snapshot.facts["generator"]


class Dies(Slow):
    """Takes its process with it at the tenth sequence, unless it has done so before."""

    def learn(self, inputs, targets):
        super().learn(inputs, targets)
        notes = pathlib.Path(os.environ["NOTES"]).read_text().splitlines()
        if len(notes) == 10:
            os.kill(os.getpid(), signal.SIGKILL)


def plan(seeds, learner="Slow"):
    from quickstudy.runs.plan import make_plan
    from quickstudy.runs.run_spec import Setting

    return make_plan(
        [Setting("language/qa", f"{HERE}:{learner}", protocol=PROTOCOL)], seeds, includes=[HERE]
    )


if __name__ == "__main__":
    from quickstudy.runs.execute import execute
    from quickstudy.runs.options import ExecuteOptions

    folder, workers, seeds = sys.argv[1:]
    sys.stdout.write("begins\n")
    sys.stdout.flush()
    sys.exit(execute(plan(int(seeds)), folder, ExecuteOptions(workers=int(workers))).exit_status)
