import pathlib
import subprocess
import sys

import numpy as np
import pytest

from quickstudy.base import registry
from quickstudy.base.registry import include
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.execute import execute
from quickstudy.runs.merge import read_results
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.plan import make_plan

HERE = pathlib.Path(__file__).parent
SPECIMENS = HERE / "specimens.py"


class Lab:
    """Runs specimens and compares what came out."""

    def __init__(self) -> None:
        self.specimens = include(SPECIMENS)

    def plan(self, learners, seeds, tasks=("specimen/a",), folder=None):
        settings = [
            self.specimens.Specimen(task, learner) for task in tasks for learner in learners
        ]
        reading = read_results(folder) if folder else None
        return make_plan(
            settings, seeds, reading=reading, includes=[SPECIMENS], examiner=self.specimens.EXAMINER
        )

    def run(self, folder, learners, seeds, workers=0, tasks=("specimen/a",), **options):
        return execute(
            self.plan(learners, seeds, tasks), folder, ExecuteOptions(workers=workers, **options)
        )

    def driver(self, folder, workers, tasks, learners, seeds, **options):
        arguments = [str(folder), str(workers), ",".join(tasks), ",".join(learners), str(seeds)]
        return subprocess.Popen([sys.executable, str(HERE / "driver.py"), *arguments], **options)

    def numbers(self, folder):
        """Everything that must not depend on how a run was done: status, reason, scores and traces,
        by key.
        """
        found = {}
        for key, record in read_results(folder).records.items():
            trace = load_trace(folder, record) if record.trace else None
            arrays = (
                {name: (array.dtype.str, array.tobytes()) for name, array in trace.arrays.items()}
                if trace
                else {}
            )
            found[key] = record.status, record.reason, record.scores, arrays
        return found

    def by_repetition(self, folder, learner):
        records = read_results(folder).records.values()
        return {
            record.what["repetition"]: (record.status, record.reason)
            for record in records
            if record.what["learner"]["id"] == learner
        }


@pytest.fixture(autouse=True)
def nothing_included(monkeypatch):
    """What one test has included must not send the runs of another out of this process."""
    monkeypatch.setattr(registry, "_included", [])


@pytest.fixture(scope="session")
def lab():
    return Lab()


@pytest.fixture
def rng():
    return np.random.default_rng(20231)
