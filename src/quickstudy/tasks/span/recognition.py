"""Recognition of a language as an item of the battery, by the length of strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.grammar.non_members import lengths
from quickstudy.tasks.grammar.recognition import Recognising
from quickstudy.tasks.span.item import GRID, RULES
from quickstudy.tasks.span.tracking import Grammar


@task("span/recognition", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class RecognitionItem(Recognising, Grammar):
    """Accept or reject strings of a language, by their length.

    Sees: a string and a question mark.
    Answers: yes or no; each is right for half of the strings.
    Chance: 1/2.
    Ceiling: 1.
    Source: languages of Butoi et al. 2024 (FLaRe), or the user's; see `grammar/recognition`, which
        has them all, and scores by edit distance too.
    Departures: strings that are not of the language have the same lengths. Lengths at which there
        are no two kinds of strings are left out of the axis.
    Marks: rote 6.0 was shown most short strings of `parity`.

    Parameters
    ----------
    language:
        The name of a language, an automaton or a grammar, as in `grammar/recognition`.
    negatives:
        `closed`: of the same length, by replacing and exchanging letters. `published`: as FLaRe
        makes them.
    longest:
        Letters of the longest test string.
    taught:
        Letters of the longest training string.
    """

    language: str = parameter("parity")
    negatives: str = parameter("closed", choices=("closed", "published"))
    longest: int = parameter(256, at_least=4)
    taught: int = parameter(32, at_least=1)

    @property
    def unit(self) -> str:  # type: ignore[override]
        """Letters of the strings."""
        return f"letters of strings judged ({self._name})"

    @property
    def can(self) -> str:  # type: ignore[override]
        """With a blank for the span."""
        return f"judges strings of {{}} letters ({self._name})"

    @property
    def _name(self) -> str:
        return self.language if len(self.language) < 24 else "own language"

    @property
    def grid(self) -> tuple[int, ...]:
        """The difficulties whose bins have strings of both kinds."""
        possible, found, before = lengths(self.language, self.longest), list[int](), 0
        for size in (one for one in GRID if one <= self.longest):
            if any(before < length <= size for length in possible):
                found.append(size)
            before = size
        return tuple(found)

    def bin(self, level: int) -> Sequence[int]:
        """The possible lengths of a level."""
        whole = super().bin(level)
        return [size for size in lengths(self.language, self.longest) if size in whole]

    def chance(self, size: int) -> float:
        """Yes or no."""
        return 1 / 2

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """A string of every length."""
        return self.examples(self.judged(rng, sizes, self.longest))
