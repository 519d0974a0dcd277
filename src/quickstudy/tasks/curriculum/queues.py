"""Instances of table-driven tasks with all their questions, drawn ahead: for `pure_tables`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.tasks.curriculum.loop import BUDGET, IN_A_ROW
from quickstudy.tasks.curriculum.tables import (
    FOUR,
    LETTERS,
    SPECIALS,
    SYMBOLS,
    TABLES,
    TEN,
    Ground,
    Table,
)
from quickstudy.tasks.curriculum.words import Words

ONE_ANSWER, LETTERS_AND_ECHO, PERMUTED_AND_ECHO, ECHO, TABLE = range(5)
MOST, LONGEST = 12, 13
"""Questions of an instance; bytes of a key or value, with their number in front."""


class TableRules(NamedTuple):
    """A table-driven task, beyond the texts of its instances.

    kind: one of the five above. closes: the mark after the feedback, -1 for none. short: a right
    answer is given back without its end. digits: the most random digits before the feedback. least:
    steps of an instance that is answered rightly from its beginning on, at the least.
    """

    kind: int
    closes: int = -1
    short: bool = False
    digits: int = 0
    least: int = IN_A_ROW

    @classmethod
    def of(cls, number: str) -> TableRules:
        """Of a task by its number in `TABLES`."""
        table = TABLES[number]
        if not isinstance(table, Table):
            return cls(int(number) - 1)
        key = (table.keys or (1,))[0] + len(table.asks)
        value = (table.values or (1,))[0] + len(table.ends)
        back = table.noise[0] + value - table.short + len(table.closes)
        closes = table.closes[0] if table.closes else -1
        least = IN_A_ROW * (key + value - 1 + back)
        return cls(TABLE, closes, table.short, table.noise[-1], least)

    @property
    def asked_at_most(self) -> int:
        """Questions after which an instance is over, whatever is answered.

        Twice those after which its answers are known at the latest and the soft limit is past, and
        one. Known: in task 1 at the first question after 69 wrong answers; in 2 after 26 wrong
        ones, and 96 of the first 144 questions are not letters; in 3 when every letter was asked 25
        times, each being 12 of 144; in 4 at once; else when every key was asked, at the end of the
        first deck at the latest.
        """
        return 2 * ((70, 96 + 27, 3 * 144, 1, TEN * TEN)[self.kind] + BUDGET + 1) + 1


MOST_ASKED = TableRules(PERMUTED_AND_ECHO).asked_at_most
MOST_DIGITS = 4
LETTERS_LEFT = len(LETTERS) - 1


class Rows(NamedTuple):
    """`pure_tables.Queue` in NumPy, in its order of fields."""

    texts: NDArray[np.uint8]
    order: NDArray[np.uint8]
    noise: NDArray[np.uint8]
    opens: NDArray[np.int32]
    lefts: NDArray[np.int32]

    @classmethod
    def empty(cls, rows: int, asked: int = MOST_ASKED, digits: int = MOST_DIGITS) -> Rows:
        """Room for so many instances with at most so many questions, and random digits before each
        feedback.
        """
        return cls(
            np.zeros((rows, 2, MOST, LONGEST), np.uint8),
            np.zeros((rows, asked), np.uint8),
            np.zeros((rows, asked, 1 + digits), np.uint8),
            np.zeros((rows, MOST), np.int32),
            np.zeros(rows, np.int32),
        )

    def after(self, used: int) -> Rows:
        """Without the first so many rows, which come after the others now, to be filled again."""
        parts: list[Any] = [np.roll(part, -used, axis=0) for part in self]
        return Rows(*parts)

    def fill(self, task: str, stream: str, number: int, first: int = 0) -> None:
        """Draw instances of a task into all rows from one on.

        stream: the name of the task's random stream; number: of the instance for row `first`.
        """
        for row in range(first, len(self.lefts)):
            ground = Ground(stream, number + row - first, Words())
            self.lefts[row] = _drawn(task, ground, *(part[row] for part in self[:4]))


rules = lru_cache(TableRules.of)


def _drawn(task: str, ground: Ground, texts: Any, order: Any, noise: Any, opens: Any) -> int:
    """One instance into one row. Its questions are numbered as they come, letters first."""
    setting, ask = rules(task), TABLES[task](ground).ask
    asked = [ask() for _ in range(setting.asked_at_most)]
    keys = [one.text for one in asked]
    different = list(dict(zip(keys, asked, strict=True)).values())
    echoes = setting.kind in (LETTERS_AND_ECHO, PERMUTED_AND_ECHO)
    if echoes:
        different.sort(key=lambda one: one.text in SPECIALS)
    places = {one.text: place for place, one in enumerate(different)}
    # By whole blocks of bytes: a third of the time that single assignments take.
    order[: len(keys)] = np.frombuffer(bytes(map(places.__getitem__, keys)), np.uint8)
    known = [one.text for one in different] + [one.expected for one in different]
    block = b"".join((bytes((len(text),)) + text).ljust(LONGEST, b"\0") for text in known)
    shape = 2, len(different), LONGEST
    texts[:, : len(different)] = np.frombuffer(block, np.uint8).reshape(shape)
    if setting.kind == TABLE:
        opens[: len(different)] = 1
    else:
        wrong = [0 if echoes and one.text in SPECIALS else LETTERS_LEFT for one in different]
        opens[: len(different)] = wrong
    if setting.digits:
        closing = setting.closes >= 0
        before = [one.wrong[: len(one.wrong) - len(one.expected) - closing] for one in asked]
        width = noise.shape[1]
        block = b"".join((bytes((len(text),)) + text).ljust(width, b"\0") for text in before)
        noise[: len(asked)] = np.frombuffer(block, np.uint8).reshape(-1, width)
    else:
        noise[: len(asked), 0] = 0
    needed = {ONE_ANSWER: len(SYMBOLS), PERMUTED_AND_ECHO: FOUR, TABLE: len(different)}
    return needed.get(setting.kind, len(LETTERS))
