"""Words that tasks are made of: ours, with the statistics of the published list.

2,284 words, most frequent first, 5.84 letters on average and 15 at most: the first 200 have 4.25,
the next 200 5.25. All are lower case but a pronoun of one letter, one word in capitals, and one
with a hyphen. 154 contain a word of the synonym task.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from quickstudy.tasks.curriculum.draws import Draws

SYNONYMS = {
    b"say": (b"say", b"print", b"write"),
    b"and": (b"and", b"together with", b"&", b"also"),
    b"or": (b"or", b"alternative", b"/"),
    b"after": (b"after", b"behind", b"next"),
    b"union": (b"union", b"consolidate", b"joint"),
    b"exclude": (b"exclude", b"prohibit", b"ignore", b"remove"),
}
COUNT, LONGEST, WITH_SYNONYM = 2284, 15, 154
_ONSETS, _VOWELS, _CODAS = map(
    str.split,
    (
        (
            "b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh sl sm sn sp"
            " st str sw t th tr tw v w"
        ),
        "a a a e e e e i i i o o u ai ea ee ie oa ou",
        "ck d ft g k l ll m n nd ng nk nt p r rd rk rm rn s sh ss st t th x",
    ),
)
_LENGTHS = (
    (200, {1: 1, 2: 24, 3: 40, 4: 54, 5: 44, 6: 21, 7: 11, 8: 3, 9: 2}),
    (200, {3: 18, 4: 50, 5: 54, 6: 41, 7: 21, 8: 12, 9: 3, 10: 1}),
    (
        1884,
        {
            3: 96,
            4: 325,
            5: 396,
            6: 374,
            7: 287,
            8: 197,
            9: 116,
            10: 53,
            11: 24,
            12: 10,
            13: 4,
            14: 1,
            15: 1,
        },
    ),
)
"""How many words of which length, of the most frequent, the next and all others."""


class Words(NamedTuple):
    """All words in the order of their frequency, and those of them that contain no synonym."""

    every: tuple[bytes, ...] = ()
    plain: tuple[bytes, ...] = ()


@lru_cache(maxsize=64)
def word_list(dialect: str = "") -> Words:
    """The words. dialect: another name, other words."""
    draws = Draws(f"words/{dialect}")
    found: dict[bytes, None] = {}
    lengths = [
        length
        for _, of in _LENGTHS
        for length in draws.some_of([n for n in of for _ in range(of[n])], sum(of.values()))
    ]
    # Words with a synonym in them are spread evenly over those that are long enough.
    long = [place for place, length in enumerate(lengths) if length > 3]
    holding = {long[number * len(long) // WITH_SYNONYM] for number in range(WITH_SYNONYM)}
    for place, length in enumerate(lengths):
        word = _word(draws, length, place in holding)
        while word in found:
            word = _word(draws, length, place in holding)
        found[word] = None
    words = list(found)
    capitals, hyphen = words.index(_last(words, 2)), words.index(_last(words, 8))
    words[capitals] = words[capitals].upper()
    words[hyphen] = words[hyphen][:3] + b"-" + words[hyphen][4:]
    return Words(tuple(words), without(words, ALL_SYNONYMS))


def without(words: Sequence[bytes], forbidden: Iterable[bytes]) -> tuple[bytes, ...]:
    """Those that contain none of some texts."""
    for text in forbidden:
        words = [word for word in words if text not in word]
    return tuple(words)


def _last(words: list[bytes], length: int) -> bytes:
    """The least frequent word of a length that is free of synonyms."""
    return next(
        word for word in reversed(words) if len(word) == length and not _holds_synonym(word)
    )


ALL_SYNONYMS = tuple(text for texts in SYNONYMS.values() for text in texts)


def _holds_synonym(word: bytes) -> bool:
    return any(text in word for text in ALL_SYNONYMS)


def _word(draws: Draws, length: int, holds: bool) -> bytes:
    """Of whole syllables; those of one letter are the pronoun."""
    if length == 1:
        return b"I"
    while True:
        word = ""
        while len(word) < length:
            word += draws.one_of(_ONSETS) if word or draws.below(4) else ""
            word += "or" if holds and draws.below(3) == 0 else draws.one_of(_VOWELS)
            word += draws.one_of(_CODAS) if draws.below(2) else ""
        if len(word) == length and _holds_synonym(word.encode()) == holds:
            return word.encode()
