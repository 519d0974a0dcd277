"""Machines as values: states, and arrows between them with an input, an output and an exact chance.

A transducer is given an input at every step and shows an output. A machine that is given nothing,
an epsilon-machine among them, is a transducer with the one input None. Nothing here is random and
nothing is rounded: chances are fractions.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError

Ints = NDArray[np.int64]
SOURCE, INPUT, OUTPUT, TARGET, CHANCE = range(5)
"""The columns of a transducer's edges."""


_NEAR, _SIMPLE = 1e-12, 10**6
"""A number is read as the fraction with so small a denominator that is so near."""


class Arrow(NamedTuple):
    """One edge in words: from a state, given an input, an output is shown and a state reached, with
    some chance.
    """

    source: Hashable
    input: Hashable
    output: Hashable
    target: Hashable
    chance: Fraction


@dataclass(frozen=True, eq=False)
class Transducer:
    """states: their names. inputs, outputs: the symbols. edges: (edge, 5), whole numbers: source,
    input, output, target and chance, each a place in its list; sorted, and no two alike but for the
    chance. chances: all that occur. start: (state, chance) before the first input; nothing where
    none is known.
    """

    states: tuple[str, ...]
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    edges: Ints
    chances: tuple[Fraction, ...]
    start: tuple[tuple[int, Fraction], ...] = ()

    @classmethod
    def of(
        cls,
        arrows: Iterable[Arrow | tuple[Any, ...]],
        start: Mapping[Any, Fraction] | None = None,
        states: Iterable[Hashable] = (),
    ) -> Transducer:
        """The transducer with these arrows. Symbols are numbered as they come, and so are states
        after those that are given; equal arrows are added up. A chance is a fraction, or a number
        that is read as the one that was meant.

        Raises UsageError unless the chances out of every state, for every input, sum to exactly
        one.
        """
        numbered = {state: number for number, state in enumerate(states)}
        inputs, outputs = dict[Any, int](), dict[Any, int]()
        total: dict[tuple[int, int, int, int], Fraction] = {}
        for source, given, shown, target, chance in arrows:
            key = (
                numbered.setdefault(source, len(numbered)),
                inputs.setdefault(given, len(inputs)),
                outputs.setdefault(shown, len(outputs)),
                numbered.setdefault(target, len(numbered)),
            )
            exact = chance if isinstance(chance, Fraction) else meant(chance)
            total[key] = total[key] + exact if key in total else exact
        if not total:
            raise UsageError("a machine needs transitions, got none")
        for state in start or ():
            if state not in numbered:
                raise UsageError(f'the start "{state}" is not a state of the machine')
        # By numerator and denominator: a fraction takes longer to be hashed than all the rest.
        known = {(one.numerator, one.denominator): Fraction(one) for one in total.values()}
        if (least := min(known.values())) < 0:
            raise UsageError(f"a probability must not be below 0, got {float(least):g}")
        chances = sorted(one for one in known.values() if one)
        numbers = {(one.numerator, one.denominator): number for number, one in enumerate(chances)}
        edges = np.array(
            [(*key, numbers[one.numerator, one.denominator]) for key, one in total.items() if one],
            dtype=np.int64,
        )
        began = tuple(
            (numbered[state], Fraction(chance)) for state, chance in (start or {}).items() if chance
        )
        edges = edges[np.lexsort(edges.T[::-1])]
        made = cls(
            tuple(map(str, numbered)), tuple(inputs), tuple(outputs), edges, tuple(chances), began
        )
        made._check()
        return made

    def _check(self) -> None:
        """Raise UsageError for the first state and input whose chances do not sum to one."""
        weights, whole = scaled(self.chances)
        sums = np.zeros(len(self.states) * len(self.inputs), dtype=weights.dtype)
        np.add.at(
            sums,
            self.edges[:, SOURCE] * len(self.inputs) + self.edges[:, INPUT],
            weights[self.edges[:, CHANCE]],
        )
        wrong = np.flatnonzero(sums != whole)
        if len(wrong):
            state, given = divmod(int(wrong[0]), len(self.inputs))
            word = "" if self.inputs[given] is None else f' given "{self.inputs[given]}"'
            found = float(Fraction(int(sums[wrong[0]]), whole))
            raise UsageError(
                f'the probabilities out of state "{self.states[state]}"{word} sum to {found:g}, not'
                " to 1"
            )
        if self.start and sum(chance for _, chance in self.start) != 1:
            raise UsageError(
                f"the chances of the start sum to {float(sum(c for _, c in self.start)):g}, not"
                " to 1"
            )

    @property
    def size(self) -> int:
        """How many states it has."""
        return len(self.states)

    @property
    def generator(self) -> bool:
        """Whether it is given nothing."""
        return self.inputs == (None,)

    @cached_property
    def unifilar(self) -> bool:
        """Whether state, input and output always fix the next state."""
        labels = self.edges[:, :TARGET]
        return bool(np.any(labels[1:] != labels[:-1], axis=1).all())

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """(edge,): the chances as floats."""
        return np.array([float(chance) for chance in self.chances])[self.edges[:, CHANCE]]

    def arrows(self) -> Iterator[Arrow]:
        """All edges in words."""
        for source, given, shown, target, chance in self.edges.tolist():
            yield Arrow(
                self.states[source],
                self.inputs[given],
                self.outputs[shown],
                self.states[target],
                self.chances[chance],
            )

    def following(self) -> list[dict[tuple[int, int], list[tuple[int, int]]]]:
        """By state: by (input, output), the (target, chance) of its edges."""
        found: list[dict[tuple[int, int], list[tuple[int, int]]]] = [{} for _ in self.states]
        for source, given, shown, target, chance in self.edges.tolist():
            found[source].setdefault((given, shown), []).append((target, chance))
        return found

    def only(self, kept: Ints | Sequence[int]) -> Transducer:
        """The part on some states, in their order. What leads out of it is left out: keep what is
        closed.
        """
        place = np.full(self.size, -1, dtype=np.int64)
        place[np.asarray(kept)] = np.arange(len(kept))
        inside = (place[self.edges[:, SOURCE]] >= 0) & (place[self.edges[:, TARGET]] >= 0)
        edges = self.edges[inside].copy()
        edges[:, SOURCE], edges[:, TARGET] = place[edges[:, SOURCE]], place[edges[:, TARGET]]
        start = tuple((int(place[state]), chance) for state, chance in self.start)
        return replace(
            self,
            states=tuple(self.states[state] for state in kept),
            edges=edges[np.lexsort(edges.T[::-1])],
            start=start if all(state >= 0 for state, _ in start) else (),
        )


