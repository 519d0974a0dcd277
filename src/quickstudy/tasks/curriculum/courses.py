"""The tasks of the family: every published task by itself, all in their order, and your own
curricula.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.registry import split_sheet
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import Turn
from quickstudy.tasks.curriculum.loop import MICRO_STEPS
from quickstudy.tasks.curriculum.recordings import Judge, looked_through
from quickstudy.tasks.curriculum.schedule import MEMBERS, SCHEDULERS, CurriculumFile, member_named
from quickstudy.tasks.curriculum.world import ByteWorld, Member

CONTROLS = ["silent-byte", "random-byte", "echo-byte"]


@dataclass(frozen=True)
class Rules:
    """Conditions under which tasks are given.

    Parameters
    ----------
    limits:
        Whether limits count judged questions, as in the original program, or `steps`, as in the
        paper (algorithm 1).
    successes:
        Solved instances in a row that pass a micro task.
    mini_successes:
        Solved instances in a row that pass a mini task.
    judging:
        `strict`; or `part`, where task 13.1 accepts any part of a right answer, even a lone period.
    lengths:
        Lengths of mini strings: `balanced`; or `telling`, where longer strings are more often
        right, and an empty one is wrong where nothing can be.
    renamed:
        Letters, digits and marks are permuted.
    """

    limits: str = parameter("questions", choices=("questions", "steps"))
    successes: int = parameter(5, at_least=1)
    mini_successes: int = parameter(20, at_least=1)
    judging: str = parameter("strict", choices=("strict", "part"))
    lengths: str = parameter("balanced", choices=("balanced", "telling"))
    renamed: bool = False

    inputs: ClassVar[Tokens] = Tokens(256)
    outputs: ClassVar[Tokens] = Tokens(256)
    horizon: ClassVar[int] = MICRO_STEPS
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"mini_successes": 5, "judging": "part", "lengths": "telling"},
        "written": {"mini_successes": 5, "limits": "steps"},
    }

    def opened(self, members: Sequence[Member], streams: Streams, **more: Any) -> ByteWorld:
        """An environment with these tasks."""
        options: dict[str, Any] = {
            "strict": self.judging == "strict",
            "balanced": self.lengths == "balanced",
        }
        options |= {"in_steps": self.limits == "steps", "renamed": self.renamed}
        return ByteWorld(members, streams, **options, **more)

    def named(self, names: Sequence[str]) -> list[Member]:
        """Published tasks, or a user's tasks, under these rules."""
        return [self._member(name) for name in names]

    def _member(self, name: str) -> Member:
        if name in MEMBERS:
            return Member.named(name, self.successes, self.mini_successes)
        from quickstudy.tasks.curriculum.user_tasks import registered

        own = registered(name)
        assert own is not None, name
        return dataclasses.replace(own().member(), needed=self.successes)


@dataclass(frozen=True)
class Curriculum(Rules):
    """Tasks one after another, until each is passed.

    Sees: one byte, and the reward (-1, 0 or 1) for its last reply.
    Answers: one byte; a space is silence.
    Scored: which tasks are passed within a budget, and after how many steps.
    Chance: the controls.
    Ceiling: the oracle, which is shown the right answers; a learner that has to find them needs
        more steps.
    Source: the General AI Challenge, round 1 (Feyereisl et al. 2017), and its public environment.
    Departures: published, five mini answers in a row pass, which a coin achieves in 62 questions;
        here twenty are needed, for which a coin needs two million. The vocabulary is ours, and all
        randomness has a seed.

    Parameters
    ----------
    members:
        The tasks.
    """

    members: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.members:
            raise ValueError("a curriculum needs members, as members=micro-1/micro-5.1")
        object.__setattr__(self, "members", tuple(member_named(name) for name in self.members))

    def made_of(self) -> tuple[type, ...]:
        """Classes of members in user code."""
        from quickstudy.tasks.curriculum.user_tasks import registered

        own = (registered(name) for name in self.members if name not in MEMBERS)
        return tuple(one for one in own if one is not None and one is not type(self))

    @property
    def labels(self) -> tuple[str, ...]:
        """What its tasks are called."""
        return self.members

    def configurations(self) -> Any:
        """All configurations of its task, reduced by `cut_down`: the basis of a machine. Of
        one task alone.
        """
        from quickstudy.tasks.curriculum.reductions import reduced_by_default

        return reduced_by_default(self.members)

    @property
    def cut_down(self) -> str:
        """How the task is reduced before its machine is built."""
        return (
            f"Cut down to curriculum/reduced:of={self.members[0]}, as {self.members[0]} itself is"
            " too large."
        )

    def open(self, streams: Streams) -> ByteWorld:
        """The environment."""
        return self.opened(self.named(self.members), streams)


