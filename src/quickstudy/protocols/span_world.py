"""How the battery examines by reward: one run through a world, scored at the steps its item
names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Acting, Brief, face
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace
from quickstudy.measures.span import axis_facts
from quickstudy.protocols.examination import Examination
from quickstudy.protocols.lifetime import Lifetime
from quickstudy.protocols.session import Clock
from quickstudy.protocols.span import Spans
from quickstudy.tasks.span.mapping import WorldItem


@protocol("span-world", version=1)
@dataclass(frozen=True)
class SpanWorldProtocol(Spans):
    """Learn by reward through a whole world; answer its test, where it has one, without
    learning.
    """

    def examine(self, task: Any, learner: Any, streams: Sequence[Streams]) -> Examination:
        """One trace per lane, of kind `span`: correct, asked (point, bin), chance (bin)."""
        if not isinstance(task, WorldItem):
            raise NotApplicable(f"{task.id} has no difficulty axis in a world that rewards")
        clock, taught = Clock(), task.open(streams[0]).script.taught
        brief = Brief(*spaces_of(task), "reward", task.horizon, taught)
        pupil = face(learner.begin(brief, [stream.for_learner() for stream in streams]), Acting)
        lifetime = Lifetime(pupil, task, streams, clock)
        actions: list[list[int]] = [[] for _ in streams]
        while (done := len(actions[0])) < task.horizon:
            learning = done < taught
            lives = lifetime.go_on((taught if learning else task.horizon) - done, learning)
            for own, life in zip(actions, lives, strict=True):
                own += map(int, life.actions)
        bins = len(task.grid)
        traces = []
        for world, own, cost in zip(
            lifetime.worlds, actions, clock.charge(pupil.cost()), strict=True
        ):
            script = world.script  # type: ignore[attr-defined]  # that of a WorldItem
            right = script.action == np.array(own)
            ends = [int(np.flatnonzero(script.part == part)[-1]) + 1 for part in range(task.parts)]
            arrays = {
                "step": np.minimum(ends, taught),
                "correct": script.counts(right, task.parts, bins),
                "asked": script.counts(np.ones_like(right), task.parts, bins),
                "difficulty": np.array(task.grid),
                "chance": task.chances(),
            }
            traces.append(
                Trace("span", arrays, {**axis_facts(task), "steps": taught, "passes": 1}, cost)
            )
        return Examination(traces, pupil, brief)
