"""How control is learned by trial: whole trials in a world, and now and then a test of the best so
far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import protocol
from quickstudy.base.errors import LearnerFault, NotApplicable
from quickstudy.base.learner import Brief, Rehearsing, face
from quickstudy.base.lesson import Rehearsal, Transcript
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.task import PureWorldTask, spaces_of
from quickstudy.base.trace import Trace
from quickstudy.protocols.examination import Clock, Examination


@protocol("trials", version=1)
@dataclass(frozen=True)
class TrialsProtocol:
    """Learn from whole trials, of which one number says how good they were; be tested from many
    starts.

    trials: the most that are made. every: so many trials lie between two tests. Tests are made once
    a trial was held to its end, and at the last: from all starts of the task's exam, and, where the
    task has one, one long run. When a test solves the task, no more trials are made. Nothing is
    learned in a test.
    Source: Wringe, Trefzer and Stepney, section 4.5.
    """

    trials: int = parameter(3000, at_least=1)
    every: int = parameter(150, at_least=1)

    measures: ClassVar[tuple[str, ...]] = ("trials", "in-situ")
    asks: ClassVar[str] = "fitness"
    family: ClassVar[str] = "dynamics"
    question: ClassVar[str] = "What can its memory control?"
    headline: ClassVar[str] = "held"
    columns: ClassVar[tuple[str, ...]] = (
        "held",
        "trials-to-success",
        "endured",
        "best-fitness",
        "in-situ-nrmse",
    )
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @staticmethod
    def unfit(task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        if isinstance(task, PureWorldTask) and callable(getattr(task, "exam", None)):
            return ""
        return f"trials are made in a world with an exam, and {task.id} is none"

    def examine(self, task: Any, learner: Any, streams: Sequence[Streams]) -> Examination:
        """One trace per lane, of kind `trials`: fitness and steps (trial,); tested (test,) numbers
        of trials, held (test, start) and endured (test,) steps; situ_answer and situ_target (start,
        step, width) of the last test where a reference is followed. The fact `solved`: trials after
        which a test solved it, None if none did.
        """
        from quickstudy.gateway import jnp

        if fault := self.unfit(task):
            raise NotApplicable(fault)
        lanes, clock = len(streams), Clock()
        keys = jnp.stack([stream.jax("data") for stream in streams])
        brief = Brief(*spaces_of(task), "reward", int(task.horizon), self.trials)
        with clock.timing("learn"):
            pupil = face(
                learner.begin(brief, [stream.for_learner() for stream in streams]), Rehearsing
            )
        logs = [_Log() for _ in streams]
        for first in range(0, self.trials, self.every):
            stop = min(first + self.every, self.trials)
            with clock.timing("learn"):
                played = pupil.rehearse(Rehearsal(task, keys), first, stop)
            for lane, log in enumerate(logs):
                log.add(played, lane)
            if stop == self.trials or any(log.ever_held and log.solved is None for log in logs):
                with clock.timing("answer"):
                    tested = _tested(task, pupil, keys)
                for lane, log in enumerate(logs):
                    log.test(task, stop, tested, lane)
            if all(log.solved is not None for log in logs):
                break
        facts = {"passes": 1, **dict(task.taxonomy), **dict(getattr(task, "facts", {}))}
        traces = [
            Trace("trials", log.arrays(), {**facts, "solved": log.solved}, cost)
            for log, cost in zip(logs, clock.charge(pupil.cost()), strict=True)
        ]
        assert len(traces) == lanes
        return Examination(traces, pupil, brief)


def _tested(task: Any, pupil: Any, keys: Any) -> tuple[Transcript, NDArray[np.int64]]:
    """The exam's episodes, and (lane,) steps of the long run, 0 where there is none."""
    world, starts = task.exam()
    exam = pupil.perform(Rehearsal(world, keys), 0, starts)
    long = task.endurance()
    if long is None:
        return exam, np.zeros(len(keys), dtype=np.int64)
    endured = pupil.perform(Rehearsal(long, keys), 0, 1)
    return exam, np.asarray(endured.info["steps"]).max(axis=(1, 2))


class _Log:
    """What one lane has done so far."""

    def __init__(self) -> None:
        self._trials: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._tests: list[tuple[int, NDArray[np.bool_], int]] = []
        self._last: dict[str, NDArray[Any]] = {}
        self.solved: int | None = None
        self.ever_held = False

    def add(self, played: Transcript, lane: int) -> None:
        """Trials that were made."""
        done = np.asarray(played.done)[lane]
        within = np.cumsum(done, axis=1) - done == 0
        rewards = np.where(within, np.asarray(played.rewards, np.float64)[lane], 0.0)
        if not np.isfinite(rewards).all():
            raise LearnerFault("a trial's fitness is not finite: the learner has diverged")
        self._trials.append((rewards.sum(axis=1), np.asarray(within.sum(axis=1))))
        self.ever_held |= bool((np.asarray(played.info["held"])[lane] & within).any())

    def test(
        self, task: Any, stop: int, tested: tuple[Transcript, NDArray[np.int64]], lane: int
    ) -> None:
        """What the best so far did in a test after so many trials."""
        if self.solved is not None:
            return
        exam, endured = tested
        done = np.asarray(exam.done)[lane]
        within = np.cumsum(done, axis=1) - done == 0
        held = (np.asarray(exam.info["held"])[lane] & within).any(axis=1)
        self._tests.append((stop, held, int(endured[lane])))
        if "reached" in exam.info:
            names = {"situ_answer": "reached", "situ_target": "reference"}
            self._last = {
                kept: np.asarray(exam.info[name], np.float64)[lane] for kept, name in names.items()
            }
        if task.solved(held, int(endured[lane])):
            self.solved = stop

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Of a trace."""
        fitness, steps = (np.concatenate(part) for part in zip(*self._trials, strict=True))
        tested, held, endured = (np.asarray(part) for part in zip(*self._tests, strict=True))
        return {
            "fitness": fitness,
            "steps": steps,
            "tested": tested,
            "held": held,
            "endured": endured,
            **self._last,
        }