@task("curriculum/chain", version=1, controls=CONTROLS, oracle="perfect-byte")
@dataclass(frozen=True)
class Chain(Curriculum):
    """Some tasks in an order of your own: `members=micro-1/micro-5.1`.

    Parameters
    ----------
    members:
        Names of the tasks, in order.
    """

    members: tuple[str, ...] = ("micro-1", "micro-5.1")

    __doc__ = __doc__ + split_sheet(Curriculum.__doc__ or "")[1]


@task("curriculum/round1", version=1, controls=CONTROLS, oracle="perfect-byte")
@dataclass(frozen=True)
class RoundOne(Curriculum):
    """All 46 published tasks in their order."""

    members: tuple[str, ...] = MEMBERS

    __doc__ = __doc__ + split_sheet(Curriculum.__doc__ or "")[1]


@task("curriculum/file", version=1, controls=CONTROLS, oracle="perfect-byte")
@dataclass(frozen=True)
class FromFile(Curriculum):
    """A curriculum in the JSON format of the original environment: `path=my.json`.

    Its tasks, scheduler and threshold replace the parameters. A scheduler without an end is a
    stream.

    Parameters
    ----------
    path:
        The file.
    kind:
        Scheduler: order in which tasks come.
    dependencies:
        Tasks that must be passed before others, for that scheduler.
    """

    path: str = parameter("", place=True)
    kind: str = parameter("consecutive", choices=SCHEDULERS)
    dependencies: tuple[str, ...] = ()

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"reads {given['path']}" if given.get("path") else ""

    def __post_init__(self) -> None:
        if self.path:
            found = CurriculumFile.read(pathlib.Path(self.path).expanduser())
            pairs = tuple(f"{first}>{then}" for first, then in found.dependencies)
            filled: dict[str, Any] = {
                "members": found.members,
                "kind": found.scheduler,
                "dependencies": pairs,
            }
            filled |= {"successes": found.needed, "mini_successes": found.needed}
            for name, value in filled.items():
                object.__setattr__(self, name, value)
        elif not self.members:
            raise ValueError("path must be given: a file with tasks and a scheduler")
        super().__post_init__()

    def open(self, streams: Streams) -> ByteWorld:
        """The environment, with the file's scheduler."""
        pairs = [
            (int(first), int(then))
            for first, then in (pair.split(">") for pair in self.dependencies)
        ]
        return self.opened(self.named(self.members), streams, kind=self.kind, dependencies=pairs)


