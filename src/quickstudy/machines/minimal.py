"""The smallest machine that does the same: partition refinement of a unifilar one, and equality by
it.

States begin in one class if they show the same outputs with the same chances, and part where an
equal label leads to different classes. Both states and edges are kept as partitions that are
refined in turn, always by the smaller half (Valmari and Lehtinen's form of Hopcroft's algorithm):
time is of the order of edges times the logarithm of states.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.machines.transducer import (
    CHANCE,
    INPUT,
    OUTPUT,
    SOURCE,
    TARGET,
    Ints,
    Transducer,
    joined,
    scaled,
)
from quickstudy.numba_gateway import njit


class Minimal(NamedTuple):
    """machine: one state for every class; it is called like the first of the class. classes: of the
    states of the machine that it was made of, (state,).
    """

    machine: Transducer
    classes: Ints


def minimised(machine: Transducer) -> Minimal:
    """The smallest unifilar machine with the same behaviour from every state. Raises UsageError for
    one that is not unifilar.
    """
    classes = behaviour_classes(machine)
    return Minimal(quotient(machine, classes), classes)


def quotient(machine: Transducer, classes: Ints) -> Transducer:
    """One state for every class of states that behave alike. classes: (state,), numbered as they
    first occur.
    """
    _, first = np.unique(classes, return_index=True)
    edges = machine.edges[np.isin(machine.edges[:, SOURCE], first)].copy()
    edges[:, SOURCE], edges[:, TARGET] = classes[edges[:, SOURCE]], classes[edges[:, TARGET]]
    edges = edges[np.lexsort(edges.T[::-1])]
    # Edges of a state that is not unifilar may have become one: their chances are added up.
    new = np.flatnonzero(
        np.concatenate([[True], np.any(edges[1:, :CHANCE] != edges[:-1, :CHANCE], axis=1)])
    )
    weights, whole = scaled(machine.chances)
    sums, numbers = np.unique(np.add.reduceat(weights[edges[:, CHANCE]], new), return_inverse=True)
    edges = edges[new]
    edges[:, CHANCE] = numbers
    return replace(
        machine,
        states=tuple(machine.states[state] for state in first),
        edges=edges,
        chances=tuple(Fraction(int(one), whole) for one in sums),
        start=tuple(_start(machine, classes).items()),
    )


def behaviour_classes(machine: Transducer) -> Ints:
    """(state,): equal numbers for states that behave alike for all inputs; numbered as
    they first occur.
    """
    if not machine.unifilar:
        raise UsageError("only a unifilar machine can be minimised: make it unifilar first")
    edges = machine.edges
    labels = edges[:, INPUT] * len(machine.outputs) + edges[:, OUTPUT]
    began = alike(machine.size, edges[:, SOURCE], labels * len(machine.chances) + edges[:, CHANCE])
    into = np.argsort(edges[:, TARGET], kind="stable")
    at = np.searchsorted(edges[into, TARGET], np.arange(machine.size + 1))
    sources = np.ascontiguousarray(edges[:, SOURCE])
    found = _refined(machine.size, _partition(began), _partition(labels), sources, into, at)
    return _as_they_occur(found)


def equivalent(first: Transducer, second: Transducer) -> bool:
    """Whether two unifilar machines do the same: from their starts if both have one, else as sets
    of behaviours.

    Symbols must be the same, names of states need not. Without starts every state of each must
    behave like one of the other: give the recurrent parts.
    """
    if set(first.inputs) != set(second.inputs):
        return False
    classes = behaviour_classes(joined(first, second))
    if first.start and second.start:
        return _start(first, classes[: first.size]) == _start(second, classes[first.size :])
    return set(classes[: first.size].tolist()) == set(classes[first.size :].tolist())


def _start(machine: Transducer, classes: Ints) -> dict[int, Fraction]:
    """Of the start, the chance of every class."""
    found: dict[int, Fraction] = {}
    for state, chance in machine.start:
        found[int(classes[state])] = found.get(int(classes[state]), Fraction(0)) + chance
    return found


def alike(size: int, sources: Ints, marks: Ints) -> Ints:
    """(state,): equal numbers for states whose edges, in their order, carry the same marks.
    sources: in order.
    """
    degrees = np.bincount(sources, minlength=size)
    starts = np.concatenate([[0], np.cumsum(degrees)])
    classes, used = np.zeros(size, dtype=np.int64), 0
    for degree in np.unique(degrees):
        states = np.flatnonzero(degrees == degree)
        rows = marks[starts[states][:, None] + np.arange(degree)]
        _, numbers = np.unique(rows, axis=0, return_inverse=True)
        classes[states] = numbers.reshape(-1) + used
        used += int(numbers.max()) + 1
    return _as_they_occur(classes)


def _as_they_occur(classes: Ints) -> Ints:
    """The same classes, numbered in the order of their first members."""
    _, places, numbers = np.unique(classes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(places))[numbers.reshape(-1)].astype(np.int64)


_ELEMENTS, _PLACES, _FIRST, _END, _CLASSES, _MARKED, _TOUCHED, _COUNTS = range(8)
"""The rows of a partition: elements by class, the place of each, first and end of every class, the
class of each, how many of a class are marked (they stand first), the touched classes; and how many
classes there are and are touched.
"""


@njit
def _refined(size: int, states: Ints, cords: Ints, sources: Ints, into: Ints, at: Ints) -> Ints:
    """The coarsest refinement of the first classes that is stable, (state,).

    cords: a partition of the edges, at first by label, then also by the class that they lead to.
    into: edges by the state that they lead to; at: where those of each state begin.
    """
    cord, done = 0, 1
    while cord < cords[_COUNTS, 0]:
        for place in range(cords[_FIRST, cord], cords[_END, cord]):
            _mark(states, sources[cords[_ELEMENTS, place]])
        _split(states)
        cord += 1
        while done < states[_COUNTS, 0]:
            for place in range(states[_FIRST, done], states[_END, done]):
                state = states[_ELEMENTS, place]
                for number in range(at[state], at[state + 1]):
                    _mark(cords, into[number])
            _split(cords)
            done += 1
    return states[_CLASSES, :size]


@njit
def _mark(partition: Ints, element: int) -> None:
    """Put an element among the marked ones of its class."""
    own, place = partition[_CLASSES, element], partition[_PLACES, element]
    to = partition[_FIRST, own] + partition[_MARKED, own]
    if place < to:
        return
    other = partition[_ELEMENTS, to]
    partition[_ELEMENTS, place], partition[_ELEMENTS, to] = other, element
    partition[_PLACES, other], partition[_PLACES, element] = place, to
    if partition[_MARKED, own] == 0:
        partition[_TOUCHED, partition[_COUNTS, 1]] = own
        partition[_COUNTS, 1] += 1
    partition[_MARKED, own] += 1


@njit
def _split(partition: Ints) -> None:
    """Part every touched class into its marked elements and the others; the smaller half becomes a
    class of its own.
    """
    for number in range(partition[_COUNTS, 1]):
        own = partition[_TOUCHED, number]
        first, end = partition[_FIRST, own], partition[_END, own]
        middle = first + partition[_MARKED, own]
        partition[_MARKED, own] = 0
        if middle < end:
            new = partition[_COUNTS, 0]
            if middle - first <= end - middle:
                partition[_FIRST, new], partition[_END, new], partition[_FIRST, own] = (
                    first,
                    middle,
                    middle,
                )
            else:
                partition[_FIRST, new], partition[_END, new], partition[_END, own] = (
                    middle,
                    end,
                    middle,
                )
            for place in range(partition[_FIRST, new], partition[_END, new]):
                partition[_CLASSES, partition[_ELEMENTS, place]] = new
            partition[_COUNTS, 0] += 1
    partition[_COUNTS, 1] = 0


def _partition(numbers: Ints) -> Ints:
    """Elements parted by their numbers, as rows (see `_ELEMENTS`)."""
    count = len(numbers)
    made = np.zeros((8, count + 2), dtype=np.int64)
    _, classes = np.unique(numbers, return_inverse=True)
    elements = np.argsort(classes, kind="stable")
    made[_ELEMENTS, :count], made[_CLASSES, :count] = elements, classes
    made[_PLACES, elements] = np.arange(count)
    ends = np.cumsum(np.bincount(classes))
    made[_END, : len(ends)], made[_FIRST, 1 : len(ends)] = ends, ends[:-1]
    made[_COUNTS, 0] = len(ends)
    return made
