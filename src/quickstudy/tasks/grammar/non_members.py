"""Strings that are not of a language: near misses and farther ones of the same length, or as
published.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from quickstudy.tasks.grammar.recognised import RecognisedLanguage, language

TRIES = 40
"""Attempts with one number of edits before there is one more."""


class Judged(NamedTuple):
    """A string, whether it is of the language, and how many letters were changed; 0 for those of
    the language, -1 for random strings.
    """

    string: list[int]
    member: bool
    edits: int


@lru_cache(maxsize=16)
def lengths(named: str, upto: int) -> tuple[int, ...]:
    """Lengths from 1 on at which a language has a string, and at which there is another that is not
    of it.
    """
    known, rng = language(named), np.random.default_rng(0)
    return tuple(
        length
        for length in range(1, upto + 1)
        if known.possible(length) and _has_others(known, rng, length)
    )


def _has_others(known: RecognisedLanguage, rng: np.random.Generator, length: int) -> bool:
    if known.automaton is not None:
        return bool(known.automaton.count(length) < len(known.symbols) ** length)
    uniform = rng.integers(len(known.symbols), size=(TRIES, length)).tolist()
    if not all(map(known.contains, uniform)):
        return True
    return _searched(known, rng, [*known.drawn(rng, length)]) is not None


def same_length(known: RecognisedLanguage, rng: np.random.Generator, length: int) -> Judged:
    """Not of the language, by edits that keep the length: half of them near misses, by one letter.

    A letter is replaced by another one of the string, or two are exchanged (two edits), so that
    neither the length nor the set of letters gives the answer away where that can be avoided.
    """
    most = np.log2(max(2, length // 2))
    edits = 1 if rng.random() < 0.5 or length < 3 else round(2 ** rng.uniform(1, most))
    for _ in range(length + 2):
        for _ in range(TRIES):
            string = [*known.drawn(rng, length)]
            if not known.contains(changed := _edited(rng, string, len(known.symbols), edits)):
                return Judged(changed, False, edits)
        if (found := _searched(known, rng, string)) is not None:
            return Judged(found, False, 1)
        edits += 1
    raise AssertionError(f"no string of length {length} is outside of the language")


def _edited(rng: np.random.Generator, string: list[int], letters: int, edits: int) -> list[int]:
    changed, left = [*string], edits
    while left:
        place = int(rng.integers(len(changed)))
        others = [one for one in dict.fromkeys(changed) if one != changed[place]]
        if left > 1 and others and rng.random() < 0.5:
            unlike = [at for at, one in enumerate(changed) if one != changed[place]]
            other = unlike[rng.integers(len(unlike))]
            changed[place], changed[other] = changed[other], changed[place]
            left -= 2
            continue
        if not others:
            others = [one for one in range(letters) if one != changed[place]]
        if not others:  # a language of one letter
            return changed
        changed[place] = int(others[rng.integers(len(others))])
        left -= 1
    return changed


def _searched(
    known: RecognisedLanguage, rng: np.random.Generator, string: list[int]
) -> list[int] | None:
    """The string with one letter replaced so that it leaves the language, of all ways to do so;
    None if there is none.
    """
    for place in rng.permutation(len(string)):
        for letter in rng.permutation(len(known.symbols)):
            changed = [*string]
            changed[place] = int(letter)
            if not known.contains(changed):
                return changed
    return None


def as_published(
    known: RecognisedLanguage, rng: np.random.Generator, length: int, longest: int
) -> Judged:
    """As FLaRe makes them: a proposal is uniform letters of a uniform length, or, as often, a
    string of the language with 1, 2, 3 ... (geometric, 1/2) insertions, replacements and deletions,
    until one is not of the language.
    """
    letters = len(known.symbols)
    while True:
        if rng.random() < 0.5:
            size = int(rng.integers(1, longest + 1))
            changed, edits = [int(one) for one in rng.integers(letters, size=size)], -1
        else:
            changed, edits = [*known.drawn(rng, length)], int(rng.geometric(0.5))
            for _ in range(edits):
                _edit_freely(rng, changed, letters, longest)
        if changed and not known.contains(changed):
            return Judged(changed, False, edits)


def _edit_freely(rng: np.random.Generator, string: list[int], letters: int, longest: int) -> None:
    kinds = [0] * (len(string) < longest) + [1, 2] * bool(string)
    kind = kinds[rng.integers(len(kinds))]
    if kind == 0:
        string.insert(int(rng.integers(len(string) + 1)), int(rng.integers(letters)))
        return
    place = int(rng.integers(len(string)))
    if kind == 1:
        string[place] = int((string[place] + rng.integers(1, letters)) % letters)
    else:
        del string[place]
