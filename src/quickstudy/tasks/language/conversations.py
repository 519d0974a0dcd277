"""Prompts of several statements, then questions and their answers: how they are drawn, written and
read strictly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.tasks.language.checking import Answer, Malformed, Reader, Verdict, judge
from quickstudy.tasks.language.statements import (
    JOINTS,
    NO,
    NUMBERS,
    YES,
    Statement,
    TakeName,
    read_statement,
    write_statement,
)
from quickstudy.tasks.sampling import between, heads, pick, shuffled


class StatementPlan(NamedTuple):
    """A statement before its words are chosen: numbers of the verb and of the things, and how it is
    put.

    sure: the one statement of a balanced prompt that is bound to have things on both sides.
    """

    verb: int
    affirmed: list[int]
    denied: list[int]
    affirmed_first: bool
    joint: str
    sure: bool


@dataclass(frozen=True)
class Spread:
    """Which of `things` things are spread over which of `verbs` verbs.

    s things in random order, s uniform in fewest .. most; v different verbs, v uniform in 1 ..
    min(verbs, s); v different cuts out of 0 .. s-1 divide the things: each verb gets those from its
    cut up to the next one, those before the first cut are not used. Of a verb's m things, k uniform
    in 0 .. m are affirmed, the others denied. Either clause comes first with probability 1/2; AND
    and BUT are equally likely.

    sides: 0, or how many things at least one of the statements affirms and denies (balanced). Then
    all but 2 sides - 1 of the s things are spread in this way. Those go to one of the verbs, each
    as likely as the others, of whose m things k uniform in sides .. m - sides are affirmed.
    Exchanging affirmed and denied everywhere then gives an equally likely prompt.
    """

    things: int
    verbs: int
    fewest: int
    most: int
    sides: int

    @property
    def width(self) -> int:
        """Uniform numbers for one prompt."""
        return 3 + 2 * self.things + 4 * self.verbs

    @property
    def _spare(self) -> int:
        """Things that are kept for the sure statement."""
        return max(2 * self.sides - 1, 0)

    def draw(self, uniform: NDArray[np.float64]) -> Iterator[list[StatementPlan]]:
        """One prompt for each row of a (count, width) table."""
        columns = np.split(uniform, np.cumsum([3, self.things, self.things, self.verbs]), axis=1)
        sizes = between(columns[0][:, 0], self.fewest, self.most) - self._spare
        numbers = between(columns[0][:, 1], 1, np.minimum(self.verbs, sizes))
        sure = between(columns[0][:, 2], 0, numbers - 1)
        orders = shuffled(columns[1])
        # Cuts are drawn among the places in use: those after them come last in the order.
        cuts = shuffled(np.where(np.arange(self.things) < sizes[:, None], columns[2], 1.0))
        verbs = shuffled(columns[3])
        shares, first, joints = np.split(columns[4], 3, axis=1)
        tables = (
            sizes,
            numbers,
            sure,
            orders,
            cuts,
            verbs,
            shares,
            heads(first),
            between(joints, 0, len(JOINTS) - 1),
        )
        for row in zip(*(table.tolist() for table in tables), strict=True):
            yield self._plans(*row)

    def _plans(
        self,
        size: int,
        number: int,
        sure: int,
        order: list[int],
        cuts: list[int],
        verbs: list[int],
        shares: list[float],
        first: list[bool],
        joints: list[int],
    ) -> list[StatementPlan]:
        bounds = [*sorted(cuts[:number]), size]
        plans = []
        for place in range(number):
            group = order[bounds[place] : bounds[place + 1]]
            is_sure = self.sides > 0 and place == sure
            if is_sure:
                group += order[size : size + self._spare]
            margin = self.sides if is_sure else 0
            split = margin + int(shares[place] * (len(group) + 1 - 2 * margin))
            sides = group[:split], group[split:]
            plans.append(
                StatementPlan(verbs[place], *sides, first[place], JOINTS[joints[place]], is_sure)
            )
        return plans


class Prompt(NamedTuple):
    """The statements of a prompt, and their words."""

    statements: list[Statement]
    words: list[str]


def write_prompt(
    plans: Sequence[StatementPlan],
    names: Sequence[str],
    verbs: Sequence[str],
    shown: Callable[[Statement], Statement] = lambda statement: statement,
) -> Prompt:
    """The prompt of some plans, with periods between its statements. shown: what of a statement is
    put into words.
    """
    statements, words = [], list[str]()
    for plan in plans:
        affirmed, denied = (
            tuple(names[thing] for thing in side) for side in (plan.affirmed, plan.denied)
        )
        statements.append(Statement(verbs[plan.verb], affirmed, denied))
        words += [".", *write_statement(*shown(statements[-1]), plan.affirmed_first, plan.joint)]
    return Prompt(statements, words[1:])


def read_prompt(
    reader: Reader, take_name: TakeName, verbs: Collection[str], most: int
) -> list[Statement]:
    """The statements that stand next, with periods between them: about different verbs and at most
    `most` things.
    """
    statements: list[Statement] = []
    used: tuple[str, ...] = ()
    while not statements or (reader.sees((".",)) and reader.sees(("I",), ahead=1)):
        if statements:
            reader.phrase(".")
        known = {statement.verb for statement in statements}
        statement = read_statement(
            reader, take_name, [verb for verb in verbs if verb not in known], used
        )
        statements.append(statement)
        used = (*used, *statement.affirmed, *statement.denied)
        if len(used) > most:
            raise Malformed(
                reader.index,
                f"the statement ends here with {len(used)} things in all, at most {most}",
            )
    return statements


DRAWS = 4
"""Uniform numbers for one question: its kind, its verb, its name, and one for the rest."""


class Inquiry(NamedTuple):
    """A question: its words with the question mark, and its answer."""

    words: tuple[str, ...]
    answer: str


class ReadQuestion(NamedTuple):
    """A question that was read: the right answer, and the words that may replace it."""

    expected: str
    possible: Sequence[str]


class Conversation(ABC):
    """A prompt, then for each question a period, the question and its answer. Answers are
    supervised and stay visible.

    The number of questions drawn is uniform in 1 .. most_questions; of equal ones the first is
    kept.
    """

    most_questions: int

    @property
    @abstractmethod
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""

    @property
    @abstractmethod
    def _width(self) -> int:
        """Uniform numbers for one prompt."""

    @abstractmethod
    def _prompts(self, uniform: NDArray[np.float64]) -> Iterator[Prompt]:
        """One prompt for each row of a (count, width) table."""

    @abstractmethod
    def _inquire(self, statements: list[Statement], draws: list[float]) -> Inquiry:
        """A question about a prompt, out of DRAWS uniform numbers."""

    @abstractmethod
    def _read_prompt(self, reader: Reader) -> list[Statement]:
        """The statements of the prompt that stands next."""

    @abstractmethod
    def _read_question(self, reader: Reader, statements: list[Statement]) -> ReadQuestion:
        """The question that stands next. It may add to the statements what it gives away about
        them.
        """

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        uniform = rng.random((count, self._width + 1 + DRAWS * self.most_questions))
        numbers = between(uniform[:, self._width], 1, self.most_questions).tolist()
        draws = uniform[:, self._width + 1 :].reshape(count, self.most_questions, DRAWS).tolist()
        ids = {word: id for id, word in enumerate(self.vocabulary)}
        sequences, masks = [], []
        for prompt, number, rows in zip(
            self._prompts(uniform[:, : self._width]), numbers, draws, strict=True
        ):
            words = prompt.words
            mask = []
            for inquiry in dict.fromkeys(
                self._inquire(prompt.statements, row) for row in rows[:number]
            ):
                words = [*words, ".", *inquiry.words, inquiry.answer]
                mask.append(len(words) - 1)
            sequences.append([ids[word] for word in words])
            masks.append(mask)
        return Examples.from_sequences(sequences, masks)

    def check(self, tokens: Any) -> Verdict:
        """The verdict on a sequence."""
        return judge(tokens, self.vocabulary, self._verdict)

    def _verdict(self, words: list[str]) -> Verdict:
        reader = Reader(words)
        statements = self._read_prompt(reader)
        return Verdict.of(
            read_answers(
                reader, self.most_questions, lambda: self._read_question(reader, statements)
            )
        )


def read_answers(
    reader: Reader, most: int, read_question: Callable[[], ReadQuestion]
) -> list[Answer]:
    """Questions up to the end, each after a period and with its answer, none twice and no more than
    so many. read_question: reads the one that stands next.
    """
    answers: list[Answer] = []
    asked: set[tuple[str, ...]] = set()
    while not answers or reader.index < len(reader.words):
        reader.phrase(".")
        start = reader.index
        if len(answers) == most:
            raise Malformed(
                start, f"question {len(answers) + 1} found, but at most {most} are allowed"
            )
        expected, possible = read_question()
        question = tuple(reader.words[start : reader.index])
        if question in asked:
            raise Malformed(start, "this question was asked before")
        asked.add(question)
        place = reader.index
        found = reader.take(possible, " or ".join(possible))
        answers.append(Answer((place,), (expected,), (found,)))
    return answers


def ask_yes_no(statements: list[Statement], draws: list[float], balanced: bool) -> Inquiry:
    """A question by yes or no: a uniform statement and a uniform name of it; balanced: a uniform
    one of the statements with both clauses, a fair coin for the answer, and a uniform one of the
    names that have this answer.
    """
    _, which, who, coin = draws
    if balanced:
        statement = pick(which, [statement for statement in statements if statement.mixed])
        name = pick(who, statement.affirmed if coin < 0.5 else statement.denied)
    else:
        statement = pick(which, statements)
        name = pick(who, statement.affirmed + statement.denied)
    return yes_or_no(statement, name)


def yes_or_no(statement: Statement, name: str) -> Inquiry:
    """Whether a statement affirms its verb of a name."""
    return Inquiry(
        ("DO", "I", statement.verb, *name.split(), "?"), YES if name in statement.affirmed else NO
    )


def how_many(statement: Statement, counted: str) -> Inquiry:
    """How many of what is counted (PEOPLE, THINGS) a statement affirms."""
    return Inquiry(
        ("HOW", "MANY", counted, "DO", "I", statement.verb, "?"), NUMBERS[len(statement.affirmed)]
    )


def read_how_many(
    reader: Reader, statements: list[Statement], counted: str, numbers: Sequence[str]
) -> ReadQuestion:
    """The question of `how_many`."""
    reader.phrase(f"HOW MANY {counted} DO I")
    statement = read_verb(reader, statements)
    reader.phrase("?")
    return ReadQuestion(NUMBERS[len(statement.affirmed)], numbers)


def read_verb(reader: Reader, statements: Iterable[Statement]) -> Statement:
    """The one of the statements whose verb stands next."""
    known = {statement.verb: statement for statement in statements}
    return known[reader.take(known, "a verb of the prompt")]
