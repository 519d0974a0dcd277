"""Items after two language tasks: question answering by number of facts, symbol counting by
count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.statements import (
    GLUE,
    NAMES,
    NO,
    VERBS,
    YES,
    skim_facts,
    write_statement,
)
from quickstudy.tasks.span.item import RULES, SymbolItem, numbered

QA_RULES = ("polarity-count", "not-before", "last-name")
LETTERS = 3
ASK = LETTERS


@task("span/qa", version=1, controls=(*RULES, *QA_RULES), oracle="span-oracle")
@dataclass(frozen=True)
class FactsItem(SymbolItem):
    """Answer a question about one of n facts.

    Sees: n sentences, `I VERB NAME .` or `I DO NOT VERB NAME .`, with one of 2 verbs and a
        different name each, in random order, from two on at least one of each kind; then `DO I VERB
        NAME ?` with one of the names.
    Answers: YES or NO; from two on equally likely, independent of the sentences.
    Chance: 1/2.
    Ceiling: 1.
    Source: after `language/qa@1` in its balanced form (Cisneros et al. 2022), by its sentences.
        There one sentence affirms and denies lists of names, and a rule that looks for NOT before
        the name (not-before) gets half of what can be gained at every n; here every name has its
        own sentence.
    Marks: last-name 4.0 reads one fact, the last, and not-before 2.5 finds the name without its
        fact.

    Parameters
    ----------
    longest:
        Facts of the longest list.
    """

    unit: ClassVar[str] = "facts asked about"
    can: ClassVar[str] = "answers questions about {} facts"
    family: ClassVar[str] = "language"
    longest: int = parameter(8, at_least=2, at_most=len(NAMES))

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Names, two verbs, and the other words."""
        return (*NAMES[: self.longest], *VERBS[:2], *GLUE)

    def chance(self, size: int) -> float:
        """YES or NO."""
        return 1 / 2

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """The answer first; then a name that has it."""
        # The number of affirmed names goes round with every further list of one size: `DO NOT` is
        # two words more, and lengths must not depend on the seed.
        ids = {word: id for id, word in enumerate(self.vocabulary)}
        tokens = []
        for size, number in zip(sizes, numbered(sizes), strict=True):
            affirmed = 1 + number % (size - 1) if size > 1 else number % 2
            yes = rng.random() < 0.5 if size > 1 else affirmed
            names = [NAMES[place] for place in rng.permutation(self.longest)[:size]]
            verb, asked = VERBS[rng.integers(2)], rng.integers(affirmed if yes else size - affirmed)
            row: list[str] = []
            for place in rng.permutation(size):
                own = [names[place]]
                parts = (own, []) if place < affirmed else ([], own)
                row += [*write_statement(verb, *parts, True, ""), "."]
            name = names[asked if yes else affirmed + asked]
            row += ["DO", "I", verb, name, "?", YES if yes else NO]
            tokens.append([ids[word] for word in row])
        return Examples.from_sequences(tokens, [[len(row) - 1] for row in tokens])

    def solve(self, tokens: Sequence[int]) -> int:
        """Whether the name before the question mark was affirmed."""
        words = [self.vocabulary[token] for token in tokens]
        if words[-1] != "?":
            return -1
        affirmed = {fact.name for fact in skim_facts(words[:-5]) if fact.affirmed}
        return self.vocabulary.index(YES if words[-2] in affirmed else NO)


@task("span/symbol-counting", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class CountingItem(SymbolItem):
    """Count how often a symbol was shown; which one is asked after it was shown.

    Sees: 2n symbols of `A B C` in random order, then `x` and one of the three.
    Answers: how often that symbol was shown, one token for each number: 0 .. n, equally likely.
    Chance: 1/(n + 1).
    Ceiling: 1.
    Source: after `language/symbol-counting` (Cisneros et al. 2022).
    Departures: its generator draws every symbol uniformly, so that counts gather at a third of the
        length and follow from each other; here the count is uniform, there is one question, and
        numbers are not written in digits.

    Parameters
    ----------
    longest:
        The largest count.
    """

    unit: ClassVar[str] = "of a symbol counted"
    can: ClassVar[str] = "counts up to {} of a symbol"
    family: ClassVar[str] = "language"
    longest: int = parameter(12, at_least=2)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Symbols, the question, numbers."""
        return (*"ABC", "x", *map(str, range(self.longest + 1)))

    def chance(self, size: int) -> float:
        """One of the numbers from 0 to the largest there can be."""
        return 1 / (size + 1)

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """A uniform symbol, a uniform count of it; the rest are the other two symbols."""
        pairs = []
        for size in sizes:
            letter, count = rng.integers(LETTERS), rng.integers(size + 1)
            others = (letter + rng.integers(1, LETTERS, size=2 * size - count)) % LETTERS
            shown = rng.permutation([*np.full(count, letter), *others])
            pairs.append(([*shown, ASK, letter], [ASK + 1 + count]))
        return Examples.from_pairs(pairs)

    def solve(self, tokens: Sequence[int]) -> int:
        """How often the last symbol came before the question."""
        asked = len(tokens) > 1 and tokens[-2] == ASK
        return ASK + 1 + tokens[:-2].count(tokens[-1]) if asked else -1
