"""Random binary patterns: drawn, passed through again and again, and recognised in a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.tasks.language.checking import Answer, Malformed, Verdict
from quickstudy.tasks.language.draws import between, heads


class Patterns(NamedTuple):
    """periods: (count,) lengths; bits: (count, longest), row i holds its pattern in the first periods[i] places;
    delays: (count,) tokens between the earliest place at which the pattern can be asked about and the first question.
    """

    periods: NDArray[np.int64]
    bits: NDArray[np.int64]
    delays: NDArray[np.int64]


def draw_patterns(rng: np.random.Generator, count: int, shortest: int, longest: int) -> Patterns:
    """Period uniform in shortest .. longest, each bit a fair coin, delay uniform in 0 .. latest_delay(period)."""
    uniform = rng.random((count, 2 + longest))
    periods = between(uniform[:, 0], shortest, longest)
    delays = between(uniform[:, 1], 0, latest_delay(periods))
    return Patterns(periods, heads(uniform[:, 2:]).astype(np.int64), delays)


def latest_delay(period: Any) -> Any:
    """The longest delay for a period or for an array of periods: period - 2, and 0 for periods 1 and 2."""
    return np.maximum(period - 2, 0)


def bit_groups(period: int, increase: int, length: int) -> NDArray[np.int64]:
    """For each of `length` tokens, which bit it repeats, counted through all the passes over the pattern: bit number
    modulo period is its place in the pattern. The first pass gives each bit once, each later one `increase` times more.

    >>> bit_groups(2, 1, 8).tolist()
    [0, 1, 2, 2, 3, 3, 4, 4]
    """
    repeats: list[int] = []
    while sum(repeats) < length:
        repeats += [1 + len(repeats) // period * increase] * period
    return np.repeat(np.arange(len(repeats)), repeats)[:length]


def earliest_question(period: Any, increase: int) -> Any:
    """The tokens of the first two passes: nothing is asked before a pattern has been seen twice."""
    return (2 + increase) * period


def pattern_verdict(
    words: Sequence[str], periods: range, length: int, increase: int = 0, turns: bool = False
) -> Verdict:
    """The verdict on a sequence of passes; it has one mask for every period and delay that the words leave possible.

    A sequence that breaks its pattern only after a question may have been asked has a wrong answer; the pattern is
    then the one that lasts longest. One that breaks every pattern earlier is malformed. turns: only the first token
    of each group is asked.
    """
    if len(words) != length:
        raise Malformed(min(len(words), length), f"there must be {length} tokens, got {len(words)}")
    groups = {period: bit_groups(period, increase, length) for period in periods}
    breaks = {period: _first_break(words, (groups[period] % period).tolist()) for period in periods}
    asked = {period: place for period, place in breaks.items() if place >= earliest_question(period, increase)}
    if not asked:
        raise Malformed(max(breaks.values()), f"no period {periods[0]}..{periods[-1]} holds up to here")
    last = max(asked.values())
    possible = [period for period, place in asked.items() if place == last]
    masks = {
        tuple(questions(groups[period], earliest_question(period, increase) + delay, turns))
        for period in possible
        for delay in range(latest_delay(period) + 1)
    }
    right = [words[place] for place in (groups[possible[0]] % possible[0]).tolist()]
    indices = sorted(set().union(*masks))
    unasked = [index for index in range(length) if words[index] != right[index] and index not in indices]
    if unasked:
        raise Malformed(unasked[0], f'"{right[unasked[0]]}" must stand here, not "{words[unasked[0]]}"')
    answers = [Answer((index,), (right[index],), (words[index],)) for index in indices]
    return Verdict.of(answers, sorted(masks, key=lambda mask: (mask[0], len(mask))))


def questions(groups: NDArray[np.int64], start: int, turns: bool) -> list[int]:
    """The indices that are asked from `start` on: all of them, or only those at which a new group begins."""
    indices = np.arange(start, len(groups))
    chosen = indices[groups[indices] != groups[indices - 1]] if turns else indices
    return chosen.tolist()


def _first_break(words: Sequence[str], places: Sequence[int]) -> int:
    """The first index at which the words leave the pattern that they began with; their number if there is none."""
    return next((index for index, place in enumerate(places) if words[index] != words[place]), len(words))
