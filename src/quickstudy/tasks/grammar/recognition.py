"""Recognition: whether a whole string is of a language (accept or reject)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Tokens
from quickstudy.tasks.grammar.non_members import Judged, as_published, lengths, same_length
from quickstudy.tasks.grammar.recognised import (
    RecognisedLanguage,
    language,
    language_text,
    published,
)

NO, YES = "no", "yes"
SHALLOW = ("rote", "by-last", "by-length", "by-length-parity", "by-position", "by-bigram", "by-bag")


class Recognising:
    """What both forms of the task have in common: strings, their question, and the answer."""

    language: str
    negatives: str
    longest: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "language", language_text(self.language))
        if not lengths(self.language, self.longest):
            raise UsageError(
                f"recognition: up to length {self.longest} there are not both strings of the"
                " language and others; give a greater longest, or another language"
            )

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        named = str(given.get("language", "parity"))
        plain = named in published() or any(sign in named for sign in ("->", "^", "accept:"))
        return "" if plain else f"reads {named}"

    @property
    def known(self) -> RecognisedLanguage:
        """The language itself."""
        return language(self.language)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Letters, the question, and both answers."""
        letters = self.known.symbols
        asked = next(mark for mark in ("?", "<?>", "<end>") if mark not in letters)
        return (*letters, asked, NO, YES)

    @property
    def inputs(self) -> Tokens:
        """Letters, the question, and both answers."""
        return Tokens(len(self.vocabulary))

    outputs = inputs

    def judged(
        self, rng: np.random.Generator, chosen: NDArray[np.int64], longest: int
    ) -> list[Judged]:
        """A string of each length, of the language or, as often, not; which of them is random."""
        members = rng.permuted(np.arange(len(chosen)) % 2 == 0)
        return [
            self.one(rng, int(length), bool(member), longest)
            for length, member in zip(chosen, members, strict=True)
        ]

    def one(self, rng: np.random.Generator, length: int, member: bool, longest: int) -> Judged:
        """A string of a length that has both kinds."""
        if member:
            return Judged([int(one) for one in self.known.drawn(rng, length)], True, 0)
        if self.negatives == "published":
            return as_published(self.known, rng, length, longest)
        return same_length(self.known, rng, length)

    def examples(self, strings: Sequence[Judged]) -> Examples:
        """Strings, each with its question."""
        mark = len(self.known.symbols)
        return Examples.from_pairs(
            ([*one.string, mark], [mark + 1 + one.member]) for one in strings
        )

    def solve(self, tokens: Sequence[int]) -> int:
        """Whether the string before the question is of the language."""
        mark = len(self.known.symbols)
        if tokens[-1] != mark:
            return -1
        return mark + 1 + self.known.contains(list(tokens[:-1]))


@task(
    "grammar/recognition",
    version=1,
    controls=SHALLOW,
    oracle="span-oracle",
    protocol="recognition",
)
@dataclass(frozen=True)
class Recognition(Recognising):
    """Accept or reject strings: is it of the language?

    Sees: a string and a question mark.
    Answers: yes or no; each is right for half of the strings.
    Scored: every string.
    Chance: 1/2.
    Ceiling: 1.
    Source: Butoi et al. 2024 (FLaRe) for the eighteen languages. Published: lengths 0 to 40 in
        training and 0 to 500 in tests.
    Departures: strings that are not of the language have the lengths of those that are, and near
        misses are half of them. As published (`negatives=published`) they have other lengths, and
        half of what is proposed are uniform letters: in many languages the length or the set of
        letters then gives the answer away. The empty string is not asked about.

    Parameters
    ----------
    language:
        One of even-pairs, repeat-01, parity, cycle-navigation, modular-arithmetic, dyck-2-3, first,
        majority, stack-manipulation, marked-reversal, unmarked-reversal, marked-copy,
        missing-duplicate, odds-first, binary-addition, binary-multiplication, compute-sqrt,
        bucket-sort; or an automaton, `even 1 -> odd; ... accept: odd`; or a grammar as in
        `grammar/written`, whose probabilities do not matter; or the name of a file of either.
    negatives:
        `closed`: of the same length, by replacing and exchanging letters. `published`: see above.
    longest:
        Letters of the longest training string.
    """

    language: str = parameter("parity")
    negatives: str = parameter("closed", choices=("closed", "published"))
    longest: int = parameter(40, at_least=2, at_most=500)

    id: ClassVar[str]
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"negatives": "published"}
    }

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """A lesson: lengths uniform among those that are possible."""
        possible = np.array(lengths(self.language, self.longest))
        return self.examples(self.judged(rng, rng.choice(possible, size=count), self.longest))

    def of_each_length(self, rng: np.random.Generator, count: int, upto: int) -> list[Judged]:
        """A test: the possible lengths in turn, and at each as many strings of both kinds, as far
        as the count goes.
        """
        possible = lengths(self.language, upto)
        chosen = np.linspace(0, len(possible) - 1, (count + 1) // 2).round().astype(int)
        return [
            self.one(rng, possible[place], member, upto)
            for place in chosen
            for member in (True, False)
        ]
