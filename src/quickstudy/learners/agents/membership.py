"""Yes or no: a version space over small membership grammars.

A question has two parts: words that describe, and a text. The meaning of a description depends on
its small words: for each set of them there is a space of rules, and a rule that has been wrong once
is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

MANY = 12
"""Spaces of other small words that are looked at."""
TESTS = ("every", "some", "covers", "no")


class Rule(NamedTuple):
    """The text must pass all of some tests: every capital word occurs, some do, they cover it,
    none of those after the word `behind` does. polarity: which of two answers, in their order,
    affirms it.
    """

    tests: tuple[str, ...]
    behind: str
    polarity: int

    def holds(self, parts: tuple[tuple[str, str], ...], text: str) -> bool:
        """Whether the text passes. parts: capital words, each with the word before it."""
        wanted = [part for before, part in parts if before != self.behind]
        passed = {
            "every": all(part in text for part in wanted),
            "some": any(part in text for part in wanted),
            "covers": _covered(tuple(wanted), text),
            "no": not any(part in text for before, part in parts if before == self.behind),
        }
        return all(passed[test] for test in self.tests)


@lru_cache(maxsize=4096)
def _covered(parts: tuple[str, ...], text: str) -> bool:
    reached = 0
    for end in range(1, len(text) + 1):
        if any(end - len(part) <= reached and text[:end].endswith(part) for part in parts):
            reached = end
    return reached == len(text)


class Membership:
    """The rules left in each space, by the small words of a description. Rules with fewer
    tests weigh more, and those that hold with other small words too.
    """

    def __init__(self) -> None:
        self._spaces: dict[frozenset[str], list[Rule]] = {}

    def answer(self, description: str, text: str, answers: Sequence[str]) -> str:
        """The answer that most of what is left gives."""
        parts, small = _read(description)
        votes, space = [0.0, 0.0], self._space(small)
        others = [set(one) for one in list(self._spaces.values())[-MANY:]]
        for rule in space:
            weight = 0.5 ** len(rule.tests) * (1 + sum(rule in other for other in others))
            votes[rule.polarity ^ (not rule.holds(parts, _last(text)))] += weight
        return answers[votes[1] > votes[0]]

    def shown(self, description: str, text: str, answer: str, answers: Sequence[str]) -> None:
        """The right answer to a question: drop what would not have given it."""
        parts, small = _read(description)
        said = list(answers).index(answer)
        left = [
            one
            for one in self._space(small)
            if one.polarity ^ (not one.holds(parts, _last(text))) == said
        ]
        self._spaces[small] = left or _rules(small)

    def _space(self, small: frozenset[str]) -> list[Rule]:
        return self._spaces.setdefault(small, _rules(small))


def _rules(small: frozenset[str]) -> list[Rule]:
    tests = [some for count in range(len(TESTS) + 1) for some in combinations(TESTS, count)]
    return [
        Rule(some, behind, way)
        for some in tests
        for behind in ("-", *sorted(small))
        for way in (0, 1)
    ]


def _read(description: str) -> tuple[tuple[tuple[str, str], ...], frozenset[str]]:
    words = ["", *description.rpartition(":")[2].split()]
    parts = tuple(
        (words[place - 1], word) for place, word in enumerate(words) if place and word.isupper()
    )
    return parts, frozenset(word for word in words if word and not word.isupper())


def _last(text: str) -> str:
    return text.split()[-1] if text.split() else ""
