"""Items of symbols that have to be remembered: copy, selective copy, hold, lookup, recombine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.span.item import RULES, SymbolItem

LETTERS = tuple("abcdefgh")
PAIRS = 16
VALUES = 8


@task("span/copy", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Copy(SymbolItem):
    """Repeat a string.

    Sees: n letters of 8, and a bar.
    Answers: the letters in order; each is shown after it was asked for.
    Scored: every letter.
    Chance: 1/8.
    Ceiling: 1.
    Source: ours; the copy task of sequence models.
    Marks: by-position 2.3 and by-bag 2.1 know the first letter, which is 1/n of the answers; rote
        2.1 was shown nearly all strings of two letters.

    Parameters
    ----------
    longest:
        Letters of the longest string.
    """

    vocabulary: ClassVar[tuple[str, ...]] = (*LETTERS, "|")
    unit: ClassVar[str] = "symbols copied"
    can: ClassVar[str] = "copies {} symbols"
    instruction: ClassVar[str] = "Type the letters before the bar, in the same order."
    family: ClassVar[str] = "language"
    longest: int = parameter(32, at_least=2)

    def chance(self, size: int) -> float:
        """One letter of eight."""
        return 1 / len(LETTERS)

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Uniform letters."""
        words = [rng.integers(len(LETTERS), size=size) for size in sizes]
        return Examples.from_pairs(([*word, 8], word) for word in words)

    def solve(self, tokens: Sequence[int]) -> int:
        """The letter as far after the bar as the string had it."""
        bar = _first(tokens, 8)
        return -1 if bar < 0 or len(tokens) - bar > bar else tokens[len(tokens) - bar - 1]


