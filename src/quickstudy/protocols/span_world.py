"""How the battery examines learning by reward: one continual run in a world, scored by difficulty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.catalogue import protocol
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Acting, Brief, face
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace
from quickstudy.measures.span import axis_facts
from quickstudy.protocols.examination import Clock, Examination
from quickstudy.protocols.lifetime import Lifetime
from quickstudy.protocols.span import Spans
from quickstudy.tasks.span.mapping import RewardItem


@protocol("span-world", version=1)
@dataclass(frozen=True)
class SpanWorldProtocol(Spans):
    """One run of as many steps as the item has, learning all the way; where the item tests at its end, without.

    The learner is told neither the blocks nor what is scored.
    """

    once: ClassVar[str] = "every step once"

    @staticmethod
    def unfit(task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        return "" if isinstance(task, RewardItem) else f"{task.id} has no difficulty axis in a world"

    def examine(self, task: Any, learner: Any, streams: Sequence[Streams]) -> Examination:
        """One trace per lane, of kind `span`: correct (1, bin), asked and chance (bin)."""
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        brief = Brief(*spaces_of(task), "reward", task.horizon, task.steps)
        clock = Clock()
        with clock.timing("learn"):
            pupil = face(learner.begin(brief, [stream.for_learner() for stream in streams]), Acting)
        lifetime = Lifetime(pupil, task, streams, clock)
        marks = np.zeros((len(streams), 2, len(task.grid)), np.int64)
        for steps, learning in ((task.steps - task.tested, True), (task.tested, False)):
            if steps:
                for own, life in zip(marks, lifetime.go_on(steps, learning), strict=True):
                    for _, info in life.events:
                        own[:, info["level"]] += info["won"], info["asked"]
        traces = [
            Trace(
                "span",
                {
                    "step": np.array([task.steps]),
                    "correct": own[:1],
                    "asked": own[1],
                    "difficulty": np.array(task.grid),
                    "chance": task.chances(),
                },
                {**axis_facts(task), "passes": 1, "steps": task.steps},
                cost,
            )
            for own, cost in zip(marks, clock.charge(pupil.cost()), strict=True)
        ]
        return Examination(traces, pupil, brief)
