"""Language task 9, question answering about things with adjectives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
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
    StatementPlan,
    ask_yes_no,
    read_prompt,
    read_verb,
    write_prompt,
)
from quickstudy.tasks.language.statements import (
    ADJECTIVES,
    COLOURS,
    DESCRIBING,
    GLUE,
    NO,
    OBJECT_VERBS,
    OBJECTS,
    SIZES,
    YES,
    Statement,
    adjectives_of,
    contrasts,
    described,
    first_word,
    noun_of,
    phrases,
    write_phrase,
)
from quickstudy.tasks.sampling import heads, pick

CONTROLS = [
    "majority",
    "question-majority",
    "verb-only",
    "latest-adjective",
    "verbatim",
    "composite",
]
SIDES = 2
"""Things that the sure statement of a balanced prompt affirms and denies at least."""


@task(
    "language/adjective-qa",
    version=1,
    controls=CONTROLS,
    oracle="qa-oracle",
)
@dataclass(frozen=True)
class AdjectiveQa(Conversation):
    """Say what colour or size a thing has, or whether it was affirmed, out of several statements.

    Sees: s things, s uniform in fewest .. most, spread over verbs, affirmed and denied as the names
        of `language/world-qa`. Each has a colour with probability `coloured` and, independently, a
        size with probability `sized`, each uniform, and is called by article, size, colour and
        noun: `A HUGE RED TRAIN`, `AN APPLE`. Then a question and its answer. If no affirmed thing
        has an adjective, or else with probability `yes_no`, the question is `. DO I VERB A ... ?`,
        with a uniform verb and a uniform one of its things, in the words of the statement;
        otherwise `. WHAT COLOR IS THE NOUN I VERB ?` or `. WHAT SIZE IS ...`, about a uniform one
        of the affirmed things that have an adjective, of any verb, and a uniform one of its
        adjectives. (With most_questions above 1 the number of questions drawn is uniform in 1 ..
        most_questions; repetitions are left out; each follows the answer to the one before, after a
        period.)
    Answers: a colour, a size, YES or NO after each question mark; nothing else is asked.
    Scored: share of right answers.
    Chance: 0.13, the share of the most frequent answer (published: 0.26). Other controls:
        `question-majority`, the most frequent answer to each kind of question, 0.30 (0.44);
        `latest-adjective`, the colour or size that was mentioned last with anything affirmed, 0.47
        (0.79); `verb-only`, which looks at the statement with the queried verb but not at the noun,
        0.49 (0.94). Best published reservoir: 0.62.
    Ceiling: 1, by looking the noun up. It is 1 in the published form too: what has vanished there
        was denied.
    Example: not balanced: `I TOUCH A HUGE TRAIN BUT I DO NOT TOUCH AN APPLE . WHAT SIZE IS THE
        TRAIN I TOUCH ? HUGE`. Balanced: `I SEE A BIG CAR AND A TINY PEAR BUT I DO NOT SEE A BIG
        PLANE AND A HUGE PEACH . DO I SEE A BIG CAR ? YES`.
    Source: Cisneros, Sivic and Mikolov 2022, task 9.

    Vanishing things (published): in a statement with both lists, every denied thing vanishes from
    the prompt whose first word after the article is also that of an affirmed one. It may still be
    asked about (NO).

    Balanced or not. Not balanced (published, written): questions by yes or no come mostly where
    nothing is affirmed, so that 0.78 of them are answered NO; and most prompts leave so few colours
    and sizes to choose from that the noun is not needed. Balanced (corrected): the prompt is drawn
    as in the balanced form of `language/world-qa`, but its one sure statement affirms two things
    and denies two things at least. A fair coin decides colour or size, and the first two things
    that it affirms have different colours (or sizes), and so have the first two that it denies. So
    every kind of question can always be asked, and the kind is drawn without regard to the prompt.
    An adjective is asked for where the affirmed things of one verb have two different ones or more:
    a uniform such verb and kind of adjective, a uniform one of these adjectives, a uniform one of
    the things that have it. A question by yes or no is about a uniform one of the statements with
    both clauses, its answer is a fair coin, and the thing uniform among those that have it. For
    independent draws with one question: - rules that look at the prompt and at the question without
    its noun are right with probability
      1/2 by yes or no and at most 1/2 otherwise: all answers that are left are equally likely;
    - rules that look at everything but which clauses hold the NOT are right with probability 1/2 by
      yes or no: exchanging affirmed and denied everywhere turns each sequence into an equally
      likely one with the other answer.

    Departures: Published: four sizes, one question, 1 to 7 things, vanishing things. Written: five
        sizes, 1 to 8 questions are drawn, no thing vanishes. Corrected: four sizes, one question, 4
        to 7 things, none vanishes, balanced.

    Parameters
    ----------
    objects:
        Number of nouns.
    verbs:
        Number of verbs.
    colours:
        Number of colours.
    sizes:
        Number of sizes.
    fewest:
        Fewest things in a prompt.
    most:
        Most things in a prompt.
    coloured:
        Probability that a thing has a colour.
    sized:
        Probability that a thing has a size.
    yes_no:
        Probability of a yes-or-no question where another kind is possible.
    most_questions:
        Most questions per sequence.
    vanishing:
        Denied things may vanish from the prompt, as published.
    balanced:
        The balanced form, described above.
    """

    objects: int = parameter(8, at_least=1, at_most=len(OBJECTS))
    """How many nouns there are."""
    verbs: int = parameter(6, at_least=1, at_most=len(OBJECT_VERBS))
    """How many verbs there are."""
    colours: int = parameter(4, at_least=1, at_most=len(COLOURS))
    """How many colours there are."""
    sizes: int = parameter(4, at_least=1, at_most=len(SIZES))
    """How many sizes there are."""
    fewest: int = parameter(4, at_least=1)
    """Fewest things that are spread over the verbs."""
    most: int = parameter(7, at_least=1)
    """Most things that are spread over the verbs."""
    coloured: float = parameter(0.6, at_least=0, at_most=1)
    """How likely a thing has a colour."""
    sized: float = parameter(0.6, at_least=0, at_most=1)
    """How likely a thing has a size."""
    yes_no: float = parameter(0.1, at_least=0, at_most=1)
    """How likely a question is by yes or no where others are possible."""
    most_questions: int = parameter(1, at_least=1)
    """Most questions drawn."""
    vanishing: bool = False
    """Whether denied things vanish that share their first word with an affirmed one."""
    balanced: bool = True
    """Whether all kinds of questions can always be asked, and answers are drawn before the noun."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"fewest": 1, "vanishing": True, "balanced": False},
        "written": {"fewest": 1, "sizes": 5, "most_questions": 8, "balanced": False},
        "corrected": {},
    }

    def __post_init__(self) -> None:
        if self.fewest > self.most:
            raise ValueError(f"fewest must be at most most ({self.most}), got {self.fewest}")
        if self.most > self.objects:
            raise ValueError(f"most must be at most objects ({self.objects}), got {self.most}")
        if self.balanced and self.fewest < 2 * SIDES:
            raise ValueError(
                f"fewest must be at least {2 * SIDES} when balanced, got {self.fewest}; or give"
                " balanced=no"
            )
        if self.balanced and min(self.colours, self.sizes) < 2:
            raise ValueError(
                f"colours and sizes must be at least 2 when balanced, got {self.colours} and"
                f" {self.sizes}; or give balanced=no"
            )
        if self.balanced and self.vanishing:
            raise ValueError("vanishing must be no when balanced, got yes; or give balanced=no")

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return *self._content, *GLUE[:5], *DESCRIBING, *GLUE[5:]

    @property
    def _content(self) -> tuple[str, ...]:
        return (
            *OBJECTS[: self.objects],
            *OBJECT_VERBS[: self.verbs],
            *COLOURS[: self.colours],
            *SIZES[: self.sizes],
        )

    @property
    def _spread(self) -> Spread:
        return Spread(
            self.objects, self.verbs, self.fewest, self.most, SIDES if self.balanced else 0
        )

    @property
    def _width(self) -> int:
        return self._spread.width + 4 * self.objects + 1

    def _prompts(self, uniform: NDArray[np.float64]) -> Iterator[Prompt]:
        prompts, colours, sizes, coloured, sized, coins = np.split(
            uniform, self._spread.width + self.objects * np.arange(5), axis=1
        )
        tables = colours, sizes, coloured < self.coloured, sized < self.sized, heads(coins[:, 0])
        for plans, *row in zip(
            self._spread.draw(prompts), *(table.tolist() for table in tables), strict=True
        ):
            yield write_prompt(plans, self._names(plans, *row), OBJECT_VERBS, self._shown)

    def _names(
        self,
        plans: list[StatementPlan],
        colours: list[float],
        sizes: list[float],
        coloured: list[bool],
        sized: list[bool],
        by_colour: bool,
    ) -> list[str]:
        """What each thing is called, from uniform numbers for its colour and size and from whether
        it has them.
        """
        draws, known, present = (
            (colours, self.colours, coloured) if by_colour else (sizes, self.sizes, sized)
        )
        for plan in plans:
            for first, second in (plan.affirmed[:2], plan.denied[:2]) if plan.sure else ():
                present[first] = present[second] = True
                # Any but the first one's, each as likely as the others.
                other = int(draws[first] * known) + 1 + int(draws[second] * (known - 1))
                draws[second] = (other % known + 0.5) / known
        return [
            write_phrase(
                SIZES[int(sizes[thing] * self.sizes)] if sized[thing] else "",
                COLOURS[int(colours[thing] * self.colours)] if coloured[thing] else "",
                noun,
            )
            for thing, noun in enumerate(OBJECTS[: self.objects])
        ]

    def _shown(self, statement: Statement) -> Statement:
        """With the denied things that are mentioned."""
        openings = (
            {first_word(phrase) for phrase in statement.affirmed} if self.vanishing else set()
        )
        return statement._replace(
            denied=tuple(p for p in statement.denied if first_word(p) not in openings)
        )

    def _inquire(self, statements: list[Statement], draws: list[float]) -> Inquiry:
        kind, which, who, what = draws
        if kind < self.yes_no or not described(statements):
            return ask_yes_no(statements, draws, self.balanced)
        if self.balanced:
            verb, sort, things = pick(which, contrasts(statements))
            answer = pick(what, list(things))
            phrase = pick(who, things[answer])
        else:
            verb, phrase = pick(who, described(statements))
            sort, answer = pick(what, list(adjectives_of(phrase).items()))
        return Inquiry(("WHAT", sort, "IS", "THE", noun_of(phrase), "I", verb, "?"), answer)

    def _read_prompt(self, reader: Reader) -> list[Statement]:
        statements = read_prompt(reader, self._take, OBJECT_VERBS[: self.verbs], self.most)
        for statement in statements:
            if self._shown(statement) != statement:
                raise Malformed(
                    reader.index,
                    f"a denied thing of {statement.verb} should have vanished from the prompt",
                )
        if self.balanced and not self._is_sure(statements):
            wanted = "a statement with two adjectives of a kind both affirmed and denied"
            raise Malformed(reader.index, f"the prompt ends here without {wanted}")
        return statements

    @property
    def _take(self) -> Any:
        colours = COLOURS[: self.colours] if self.coloured or self.balanced else ()
        sizes = SIZES[: self.sizes] if self.sized or self.balanced else ()
        return phrases(OBJECTS[: self.objects], colours, sizes)

    def _read_question(self, reader: Reader, statements: list[Statement]) -> ReadQuestion:
        if reader.sees(("WHAT",)):
            return self._read_what(reader, statements)
        reader.phrase("DO I")
        statement = read_verb(
            reader, (known for known in statements if known.mixed or not self.balanced)
        )
        start = reader.index
        phrase = self._take(reader, ())
        if phrase not in statement.affirmed + statement.denied:
            self._add_vanished(start, statements, statement, phrase)
        reader.phrase("?")
        return ReadQuestion(YES if phrase in statement.affirmed else NO, (YES, NO))

    def _is_sure(self, statements: Sequence[Statement]) -> bool:
        """Whether one of the statements is what a balanced prompt must have."""
        return any(
            all(
                len({adjectives_of(phrase).get(sort) for phrase in side[:2]} - {None}) == 2
                for side in sides
            )
            for _, *sides in statements
            for sort in ADJECTIVES
        )

    def _read_what(self, reader: Reader, statements: list[Statement]) -> ReadQuestion:
        reader.phrase("WHAT")
        sort = reader.take(tuple(ADJECTIVES), " or ".join(ADJECTIVES))
        reader.phrase("IS THE")
        known = {
            noun_of(phrase): (verb, adjectives_of(phrase))
            for verb, phrase in self._askable(statements, sort)
        }
        verb, adjectives = known[
            reader.take(known, f"the noun of an affirmed thing with a {sort} that can be asked for")
        ]
        reader.phrase(f"I {verb} ?")
        return ReadQuestion(
            adjectives[sort], ADJECTIVES[sort][: self.colours if sort == "COLOR" else self.sizes]
        )

    def _askable(self, statements: Sequence[Statement], sort: str) -> list[tuple[str, str]]:
        """The things whose colour or size may be asked for, each after its verb."""
        if not self.balanced:
            return [
                (verb, phrase)
                for verb, phrase in described(statements)
                if sort in adjectives_of(phrase)
            ]
        return [
            (verb, phrase)
            for verb, kind, things in contrasts(statements)
            for phrase in chain(*things.values())
            if kind == sort
        ]

    def _add_vanished(
        self, start: int, statements: list[Statement], statement: Statement, phrase: str
    ) -> None:
        """Take note of a denied thing that only the question gives away."""
        named = [known for _, affirmed, denied in statements for known in affirmed + denied]
        hidden = not self._shown(statement._replace(denied=(phrase,))).denied
        if not hidden or noun_of(phrase) in map(noun_of, named) or len(named) == self.most:
            raise Malformed(start, f'expected a thing that goes with the verb, got "{phrase}"')
        place = statements.index(statement)
        statements[place] = statement._replace(denied=(*statement.denied, phrase))
