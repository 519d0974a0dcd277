"""Language tasks 7 and 8, question answering about several statements, without and with
counting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.checking import Malformed, Reader
from quickstudy.tasks.language.conversations import (
    Conversation,
    Inquiry,
    Prompt,
    ReadQuestion,
    Spread,
    ask_yes_no,
    how_many,
    read_how_many,
    read_prompt,
    read_verb,
    write_prompt,
)
from quickstudy.tasks.language.qa import CONTROLS, Cast
from quickstudy.tasks.language.statements import (
    NAMES,
    NO,
    NUMBERS,
    VERBS,
    YES,
    Statement,
    plain_names,
)
from quickstudy.tasks.sampling import pick


@task("language/world-qa", version=1, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class WorldQa(Cast, Conversation):
    """Say whether something was affirmed or denied of a name, out of several statements.

    Sees: s names, s uniform in fewest .. most, spread over v verbs, v uniform in 1 .. min(verbs,
        s): v different cuts out of 0 .. s-1 divide the names, each verb gets those from its cut to
        the next, those before the first cut are not used. For each verb a statement as in
        `language/qa` (k of its m names affirmed, k uniform in 0 .. m), with a period between two
        statements. Then `. DO I VERB NAME ?` with one of the verbs and one of its names, and the
        answer. (With most_questions above 1 the number of questions drawn is uniform in 1 ..
        most_questions; repetitions are left out; each follows the answer to the one before, after a
        period.)
    Answers: YES or NO after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2. Controls: the most frequent answer; `polarity` and `polarity-count`, which look at
        the statement with the queried verb but not at the name. In the published form, with 1200
        different sequences, they reach 0.89 and 0.92, and the best published reservoir 0.66; in the
        balanced form they stay at 1/2.
    Ceiling: 1, by looking the name up.
    Example: `I SEE LEO . I CALL MARC BUT I DO NOT CALL LISA . DO I CALL LISA ? NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 7.

    Balanced or not. Not balanced (published, written): the question is about a uniform verb and a
    uniform one of its names. Most statements are then about one name or all of one kind, and the
    verb alone tells the answer. Balanced (corrected): one of the verbs, each as likely as the
    others, gets a name more than it would and has both clauses; the question is about a uniform one
    of the statements with both clauses; the answer is a fair coin, and the name uniform among those
    that have it. For independent draws with one question these rules are then right with
    probability 1/2 exactly:
    - every rule that looks at the prompt and at the queried verb only, since the coin is thrown
      without regard to them;
    - every rule that looks at everything but which clauses hold the NOT: exchanging affirmed and
      denied everywhere turns each sequence into an equally likely one with the other answer.

    Departures: Published: always one question, 1 to 12 names. Written: the text speaks of an
        unknown number of questions; 1 to 8 are drawn, the number that it gives for tasks 9 and 10.
        Corrected: one question, 2 to 12 names, balanced.

    Parameters
    ----------
    names:
        Number of names.
    verbs:
        Number of verbs.
    fewest:
        Fewest names in a prompt.
    most:
        Most names in a prompt.
    most_questions:
        Most questions per sequence.
    balanced:
        The balanced form, in which rules without the name or without the NOT are at 1/2.
    """

    names: int = parameter(13, at_least=1, at_most=len(NAMES))
    """How many names there are."""
    verbs: int = parameter(7, at_least=1, at_most=len(VERBS))
    """How many verbs there are."""
    fewest: int = parameter(2, at_least=1)
    """Fewest names that are spread over the verbs."""
    most: int = parameter(12, at_least=1)
    """Most names that are spread over the verbs."""
    most_questions: int = parameter(1, at_least=1)
    """Most questions drawn."""
    balanced: bool = True
    """Whether questions are about statements with both clauses and their answers are drawn
    first.
    """

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"fewest": 1, "balanced": False},
        "written": {"fewest": 1, "balanced": False, "most_questions": 8},
        "corrected": {},
    }

    @property
    def _spread(self) -> Spread:
        return Spread(self.names, self.verbs, self.fewest, self.most, int(self.balanced))

    @property
    def _width(self) -> int:
        return self._spread.width

    def _prompts(self, uniform: NDArray[np.float64]) -> Iterator[Prompt]:
        return (write_prompt(plans, NAMES, VERBS) for plans in self._spread.draw(uniform))

    def _inquire(self, statements: list[Statement], draws: list[float]) -> Inquiry:
        return ask_yes_no(statements, draws, self.balanced)

    def _read_prompt(self, reader: Reader) -> list[Statement]:
        statements = read_prompt(reader, plain_names(self.people), self.actions, self.most)
        if self.balanced and not any(statement.mixed for statement in statements):
            raise Malformed(
                reader.index, "the prompt ends here without a statement that affirms and denies"
            )
        return statements

    def _read_question(self, reader: Reader, statements: list[Statement]) -> ReadQuestion:
        reader.phrase("DO I")
        statement = read_verb(
            reader, (known for known in statements if known.mixed or not self.balanced)
        )
        name = reader.take(statement.affirmed + statement.denied, "a name that goes with the verb")
        reader.phrase("?")
        return ReadQuestion(YES if name in statement.affirmed else NO, (YES, NO))


@task(
    "language/world-qa-counting",
    version=1,
    controls=[
        "majority",
        "question-majority",
        "verb-only",
        "verbatim",
        "not-before",
        "last-name",
        "composite",
    ],
    oracle="qa-oracle",
)
@dataclass(frozen=True)
class WorldQaCounting(WorldQa):
    """Say whether something was affirmed of a name, or of how many, out of several statements.

    Sees: a prompt as in `language/world-qa`; then, with probability `counts`, `. HOW MANY PEOPLE DO
        I VERB ?` with a uniform one of its verbs, otherwise a question as there; then the answer.
    Answers: the number of affirmed names of the verb, as a word from ZERO to TWELVE; or YES or NO.
        Nothing else is asked.
    Scored: share of right answers.
    Chance: 0.28, the share of the most frequent answer (published: 0.26). Other controls:
        `question-majority`, the most frequent answer to each kind of question, 0.54 (0.47);
        `verb-only`, which looks at the statement with the queried verb but neither at the name nor
        at how many there are, 0.64 (0.86). Best published reservoir: 0.59.
    Ceiling: 1, by looking the name up and by counting.
    Example: `I SMELL TOM AND LUKE BUT I DO NOT SMELL LEO . HOW MANY PEOPLE DO I SMELL ? TWO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 8.

    Balanced or not: the questions by yes or no as in `language/world-qa`, with the same proof that
    rules without the name, or without the NOT, are right with probability 1/2 on them. Open
    shortcuts: most counts are ZERO and ONE, since most statements are short; telling these two
    apart is part of the task, and `verb-only` shows what it is worth.

    Departures: Published: always one question, 1 to 12 names. Written: 1 to 8 questions are drawn,
        as in `language/world-qa`. Corrected: one question, 2 to 12 names, balanced.

    Parameters
    ----------
    counts:
        Probability of a question for a number.
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
        return how_many(pick(draws[1], statements), "PEOPLE")

    def _read_question(self, reader: Reader, statements: list[Statement]) -> ReadQuestion:
        if not reader.sees(("HOW",)):
            return super()._read_question(reader, statements)
        return read_how_many(reader, statements, "PEOPLE", self.numbers)
