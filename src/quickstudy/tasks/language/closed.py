"""Prompts in which shallow rules find nothing: how they are drawn, and whether a prompt is one of
them.

A prompt has several statements, each about one verb with an affirmed and a denied clause. In all
three forms what is asked is decided by the verb, the name and the NOT together:

- pairs, asked by yes or no. All names are in the statements of two verbs, V and W. Two names, X
  and Y, are a pair: X is affirmed of one verb and denied of the other, Y the other way round, and
  neither ever comes directly after a verb. Two coins choose which of the two verbs and which of
  the two names is asked for. inside: how many names stand between either of the pair and both ends
  of its clause, at least. With none, one of the pair is often the last name of all, and a rule that
  looks at that one alone is right more often than not; with two, no three tokens that hold the
  asked name hold a name at the end of a clause. even: the two clauses of V, and those of W, are
  equally long, so that all places inside are equally likely for the pair; where clauses differ, the
  pair is crowded in the middle of short ones, and a rule that looks at that place alone finds it.
- counts, asked by how many. Every statement is about seven names, of which two to five are
  affirmed.
- contrasts, asked by what. Two nouns, or four, are in each of the four clauses of V and W, never
  first, with four different colours (or sizes); where one question is asked at most, they differ in
  every clause. It is drawn uniformly which of the verbs and which of the nouns is asked for. Of
  two, a rule that reads the right clause and lacks the noun is right half of the time; of four, no
  more often than one that reads nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

from quickstudy.tasks.language.statements import ADJECTIVES, Statement, adjectives_of, noun_of

T = TypeVar("T")
WIDTH = 640
"""Uniform numbers for one sequence: more than the longest takes."""
OTHERS = 2
"""Names besides a pair, where none are asked to stand between it and an end: one for the head of
each clause.
"""
COUNTED, LEAST_COUNT = 7, 2
"""Names in a statement that is counted, and how many at least it affirms and denies."""
VALUES = 4
"""Different colours, or sizes, of a noun that is asked about: one for each clause."""
MOST_EXTRA = 2
"""Statements besides those of V and W, at most."""


class Dice:
    """Choices out of a row of uniform numbers, one number a choice."""

    def __init__(self, row: Iterable[float]) -> None:
        self._row = iter(row)

    def below(self, count: int) -> int:
        """One of 0 .. count-1."""
        return int(next(self._row) * count)

    def between(self, low: int, high: int) -> int:
        """One of low .. high."""
        return low + self.below(high - low + 1)

    def coin(self) -> bool:
        """True or False, equally likely."""
        return next(self._row) < 0.5

    def happens(self, chance: float) -> bool:
        """True with this probability."""
        return next(self._row) < chance

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.below(len(choices))]

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """The things in a uniformly random order."""
        left = list(things)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]


class Paired(NamedTuple):
    """A prompt of pairs: its statements, and the pairs that may be asked for with their two
    verbs.
    """

    statements: list[Statement]
    pairs: list[tuple[str, str]]
    verbs: tuple[str, str]


def others_for(inside: int) -> int:
    """Names besides a pair, at least: those at the ends of two clauses.

    >>> others_for(0) == OTHERS, others_for(2)
    (True, 8)
    """
    return 2 * (max(1, inside) + inside)


def _inserted(
    dice: Dice, names: list[str], more: Iterable[str], inside: int = 0
) -> tuple[str, ...]:
    """Some names put among others, each at a place that is not the first, and so far inside."""
    for name in more:
        names = [*names]
        names.insert(dice.between(max(1, inside), len(names) - inside), name)
    return tuple(names)


def draw_pairs(
    dice: Dice,
    names: Sequence[str],
    verbs: Sequence[str],
    pairs: int,
    extra: int,
    inside: int = 0,
    even: bool = False,
) -> Paired:
    """A prompt about all the names, in which so many pairs can be asked for; besides V and W up to
    `extra` verbs, each with some of the names, of which any number may be affirmed.
    """
    ends = others_for(inside) // 2
    order = dice.shuffled(names)
    chosen, others = order[: 2 * pairs], order[2 * pairs :]
    couples = list(zip(chosen[::2], chosen[1::2], strict=True))
    turned = [dice.coin() for _ in couples]
    known = dice.shuffled(verbs)
    statements = []
    for side, verb in enumerate(known[:2]):
        mixed = dice.shuffled(others)
        split = (
            dice.between(len(mixed) // 2, -(-len(mixed) // 2))
            if even
            else dice.between(ends, len(mixed) - ends)
        )
        told = [couple[(turn + side) % 2] for couple, turn in zip(couples, turned, strict=True)]
        hidden = [
            couple[(turn + side + 1) % 2] for couple, turn in zip(couples, turned, strict=True)
        ]
        clauses = ((mixed[:split], told), (mixed[split:], hidden))
        statements.append(
            Statement(verb, *(_inserted(dice, names, more, inside) for names, more in clauses))
        )
    for verb in known[2 : 2 + dice.between(0, min(extra, len(verbs) - 2))]:
        some = dice.shuffled(names)[: dice.between(1, len(names))]
        split = dice.between(0, len(some))
        statements.append(Statement(verb, tuple(some[:split]), tuple(some[split:])))
    return Paired(dice.shuffled(statements), couples, (known[0], known[1]))


def draw_counted(
    dice: Dice, names: Sequence[str], verbs: Sequence[str], called: Callable[[str], str]
) -> list[Statement]:
    """A prompt in which every statement can be counted: two verbs or three. called: the text
    for a name.
    """
    statements = []
    for verb in dice.shuffled(verbs)[: dice.between(2, min(3, len(verbs)))]:
        some = [called(name) for name in dice.shuffled(names)[:COUNTED]]
        split = dice.between(LEAST_COUNT, COUNTED - LEAST_COUNT)
        statements.append(Statement(verb, tuple(some[:split]), tuple(some[split:])))
    return statements


class Contrasted(NamedTuple):
    """A prompt of contrasts: its statements, the nouns that may be asked for, and the two verbs."""

    statements: list[Statement]
    nouns: tuple[str, ...]
    verbs: tuple[str, str]


def draw_contrasts(
    dice: Dice,
    nouns: Sequence[str],
    verbs: Sequence[str],
    values: Sequence[str],
    called: Callable[[str, str], str],
    apart: bool,
    contrasted: int = 2,
) -> Contrasted:
    """A prompt about all the nouns. values: colours, or sizes. called: the phrase of a noun with a
    value, or with "" for anything. apart: the nouns that may be asked for, `contrasted` of
    them, have different values in every clause.
    """
    order = dice.shuffled(nouns)
    sure, others = order[:contrasted], order[contrasted:]
    first = dice.shuffled(values)[:VALUES]
    if not apart:
        rows = [dice.shuffled(values)[:VALUES] for _ in sure[1:]]
    else:
        turns = (
            [dice.between(1, VALUES - 1)] if contrasted == 2 else dice.shuffled(range(1, VALUES))
        )
        rows = [first[turn:] + first[:turn] for turn in turns]
    tables = dict(zip(sure, [first, *rows], strict=False))
    chosen = dice.shuffled(verbs)[:2]
    statements = []
    for side, verb in enumerate(chosen):
        mixed = dice.shuffled(others)
        split = dice.between(1, len(mixed) - 1)
        clauses = []
        for place, part in ((2 * side, mixed[:split]), (2 * side + 1, mixed[split:])):
            told = [called(noun, tables[noun][place]) for noun in sure]
            clauses.append(_inserted(dice, [called(noun, "") for noun in part], told))
        statements.append(Statement(verb, clauses[0], clauses[1]))
    return Contrasted(dice.shuffled(statements), tuple(sure), (chosen[0], chosen[1]))


def pairs_fault(
    statements: Sequence[Statement],
    asked: Sequence[tuple[str, str]],
    extra: int,
    inside: int = 0,
    even: bool = False,
) -> str:
    """Why these questions, (verb, name) each, cannot be asked of pairs in such a prompt; nothing if
    they can.
    """
    every = {name for statement in statements for name in statement.affirmed + statement.denied}
    if len(statements) > 2 + extra:
        return f"{len(statements)} statements, at most {2 + extra}"
    if len({name for _, name in asked}) < len(asked):
        return "a name that was asked for before"
    whole = [
        statement
        for statement in statements
        if statement.mixed and {*statement.affirmed, *statement.denied} == every
        if not even or abs(len(statement.affirmed) - len(statement.denied)) <= 1
    ]
    for couple in combinations(whole, 2):
        known = {statement.verb for statement in couple}
        if all(verb in known for verb, _ in asked) and _matched(couple, asked, inside):
            return ""
    clauses = "clauses are not equally long, or " if even else ""
    where = f"less than {inside} names inside its clause" if inside else "first"
    name = "a name that is not affirmed of one verb and denied of another, or has no counterpart"
    return f"{clauses}{name}, or stands {where}"


def _matched(couple: Sequence[Statement], asked: Sequence[tuple[str, str]], inside: int) -> bool:
    """Whether every name asked for, of two statements, has a counterpart of its own that is not
    asked for.
    """
    clauses = [side for statement in couple for side in statement[1:]]
    ends = {
        name for side in clauses for name in side[: max(1, inside)] + side[len(side) - inside :]
    }
    first, second = couple
    ways = [
        {name for name in one.affirmed if name in other.denied and name not in ends}
        for one, other in ((first, second), (second, first))
    ]
    names = {name for _, name in asked}
    return names <= ways[0] | ways[1] and all(
        len(names & way) <= len(other - names) for way, other in (ways, ways[::-1])
    )


def counts_fault(statements: Sequence[Statement]) -> str:
    """Why such a prompt is not made to be counted; nothing if it is."""
    if not 2 <= len(statements) <= 3:
        return f"{len(statements)} statements, not 2 or 3"
    for verb, affirmed, denied in statements:
        if len(affirmed) + len(denied) != COUNTED or min(len(affirmed), len(denied)) < LEAST_COUNT:
            return f"{len(affirmed)} affirmed and {len(denied)} denied with {verb}"
    return ""


def contrasts_fault(
    statements: Sequence[Statement],
    asked: Sequence[tuple[str, str]],
    sort: str,
    apart: bool,
    contrasted: int = 2,
) -> str:
    """Why these questions for a colour or a size, (verb, noun) each, cannot be asked in such a
    prompt.
    """
    if len(statements) != 2 or not all(statement.mixed for statement in statements):
        return "other than two statements that affirm and deny"
    clauses = [side for statement in statements for side in statement[1:]]
    nouns = [[noun_of(phrase) for phrase in side] for side in clauses]
    sure = {noun for noun in nouns[0] if all(noun in side[1:] for side in nouns)}
    known = {name for _, name in asked}
    if len(known) < len(asked) or not known <= sure or len(sure) != contrasted:
        return (
            "a noun that is not in every clause after another one, as just"
            f" {contrasted - 1} more do"
        )
    every = [{*nouns[2 * side]} | {*nouns[2 * side + 1]} for side in range(2)]
    if any(len(side) != len(set(side)) for side in nouns) or every[0] != every[1]:
        return "nouns that are not the same with both verbs"
    if any({*nouns[2 * side]} & {*nouns[2 * side + 1]} != sure for side in range(2)):
        return "another noun that is both affirmed and denied"
    tables = [
        [
            adjectives_of(side[row.index(noun)]).get(sort)
            for side, row in zip(clauses, nouns, strict=True)
        ]
        for noun in sorted(sure)
    ]
    if any(None in table or len(set(table)) < VALUES for table in tables):
        return f"a noun that has not four different answers to {sort}"
    if apart and not all(_turned(*two) for two in combinations(tables, 2)):
        return "two nouns that have the same adjective in a clause"
    return ""


def _turned(first: Sequence[str | None], second: Sequence[str | None]) -> bool:
    """Whether one is the other, begun at another place."""
    return any(list(second) == [*first[turn:], *first[:turn]] for turn in range(1, len(first)))


def kind_of(words: Sequence[str]) -> str:
    """What the first question of a sequence asks: `DO`, `HOW`, `COLOR` or `SIZE`; `DO` where there
    is none.
    """
    for word in words:
        if word == "HOW" or word in ADJECTIVES:
            return word
    return "DO"
