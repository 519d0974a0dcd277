"""Machines whose numbers are known, and data drawn from them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from quickstudy.machines.transducer import Transducer

HALF = Fraction(1, 2)


def generator(*rows):
    return Transducer.of(
        [
            (source, None, symbol, target, Fraction(chance))
            for source, symbol, target, chance in rows
        ]
    )


def channel(rows, start=None):
    return Transducer.of([(s, x, y, t, Fraction(p)) for s, x, y, t, p in rows], start)


def coin(p):
    return generator(("A", 0, "A", p), ("A", 1, "A", 1 - p))


def period(p):
    return generator(*((place, int(place == 0), (place + 1) % p, 1) for place in range(p)))


def golden_mean(p=HALF):
    return generator(("A", 1, "A", 1 - p), ("A", 0, "B", p), ("B", 1, "A", 1))


def even(p=HALF):
    return generator(("A", 0, "A", 1 - p), ("A", 1, "B", p), ("B", 1, "A", 1))


def alternating():
    return generator(("A", 0, "B", 1), ("B", 0, "A", HALF), ("B", 1, "A", HALF))


def random_random_xor():
    ends = [(f"{a}{b}", int(a != b), "S", 1) for a in "01" for b in "01"]
    middle = [(a, int(b), a + b, HALF) for a in "01" for b in "01"]
    return generator(("S", 0, "0", HALF), ("S", 1, "1", HALF), *middle, *ends)


def sticky():
    stay = {0: Fraction(9, 10), 1: Fraction(8, 10)}
    return generator(
        *((s, s, s, stay[s]) for s in (0, 1)), *((s, 1 - s, 1 - s, 1 - stay[s]) for s in (0, 1))
    )


def delay(k=1):
    words = [format(number, f"0{k}b") for number in range(2**k)]
    return channel([(word, x, word[0], word[1:] + x, 1) for word in words for x in "01"])


def parity(start=None):
    return channel([(s, x, s ^ x, s ^ x, 1) for s in (0, 1) for x in (0, 1)], start)


def drawn(machine, count, seed=0, inputs=None):
    """Outputs of a machine from its first state on."""
    rng = np.random.default_rng(seed)
    rows: dict = {}
    for source, given, shown, target, chance in machine.edges.tolist():
        rows.setdefault((source, machine.inputs[given]), []).append(
            (shown, target, float(machine.chances[chance]))
        )
    state, found = 0, []
    for step, uniform in enumerate(rng.random(count)):
        edges = rows[state, None if inputs is None else inputs[step]]
        ends = np.cumsum([chance for *_, chance in edges])[:-1]
        shown, state, _ = edges[int(np.searchsorted(ends, uniform, side="right"))]
        found.append(machine.outputs[shown])
    return found
