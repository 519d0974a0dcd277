"""What the closed forms of tasks 5 to 10 have in common: how sequences are drawn, written and read strictly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from quickstudy.base.examples import Examples
from quickstudy.tasks.language.checking import Answer, Malformed, Reader, Verdict
from quickstudy.tasks.language.closed import WIDTH, Dice, kind_of
from quickstudy.tasks.language.conversations import Inquiry
from quickstudy.tasks.language.statements import (
    JOINTS,
    NO,
    NUMBERS,
    YES,
    Statement,
    TakeName,
    read_clause,
    write_statement,
)


class Asked(NamedTuple):
    """What a question that was read is about, the right answer, and the words that may stand in its place."""

    verb: str
    name: str
    expected: str
    possible: Sequence[str]


class Closed:
    """In front of a task of the first version: where it is balanced, prompts and questions are drawn and read as
    `quickstudy.tasks.language.closed` says; all else is as it was.
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
    def _fault(self, kind: str, statements: Sequence[Statement], asked: Sequence[tuple[str, str]]) -> str:
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
        answers, asked = list[Answer](), list[tuple[str, str]]()
        while not answers or reader.index < len(words):
            reader.phrase(".")
            if len(answers) == self.most_questions:
                raise Malformed(
                    reader.index, f"question {len(answers) + 1} stands here, at most {self.most_questions} are allowed"
                )
            start = reader.index
            verb, name, expected, possible = self._ask(reader, kind, statements)
            asked.append((verb, name))
            if asked[-1] in asked[:-1]:
                raise Malformed(start, "a question that was asked before must not stand here")
            place = reader.index
            given = reader.take(possible, " or ".join(possible))
            answers.append(Answer((place,), (expected,), (given,)))
        fault = self._fault(kind, statements, asked)
        if fault:
            raise Malformed(prompt, f"the prompt ends here and does not go with its questions: {fault}")
        return Verdict.of(answers)


def read_statements(reader: Reader, take_name: TakeName, verbs: Sequence[str], again: bool = False) -> list[Statement]:
    """The statements that stand next, with periods between them, about different verbs. Names may come in several of
    them; again: in both clauses of one, too.
    """
    statements: list[Statement] = []
    while not statements or (reader.sees((".",)) and reader.sees(("I",), ahead=1)):
        if statements:
            reader.phrase(".")
        known = {statement.verb for statement in statements}
        verb, affirmed, first = read_clause(reader, take_name, [verb for verb in verbs if verb not in known], ())
        second: tuple[str, ...] = ()
        if reader.sees(JOINTS):
            reader.take(JOINTS, "AND or BUT")
            start = reader.index
            _, other, second = read_clause(reader, take_name, (verb,), () if again else first)
            if other == affirmed:
                raise Malformed(start, "two clauses of one statement must not be both affirmed or both denied")
        statements.append(Statement(verb, first, second) if affirmed else Statement(verb, second, first))
    return statements


def read_asked_verb(reader: Reader, statements: Sequence[Statement]) -> Statement:
    """The one of the statements whose verb stands next."""
    known = {statement.verb: statement for statement in statements}
    return known[reader.take(known, "a verb of the prompt")]


def how_many(statement: Statement, counted: str) -> Inquiry:
    """How many of what is counted a statement affirms."""
    return Inquiry(("HOW", "MANY", counted, "DO", "I", statement.verb, "?"), NUMBERS[len(statement.affirmed)])


def yes_or_no(statements: Sequence[Statement], verb: str, name: str) -> Inquiry:
    """Whether a verb was affirmed of a name."""
    told = next(statement for statement in statements if statement.verb == verb)
    return Inquiry(("DO", "I", verb, *name.split(), "?"), YES if name in told.affirmed else NO)
