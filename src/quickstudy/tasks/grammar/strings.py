"""What all languages have in common: how strings become examples, and what negative ones are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Bits, Space, Tokens
from quickstudy.tasks.grammar import released
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.derivation import WRONG_ARROWS, Derivation, wrapped

Grammar = Derivation | Counting
String = NDArray[np.int8]
_MOST_EDITS = 1000


@lru_cache
def read_grammar(text: str) -> Grammar:
    """A grammar from its text: rules have arrows, counter languages exponents. Kept, with all that
    it has found out.
    """
    if "->" not in text and (arrow := next((one for one in WRONG_ARROWS if one in text), "")):
        raise UsageError(
            f'grammar: "{arrow}" is not an arrow of rules; write: S -> a S b [0.7] | [0.3]'
        )
    return Derivation(text) if "->" in text else Counting(text)


@dataclass(frozen=True)
class StringTask:
    """A formal language.

    Parameters
    ----------
    setup:
        The setup of training and test (section 3.3 of the paper). `next`: the symbol that follows,
        after every symbol. `valid`: every symbol that may follow, as bits. `accept`: whether the
        whole string belongs to the language, where on average every other string does not.
    """

    setup: str = parameter("next", choices=("next", "valid", "accept"))

    id: ClassVar[str]
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @property
    def rules(self) -> str:
        """The text of the grammar."""
        raise NotImplementedError

    @property
    def released_rules(self) -> str:
        """The text by which the released strings were drawn."""
        return self.rules

    @property
    def grammar(self) -> Grammar:
        """The grammar itself."""
        return read_grammar(self.rules)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """`#` and the letters; a symbol's number is its place."""
        return self.grammar.symbols

    @property
    def answers(self) -> tuple[str, ...]:
        """Words for the answers, where they are not symbols of the language."""
        return ("rejected", "accepted") if self.setup == "accept" else ()

    @property
    def inputs(self) -> Space:
        """Symbols."""
        return Tokens(len(self.vocabulary))

    @property
    def outputs(self) -> Space:
        """Symbols; a bit for each of them; or two answers."""
        size = len(self.vocabulary)
        return Bits(size) if self.setup == "valid" else Tokens(size if self.setup == "next" else 2)

    @property
    def asks(self) -> str | None:
        """Whole strings, where the next symbol is asked for."""
        return "strings" if self.setup == "next" else None

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent strings; more of them begin with the same ones, but for `accept`."""
        return self.lesson(self.grammar.draws(rng, count), rng)

    def lesson(self, strings: Sequence[String], rng: np.random.Generator) -> Examples:
        """Strings as shown: for `accept`, one of two, on average, in a form that is not of
        the language.
        """
        if self.setup != "accept":
            return self.examples(strings)
        wrong = rng.random(len(strings)) < 0.5
        mixed = [
            self.corrupted(rng, string) if no else string
            for string, no in zip(strings, wrong, strict=True)
        ]
        return self.examples(mixed)

    def released(self, seed: int, count: int) -> Examples:
        """The training set of that size as released: with seed 100, and 100 to 1,000
        strings.
        """
        if self.setup == "accept":
            raise UsageError(f"{self.id}: no strings were released that are not of the language")
        return self.examples(self.released_strings(seed, count))

    def released_strings(self, seed: int, count: int) -> list[String]:
        """Those of that set."""
        return released.training_strings(read_grammar(self.released_rules), seed, count)

    def listed(self) -> Sequence[String]:
        """The released test list. Raises UsageError where there is none."""
        raise UsageError(f"{self.id}: there is no released test list; use test=exhaustive")

    def text(self, tokens: Sequence[int]) -> str:
        """A string as released; words are separated by spaces."""
        between = " " if any(len(symbol) > 1 for symbol in self.vocabulary) else ""
        return between.join(self.vocabulary[token] for token in tokens)

    def examples(self, strings: Sequence[String]) -> Examples:
        """Strings with their two `#`, as the setup asks for."""
        whole = self.setup == "accept"
        lengths = np.array([len(string) - (not whole) for string in strings], np.int64)
        shape = int(lengths.max(initial=1)), len(strings)
        inputs, asked = np.zeros(shape, np.int32), np.zeros(shape, np.bool_)
        targets = np.zeros(
            (*shape, len(self.vocabulary)) if self.setup == "valid" else shape, np.int32
        )
        for index, (string, length) in enumerate(zip(strings, lengths, strict=True)):
            inputs[:length, index] = string[:length]
            asked[length - 1 if whole else 0 : length, index] = True
            if self.setup == "next":
                targets[:length, index] = string[1:]
            elif self.setup == "valid":
                targets[:length, index] = self.grammar.conditionals(string[:-1]) > 0
            else:
                targets[length - 1, index] = self.grammar.contains(string)
        return Examples(
            inputs, targets.astype(np.float64) if self.setup == "valid" else targets, asked, lengths
        )

    def corrupted(self, rng: np.random.Generator, string: String) -> String:
        """A string that is not of the language, by one edit or more of one that is: a symbol put
        in, left out, or changed, or two exchanged.
        """
        word, letters = string[1:-1].tolist(), len(self.vocabulary)
        for _ in range(_MOST_EDITS):
            place, letter, kind = (
                int(rng.integers(len(word) + 1)),
                int(rng.integers(1, letters)),
                rng.integers(4),
            )
            if kind == 0 or not word:
                word.insert(place, letter)
            elif kind == 1:
                del word[place % len(word)]
            elif kind == 2:
                word[place % len(word)] = letter
            else:
                place %= len(word)
                word[place - 1], word[place] = word[place], word[place - 1]
            if not self.grammar.contains(wrapped(word)):
                return wrapped(word)
        raise UsageError(f"{self.id}: hardly any string is outside of the language; use setup=next")
