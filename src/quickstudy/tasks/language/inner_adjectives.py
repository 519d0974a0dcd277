"""Language tasks 9 and 10 in their third version: four nouns may be asked for, and pairs stand
inside equal clauses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.adjective_qa import CONTROLS
from quickstudy.tasks.language.closed import VALUES
from quickstudy.tasks.language.closed_adjectives import ClosedAdjectiveQa, ClosedAdjectiveQaCounting
from quickstudy.tasks.language.inner_qa import Inner, before


class InnerThings(Inner):
    """As many nouns to be asked for as a noun has colours or sizes."""

    contrasted: ClassVar[int] = VALUES
    inside: ClassVar[int] = 1


@task("language/adjective-qa", version=3, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class InnerAdjectiveQa(InnerThings, ClosedAdjectiveQa):
    """Say what colour or size a thing has, or whether it was affirmed, out of several statements.

    Sees: (corrected) two statements, one for each of two verbs, each with an affirmed and a denied
        clause. Each thing has a colour with probability `coloured` and a size with probability
        `sized`, and is called by article, size, colour and noun. With probability `yes_no` all
        nouns are in both statements as the names of `language/qa` do, each always called alike, and
        the question is `. DO I VERB A ... ?`. Otherwise the statements are about s nouns, s uniform
        in fewest .. most, of which four are in all four clauses, never first in one: each with four
        different colours (or sizes, by a coin), and no two alike in a clause. The question is `.
        WHAT COLOR IS THE NOUN I VERB ?` (or SIZE), with one of the four nouns and one of the two
        verbs, all equally likely.
    Answers: a colour, a size, YES or NO after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 0.11, the share of the most frequent answer; `question-majority` 0.28.
    Ceiling: 1, by looking up the noun with its verb among what is affirmed.
    Example: one clause: `I SEE A CAR AND A BIG PEAR AND A TINY APPLE AND A SMALL PEACH AND A HUGE
        TRAIN BUT ...`.
    Source: Cisneros, Sivic and Mikolov 2022, task 9.

    Closed shortcuts. Asked for a colour or a size, a rule that looks at what stands with the noun
    anywhere finds all four answers, each once, and so does one that looks at all of the right
    clause and lacks the noun: both are right with probability 1/4. One that lacks the verb or the
    NOT alone has 1/2. By yes or no as in `language/qa`, with eight nouns.

    Departures: Published and written: as in the first version. Corrected: two verbs in a prompt, 6
        or 7 nouns, four sizes, one question, none vanishes, closed to shallow rules. In the second
        version two nouns are in all clauses, and `verb-only`, which lacks the noun, is right in
        0.47 of cases.
    """

    fewest: int = parameter(6, at_least=1)
    """Fewest things that are spread over the verbs."""
    most: int = parameter(7, at_least=1)
    """Most things that are spread over the verbs."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = before(ClosedAdjectiveQa.conventions)


@task("language/adjective-qa-counting", version=3, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class InnerAdjectiveQaCounting(InnerThings, ClosedAdjectiveQaCounting):
    """Say what colour or size a thing has, whether it was affirmed, or how many were, in several
    questions.

    Sees: (corrected) with probability `counts`, two or three statements about seven things each, of
        which k uniform in 2 .. 5 are affirmed, and `. HOW MANY THINGS DO I VERB ?`; otherwise a
        prompt and questions as in `language/adjective-qa`, with a fifth size. The number of
        questions is drawn uniform in 1 .. most_questions; all of a sequence are of one kind, each
        about another verb or pair, as far as there are any: three counts at most, two pairs, and
        one colour or size. Each is followed by its answer, which stays visible.
    Answers: a colour, a size, YES, NO or a number after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 0.15, the share of the most frequent answer; `question-majority` 0.28.
    Ceiling: 1, by looking up and by counting.
    Example: `I SEE A CAR AND A PEAR BUT I DO NOT SEE ... . HOW MANY THINGS DO I SEE ? TWO . HOW
        MANY THINGS ...`.
    Source: Cisneros, Sivic and Mikolov 2022, task 10.

    Closed shortcuts: as in `language/adjective-qa` and `language/world-qa-counting`. What one
    question is about is drawn without regard to the others, so that earlier answers tell nothing of
    later ones; that is why one colour or size is asked for at most.

    Departures: Published and written: as in the first version, 1 to 7 and 1 to 8 questions of all
        kinds. Corrected: up to three questions of one kind, closed to shallow rules. In the second
        version two nouns are in all clauses, and `verb-only` is right in 0.45 of cases.
    """

    fewest: int = parameter(6, at_least=1)
    """Fewest things that are spread over the verbs."""
    most: int = parameter(7, at_least=1)
    """Most things that are spread over the verbs."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = before(
        ClosedAdjectiveQaCounting.conventions
    )
