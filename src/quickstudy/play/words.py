"""The game that people played in appendix A of Cisneros et al. 2022: guess what is hidden, in
meaningless letters.

Every word of the task is a random letter. One sequence after another is shown with its answers
hidden; a sequence counts as right only if all of its hidden words are. The game is over after so
many right ones in a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import ExampleTask, spaces_of
from quickstudy.base.text import counted
from quickstudy.base.trace import Trace
from quickstudy.measures.wade import wade_preset
from quickstudy.play.seat import LETTERS, Said, Seat, Shown, renamed

MOST_HIDDEN, LEFT = 6, 5
"""A sequence with more hidden words than the first is cut before the sixth of them, so that five
are left.
"""
HIDDEN = "_"


@dataclass(frozen=True)
class Game:
    """How long a game lasts and how it is scored.

    series: right answers in a row that end it. reached: the question at which an accuracy of k /
    series is held for reached, by k right answers in a row: the `first` of them, or the `last`.
    Written and corrected: 10, the first, so that ten right answers from the start have WADE 1.
    Published: 5, the last, where a perfect player has 0.33.
    """

    series: int = parameter(10, at_least=1)
    reached: str = parameter("first", choices=("first", "last"))

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"series": 5, "reached": "last"}
    }

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

    def streak(self, right: Sequence[bool]) -> int:
        """Right answers in a row, up to the last."""
        return next((count for count, good in enumerate(reversed(right)) if not good), len(right))

    def score(self, right: Sequence[bool]) -> float:
        """WADE of a session, with as many thresholds as the series is long."""
        return wade_preset("paper", thresholds=self.series).score(*self.curve(right))


class WordsSeat(Seat):
    """right: of every sequence so far, whether all hidden words were; given: what was answered.
    most: sequences that are shown at most.
    """

    measures: ClassVar[tuple[str, ...]] = ("wade",)
    title: ClassVar[str] = "What is hidden?"
    explained: ClassVar[str] = (
        "Every letter means a word, always the same one. Type what is hidden, with spaces"
        " between; a sequence is right only if all of it is. The right one is shown after every"
        " answer."
    )

    def __init__(
        self, task: Any, streams: Streams, game: Game, most: int = 1000, plain: bool = False
    ) -> None:
        super().__init__(task, streams)
        fits = isinstance(task, ExampleTask) and all(
            isinstance(space, Tokens) for space in spaces_of(task)
        )
        if not fits:
            raise UsageError(
                f"{task.id} is not played word by word; play a task of sequences of words"
            )
        words = list(getattr(task, "vocabulary", map(str, range(spaces_of(task)[0].width))))
        self.game, self.most, self.plain = game, most, plain
        self.right: list[bool] = []
        self.given: list[list[str]] = []
        self._names = renamed(words, streams, plain)
        self._data = streams.numpy("data")
        self._draw()

    def _draw(self) -> None:
        tokens, hidden = self.task.sample(self._data, 1).sequence(0)
        hidden = sorted(hidden)
        if len(hidden) > MOST_HIDDEN:
            tokens, hidden = tokens[: hidden[LEFT]], hidden[:LEFT]
        self._tokens, self._hidden = [int(token) for token in tokens], hidden

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The game, and how many sequences there may be."""
        return {**asdict(self.game), "most": self.most, "plain": self.plain}

    @property
    def over(self) -> bool:
        """The series is full, or nothing more is shown."""
        return self.stopped or self._full or len(self.right) >= self.most

    @property
    def _full(self) -> bool:
        return self.game.streak(self.right) >= self.game.series

    @property
    def scored(self) -> bool:
        """One answer has a score."""
        return bool(self.right)

    @property
    def progress(self) -> str:
        """The series as it stands."""
        return f"{self.game.streak(self.right)} of {self.game.series} in a row"

    @property
    def hidden(self) -> int:
        """How many words of the present sequence are hidden."""
        return len(self._hidden)

    @property
    def truth(self) -> str:
        """The present sequence in full, what was hidden in brackets."""
        named = [self._names[id] for id in self._tokens]
        return " ".join(
            f"[{word}]" if place in self._hidden else word for place, word in enumerate(named)
        )

    def shown(self) -> Shown:
        """The present sequence, with what is asked for hidden."""
        words = [
            HIDDEN if place in self._hidden else self._names[id]
            for place, id in enumerate(self._tokens)
        ]
        ask = (
            "what is hidden?"
            if self.hidden == 1
            else f"which {self.hidden} are hidden? (spaces between)"
        )
        return Shown(f"{len(self.right) + 1}: {' '.join(words)}", ask)

    def answer(self, line: str) -> Said:
        """Judge the hidden words, and go on to the next sequence. Raises UsageError, and nothing
        counts, for what cannot be an answer: not as many words as are hidden, or none of the game's
        letters (plain: words).
        """
        given, truth = self._read(line), self.truth
        self.given.append(given)
        self.right.append(given == [self._names[self._tokens[place]] for place in self._hidden])
        if not self.over:
            self._draw()
        good = self.right[-1]
        return Said(f"{'right' if good else 'wrong'}: {truth}", good)

    def _read(self, line: str) -> list[str]:
        given = line.split()
        if not self.plain and len(given) == 1 and len(given[0]) == self.hidden:
            given = list(given[0])  # letters without spaces between them
        kind = "word" if self.plain else "letter"
        wanted = (
            f"1 {kind} is hidden: type it"
            if self.hidden == 1
            else (f"{self.hidden} {kind}s are hidden: type {self.hidden}, with spaces between")
        )
        if len(given) != self.hidden:
            raise UsageError(f"{wanted} (this was not counted)")
        known = self._names if self.plain else LETTERS
        if odd := [word for word in given if word not in known]:
            raise UsageError(
                f'"{odd[0]}" is not a {kind} of this game; {wanted} (this was not counted)'
            )
        return given

    def summary(self) -> str:
        """How many were right, and WADE."""
        over = f"{self.game.series} in a row" if self._full else "stopped"
        score = f"{sum(self.right)} right; WADE {self.game.score(self.right):.4f}"
        return f"{over} after {counted(len(self.right), 'sequence')}, {score}"

    def traces(self) -> list[Trace]:
        """The session as a learning curve."""
        steps, accuracies = self.game.curve(self.right)
        arrays: dict[str, NDArray[Any]] = {
            "step": np.array(steps),
            "accuracy": np.array(accuracies),
            "right": np.array(self.right),
        }
        facts = {
            **self.parameters,
            "passes": 1,
            "unit": "sequences",
            "thresholds": self.game.series,
        }
        return [Trace("learning-curve", arrays, facts)]
