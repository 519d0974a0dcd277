"""Language task 8, question answering about a world, with counting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.catalogue import task
from quickstudy.base.parameters import parameter
from quickstudy.tasks.language.checking import Reader
from quickstudy.tasks.language.clauses import Statement
from quickstudy.tasks.language.conversations import Inquiry, Reading
from quickstudy.tasks.language.words import NUMBERS
from quickstudy.tasks.language.world_qa import WorldQa
from quickstudy.tasks.language.worlds import pick


@task(
    "language/world-qa-counting",
    version=1,
    controls=["majority", "question-majority", "verb-only"],
    oracle="qa-oracle",
)
@dataclass(frozen=True)
class WorldQaCounting(WorldQa):
    """Say whether something was affirmed of a name, or of how many, out of several statements.

    Sees: a prompt as in `language/world-qa`; then, with probability `counts`, `. HOW MANY PEOPLE DO I VERB ?` with a
    uniform one of its verbs, otherwise a question as there; then the answer.
    Answers: the number of affirmed names of the verb, as a word from ZERO to TWELVE; or YES or NO. Nothing else is
    asked.
    Scored: share of right answers.
    Chance: 0.28, the share of the most frequent answer (published: 0.26). Other controls: `question-majority`, the most
    frequent answer to each kind of question, 0.54 (0.47); `verb-only`, which looks at the statement with the queried
    verb but neither at the name nor at how many there are, 0.64 (0.86). Best published reservoir: 0.59.
    Ceiling: 1, by looking the name up and by counting.
    Example: `I SMELL TOM AND LUKE BUT I DO NOT SMELL LEO . HOW MANY PEOPLE DO I SMELL ? TWO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 8.

    Balanced or not: the questions by yes or no as in `language/world-qa`, with the same proof that rules without the
    name, or without the NOT, are right with probability 1/2 on them. What is left open: most counts are ZERO and ONE,
    since most statements are short; telling these two apart is part of the task, and `verb-only` shows what it is
    worth.

    Departures. Published: always one question, 1 to 12 names. Written: 1 to 8 questions are drawn, as in
    `language/world-qa`. Corrected: one question, 2 to 12 names, balanced.
    """

    counts: float = parameter(0.5, at_least=0, at_most=1)
    """How likely a question asks for a number."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = WorldQa.conventions

    @property
    def numbers(self) -> tuple[str, ...]:
        """The number words in use."""
        return NUMBERS[: self.most + 1]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return *super().vocabulary, *self.numbers, "HOW", "MANY", "PEOPLE"

    def _inquire(self, statements: list[Statement], draws: list[float]) -> Inquiry:
        if draws[0] >= self.counts:
            return super()._inquire(statements, draws)
        statement = pick(draws[1], statements)
        return Inquiry(("HOW", "MANY", "PEOPLE", "DO", "I", statement.verb, "?"), NUMBERS[len(statement.affirmed)])

    def _read_question(self, reader: Reader, statements: list[Statement]) -> Reading:
        if not reader.sees(("HOW",)):
            return super()._read_question(reader, statements)
        reader.phrase("HOW MANY PEOPLE DO I")
        known = {statement.verb: statement for statement in statements}
        statement = known[reader.take(known, "a verb of the prompt")]
        reader.phrase("?")
        return Reading(NUMBERS[len(statement.affirmed)], self.numbers)
