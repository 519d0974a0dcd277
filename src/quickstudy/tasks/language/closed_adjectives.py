"""Language tasks 9 and 10 in their second version: the balanced forms are closed to shallow
rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.adjective_qa import CONTROLS, AdjectiveQa
from quickstudy.tasks.language.adjective_qa_counting import AdjectiveQaCounting
from quickstudy.tasks.language.checking import Reader
from quickstudy.tasks.language.closed import (
    COUNTED,
    OTHERS,
    VALUES,
    Dice,
    contrasts_fault,
    counts_fault,
    draw_contrasts,
    draw_counted,
    draw_pairs,
    others_for,
    pairs_fault,
)
from quickstudy.tasks.language.closed_conversation import Asked, Closed, ask_pairs, read_statements
from quickstudy.tasks.language.conversations import Inquiry, how_many, read_verb
from quickstudy.tasks.language.statements import (
    ADJECTIVES,
    COLOURS,
    NO,
    NUMBERS,
    OBJECT_VERBS,
    OBJECTS,
    SIZES,
    YES,
    Statement,
    adjectives_of,
    noun_of,
    write_phrase,
)


class ClosedThings(Closed):
    """Things with adjectives. counts: as of the task that counts. contrasted: nouns that may be
    asked for their colour or size. inside, even: as of the pairs
    (`quickstudy.tasks.language.closed`).
    """

    objects: int
    verbs: int
    colours: int
    sizes: int
    fewest: int
    most: int
    coloured: float
    sized: float
    yes_no: float
    counts: float = 0.0
    contrasted: ClassVar[int] = 2
    inside: ClassVar[int] = 0
    even: ClassVar[bool] = False

    def _check_closed(self) -> None:
        if self.fewest < self.contrasted + OTHERS:
            least = self.contrasted + OTHERS
            raise ValueError(
                f"fewest must be at least {least} when balanced, got {self.fewest}; or give"
                " balanced=no"
            )
        if self.verbs < 2:
            raise ValueError(
                f"verbs must be at least 2 when balanced, got {self.verbs}; or give balanced=no"
            )
        if min(self.colours, self.sizes) < VALUES:
            raise ValueError(
                f"colours and sizes must be at least {VALUES} when balanced, got {self.colours} and"
                f" {self.sizes}; or give balanced=no"
            )
        if self.counts and self.objects < COUNTED:
            raise ValueError(
                f"objects must be at least {COUNTED} when balanced and counted, got {self.objects};"
                " or give balanced=no"
            )

    @property
    def _known(self) -> dict[str, tuple[str, ...]]:
        return {"COLOR": COLOURS[: self.colours], "SIZE": SIZES[: self.sizes]}

    def _phrase(self, dice: Dice, noun: str, sort: str = "", value: str = "") -> str:
        """What a thing is called: with a given colour or size, and random other adjectives."""
        words = {}
        for kind, chance in (("COLOR", self.coloured), ("SIZE", self.sized)):
            by_chance = dice.pick(self._known[kind]) if dice.happens(chance) else ""
            words[kind] = value if kind == sort and value else by_chance
        return write_phrase(words["SIZE"], words["COLOR"], noun)

    def _draw(self, dice: Dice, most: int) -> tuple[list[Statement], list[Inquiry]]:
        verbs, nouns = OBJECT_VERBS[: self.verbs], OBJECTS[: self.objects]
        if dice.happens(self.counts):
            statements = draw_counted(dice, nouns, verbs, lambda noun: self._phrase(dice, noun))
            return statements, [
                how_many(statement, "THINGS") for statement in dice.shuffled(statements)[:most]
            ]
        some = dice.shuffled(nouns)[: dice.between(self.fewest, self.most)]
        if dice.happens(self.yes_no / (1 - self.counts) if self.counts < 1 else 1):
            called = [self._phrase(dice, noun) for noun in (nouns if self.even else some)]
            pairs = min(most, (len(called) - others_for(self.inside)) // 2)
            paired = draw_pairs(dice, called, verbs, pairs, 0, self.inside, self.even)
            return paired.statements, ask_pairs(dice, paired)
        sort = dice.pick(tuple(ADJECTIVES))
        drawn = draw_contrasts(
            dice,
            some,
            verbs,
            self._known[sort],
            lambda noun, value: self._phrase(dice, noun, sort, value),
            self._apart,
            self.contrasted,
        )
        told = {statement.verb: statement for statement in drawn.statements}
        inquiries = []
        for noun in dice.shuffled(drawn.nouns)[: most if self.contrasted == 2 else 1]:
            verb = dice.pick(drawn.verbs)
            answer = _adjective(told[verb], noun, sort)
            inquiries.append(Inquiry(("WHAT", sort, "IS", "THE", noun, "I", verb, "?"), answer))
        return drawn.statements, inquiries

    @property
    def _apart(self) -> bool:
        """Whether the nouns that may be asked for differ in every clause; one answer would tell of
        the next.
        """
        return self.most_questions == 1 or self.contrasted > 2

    def _read(self, reader: Reader, kind: str) -> list[Statement]:
        return read_statements(reader, self._take, OBJECT_VERBS[: self.verbs], kind in ADJECTIVES)  # type: ignore[attr-defined]

    def _ask(self, reader: Reader, kind: str, statements: Sequence[Statement]) -> Asked:
        if kind == "HOW":
            reader.phrase("HOW MANY THINGS DO I")
            told = read_verb(reader, statements)
            reader.phrase("?")
            return Asked(told.verb, "", NUMBERS[len(told.affirmed)], self.numbers)  # type: ignore[attr-defined]
        if kind == "DO":
            reader.phrase("DO I")
            told = read_verb(reader, statements)
            phrase = self._take(reader, ())  # type: ignore[attr-defined]
            reader.phrase("?")
            return Asked(told.verb, phrase, YES if phrase in told.affirmed else NO, (YES, NO))
        reader.phrase(f"WHAT {kind} IS THE")
        nouns = {
            noun_of(phrase)
            for _, affirmed, _ in statements
            for phrase in affirmed
            if kind in adjectives_of(phrase)
        }
        noun = reader.take(nouns, f"the noun of an affirmed thing with a {kind}")
        reader.phrase("I")
        fit = [one for one in statements if any(noun_of(phrase) == noun for phrase in one.affirmed)]
        told = read_verb(reader, [one for one in fit if _adjective(one, noun, kind)])
        reader.phrase("?")
        return Asked(told.verb, noun, _adjective(told, noun, kind), self._known[kind])

    def _fault(
        self, kind: str, statements: Sequence[Statement], asked: Sequence[tuple[str, str]]
    ) -> str:
        if kind == "HOW":
            return counts_fault(statements)
        size = len({noun_of(phrase) for one in statements for phrase in one.affirmed + one.denied})
        least, most = (
            (self.objects, self.objects) if kind == "DO" and self.even else (self.fewest, self.most)
        )
        if not least <= size <= most:
            return f"{size} things, not {least} to {most}"
        if kind == "DO":
            return pairs_fault(statements, asked, 0, self.inside, self.even)
        return contrasts_fault(statements, asked, kind, self._apart, self.contrasted)


def _adjective(statement: Statement, noun: str, sort: str) -> str:
    """The colour or size of a noun that a statement affirms; "" if it has none."""
    known = {noun_of(phrase): adjectives_of(phrase) for phrase in statement.affirmed}
    return known.get(noun, {}).get(sort, "")


@task("language/adjective-qa", version=2, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class ClosedAdjectiveQa(ClosedThings, AdjectiveQa):
    """Say what colour or size a thing has, or whether it was affirmed, out of several statements.

    Sees: (corrected) two statements, one for each of two verbs, each with an affirmed and a denied
        clause, about the same s nouns, s uniform in fewest .. most. Each thing has a colour with
        probability `coloured` and a size with probability `sized`, and is called by article, size,
        colour and noun. With probability `yes_no` the names of `language/qa` are such things,
        always called alike, and the question is `. DO I VERB A ... ?`. Otherwise two nouns are in
        all four clauses, never first in one, with four different colours (or sizes, by a coin), and
        the two differ in every clause; the question is `. WHAT COLOR IS THE NOUN I VERB ?` (or
        SIZE), with one of the two nouns and one of the two verbs, by fair coins.
    Answers: a colour, a size, YES or NO after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 0.11, the share of the most frequent answer; `question-majority` 0.28.
    Ceiling: 1, by looking up the noun with its verb among what is affirmed.
    Example: `I SEE A CAR AND A BIG PEAR AND A TINY APPLE BUT I DO NOT SEE A PLANE AND A HUGE PEAR
        AND A BIG APPLE . I DO NOT CALL A CAR AND A TINY PEAR AND A SMALL APPLE AND I CALL A PLANE
        AND A SMALL PEAR AND A HUGE APPLE . WHAT SIZE IS THE PEAR I CALL ? SMALL`.
    Source: Cisneros, Sivic and Mikolov 2022, task 9.

    Closed shortcuts. Asked for a colour or a size, a rule that looks at what stands with the noun
    anywhere finds all four answers, each once, and is right with probability 1/4; one that lacks
    the noun, the verb or the NOT alone is right with probability 1/2 at most. By yes or no as in
    `language/qa`. In the first version every noun stands once, and the nearest adjective before it
    is the answer: `composite` has 0.97 there.

    Departures: Published and written: as in the first version. Corrected: two verbs in a prompt, 4
        or 5 nouns, four sizes, one question, none vanishes, closed to shallow rules.
    """

    most: int = parameter(5, at_least=1)
    """Most things that are spread over the verbs."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {**AdjectiveQa.conventions["published"], "most": 7},
        "written": {**AdjectiveQa.conventions["written"], "most": 7},
        "corrected": {},
    }


