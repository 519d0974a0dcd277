"""What a batch holds of a world, and how an instance and its questions are drawn there: as `tables`
does it, compiled.

A world is a row of whole numbers, one of bytes, and one of random words that are drawn and not yet
used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from quickstudy.numba_gateway import njit
from quickstudy.tasks.curriculum.compiled_draws import BUFFER, below, words
from quickstudy.tasks.curriculum.loop import NEVER
from quickstudy.tasks.curriculum.tables import (
    DIGITS,
    FOUR,
    LETTERS,
    SPECIALS,
    SYMBOLS,
    TABLES,
    TEN,
    Table,
)

ONE_ANSWER, LETTERS_AND_ECHO, PERMUTED_AND_ECHO, ECHO, TABLE = range(5)
MOST, LONGEST, DECKS, TEXTS, SMALL = 12, 13, 256, 64, 32
"""Questions of an instance, bytes of a key or value with their number in front, questions to come,
bytes shown; a deck in sorted order.
"""
(
    NUMBER,
    BLOCKS,
    BUFFERED,
    NAMED,
    PLACE,
    LENGTH,
    ANSWERED,
    RIGHT,
    DRAINING,
    SHOWN,
    RUN,
    ASKED,
    SOFT,
    HARD,
    LEFT,
    SOLVED,
    DEALT,
    DECK,
    QUESTIONS,
    CURRENT,
    NOISE,
    ENDED,
    OPEN,
) = range(23)
NUMBERS = OPEN + MOST
"""The numbers of a world; from OPEN on, answers after which a question counts as known."""
KEYS = 0
VALUES = KEYS + MOST * LONGEST
TEXT = VALUES + MOST * LONGEST
NOISES = TEXT + TEXTS
COMING = NOISES + 4
NAME = COMING + DECKS
"""The bytes of a world, and where they begin: a key and a value of every question, the text that is
shown, digits before a feedback, the questions to come, and the name of its random numbers.
"""
ALL_SYMBOLS, ALL_LETTERS, ALL_SPECIALS, ALL_MARKS, ALL_DIGITS = (
    np.frombuffer(part, np.uint8)
    for part in (SYMBOLS, LETTERS, SPECIALS, LETTERS + SPECIALS, DIGITS)
)


class TaskNumbers(NamedTuple):
    """The task. Lengths are the least and how many there are, of which 0 is none; marks are a byte,
    or -1.
    """

    kind: int
    needed: int
    keys: tuple[int, int]
    values: tuple[int, int]
    noise: tuple[int, int]
    asks: int
    ends: int
    closes: int
    short: bool

    @classmethod
    def of(cls, name: str, needed: int) -> TaskNumbers:
        """Of a table-driven task by its number."""
        table = TABLES[name]
        if not isinstance(table, Table):
            kind = {"1": ONE_ANSWER, "2": LETTERS_AND_ECHO, "3": PERMUTED_AND_ECHO, "4": ECHO}[name]
            return cls(kind, needed, (0, 0), (0, 0), (0, 0), -1, -1, -1, False)
        asks, ends, closes = (
            mark[0] if mark else -1 for mark in (table.asks, table.ends, table.closes)
        )
        noise = (0, 0) if table.noise == (0,) else _range(table.noise)
        return cls(
            TABLE,
            needed,
            _range(table.keys),
            _range(table.values),
            noise,
            asks,
            ends,
            closes,
            table.short,
        )


def _range(lengths: Sequence[int]) -> tuple[int, int]:
    return (lengths[0], len(lengths)) if lengths else (0, 0)


@njit
def joined(own: Any, end: int, part: int) -> int:
    """A text after others, and its end."""
    for place in range(own[part]):
        own[end + place] = own[part + 1 + place]
    return end + int(own[part])


@njit
def ask(now: Any, own: Any, buffer: Any, setting: TaskNumbers) -> None:
    """The next question, after the present text."""
    if now[DEALT] == now[DECK]:
        count = now[QUESTIONS]
        many = DECKS if setting.kind == ONE_ANSWER else count * count
        drawn = np.empty(many, np.uint32)
        words(own, NAME, now, drawn, many)
        if setting.kind == ONE_ANSWER:
            for place in range(many):
                own[COMING + place] = (np.int64(drawn[place]) * count) >> 32
        else:
            _dealt(own, drawn, many, count)
        now[DEALT], now[DECK] = 0, many
    now[CURRENT] = own[COMING + now[DEALT]]
    now[DEALT] += 1
    if setting.noise[1]:
        now[NOISE] = setting.noise[0] + below(own, NAME, now, buffer, setting.noise[1])
        for place in range(now[NOISE]):
            own[NOISES + place] = 48 + below(own, NAME, now, buffer, TEN)
    now[LENGTH] = joined(own, TEXT + now[LENGTH], KEYS + now[CURRENT] * LONGEST) - TEXT
    now[PLACE], now[ANSWERED], now[RIGHT] = 0, 0, 1


@njit
def drawn(now: Any, own: Any, buffer: Any, setting: TaskNumbers) -> int:
    """The next instance, and its first byte."""
    now[NUMBER] += 1
    now[BLOCKS], now[BUFFERED], now[DEALT], now[DECK] = 0, BUFFER, 0, 0
    now[DRAINING], now[SHOWN], now[RUN], now[ASKED], now[SOFT], now[HARD] = 0, 0, 0, 0, NEVER, NEVER
    now[NOISE], now[LENGTH] = 0, 0
    if setting.kind == TABLE:
        _table(now, own, buffer, setting)
    else:
        _symbols(now, own, buffer, setting.kind)
    ask(now, own, buffer, setting)
    return int(own[TEXT])


@njit
def _symbols(now: Any, own: Any, buffer: Any, kind: int) -> None:
    """The tables of tasks 1 to 4: questions and answers of one byte."""
    count = TEN if kind == ONE_ANSWER else FOUR
    pool = _fresh(ALL_SYMBOLS if kind == ONE_ANSWER else ALL_MARKS if kind == ECHO else ALL_LETTERS)
    _some(now, own, buffer, pool, len(pool), count)
    answers = _fresh(pool)
    if kind == PERMUTED_AND_ECHO:
        _some(now, own, buffer, answers, FOUR, FOUR)
    elif kind != ECHO:
        answer = pool[below(own, NAME, now, buffer, count)]
        for place in range(count):
            answers[place] = answer
    echoes = 0 if kind in (ONE_ANSWER, ECHO) else len(ALL_SPECIALS)
    for place in range(count + echoes):
        key, value = KEYS + place * LONGEST, VALUES + place * LONGEST
        own[key], own[value] = 1, 1
        own[key + 1] = pool[place] if place < count else ALL_SPECIALS[place - count]
        own[value + 1] = answers[place] if place < count else ALL_SPECIALS[place - count]
        now[OPEN + place] = len(ALL_LETTERS) - 1 if place < count else 0
    now[QUESTIONS] = count + echoes
    now[LEFT] = (
        len(ALL_SYMBOLS)
        if kind == ONE_ANSWER
        else FOUR
        if kind == PERMUTED_AND_ECHO
        else len(ALL_LETTERS)
    )


@njit
def _fresh(values: Any) -> Any:
    """A copy. By hand, which is compiled in less time."""
    pool = np.empty(len(values), np.uint8)
    for place in range(len(values)):
        pool[place] = values[place]
    return pool


@njit
def _some(now: Any, own: Any, buffer: Any, pool: Any, size: int, count: int) -> None:
    """Of the first so many, some different ones come to the front, in random order."""
    for place in range(count):
        other = place + below(own, NAME, now, buffer, size - place)
        pool[place], pool[other] = pool[other], pool[place]


@njit
def _table(now: Any, own: Any, buffer: Any, setting: TaskNumbers) -> None:
    """Ten keys and their values; a key that was drawn twice keeps its last value."""
    keys, values = np.zeros((TEN, LONGEST), np.uint8), np.zeros((TEN, LONGEST), np.uint8)
    _digits(now, own, buffer, keys, setting.keys, False)
    _digits(now, own, buffer, values, setting.values, True)
    count = 0
    for row in range(TEN):
        place = 0
        while place < count and not _equal(own, KEYS + place * LONGEST, keys[row]):
            place += 1
        count = max(count, place + 1)
        for byte in range(LONGEST):
            own[KEYS + place * LONGEST + byte] = keys[row, byte]
            own[VALUES + place * LONGEST + byte] = values[row, byte]
    for place in range(count):
        _mark(own, KEYS + place * LONGEST, setting.asks)
        _mark(own, VALUES + place * LONGEST, setting.ends)
    now[QUESTIONS] = now[LEFT] = count
    for place in range(count):
        now[OPEN + place] = 1


@njit
def _digits(
    now: Any, own: Any, buffer: Any, texts: Any, lengths: tuple[int, int], mixed: bool
) -> None:
    """Ten texts of random lengths; or the ten digits, in random order or sorted."""
    if lengths[1]:
        for row in range(TEN):
            length = lengths[0] + below(own, NAME, now, buffer, lengths[1])
            texts[row, 0] = length
            for place in range(length):
                texts[row, 1 + place] = 48 + below(own, NAME, now, buffer, TEN)
        return
    pool = _fresh(ALL_DIGITS)
    if mixed:
        _some(now, own, buffer, pool, TEN, TEN)
    for row in range(TEN):
        texts[row, 0], texts[row, 1] = 1, pool[row]


@njit
def _mark(own: Any, part: int, mark: int) -> None:
    """A text followed by a mark, if there is one."""
    if mark >= 0:
        own[part] += 1
        own[part + own[part]] = mark


@njit
def _equal(own: Any, part: int, other: Any) -> bool:
    place, length = 0, other[0]
    while place <= length and own[part + place] == other[place]:
        place += 1
    return bool(place > length)


@njit
def _dealt(own: Any, drawn: Any, many: int, count: int) -> None:
    """A deck in the order of its random words, the first first where two are equal: the questions
    to come.
    """
    packed = np.empty(many, np.int64)
    if many > SMALL:  # By their first byte: uniform words are nearly in order then.
        starts = np.zeros(257, np.int64)
        for place in range(many):
            starts[(drawn[place] >> 24) + 1] += 1
        for byte in range(256):
            starts[byte + 1] += starts[byte]
        for place in range(many):
            byte = drawn[place] >> 24
            packed[starts[byte]] = (np.int64(drawn[place]) << 8) | place
            starts[byte] += 1
    else:
        for place in range(many):
            packed[place] = (np.int64(drawn[place]) << 8) | place
    for end in range(1, many):
        word, place = packed[end], end
        while place > 0 and packed[place - 1] > word:
            packed[place] = packed[place - 1]
            place -= 1
        packed[place] = word
    for place in range(many):
        own[COMING + place] = (packed[place] & 255) % count
