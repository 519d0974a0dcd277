"""Language task 3, symbol counting."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.checking import Answer, Malformed, Reader, Verdict, judge
from quickstudy.tasks.sampling import between, shuffled

QUERY, END = "x", "."
DIGITS = tuple(string.digits)


@task(
    "language/symbol-counting",
    version=1,
    controls=["majority", "uniform", "copy-last", "remaining-share"],
    oracle="symbol-counting-oracle",
)
@dataclass(frozen=True)
class SymbolCounting:
    """Count how often each symbol was shown, then say it when asked.

    Sees: n symbols, n uniform in shortest .. longest, each uniform out of the first letters of the
        alphabet (three: `A B C`); then queries, their number uniform in fewest_queries ..
        most_queries, about different symbols in random order, each written `x`, the symbol, its
        count; then `.`.
    Answers: the count, in decimal digits, each digit a token; 0 is possible, 10 is `1 0`. Earlier
        counts stay visible.
    Scored: share of the digits that are right; nothing else is asked.
    Chance: 0.26, the share of the most frequent answer, 1. Other controls: `uniform` among the
        digits seen, 0.12; `copy-last`, which repeats the queried symbol, 0; `remaining-share`,
        which knows how many symbols were shown but not which, 0.47 (published with 1200 different
        sequences: ESN 0.30, RNN 0.33, LSTM 0.36, cellular automaton 0.80).
    Ceiling: 1, by counting.
    Example: `B A A C x A 2 x B 1 .`, supervised at 6 and 9.
    Source: Cisneros, Sivic and Mikolov 2022, task 3.
    Departures: none in the numbers; published, written and corrected are the same. (Section 3.2 of
        the paper shows a single query without the final period; its appendix states the numbers
        used here.)

    Parameters
    ----------
    letters:
        Number of symbols.
    shortest:
        Fewest symbols in a prompt.
    longest:
        Most symbols in a prompt.
    fewest_queries:
        Fewest queries.
    most_queries:
        Most queries.
    """

    letters: int = parameter(3, at_least=1, at_most=26)
    """How many different symbols there are."""
    shortest: int = parameter(1, at_least=1)
    """Fewest symbols shown."""
    longest: int = parameter(10, at_least=1)
    """Most symbols shown."""
    fewest_queries: int = parameter(1, at_least=1)
    """Fewest counts asked for."""
    most_queries: int = parameter(3, at_least=1)
    """Most counts asked for."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {},
        "written": {},
        "corrected": {},
    }

    def __post_init__(self) -> None:
        if self.shortest > self.longest:
            raise ValueError(
                f"shortest must be at most longest ({self.longest}), got {self.shortest}"
            )
        if self.fewest_queries > self.most_queries:
            raise ValueError(
                f"fewest_queries must be at most most_queries ({self.most_queries}), got"
                f" {self.fewest_queries}"
            )
        if self.most_queries > self.letters:
            raise ValueError(
                f"most_queries must be at most letters ({self.letters}), got {self.most_queries}"
            )

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols that are counted."""
        return tuple(string.ascii_uppercase[: self.letters])

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return *self.alphabet, QUERY, END, *DIGITS

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        uniform = rng.random((count, 2 + self.longest + self.letters))
        lengths = between(uniform[:, 0], self.shortest, self.longest).tolist()
        queries = between(uniform[:, 1], self.fewest_queries, self.most_queries).tolist()
        symbols = between(uniform[:, 2 : 2 + self.longest], 0, self.letters - 1).tolist()
        orders = shuffled(uniform[:, 2 + self.longest :]).tolist()
        query, end, zero = self.letters, self.letters + 1, self.letters + 2
        sequences, masks = [], []
        for length, asked, shown, order in zip(lengths, queries, symbols, orders, strict=True):
            tokens = shown[:length]
            mask: list[int] = []
            for letter in order[:asked]:
                digits = [zero + int(digit) for digit in str(shown[:length].count(letter))]
                tokens += [query, letter]
                mask += range(len(tokens), len(tokens) + len(digits))
                tokens += digits
            sequences.append([*tokens, end])
            masks.append(mask)
        return Examples.from_sequences(sequences, masks)

    def check(self, tokens: Any) -> Verdict:
        """The verdict on a sequence. An answer is the whole run of digits after a queried
        symbol.
        """
        return judge(tokens, self.vocabulary, self._verdict)

    def _verdict(self, words: list[str]) -> Verdict:
        reader = Reader(words)
        while reader.sees(self.alphabet):
            reader.take(self.alphabet, "a symbol")
            if reader.index > self.longest:
                raise Malformed(
                    self.longest,
                    f"symbol {reader.index} found, but at most {self.longest} are allowed",
                )
        shown = words[: reader.index]
        if len(shown) < self.shortest:
            raise Malformed(
                reader.index, f"at least {self.shortest} symbols must come first, got {len(shown)}"
            )
        answers: list[Answer] = []
        asked: set[str] = set()
        while not answers or reader.sees((QUERY,)):
            reader.phrase(QUERY)
            letter = reader.take(
                [known for known in self.alphabet if known not in asked],
                "a symbol not yet asked for",
            )
            asked.add(letter)
            if len(asked) > self.most_queries:
                raise Malformed(
                    reader.index - 1,
                    f"query {len(asked)} found, but at most {self.most_queries} are allowed",
                )
            first = reader.index
            found = reader.take_all(DIGITS, "a digit")
            answers.append(
                Answer(tuple(range(first, reader.index)), tuple(str(shown.count(letter))), found)
            )
        if len(asked) < self.fewest_queries:
            raise Malformed(
                reader.index,
                f"at least {self.fewest_queries} queries must be made, got {len(asked)}",
            )
        reader.phrase(END)
        reader.end()
        return Verdict.of(answers)
