"""How control is learned by trial: whole trials in a world, and now and then a test of the best so
far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, NotApplicable
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Brief, Rehearsing, face
from quickstudy.base.offers import Examining, offers
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.base.task import PureWorldTask, spaces_of
from quickstudy.base.trace import SoFar, Trace, Unfinished
from quickstudy.protocols.examination import Examination
from quickstudy.protocols.session import Session


@protocol("trials", version=1)
@dataclass(frozen=True)
class TrialsProtocol:
    """Learn from whole trials, each judged by one number; tested from many starts.

    Tests are made once a trial reached its end, and after the last: from all starts of the task's
    exam, and, where the task has one, in one long run. Training stops when a test solves the task.
    Nothing is learned in a test.

    Source: Wringe, Trefzer and Stepney 2024, section 4.5.

    Parameters
    ----------
    trials:
        Most training trials.
    every:
        Trials between two tests.
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
        if isinstance(task, PureWorldTask) and offers(task, Examining):
            return ""
        return f"trials are made in a world with an exam, and {task.id} is none"

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `trials`: fitness and steps (trial,); tested (test,) numbers
        of trials, held (test, start) and endured (test,) steps; situ_answer and situ_target (start,
        step, width) of the last test where a reference is followed. The fact `solved`: trials after
        which a test solved it, None if none did.
        """
        from quickstudy.jax_gateway import jnp

        if fault := self.unfit(task):
            raise NotApplicable(fault)
        keys = jnp.stack([stream.jax("data") for stream in streams])
        brief = Brief(*spaces_of(task), "reward", int(task.horizon), self.trials)
        logs, shown = [_Log() for _ in streams], 0
        session = Session(learner, brief, streams, unfinished, lambda: _kept(logs, shown))
        clock, pupil = session.clock, face(session.pupil, Rehearsing)
        if session.found is not None:
            shown = int(session.found.facts["shown"])
            logs = [_Log.kept(session.found, lane) for lane in range(len(streams))]
        while shown < self.trials and not all(log.solved is not None for log in logs):
            stop = min(shown + self.every, self.trials)
            with clock.timing("learn"):
                played = pupil.rehearse(Rehearsal(task, keys), shown, stop)
            for lane, log in enumerate(logs):
                log.add(played, lane)
            if stop == self.trials or any(log.ever_held and log.solved is None for log in logs):
                with clock.timing("answer"):
                    tested = _tested(task, pupil, keys)
                for lane, log in enumerate(logs):
                    log.test(task, stop, tested, lane)
            shown = stop
            session.hand_in()
        facts = {"passes": 1, **dict(task.taxonomy), **dict(stated(task, TaskFacts).facts)}
        traces = [
            Trace("trials", log.so_far(), {**facts, "solved": log.solved}, cost)
            for log, cost in zip(logs, clock.charge(pupil.cost()), strict=True)
        ]
        return Examination(traces, pupil, brief)


def _kept(logs: Sequence[_Log], shown: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The checkpoint: arrays by lane and name, and facts."""
    arrays = {
        f"{lane}/{name}": array
        for lane, log in enumerate(logs)
        for name, array in log.so_far().items()
    }
    lanes = [{"solved": log.solved, "ever_held": log.ever_held} for log in logs]
    return arrays, {"shown": shown, "lanes": lanes}


def _tested(task: Any, pupil: Any, keys: Any) -> tuple[Transcript, NDArray[np.int64]]:
    """The exam's episodes, and (lane,) steps of the long run, 0 where there is none."""
    world, starts = task.exam()
    exam = pupil.perform(Rehearsal(world, keys), 0, starts)
    long = task.endurance()
    if long is None:
        return exam, np.zeros(len(keys), dtype=np.int64)
    endured = pupil.perform(Rehearsal(long, keys), 0, 1)
    return exam, np.asarray(endured.info["steps"]).max(axis=(1, 2))


TESTS = ("tested", "held", "endured")
"""Arrays of a log with one entry for each test."""


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

    @classmethod
    def kept(cls, found: SoFar, lane: int) -> _Log:
        """The log of a lane of an interrupted call."""
        log, begin = cls(), f"{lane}/"
        arrays = {
            name.removeprefix(begin): array
            for name, array in found.arrays.items()
            if name.startswith(begin)
        }
        log._trials = [(arrays.pop("fitness"), arrays.pop("steps"))]
        tests = [arrays.pop(name, ()) for name in TESTS]
        log._tests = [(int(stop), held, int(long)) for stop, held, long in zip(*tests, strict=True)]
        log._last = arrays
        facts = found.facts["lanes"][lane]
        log.solved, log.ever_held = facts["solved"], bool(facts["ever_held"])
        return log

    def so_far(self) -> dict[str, NDArray[Any]]:
        """Arrays of the trials and tests until now."""
        fitness, steps = (np.concatenate(part) for part in zip(*self._trials, strict=True))
        tests = (np.asarray(part) for part in zip(*self._tests, strict=True))
        return {
            "fitness": fitness,
            "steps": steps,
            **dict(zip(TESTS, tests, strict=False)),
            **self._last,
        }
