"""How gradual learning is examined: what helps later (transfer), and what is kept (forgetting)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Keeping, face
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace
from quickstudy.protocols.curriculum import Diary, begun, brief_of, live_through
from quickstudy.protocols.examination import Examination
from quickstudy.protocols.session import Clock
from quickstudy.tasks.curriculum.gradual import CONDITIONS, Noise, Transfer, Unseen, chain


@protocol("transfer", version=1)
@dataclass(frozen=True)
class TransferProtocol:
    """Four runs of one learner from the same initial state: fresh, after the earlier tasks, after
    as many steps of noise, and after the earlier tasks with other symbols.

    Each run ends with the same instances of the target task. A fresh learner that does not pass
    counts the whole budget, so that a gain is a lower bound; one that does not pass later likewise,
    and the gain is an upper bound; where neither passes there is no gain. There is none where the
    earlier tasks were not passed, and no gain of renamed ones where those were not.

    Parameters
    ----------
    steps:
        Budget of the earlier tasks, and again of the target.
    """

    steps: int = parameter(100_000, at_least=1)

    measures: ClassVar[tuple[str, ...]] = ("transfer",)
    question: ClassVar[str] = "Is what it learned of use later?"
    headline: ClassVar[str] = "transfer-gain"
    columns: ClassVar[tuple[str, ...]] = (
        "transfer-gain",
        "gain-of-warm-up",
        "gain-of-renamed",
        "first-instance-gain",
        "passed-after",
        "passed-fresh",
    )
    family: ClassVar[str] = "curriculum"

    def examine(self, task: Any, learner: Any, streams: Sequence[Streams]) -> Examination:
        """One trace per lane, of kind `transfer`: steps on the target and questions of its first
        instance, one entry per condition, -1 where it was not passed, or not over; before: steps
        before the target.
        """
        if not isinstance(task, Transfer):
            raise NotApplicable(
                f"{task.id} has no tasks before its target; give it another protocol"
            )
        traces: list[Trace] = []
        pupil: Any = None
        for stream in streams:
            clock, before, steps, first = Clock(), list[int](), list[int](), list[int]()
            passed: dict[str, bool] = {}
            for condition in CONDITIONS:
                pupil = begun(task, learner, [stream], 2 * self.steps)
                lived = Diary()
                if condition in ("after", "renamed"):
                    lived = live_through(
                        pupil, task.course(condition == "renamed"), [stream], clock, self.steps
                    )[0]
                    passed[condition] = lived.over
                elif condition == "unrelated":
                    lived = live_through(
                        pupil, Noise(), [stream], clock, before[CONDITIONS.index("after")]
                    )[0]
                before.append(lived.lived)
                target = live_through(
                    pupil, Unseen(chain(task, (task.target,))), [stream], clock, self.steps
                )[0]
                steps.append(target.lived if target.over else -1)
                first.append(target.ends[0][-1] if target.ends else -1)
            facts = {"passes": 1, "budget": self.steps, "conditions": list(CONDITIONS)}
            facts |= {"before_passed": passed["after"], "renamed_passed": passed["renamed"]}
            arrays = {
                "steps": np.array(steps),
                "first": np.array(first),
                "before": np.array(before),
            }
            traces.append(Trace("transfer", arrays, facts, clock.charge(pupil.cost())[0]))
        return Examination(traces, pupil, brief_of(task, 2 * self.steps))


@protocol("forgetting", version=1)
@dataclass(frozen=True)
class ForgettingProtocol:
    """Learn tasks one after another; after each, test all tasks learned so far.

    After a test the learner is reset by a snapshot; one without snapshots repeats everything from
    the same initial state. Every test of a task has the same instances, which occur nowhere else.

    Parameters
    ----------
    steps:
        Budget of every task, when it is learned and when it is tested.
    """

    steps: int = parameter(50_000, at_least=1)

    measures: ClassVar[tuple[str, ...]] = ("kept",)
    question: ClassVar[str] = "Does it keep what it learned?"
    headline: ClassVar[str] = "forgetting-constant"
    columns: ClassVar[tuple[str, ...]] = (
        "forgetting-constant",
        "forgetting-ratio",
        "tasks-learned",
    )
    family: ClassVar[str] = "curriculum"

    def examine(self, task: Any, learner: Any, streams: Sequence[Streams]) -> Examination:
        """One trace per lane, of kind `forgetting`: steps (learned, put again), -1 where it was not
        passed and -2 where it was not put; learned: steps of learning each, -1 where it was not.
        """
        traces: list[Trace] = []
        pupil: Any = None
        for stream in streams:
            clock, count = Clock(), len(task.members)
            steps, learned = np.full((count, count), -2), np.full(count, -1)
            courses = [chain(task, (name,)) for name in task.members]
            pupil = begun(task, learner, [stream], self.steps * count)
            for last in range(count):
                done = live_through(pupil, courses[last], [stream], clock, self.steps)[0]
                if not done.over:
                    break
                learned[last] = done.lived
                for again in range(last + 1):
                    tested, kept = self._as_now(
                        pupil, task, learner, stream, courses[: last + 1], clock
                    )
                    life = live_through(
                        tested, Unseen(courses[again], again), [stream], clock, self.steps
                    )[0]
                    steps[last, again] = life.lived if life.over else -1
                    if kept is not None:
                        face(pupil, Keeping).restore(kept)
            facts = {"passes": 1, "budget": self.steps, "tasks": list(task.members)}
            traces.append(
                Trace(
                    "forgetting",
                    {"steps": steps, "learned": learned},
                    facts,
                    clock.charge(pupil.cost())[0],
                )
            )
        return Examination(traces, pupil, brief_of(task, self.steps * len(task.members)))

    def _as_now(
        self,
        pupil: Any,
        task: Any,
        learner: Any,
        stream: Streams,
        courses: Sequence[Any],
        clock: Clock,
    ) -> tuple[Any, Any]:
        """A pupil that may be tested, and what the other has to be set back to afterwards, if it is
        the same.
        """
        try:
            return pupil, face(pupil, Keeping).snapshot()
        except NotApplicable:
            again = begun(task, learner, [stream], self.steps * len(courses))
            for course in courses:
                live_through(again, course, [stream], clock, self.steps)
            return again, None
