"""Recall of names: the memory part of `span/recombine`, without new combinations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from quickstudy.base.registries import task
from quickstudy.tasks.span.item import RULES
from quickstudy.tasks.span.recall import Recombine


@task("span/values", version=1, controls=(*RULES, "among-shown"), oracle="span-oracle")
@dataclass(frozen=True)
class Values(Recombine):
    """Name things that were just named: `span/recombine` with combinations that were shown.

    Sees: n things, each a shape of 8 and a colour of 8 with their two words; every value once,
        words new in every sequence. A bar; then twice one of these things, and which of its two
        words is wanted.
    Answers: that word.
    Chance: 1/8.
    Ceiling: 1. Knowing which words were shown, but not where, gives 1/n, a span of 1.7 (the
        baseline among-shown).
    Source: ours, after the recall of Denamganai et al. 2022. Vocabulary, lengths and axis are those
        of `span/recombine`, so that the difference of the two spans is what new combinations cost.
        Here the other value of the question names the same thing, which may help.

    Parameters
    ----------
    longest:
        Things of the longest list.
    """

    unit: ClassVar[str] = "values recalled"
    can: ClassVar[str] = "recalls the words of {} values"

    def combination(self, rng: np.random.Generator, size: int) -> tuple[int, int]:
        """One thing, with its own shape and colour."""
        thing = int(rng.integers(size))
        return thing, thing
