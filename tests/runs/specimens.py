"""Learners that behave and learners that do not, for the engines: included by the tests and by
their workers.
"""

import contextlib
import os
import pathlib
import resource
import signal
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quickstudy.base.learner import Cost, Snapshot
from quickstudy.base.record import NOT_APPLICABLE, OK, Record
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace
from quickstudy.runs.run_one import Outcome
from quickstudy.runs.run_spec import Parts, Setting, identity, labels

EXAMINER = f"{__name__}:examine"
LANES = {"lanes": 4, "lanes-die": 4}


class Task:
    version = 1

    def __init__(self, id: str = "") -> None:
        self.id = id
        self.length = 5000 if id.endswith("large") else 30


class Protocol:
    id, version = "specimen", 1


@dataclass(frozen=True)
class Choice:
    label: str
    programs: int = 3
    role: str = "learner"

    @property
    def what(self) -> dict[str, Any]:
        return {"id": self.label, "version": 1, "parameters": {}}

    def lanes(self, asked: int, device: str | None = None) -> int:
        return LANES.get(self.label, 1)


@dataclass(frozen=True)
class Specimen(Setting):
    """`good` and `good:` are two spellings of one learner."""

    def resolve(self) -> Parts:
        return Parts(Task(self.task), Choice(self.learner.rstrip(":")), Protocol())


def examine(
    setting: Specimen,
    repetitions: Sequence[int],
    keep_learners: bool,
    asked: int,
    journal: Any,
    keep_answers: bool,
) -> Iterator[Outcome]:
    parts = setting.resolve()
    lanes = parts.learner.lanes(asked)
    for first in range(0, len(repetitions), lanes):
        call = repetitions[first : first + lanes]
        outcomes = [_outcome(setting, parts, repetition, keep_learners) for repetition in call]
        yield from (_misbehave(parts.learner.label, outcome) for outcome in outcomes)


def _outcome(setting: Specimen, parts: Parts, repetition: int, keep: bool) -> Outcome:
    if repetition == 1:
        _trouble(parts.learner.label)
    if parts.learner.label == "slow":
        time.sleep(0.04)
    started = time.time()
    rng = Streams(setting.root, parts.task.id, repetition).numpy("data")
    accuracy = np.sort(rng.random(parts.task.length))
    steps = np.arange(1, parts.task.length + 1)
    cost = Cost(examples=10, learn_seconds=0.25, answer_seconds=0.25)
    trace = Trace(
        "learning-curve", {"step": steps, "accuracy": accuracy}, {"unit": "sequences"}, cost
    )
    scores = {
        "mean": {"version": 1, "values": {"mean": float(accuracy.mean()), "never": float("inf")}}
    }
    record = Record(
        what=identity(setting, parts, repetition),
        status=OK,
        where={"started": started, "device": "cpu", "lanes": parts.learner.lanes(1)},
        cost=cost.as_facts(),
        scores=scores,
        labels=labels(setting, parts),
    )
    snapshot = Snapshot({"weights": accuracy[:3]}, {"width": 3}) if keep else None
    return Outcome(record, trace, snapshot)


def _trouble(learner: str) -> None:
    match learner:
        case "hang":
            time.sleep(120)
        case "raise":
            raise ValueError("cannot add apples\nand pears")
        case "exit":
            sys.exit(3)
        case "leave":
            os._exit(3)
        case "die" | "lanes-die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "die-once" if not os.path.exists(os.environ["NOTES"]):
            pathlib.Path(os.environ["NOTES"]).touch()
            os.kill(os.getpid(), signal.SIGSEGV)
        case "pipes" | "pipes-pickle" | "pipes-long":
            _into_the_pipe(learner)
        case "small-files":
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        case "prints":
            sys.stdout.write("a learner speaks\n")
            os.write(1, b"and so does its C library\n")


def _into_the_pipe(learner: str) -> None:
    """Write to every pipe that the process has open, as a C library with a wrong descriptor may."""
    written = {
        "pipes": b"\x80 not a message\n",
        "pipes-pickle": b"cos\nsystem\n(S'touch $NOTES'\ntR.",
        "pipes-long": b"x" * (1 << 21),
    }[learner]
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                os.write(descriptor, written)
    time.sleep(120)


def _misbehave(learner: str, outcome: Outcome) -> Outcome:
    record = outcome.record
    if learner == "absent":
        return Outcome(
            replace(record, status=NOT_APPLICABLE, reason="has no states", scores={}, cost={})
        )
    if record.what["repetition"] != 1:
        return outcome
    match learner:
        case "status":
            return replace(outcome, record=replace(record, status="splendid"))
        case "objects":
            return replace(
                outcome, trace=replace(outcome.trace, arrays={"x": np.array([object()])})
            )
        case "exotic":
            return replace(
                outcome,
                record=replace(record, scores={"x": {"version": 1, "values": {"x": object()}}}),
            )
        case "stranger":
            return replace(outcome, record=replace(record, what={**record.what, "repetition": 99}))
    return outcome
