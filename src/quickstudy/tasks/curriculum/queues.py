"""Instances of table-driven tasks drawn ahead, with all their questions: arrays for
`pure_tables`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.numba_gateway import njit
from quickstudy.tasks.curriculum import batch_instances as at
from quickstudy.tasks.curriculum.batch_instances import TaskNumbers, ask, drawn
from quickstudy.tasks.curriculum.compiled_draws import BUFFER
from quickstudy.tasks.curriculum.loop import BUDGET, IN_A_ROW
from quickstudy.tasks.curriculum.tables import FOUR, LETTERS, SPECIALS, SYMBOLS, TABLES, TEN, Ground
from quickstudy.tasks.curriculum.words import Words

DIGITS_BEFORE = at.COMING - at.NOISES
"""The most random digits before a feedback."""
BY_HAND = 256
"""Instances of a source that are drawn as a world on the host draws them, a millisecond each: a
short life needs no more, and to compile what draws the others, in a hundredth of the time, takes
eight seconds.
"""


def asked_at_most(kind: int, count: int) -> int:
    """Questions after which an instance is over, for any answers: twice those after which its
    answers are known at the latest and the soft limit is past, and one. Known: in task 1 at the
    first question after 69 wrong answers; in 2 after 26 wrong ones, and 96 of the first 144
    questions are not letters; in 3 when every letter was asked 25 times, each being 12 of 144; in 4
    at once; else when every key was asked, at the end of the first deck at the latest.
    """
    known = count * count
    if kind == at.ONE_ANSWER:
        known = 70
    elif kind == at.LETTERS_AND_ECHO:
        known = 96 + 27
    elif kind == at.PERMUTED_AND_ECHO:
        known = 3 * 144
    elif kind == at.ECHO:
        known = 1
    return 2 * (known + BUDGET + 1) + 1


MOST_ASKED = asked_at_most(at.PERMUTED_AND_ECHO, at.MOST)
_asked_at_most = njit(asked_at_most)


class Rows(NamedTuple):
    """`pure_tables.Queue` in NumPy, in its order of fields."""

    texts: NDArray[np.uint8]
    order: NDArray[np.uint8]
    noise: NDArray[np.uint8]
    opens: NDArray[np.int32]
    lefts: NDArray[np.int32]

    @classmethod
    def empty(cls, rows: int, asked: int = MOST_ASKED, digits: int = DIGITS_BEFORE) -> Rows:
        """Room for so many instances with at most so many questions, and random digits before each
        feedback.
        """
        return cls(
            np.zeros((rows, 2, at.MOST, at.LONGEST), np.uint8),
            np.zeros((rows, asked), np.uint8),
            np.zeros((rows, asked, 1 + digits), np.uint8),
            np.zeros((rows, at.MOST), np.int32),
            np.zeros(rows, np.int32),
        )

    def after(self, used: int) -> Rows:
        """Without the first so many rows, which come after the others now, to be filled again."""
        parts: list[Any] = [np.roll(part, -used, axis=0) for part in self]
        return Rows(*parts)


class Source:
    """Instances of one table-driven task, in their order. name: of its random stream; first: its
    number.
    """

    def __init__(self, task: str, name: str, first: int = 0, by_hand: int = BY_HAND) -> None:
        self.setting = TaskNumbers.of(task, 0)
        self._task, self._name, self._compiled_from = task, name, first + by_hand
        given = f"{name}/instance/".encode()
        self._numbers, self._words = np.zeros(at.NUMBERS, np.int64), np.zeros(BUFFER, np.uint32)
        self._bytes = np.concatenate([np.zeros(at.NAME, np.uint8), np.frombuffer(given, np.uint8)])
        self._numbers[at.NAMED], self._numbers[at.NUMBER] = len(given), first - 1

    def fill(self, rows: Rows, first: int = 0) -> None:
        """The next instances into all rows from one on."""
        for row in range(first, len(rows.lefts)):
            parts = [part[row] for part in rows[:4]]
            following = int(self._numbers[at.NUMBER]) + 1
            if following < self._compiled_from:
                self._numbers[at.NUMBER] = following
                rows.lefts[row] = _filled_by_hand(
                    self._task, Ground(self._name, following, Words()), *parts
                )
            else:
                rows.lefts[row] = _filled(
                    self._numbers, self._bytes, self._words, self.setting, *parts
                )


def _filled_by_hand(
    task: str, ground: Ground, texts: Any, order: Any, noise: Any, opens: Any
) -> int:
    """As `_filled`, from the instance itself. Its questions are numbered as they come, letters
    first.
    """
    setting = TaskNumbers.of(task, 0)
    ask, table = TABLES[task](ground).ask, setting.kind == at.TABLE
    asked = [ask() for _ in range(asked_at_most(setting.kind, TEN))]
    echoes = setting.kind in (at.LETTERS_AND_ECHO, at.PERMUTED_AND_ECHO)
    different = sorted(
        {one.text: one for one in asked}.values(), key=lambda one: echoes and one.text in SPECIALS
    )
    places = {one.text: place for place, one in enumerate(different)}
    order[: len(asked)] = [places[one.text] for one in asked]
    for place, one in enumerate(different):
        for part, text in enumerate((one.text, one.expected)):
            texts[part, place, : 1 + len(text)] = [len(text), *text]
        opens[place] = 1 if table else 0 if echoes and one.text in SPECIALS else len(LETTERS) - 1
    noise[: len(asked), 0] = 0
    for place, one in enumerate(asked if setting.noise[1] else ()):
        before = one.wrong[: len(one.wrong) - len(one.expected) - (setting.closes >= 0)]
        noise[place, : 1 + len(before)] = [len(before), *before]
    needed = {at.ONE_ANSWER: len(SYMBOLS), at.PERMUTED_AND_ECHO: FOUR, at.TABLE: len(different)}
    return needed.get(setting.kind, len(LETTERS))


@njit
def _filled(
    now: Any,
    own: Any,
    buffer: Any,
    setting: TaskNumbers,
    texts: Any,
    order: Any,
    noise: Any,
    opens: Any,
) -> int:
    """One instance with all its questions; what is needed to know its answers."""
    drawn(now, own, buffer, setting)
    for question in range(at.MOST):
        for byte in range(at.LONGEST):
            texts[0, question, byte] = own[at.KEYS + question * at.LONGEST + byte]
            texts[1, question, byte] = own[at.VALUES + question * at.LONGEST + byte]
        opens[question] = now[at.OPEN + question]
    left = now[at.LEFT]
    for place in range(_asked_at_most(setting.kind, now[at.QUESTIONS])):
        if place:
            now[at.LENGTH] = 0
            ask(now, own, buffer, setting)
        order[place], noise[place, 0] = now[at.CURRENT], now[at.NOISE]
        for digit in range(now[at.NOISE]):
            noise[place, 1 + digit] = own[at.NOISES + digit]
    return int(left)


def least_steps(setting: TaskNumbers) -> int:
    """Steps of an instance that is answered rightly from its beginning on, at the least."""
    if setting.kind != at.TABLE:
        return IN_A_ROW
    key, value = (
        max(1, setting.keys[0]) + (setting.asks >= 0),
        max(1, setting.values[0]) + (setting.ends >= 0),
    )
    back = setting.noise[0] + value - setting.short + (setting.closes >= 0)
    return IN_A_ROW * (key + value - 1 + back)
