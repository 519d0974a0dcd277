"""Language task 7, question answering about a world of several statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import task
from quickstudy.base.parameters import parameter
from quickstudy.tasks.language.cast import Cast
from quickstudy.tasks.language.checking import Malformed, Reader
from quickstudy.tasks.language.clauses import Statement, plain_names, write_statement
from quickstudy.tasks.language.conversations import Conversation, Inquiry, Reading, World, ask_yes_no
from quickstudy.tasks.language.words import NAMES, NO, VERBS, YES
from quickstudy.tasks.language.worlds import Spread, read_world


@task("language/world-qa", version=1, controls=["majority", "polarity", "polarity-count"], oracle="qa-oracle")
@dataclass(frozen=True)
class WorldQa(Cast, Conversation):
    """Say whether something was affirmed or denied of a name, out of several statements.

    Sees: s names, s uniform in fewest .. most, spread over v verbs, v uniform in 1 .. min(verbs, s): v different cuts
    out of 0 .. s-1 divide the names, each verb gets those from its cut to the next, those before the first cut are
    not used. For each verb a statement as in `language/qa` (k of its m names affirmed, k uniform in 0 .. m), with a
    period between two statements. Then `. DO I VERB NAME ?` with one of the verbs and one of its names, and the
    answer. (With most_questions above 1 the number of questions drawn is uniform in 1 .. most_questions; repetitions
    are left out; each follows the answer to the one before, after a period.)
    Answers: YES or NO after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2. Controls: the most frequent answer; `polarity` and `polarity-count`, which look at the statement with
    the queried verb but not at the name. In the published form, with 1200 different sequences, they reach 0.89 and
    0.92, and the best published reservoir 0.66; in the balanced form they stay at 1/2.
    Ceiling: 1, by looking the name up.
    Example: `I SEE LEO . I CALL MARC BUT I DO NOT CALL LISA . DO I CALL LISA ? NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 7.

    Balanced or not. Not balanced (published, written): the question is about a uniform verb and a uniform one of its
    names. Most statements are then about one name or all of one kind, and the verb alone tells the answer. Balanced
    (corrected): one of the verbs, each as likely as the others, gets a name more than it would and has both clauses;
    the question is about a uniform one of the statements with both clauses; the answer is a fair coin, and the name
    uniform among those that have it. For independent draws with one question these rules are then right with
    probability 1/2 exactly:
    - every rule that looks at the prompt and at the queried verb only, since the coin is thrown without regard to them;
    - every rule that looks at everything but which clauses hold the NOT: exchanging affirmed and denied everywhere
      turns each sequence into an equally likely one with the other answer.

    Departures. Published: always one question, 1 to 12 names. Written: the text speaks of an unknown number of
    questions; 1 to 8 are drawn, the number that it gives for tasks 9 and 10. Corrected: one question, 2 to 12 names,
    balanced.
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
    """Whether questions are about statements with both clauses and their answers are drawn first."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"fewest": 1, "balanced": False},
        "written": {"fewest": 1, "balanced": False, "most_questions": 8},
        "corrected": {},
    }

    @property
    def _limit(self) -> int:
        return self.most_questions

    @property
    def _spread(self) -> Spread:
        return Spread(self.names, self.verbs, self.fewest, self.most, int(self.balanced))

    @property
    def _width(self) -> int:
        return self._spread.width

    def _worlds(self, uniform: NDArray[np.float64]) -> Iterator[World]:
        for plans in self._spread.draw(uniform):
            statements, words = [], []
            for plan in plans:
                affirmed, denied = (tuple(NAMES[place] for place in side) for side in (plan.affirmed, plan.denied))
                statement = Statement(VERBS[plan.verb], affirmed, denied)
                words += [".", *write_statement(*statement, plan.affirmed_first, plan.joint)]
                statements.append(statement)
            yield World(statements, words[1:])

    def _inquire(self, statements: list[Statement], draws: list[float]) -> Inquiry:
        statement, name, answer = ask_yes_no(statements, draws, self.balanced)
        return Inquiry(("DO", "I", statement.verb, name, "?"), answer)

    def _read_world(self, reader: Reader) -> list[Statement]:
        statements = read_world(reader, plain_names(self.people), self.actions, self.most)
        if self.balanced and not any(statement.mixed for statement in statements):
            raise Malformed(reader.index, "the prompt ends here without a statement that affirms and denies")
        return statements

    def _read_question(self, reader: Reader, statements: list[Statement]) -> Reading:
        reader.phrase("DO I")
        known = {statement.verb: statement for statement in statements if statement.mixed or not self.balanced}
        statement = known[reader.take(known, "a verb of the prompt")]
        name = reader.take(statement.affirmed + statement.denied, "a name that goes with the verb")
        reader.phrase("?")
        return Reading(YES if name in statement.affirmed else NO, (YES, NO))
