"""Counter languages: blocks of equal letters whose lengths are numbers, drawn once and counted again."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.tasks.grammar.derivation import END

_BLOCK = re.compile(r"(\S)\^\{?([\w+]+)\}?")
_TERM = re.compile(r"([1-9]\d*)?([a-z]?)")
_VARIABLE = re.compile(r"\[\s*([a-z])\s+(0?\.\d+|1)\s*\]")


@dataclass(frozen=True)
class Counting:
    """A language by its text: blocks `letter^exponent`, then the variables with the chance that each stops growing.

        a^n b^m c^{n+m} [n 0.3] [m 0.3]

    A variable is 1, 2, 3 ..., geometric. An exponent is a variable that has not been read yet, alone, or a sum of
    variables that have been, of multiples (`2n`) and of whole numbers. Neighbouring blocks have different letters.
    Raises UsageError for a text that is none.
    """

    text: str

    def __post_init__(self) -> None:
        if not self.blocks or _VARIABLE.sub("", _BLOCK.sub("", self.text)).strip():
            raise UsageError(f'grammar: "{self.text}" is no counter language; write: a^n b^n c^n [n 0.3]')

    @cached_property
    def stops(self) -> dict[str, float]:
        """By variable, in the order of the blocks: the chance that it stops growing."""
        given = {name: float(chance) for name, chance in _VARIABLE.findall(self.text)}
        used = dict.fromkeys(re.findall(r"[a-z]", " ".join(exponent for _, exponent in _BLOCK.findall(self.text))))
        if set(used) != set(given) or not all(given.values()):
            raise UsageError(f"grammar: say of each variable ({', '.join(used)}) its chance to stop, such as [n 0.3]")
        return {name: given[name] for name in used}

    @cached_property
    def blocks(self) -> list[tuple[int, tuple[int, ...], int, int]]:
        """(letter, times each variable, more letters, the variable that it is the first to show or -1)."""
        found: list[tuple[int, tuple[int, ...], int, int]] = []
        seen = set[str]()
        names = list(self.stops)
        for letter, exponent in _BLOCK.findall(self.text):
            times, more = dict.fromkeys(names, 0), 0
            for part in exponent.split("+"):
                term = _TERM.fullmatch(part)
                if term is None or not part:
                    raise UsageError(f'grammar: "{letter}^{exponent}" is no block; write: a^n, b^2n or c^{{n+m+1}}')
                if term[2]:
                    times[term[2]] += int(term[1] or 1)
                else:
                    more += int(term[1])
            fresh = [name for name in names if times[name] and name not in seen]
            if letter == END or (found and self.symbols[found[-1][0]] == letter):
                raise UsageError(f'grammar: "{letter}" cannot follow itself or be #; take another letter')
            if fresh and exponent != fresh[0]:
                raise UsageError(
                    f'grammar: {fresh[0]} is read first in "{letter}^{exponent}"; it must stand there alone'
                )
            seen |= set(fresh)
            number = names.index(fresh[0]) if fresh else -1
            found.append((self.symbols.index(letter), tuple(times.values()), more, number))
        return found

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """`#`, then the letters by code point."""
        return (END, *sorted({letter for letter, _ in _BLOCK.findall(self.text)}))

    @property
    def chances(self) -> NDArray[np.float64]:
        """(variable,): the chance that each stops growing."""
        return np.array(list(self.stops.values()))

    @cached_property
    def letters(self) -> NDArray[np.int8]:
        """That of each block, and the `#` behind them."""
        return np.array([*(block[0] for block in self.blocks), 0], np.int8)

    @cached_property
    def following(self) -> NDArray[np.float64]:
        """(block, 2): the chance of what follows each letter of a block but its last, and of what follows that."""
        stop = [self.chances[fresh] for *_, fresh in self.blocks]
        fresh = np.array([block[3] >= 0 for block in self.blocks])[:, None]
        return np.where(fresh, np.stack([1 - np.array(stop), stop], axis=1), 1.0)

    @cached_property
    def _exponents(self) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
        """(variable, block) times each variable, (block,) more letters; of each variable the block that shows it."""
        _, times, more, fresh = zip(*self.blocks, strict=True)
        return np.array(times).T, np.array(more), [fresh.index(number) for number in range(len(self.stops))]

    def lengths(self, values: NDArray[np.integer]) -> NDArray[np.int64]:
        """(string, block) from (string, variable)."""
        times, more, _ = self._exponents
        return np.asarray(values @ times + more, np.int64)

    def certain(self, values: NDArray[np.integer]) -> NDArray[np.int64]:
        """(string,): after how many symbols, but the first `#`, the next is certain; from (string, variable)."""
        inside, last = (self.following == 1).T
        return np.asarray((self.lengths(values) - 1) @ inside + last.sum(), np.int64)

    def string(self, values: Sequence[int]) -> NDArray[np.int8]:
        """The string of these values, with both `#`."""
        return np.repeat(np.concatenate([[0], self.letters]).astype(np.int8), [1, *self.lengths(np.asarray(values)), 1])

    def draws(self, rng: np.random.Generator, count: int) -> list[NDArray[np.int8]]:
        """Independent strings with both `#`; more of them begin with the same ones."""
        return [self.string(values) for values in rng.geometric(self.chances, (count, len(self.stops)))]

    def likely(self, string: NDArray[np.integer]) -> NDArray[np.float64]:
        """The chance of each symbol of a string of the language, after all before it; 1 where it is certain."""
        values = self.values(string)
        assert values is not None
        return np.concatenate([[1.0], np.repeat(self.following.ravel(), self._followed(values))])

    def certain_at(self, values: Sequence[int]) -> NDArray[np.bool_]:
        """(time,): whether the next symbol is certain, behind each symbol of a string but its last `#`."""
        certain = np.concatenate([[True], (self.following == 1).ravel()])
        return np.repeat(certain, np.concatenate([[1], self._followed(values)]))

    def _followed(self, values: Sequence[int]) -> NDArray[np.int64]:
        """How often each of the chances of `following` is met in a string."""
        lengths = self.lengths(np.asarray(values))
        return np.stack([lengths - 1, np.ones_like(lengths)], axis=1).ravel()

    def values(self, string: NDArray[np.integer]) -> tuple[int, ...] | None:
        """The values of a string with both `#`; None if it is not of the language."""
        if len(string) < 2 or string[0] or string[-1]:
            return None
        ends = np.flatnonzero(string[1:] != string[:-1])  # what is read behind each is another symbol
        runs, letters = np.diff(ends), string[ends[:-1] + 1]
        if letters.tobytes() != self.letters[:-1].astype(letters.dtype).tobytes():
            return None
        found = runs[self._exponents[2]]
        return tuple(found.tolist()) if (self.lengths(found) == runs).all() else None

    def contains(self, string: NDArray[np.integer]) -> bool:
        """Whether a string with both `#` is of the language."""
        return self.values(string) is not None

    def size(self, string: NDArray[np.integer]) -> int:
        """How large a string of the language is: the sum of its variables."""
        return sum(self.values(string) or ())

    def conditionals(self, inputs: NDArray[np.integer]) -> NDArray[np.float64]:
        """(time, symbol): the chance of each symbol after `inputs[: time + 1]`, which begins with `#`; all alike once
        a string has left the language.
        """
        given, size = np.asarray(inputs), len(self.symbols)
        rows = np.full((len(given), size), 1 / size)
        follows = [*(block[0] for block in self.blocks), 0]
        rows[:1] = np.eye(size)[follows[0]]
        place, known = 1, [0] * len(self.stops)
        for number, (letter, times, more, fresh) in enumerate(self.blocks):
            other = np.flatnonzero(given[place:] != letter)
            run = int(other[0]) if len(other) else len(given) - place
            if fresh >= 0:
                known[fresh] = run
                rows[place : place + run] = 0
                rows[place : place + run, letter] = 1 - self.chances[fresh]
                rows[place : place + run, follows[number + 1]] = self.chances[fresh]
            else:
                whole = int(np.dot(times, known)) + more
                rows[place : place + min(run, whole)] = np.eye(size)[letter]
                if run >= whole:
                    rows[place + whole - 1] = np.eye(size)[follows[number + 1]]
                if run != whole:
                    break
            if not run:
                break
            place += run
        return rows

    def in_order(self) -> Iterator[tuple[int, ...]]:
        """The values of all strings, the shortest first; among equally long ones by the values."""
        units = self.lengths(np.eye(len(self.stops), dtype=np.int64)).sum(axis=1)
        units -= sum(block[2] for block in self.blocks)

        def filling(total: int, left: list[int]) -> Iterator[tuple[int, ...]]:
            if len(left) == 1:
                if total >= left[0] and total % left[0] == 0:
                    yield (total // left[0],)
                return
            for value in range(1, (total - sum(left[1:])) // left[0] + 1):
                yield from ((value, *rest) for rest in filling(total - value * left[0], left[1:]))

        return itertools.chain.from_iterable(filling(total, units.tolist()) for total in itertools.count(1))

    @cached_property
    def entropy(self) -> float:
        """Bits of a string."""
        stop = self.chances
        go_on = 1 - stop
        return float(
            sum((-stop * np.log2(stop) - np.where(go_on > 0, go_on * np.log2(go_on + (go_on == 0)), 0)) / stop)
        )

    @cached_property
    def mean_length(self) -> float:
        """Expected symbols of a string."""
        return float(sum(np.dot(block[1], 1 / self.chances) + block[2] for block in self.blocks))
