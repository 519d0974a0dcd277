"""What is looked up in a sequence before a question: codes, whole numbers that are symbols or small numbers.

A sequence is read once, and what is kept of it (where each symbol stood last before and first after every place, how
often it stood before, where each pair and each longer stretch stood last) makes every look-up a single step. So the cost
is linear in the length of a sequence, and in the size of the vocabulary.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.compiled import njit

LAGS, HOPS, ORDER, MATCHED = 8, 5, 12, 6
"""Symbols before a question that are looked up; those that are looked up from each other's places; the longest stretch,
and rhythm in runs, that is looked up; the longest stretch whose places are counted.
"""
LEVELS, BACK = 24, 3
"""Numbers are told apart up to this; symbols before a place among which one is sought that may be an answer."""
KEPT = 0.9
"""How much of a guesser's record within a sequence is left after a step."""
SEGMENTS, FEW = 4, 6
"""Pairs behind whose last place symbols are counted; places of a symbol among which one with a mark is sought."""


class Layout(NamedTuple):
    """How many codes there are for a vocabulary: symbols, which may be copied, come first. depth: (code,) how far back
    stood what was looked up; plain: (code,) whether nothing was looked up."""

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
        lag, np.full(3, 2.0), np.repeat(lag, 4), np.repeat(lag, 2), np.repeat(twice, 2), np.repeat(twice, 3),
        np.repeat(after, 3), np.repeat(2 * pair, 2), np.repeat(every + 4, 8), np.full(HOPS * (HOPS - 1), 2.0), np.full(4, 2.0), np.full(ORDER, 3.0), np.full(1, -3.0),
    ]  # fmt: skip
    numbers = [
        lag, np.full(2 * MATCHED + 1, 1.0), lag, pair, np.repeat(every + 3, SEGMENTS + 2),
        np.full(HOPS * (HOPS - 1) // 2, 3.0), np.full(2, 3.0),
    ]  # fmt: skip
    count = sum(len(part) for part in symbols)
    depth = np.concatenate([*symbols, *numbers])
    plain = np.arange(len(depth)) >= count
    plain[:LAGS] = True
    return Layout(count, len(depth) - count, depth, plain)


@njit
def read(sequence: Any, size: int) -> Any:
    """All that is looked up in a sequence. before[p, v]: the last place of v before p, or -1; behind[p, v]: its first
    place from p on, or the length; counts[p, v]: how often it stood before p; pairs[p]: the last earlier place of the
    pair that ends at p; stretches[p, n]: that of the last n+1 symbols, and how many such places there are, and how many that have
    the last symbol before them as well; guesses[p]:
    what comes next by the guesser that has been right most of late in this very sequence.
    """
    length = len(sequence)
    before = np.full((length + 1, size), -1, np.int32)
    behind = np.full((length + 1, size), length, np.int32)
    counts = np.zeros((length + 1, size), np.int32)
    for place in range(length):
        before[place + 1] = before[place]
        counts[place + 1] = counts[place]
        before[place + 1, sequence[place]] = place
        counts[place + 1, sequence[place]] += 1
    for place in range(length - 1, -1, -1):
        behind[place] = behind[place + 1]
        behind[place, sequence[place]] = place
    pairs, stretches, matches, enclosed = _stretches(sequence, size)
    return before, behind, counts, pairs, stretches, matches, enclosed, _guesses(sequence, stretches, size)


@njit
def _stretches(sequence: Any, size: int) -> Any:
    """Where the last n symbols stood before: each stretch gets a number out of that of the one without its last symbol,
    and a slot of a table by it.
    """
    length = len(sequence)
    slots = 16
    while slots < 3 * length:
        slots *= 2
    keys = np.full((ORDER, slots), -1, np.int64)
    last = np.full((ORDER, slots), -1, np.int32)
    often = np.zeros((ORDER, slots), np.int32)
    names = np.full((ORDER + 1, length + 1), -1, np.int64)
    names[0] = 0
    stretches = np.full((length, ORDER), -1, np.int32)
    matches = np.zeros((length, ORDER), np.int32)
    enclosed = np.zeros((length, MATCHED), np.int32)
    for place in range(length):
        for order in range(min(MATCHED, place)):
            # The last symbol, then the last ones once more: has it been there before, or stood them at the beginning?
            slot, level, alike = 0, 0, True
            for back in range(order + 1, -1, -1):
                symbol = sequence[place] if back == order + 1 else sequence[place - back]
                key = slot * (size + 1) + symbol + 1 if level else symbol + 1
                slot = (key * 40503) % slots
                while keys[level, slot] != -1 and keys[level, slot] != key:
                    slot = (slot + 1) % slots
                if keys[level, slot] == -1:
                    level = -1
                    break
                level += 1
            for back in range(order + 1):
                alike = alike and sequence[order - back] == sequence[place - back]
            enclosed[place, order] = (often[level - 1, slot] if level > 0 else 0) + (alike and place > order)
        for order in range(min(ORDER, place + 1)):
            # The stretch of one more symbol: what ended one place earlier, and this symbol.
            key = names[order, place] * (size + 1) + sequence[place] + 1 if order else sequence[place] + 1
            slot = (key * 40503) % slots
            while keys[order, slot] != -1 and keys[order, slot] != key:
                slot = (slot + 1) % slots
            keys[order, slot] = key
            stretches[place, order] = last[order, slot]
            matches[place, order] = often[order, slot]
            last[order, slot] = place
            often[order, slot] += 1
            names[order + 1, place + 1] = slot
    return stretches[:, 1].copy(), stretches, matches, enclosed


@njit
def _guesses(sequence: Any, stretches: Any, size: int) -> Any:
    """(place,) the next symbol: the last again, what followed the last n before, or the rhythm of R runs ago at the
    present tempo, by whichever has been right most of late.
    """
    length, many = len(sequence), 1 + 2 * ORDER
    record = np.zeros(many)
    said = np.full(many, size, np.int32)
    best = np.full(length, size, np.int32)
    lengths, symbols, runs = np.zeros(length + 1, np.int32), np.full(length + 1, size, np.int32), 0
    for place in range(length):
        symbol = sequence[place]
        if place and sequence[place - 1] != symbol:
            runs += 1
        lengths[runs] += 1
        symbols[runs] = symbol
        for number in range(many):
            record[number] = KEPT * record[number] + (said[number] == symbol)
        said[:] = size
        said[0] = symbol
        for order in range(ORDER):
            if stretches[place, order] >= 0:
                said[1 + order] = sequence[stretches[place, order] + 1]
        for back in range(1, ORDER + 1):
            if runs - back - 1 >= 0 and symbols[runs - back] == symbol:
                shorter = lengths[runs] * lengths[runs - back - 1] < lengths[runs - back] * lengths[runs - 1]
                said[ORDER + back] = symbol if shorter else symbols[runs - back + 1]
        top = -1.0
        for number in range(many):
            if said[number] < size and record[number] > top:
                top, best[place] = record[number], said[number]
    return best


@njit
def _at(sequence: Any, place: int, now: int, size: int) -> int:
    return sequence[place] if 0 <= place <= now else size


@njit
def code(sequence: Any, known: Any, now: int, size: int, fitting: Any, out: Any) -> None:
    """Write the codes after `now`. fitting: (lag, symbol, answer) whether the answer has come with the symbol there;
    size stands for no symbol.
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
            place = before[places[lag], recent[other]] if places[lag] >= 0 and recent[other] < size else -1
            for offset in (-1, 1):
                out[k] = _at(sequence, place + offset, now, size) if place >= 0 else size
                k += 1
    for lag in range(HOPS):
        for other in range(HOPS):
            # The first place of one symbol after the first of another; and the last of the other before that.
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
        # What stood behind and before the symbol that came after it; what it led to, and what that led to.
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
        out[k] = min(_stretch(behind, places[lag], recent, now, size) - places[lag], top) if places[lag] >= 0 else 0
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
            out[k] = min(counts[stop, symbol] - counts[opening + 1, symbol], top) if opening >= 0 else top
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
    """What stood behind the last earlier place of a symbol that had a mark before it, among its last FEW places; the
    first place of all counts as marked.
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
    before: Any, behind: Any, counts: Any, recent: Any, fitting: Any, now: int, size: int, out: Any, k: int
) -> None:
    """Among the symbols that have come as answers with most of the last symbols: the one read last, the one read first,
    the most and the least frequent one.
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
    """Of the symbols just before a place, the one that has come as an answer with most of the last symbols."""
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
