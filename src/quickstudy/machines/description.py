"""How much of a task is new after another: in bits, and by behaviour.

A machine that is known is a library: what is shared with it need not be written again. The
graduality of a step is the share of bits that are saved. It does not describe a learner, and must
be held against transfer that was measured.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.machines.chains import Floats, long_run, matrix
from quickstudy.machines.sharing import Shared, shared_structure
from quickstudy.machines.transducer import INPUT, OUTPUT, SOURCE, TARGET, Ints, Transducer

_MOST = 5_000_000
"""Steps of a product walk that are written down."""


def natural(number: int) -> int:
    """Bits of a whole number from 0 on, in a prefix code (Elias gamma)."""
    return 2 * (number + 1).bit_length() - 1


def description_length(machine: Transducer) -> float:
    """Bits to write a machine down: its sizes, its chances, and every edge."""
    return _heading(machine) + _counted(machine) + len(machine.edges) * _edge(machine)


def _heading(machine: Transducer) -> float:
    sizes = (machine.size, len(machine.inputs), len(machine.outputs), len(machine.chances))
    chances = sum(natural(one.numerator) + natural(one.denominator) for one in machine.chances)
    return float(sum(map(natural, sizes)) + chances)


def _counted(machine: Transducer) -> float:
    """Bits for how many edges leave every state for every input."""
    return machine.size * len(machine.inputs) * math.log2(len(machine.outputs) * machine.size + 1)


def _edge(machine: Transducer) -> float:
    return (
        math.log2(len(machine.outputs)) + math.log2(machine.size) + math.log2(len(machine.chances))
    )


def length_given(machine: Transducer, library: Transducer, shared: Shared) -> float:
    """Bits to write a machine down for a reader who has another. shared: what of the library is in
    it.

    They encode which states are those of the library and how symbols are renamed; edges between
    such states are known but for their chances. Where that takes more than to write all, nothing is
    taken from the library.
    """
    copied = len(shared.pairs)
    states = machine.size + copied * math.log2(max(library.size, 1))
    renamed = sum(
        math.log2(math.perm(count, len(names)))
        for count, names in (
            (len(machine.inputs), shared.inputs),
            (len(machine.outputs), shared.seen),
        )
        if len(names) <= count
    )
    edges = (len(machine.edges) - shared.edges) * _edge(machine) + shared.edges * math.log2(
        len(machine.chances)
    )
    whole = description_length(machine)
    return 1 + min(whole, _heading(machine) + _counted(machine) + states + renamed + edges)


class Step(NamedTuple):
    """From one task to another. graduality: share of the bits of the second that the first saves.
    exact: nothing more is shared; else graduality, containment and coverage are lower bounds.
    """

    graduality: float
    containment: float
    coverage: float
    exact: bool


def step(first: Transducer, second: Transducer) -> Step:
    """How much of the second machine need not be written by who has the first."""
    shared = shared_structure(first, second)
    saved = 1 - length_given(second, first, shared) / description_length(second)
    return Step(max(0.0, saved), shared.containment, shared.coverage, shared.exact)


def steps_between(machines: Sequence[Transducer]) -> list[list[Step]]:
    """[first][second]: the step between any two machines."""
    return [[step(one, other) for other in machines] for one in machines]


def overlap(
    first: Transducer,
    second: Transducer,
    inputs: Mapping[Hashable, Hashable] | None = None,
    rewards: bool = False,
) -> float:
    """How alike two machines behave under the same uniform inputs: the mean share of the next
    output that both have in common, when each has gone its own way so far.

    inputs: how those of the first are called in the second; unchanged, if left out. rewards: the
    reward of an output (observation, reward) alone is compared. 1 for a machine with itself only if
    it is not random.
    """
    names = inputs or {symbol: symbol for symbol in first.inputs if symbol in second.inputs}
    pairs = [(first.inputs.index(one), second.inputs.index(other)) for one, other in names.items()]
    if not pairs:
        raise NotApplicable("the machines have no input in common")
    ours, theirs = (_kinds(machine, rewards) for machine in (first, second))
    rows, columns, weights = list[Ints](), list[Ints](), list[Floats]()
    size, walked = first.size * second.size, 0
    agreement = np.zeros(size)
    for one, other in pairs:
        mine, yours = first.edges[:, INPUT] == one, second.edges[:, INPUT] == other
        walked += int(mine.sum()) * int(yours.sum())
        if walked > _MOST:
            raise NotApplicable(
                f"{first.size} and {second.size} states are too many to walk through together"
            )
        a, b = first.edges[mine], second.edges[yours]
        chance = np.outer(first.probabilities[mine], second.probabilities[yours]) / len(pairs)
        rows.append((a[:, SOURCE][:, None] * second.size + b[:, SOURCE]).ravel())
        columns.append((a[:, TARGET][:, None] * second.size + b[:, TARGET]).ravel())
        weights.append(chance.ravel())
        agreement += _common(first, second, mine, yours, ours, theirs) / len(pairs)
    start = np.zeros(size)
    for state, likely in first.start or ((0, 1),):
        for place, other_likely in second.start or ((0, 1),):
            start[state * second.size + place] += float(likely * other_likely)
    chain = matrix(size, np.concatenate(rows), np.concatenate(columns), np.concatenate(weights))
    return float(long_run(chain, start) @ agreement)


def _kinds(machine: Transducer, rewards: bool) -> list[Hashable]:
    """What of every output is compared."""
    return [
        output[1] if rewards and isinstance(output, tuple) else output for output in machine.outputs
    ]


def _common(
    first: Transducer,
    second: Transducer,
    mine: Ints,
    yours: Ints,
    ours: list[Hashable],
    theirs: list[Hashable],
) -> Floats:
    """(pair of states,): the sum over outputs of the smaller of both chances, for one input."""
    known = {kind: place for place, kind in enumerate(dict.fromkeys((*ours, *theirs)))}
    tables = []
    for machine, some, kinds in ((first, mine, ours), (second, yours, theirs)):
        table = np.zeros((machine.size, len(known)))
        places = np.array([known[kind] for kind in kinds])
        edges = machine.edges[some]
        np.add.at(table, (edges[:, SOURCE], places[edges[:, OUTPUT]]), machine.probabilities[some])
        tables.append(table)
    return np.asarray(np.minimum(tables[0][:, None], tables[1][None]).sum(axis=-1).ravel())
