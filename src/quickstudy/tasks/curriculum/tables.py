"""Micro tasks 1 to 5.18: an answer is found out, or looked up in a table that feedback fills."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from typing import NamedTuple, TypeVar

from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.loop import Instance, Question, always
from quickstudy.tasks.curriculum.words import Words

T = TypeVar("T")
LETTERS, DIGITS = string.ascii_lowercase.encode(), string.digits.encode()
SYMBOLS = string.ascii_letters.encode() + DIGITS + b" ,.!;?-"
SPECIALS = b' !":?.,;'
TEN, FOUR = 10, 4


class Ground(NamedTuple):
    """What an instance is drawn from besides random numbers. stream: the name of its random stream;
    number: of the instance within it, from 0. words: the word list. strict: the answer must equal
    the right one exactly; balanced: feedback on right and on wrong answers is equally long.
    """

    stream: str
    number: int
    words: Words
    strict: bool = True
    balanced: bool = True

    def draws(self, purpose: str = "instance", number: int | None = None) -> Draws:
        """Random numbers of this instance, or of all with a number in common."""
        return Draws(f"{self.stream}/{purpose}/{self.number if number is None else number}")


@lru_cache(maxsize=1024)
def shown(symbols: bytes) -> tuple[bytes, ...]:
    """Every symbol as a text."""
    return tuple(bytes([symbol]) for symbol in symbols)


def one_answer(ground: Ground, symbols: bytes = SYMBOLS) -> Instance:
    """Task 1: ten symbols, one of which is always right, for every question. It can be known after
    the first right answer, or when all symbols have been tried.
    """
    draws = ground.draws()
    alphabet = draws.some_of(shown(symbols), TEN)
    answer = draws.one_of(alphabet)
    questions = [Question(symbol, answer) for symbol in alphabet]
    return Instance(draws.any_of(questions).__next__, knows=_Tried(len(symbols)))


def letters_and_echo(ground: Ground) -> Instance:
    """Task 2: one of four letters is the answer to all four; other symbols are their own answer."""
    draws = ground.draws()
    alphabet = draws.some_of(shown(LETTERS), FOUR)
    answer = draws.one_of(alphabet)
    table = {**dict.fromkeys(alphabet, answer), **{symbol: symbol for symbol in shown(SPECIALS)}}
    return _deck(draws, table, _Tried(len(LETTERS), frozenset(alphabet)))


def permuted_and_echo(ground: Ground) -> Instance:
    """Task 3: four letters are mapped to each other; other symbols are their own answer."""
    draws = ground.draws()
    alphabet = draws.some_of(shown(LETTERS), FOUR)
    table = dict(zip(alphabet, draws.some_of(alphabet, FOUR), strict=True))
    return _deck(
        draws,
        {**table, **{symbol: symbol for symbol in shown(SPECIALS)}},
        _Each(alphabet, len(LETTERS) - 1),
    )


def echo(ground: Ground) -> Instance:
    """Task 4: four symbols, each its own answer."""
    draws = ground.draws()
    alphabet = draws.some_of(shown(LETTERS + SPECIALS), FOUR)
    return _deck(draws, {symbol: symbol for symbol in alphabet})


@dataclass(frozen=True)
class Table:
    """Ten keys of digits and their values. keys: lengths that ten random keys may have; none: the
    digits themselves, one each. values: lengths of the values; none: the digits in another order.
    asks, ends, closes: what follows a key, a value, and the feedback. noise: how many random digits
    come before the feedback. short: a right answer is repeated without its end.
    """

    keys: tuple[int, ...] = ()
    values: tuple[int, ...] = (1,)
    asks: bytes = b"."
    ends: bytes = b"."
    closes: bytes = b";"
    noise: tuple[int, ...] = (0,)
    short: bool = False

    def __call__(self, ground: Ground) -> Instance:
        """An instance."""
        draws = ground.draws()
        digits = shown(DIGITS)
        keys = [_text(draws, digits, self.keys) for _ in digits] if self.keys else digits
        values = (
            [_text(draws, digits, self.values) for _ in keys]
            if self.values
            else draws.some_of(digits, TEN)
        )
        # A key that was drawn twice keeps its last value.
        table = dict(zip(keys, values, strict=True))
        found = {key: self._question(key, value, b"") for key, value in table.items()}
        seen = _Each(found[key].text for key in table)
        if self.noise == (0,):
            return Instance(deck(draws, list(found.values())).__next__, knows=seen)

        def ask() -> Question:
            key = next(dealt)
            return self._question(key, table[key], _text(draws, digits, self.noise))

        dealt = deck(draws, list(table))
        return Instance(ask, knows=seen)

    def _question(self, key: bytes, value: bytes, before: bytes) -> Question:
        said = before + value + self.ends + self.closes
        right = before + value + self.closes if self.short else said
        return Question(key + self.asks, value + self.ends, right, said)


_FIVE, _TEN = tuple(range(1, 6)), tuple(range(1, 11))
TABLES: dict[str, Callable[[Ground], Instance]] = {
    "1": one_answer,
    "2": letters_and_echo,
    "3": permuted_and_echo,
    "4": echo,
    "5.1": Table(values=(), asks=b"", ends=b"", closes=b""),
    "5.2": Table(values=(), asks=b"", ends=b""),
    "5.3": Table(values=(), ends=b""),
    "5.4": Table(values=(2,), ends=b""),
    "5.5": Table(),
    "5.6": Table(short=True),
    "5.7": Table(values=(1, 2)),
    "5.8": Table(keys=(2,)),
    "5.9": Table(keys=(1, 2)),
    "5.10": Table(noise=(1,)),
    "5.11": Table(noise=(0, 1)),
    "5.12": Table(values=(3, 4, 5)),
    "5.13": Table(keys=(3, 4, 5)),
    "5.14": Table(noise=(2, 3, 4)),
    "5.15": Table(values=_FIVE),
    "5.16": Table(keys=_FIVE),
    "5.17": Table(keys=_FIVE, values=_FIVE),
    "5.18": Table(keys=_TEN, values=_TEN),
}


def deck(draws: Draws, keys: Sequence[T]) -> Iterator[T]:
    """Every key as often as there are keys, shuffled, gone through, and shuffled again."""
    # A chain is walked through without a line of Python: a question costs a third of what a
    # generator takes.
    return chain.from_iterable(map(draws.shuffled, repeat(list(keys) * len(keys))))


def _deck(
    draws: Draws, table: dict[bytes, bytes], knows: Callable[[Question, bool], bool] = always
) -> Instance:
    questions = [Question(key, value) for key, value in table.items()]
    return Instance(deck(draws, questions).__next__, knows=knows)


def _text(draws: Draws, digits: Sequence[bytes], lengths: Sequence[int]) -> bytes:
    return b"".join(draws.one_of(digits) for _ in range(draws.one_of(lengths)))


class _Tried:
    """Known after the first right answer to one of some questions (any, if none are named), or at
    the first question after so many wrong answers.
    """

    def __init__(self, options: int, questions: frozenset[bytes] | None = None) -> None:
        self._left, self._questions = options, questions

    def __call__(self, question: Question, correct: bool) -> bool:
        known = self._left == 0 or (
            correct and (self._questions is None or question.text in self._questions)
        )
        self._left -= not correct
        return known


class _Each:
    """Known when each of some questions was answered rightly once, or wrongly so many times. With
    1: asked once.
    """

    def __init__(self, questions: Iterator[bytes] | Sequence[bytes], wrong: int = 1) -> None:
        self._left = dict.fromkeys(questions, wrong)

    def __call__(self, question: Question, correct: bool) -> bool:
        if question.text in self._left:
            self._left[question.text] -= 1
            if correct or not self._left[question.text]:
                del self._left[question.text]
        return not self._left
