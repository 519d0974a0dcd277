"""Counter languages: blocks of equal letters whose lengths are numbers, drawn once and counted
again.
"""

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
_VARIABLE = re.compile(r"\[\s*([a-z])\s+(0?\.\d+|1)(?:\s+from\s+([01]))?\s*\]")


@dataclass(frozen=True)
class Counting:
    """A language by its text: blocks `letter^exponent`, then the variables with the chance that
    each stops growing.

        a^n b^m c^{n+m} [n 0.3] [m 0.3]

    A variable is 1, 2, 3 ..., geometric; 0, 1, 2 ... with `[n 0.3 from 0]`. An exponent is a
    variable that has not been read yet, alone, or a sum of variables that have been, of multiples
    (`2n`) and of whole numbers. Neighbouring blocks have different letters, all blocks where one
    may be empty. Raises UsageError for a text that is none.
    """

    text: str

    def __post_init__(self) -> None:
        if not self.blocks or _VARIABLE.sub("", _BLOCK.sub("", self.text)).strip():
            for letter, exponent in re.findall(r"(\S)\^(\S*-\S*)", self.text):
                raise UsageError(
                    f'grammar: "{letter}^{exponent}" takes something away; write: a^n, b^2n or'
                    " c^{n+1}"
                )
            raise UsageError(
                f'grammar: "{self.text}" is not a counter language; write: a^n b^n c^n [n 0.3]'
            )
        if not self.least.all() and len(self.symbols) <= len(self.blocks):
            raise UsageError(
                f'grammar: "{self.text}": where a block may be empty, each has a letter of its own'
            )

    @cached_property
    def stops(self) -> dict[str, float]:
        """By variable, in the order of the blocks: the chance that it stops growing."""
        for name, chance in re.findall(r"\[\s*([a-z])\s+([^\s\]]+)", self.text):
            if not _is_chance(chance):
                raise UsageError(
                    f"grammar: the chance of {name} must be above 0 and at most 1, got {chance}"
                )
        given = {name: float(chance) for name, chance, _ in _VARIABLE.findall(self.text)}
        used = dict.fromkeys(
            re.findall(r"[a-z]", " ".join(exponent for _, exponent in _BLOCK.findall(self.text)))
        )
        if set(used) != set(given) or not all(given.values()):
            raise UsageError(
                f"grammar: say of each variable ({', '.join(used)}) its chance to stop, such as [n"
                " 0.3]"
            )
        return {name: given[name] for name in used}

    @cached_property
    def least(self) -> NDArray[np.int64]:
        """(variable,): the smallest number that each may be."""
        given = {name: int(least or 1) for name, _, least in _VARIABLE.findall(self.text)}
        return np.array([given[name] for name in self.stops])

    @cached_property
    def blocks(self) -> list[tuple[int, tuple[int, ...], int, int]]:
        """(letter, times each variable, more letters, the variable that it is the first to show or
        -1).
        """
        found: list[tuple[int, tuple[int, ...], int, int]] = []
        seen = set[str]()
        names = list(self.stops)
        for letter, exponent in _BLOCK.findall(self.text):
            times, more = dict.fromkeys(names, 0), 0
            for part in exponent.split("+"):
                term = _TERM.fullmatch(part)
                if term is None or not part:
                    raise UsageError(
                        f'grammar: "{letter}^{exponent}" is not a block; write: a^n, b^2n or'
                        " c^{n+m+1}"
                    )
                if term[2]:
                    times[term[2]] += int(term[1] or 1)
                else:
                    more += int(term[1])
            fresh = [name for name in names if times[name] and name not in seen]
            if letter == END or (found and self.symbols[found[-1][0]] == letter):
                raise UsageError(
                    f'grammar: "{letter}" cannot follow itself or be #; take another letter'
                )
            if fresh and exponent != fresh[0]:
                raise UsageError(
                    f'grammar: {fresh[0]} is read first in "{letter}^{exponent}"; it must be'
                    " alone there"
                )
            seen |= set(fresh)
            number = names.index(fresh[0]) if fresh else -1
            found.append((self.symbols.index(letter), tuple(times.values()), more, number))
        return found

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """`#`, then the letters by code point."""
        return (END, *sorted({letter for letter, _ in _BLOCK.findall(self.text)}))

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """(variable,): the chance that each stops growing."""
        return np.array(list(self.stops.values()))

    @cached_property
    def letters(self) -> NDArray[np.int8]:
        """That of each block, and the `#` after them."""
        return np.array([*(block[0] for block in self.blocks), 0], np.int8)

    @cached_property
    def _exponents(self) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
        """(variable, block) times each variable, (block,) more letters; of each variable the block
        that shows it.
        """
        _, times, more, fresh = zip(*self.blocks, strict=True)
        return (
            np.array(times).T,
            np.array(more),
            [fresh.index(number) for number in range(len(self.stops))],
        )

    def lengths(self, values: NDArray[np.integer]) -> NDArray[np.int64]:
        """(string, block) from (string, variable)."""
        times, more, _ = self._exponents
        return np.asarray(values @ times + more, np.int64)

    def following(
        self, values: NDArray[np.integer]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """(string, part) from (string, variable): the chance of a symbol after all before it, and
        how many have that one after another: the first letter of each block, its other letters, and
        the `#` at the end.
        """
        lengths = self.lengths(values)
        chances = np.ones((len(lengths), 2 * len(self.blocks) + 1))
        often = np.ones(chances.shape, np.int64)
        ended = np.ones(len(lengths))  # the chance that all before has ended as it has
        for place, (*_, fresh) in enumerate(self.blocks):
            there = lengths[:, place] > 0
            stop = self.chances[fresh] if fresh >= 0 else 1.0
            go_on = 1 - stop if fresh >= 0 else 1.0
            chances[:, 2 * place] = ended * go_on if fresh >= 0 and not self.least[fresh] else ended
            chances[:, 2 * place + 1] = go_on
            often[:, 2 * place], often[:, 2 * place + 1] = (
                there,
                np.maximum(lengths[:, place] - 1, 0),
            )
            ended = np.where(there, stop, ended * stop)
        chances[:, -1] = ended
        return chances, often

    def certain(self, values: NDArray[np.integer]) -> NDArray[np.int64]:
        """(string,): after how many symbols, but the first `#`, the next is certain; from (string,
        variable).
        """
        chances, often = self.following(values)
        sure = (chances == 1) * often
        first = np.argmax(often > 0, axis=1)[:, None]
        return np.asarray(
            sure.sum(axis=1) - np.take_along_axis(chances == 1, first, axis=1)[:, 0], np.int64
        )

    def string(self, values: Sequence[int]) -> NDArray[np.int8]:
        """The string of these values, with both `#`."""
        return np.repeat(
            np.concatenate([[0], self.letters]).astype(np.int8),
            [1, *self.lengths(np.asarray(values)), 1],
        )

    def draws(self, rng: np.random.Generator, count: int) -> list[NDArray[np.int8]]:
        """Independent strings with both `#`; more of them begin with the same ones."""
        drawn = rng.geometric(self.chances, (count, len(self.stops))) - 1 + self.least
        return [self.string(values) for values in drawn]

    def likely(self, string: NDArray[np.integer]) -> NDArray[np.float64]:
        """The chance of each symbol of a string of the language, after all before it; 1 where it is
        certain.
        """
        values = self.values(string)
        assert values is not None
        (chances,), (often,) = self.following(np.array([values]))
        return np.repeat(chances, often)

    def certain_at(self, values: Sequence[int]) -> NDArray[np.bool_]:
        """(time,): whether the next symbol is certain, after each symbol of a string but its last
        `#`.
        """
        (chances,), (often,) = self.following(np.array([values]))
        return np.repeat(chances == 1, often)

    def values(self, string: NDArray[np.integer]) -> tuple[int, ...] | None:
        """The values of a string with both `#`; None if it is not of the language."""
        if len(string) < 2 or string[0] or string[-1]:
            return None
        if not self.least.all():  # blocks may be empty, and each has a letter of its own
            counted = np.array(
                [(string == self.letters[place]).sum() for place in self._exponents[2]]
            )
            whole = (counted >= self.least).all() and np.array_equal(
                self.string(counted.tolist()), string
            )
            return tuple(counted.tolist()) if whole else None
        ends = np.flatnonzero(
            string[1:] != string[:-1]
        )  # what is read after each is another symbol
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
        """(time, symbol): the chance of each symbol after `inputs[: time + 1]`, which begins with
        `#`; all alike once a string has left the language.
        """
        given, size = np.asarray(inputs), len(self.symbols)
        rows = np.full((len(given), size), 1 / size)
        place, known = 1, [0] * len(self.stops)
        rows[:1] = self._entering(0, known)
        for number, (letter, times, more, fresh) in enumerate(self.blocks):
            other = np.flatnonzero(given[place:] != letter)
            run = int(other[0]) if len(other) else len(given) - place
            if fresh >= 0:
                if run < self.least[fresh]:
                    break
                known[fresh] = run
                after = self.chances[fresh] * self._entering(number + 1, known)
                after[letter] += 1 - self.chances[fresh]
                rows[place : place + run] = after
            else:
                whole = int(np.dot(times, known)) + more
                rows[place : place + min(run, whole)] = np.eye(size)[letter]
                if 0 < whole <= run:
                    rows[place + whole - 1] = self._entering(number + 1, known)
                if run != whole:
                    break
            place += run
        return rows

    def _entering(self, number: int, known: Sequence[int]) -> NDArray[np.float64]:
        """(symbol,): the chance of each where a block would begin, but for those that turn out to
        be empty.
        """
        row, here = np.zeros(len(self.symbols)), 1.0
        for letter, times, more, fresh in self.blocks[number:]:
            if fresh >= 0 and not self.least[fresh]:
                row[letter] += here * (1 - self.chances[fresh])
                here *= self.chances[fresh]
            elif fresh >= 0 or np.dot(times, known) + more:
                row[letter] += here
                return row
        row[0] += here
        return row

    def in_order(self) -> Iterator[tuple[int, ...]]:
        """The values of all strings, the shortest first; among equally long ones by the values."""
        units = self.lengths(np.eye(len(self.stops), dtype=np.int64)).sum(axis=1)
        units -= sum(block[2] for block in self.blocks)

        def filling(total: int, left: list[int], least: list[int]) -> Iterator[tuple[int, ...]]:
            if len(left) == 1:
                if total >= left[0] * least[0] and total % left[0] == 0:
                    yield (total // left[0],)
                return
            for value in range(least[0], (total - int(np.dot(left[1:], least[1:]))) // left[0] + 1):
                yield from (
                    (value, *rest) for rest in filling(total - value * left[0], left[1:], least[1:])
                )

        sizes = units.tolist(), self.least.tolist()
        return itertools.chain.from_iterable(filling(total, *sizes) for total in itertools.count())

    @cached_property
    def entropy(self) -> float:
        """Bits of a string."""
        stop = self.chances
        go_on = 1 - stop
        return float(
            sum(
                (
                    -stop * np.log2(stop)
                    - np.where(go_on > 0, go_on * np.log2(go_on + (go_on == 0)), 0)
                )
                / stop
            )
        )

    @cached_property
    def mean_length(self) -> float:
        """Expected symbols of a string."""
        return float(
            sum(
                np.dot(block[1], 1 / self.chances - 1 + self.least) + block[2]
                for block in self.blocks
            )
        )


def _is_chance(text: str) -> bool:
    try:
        return 0 < float(text) <= 1
    except ValueError:
        return False
