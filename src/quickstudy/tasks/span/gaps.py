"""Recall of pairs whose questions come after gaps: multi-query associative recall and its
variants.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.span.item import RULES, SymbolItem, numbered

VARIANTS = ("plain", "forgetting", "compositional", "noisy")


@task("span/recall-gaps", version=1, controls=(*RULES, "among-shown"), oracle="span-oracle")
@dataclass(frozen=True)
class RecallGaps(SymbolItem):
    """Look up values by their keys, at random distances (multi-query recall with gaps).

    Sees: n pairs of a key and a value; then every key once more, at a distance that follows a power
        law, among keys and values that are in no pair.
    Answers: the value of each key, which is shown afterwards.
    Scored: every value.
    Chance: one of all values.
    Ceiling: 1.
    Source: Arora et al. 2023 (Zoology) for pairs and gaps; the variants are those of its program,
        and `noisy` is after Poli et al. 2024 (MAD).
    Departures: what fills the gaps is in no pair, since a key without its value would be a question
        with a wrong answer. The distances are the same in every seed, so that all have one shape.
        Published settings are `symbols=4096,longest=64,spread=4`, with 100,000 sequences.
    Marks: among-shown 1.4 knows which values were shown, but not with which key.

    Parameters
    ----------
    variant:
        `plain`; `forgetting`: half of the keys are given a second value, which counts;
        `compositional`: a key is two symbols of which neither tells the value, on a square grid;
        `noisy`: symbols of a separate alphabet between the pairs.
    longest:
        Pairs of the longest list.
    symbols:
        Keys, and as many values.
    power:
        Exponent of the gaps: distance d has probability proportional to d^(power - 1); 1 for
        uniform distances.
    spread:
        The questions are spread over so many times the room that they need.
    """

    unit: ClassVar[str] = "pairs looked up over gaps"
    can: ClassVar[str] = "looks up {} pairs over gaps"
    family: ClassVar[str] = "language"
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    variant: str = parameter("plain", choices=VARIANTS)
    longest: int = parameter(16, at_least=2)
    symbols: int = parameter(32, at_least=4)
    power: float = parameter(0.01, above=0, at_most=1)
    spread: int = parameter(2, at_least=1, at_most=64)

    def __post_init__(self) -> None:
        if self.longest > self.symbols // 2:
            raise ValueError(
                f"longest must be at most half of the symbols ({self.symbols // 2}): the others"
                f" fill the gaps; got {self.longest}"
            )

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Keys, values, second parts of keys or noise."""
        more = {"compositional": "m", "noisy": "x"}.get(self.variant)
        kinds = ("k", "v", *([more] if more else []))
        return tuple(f"{kind}{number}" for kind in kinds for number in range(self.symbols))

    def chance(self, size: int) -> float:
        """One of all values."""
        return 1 / self.symbols

    def made(self, rng: np.random.Generator, sizes: NDArray[np.int64]) -> Examples:
        """Pairs in random order; questions at distances that depend on size and number alone."""
        tokens, asked = [], []
        for size, number in zip(sizes.tolist(), numbered(sizes).tolist(), strict=True):
            places = self._places(size, number)
            row, positions = self._sequence(rng, size, places)
            tokens.append(row)
            asked.append(positions)
        return Examples.from_sequences(tokens, asked)

    def _places(self, size: int, number: int) -> NDArray[np.int64]:
        """Slots of the questions, without replacement by the power law."""
        room = size * self.spread
        chances = np.arange(1, room + 1) ** (self.power - 1.0)
        drawn = np.random.default_rng((size, number))
        return drawn.choice(room, size=size, replace=False, p=chances / chances.sum())

    def _sequence(
        self, rng: np.random.Generator, size: int, places: NDArray[np.int64]
    ) -> tuple[list[int], list[int]]:
        count = self.symbols
        values = (count + rng.permutation(count)).tolist()
        keys = self._keys(rng, size)
        row = list[int]()
        final = dict(zip(range(size), values, strict=False))
        for pair in range(size):
            row += [*keys[pair], values[pair]]
            row += [2 * count + int(rng.integers(count))] if self.variant == "noisy" else []
        if self.variant == "forgetting":
            for order, pair in enumerate(rng.permutation(size)[: (size + 1) // 2].tolist()):
                final[pair] = values[size + order]
                row += [*keys[pair], final[pair]]
        wide, spare = len(keys[0]), self._spare(rng, keys)
        slots = {int(place): pair for pair, place in enumerate(places)}
        positions = []
        for place in range(size * self.spread):
            if (asked := slots.get(place)) is None:
                row += [next(spare) for _ in range(wide)] + [values[-1 - place % (count // 4)]]
                continue
            row += [*keys[asked], final[asked]]
            positions.append(len(row) - 1)
        return row, positions

    def _keys(self, rng: np.random.Generator, size: int) -> list[tuple[int, ...]]:
        """One symbol each, or cells of a square."""
        first = rng.permutation(self.symbols)
        if self.variant != "compositional":
            return [(int(one),) for one in first[:size]]
        side = math.isqrt(size - 1) + 1
        second = 2 * self.symbols + rng.permutation(self.symbols)
        cells = rng.permutation(size)
        return [(int(first[cell // side]), int(second[cell % side])) for cell in cells.tolist()]

    def _spare(self, rng: np.random.Generator, keys: list[tuple[int, ...]]) -> Iterator[int]:
        """Parts of keys that are in no pair, without end."""
        used = {one for key in keys for one in key}
        kinds = [[one for one in range(self.symbols) if one not in used]]
        if self.variant == "compositional":
            seconds = range(2 * self.symbols, 3 * self.symbols)
            kinds.append([one for one in seconds if one not in used])
        orders = [rng.permutation(kind).tolist() for kind in kinds]
        for place in itertools.count():
            order = orders[place % len(orders)]
            yield order[place // len(orders) % len(order)]

    def solve(self, tokens: Sequence[int]) -> int:
        """The value that last followed the same key."""
        wide = 2 if self.variant == "compositional" else 1
        key = list(tokens[-wide:])
        for place in range(len(tokens) - wide - 1, wide - 1, -1):
            value = tokens[place]
            is_value = self.symbols <= value < 2 * self.symbols
            if is_value and list(tokens[place - wide : place]) == key:
                return value
        return -1

    def shown_answers(self, tokens: Sequence[int]) -> list[int]:
        """The values so far."""
        return [token for token in tokens if self.symbols <= token < 2 * self.symbols]
