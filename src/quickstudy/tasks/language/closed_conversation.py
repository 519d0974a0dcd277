"""What the closed forms of tasks 5 to 10 have in common: how sequences are drawn, written and read
strictly.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from quickstudy.base.examples import Examples
from quickstudy.tasks.language.checking import Malformed, Reader, Verdict
from quickstudy.tasks.language.closed import WIDTH, Dice, Paired, kind_of
from quickstudy.tasks.language.conversations import Inquiry, ReadQuestion, read_answers, yes_or_no
from quickstudy.tasks.language.statements import (
    JOINTS,
    Statement,
    TakeName,
    read_statement,
    write_statement,
)


class Asked(NamedTuple):
    """What a question that was read is about, the right answer, and the words that may replace its
    place.
    """

    verb: str
    name: str
    expected: str
    possible: Sequence[str]


class Closed:
    """In front of a task of the first version: where it is balanced, prompts and questions are
    drawn and read as described in `quickstudy.tasks.language.closed`; all else is unchanged.
    """

    balanced: bool
    most_questions: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[misc]
        if self.balanced:
            self._check_closed()

    @abstractmethod
    def _check_closed(self) -> None:
        """Raise ValueError for parameters that leave no closed prompt."""

    @abstractmethod
    def _draw(self, dice: Dice, most: int) -> tuple[list[Statement], list[Inquiry]]:
        """A prompt, and at most so many questions about it."""

    @abstractmethod
    def _read(self, reader: Reader, kind: str) -> list[Statement]:
        """The statements that stand next, in a sequence with questions of some kind."""

    @abstractmethod
    def _ask(self, reader: Reader, kind: str, statements: Sequence[Statement]) -> Asked:
        """The question of that kind that stands next."""

    @abstractmethod
    def _fault(
        self, kind: str, statements: Sequence[Statement], asked: Sequence[tuple[str, str]]
    ) -> str:
        """Why such a prompt does not go with such questions; nothing if it does."""

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        if not self.balanced:
            drawn: Examples = super().sample(rng, count)  # type: ignore[misc]
            return drawn
        ids = {word: id for id, word in enumerate(self.vocabulary)}  # type: ignore[attr-defined]
        sequences, masks = [], []
        for row in rng.random((count, WIDTH)).tolist():
            dice = Dice(row)
            statements, inquiries = self._draw(dice, dice.between(1, self.most_questions))
            words, mask = list[str](), list[int]()
            for statement in statements:
                words += [".", *write_statement(*statement, dice.coin(), dice.pick(JOINTS))]
            for inquiry in inquiries:
                words += [".", *inquiry.words, inquiry.answer]
                mask.append(len(words) - 2)
            sequences.append([ids[word] for word in words[1:]])
            masks.append(mask)
        return Examples.from_sequences(sequences, masks)

    def _verdict(self, words: list[str]) -> Verdict:
        if not self.balanced:
            found: Verdict = super()._verdict(words)  # type: ignore[misc]
            return found
        reader, kind = Reader(words), kind_of(words)
        statements = self._read(reader, kind)
        prompt = reader.index
        asked = list[tuple[str, str]]()

        def read_question() -> ReadQuestion:
            found = self._ask(reader, kind, statements)
            asked.append((found.verb, found.name))
            return ReadQuestion(found.expected, found.possible)

        answers = read_answers(reader, self.most_questions, read_question)
        fault = self._fault(kind, statements, asked)
        if fault:
            raise Malformed(
                prompt, f"the prompt ends here and does not go with its questions: {fault}"
            )
        return Verdict.of(answers)


def read_statements(
    reader: Reader, take_name: TakeName, verbs: Sequence[str], again: bool = False
) -> list[Statement]:
    """The statements that stand next, with periods between them, about different verbs. Names may
    come in several of them; again: in both clauses of one, too.
    """
    statements: list[Statement] = []
    while not statements or (reader.sees((".",)) and reader.sees(("I",), ahead=1)):
        if statements:
            reader.phrase(".")
        known = {statement.verb for statement in statements}
        left = [verb for verb in verbs if verb not in known]
        statements.append(read_statement(reader, take_name, left, again=again))
    return statements


def ask_pairs(dice: Dice, paired: Paired) -> list[Inquiry]:
    """Of every pair one name, with one of the two verbs, by yes or no."""
    told = {statement.verb: statement for statement in paired.statements}
    return [yes_or_no(told[dice.pick(paired.verbs)], dice.pick(pair)) for pair in paired.pairs]
