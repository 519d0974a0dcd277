"""Deterministic finite automata: read from text, strings of one length drawn uniformly, and exact
edit distances to their language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError

S = TypeVar("S", bound=Hashable)
MOST_STATES = 1000
_ARROW = re.compile(r"(\S+)\s+(\S+)\s*->\s*(\S+)")


@dataclass(frozen=True)
class FiniteAutomaton:
    """A deterministic automaton; state 0 is the start.

    symbols: its letters. following: for each state the next state by letter, -1 where it rejects.
    accepting: whether a string may end in each state.
    """

    symbols: tuple[str, ...]
    following: tuple[tuple[int, ...], ...]
    accepting: tuple[bool, ...]

    @classmethod
    def explore(
        cls,
        symbols: Sequence[str],
        start: S,
        step: Callable[[S, str], S | None],
        accepts: Callable[[S], bool],
    ) -> FiniteAutomaton:
        """Of all states that can be reached from a start by a step function."""
        numbers, states, table = {start: 0}, [start], []
        for state in states:
            row = []
            for symbol in symbols:
                after = step(state, symbol)
                if after is not None and after not in numbers:
                    numbers[after] = len(states)
                    states.append(after)
                row.append(-1 if after is None else numbers[after])
            table.append(tuple(row))
        return cls(tuple(symbols), tuple(table), tuple(accepts(state) for state in states))

    @classmethod
    def read(cls, text: str) -> FiniteAutomaton:
        """Of a text: `STATE SYMBOL -> STATE` on lines or between semicolons, and `accept: STATE
        ...`; the first state is the start. Raises UsageError for a text that is none.
        """
        moves: dict[tuple[str, str], str] = {}
        accepting: list[str] | None = None
        for line in filter(None, (part.strip() for part in re.split(r"[;\n]", text))):
            if line.startswith("accept:"):
                accepting = [*(accepting or []), *line.removeprefix("accept:").split()]
                continue
            if not (found := _ARROW.fullmatch(line)):
                raise UsageError(
                    f'automaton: "{line}" is not a transition; write: even 1 -> odd, and'
                    " accept: odd"
                )
            state, symbol, after = found.groups()
            if moves.setdefault((state, symbol), after) != after:
                raise UsageError(
                    f"automaton: {state} has two ways to read {symbol}; write a deterministic one"
                )
        states = list(dict.fromkeys(name for (one, _), two in moves.items() for name in (one, two)))
        if not moves or not accepting:
            raise UsageError(
                "automaton: transitions and a line such as `accept: odd` are both needed"
            )
        if unknown := [name for name in accepting if name not in states]:
            raise UsageError(f'automaton: the accepting state "{unknown[0]}" has no transition')
        if len(states) > MOST_STATES:
            raise UsageError(f"automaton: {len(states):,} states are more than {MOST_STATES:,}")
        symbols = sorted({symbol for _, symbol in moves})
        return cls.explore(
            symbols,
            states[0],
            lambda one, symbol: moves.get((one, symbol)),
            set(accepting).__contains__,
        )

    def contains(self, string: Sequence[int]) -> bool:
        """Whether a string of letter numbers is accepted."""
        state = 0
        for letter in string:
            state = self.following[state][letter]
            if state < 0:
                return False
        return self.accepting[state]

    def count(self, length: int) -> int:
        """How many strings of a length are accepted."""
        return _counts(self, length)[0]

    def drawn(self, rng: np.random.Generator, length: int) -> list[int]:
        """An accepted string of a length; all are equally likely, exactly."""
        number, state, string = below(rng, self.count(length)), 0, list[int]()
        for left in reversed(range(length)):
            counts = _counts(self, left)
            for letter, after in enumerate(self.following[state]):
                own = counts[after] if after >= 0 else 0
                if number < own:
                    string.append(letter)
                    state = after
                    break
                number -= own
        return string

    def distances(self, strings: Sequence[Sequence[int]]) -> NDArray[np.int64]:
        """Of each string the fewest insertions, deletions and substitutions that lead into the
        language. Raises UsageError for an empty language.
        """
        longest = max(map(len, strings), default=0)
        padded = np.full((len(strings), longest), -1)
        for row, string in enumerate(strings):
            padded[row, : len(string)] = string
        lengths = np.array([len(string) for string in strings])
        costs = np.tile(self._inserted[0], (len(strings), 1))
        found = np.full(len(strings), np.inf)
        final = np.where(self.accepting, 0.0, np.inf)
        for place in range(longest + 1):
            ends = lengths == place
            found[ends] = (costs[ends] + final).min(axis=1, initial=np.inf)
            if place == longest:
                break
            read = self._read[padded[:, place]]  # (string, state, state)
            after = np.minimum((costs[:, :, None] + read).min(axis=1), costs + 1)
            costs = (after[:, :, None] + self._inserted).min(axis=1)
        if not np.isfinite(found).all():
            raise UsageError("automaton: it accepts no string")
        return found.astype(np.int64)

    @cached_property
    def _moves(self) -> NDArray[np.bool_]:
        """(letter, state, state)."""
        states = len(self.following)
        moves = np.zeros((len(self.symbols), states, states), np.bool_)
        for state, row in enumerate(self.following):
            for letter, after in enumerate(row):
                if after >= 0:
                    moves[letter, state, after] = True
        return moves

    @cached_property
    def _inserted(self) -> NDArray[np.float64]:
        """(state, state): letters that have to be inserted to come from one to the other."""
        costs = np.where(self._moves.any(axis=0), 1.0, np.inf)
        np.fill_diagonal(costs, 0.0)
        for through in range(len(costs)):
            costs = np.minimum(costs, costs[:, through, None] + costs[through])
        return costs

    @cached_property
    def _read(self) -> NDArray[np.float64]:
        """(letter, state, state): cost of reading a letter on the way, unchanged or replaced."""
        other = np.where(self._moves.any(axis=0), 1.0, np.inf)
        return np.where(self._moves, 0.0, other)


@lru_cache(maxsize=4096)
def _counts(automaton: FiniteAutomaton, length: int) -> tuple[int, ...]:
    """For each state, how many strings of a length lead to the end. Integers of any size."""
    for shorter in range(0, length, 200):  # fills the cache without deep recursion
        _counts(automaton, shorter)
    if not length:
        return tuple(map(int, automaton.accepting))
    before = _counts(automaton, length - 1)
    return tuple(sum(before[after] for after in row if after >= 0) for row in automaton.following)


def below(rng: np.random.Generator, limit: int) -> int:
    """A whole number from 0 to below a limit of any size, all equally likely."""
    size = (limit - 1).bit_length()
    while True:
        number = int.from_bytes(rng.bytes((size + 7) // 8), "little") >> (-size % 8)
        if number < limit:
            return number
