"""Which strings a test asks about: those longer than all that were shown, in one of four
orders.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.offers import ListValues, offers
from quickstudy.base.seeds import Streams
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.derivation import wrapped
from quickstudy.tasks.grammar.strings import String

MODES = ("exhaustive", "released", "grid", "deep")
LISTED = ("exhaustive", "released")
"""Modes in which all tests are parts of one list."""
DEEP_LENGTHS = 50
"""Lengths above the longest string shown, from which strings are drawn under `deep`."""


@dataclass(frozen=True)
class TestList:
    """`count` strings of a language from number `start` on. Nothing is held: strings are made as
    one goes through them.

    mode: `exhaustive`, all strings of the language, the shortest first; `released`, the list of the
    published data set; `grid`, every variable by itself from `start` + 1 on (a square of values,
    where there are two); `deep`, strings of lengths above `start`, each as likely as the others of
    its length. Raises UsageError where the list does not exist, or it is too short.
    """

    __test__ = False  # not a test of pytest's, despite its name

    task: Any
    mode: str
    start: int
    count: int

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UsageError(f"test must be one of {', '.join(MODES)}, got {self.mode}")
        counted = isinstance(self.task.grammar, Counting)
        if (self.mode == "grid" and not counted) or (self.mode == "deep" and counted):
            other = (
                "counter languages" if self.mode == "grid" else "rules with brackets or the like"
            )
            raise UsageError(
                f"{self.task.id}: test={self.mode} is for {other}; use test=exhaustive"
            )
        if self.mode == "released" and self.start + self.count > len(self.task.listed()):
            left = max(0, len(self.task.listed()) - self.start)
            raise UsageError(
                f"{self.task.id}: the released list has {left:,} strings longer than those shown,"
                f" and {self.count:,} are asked for; use test=exhaustive"
            )

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[String]:
        if self.mode == "released":
            listed = self.task.listed()
            return (listed[place] for place in range(self.start, self.start + self.count))
        if isinstance(self.task.grammar, Counting):
            return map(self.task.grammar.string, self._counted())
        return self._deep() if self.mode == "deep" else itertools.islice(self._words(), self.count)

    @cached_property
    def values(self) -> NDArray[np.int64]:
        """(string, variable): the strings of a counter language, without their letters."""
        shape = self.count, len(self.task.grammar.stops)
        return np.fromiter(
            itertools.chain.from_iterable(self._counted()), np.int64, shape[0] * shape[1]
        ).reshape(shape)

    def _counted(self) -> Iterable[tuple[int, ...]]:
        grammar, end = self.task.grammar, self.start + self.count
        if self.mode == "grid":
            return self._grid()
        if self.mode == "released":
            listed = self.task.listed()
            numbers = range(self.start, end)
            if offers(listed, ListValues):
                return map(listed.values, numbers)
            return (grammar.values(listed[place]) for place in numbers)
        if len(grammar.stops) == 1:
            least = int(grammar.least[0])
            return ((n,) for n in range(self.start + least, end + least))
        return itertools.islice(grammar.in_order(), self.start, end)

    @classmethod
    def behind(cls, task: Any, mode: str, shown: Sequence[String], count: int) -> TestList:
        """The strings longer than all that were shown."""
        longest = max(map(len, shown))
        grammar = task.grammar
        if mode == "released":
            start = sum(
                1 for _ in itertools.takewhile(lambda string: len(string) <= longest, task.listed())
            )
        elif mode == "grid":
            start = (
                max(max(grammar.values(string) or (0,)) for string in shown)
                if isinstance(grammar, Counting)
                else 0
            )
        elif mode == "deep":
            start = longest - 2
        elif isinstance(grammar, Counting):
            start = sum(
                1
                for _ in itertools.takewhile(
                    lambda v: len(grammar.string(v)) <= longest, grammar.in_order()
                )
            )
        else:
            by_length = grammar.follower.by_length()
            start = sum(
                found
                for _, found in itertools.takewhile(lambda one: one[0] <= longest - 2, by_length)
            )
        behind = cls(task, mode, start, count)
        behind.check_enough()
        return behind

    def check_enough(self) -> None:
        """Raises UsageError where rules have not so many strings, or they are too long to be put in
        order.
        """
        if self.mode == "released" or isinstance(self.task.grammar, Counting):
            return
        if self.mode == "deep":
            there = bool(self._lengths)
        else:
            numbers = itertools.accumulate(
                found for _, found in self.task.grammar.follower.by_length()
            )
            there = any(number >= self.start + self.count for number in numbers)
        if not there:
            raise UsageError(self._too_few)

    @property
    def _too_few(self) -> str:
        grammar = self.task.grammar
        if not isinstance(grammar, Counting) and grammar.finite:
            held = sum(found for _, found in grammar.follower.by_length())
            return (
                f"{self.task.id}: this language has {held:,} strings, and the test needs"
                f" {self.count:,} that are longer than all that were shown: a finite language"
                " cannot be measured this way; take grammar/sentences:corpus=RULES"
            )
        return (
            f"{self.task.id}: the language has no {self.count:,} strings after its first"
            f" {self.start:,}; ask for fewer"
        )

    def _words(self) -> Iterator[String]:
        """All from number `start` on."""
        follower, before = self.task.grammar.follower, self.start
        for length, found in follower.by_length():
            for rank in range(min(before, found), found):
                yield wrapped(follower.string(length, rank))
            before = max(0, before - found)
        raise UsageError(self._too_few)

    def _grid(self) -> list[tuple[int, ...]]:
        grammar = self.task.grammar
        variables = len(grammar.stops)
        side = int(np.ceil(round(self.count ** (1 / variables), 9)))
        values = itertools.product(range(self.start + 1, self.start + 1 + side), repeat=variables)
        ordered = sorted(values, key=lambda one: int(grammar.lengths(np.array(one)).sum()))
        return ordered[: self.count]

    @cached_property
    def _lengths(self) -> list[tuple[int, int]]:
        """Those under `deep`, and how many strings each has."""
        behind = (one for one in self.task.grammar.follower.by_length() if one[0] > self.start)
        return list(itertools.islice(behind, DEEP_LENGTHS))

    def _deep(self) -> Iterator[String]:
        follower, lengths = self.task.grammar.follower, self._lengths
        rng = Streams(self.start, self.task.id, 0).numpy("deep")
        for number in range(self.count):
            length, found = lengths[number * len(lengths) // self.count]
            rank = int.from_bytes(rng.bytes(found.bit_length() // 8 + 8), "big") % found
            yield wrapped(follower.string(length, rank))


def together(lists: Sequence[Any]) -> tuple[Iterable[String], list[slice]]:
    """One list of strings that holds several, and the position of each."""
    first = lists[0]
    if isinstance(first, TestList) and all(one == first for one in lists):
        return first, [slice(0, len(first))] * len(lists)
    if isinstance(first, TestList) and first.mode in LISTED:
        begin, end = min(one.start for one in lists), max(one.start + one.count for one in lists)
        places = [slice(one.start - begin, one.start + one.count - begin) for one in lists]
        return TestList(first.task, first.mode, begin, end - begin), places
    ends = list(itertools.accumulate(map(len, lists)))
    return itertools.chain(*lists), [
        slice(end - len(one), end) for one, end in zip(lists, ends, strict=True)
    ]
