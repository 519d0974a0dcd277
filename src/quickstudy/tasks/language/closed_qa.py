"""Language tasks 5 to 8 in their second version: the balanced forms are closed to shallow rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.checking import Reader
from quickstudy.tasks.language.closed import (
    COUNTED,
    LEAST_COUNT,
    MOST_EXTRA,
    OTHERS,
    Dice,
    counts_fault,
    draw_counted,
    draw_pairs,
    others_for,
    pairs_fault,
)
from quickstudy.tasks.language.closed_conversation import Asked, Closed, ask_pairs, read_statements
from quickstudy.tasks.language.conversations import Inquiry, how_many, read_verb
from quickstudy.tasks.language.qa import CONTROLS, HarderQa, Qa
from quickstudy.tasks.language.statements import NAMES, NO, NUMBERS, YES, Statement, plain_names
from quickstudy.tasks.language.world_qa import WorldQa, WorldQaCounting

LEAST = 2 + OTHERS
"""Fewest names of a closed prompt: a pair, and one for the head of each clause."""


class ClosedNames(Closed):
    """Names of one word; extra: statements besides those of the two verbs, at most. counts: as of
    the task. even: whether the clauses of a pair are equally long.
    """

    names: int
    verbs: int
    fewest: int
    most: int
    people: tuple[str, ...]
    actions: tuple[str, ...]
    extra: ClassVar[int] = 0
    counts: float = 0.0
    inside: int = 0
    even: ClassVar[bool] = False

    def _check_closed(self) -> None:
        least = 2 + others_for(self.inside)
        if self.fewest < least:
            raise ValueError(
                f"fewest must be at least {least} when balanced, got {self.fewest}; or give"
                " balanced=no"
            )
        if self.verbs < 2:
            raise ValueError(
                f"verbs must be at least 2 when balanced, got {self.verbs}; or give balanced=no"
            )
        if self.counts and self.names < COUNTED:
            raise ValueError(
                f"names must be at least {COUNTED} when balanced and counted, got {self.names}; or"
                " give balanced=no"
            )

    def _draw(self, dice: Dice, most: int) -> tuple[list[Statement], list[Inquiry]]:
        if dice.happens(self.counts):
            statements = draw_counted(dice, NAMES[: self.names], self.actions, str)
            return statements, [
                how_many(statement, "PEOPLE") for statement in dice.shuffled(statements)[:most]
            ]
        some = dice.shuffled(self.people)[: dice.between(self.fewest, self.most)]
        pairs = min(most, (len(some) - others_for(self.inside)) // 2)
        paired = draw_pairs(dice, some, self.actions, pairs, self.extra, self.inside, self.even)
        return paired.statements, ask_pairs(dice, paired)

    def _read(self, reader: Reader, kind: str) -> list[Statement]:
        return read_statements(reader, plain_names(self.people), self.actions)

    def _ask(self, reader: Reader, kind: str, statements: Sequence[Statement]) -> Asked:
        if kind == "HOW":
            reader.phrase("HOW MANY PEOPLE DO I")
            told = read_verb(reader, statements)
            reader.phrase("?")
            return Asked(told.verb, "", NUMBERS[len(told.affirmed)], self.vocabulary)  # type: ignore[attr-defined]
        reader.phrase("DO I")
        told = read_verb(reader, statements)
        name = reader.take(told.affirmed + told.denied, "a name that goes with the verb")
        reader.phrase("?")
        return Asked(told.verb, name, YES if name in told.affirmed else NO, (YES, NO))

    def _fault(
        self, kind: str, statements: Sequence[Statement], asked: Sequence[tuple[str, str]]
    ) -> str:
        if kind == "HOW":
            return counts_fault(statements)
        size = len(
            {name for statement in statements for name in statement.affirmed + statement.denied}
        )
        if not self.fewest <= size <= self.most:
            return f"{size} names, not {self.fewest} to {self.most}"
        return pairs_fault(statements, asked, self.extra, self.inside, self.even)


@task("language/qa", version=2, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class ClosedQa(ClosedNames, Qa):
    """Say whether something was affirmed or denied of a name.

    Sees: (corrected) two statements, one for each of two verbs, about the same s names, s uniform
        in fewest .. most. Each affirms some names (`I VERB n1 AND n2 ...`) and denies the others
        (`I DO NOT VERB n1 AND ...`); either clause comes first with probability 1/2, and AND or BUT
        joins them. Two of the names are a pair: one is affirmed of the first verb and denied of the
        second, the other the other way round, and neither comes directly after a verb. Then `. DO I
        VERB NAME ?` with one of the two verbs and one of the pair, by two fair coins.
    Answers: YES or NO, the last token; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2.
    Ceiling: 1, by looking up the name with its verb.
    Example: `I SEE PAUL AND TOM BUT I DO NOT SEE JOHN AND JAMES AND PETER . I DO NOT HEAR JOHN AND
        TOM AND I HEAR PETER AND PAUL AND JAMES . DO I HEAR TOM ? NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 5.

    Closed shortcuts. For independent samples these rules are right with probability 1/2 exactly:
    those that do not look at the asked name (the pair has opposite answers), those that do not look
    at the asked verb (the two have opposite answers), those that do not look at which clauses hold
    the NOT (exchanging affirmed and denied everywhere turns each sequence into an equally likely
    one with the other answer). The first version has one verb, and the asked name often stands
    directly after it: `verbatim` is right there in 0.84 of cases, `not-before` in 0.75. Here both
    have 1/2. `language/qa@1` is the first version; `quickstudy check language/qa --shortcuts` fits
    rules to either.

    Open shortcuts: the ends of clauses. One of the pair stands last in most prompts, and the
    asked one is either that one or, mostly, its counterpart: `last-name`, which looks at the last
    name alone, is right in 0.87 of cases, and fitted rules find the same. With inside=2 (and ten
    names: names=10, fewest=10, most=10) both of a pair stand two names away from either end of
    their clauses, and it has 1/2, as fitted rules do; but then the pair is crowded into the middle,
    where a rule that looks at that place alone finds it. The third version fixes both.

    Departures: Published (as in the first version): one verb, 1 to 4 names, one statement, a
        uniform one of its names asked for, which leaves `polarity-count` 0.80. Written: 1 to 5
        names. Corrected: two verbs in a prompt, all five names, closed to shallow rules.

    Parameters
    ----------
    inside:
        Names at either end of a clause that are never of the pair.
    """

    fewest: int = parameter(5, at_least=1)
    """Fewest names in a statement."""
    inside: int = parameter(0, at_least=0, added=True)
    """Names between either of a pair and both ends of its clause, at least; above 0 neither stands
    last.
    """

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = Qa.conventions


@task("language/harder-qa", version=2, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class ClosedHarderQa(ClosedNames, HarderQa):
    """Say whether something was affirmed or denied of a name, out of longer statements.

    Sees: as `language/qa`, but there are 11 names and 5 verbs, and the statements are about 4 to 10
        names.
    Answers: YES or NO, the last token; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2.
    Ceiling: 1, by looking up the name with its verb.
    Example: `I SEE PAUL AND LISA BUT I DO NOT SEE JOHN AND LUKE . I DO NOT CALL JOHN AND LISA AND I
        CALL PAUL AND LUKE . DO I CALL LISA ? NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 6.

    Closed shortcuts: as in `language/qa`. In the first version `verbatim` has 0.77 and `not-before`
    0.77.

    Departures: Published and written: as in the first version, one verb in a prompt, 1 to 10 names
        and 1 to 5. Corrected: two verbs in a prompt, 4 to 10 names, closed to shallow rules.

    Parameters
    ----------
    inside:
        Names at either end of a clause that are never of the pair.
    """

    fewest: int = parameter(LEAST, at_least=1)
    """Fewest names in a statement."""
    inside: int = parameter(0, at_least=0, added=True)
    """Names between either of a pair and both ends of its clause, at least; above 0 neither stands
    last.
    """

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = HarderQa.conventions


@task("language/world-qa", version=2, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class ClosedWorldQa(ClosedNames, WorldQa):
    """Say whether something was affirmed or denied of a name, out of several statements.

    Sees: two statements as in `language/qa`, about the same s of 13 names and two of 7 verbs, s
        uniform in fewest .. most; and besides up to two statements, 0, 1 or 2 with equal
        probability, each about another verb and 1 .. s of the names, of which any number may be
        affirmed. The statements come in random order, with periods between them. Then `. DO I VERB
        NAME ?` as there, and the answer. With most_questions above 1 there are several pairs, and
        each question is about another pair.
    Answers: YES or NO after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2.
    Ceiling: 1, by looking up the name with its verb.
    Example: `I TOUCH TOM . I SEE PAUL AND LISA BUT I DO NOT SEE TOM AND LUKE . I DO NOT CALL TOM
        AND LISA AND I CALL PAUL AND LUKE . DO I CALL LISA ? NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 7.

    Closed shortcuts: as in `language/qa`. The coins of one question are none of another's, so that
    earlier answers tell nothing of later ones. In the first version `verbatim` has 0.93 and
    `not-before` 0.66.

    Departures: Published and written: as in the first version, where every name stands with one
        verb only. Corrected: names stand with several verbs, 4 to 12 of them, one question, closed
        to shallow rules.

    Parameters
    ----------
    inside:
        Names at either end of a clause that are never of a pair.
    """

    fewest: int = parameter(LEAST, at_least=1)
    """Fewest names that are spread over the verbs."""
    inside: int = parameter(0, at_least=0, added=True)
    """Names between either of a pair and both ends of its clause, at least; above 0 neither stands
    last.
    """

    extra: ClassVar[int] = MOST_EXTRA
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = WorldQa.conventions


@task(
    "language/world-qa-counting",
    version=2,
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
class ClosedWorldQaCounting(ClosedNames, WorldQaCounting):
    """Say whether something was affirmed of a name, or of how many, out of several statements.

    Sees: with probability 1 - `counts`, a prompt and a question as in `language/world-qa`.
        Otherwise two or three statements of different verbs, each about seven of the names, of
        which k uniform in 2 .. 5 are affirmed and the others denied, and `. HOW MANY PEOPLE DO I
        VERB ?` with one of the verbs. Then the answer. With most_questions above 1 all questions of
        a sequence are of one kind, each about another pair or another verb.
    Answers: TWO, THREE, FOUR or FIVE; or YES or NO. Nothing else is asked.
    Scored: share of right answers.
    Chance: 0.25, the share of YES; `question-majority` 0.38.
    Ceiling: 1, by looking up and by counting.
    Example: `I SEE TOM AND LUKE BUT I DO NOT SEE LEO AND MARC AND LISA AND PAUL AND JOHN . I DO NOT
        CALL LEO AND MARC AND LISA BUT I CALL PAUL AND JOHN AND PETER AND TOM . HOW MANY PEOPLE DO I
        CALL ? FOUR`.
    Source: Cisneros, Sivic and Mikolov 2022, task 8.

    Closed shortcuts: by yes or no as in `language/qa`. How many: every statement is equally long
    for any affirmed names, and the four numbers are equally likely, independent of the other
    statements. In the first version most counts are ZERO and ONE, and `composite` has 0.87.

    Departures: Published and written: as in the first version. Corrected: one question, closed to
        shallow rules.

    Parameters
    ----------
    inside:
        Names at either end of a clause that are never of a pair.
    """

    fewest: int = parameter(LEAST, at_least=1)
    """Fewest names that are spread over the verbs."""
    inside: int = parameter(0, at_least=0, added=True)
    """Names between either of a pair and both ends of its clause, at least; above 0 neither stands
    last.
    """

    extra: ClassVar[int] = MOST_EXTRA
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = WorldQaCounting.conventions

    def _check_closed(self) -> None:
        super()._check_closed()
        if len(NUMBERS) <= COUNTED - LEAST_COUNT or self.most < COUNTED - LEAST_COUNT:
            raise ValueError(
                f"most must be at least {COUNTED - LEAST_COUNT} when balanced, got {self.most}"
            )

    def _ask(self, reader: Reader, kind: str, statements: Sequence[Statement]) -> Asked:
        asked = super()._ask(reader, kind, statements)
        return asked._replace(possible=self.numbers) if kind == "HOW" else asked
