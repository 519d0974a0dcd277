"""Tasks that ask whether what was learned is of use later, and whether it is kept: Definitions 4
and 5.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.registries import task
from quickstudy.base.seeds import Streams
from quickstudy.base.task import Turn, World
from quickstudy.tasks.curriculum.courses import CONTROLS, Chain, Curriculum, Rules
from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.schedule import member_named
from quickstudy.tasks.curriculum.world import ByteWorld

CONDITIONS = ("fresh", "after", "unrelated", "renamed")


@task(
    "curriculum/transfer", version=1, controls=CONTROLS, oracle="perfect-byte", protocol="transfer"
)
@dataclass(frozen=True)
class Transfer(Rules):
    """Is a task passed sooner after others were passed?

    The target is also given to a fresh learner, to one that spent as many steps on random bytes and
    rewards, and to one that learned the same tasks with letters, digits and marks renamed. All four
    see the same instances of the target.

    Scored: the steps to pass the target.
    Source: Feyereisl et al. 2017, definition 4; the two controls are ours.

    Parameters
    ----------
    before:
        Tasks that are learned first.
    target:
        Task that is measured.
    """

    before: tuple[str, ...] = ("micro-1",)
    target: str = "micro-2"

    def __post_init__(self) -> None:
        object.__setattr__(self, "before", tuple(member_named(name) for name in self.before))
        object.__setattr__(self, "target", member_named(self.target))

    def open(self, streams: Streams) -> ByteWorld:
        """The target alone."""
        return self.opened(self.named([self.target]), streams)

    def course(self, renamed: bool) -> Chain:
        """The tasks before."""
        return chain(self, self.before, renamed)


@task(
    "curriculum/forgetting",
    version=1,
    controls=CONTROLS,
    oracle="perfect-byte",
    protocol="forgetting",
)
@dataclass(frozen=True)
class Forgetting(Curriculum):
    """Is a task still passed as fast after others were learned?

    After each task all tasks learned so far are tested, on instances that the learner has not seen.

    Scored: the steps to pass, divided by those right after the task was learned.
    Source: Feyereisl et al. 2017, definition 5.

    Parameters
    ----------
    members:
        Tasks that are learned one after another.
    """

    members: tuple[str, ...] = ("micro-1", "micro-4", "micro-5.1")


def chain(task: Any, members: tuple[str, ...], renamed: bool = False) -> Chain:
    """Some tasks under the rules of another."""
    rules = {field.name: getattr(task, field.name) for field in dataclasses.fields(Rules)}
    return Chain(**{**rules, "members": members, "renamed": renamed})


@dataclass(frozen=True)
class Unseen:
    """Other instances of a course than it shows by itself. number: which, so that several can be
    asked for.
    """

    course: Curriculum
    number: int = 0
    horizon: ClassVar[int] = Rules.horizon
    inputs, outputs = Rules.inputs, Rules.outputs

    def open(self, streams: Streams) -> ByteWorld:
        """The environment."""
        root = Streams(streams.root, f"unseen/{self.number}", 0).integer("root")
        return self.course.open(dataclasses.replace(streams, root=root))


@dataclass(frozen=True)
class Noise:
    """Random bytes and rewards, independent of the replies. It never ends."""

    horizon: ClassVar[int] = Rules.horizon
    inputs, outputs = Rules.inputs, Rules.outputs

    def open(self, streams: Streams) -> NoiseWorld:
        """The noise of a repetition."""
        return NoiseWorld(Draws(f"noise/{streams.root}/{streams.repetition}"))


class NoiseWorld(World):
    """Printable bytes; rewards -1, 0 and 1, all as likely."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def reset(self) -> int:
        """Any byte."""
        return self._draws.between(32, 126)

    def step(self, action: Any) -> Turn:
        """Any byte, any reward."""
        return Turn(self._draws.between(32, 126), self._draws.between(-1, 1), False)
