"""From hidden states to causal ones: what is known of a hidden state after all that was given and
shown is a belief.

Where state, input and output do not fix the next state, a machine is not an epsilon-transducer: its
states do not follow from the past. Beliefs do. They are distributions over hidden states in whole
numbers without a common divisor, so that two are equal exactly when they are the same. Two that
differ only in what can never be seen are one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.machines.minimal import alike, quotient
from quickstudy.machines.transducer import (
    CHANCE,
    INPUT,
    OUTPUT,
    SOURCE,
    TARGET,
    Arrow,
    Ints,
    Transducer,
    scaled,
)

Belief = tuple[tuple[int, int], ...]
"""(state, weight) in the order of the states; the weights have no common divisor."""
Begins = Sequence[tuple[Mapping[int, Fraction], Fraction]]
"""What may be known at first, each with its chance: one entry where nothing has been seen yet."""
MOST = 200_000
"""Beliefs examined before their number counts as infinite."""
_LONGEST = 4096
"""Bits of a weight: beliefs that never come back have longer and longer ones."""
_SEEN_THROUGH = 40
"""Hidden states up to which differences that can never be seen are computed: it takes their
fourth power.
"""


class Causal(NamedTuple):
    """machine: its states are beliefs. began: the state of each of the things that may be known at
    first.
    """

    machine: Transducer
    began: tuple[int, ...]


def unifilar(
    machine: Transducer,
    begins: Begins,
    most: int = MOST,
    name: Callable[[Sequence[int]], str] | None = None,
) -> Causal:
    """The unifilar machine of all beliefs that can be reached; its start is what may be known at
    first.

    name: of a belief, by the numbers of its hidden states; their names side by side, if left out.
    Raises NotApplicable if their number is infinite: the process has no finite machine, or none
    that is reached from the start.
    """
    classes = hidden_classes(machine)
    small = quotient(machine, classes)
    known = _Beliefs(small)
    firsts = [known.canonical(_summed(belief, classes)) for belief, _ in begins]
    start: dict[Belief, Fraction] = {}
    for first, (_, chance) in zip(firsts, begins, strict=True):
        start[first] = start.get(first, Fraction(0)) + chance
    numbers = {belief: number for number, belief in enumerate(start)}
    beliefs, arrows = list(start), list[Arrow]()
    for number, belief in enumerate(beliefs):  # which grows while it is iterated
        for (given, shown), (target, chance) in known.after(belief).items():
            if target not in numbers:
                if (
                    len(numbers) >= most
                    or max(weight.bit_length() for _, weight in target) > _LONGEST
                ):
                    raise NotApplicable(
                        f"not unifilar, and {len(numbers):,} beliefs are not all: no finite"
                        " epsilon-machine was found"
                    )
                numbers[target] = len(numbers)
                beliefs.append(target)
            arrows.append(
                Arrow(
                    number, machine.inputs[given], machine.outputs[shown], numbers[target], chance
                )
            )
    made = Transducer.of(
        arrows, {numbers[belief]: chance for belief, chance in start.items()}, range(len(beliefs))
    )
    names = name or (lambda hidden: "/".join(machine.states[state] for state in hidden))
    members = np.split(np.argsort(classes, kind="stable"), np.cumsum(np.bincount(classes))[:-1])
    hidden = [[int(one) for state, _ in belief for one in members[state]] for belief in beliefs]
    return Causal(
        replace(made, states=tuple(map(names, hidden))), tuple(numbers[first] for first in firsts)
    )


def hidden_classes(machine: Transducer) -> Ints:
    """(state,): equal numbers for hidden states with equal chances, summed exactly, of every input,
    output and class that follows; the coarsest such classes. They need not be distinguished in a
    belief.
    """
    edges, (weights, _) = machine.edges, scaled(machine.chances)
    amounts = weights[edges[:, CHANCE]]
    labels = edges[:, INPUT] * len(machine.outputs) + edges[:, OUTPUT]
    many = len(machine.inputs) * len(machine.outputs)
    classes, count = np.zeros(machine.size, dtype=np.int64), 1
    while True:
        keys = (edges[:, SOURCE] * many + labels) * count + classes[edges[:, TARGET]]
        order = np.argsort(keys, kind="stable")
        found, first = np.unique(keys[order], return_index=True)
        sums, numbers = np.unique(np.add.reduceat(amounts[order], first), return_inverse=True)
        finer = alike(
            machine.size, found // (many * count), found % (many * count) * len(sums) + numbers
        )
        if finer.max() + 1 == count:
            return classes
        classes, count = finer, int(finer.max()) + 1


def _summed(belief: Mapping[int, Fraction], classes: Ints) -> dict[int, int]:
    """A belief over states as one over classes, in whole numbers."""
    common = math.lcm(*(weight.denominator for weight in belief.values()))
    found: dict[int, int] = {}
    for state, weight in belief.items():
        if weight:
            own = int(classes[state])
            found[own] = found.get(own, 0) + int(weight * common)
    return found


class _Beliefs:
    """How beliefs of one machine go over into one another."""

    def __init__(self, machine: Transducer) -> None:
        weights, self.whole = scaled(machine.chances)
        self.following = [
            {
                label: [(target, int(weights[chance])) for target, chance in edges]
                for label, edges in own.items()
            }
            for own in machine.following()
        ]
        small = machine.size <= _SEEN_THROUGH and not machine.unifilar
        self.views = _views(self.following) if small else []
        self._same: dict[tuple[Fraction, ...], Belief] = {}

    def canonical(self, weights: Mapping[int, int]) -> Belief:
        """One belief for all that are the same, or whose difference can never be seen."""
        divisor = math.gcd(*weights.values())
        belief = tuple((state, weights[state] // divisor) for state in sorted(weights))
        if not self.views:
            return belief
        whole = sum(weight for _, weight in belief)
        seen = tuple(
            Fraction(sum(weight * view[state] for state, weight in belief), whole)
            for view in self.views
        )
        return self._same.setdefault(seen, belief)

    def after(self, belief: Belief) -> dict[tuple[int, int], tuple[Belief, Fraction]]:
        """By (input, output), what is believed then, and the chance of the output."""
        found: dict[tuple[int, int], dict[int, int]] = {}
        for state, weight in belief:
            for label, edges in self.following[state].items():
                own = found.setdefault(label, {})
                for target, chance in edges:
                    own[target] = own.get(target, 0) + weight * chance
        whole = self.whole * sum(weight for _, weight in belief)
        return {
            label: (self.canonical(weights), Fraction(sum(weights.values()), whole))
            for label, weights in found.items()
        }


def _views(
    following: Sequence[Mapping[tuple[int, int], Sequence[tuple[int, int]]]],
) -> list[list[int]]:
    """A basis of all that can be seen of a hidden state: by state, multiples of the chance of some
    outputs to come.

    The observable linear functions of a belief are the probabilities of outputs for given inputs,
    and they span a space of at most as many dimensions as there are states.
    """
    labels = sorted({label for own in following for label in own})
    basis, reduced, waiting = (
        list[list[int]](),
        list[tuple[int, list[int]]](),
        [[1] * len(following)],
    )
    while waiting:
        view = waiting.pop(0)
        rest = list(view)
        for pivot, row in reduced:
            if rest[pivot]:
                rest = [
                    row[pivot] * one - rest[pivot] * other
                    for one, other in zip(rest, row, strict=True)
                ]
        divisor = math.gcd(*rest)
        if divisor == 0:
            continue
        rest = [one // divisor for one in rest]
        reduced.append((next(place for place, one in enumerate(rest) if one), rest))
        basis.append(view)
        for label in labels:
            later = [
                sum(chance * view[target] for target, chance in own.get(label, ()))
                for own in following
            ]
            common = math.gcd(*later)
            if common:
                waiting.append([one // common for one in later])
    return basis
