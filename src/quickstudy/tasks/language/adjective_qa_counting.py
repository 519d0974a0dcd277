"""Language task 10, question answering about things with adjectives, with counting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.adjective_qa import CONTROLS, AdjectiveQa
from quickstudy.tasks.language.checking import Malformed, Reader
from quickstudy.tasks.language.conversations import Inquiry, ReadQuestion, how_many, read_how_many
from quickstudy.tasks.language.statements import (
    DESCRIBING,
    GLUE,
    NUMBERS,
    SIZES,
    Statement,
    described,
)
from quickstudy.tasks.sampling import pick


@task(
    "language/adjective-qa-counting",
    version=1,
    controls=CONTROLS,
    oracle="qa-oracle",
)
@dataclass(frozen=True)
class AdjectiveQaCounting(AdjectiveQa):
    """Say what colour or size a thing has, whether it was affirmed, or how many were, in several
    questions.

    Sees: a prompt as in `language/adjective-qa`, with a fifth size; then several questions, each
        followed by its answer, which stays visible. Their number is drawn uniform in 1 ..
        most_questions, and repetitions are left out. Each is, if no affirmed thing has an
        adjective, by yes or no; otherwise with probability `yes_no` by yes or no, with probability
        `counts` `. HOW MANY THINGS DO I VERB ?` with a uniform verb, else about an adjective.
    Answers: a colour, a size, YES, NO or the number of affirmed things of the verb, as a word,
        after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 0.22, the share of the most frequent answer (published: 0.20). Other controls:
        `question-majority`, the most frequent answer to each kind of question, 0.41 (0.47);
        `latest-adjective`, the colour or size that was mentioned last with anything affirmed, 0.51
        (0.65); `verb-only`, which looks at the statement with the queried verb but neither at the
        noun nor at how many there are, 0.59 (0.90). Best published reservoir: 0.54.
    Ceiling: 1, by looking the noun up and by counting; in the published form too.
    Example: not balanced: `I SEE A BIG CAR . HOW MANY THINGS DO I SEE ? ONE . WHAT SIZE IS THE CAR
        I SEE ? BIG`.
    Source: Cisneros, Sivic and Mikolov 2022, task 10.

    Balanced or not, and vanishing things: as in `language/adjective-qa`. Where several questions
    are asked the balance is not quite exact: repetitions are left out, so that what was asked
    before is less likely to be asked again. Counts are not balanced: most are ZERO and ONE (TWO in
    the balanced form), since most statements are short.

    Departures: Published: 1 to 7 questions are drawn, 1 to 7 things, vanishing things. Written: 1
        to 8 questions, no thing vanishes. Corrected: 1 to 7 questions, 4 to 7 things, none
        vanishes, balanced.

    Parameters
    ----------
    counts:
        Probability of a question for a number.
    """

    sizes: int = parameter(5, at_least=1, at_most=len(SIZES))
    """How many sizes there are."""
    most_questions: int = parameter(7, at_least=1)
    """Most questions drawn."""
    counts: float = parameter(0.45, at_least=0, at_most=1)
    """How likely a question asks for a number where this is possible."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"fewest": 1, "vanishing": True, "balanced": False},
        "written": {"fewest": 1, "most_questions": 8, "balanced": False},
        "corrected": {},
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.yes_no + self.counts > 1:
            raise ValueError(
                f"yes_no and counts must be at most 1 together, got {self.yes_no} and {self.counts}"
            )

    @property
    def numbers(self) -> tuple[str, ...]:
        """The number words in use."""
        return NUMBERS[: self.objects + 1]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return (
            *self._content,
            *GLUE[:5],
            *DESCRIBING,
            "HOW",
            "MANY",
            "THINGS",
            *self.numbers,
            *GLUE[5:],
        )

    def _inquire(self, statements: list[Statement], draws: list[float]) -> Inquiry:
        # The part of the adjectives is at the end, where `AdjectiveQa` has it.
        if not self.yes_no <= draws[0] < self.yes_no + self.counts or not described(statements):
            return super()._inquire(statements, draws)
        return how_many(pick(draws[1], statements), "THINGS")

    def _read_question(self, reader: Reader, statements: list[Statement]) -> ReadQuestion:
        if not reader.sees(("HOW",)):
            return super()._read_question(reader, statements)
        if not described(statements):
            raise Malformed(reader.index, "expected DO: no affirmed thing has an adjective")
        return read_how_many(reader, statements, "THINGS", self.numbers)
