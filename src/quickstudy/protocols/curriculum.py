"""How the curriculum family examines: a rollout in the environment, until every task is passed
or the budget is spent.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Acting, Brief, face
from quickstudy.base.parameters import configure, parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.base.task import Life, spaces_of
from quickstudy.base.trace import Trace
from quickstudy.protocols.examination import Examination
from quickstudy.protocols.lifetime import Lifetime
from quickstudy.protocols.session import Clock
from quickstudy.tasks.curriculum.recordings import Recorder
from quickstudy.tasks.curriculum.rules import Perfect

PIECE = 10_000
"""Steps between two looks at the clock."""


@protocol("curriculum", version=1)
@dataclass(frozen=True)
class CurriculumProtocol:
    """One continual run, learning throughout; tasks, instances and limits are not announced.

    The number of steps of the perfect learner for each task, on the same instances, is listed with
    the run. A task that is not passed within the budget is censored, not failed.

    Source: Feyereisl et al. 2017, algorithms 1 and 2, definition 3.

    Parameters
    ----------
    steps:
        Budget in steps (bytes of the learner).
    hours:
        Budget of wall-clock time (the challenge: 24).
    replies:
        Keep every reply, so that the run can be written as recordings (`quickstudy replay FOLDER
        --write FILE`).
    """

    steps: int = parameter(300_000, at_least=1)
    hours: float = parameter(24.0, above=0)
    replies: bool = False

    measures: ClassVar[tuple[str, ...]] = ("tasks-passed", "steps-to-pass", "levels")
    question: ClassVar[str] = "Does it reuse and keep what it learned?"
    headline: ClassVar[str] = "tasks-passed"
    second: ClassVar[str] = "steps-to-pass"
    columns: ClassVar[tuple[str, ...]] = (
        "tasks-passed",
        "steps-to-pass",
        "ratio-to-oracle",
        "questions-to-solve",
        "speed-up",
        "reward-rate",
    )
    once: ClassVar[str] = "every step once"

    def examine(self, task: Any, learner: Any, streams: Sequence[Streams]) -> Examination:
        """One trace per lane, of kind `curriculum-life`, see `Diary.trace`."""
        if stated(task, TaskFacts).labels is None:
            raise NotApplicable(f"{task.id} is not a curriculum; choose another protocol")
        pupil = begun(task, learner, streams, self.steps)
        clock = Clock()
        lived = live_through(pupil, task, streams, clock, self.steps, self.hours)
        facts = {"passes": 1, "budget": self.steps, "tasks": list(task.labels)}
        traces = [
            diary.trace({**facts, "oracle": list(perfect_steps(task, stream))}, cost, self.replies)
            for diary, stream, cost in zip(lived, streams, clock.charge(pupil.cost()), strict=True)
        ]
        return Examination(traces, pupil, brief_of(task, self.steps))


@dataclass(eq=False)
class Diary:
    """The record of a rollout, instance by instance. lived: number of steps so far; over: all
    tasks are passed.
    """

    lived: int = 0
    over: bool = False
    replies: bytearray = field(default_factory=bytearray)
    reward: int = 0
    ends: list[tuple[int, int, bool, bool, int]] = field(default_factory=list)
    outcomes: bytearray = field(default_factory=bytearray)

    def add(self, life: Life) -> None:
        """Continue the rollout by a piece; steps after the end of all tasks are dropped."""
        if self.over:
            return
        for step, info in life.events:
            told = info["task"], info["success"], info["passed"], len(info["outcomes"])
            self.ends.append((self.lived + step + 1, *told))
            self.outcomes += info["outcomes"]
        self.lived += len(life.actions)
        self.replies += bytes(life.actions)
        self.reward += int(sum(life.rewards))
        self.over = life.done

    def trace(self, facts: Mapping[str, Any], cost: Any, replies: bool) -> Trace:
        """Arrays with one entry per instance: end (steps until it was over), task (its number),
        success, passed (the task, by then), questions (how many were judged); outcome: 1 for every
        question that was answered rightly, in their order; perhaps replies.
        """
        columns = [np.array(column) for column in zip(*self.ends, strict=True)] or [
            np.zeros(0, np.int64)
        ] * 5
        names = ("end", "task", "success", "passed", "questions")
        arrays: dict[str, NDArray[Any]] = dict(zip(names, columns, strict=True))
        arrays["outcome"] = np.frombuffer(bytes(self.outcomes), np.uint8)
        if replies:
            arrays["replies"] = np.frombuffer(bytes(self.replies), np.uint8)
        return Trace(
            "curriculum-life", arrays, {**facts, "steps": self.lived, "reward": self.reward}, cost
        )


def begun(task: Any, learner: Any, streams: Sequence[Streams], steps: int) -> Any:
    """A fresh pupil that acts."""
    return face(
        learner.begin(brief_of(task, steps), [stream.for_learner() for stream in streams]), Acting
    )


def brief_of(task: Any, steps: int) -> Brief:
    """The description for a learner: bytes and rewards, and the maximum number of steps."""
    return Brief(*spaces_of(task), "reward", task.horizon, steps)


def live_through(
    pupil: Any, task: Any, streams: Sequence[Streams], clock: Clock, steps: int, hours: float = 24.0
) -> list[Diary]:
    """A pupil's life in fresh worlds, one diary per lane, until all is passed or a budget is
    spent.
    """
    lifetime, diaries = Lifetime(pupil, task, streams, clock), [Diary() for _ in streams]
    left, began = steps, time.monotonic()
    while (
        left > 0
        and time.monotonic() - began < 3600 * hours
        and not all(diary.over for diary in diaries)
    ):
        lives = lifetime.go_on(min(PIECE, left))
        left -= len(lives[0].actions)
        for diary, life in zip(diaries, lives, strict=True):
            diary.add(life)
    return diaries


@lru_cache(maxsize=256)
def perfect_steps(task: Any, streams: Streams) -> tuple[int, ...]:
    """Steps that the perfect learner needs for each task, in their order, on the same instances.
    None where the scheduler has no end.
    """
    world, oracle = task.open(streams), Perfect(task, brief_of(task, 1), 0)
    oracle.watch(world)
    if stated(task, TaskFacts).kind != "consecutive":
        return ()
    life = world.live(lambda byte, reward: oracle.act(byte, reward, False), 10_000_000)
    ends = [0] * len(task.labels)
    for step, info in life.events:
        ends[info["task"]] = step + 1
    return tuple(np.diff([0, *ends]).tolist())


def sessions_of(what: Mapping[str, Any], trace: Trace) -> list[dict[str, Any]]:
    """A run that kept its replies as recordings, one for every task in turn."""
    named = what["task"]
    task: Any = configure(
        named["id"], registries.task.get(named["id"]), named["parameters"], what["convention"]
    )
    world, recorder = task.open(Streams(what["root"], named["id"], what["repetition"])), Recorder()
    world.recorder = recorder
    replies = trace.arrays["replies"].tobytes()
    said = iter(replies)
    life = world.live(lambda byte, reward: next(said), len(replies))
    return recorder.sessions(replies, [step for step, _ in life.events])
