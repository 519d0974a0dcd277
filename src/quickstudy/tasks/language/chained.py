"""A stream of language tasks, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from quickstudy.base.catalogue import task
from quickstudy.base.parameters import CONVENTIONS, HANDED_ON, parameter
from quickstudy.tasks.language.streams import Segment, Stream, chained, named_task


@task(
    "continual/chained",
    version=1,
    controls=["majority", "copy-last", "best-rule"],
    oracle="mixed-oracle",
)
@dataclass(frozen=True)
class Chained(Stream):
    """Learn one task after the other, and still know the first ones at the end.

    Sees: sequences of the first member, then of the second, and so on. The vocabulary is that of all members from the
    start, in the order in which their words first come; nothing but the words says where a member begins or ends. A
    member may come again: periodic/qa/periodic.
    Answers: what the member asks for.
    Scored: by the protocol `continual`, on held-out sequences of every member all along the stream. Drawn from by
    itself (`sample`), it gives sequences of any member, as likely as the member's weight is large.
    Chance: depends on the members; the controls are the most frequent answer, the token just read, and the members' own
    controls (`best-rule`).
    Ceiling: as for `language/mixed` of the same members.
    Example: members=periodic/qa, `0 1 0 1 0 1 ...` many times, then many times sentences such as
    `I SEE TOM BUT I DO NOT SEE PAUL . DO I SEE TOM ? YES`.
    Source: ours; Cisneros, Sivic and Mikolov 2022, section 7, propose to chain their tasks and report no numbers.

    Departures: none; the members are those of the convention.
    """

    members: tuple[str, ...] = parameter(("periodic", "symbol-counting", "qa"))
    """Names of language tasks without `language/`, such as periodic/qa, or periodic:longest=5/qa."""
    weights: tuple[float, ...] = parameter(())
    """How long each member lasts, such as 1/2; none: all last as long."""
    convention: str = parameter("corrected", choices=CONVENTIONS)
    """The convention of the members."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = HANDED_ON

    def __post_init__(self) -> None:
        self.segments  # noqa: B018  # a stream that cannot be is said now

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The members in their order."""
        return chained([named_task(name, self.convention) for name in self.members], self.weights or None, self.members)
