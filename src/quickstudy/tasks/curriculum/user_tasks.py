"""A micro task in a user's file: it samples an instance, and can be a member of a curriculum
like a published one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable
from quickstudy.base.seeds import Streams
from quickstudy.tasks.curriculum.courses import Curriculum
from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.loop import Instance
from quickstudy.tasks.curriculum.tables import Ground
from quickstudy.tasks.curriculum.world import ByteWorld, Member


@dataclass(frozen=True)
class MicroTask(Curriculum):
    """One of a user's tasks; its id is `curriculum/NAME`, and `members=NAME` puts it in a chain,
    with its default parameters.
    """

    id: ClassVar[str]
    cut_down: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", (self.id.partition("/")[2],))

    def instance(self, draws: Draws) -> Instance:
        """A fresh instance, by these random numbers alone."""
        raise NotImplementedError

    def member(self) -> Member:
        """The task under its rules."""

        def draw(ground: Ground) -> Instance:
            return self.instance(ground.draws())

        return Member(self.members[0], draw, self.successes)

    def open(self, streams: Streams) -> ByteWorld:
        """The environment."""
        return self.opened([self.member()], streams)

    def configurations(self) -> Any:
        """Raises NotApplicable: what an instance may draw is not known beforehand."""
        raise NotApplicable(f"no machine can be built of {self.id}")


def registered(name: str) -> type[MicroTask] | None:
    """The class of a user's task, by the name of the member; None if there is none."""
    if f"curriculum/{name}" not in registries.task:
        return None
    found = registries.task.get(f"curriculum/{name}")
    return found if isinstance(found, type) and issubclass(found, MicroTask) else None
