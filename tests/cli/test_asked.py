"""Real numbers are asked for by a family in a file outside the package: every learner runs at the
first try, or says why it does not.
"""

import json

FAMILY = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import quickstudy as qs
from quickstudy.base.learner import Answering, face, pace_of
from quickstudy.protocols.examination import Examination


@qs.task("numbers/echo", version=1, controls=["majority"], oracle="not written")
@dataclass(frozen=True)
class Echo:
    """Say what was read two steps ago."""

    inputs: ClassVar = qs.Reals(1)
    outputs: ClassVar = qs.Reals(1)

    def drive(self, rng):
        drive = rng.uniform(-1.0, 1.0, (400, 1))
        wanted = np.roll(drive, 2, axis=0)
        return qs.Series(drive, wanted, washout=20, training=200, validation=80, test=100)


@qs.protocol("numbers", version=1)
@dataclass(frozen=True)
class Numbers:
    """Learn from one part of a series, tested on another."""

    measures: ClassVar = ("root-mean-square",)
    headline: ClassVar = "root-mean-square"

    def examine(self, task, learner, streams):
        pace = pace_of(learner)
        series = [task.drive(stream.numpy("data")) for stream in streams]
        train = [
            one.windows("training", 20, 20) if pace.stride > 1 else one.part("training")
            for one in series
        ]
        orders = [
            np.concatenate([
                stream.numpy("order").permutation(lane.count) for _ in range(pace.passes)
            ])
            for stream, lane in zip(streams, train)
        ]
        validation = [one.part("validation") for one in series]
        lesson = qs.Lesson(train, np.stack(orders), validation=validation)
        exam = qs.Exam([one.part("test") for one in series])
        brief = qs.Brief(task.inputs, task.outputs, "squared", train[0].steps, lesson.items)
        pupil = face(learner.begin(brief, [stream.for_learner() for stream in streams]), Answering)
        pupil.learn(lesson, 0, lesson.items)
        wrong = pupil.answer(exam) - exam.targets
        traces = [
            qs.Trace("errors", {"wrong": lane}, {}, cost)
            for lane, cost in zip(wrong, pupil.cost())
        ]
        return Examination(traces, pupil, brief)


@qs.measure(
    "root-mean-square",
    version=1,
    chance="0.58",
    equation="sqrt(mean(e^2))",
    kinds=["errors"],
    scores=[qs.Score("root-mean-square", unit="1", better="lower", range=(0, 9))],
)
def root_mean_square(trace, convention):
    """The root of the mean squared error."""
    return {"root-mean-square": float(np.sqrt(np.square(trace.arrays["wrong"]).mean()))}
'''

REASONS = {
    "esn+sgd": "sgd gives symbols, not real numbers",
    "majority": "majority gives symbols, not real numbers",
    "uniform": "uniform reads symbols, not real numbers",
    "copy-last": "copy-last reads symbols, not real numbers",
}


def records(folder):
    lines = [
        line for path in (folder / "runs").glob("*.jsonl") for line in path.read_text().splitlines()
    ]
    return {
        record["labels"]["learner"]: record
        for record in map(json.loads, lines)
        if "labels" in record
    }


def test_real_numbers_at_the_first_try(quickstudy, tmp_path):
    (tmp_path / "family.py").write_text(FAMILY)
    (tmp_path / "mine.py").write_text(HOST)
    names = ["esn", "lstm:units=4,passes=2", "relearning:learner=esn", "mine.py:Twice", *REASONS]
    chosen = [part for name in names for part in ("-l", name)]
    done = quickstudy(
        "run",
        "numbers/echo",
        "--include",
        "family.py",
        *chosen,
        "--seeds",
        1,
        "--workers",
        0,
        "--out",
        "out",
    )
    assert done.status == 0, done.err
    found = records(tmp_path / "out")
    assert {name: found[name]["reason"] for name in REASONS} == REASONS
    assert {found[name]["status"] for name in REASONS} == {"not-applicable"}
    ran = {
        name: found[name]["scores"]["root-mean-square"]["values"]["root-mean-square"]
        for name in names[:4]
    }
    assert ran["esn"] == ran["relearning:learner=esn"] < 0.02
    assert 0.1 < ran["lstm:units=4,passes=2"] < 2
    assert found["esn"]["what"]["learner"]["id"] == "esn+ridge"
    assert found["esn"]["what"]["learner"]["parameters"]["units"] == 200
    # Batches of 4 of its 10 windows, shown 3 times.
    assert found["mine.py:Twice"]["cost"]["examples"] == 30
    nothing = quickstudy(
        "run",
        "numbers/echo",
        "--include",
        "family.py",
        "-l",
        "esn+sgd",
        "--seeds",
        1,
        "--workers",
        0,
        "--out",
        "not",
    )
    assert nothing.status == 0, nothing.err
    assert {record["status"] for record in records(tmp_path / "not").values()} == {"not-applicable"}


HOST = """
class Twice:
    passes, batch = 3, 4

    def __init__(self, brief, seed): ...

    def learn(self, inputs, targets): ...

    def predict(self, inputs):
        return 2 * inputs
"""


def test_a_task_that_its_protocol_cannot_ask_is_told_before_anything_runs(quickstudy, tmp_path):
    (tmp_path / "reals.py").write_text(FAMILY.replace("numbers/echo", "language/echo"))
    command = (
        "run",
        "language/echo",
        "language/qa",
        "--include",
        "reals.py",
        "-l",
        "esn",
        "-s",
        2,
        "--no-controls",
    )
    said = quickstudy(*command, "--dry-run").out
    assert said.startswith("4 runs: 0 found, 4 to do")
    assert (
        "2 of them are not applicable: language asks for symbols, and language/echo for reals"
        in said
    )
    assert "not applicable" not in quickstudy("run", "language/qa", "-l", "esn", "--dry-run").out
