"""The game that people played in appendix A of Cisneros et al. 2022: guess what is hidden, in meaningless letters.

Every word of the task is a random letter. One sequence after another is shown with its answers hidden; a sequence
counts as right only if all of its hidden words are. The game is over after so many right ones in a row.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import ExampleTask, spaces_of
from quickstudy.base.trace import Trace

LETTERS = string.ascii_letters
MOST_HIDDEN, LEFT = 6, 5
"""A sequence with more hidden words than the first is cut before the sixth of them, so that five are left."""
HIDDEN = "_"


@dataclass(frozen=True)
class Game:
    """How long a game lasts and how it is scored.

    series: right answers in a row that end it. reached: the question at which an accuracy of k / series is held for
    reached, by k right answers in a row: the `first` of them, or the `last`. Written and corrected: 10, the first, so
    that ten right answers from the start have WADE 1. Published: 5, the last, where a perfect player has 0.33.
    """

    series: int = parameter(10, at_least=1)
    reached: str = parameter("first", choices=("first", "last"))

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"series": 5, "reached": "last"}}

    def curve(self, right: Sequence[bool]) -> tuple[list[int], list[float]]:
        """Steps and accuracies of a session, by which WADE is computed like that of any learner.

        >>> Game().curve([False, True, True, False, *[True] * 10])
        ([2, 5], [0.2, 1.0])
        """
        steps, accuracies, streak = list[int](), list[float](), 0
        for question, good in enumerate(right, 1):
            streak = streak + 1 if good else 0
            if not good:
                continue
            step = question - streak + 1 if self.reached == "first" else question
            if steps and steps[-1] == step:
                accuracies[-1] = streak / self.series
            else:
                steps.append(step)
                accuracies.append(streak / self.series)
        return (steps, accuracies) if steps else ([max(len(right), 1)], [0.0])

    def over(self, right: Sequence[bool]) -> bool:
        """Whether the last answers are a whole series of right ones."""
        return len(right) >= self.series and all(right[-self.series :])


@dataclass
class Session:
    """A person at a task. right: of every sequence so far, whether all hidden words were; given: what was answered."""

    task: Any
    game: Game
    streams: Streams
    plain: bool = False
    right: list[bool] = field(default_factory=list)
    given: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        fits = isinstance(self.task, ExampleTask) and all(isinstance(space, Tokens) for space in spaces_of(self.task))
        if not fits:
            raise UsageError(f"{self.task.id} is not played word by word; play a task of sequences of words")
        words = list(getattr(self.task, "vocabulary", map(str, range(spaces_of(self.task)[0].width))))
        if not self.plain and len(words) > len(LETTERS):
            raise UsageError(
                f"{self.task.id} has {len(words)} words, and there are {len(LETTERS)} letters; give --plain"
            )
        shuffled = self.streams.numpy("letters").permutation(len(LETTERS))
        self._names = words if self.plain else [LETTERS[shuffled[id]] for id in range(len(words))]
        self._data = self.streams.numpy("data")
        self._tokens: list[int] = []
        self._hidden: list[int] = []

    def next(self) -> str:
        """One more sequence, with what is asked for hidden."""
        tokens, hidden = self.task.sample(self._data, 1).sequence(0)
        hidden = sorted(hidden)
        if len(hidden) > MOST_HIDDEN:
            tokens, hidden = tokens[: hidden[LEFT]], hidden[:LEFT]
        self._tokens, self._hidden = [int(token) for token in tokens], hidden
        return " ".join(HIDDEN if place in hidden else self._names[id] for place, id in enumerate(self._tokens))

    def answer(self, line: str) -> bool:
        """Judge what was typed: the hidden words, with spaces between them."""
        given = line.split()
        self.given.append(given)
        self.right.append(given == [self._names[self._tokens[place]] for place in self._hidden])
        return self.right[-1]

    @property
    def hidden(self) -> int:
        """How many words of the present sequence are hidden."""
        return len(self._hidden)

    @property
    def truth(self) -> str:
        """The present sequence as it is, what was hidden in brackets."""
        named = [self._names[id] for id in self._tokens]
        return " ".join(f"[{word}]" if place in self._hidden else word for place, word in enumerate(named))

    @property
    def over(self) -> bool:
        """Whether the series is full."""
        return self.game.over(self.right)

    def trace(self) -> Trace:
        """The session as a learning curve."""
        steps, accuracies = self.game.curve(self.right)
        arrays: dict[str, NDArray[Any]] = {
            "step": np.array(steps),
            "accuracy": np.array(accuracies),
            "right": np.array(self.right),
        }
        facts = {"series": self.game.series, "reached": self.game.reached, "passes": 1, "plain": self.plain}
        return Trace("learning-curve", arrays, facts)
