"""How a pupil of few states does on the strings of a counter language: from every state each symbol
is read once.

A rule knows the last symbols alone, and a counter goes down through the numbers that it went up
through. States are distinguished by the pupil's own `fingerprint` (equal only if the continuations
are equal); strings are then followed by table look-up, and a state that a symbol leads back to
itself takes no walking. Every string is marked as if it had been read alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import finite
from quickstudy.numba_gateway import njit
from quickstudy.protocols.marking import Marking, Outcomes, largest
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.lists import TestList

ROOM, ENOUGH = 1 << 15, 0.25
"""States before it is asked whether they come back, and the share of steps into new ones above
which they do not.
"""
MOST_STATES = 200_000

Numbers = NDArray[np.int32]


def by_states(pupil: Any, strings: Any, grammar: Any, marking: Marking) -> Outcomes | None:
    """Sizes, steps that count and wrong ones of a list, by a pupil that has fingerprints; None for
    other strings or marks, where blocks may be empty, and where states do not come back.
    """
    counted = isinstance(strings, TestList) and isinstance(grammar, Counting)
    if not counted or not grammar.least.all() or (marking.metric, marking.bits) != ("det", False):
        return None
    wrong = _States(pupil, len(grammar.symbols)).wrong(grammar, strings.values)
    if wrong is None:
        return None
    return {
        "size": strings.values.sum(axis=1),
        "steps": grammar.certain(strings.values),
        "wrong": wrong,
    }


@njit
def _walk(
    after: Numbers,
    answers: Any,
    begin: int,
    letters: Any,
    lengths: Any,
    counts: Any,
    wrong: Any,
    string: int,
) -> tuple[int, int, int, int]:
    """From a string on, as far as all that is read is known, filling wrong (string,). Gives the
    string, state and symbol where it is not, and how often that symbol is read; the number of
    strings at their end.
    """
    while string < len(lengths):
        state, missed = begin, 0
        for block in range(lengths.shape[1]):
            letter, left = letters[block], lengths[string, block]
            while left > 0:
                then, said = after[state, letter], answers[state, letter]
                if then < 0:
                    return string, state, int(letter), left
                if then == state and left > 1:  # the same again, up to the last
                    missed += (left - 1) * (counts[block, 0] and said != letter)
                    left = 1
                left -= 1
                last = int(left == 0)
                missed += counts[block, last] and said != letters[block + last]
                state = then
        wrong[string] = missed
        string += 1
    return string, 0, 0, 0


class _States:
    """Those met so far, numbered. after, answers (state, symbol): -1 where a symbol has not been
    tried.
    """

    def __init__(self, pupil: Any, symbols: int) -> None:
        self._pupil, self._numbers, self._rows = pupil, dict[bytes, int](), list[Any]()
        self._after = np.full((64, symbols), -1, np.int32)
        self._answers = np.zeros((64, symbols), np.int8)

    def wrong(self, grammar: Counting, values: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """(string,) wrong steps; None where it does not pay to go on."""
        lengths, wrong, string = grammar.lengths(values), np.zeros(len(values), np.int64), 0
        # The size of a memory does not distinguish its states: room for the longest is
        # room for all.
        begin, _ = self._tried(
            self._known(self._pupil.start(1, int(lengths.sum(axis=1).max(initial=0)) + 1)), 0
        )
        ((_, *chances),), _ = grammar.following(np.ones((1, values.shape[1]), np.int64))
        around = begin, grammar.letters, lengths, np.reshape(chances, (-1, 2)) == 1, wrong
        steps = np.concatenate([[0], np.cumsum(lengths.sum(axis=1))])
        while (found := _walk(self._after, self._answers, *around, string))[0] < len(values):
            string, state, symbol, left = found
            if len(self._rows) >= min(MOST_STATES, max(ROOM, ENOUGH * steps[string])):
                return None
            for _ in range(left):
                if self._after[state, symbol] >= 0:
                    break
                state, _ = self._tried(state, symbol)
        return wrong

    def _tried(self, number: int, symbol: int) -> tuple[int, int]:
        """The state after a symbol, and the likeliest next symbol there."""
        state, scores = self._pupil.step(self._rows[number], np.full((1, 1), symbol, np.int32))
        finite("the learner's scores", scores)
        then, said = self._known(state), int(largest(np.asarray(scores)[0, 0]))
        self._after[number, symbol], self._answers[number, symbol] = then, said
        return then, said

    def _known(self, state: Any) -> int:
        number = self._numbers.setdefault(self._pupil.fingerprint(state), len(self._rows))
        if number == len(self._rows):
            self._rows.append(state)
            if number == len(self._after):
                self._after = np.concatenate([self._after, np.full_like(self._after, -1)])
                self._answers = np.concatenate([self._answers, self._answers])
        return number
