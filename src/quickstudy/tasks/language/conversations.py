"""Prompts followed by questions and their answers: what the tasks with several statements have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.tasks.language.checking import Answer, Malformed, Reader, Verdict, judge
from quickstudy.tasks.language.clauses import Statement
from quickstudy.tasks.language.draws import between
from quickstudy.tasks.language.words import NO, YES
from quickstudy.tasks.language.worlds import pick

DRAWS = 4
"""Uniform numbers for one question: its kind, its verb, its name, and one for the rest."""


class World(NamedTuple):
    """What is stated, and the words that state it."""

    statements: list[Statement]
    words: list[str]


class Inquiry(NamedTuple):
    """A question: its words with the question mark, and its answer."""

    words: tuple[str, ...]
    answer: str


class Reading(NamedTuple):
    """A question that was read: the right answer, and the words that may stand in its place."""

    expected: str
    possible: Sequence[str]


class Conversation(ABC):
    """A prompt, then for each question a period, the question and its answer. Answers are supervised and stay visible.

    The number of questions drawn is uniform in 1 .. most_questions; of equal ones the first is kept.
    """

    @property
    @abstractmethod
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""

    @property
    @abstractmethod
    def _limit(self) -> int:
        """Most questions in a sequence."""

    @property
    @abstractmethod
    def _width(self) -> int:
        """Uniform numbers for one prompt."""

    @abstractmethod
    def _worlds(self, uniform: NDArray[np.float64]) -> Iterator[World]:
        """One prompt for each row of a (count, width) table."""

    @abstractmethod
    def _inquire(self, statements: list[Statement], draws: list[float]) -> Inquiry:
        """A question about a prompt, out of DRAWS uniform numbers."""

    @abstractmethod
    def _read_world(self, reader: Reader) -> list[Statement]:
        """The statements of the prompt that stands next."""

    @abstractmethod
    def _read_question(self, reader: Reader, statements: list[Statement]) -> Reading:
        """The question that stands next. It may add to the statements what it gives away about them."""

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        uniform = rng.random((count, self._width + 1 + DRAWS * self._limit))
        numbers = between(uniform[:, self._width], 1, self._limit).tolist()
        draws = uniform[:, self._width + 1 :].reshape(count, self._limit, DRAWS).tolist()
        ids = {word: id for id, word in enumerate(self.vocabulary)}
        sequences, masks = [], []
        for world, number, rows in zip(self._worlds(uniform[:, : self._width]), numbers, draws, strict=True):
            words = world.words
            mask = []
            for inquiry in dict.fromkeys(self._inquire(world.statements, row) for row in rows[:number]):
                words = [*words, ".", *inquiry.words, inquiry.answer]
                mask.append(len(words) - 1)
            sequences.append([ids[word] for word in words])
            masks.append(mask)
        return Examples.from_sequences(sequences, masks)

    def check(self, tokens: Any) -> Verdict:
        """The verdict on a sequence."""
        return judge(tokens, self.vocabulary, self._verdict)

    def _verdict(self, words: list[str]) -> Verdict:
        reader = Reader(words)
        statements = self._read_world(reader)
        answers: list[Answer] = []
        asked: set[tuple[str, ...]] = set()
        while not answers or reader.index < len(words):
            reader.phrase(".")
            start = reader.index
            if len(answers) == self._limit:
                raise Malformed(start, f"question {len(answers) + 1} stands here, at most {self._limit} are allowed")
            expected, possible = self._read_question(reader, statements)
            question = tuple(words[start : reader.index])
            if question in asked:
                raise Malformed(start, "a question that was asked before must not stand here")
            asked.add(question)
            place = reader.index
            found = reader.take(possible, " or ".join(possible))
            answers.append(Answer((place,), (expected,), (found,)))
        return Verdict.of(answers)


def ask_yes_no(statements: list[Statement], draws: list[float], balanced: bool) -> tuple[Statement, str, str]:
    """The statement, the name and the answer of a yes-or-no question.

    A uniform statement and a uniform name of it; balanced: a uniform one of the statements with both clauses, a fair
    coin for the answer, and a uniform one of the names that have this answer.
    """
    _, which, who, coin = draws
    if balanced:
        statement = pick(which, [statement for statement in statements if statement.mixed])
        name = pick(who, statement.affirmed if coin < 0.5 else statement.denied)
    else:
        statement = pick(which, statements)
        name = pick(who, statement.affirmed + statement.denied)
    return statement, name, YES if name in statement.affirmed else NO