def meant(value: float | str | Fraction) -> Fraction:
    """A number as the fraction that was meant: 0.3333333333333333 is a third, and so is "1/3".

    Raises ValueError for a value that is not a finite number.
    """
    found = Fraction(str(float(value))) if isinstance(value, float) else Fraction(value)
    simple = found.limit_denominator(_SIMPLE)
    return simple if abs(simple - found) <= _NEAR else found


def scaled(chances: Sequence[Fraction]) -> tuple[NDArray[Any], int]:
    """Fractions over one denominator: the numerators, exact integers of 64 bits where they fit, and
    it.
    """
    whole = math.lcm(*(chance.denominator for chance in chances)) if chances else 1
    numerators = [chance.numerator * (whole // chance.denominator) for chance in chances]
    # Sums of as many as a machine could have out of one state still fit.
    return np.array(numerators, dtype=np.int64 if whole < 2**40 else object), whole


def joined(first: Transducer, second: Transducer) -> Transducer:
    """The disjoint union of both, without a way between them and without a start; symbols that are
    equal are one.
    """
    inputs = tuple(dict.fromkeys((*first.inputs, *second.inputs)))
    outputs = tuple(dict.fromkeys((*first.outputs, *second.outputs)))
    chances = tuple(sorted({*first.chances, *second.chances}))
    parts = []
    for machine, shift in ((first, 0), (second, first.size)):
        edges = machine.edges.copy()
        edges[:, [SOURCE, TARGET]] += shift
        for column, own, common in (
            (INPUT, machine.inputs, inputs),
            (OUTPUT, machine.outputs, outputs),
            (CHANCE, machine.chances, chances),
        ):
            places = {symbol: place for place, symbol in enumerate(common)}
            edges[:, column] = np.array([places[symbol] for symbol in own], dtype=np.int64)[
                edges[:, column]
            ]
        parts.append(edges)
    edges = np.concatenate(parts)
    return Transducer(
        (*first.states, *second.states), inputs, outputs, edges[np.lexsort(edges.T[::-1])], chances
    )
