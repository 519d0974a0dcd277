"""Small string operations and their compositions: from the words of a question to an answer.

A program has a view (the question unchanged, or with one of its words replaced by another),
a pick (some of its words, or its text), and a way of making one text of what was picked. None of
them knows a word of any task.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

Made = str | None
View = Callable[[str], Made]


def _words(start: int, step: int) -> Callable[[str], list[str]]:
    return lambda text: text.split()[start::step]


PICKS: dict[str, Callable[[str], list[str]]] = {
    "every second word": _words(1, 2),
    "words but the first": _words(1, 1),
    "letters": lambda text: [word for word in text.split() if len(word) == 1],
    "text after the colon": lambda text: [text.partition(":")[2]],
    "every other word": _words(0, 2),
    "words": _words(0, 1),
    "last word": lambda text: text.split()[-1:],
}


def _two(parts: Sequence[str]) -> tuple[str, str]:
    if len(parts) < 2:
        raise ValueError
    return parts[0], parts[1]


def _interleaved(parts: Sequence[str]) -> str:
    first, second = _two(parts)
    shared = min(len(first), len(second))
    return (
        "".join(a + b for a, b in zip(first, second, strict=False))
        + first[shared:]
        + second[shared:]
    )


def _union(parts: Sequence[str]) -> str:
    first, second = _two(parts)
    return first + "".join(letter for letter in second if letter not in first)


def _difference(parts: Sequence[str]) -> str:
    first, second = _two(parts)
    return "".join(letter for letter in first if letter not in second)


def _joined_by(parts: Sequence[str]) -> str:
    first, second = _two(parts)
    return second.join(first)


MAKES: dict[str, Callable[[Sequence[str]], str]] = {
    "joined": " ".join,
    "glued": "".join,
    "first": lambda parts: parts[0],
    "last": lambda parts: parts[-1],
    "joined backwards": lambda parts: " ".join(parts[::-1]),
    "glued backwards": lambda parts: "".join(parts[::-1]),
    "interleaved": _interleaved,
    "letters joined by the second": _joined_by,
    "union": _union,
    "difference": _difference,
    "first unlike the last": lambda parts: next(part for part in parts if part != parts[-1]),
}
TURNS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "squeezed": lambda text: re.sub(" +", " ", text).lstrip(" "),
    "stripped": lambda text: text.strip(" "),
    "spelled": lambda text: "".join(letter + " " for letter in text),
    "next": lambda text: chr(ord(text) + 1),
    "backwards": lambda text: text[::-1],
    "without the first": lambda text: text[1:],
    "without the last": lambda text: text[:-1],
    "twice": lambda text: text + text,
    "letters joined by spaces": " ".join,
}


class Program(NamedTuple):
    """A composition. size: simple ones are tried first."""

    pick: str
    make: str
    turn: str

    @property
    def size(self) -> int:
        """Places in the three lists, added up."""
        return _PLACES[self.pick] + _PLACES[self.make] + 2 * _PLACES[self.turn]

    def __call__(self, text: str) -> Made:
        """The answer, or None where there is none."""
        try:
            return TURNS[self.turn](MAKES[self.make](PICKS[self.pick](text))) or None
        except (ValueError, TypeError, IndexError, StopIteration):
            return None


_PLACES = {name: place for names in (PICKS, MAKES, TURNS) for place, name in enumerate(names)}
ALL = sorted(
    (Program(*names) for names in ((p, m, t) for p in PICKS for m in MAKES for t in TURNS)),
    key=lambda p: p.size,
)


@lru_cache(maxsize=4096)
def makers(text: str) -> dict[str, list[int]]:
    """By what can be made of a text, the places of the programs that make it. Shared parts are
    computed once.
    """
    found: dict[str, list[int]] = {}
    made: dict[tuple[str, str], Made] = {}
    for pick, own in PICKS.items():
        parts = own(text)
        for name, make in MAKES.items():
            try:
                made[pick, name] = make(parts)
            except (ValueError, TypeError, IndexError, StopIteration):
                made[pick, name] = None
    for place, program in enumerate(ALL):
        part = made[program.pick, program.make]
        try:
            out = None if part is None else TURNS[program.turn](part)
        except (ValueError, TypeError):
            continue
        if out:
            found.setdefault(out, []).append(place)
    return found


def _counts(pairs: Sequence[tuple[str, str]]) -> Counter[int]:
    return Counter(
        place for question, answer in pairs for place in makers(question).get(answer, ())
    )


def explained(pairs: Sequence[tuple[str, str]]) -> int:
    """To how many of some questions one program gives the right answer, at best."""
    return max(_counts(pairs).values(), default=0)


def explaining(pairs: Sequence[tuple[str, str]], least: int) -> list[Program]:
    """Programs that give the right answer to so many of some questions, those that give most
    first.
    """
    counts = _counts(pairs)
    order = sorted((-count, place) for place, count in counts.items() if count >= least)
    return [ALL[place] for _, place in order]


@dataclass(frozen=True)
class Substitution:
    """A view: after the first so many words, one of these replaces another of them."""

    instead: int
    of: int
    head: int

    def __call__(self, text: str) -> Made:
        """The rest of the text, with the word in its place."""
        words = text.split()
        if len(words) <= self.head:
            return None
        rest = text.split(None, self.head)[self.head]
        whole = rf"(?<!\w){re.escape(words[self.instead])}(?!\w)"
        return re.sub(whole, words[self.of].replace("\\", r"\\"), rest)


def identity(text: str) -> Made:
    """The view that changes nothing."""
    return text


VIEWS: tuple[View, ...] = tuple(
    Substitution(instead, of, head)
    for head in range(2, 7)
    for instead, of in permutations(range(head), 2)
)
