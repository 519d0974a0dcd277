"""Spans of the baselines of a span item, and whether its sheet marks those that go far.

A baseline with a span at or above the second point of the grid is a shortcut, unless the sheet of
the item has a line that begins with `Marks:` and names it with its span: `Marks: by-position 2.3
(why)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.span import psychometric, span
from quickstudy.protocols.span import SpanProtocol
from quickstudy.runs.run_spec import protocol_of
from quickstudy.tasks.span.item import Axis, SequenceItem

SEEDS = 12
"""Of a check. The mean span of a table varies by about 0.05 between sets of so many."""
NEAR = 0.15
"""How far a measured ln(1 + span) may be above the one on the sheet."""


@dataclass(frozen=True)
class RuleSpan:
    """A baseline of an item. span: mean over seeds of ln(1 + span), in natural units. marked: on
    the sheet.
    """

    rule: str
    span: float
    marked: float | None

    @property
    def line(self) -> str:
        """What a terminal shows after its name."""
        return f"{self.span:.2f}" + (
            "" if self.marked is None else f"  ({self.marked:g} on the sheet)"
        )

    def open(self, item: Axis) -> bool:
        """Whether it is a shortcut that the sheet does not mark, or marks with a shorter span."""
        if self.span < item.grid[1]:
            return False
        return self.marked is None or bool(np.log1p(self.span) - np.log1p(self.marked) > NEAR)


def rules_of(task: Any) -> list[str]:
    """The baselines of an item, its oracle left out."""
    return [name for name in task.controls if name in registries.control]


def rule_spans(task: Axis, rules: Sequence[str], streams: Streams) -> dict[str, float]:
    """The span of every rule, on one lesson and one test with the settings of the protocol."""
    protocol = protocol_of(task)
    if isinstance(task, SequenceItem) and protocol == "span":
        return _of_sequences(task, rules, streams)
    found = {}
    for name in rules:
        learner = choose_learner(name, "corrected", task).make(task)
        examined = registries.protocol.get(protocol)().examine(task, learner, [streams])
        found[name] = end_span(examined.traces[0])
    return found


def end_span(trace: Any) -> float:
    """The span at the end of a run."""
    return float(
        span(psychometric(trace)[-1], trace.arrays["difficulty"], float(trace.facts["least"]))
    )


def _of_sequences(task: SequenceItem, rules: Sequence[str], streams: Streams) -> dict[str, float]:
    """All rules on the same draws, which take longer than a table does."""
    protocol, bins = SpanProtocol(), len(task.grid)
    levels = np.repeat(np.arange(bins), protocol.tests)
    parts = (
        task.sample(streams.numpy("data"), protocol.sequences),
        task.draw(streams.numpy("test"), levels),
    )
    lesson, tests = (
        [
            (part.inputs[:length, index], part.targets[:length, index], part.asked[:length, index])
            for index, length in enumerate(part.lengths)
        ]
        for part in parts
    )
    brief = Brief(*spaces_of(task), "cross-entropy", max(part.steps for part in parts), len(lesson))
    asked = np.bincount(levels, [own.sum() for _, _, own in tests], bins)
    found = {}
    for name in rules:
        rule: Any = registries.control.get(name)(task, brief, streams.integer("host"))
        if getattr(rule, "learns", True):
            for inputs, targets, own in lesson:
                rule.learn(inputs, np.where(own, targets, -1))
        right = [_right(rule.predict(inputs), targets, own) for inputs, targets, own in tests]
        chance = task.chances()
        p = (np.bincount(levels, right, bins) / asked - chance) / (1 - chance)
        found[name] = float(span(p, np.array(task.grid), task.least))
    return found


def _right(answers: NDArray[Any], targets: NDArray[Any], asked: NDArray[np.bool_]) -> int:
    given = np.asarray(answers)
    given = given if given.ndim == 1 else given.argmax(axis=1)
    return int((given == targets)[asked].sum())


def find_span_rules(task: Any, seeds: int = SEEDS, root: int = 0) -> tuple[RuleSpan, ...]:
    """All baselines of an item, each with its mean span."""
    rules, marked = rules_of(task), task.marks()
    runs = [rule_spans(task, rules, Streams(root, task.id, seed)) for seed in range(seeds)]
    return tuple(
        RuleSpan(
            name, float(np.expm1(np.mean([np.log1p(run[name]) for run in runs]))), marked.get(name)
        )
        for name in rules
    )