@dataclass(frozen=True)
class Single(Curriculum):
    """One published task, which its id names."""

    __doc__ = __doc__ + split_sheet(Curriculum.__doc__ or "")[1]
    controls: ClassVar[list[str]] = CONTROLS
    oracle: ClassVar[str] = "perfect-byte"
    id: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", self.members or (self.id.partition("/")[2],))
        super().__post_init__()

    @property
    def judge(self) -> Judge:
        """How replies are judged, without the environment."""
        return Judge(self.members[0], self.judging == "strict", self.limits == "steps")

    def replay(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """A replayed session: `environment`, `rewards` and `judged`."""
        found = looked_through(line, "session")
        return self.judge.replayed(found["rows"], found["replies"])


@dataclass(frozen=True)
class Tabled(Single):
    """One published task of micro 1 to 5.18, which is also a world of pure functions
    (`PureWorldTask`).
    """

    __doc__ = Single.__doc__ or ""

    def reset(self, key: Any) -> tuple[Any, Any]:
        """The state of a fresh life, with instances for a horizon, and the first byte. It is, byte
        for byte, that of the environment whose random stream has the key's two words for a name.
        """
        from quickstudy.tasks.curriculum.pure_tables import begun_by_key

        if self.limits != "questions":
            raise UsageError(
                f"{self.id} as pure functions has limits in questions, got limits={self.limits}"
            )
        return begun_by_key(self.members[0], self.successes, self.renamed, key, self.horizon)

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """One reply. Nothing is drawn; over: the task is passed. ended: 1 where an instance has
        failed with it, 2 where one was solved.
        """
        from quickstudy.tasks.curriculum.pure_tables import turned

        return turned(state, action)


task.variant(
    "curriculum/micro-1", version=1, of=Tabled, summary="Which of ten symbols is always right?"
)
task.variant(
    "curriculum/micro-2", version=1, of=Tabled, summary="One letter is right for four letters."
)
task.variant(
    "curriculum/micro-3", version=1, of=Tabled, summary="Four letters are mapped to each other."
)
task.variant("curriculum/micro-4", version=1, of=Tabled, summary="Repeat a symbol.")
task.variant(
    "curriculum/micro-5.1",
    version=1,
    of=Tabled,
    summary="A digit for a digit, shown after each answer.",
)
task.variant(
    "curriculum/micro-5.2", version=1, of=Tabled, summary="The same, with an end to the feedback."
)
task.variant(
    "curriculum/micro-5.3", version=1, of=Tabled, summary="The same, with an end to the question."
)
task.variant("curriculum/micro-5.4", version=1, of=Tabled, summary="Two digits for a digit.")
task.variant(
    "curriculum/micro-5.5", version=1, of=Tabled, summary="A digit and a period for a digit."
)
task.variant(
    "curriculum/micro-5.6",
    version=1,
    of=Tabled,
    summary="The same; after a right answer no period.",
)
task.variant("curriculum/micro-5.7", version=1, of=Tabled, summary="One or two digits for a digit.")
task.variant("curriculum/micro-5.8", version=1, of=Tabled, summary="A digit for two digits.")
task.variant("curriculum/micro-5.9", version=1, of=Tabled, summary="A digit for one or two digits.")
task.variant(
    "curriculum/micro-5.10", version=1, of=Tabled, summary="A random digit before the feedback."
)
task.variant(
    "curriculum/micro-5.11",
    version=1,
    of=Tabled,
    summary="A random digit before the feedback, now and then.",
)
task.variant(
    "curriculum/micro-5.12", version=1, of=Tabled, summary="Three to five digits for a digit."
)
task.variant(
    "curriculum/micro-5.13", version=1, of=Tabled, summary="A digit for three to five digits."
)
task.variant(
    "curriculum/micro-5.14",
    version=1,
    of=Tabled,
    summary="Two to four random digits before the feedback.",
)
task.variant(
    "curriculum/micro-5.15", version=1, of=Tabled, summary="One to five digits for a digit."
)
task.variant(
    "curriculum/micro-5.16", version=1, of=Tabled, summary="A digit for one to five digits."
)
task.variant(
    "curriculum/micro-5.17",
    version=1,
    of=Tabled,
    summary="One to five digits for one to five digits.",
)
task.variant(
    "curriculum/micro-5.18",
    version=1,
    of=Tabled,
    summary="One to ten digits for one to ten digits.",
)
task.variant("curriculum/micro-6", version=1, of=Single, summary="A word for a word.")
task.variant("curriculum/micro-7.1", version=1, of=Single, summary="Say a letter.")
task.variant("curriculum/micro-7.2", version=1, of=Single, summary="Say a word.")
task.variant("curriculum/micro-7.3", version=1, of=Single, summary="Say two words.")
task.variant(
    "curriculum/micro-8",
    version=1,
    of=Single,
    summary="Say two letters, without most of their spaces.",
)
task.variant("curriculum/micro-9.1", version=1, of=Single, summary="Spell a letter.")
task.variant("curriculum/micro-9.2", version=1, of=Single, summary="Spell a word.")
task.variant(
    "curriculum/micro-9.3",
    version=1,
    of=Single,
    summary="Put a joint between the letters of a word.",
)
task.variant(
    "curriculum/micro-10",
    version=1,
    of=Single,
    summary="Say two or three words, each asked for by itself.",
)
task.variant(
    "curriculum/micro-11",
    version=1,
    of=Single,
    summary="Two words reversed, concatenated or interleaved.",
)
task.variant(
    "curriculum/micro-12",
    version=1,
    of=Single,
    summary="A letter put to a word, or taken out of it.",
)
task.variant(
    "curriculum/micro-13.1", version=1, of=Single, summary="One letter and, or, or but not another."
)
task.variant(
    "curriculum/micro-13.2", version=1, of=Single, summary="All of some words, or any of them."
)
task.variant(
    "curriculum/micro-14", version=1, of=Single, summary="The next letter of the alphabet."
)
task.variant(
    "curriculum/micro-15",
    version=1,
    of=Single,
    summary="The next item of a list, forwards or backwards.",
)
task.variant(
    "curriculum/micro-16",
    version=1,
    of=Single,
    summary="Spelling, saying and combining, one per instance.",
)
task.variant(
    "curriculum/micro-19", version=1, of=Single, summary="Saying and combining, with synonyms."
)
task.variant(
    "curriculum/micro-20",
    version=1,
    of=Single,
    summary="Saying and combining, with a new word explained.",
)
task.variant("curriculum/mini-0", version=1, of=Single, summary="One n-gram, ten questions long.")
task.variant("curriculum/mini-1", version=1, of=Single, summary="A string covered by one n-gram.")
task.variant(
    "curriculum/mini-2", version=1, of=Single, summary="A string covered by any of some n-grams."
)
task.variant(
    "curriculum/mini-3", version=1, of=Single, summary="A string with all of some n-grams."
)
task.variant(
    "curriculum/mini-4",
    version=1,
    of=Single,
    summary="A string with some n-grams and without others.",
)
task.variant("curriculum/mini-5", version=1, of=Single, summary="Any of the four sets before.")
