"""A seat: where a person sits in the place of a learner. A terminal and a browser show the same
one.
"""

from __future__ import annotations

import string
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.blocks import Picture
from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace

LETTERS = string.ascii_letters


@dataclass(frozen=True)
class Shown:
    """What a person sees before an answer. text: letter by letter, as a terminal prints it. ask:
    what is to be typed.

    choices: (what is typed, what it means), where there are few answers. picture: what a page shows
    besides.
    paced: symbols that are shown before the text, one by one, and then hidden. seconds: how long
    each.
    """

    text: str
    ask: str
    choices: Sequence[tuple[str, str]] = ()
    picture: Sequence[Picture] = ()
    paced: Sequence[str] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Said:
    """Feedback on an answer. good: whether it was right, None where that is not
    shown.
    """

    text: str = ""
    good: bool | None = None


class Seat(ABC):
    """A session of one person on one task. All samples depend on the streams only.

    measures: ids of those that its trace is scored by. title: what a player sees above the game,
    which must not give away what is to be found out, as the id of a task does. explained: what is
    going on, in a sentence or two, for a person who has never seen the task; nothing of what is to
    be found out. stopped: the person has left. runs: repetitions of the task that a session takes
    up, each a run of its own.
    """

    measures: ClassVar[tuple[str, ...]]
    title: ClassVar[str]
    explained: ClassVar[str]
    stopped: bool = False
    runs: int = 1

    def __init__(self, task: Any, streams: Streams) -> None:
        self.task, self.streams = task, streams

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """How long the session may be and how it is played: part of its identity."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether nothing more is asked."""

    @property
    @abstractmethod
    def scored(self) -> bool:
        """Whether enough was answered for a score."""

    @property
    def progress(self) -> str:
        """How far it is, in a few words."""
        return ""

    @property
    def reference(self) -> str:
        """The introduction, shown once at the beginning, which the player may look at all the
        time.
        """
        return ""

    @abstractmethod
    def shown(self) -> Shown:
        """The present question; the same until it is answered."""

    @abstractmethod
    def answer(self, line: str) -> Said:
        """Take what was typed. Raises UsageError, and nothing has happened, for what cannot be an
        answer.
        """

    def stop(self) -> str:
        """The person leaves. Gives what is still to be shown."""
        self.stopped = True
        return ""

    @abstractmethod
    def summary(self) -> str:
        """How it went, in one line."""

    @abstractmethod
    def traces(self) -> list[Trace]:
        """The session as traces of the kind that machines leave on this task: one for each run."""


def renamed(words: Sequence[str], streams: Streams, plain: bool) -> list[str]:
    """Random letters for words, so that they are not known from elsewhere; plain: the words
    themselves.
    """
    if plain:
        return list(words)
    if len(words) > len(LETTERS):
        raise UsageError(
            f"{streams.task} has {len(words)} words, and there are {len(LETTERS)} letters; give"
            " --plain"
        )
    shuffled = streams.numpy("letters").permutation(len(LETTERS))
    return [LETTERS[shuffled[place]] for place in range(len(words))]