@task("language/adjective-qa-counting", version=2, controls=CONTROLS, oracle="qa-oracle")
@dataclass(frozen=True)
class ClosedAdjectiveQaCounting(ClosedThings, AdjectiveQaCounting):
    """Say what colour or size a thing has, whether it was affirmed, or how many were, in several
    questions.

    Sees: (corrected) with probability `counts`, two or three statements about seven things each, of
        which k uniform in 2 .. 5 are affirmed, and `. HOW MANY THINGS DO I VERB ?`; otherwise a
        prompt and questions as in `language/adjective-qa`, with a fifth size. The number of
        questions is drawn uniform in 1 .. most_questions; all of a sequence are of one kind, each
        about another verb, pair or noun, as far as there are any: three at most. Each is followed
        by its answer, which stays visible.
    Answers: a colour, a size, YES, NO or a number after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 0.11, the share of the most frequent answer; `question-majority` 0.26.
    Ceiling: 1, by looking up and by counting.
    Example: `I SEE A CAR AND A PEAR BUT I DO NOT SEE ... . HOW MANY THINGS DO I SEE ? TWO . HOW
        MANY THINGS ...`.
    Source: Cisneros, Sivic and Mikolov 2022, task 10.

    Closed shortcuts: as in `language/adjective-qa` and `language/world-qa-counting`. What one
    question is about is drawn without regard to the others, so that earlier answers tell nothing of
    later ones; that is why the two nouns of a prompt may have the same adjective here, and a rule
    that lacks the noun has 5/8 on such questions. In the first version `composite` has 0.93.

    Departures: Published and written: as in the first version, 1 to 7 and 1 to 8 questions of all
        kinds. Corrected: up to three questions of one kind, closed to shallow rules.
    """

    most: int = parameter(5, at_least=1)
    """Most things that are spread over the verbs."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {**AdjectiveQaCounting.conventions["published"], "most": 7},
        "written": {**AdjectiveQaCounting.conventions["written"], "most": 7},
        "corrected": {},
    }
