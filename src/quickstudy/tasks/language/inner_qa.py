"""Language tasks 5 to 8 in their third version: the pair that is asked about stands anywhere inside
equal clauses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.closed import COUNTED
from quickstudy.tasks.language.closed_qa import (
    ClosedHarderQa,
    ClosedQa,
    ClosedWorldQa,
    ClosedWorldQaCounting,
)
from quickstudy.tasks.language.qa import CONTROLS
from quickstudy.tasks.language.statements import NAMES, NUMBERS

INNER_CONTROLS = [*CONTROLS, "inner-name"]
DRAWN_AS = 2
"""The version whose draws are had where the form is not balanced."""


def before(
    conventions: Mapping[str, Mapping[str, Any]], **defaults: int
) -> dict[str, dict[str, Any]]:
    """The presets of the version before, with the defaults that it had."""
    return {name: {**defaults, **preset} if preset else {} for name, preset in conventions.items()}


class Inner:
    """In front of a task of the second version: equal clauses. Where it is not balanced nothing
    differs from that one, and runs are recorded as runs of that one.
    """

    even: ClassVar[bool] = True
    version: ClassVar[int]
    balanced: bool

    @property
    def settings_version(self) -> int:
        """The version before, where the form is not balanced."""
        return type(self).version if self.balanced else DRAWN_AS


@task("language/qa", version=3, controls=INNER_CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class InnerQa(Inner, ClosedQa):
    """Say whether something was affirmed or denied of a name.

    Sees: (corrected) two statements, one for each of two verbs, about the same s names, s uniform
        in fewest .. most. Each affirms half of them (`I VERB n1 AND n2 ...`) and denies the other
        half (`I DO NOT VERB n1 AND ...`; of an odd number either has one more); either clause comes
        first with probability 1/2, and AND or BUT joins them. Two of the names are a pair: one is
        affirmed of the first verb and denied of the second, the other the other way round. Neither
        is among the first or the last `inside` names of a clause; all other places are equally
        likely. Then `. DO I VERB NAME ?` with one of the two verbs and one of the pair, by two fair
        coins.
    Answers: YES or NO, the last token; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2.
    Ceiling: 1, by looking up the name with its verb.
    Example: with fewest=6: `I SEE PAUL AND TOM AND LISA BUT I DO NOT SEE JOHN AND JAMES AND PETER .
        I DO NOT HEAR JOHN AND TOM AND LISA AND I HEAR PETER AND JAMES AND PAUL . DO I HEAR TOM ?
        NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 5.

    Closed shortcuts. For independent samples these rules are right with probability 1/2 exactly:
    those that do not look at the asked name (the pair has opposite answers), those that do not look
    at the asked verb (the two have opposite answers), those that do not look at which clauses hold
    the NOT (exchanging affirmed and denied everywhere turns each sequence into an equally likely
    one with the other answer), those that look at the ends of clauses, as `verbatim` and
    `last-name` do (they contain no name of the pair, and the others are sampled independently of
    it).

    Open shortcuts. A rule that looks at one position inside a clause finds one of the pair with
    probability 2 / (s - 4 inside) and then knows the answer, whichever of the two is asked for:
    `inner-name`, the last name but one, is right with probability 1/2 + 1 / (s - 4 inside), 0.58
    for 16 names. More names make it less, nothing makes it 1/2: it is the part of the task that is
    solved by reading one name.

    Departures: Published (as in the first version): one verb, 1 to 4 names, one statement, a
        uniform one of its names asked for, which leaves `polarity-count` 0.80. Written: 1 to 5
        names. Corrected: two verbs in a prompt, 16 names, closed to shallow rules. The second
        version (`language/qa@2`) has five names, clauses of any length, and pairs that often stand
        last: `last-name` is right there in 0.87 of cases.
    """

    names: int = parameter(16, at_least=1, at_most=len(NAMES))
    """How many names there are."""
    fewest: int = parameter(16, at_least=1)
    """Fewest names in a statement."""
    most: int = parameter(16, at_least=1)
    """Most names in a statement."""
    inside: int = parameter(1, at_least=0, added=True)
    """Names between either of a pair and both ends of its clause, at least; above 0 neither stands
    last.
    """

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = before(ClosedQa.conventions, names=5)


@task("language/harder-qa", version=3, controls=INNER_CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class InnerHarderQa(Inner, ClosedHarderQa):
    """Say whether something was affirmed or denied of a name, out of longer statements.

    Sees: as `language/qa`, but there are 20 names and 5 verbs, and the statements are about 16 to
        20 names.
    Answers: YES or NO, the last token; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2.
    Ceiling: 1, by looking up the name with its verb.
    Example: with fewest=6: `I SEE PAUL AND LISA AND TOM BUT I DO NOT SEE JOHN AND LUKE AND MARC . I
        DO NOT CALL JOHN AND LISA AND TOM AND I CALL PAUL AND LUKE AND MARC . DO I CALL LISA ? NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 6.

    Shortcuts, closed and open: as in `language/qa`; `inner-name` 0.57.

    Departures: Published and written: as in the first version, one verb in a prompt, 1 to 10 names
        and 1 to 5. Corrected: two verbs in a prompt, 16 to 20 names, closed to shallow rules. The
        second version has 4 to 10 names and clauses of any length; `last-name` has 0.79 there.
    """

    names: int = parameter(20, at_least=1, at_most=len(NAMES))
    """How many names there are."""
    fewest: int = parameter(16, at_least=1)
    """Fewest names in a statement."""
    most: int = parameter(20, at_least=1)
    """Most names in a statement."""
    inside: int = parameter(1, at_least=0, added=True)
    """Names between either of a pair and both ends of its clause, at least; above 0 neither stands
    last.
    """

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = before(
        ClosedHarderQa.conventions, names=11
    )


@task("language/world-qa", version=3, controls=INNER_CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class InnerWorldQa(Inner, ClosedWorldQa):
    """Say whether something was affirmed or denied of a name, out of several statements.

    Sees: two statements as in `language/qa`, about the same s of 20 names and two of 7 verbs, s
        uniform in fewest .. most; and besides up to two statements, 0, 1 or 2 with equal
        probability, each about another verb and 1 .. s of the names, of which any number may be
        affirmed. The statements come in random order, with periods between them. Then `. DO I VERB
        NAME ?` as there, and the answer. With most_questions above 1 there are several pairs, and
        each question is about another pair.
    Answers: YES or NO after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 1/2.
    Ceiling: 1, by looking up the name with its verb.
    Example: with fewest=6: `I TOUCH TOM . I SEE PAUL AND LISA AND TOM BUT I DO NOT SEE JOHN AND
        LUKE AND MARC . I DO NOT CALL JOHN AND LISA AND TOM AND I CALL PAUL AND LUKE AND MARC . DO I
        CALL LISA ? NO`.
    Source: Cisneros, Sivic and Mikolov 2022, task 7.

    Shortcuts, closed and open: as in `language/qa`. The coins of one question are none of
    another's, so that earlier answers tell nothing of later ones. `inner-name` has 0.55, since the
    last statement may be none of the two.

    Departures: Published and written: as in the first version, where every name stands with one
        verb only. Corrected: names stand with several verbs, 16 to 20 of them, one question, closed
        to shallow rules. The second version has 4 to 12 names and clauses of any length;
        `last-name` has 0.70 there.
    """

    names: int = parameter(20, at_least=1, at_most=len(NAMES))
    """How many names there are."""
    fewest: int = parameter(16, at_least=1)
    """Fewest names that are spread over the verbs."""
    most: int = parameter(20, at_least=1)
    """Most names that are spread over the verbs."""
    inside: int = parameter(1, at_least=0, added=True)
    """Names between either of a pair and both ends of its clause, at least; above 0 neither stands
    last.
    """

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = before(
        ClosedWorldQa.conventions, names=13, most=12
    )


@task(
    "language/world-qa-counting",
    version=3,
    controls=[*ClosedWorldQaCounting.controls, "inner-name"],  # type: ignore[attr-defined]
    oracle="qa-oracle",
)
@dataclass(frozen=True)
class InnerWorldQaCounting(Inner, ClosedWorldQaCounting):
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

    Shortcuts, closed and open: by yes or no as in `language/world-qa`. How many: every
    statement is equally long for any affirmed names, and the four numbers are equally likely,
    for any other statements.

    Departures: Published and written: as in the first version. Corrected: one question, 20 names,
        number words up to SEVEN, closed to shallow rules. The second version has 13 names, words up
        to TWELVE, and the pairs of `language/world-qa@2`.
    """

    names: int = parameter(20, at_least=1, at_most=len(NAMES))
    """How many names there are."""
    fewest: int = parameter(16, at_least=1)
    """Fewest names that are spread over the verbs."""
    most: int = parameter(20, at_least=1)
    """Most names that are spread over the verbs."""
    inside: int = parameter(1, at_least=0, added=True)
    """Names between either of a pair and both ends of its clause, at least; above 0 neither stands
    last.
    """

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = before(
        ClosedWorldQaCounting.conventions, names=13, most=12
    )

    @property
    def numbers(self) -> tuple[str, ...]:
        """The number words in use: up to the names of a statement that is counted."""
        return NUMBERS[: COUNTED + 1] if self.balanced else super().numbers
