"""Features of a sequence before a question: codes, whole numbers that are symbols or small
numbers.

A code is found by a fixed number of look-ups in what was kept of the sequence when it was read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.learners.sieve.pattern_reading import MATCHED, ORDER
from quickstudy.numba_gateway import njit

LAGS, HOPS = 8, 5
"""Symbols before a question that are looked up; those that are looked up from each other's
places.
"""
LEVELS, BACK = 24, 3
"""Numbers are distinct up to this; symbols before a position that are searched for a possible
answer.
"""
SEGMENTS, FEW = 4, 6
"""Pairs after whose last position symbols are counted; positions of a symbol that are searched
for one with a mark.
"""


class Layout(NamedTuple):
    """How many codes there are for a vocabulary: symbols, which may be copied, come first. depth:
    (code,) how far back stood what was looked up; plain: (code,) whether nothing was looked up.
    """

    symbols: int
    numbers: int
    depth: NDArray[np.float64]
    plain: NDArray[np.bool_]


def layout(size: int) -> Layout:
    """The codes of a vocabulary of some size, in the order in which `code` writes them."""
    lag, hop, pair, every = np.arange(LAGS), np.arange(HOPS), np.arange(LAGS - 1), np.zeros(size)
    twice = np.add.outer(hop, hop).ravel()
    after = np.add.outer(pair, lag).ravel() / 2
    symbols = [
        lag,
        np.full(3, 2.0),
        np.repeat(lag, 4),
        np.repeat(lag, 2),
        np.repeat(twice, 2),
        np.repeat(twice, 3),
        np.repeat(after, 3),
        np.repeat(2 * pair, 2),
        np.repeat(every + 4, 8),
        np.full(HOPS * (HOPS - 1), 2.0),
        np.full(4, 2.0),
        np.full(ORDER, 3.0),
        np.full(1, -3.0),
    ]
    numbers = [
        lag,
        np.full(2 * MATCHED + 1, 1.0),
        lag,
        pair,
        np.repeat(every + 3, SEGMENTS + 2),
        np.full(HOPS * (HOPS - 1) // 2, 3.0),
        np.full(2, 3.0),
    ]
    count = sum(len(part) for part in symbols)
    depth = np.concatenate([*symbols, *numbers])
    plain = np.arange(len(depth)) >= count
    plain[:LAGS] = True
    return Layout(count, len(depth) - count, depth, plain)


@njit
def _at(sequence: Any, place: int, now: int, size: int) -> int:
    return sequence[place] if 0 <= place <= now else size


@njit
def code(sequence: Any, known: Any, now: int, size: int, fitting: Any, out: Any) -> None:
    """Write the codes after `now`. fitting: (lag, symbol, answer) whether the answer has come with
    the symbol there; size means no symbol.
    """
    before, behind, counts, pairs, stretches, matches, enclosed, guesses = known
    recent = np.full(LAGS, size, np.int32)
    places = np.full(LAGS, -1, np.int32)
    firsts = np.full(LAGS, -1, np.int32)
    for lag in range(min(LAGS, now + 1)):
        recent[lag] = sequence[now - lag]
        places[lag] = before[now - lag, recent[lag]]
        firsts[lag] = behind[0, recent[lag]]
    end = now - LAGS + 1
    k = 0
    for lag in range(LAGS):
        out[k] = recent[lag]
        k += 1
    for place in range(3):
        out[k] = _at(sequence, place, now, size)
        k += 1
    for lag in range(LAGS):
        for offset in (-2, -1, 1, 2):
            out[k] = _at(sequence, places[lag] + offset, now, size) if places[lag] >= 0 else size
            k += 1
    for lag in range(LAGS):
        there = places[lag] >= 0
        for offset in (-1, 1):
            out[k] = _at(sequence, firsts[lag] + offset, now, size) if there else size
            k += 1
    for lag in range(HOPS):
        for other in range(HOPS):
            place = (
                before[places[lag], recent[other]]
                if places[lag] >= 0 and recent[other] < size
                else -1
            )
            for offset in (-1, 1):
                out[k] = _at(sequence, place + offset, now, size) if place >= 0 else size
                k += 1
    for lag in range(HOPS):
        for other in range(HOPS):
            # The first place of one symbol after the first of another; and the last of the other
            # before that.
            place = -1
            if places[other] >= 0 and recent[lag] < size:
                place = behind[firsts[other] + 1, recent[lag]]
            if place >= now - lag:
                place = -1
            for offset in (-1, 1):
                out[k] = _at(sequence, place + offset, now, size) if place >= 0 else size
                k += 1
            opening = before[place, recent[other]] if place >= 0 else -1
            out[k] = _at(sequence, opening - 1, now, size) if opening >= 0 else size
            k += 1
    for pair in range(LAGS - 1):
        opening = pairs[now - pair] if now - pair >= 0 else -1
        for lag in range(LAGS):
            place = behind[opening + 1, recent[lag]] if opening >= 0 and recent[lag] < size else now
            if place > end:
                place = -1
            for offset in (-2, -1):
                out[k] = _at(sequence, place + offset, now, size) if place >= 0 else size
                k += 1
            out[k] = _fitting(sequence, place, recent, fitting, size) if place >= 0 else size
            k += 1
    for pair in range(LAGS - 1):
        opening = pairs[now - pair] if now - pair >= 0 else -1
        for offset in (-2, 1):
            out[k] = _at(sequence, opening + offset, now, size) if opening >= 0 else size
            k += 1
    for symbol in range(size):
        place = before[now + 1, symbol]
        since = now - place
        out[k] = _at(sequence, place + 1, now, size) if place >= 0 else size
        out[k + 1] = _at(sequence, place - 1, now, size) if place >= 0 else size
        out[k + 2] = _at(sequence, since, now, size) if place >= 0 else size
        out[k + 3] = _at(sequence, place - 1 - since, now, size) if place >= 0 else size
        # The symbols after and before the symbol that followed it; what it led to, and what that
        # led to.
        named = out[k]
        earlier = before[place, named] if place >= 0 and named < size else -1
        out[k + 4] = _at(sequence, earlier + 1, now, size) if earlier >= 0 else size
        out[k + 5] = _at(sequence, earlier - 1, now, size) if earlier >= 0 else size
        out[k + 6] = _linked(sequence, before, recent[0], symbol, now, size)
        out[k + 7] = _linked(sequence, before, out[k + 6], symbol, now, size)
        k += 8
    for lag in range(HOPS):
        for other in range(lag + 1, HOPS):
            sooner = firsts[lag] < firsts[other]
            out[k] = recent[lag] if sooner else recent[other]
            out[k + 1] = recent[other] if sooner else recent[lag]
            k += 2
    _suited(before, behind, counts, recent, fitting, now, size, out, k)
    latest = before[now + 1, out[k]] if out[k] < size else -1
    k += 4
    for order in range(ORDER):
        place = stretches[now, order]
        out[k] = sequence[place + 1] if place >= 0 else size
        k += 1
    out[k] = guesses[now]
    k += 1
    top = LEVELS - 1
    for lag in range(LAGS):
        out[k] = min(counts[now + 1, recent[lag]], top) if recent[lag] < size else 0
        k += 1
    for order in range(MATCHED):
        out[k] = min(matches[now, order], top)
        k += 1
    for order in range(MATCHED):
        out[k] = min(enclosed[now, order], top)
        k += 1
    since = now - latest - 1
    out[k] = min(enclosed[now, since], top - 1) if latest >= 0 and 0 <= since < MATCHED else top
    k += 1
    for lag in range(LAGS):
        out[k] = (
            min(_stretch(behind, places[lag], recent, now, size) - places[lag], top)
            if places[lag] >= 0
            else 0
        )
        k += 1
    for pair in range(LAGS - 1):
        opening = pairs[now - pair] if now - pair >= 0 else -1
        stop = _stretch(behind, opening, recent, now, size) if opening >= 0 else -1
        out[k] = min(stop - opening, top) if opening >= 0 else 0
        k += 1
    for pair in range(SEGMENTS):
        opening = pairs[now - pair] if now - pair >= 0 else -1
        stop = _stretch(behind, opening, recent, now, size) if opening >= 0 else -1
        for symbol in range(size):
            out[k] = (
                min(counts[stop, symbol] - counts[opening + 1, symbol], top)
                if opening >= 0
                else top
            )
            k += 1
    for symbol in range(size):
        out[k] = min(counts[now + 1, symbol], top)
        out[k + 1] = counts[now + 1, symbol] % 2
        k += 2
    for lag in range(HOPS):
        for other in range(lag + 1, HOPS):
            out[k] = 2 * (places[lag] > places[other]) + (firsts[lag] > firsts[other])
            k += 1
    out[k] = min(now, top)
    out[k + 1] = now % 2


@njit
def _linked(sequence: Any, before: Any, symbol: int, mark: int, now: int, size: int) -> int:
    """The symbol after the last earlier position of a symbol that had a mark before it, among
    its last FEW positions; the first position of all counts as marked.
    """
    if symbol >= size:
        return size
    place = now
    for _ in range(FEW):
        place = before[place, symbol]
        if place < 0:
            return size
        if place == 0 or sequence[place - 1] == mark:
            return _at(sequence, place + 1, now, size)
    return size


@njit
def _suited(
    before: Any,
    behind: Any,
    counts: Any,
    recent: Any,
    fitting: Any,
    now: int,
    size: int,
    out: Any,
    k: int,
) -> None:
    """Among the symbols that have come as answers with most of the last symbols: the one read last,
    the one read first, the most and the least frequent one.
    """
    out[k : k + 4] = size
    top = 1
    for symbol in range(size):
        if counts[now + 1, symbol] == 0:
            continue
        score = 0
        for lag in range(LAGS):
            if recent[lag] < size:
                score += fitting[lag, recent[lag], symbol]
        if score > top or (score == top and out[k] == size):
            top = score
            out[k : k + 4] = symbol
        elif score == top:
            if before[now + 1, symbol] > before[now + 1, out[k]]:
                out[k] = symbol
            if behind[0, symbol] < behind[0, out[k + 1]]:
                out[k + 1] = symbol
            if counts[now + 1, symbol] > counts[now + 1, out[k + 2]]:
                out[k + 2] = symbol
            if counts[now + 1, symbol] < counts[now + 1, out[k + 3]]:
                out[k + 3] = symbol


@njit
def _fitting(sequence: Any, place: int, recent: Any, fitting: Any, size: int) -> int:
    """Of the symbols just before a place, the one that has come as an answer with most of the last
    symbols.
    """
    best, top = size, 0
    for back in range(1, BACK + 1):
        if place - back < 0:
            break
        symbol, score = sequence[place - back], 0
        for lag in range(LAGS):
            if recent[lag] < size:
                score += fitting[lag, recent[lag], symbol]
        if score > top:
            best, top = symbol, score
    return best


@njit
def _stretch(behind: Any, place: int, recent: Any, now: int, size: int) -> int:
    """The first place after one that holds any of the last symbols."""
    stop = now + 1
    for lag in range(LAGS):
        if recent[lag] < size:
            stop = min(stop, behind[place + 1, recent[lag]])
    return stop
