"""The 46 tasks cut down until their machines can be built: fewer options for every choice, and what
is asked then.

Tasks that look something up (1 to 6 and 15) have `choices` keys and `choices` values. Of every
other choice a task makes, of a letter, a word, a length, its first `choices` options are left, but
choices among up to four kinds are kept; the task uses them as before. Questions of an instance are
drawn one by one, not from a pack. Mini tasks are cut down to `choices` questions with a right and
as many with a wrong string, drawn by the task itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, TypeVar

from quickstudy.base.errors import NotApplicable
from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.finite_loop import WRONG, Asked, MicroLoop, MiniLoop
from quickstudy.tasks.curriculum.loop import Question, same
from quickstudy.tasks.curriculum.mini import MINI
from quickstudy.tasks.curriculum.tables import LETTERS, SPECIALS, TABLES, Ground, Table, shown
from quickstudy.tasks.curriculum.texts import LISTS, MICRO, judge_of
from quickstudy.tasks.curriculum.words import Words, word_list

T = TypeVar("T")
CHOICES, WANTED = 2, 2
LOOKED_UP = ("1", "2", "3", "4", "6", "15")
_WHOLE = 4
"""Choices among so few are between kinds of question, not between symbols: they are kept.
"""
_ROTATED = 3
"""Where a task draws more things than that at once, it is only drawn with which of them it
begins.
"""


@lru_cache(maxsize=64)
def reduced_loop(member: str, choices: int, wanted: int) -> MicroLoop | MiniLoop:
    """All that a task can be in, cut down. member: `micro-5.1`, `mini-2`."""
    kind, _, number = member.partition("-")
    if kind == "mini":
        return MiniLoop(_mini_questions(number, choices))
    instances = _instances(number, choices)
    judge = judge_of(number, strict=True)
    by_period = number not in TABLES
    return MicroLoop(instances, wanted, by_period, judge, partial(_shortened, judge, by_period))


def reduced_by_default(members: Sequence[str]) -> MicroLoop | MiniLoop:
    """The same for a task as it is published: CHOICES options, WANTED rewards. Raises NotApplicable
    for several.
    """
    if len(members) > 1:
        raise NotApplicable(f"a machine is of one task, and this curriculum has {len(members)}")
    return reduced_loop(members[0], CHOICES, WANTED)


def _instances(number: str, choices: int) -> list[tuple[Asked, Fraction]]:
    if number in TABLES or number in LOOKED_UP:
        tables = _tables(number, choices)
        return [(_evenly(questions), Fraction(1, len(tables))) for questions in tables]
    found: dict[tuple[int, ...], dict[Question, Fraction]] = {}
    chances: dict[tuple[int, ...], Fraction] = {}
    for (begun, question), chance in every(partial(_begun, number), choices):
        own = found.setdefault(begun, {})
        own[question] = own.get(question, Fraction(0)) + chance
        chances[begun] = chances.get(begun, Fraction(0)) + chance
    merged: dict[Asked, Fraction] = {}
    for begun, questions in found.items():  # instances that ask the same are one
        asked = Asked(
            tuple(sorted((one, chance / chances[begun]) for one, chance in questions.items()))
        )
        merged[asked] = merged.get(asked, Fraction(0)) + chances[begun]
    return list(merged.items())


def _evenly(questions: Sequence[Question]) -> Asked:
    asked: dict[Question, Fraction] = {}
    for question in questions:
        asked[question] = asked.get(question, Fraction(0)) + Fraction(1, len(questions))
    return Asked(tuple(asked.items()))


def _tables(number: str, choices: int) -> list[list[Question]]:
    """Every instance of a task that looks something up, as its questions."""
    letters, specials = shown(LETTERS)[:choices], shown(SPECIALS.replace(b" ", b""))[:choices]
    echoed = [Question(one, one) for one in specials]
    if number == "1":
        return [[Question(one, answer) for one in letters] for answer in letters]
    if number == "2":
        return [[*(Question(one, answer) for one in letters), *echoed] for answer in letters]
    if number == "3":
        orders = itertools.permutations(letters)
        return [[*map(Question, letters, order), *echoed] for order in orders]
    if number == "4":
        return [[Question(one, one) for one in letters]]
    if number == "6":
        words = word_list().every[:choices]
        return [
            [
                _praised(b"random_map: " + key + b".", value + b".")
                for key, value in zip(words, order, strict=True)
            ]
            for order in itertools.permutations(words)
        ]
    if number == "15":
        lists = [items[: choices + 1] for items in LISTS[:choices]]
        both = [(items, 1) for items in lists] + [(items[::-1], 2) for items in lists]
        asked = [
            (
                [
                    _praised(b"say next after: " + a + b".", b + b".")
                    for a, b in itertools.pairwise(items)
                ],
                times,
            )
            for items, times in both
        ]
        return [questions for questions, times in asked for _ in range(times)]
    return list(_digits(TABLES[number], choices))


def _praised(text: bytes, answer: bytes) -> Question:
    return Question(text, answer, b"good job! ;", b"wrong! " + answer + b";")


def _digits(table: Any, choices: int) -> Iterator[list[Question]]:
    """Tasks 5.1 to 5.18: keys are the same in every instance, texts of one digit each as long as
    the task's may be.
    """
    assert isinstance(table, Table)
    keys, values, noise = (
        _texts(lengths, choices)
        for lengths in (table.keys or (1,), table.values or (1,), table.noise)
    )
    orders = (
        itertools.product(values, repeat=choices)
        if table.values
        else itertools.permutations(values)
    )
    for order in orders:
        yield [
            table._question(key, value, before)
            for key, value in zip(keys, order, strict=True)
            for before in dict.fromkeys(noise)
        ]


def _texts(lengths: Sequence[int], choices: int) -> list[bytes]:
    """One text of every digit, from the shortest that may be to the longest."""
    last = len(lengths) - 1
    return [
        b"%d" % digit * lengths[digit * last // max(1, choices - 1)] for digit in range(choices)
    ]


def _begun(number: str, draws: Scripted) -> tuple[tuple[int, ...], Question]:
    """The samples of an instance of a task, and one question of it."""
    ground = _Reduced(draws, word_list())
    instance = MICRO[number](ground)  # type: ignore[arg-type]
    begun = tuple(draws.taken)
    return begun, instance.ask()


@dataclass(frozen=True)
class _Reduced:
    """A ground whose draws are scripted."""

    scripted: Scripted
    words: Words
    number: int = 0
    strict: bool = True
    balanced: bool = True

    def draws(self, purpose: str = "instance", number: int | None = None) -> Scripted:
        return self.scripted


class Scripted(Draws):
    """Draws that follow a script, and of every choice the first options alone; what was drawn, and
    of how many.
    """

    def __init__(self, script: Sequence[int], choices: int) -> None:
        self._script, self._choices = script, choices
        self.taken: list[int] = []
        self.options: list[int] = []

    def below(self, count: int) -> int:
        """The next number of the script; 0 after its end."""
        return self._next(count if count <= _WHOLE else min(count, self._choices))

    def between(self, least: int, most: int) -> int:
        """A length: one of the first."""
        return least + self._next(min(most - least + 1, self._choices))

    def _next(self, options: int) -> int:
        place = len(self.taken)
        self.options.append(options)
        self.taken.append(self._script[place] if place < len(self._script) else 0)
        return self.taken[-1]

    def some_of(self, values: Sequence[T], count: int) -> list[T]:
        """A few in any order; where it is many, as they stand, begun at one of the first."""
        if count > _ROTATED:
            first = self.below(len(values))
            return [*values[first:], *values[:first]][:count]
        pool = list(values[: max(count, self._choices)])
        return [pool.pop(self.below(len(pool))) for _ in range(count)]


def every(function: Callable[[Scripted], T], choices: int) -> Iterator[tuple[T, Fraction]]:
    """All that a function can make of its draws, each with its chance."""
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        script = scripts.pop()
        draws = Scripted(script, choices)
        made = function(draws)
        chance = Fraction(1)
        for options in draws.options:
            chance /= options
        yield made, chance
        for place in range(len(script), len(draws.taken)):
            before = tuple(draws.taken[:place])
            scripts += [(*before, other) for other in range(1, draws.options[place])]


def _shortened(
    judge: Callable[[Question, bytes], bool], by_period: bool, question: Question, reply: bytes
) -> bytes:
    """A shortest reply that is judged alike for all continuations: unchanged while it may still
    be the expected one.
    """
    if question.expected.startswith(reply):
        return reply
    if not by_period:
        return bytes([WRONG]) * len(reply)
    if judge is same:
        return bytes([WRONG])
    return _freely(question, reply)


def _freely(question: Question, reply: bytes) -> bytes:
    """The same for tasks 13.1 and 13.2, where more than one answer is right."""
    text = question.text.strip(b" ").removeprefix(b"say: ").removesuffix(b".")
    if b" and not " in text:
        unwanted = text.rpartition(b" ")[2]
        return unwanted if unwanted in reply else question.expected[:-1]
    if b" or " not in text:
        return bytes([WRONG])
    wanted, _, unwanted = text.partition(b" but not ")
    words = wanted.split(b" or ")
    if not question.text.startswith(b" "):  # 13.2: any text that contains one of the words
        found = next((word for word in words if word in reply), None)
        ends = (reply[start:] for start in range(len(reply) + 1))
        return found or next(end for end in ends if any(word.startswith(end) for word in words))
    allowed = [b"".join(some) for count in (1, 2) for some in itertools.permutations(words, count)]
    allowed = [one for one in allowed if not unwanted or unwanted not in one]
    return reply if any(one.startswith(reply) for one in allowed) else bytes([WRONG])


def _mini_questions(number: str, choices: int) -> list[tuple[Question, Fraction]]:
    """As many right as wrong, all different, the first that the task draws in a stream of its
    own.
    """
    found: dict[bytes, dict[bytes, Question]] = {b"true.": {}, b"false.": {}}
    words = Words()
    for instance in itertools.count():
        ground = Ground("machine", instance, words)
        question = MINI[number](ground).ask()
        own = found[question.expected]
        if len(own) < choices:
            own.setdefault(question.text, question)
        if all(len(some) == choices for some in found.values()):
            break
    questions = [question for own in found.values() for question in own.values()]
    return [(question, Fraction(1, len(questions))) for question in questions]
