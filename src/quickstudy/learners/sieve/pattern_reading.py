"""The index of a sequence that is read once, so that every look-up in it is a single step.

Where each symbol stood last before and first after every place, how often it stood before, where
each pair and each longer stretch stood last: the cost is linear in the length of a sequence, and in
the size of the vocabulary.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quickstudy.numba_gateway import njit

ORDER, MATCHED = 12, 6
"""The longest stretch, and rhythm in runs, that is looked up; the longest stretch whose places are
counted.
"""
KEPT = 0.9
"""How much of a guesser's record within a sequence is left after a step."""


@njit
def read(sequence: Any, size: int) -> Any:
    """All that is looked up in a sequence. before[p, v]: the last position of v before p, or -1;
    behind[p, v]: its first position from p on, or the length; counts[p, v]: how often it came
    before p; pairs[p]: the last earlier place of the pair that ends at p; stretches[p, n]: that of
    the last n+1 symbols; matches[p, n]: how many such places there are; enclosed[p, n]: how many
    that have the last symbol before them as well; guesses[p]: what comes next by the guesser that
    has been right most of late in this very sequence.
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
    return (
        before,
        behind,
        counts,
        pairs,
        stretches,
        matches,
        enclosed,
        _guesses(sequence, stretches, size),
    )


@njit
def _stretches(sequence: Any, size: int) -> Any:
    """Where the last n symbols stood before: each stretch gets a number out of that of the one
    without its last symbol, and a slot of a table by it.
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
            # The last symbol, then the last ones once more: has it been there before, or stood them
            # at the beginning?
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
            enclosed[place, order] = (often[level - 1, slot] if level > 0 else 0) + (
                alike and place > order
            )
        for order in range(min(ORDER, place + 1)):
            # The stretch of one more symbol: what ended one place earlier, and this symbol.
            key = (
                names[order, place] * (size + 1) + sequence[place] + 1
                if order
                else sequence[place] + 1
            )
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
    """(place,) the next symbol: the last again, what followed the last n before, or the rhythm of R
    runs ago at the present tempo, by whichever has been right most of late.
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
                shorter = (
                    lengths[runs] * lengths[runs - back - 1]
                    < lengths[runs - back] * lengths[runs - 1]
                )
                said[ORDER + back] = symbol if shorter else symbols[runs - back + 1]
        top = -1.0
        for number in range(many):
            if said[number] < size and record[number] > top:
                top, best[place] = record[number], said[number]
    return best