@task("span/select", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Select(SymbolItem):
    """Repeat the letters of a string that is mixed with noise (selective copying).

    Sees: n letters of 8 among as many noise tokens of 4, in random order, and a bar.
    Answers: the letters in order.
    Scored: every letter.
    Chance: 1/8.
    Ceiling: 1.
    Source: ours, after Gu and Dao 2023. Near to Poli et al. 2024 (MAD) is `length=240,longest=16`.

    Parameters
    ----------
    longest:
        Letters of the longest string.
    length:
        Letters and noise together, whatever the number of letters; 0: twice the letters.
    """

    vocabulary: ClassVar[tuple[str, ...]] = (*LETTERS, "|", *"wxyz")
    unit: ClassVar[str] = "symbols selected and copied"
    can: ClassVar[str] = "copies {} symbols out of noise"
    instruction: ClassVar[str] = "Leave out w, x, y, z. Type the other letters, in the same order."
    family: ClassVar[str] = "language"
    longest: int = parameter(24, at_least=2)
    length: int = parameter(0, at_least=0, at_most=2000, added=True)

    def __post_init__(self) -> None:
        if 0 < self.length <= self.longest:
            raise ValueError(f"length must be 0 or above longest={self.longest}, got {self.length}")

    def chance(self, size: int) -> float:
        """One letter of eight."""
        return 1 / len(LETTERS)

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Letters and noise at random positions."""
        pairs = []
        for size in sizes:
            whole = self.length or 2 * size
            letters, mixed = (
                rng.integers(len(LETTERS), size=size),
                rng.integers(9, 13, size=whole),
            )
            mixed[np.sort(rng.permutation(whole)[:size])] = letters
            pairs.append(([*mixed, 8], letters))
        return Examples.from_pairs(pairs)

    def solve(self, tokens: Sequence[int]) -> int:
        """The letter as far after the bar as the letters before it."""
        bar = _first(tokens, 8)
        letters = [token for token in tokens[: max(bar, 0)] if token < 8]
        position = len(tokens) - bar - 1
        return letters[position] if bar >= 0 and position < len(letters) else -1


@task("span/periodic", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Periodic(SymbolItem):
    """Continue a periodic string.

    Sees: a word of n letters of 8, twice.
    Answers: the word once more; each letter is shown after it was asked for. Difficulty: the period
        n.
    Scored: every letter.
    Chance: 1/8.
    Ceiling: 1.
    Source: ours, after `language/periodic` (Cisneros et al. 2022).
    Marks: by-position 2.3 and by-bag 2.1 know the first letter, which is 1/n of the answers; rote
        2.2 was shown nearly all periods of two letters.

    Parameters
    ----------
    longest:
        Letters of the longest period.
    """

    vocabulary: ClassVar[tuple[str, ...]] = LETTERS
    unit: ClassVar[str] = "letters of a period"
    can: ClassVar[str] = "continues periods of {} letters"
    instruction: ClassVar[str] = "The string repeats. Type how it goes on, for one more period."
    family: ClassVar[str] = "language"
    longest: int = parameter(24, at_least=2)

    def chance(self, size: int) -> float:
        """One letter of eight."""
        return 1 / len(LETTERS)

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Uniform letters."""
        words = [rng.integers(len(LETTERS), size=size) for size in sizes]
        return Examples.from_pairs((np.tile(word, 2), word) for word in words)

    def solve(self, tokens: Sequence[int]) -> int:
        """The letter one period back, of the shortest period that was seen twice."""
        for period in range(1, len(tokens) // 2 + 1):
            if list(tokens[period:]) == list(tokens[:-period]):
                return tokens[-period]
        return -1


@task("span/hold", version=1, controls=RULES, oracle="span-oracle")
@dataclass(frozen=True)
class Hold(SymbolItem):
    """Keep the first letter while others come.

    Sees: a letter of 8, n more of the same 8, and a question mark.
    Answers: the first letter.
    Chance: 1/8.
    Ceiling: 1.
    Source: ours, after Hochreiter and Schmidhuber 1997. The distractors are letters too: with a
        noise alphabet of its own a bag of words solves it at any length.
    Marks: by-position 29 goes by the first letter and the length: it holds the letter as the item
        demands, and knows the lengths that were taught.

    Parameters
    ----------
    longest:
        Letters between the first one and the question.
    taught:
        The same, in lessons.
    """

    vocabulary: ClassVar[tuple[str, ...]] = (*LETTERS, "?")
    unit: ClassVar[str] = "steps held"
    can: ClassVar[str] = "holds a symbol for {} steps"
    instruction: ClassVar[str] = "Type the first letter."
    family: ClassVar[str] = "dynamics"
    longest: int = parameter(512, at_least=2)
    taught: int = parameter(32, at_least=1)

    def chance(self, size: int) -> float:
        """One letter of eight."""
        return 1 / len(LETTERS)

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Uniform letters."""
        words = [rng.integers(len(LETTERS), size=1 + size) for size in sizes]
        return Examples.from_pairs(([*word, 8], word[:1]) for word in words)

    def solve(self, tokens: Sequence[int]) -> int:
        """The first letter, at the question mark."""
        return tokens[0] if tokens[-1] == 8 else -1


@task("span/lookup", version=1, controls=(*RULES, "among-shown"), oracle="span-oracle")
@dataclass(frozen=True)
class Lookup(SymbolItem):
    """Look up values by their keys (multi-query associative recall).

    Sees: n pairs of a key of 16 and a value of 16, no key and no value twice; a bar; then keys, one
        for every two pairs, four at most.
    Answers: the value of each key, which is shown afterwards.
    Scored: every value.
    Chance: 1/16.
    Ceiling: 1.
    Source: ours, after Arora et al. 2023.
    Marks: among-shown 2.0 knows which values were shown, but not with which key, and is right in
        1/n. Many learners stay there: a span of 2 is a memory of values without a lookup.

    Parameters
    ----------
    longest:
        Pairs of the longest list.
    """

    vocabulary: ClassVar[tuple[str, ...]] = (
        *(f"k{i}" for i in range(PAIRS)),
        *(f"v{i}" for i in range(PAIRS)),
        "|",
    )
    unit: ClassVar[str] = "pairs looked up"
    can: ClassVar[str] = "looks up {} pairs"
    instruction: ClassVar[str] = (
        "Keys (k) have values (v). Type the value of each key after the bar."
    )
    family: ClassVar[str] = "language"
    longest: int = parameter(16, at_least=2, at_most=PAIRS)

    @staticmethod
    def queries(size: int) -> int:
        """Keys that are asked for."""
        return max(1, min(4, size // 2))

    def chance(self, size: int) -> float:
        """One of all values."""
        return 1 / PAIRS

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Pairs in random order, and queries in random order."""
        tokens, asked = [], []
        for size in sizes:
            pairs = np.stack([rng.permutation(PAIRS), PAIRS + rng.permutation(PAIRS)], axis=1)[
                :size
            ]
            chosen = pairs[rng.permutation(size)[: self.queries(size)]]
            tokens.append([*pairs.ravel(), 2 * PAIRS, *chosen.ravel()])
            asked.append(2 * size + 2 + 2 * np.arange(len(chosen)))
        return Examples.from_sequences(tokens, asked)

    def solve(self, tokens: Sequence[int]) -> int:
        """The value that followed the same key before the bar."""
        bar = _first(tokens, 2 * PAIRS)
        if bar < 0 or (len(tokens) - bar) % 2 or tokens[-1] >= PAIRS:
            return -1
        return dict(zip(tokens[:bar:2], tokens[1:bar:2], strict=True)).get(tokens[-1], -1)

    def shown_answers(self, tokens: Sequence[int]) -> list[int]:
        """The values before the bar."""
        return [token for token in tokens[: _first(tokens, 2 * PAIRS)] if token >= PAIRS]


@task("span/recombine", version=1, controls=(*RULES, "among-shown"), oracle="span-oracle")
@dataclass(frozen=True)
class Recombine(SymbolItem):
    """Name new combinations of values that were just named: the listener's problem in symbols.

    Sees: n things, each a shape of 8 and a colour of 8 with their two words; every value once,
        words new in every sequence. A bar; then twice a combination that was not shown, and which
        of its two words is wanted.
    Answers: that word.
    Chance: 1/8.
    Ceiling: 1. Knowing which words were shown, but not where, gives 1/n, a span of 1.7 (the
        baseline among-shown).
    Source: ours, after Denamganai et al. 2022.

    Parameters
    ----------
    longest:
        Things of the longest list.
    """

    vocabulary: ClassVar[tuple[str, ...]] = (
        *(f"shape{i}" for i in range(VALUES)),
        *(f"colour{i}" for i in range(VALUES)),
        *(f"u{i}" for i in range(VALUES)),
        *(f"w{i}" for i in range(VALUES)),
        "|",
        "?u",
        "?w",
    )
    least: ClassVar[int] = 1
    unit: ClassVar[str] = "values recombined"
    can: ClassVar[str] = "recombines {} values"
    instruction: ClassVar[str] = (
        "Shapes have words u, colours words w. Type the word that ?u or ?w wants."
    )
    family: ClassVar[str] = "games"
    longest: int = parameter(8, at_least=2, at_most=VALUES)

    def chance(self, size: int) -> float:
        """One word of the kind that is asked for."""
        return 1 / VALUES

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Things in random order; one question about a shape's word and one about a colour's."""
        tokens, asked = [], []
        for size in sizes:
            kinds = [VALUES * kind + rng.permutation(VALUES)[:size] for kind in range(4)]
            things = np.stack(kinds, axis=1)  # shape, colour and their words, thing by thing
            row, positions = [*things.ravel(), 4 * VALUES], []
            for wanted in rng.permutation(
                2
            ):  # one of each kind: neither answer helps with the other
                shape, colour = self.combination(rng, size)
                answer = things[(shape, colour)[wanted], 2 + wanted]
                row += [things[shape, 0], things[colour, 1], 4 * VALUES + 1 + wanted, answer]
                positions.append(len(row) - 1)
            tokens.append(row)
            asked.append(positions)
        return Examples.from_sequences(tokens, asked)

    def combination(self, rng: np.random.Generator, size: int) -> tuple[int, int]:
        """The thing whose shape a question has, and the other thing whose colour it has."""
        shape = int(rng.integers(size))
        return shape, int((shape + rng.integers(1, size)) % size)

    def solve(self, tokens: Sequence[int]) -> int:
        """The word that was shown with the shape, or with the colour, of the question."""
        bar, wanted = _first(tokens, 4 * VALUES), tokens[-1] - 4 * VALUES - 1
        if bar < 0 or wanted not in (0, 1):
            return -1
        words = dict(zip(tokens[wanted:bar:4], tokens[2 + wanted : bar : 4], strict=True))
        return words.get(tokens[-3 + wanted], -1)

    def shown_answers(self, tokens: Sequence[int]) -> list[int]:
        """The words before the bar that are of the kind asked for."""
        first = (tokens[-1] - 4 * VALUES - 1 + 2) * VALUES
        bar = _first(tokens, 4 * VALUES)
        return [token for token in tokens[:bar] if first <= token < first + VALUES]


def _first(tokens: Sequence[int], token: int) -> int:
    """Where a token comes first; -1 where it does not."""
    return tokens.index(token) if token in tokens else -1
