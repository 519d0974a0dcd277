"""A stream of one language task that changes in difficulty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from quickstudy.base import parameters
from quickstudy.base.catalogue import task
from quickstudy.base.parameters import CONVENTIONS, HANDED_ON
from quickstudy.tasks.language.streams import Segment, Stream, growing, named_task


@task(
    "continual/growing",
    version=1,
    controls=["majority", "copy-last", "best-rule"],
    oracle="mixed-oracle",
)
@dataclass(frozen=True)
class Growing(Stream):
    """Learn a task that becomes harder on the way, or easier, and answer all its stages at the end.

    Sees: sequences of the task with the first value of one of its parameters, then with the second, and so on. The
    vocabulary is that of all stages from the start; nothing says where a stage begins or ends.
    Answers: what the task asks for.
    Scored: by the protocol `continual`, on held-out sequences of every stage all along the stream. Drawn from by itself
    (`sample`), it gives sequences of any stage, as likely as the stage's weight is large.
    Chance: depends on the task; the controls are the most frequent answer, the token just read, and the task's own
    controls (`best-rule`).
    Ceiling: the task's.
    Example: task=symbol-counting,parameter=longest,values=4/7/10 counts among 1 to 4 symbols, later among up to 10.
    Source: ours; Cisneros, Sivic and Mikolov 2022, section 7 and B.1, say that the tasks can be extended and their
    difficulty adjusted, and report no numbers.

    Departures: none; the task is that of the convention.
    """

    task: str = parameters.parameter("symbol-counting")
    """Name of a language task without `language/`, such as periodic, or periodic:length=40."""
    parameter: str = parameters.parameter("longest")
    """The parameter that changes."""
    values: tuple[str, ...] = parameters.parameter(("4", "7", "10"))
    """Its values one after the other."""
    weights: tuple[float, ...] = parameters.parameter(())
    """How long each stage lasts, such as 1/2/2; none: all last as long."""
    convention: str = parameters.parameter("corrected", choices=CONVENTIONS)
    """The convention of the task."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = HANDED_ON

    def __post_init__(self) -> None:
        self.segments  # noqa: B018  # a stream that cannot be is said now

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The stages in their order."""
        labels = [f"{self.parameter}={value}" for value in self.values]
        steps = [{self.parameter: value} for value in self.values]
        return growing(named_task(self.task, self.convention), steps, self.weights or None, labels)
