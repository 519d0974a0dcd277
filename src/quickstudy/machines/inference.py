"""A machine from data: which pasts are followed by the same, as far as statistics can tell.

Causal state splitting reconstruction (Shalizi and Klinkner). Histories are lengthened one symbol at
a time into the past; each joins the state whose next symbols have no significantly different
distribution, or becomes a state of its own. Then states are parted until a symbol leads from each
to one state, and those that are not come back to are left out. With inputs a history is one of
pairs (input, output), and outputs are tested input by input.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.machines.chains import Floats, recurrent_classes
from quickstudy.machines.entropies import entropy
from quickstudy.machines.histories import Histories, clustered, sums_of
from quickstudy.machines.minimal import behaviour_classes
from quickstudy.machines.transducer import Arrow, Ints, Transducer
from quickstudy.numba_gateway import njit

LEVEL = 0.001
_EACH, _LONGEST = 50, 6
"""Without a length of histories given: the longest with so many occurrences of each, on the mean;
at most so long.
"""


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """A machine that was read off data. inputs, outputs: the symbols. history, level: how it was
    made. moves: (state, joint symbol), the next state, -1 where that was never seen. counts:
    (state, input, output), how often the data, followed through the machine, used it.
    unexplained: steps at which the data did what the machine cannot.
    """

    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    history: int
    level: float
    moves: Ints
    counts: Ints
    unexplained: int

    @property
    def size(self) -> int:
        """How many recurrent states were found."""
        return len(self.moves)

    @property
    def enough(self) -> int:
        """Symbols that the data should have for histories of this length."""
        kinds = max(2, int(np.count_nonzero(self.counts.sum(axis=0))))
        return int(_EACH * kinds ** (self.history + 1))

    @property
    def shares(self) -> Floats:
        """(state,): of the time."""
        return np.asarray(self.counts.sum(axis=(1, 2)) / self.counts.sum())

    def figures(self) -> dict[str, Any]:
        """states, and in bits topological_complexity, statistical_complexity (C_X for the inputs of
        the data, where there are any) and entropy_rate; how they were found.
        """
        given = self.counts.sum(axis=2)
        surprise = sum(
            given[place] * entropy(self.counts[place] / given[place])
            for place in zip(*np.nonzero(given), strict=True)
        )
        return {
            "states": self.size,
            "topological_complexity": math.log2(self.size),
            "statistical_complexity": entropy(self.shares),
            "entropy_rate": float(surprise / self.counts.sum()),
            "history": self.history,
            "level": self.level,
            "steps": int(self.counts.sum()),
            "unexplained": self.unexplained,
            "enough": self.enough,
        }

    def machine(self) -> Transducer:
        """The machine with the shares that were counted as chances. Raises UsageError where an
        input was never given in some state: nothing is known of it.
        """
        arrows = []
        for state, given, shown in zip(*np.nonzero(self.counts), strict=True):
            chance = Fraction(
                int(self.counts[state, given, shown]), int(self.counts[state, given].sum())
            )
            target = int(self.moves[state, given * len(self.outputs) + shown])
            arrows.append(
                Arrow(int(state), self.inputs[given], self.outputs[shown], target, chance)
            )
        return Transducer.of(arrows, states=range(self.size))


def reconstructed(
    outputs: Sequence[Hashable],
    inputs: Sequence[Hashable] | None = None,
    history: int | None = None,
    level: float = LEVEL,
) -> Reconstruction:
    """The machine that produced a sequence of outputs, or of inputs and the outputs that they were
    followed by.

    history: of how many symbols the longest pasts are; as many as there are data for, if left out.
    level: of the test, below which two distributions are held to be different. Raises UsageError
    for data that say nothing.
    """
    if inputs is not None and len(inputs) != len(outputs):
        raise UsageError(
            f"there must be an input for every output, got {len(inputs)} and {len(outputs)}"
        )
    if not 0 < level < 1:
        raise UsageError(f"the level must lie between 0 and 1, got {level:g}")
    shown, given = (
        _numbered(outputs),
        _numbered([None] * len(outputs) if inputs is None else inputs),
    )
    joint = given[1] * len(shown[0]) + shown[1]
    kinds = len(given[0]) * len(shown[0])
    if history is None:
        used = max(2, len(np.unique(joint)))
        history = int(
            np.clip(math.log(max(1.0, len(joint) / (_EACH * used))) / math.log(used), 1, _LONGEST)
        )
    if history < 1 or (history + 1) * math.log2(max(kinds, 2)) > 62:
        raise UsageError(
            f"history must be at least 1, and short enough for {kinds} symbols, got {history}"
        )
    if len(joint) < 10 * (history + 2):
        raise UsageError(
            f"{len(joint)} symbols are too few for histories of {history}; give more, or a shorter"
            " history"
        )
    data = Histories(joint, len(given[0]), len(shown[0]), history, level)
    alike, found = clustered(data), list[Reconstruction]()
    for way in _WAYS:
        moves, states = _parted(data, alike, way)
        kept, moves = _recurrent(moves, data, states)
        counts, unexplained = _followed(data, _places(data, states, kept), moves)
        shape = (len(kept), len(given[0]), len(shown[0]))
        found.append(
            Reconstruction(
                given[0], shown[0], history, level, moves, counts.reshape(shape), unexplained
            )
        )
    return min(found, key=_described)


_LAST, _WHOLE, _BOTH = _WAYS = ("last", "whole", "both")
"""How it is decided to which state a history leads with one more symbol: by its last symbols; by
what follows it, as far as distributions differ; by both. Where a process is forgotten by its last
symbols the first parts too many states, where states differ in where they lead alone the second
parts too few. The machine is taken that describes the data in the fewest bits.
"""


def _described(found: Reconstruction) -> float:
    """Bits of the data by a machine, with half a logarithm of the steps for every number in it."""
    given = found.counts.sum(axis=2, keepdims=True)
    chances = found.counts / np.maximum(given, 1)
    seen = found.counts > 0
    steps = math.log2(max(found.counts.sum(), 2))
    numbers = (seen.sum(axis=2) - 1).clip(min=0).sum() + found.size
    surprise = -(found.counts[seen] * np.log2(chances[seen])).sum()
    return float(surprise + numbers * steps / 2 + found.unexplained * steps)


def _numbered(symbols: Sequence[Hashable]) -> tuple[tuple[Hashable, ...], Ints]:
    places: dict[Hashable, int] = {}
    numbers = np.array(
        [places.setdefault(symbol, len(places)) for symbol in symbols], dtype=np.int64
    )
    return tuple(places), numbers


def _parted(data: Histories, states: dict[int, int], way: str) -> tuple[Ints, dict[int, int]]:
    """(state, symbol), where each leads, -1 where none was seen; and the states, parted until that
    is one state.
    """
    table, longer = data.tables[data.history], data.tables[data.history + 1]
    morphs, power = dict(states), data.kinds ** (data.history)
    while True:
        sums = sums_of(states, table)
        morph = {state: morphs[code] for code, state in states.items()}
        names = {state: number for number, state in enumerate(sorted(sums))}
        votes: dict[tuple[int, int], dict[tuple[bool, int], float]] = {}
        leads: dict[int, dict[int, tuple[bool, int]]] = {code: {} for code in states}
        for word, counts in longer.items():
            code, symbol = divmod(word, data.kinds)
            if code not in states:  # the first symbols of a series, if they never come again
                continue
            # Its last symbols say where it leads, unless they have forgotten what the whole still
            # knows; the following symbols determine it, up to states of one distribution.
            lead = (True, states.get(word % power, -1))
            if lead[1] < 0 or (way != _LAST and data.chance(counts, sums[lead[1]]) < data.level):
                nearest = data.nearest(counts, sums)
                if lead[1] < 0 or nearest[1] >= data.level:
                    lead = (False, nearest[0])
            leads[code][symbol] = lead
            own = votes.setdefault((states[code], symbol), {})
            own[lead] = own.get(lead, 0.0) + counts.sum()
        chosen = {
            place: max(own, key=lambda lead: (lead[0], own[lead]))[1]
            for place, own in votes.items()
        }
        parts: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        parted = {}
        for code, own_leads in leads.items():
            odd = []
            for symbol, (sure, target) in sorted(own_leads.items()):
                usual = chosen[states[code], symbol]
                if target != usual and (
                    (way == _LAST or (way == _BOTH and sure and morph[target] == morph[usual]))
                    or data.chance(longer[code * data.kinds + symbol], sums[usual]) < data.level
                ):
                    odd.append((symbol, target))
            parted[code] = parts.setdefault((states[code], tuple(odd)), len(parts))
        if len(parts) == len(names):
            break
        states = parted
    moves = np.full((len(names), data.kinds), -1, dtype=np.int64)
    for (state, symbol), target in chosen.items():
        moves[names[state], symbol] = names[target]
    numbered = {code: names[state] for code, state in states.items()}
    return _joined_again(moves, numbered, morphs)


def _joined_again(
    moves: Ints, states: dict[int, int], morphs: dict[int, int]
) -> tuple[Ints, dict[int, int]]:
    """States that were parted for nothing made one: of one distribution, and leading to the same
    states.
    """
    morph = {state: morphs[code] for code, state in states.items()}
    arrows = [
        Arrow(
            state,
            symbol,
            morph[state],
            int(moves[state, symbol]) if moves[state, symbol] >= 0 else state,
            Fraction(1),
        )
        for state in range(len(moves))
        for symbol in range(moves.shape[1])
    ]
    classes = behaviour_classes(Transducer.of(arrows, states=range(len(moves))))
    small = np.full((int(classes.max()) + 1, moves.shape[1]), -1, dtype=np.int64)
    for state, symbol in zip(*np.nonzero(moves >= 0), strict=True):
        small[classes[state], symbol] = classes[moves[state, symbol]]
    return small, {code: int(classes[state]) for code, state in states.items()}


def _recurrent(moves: Ints, data: Histories, states: dict[int, int]) -> tuple[Ints, Ints]:
    """The states that are come back to, of the part with the most data, and how they lead to one
    another.
    """
    arrows = [
        Arrow(
            state,
            None,
            symbol,
            int(moves[state, symbol]),
            Fraction(1, int((moves[state] >= 0).sum())),
        )
        for state, symbol in zip(*map(np.ndarray.tolist, np.nonzero(moves >= 0)), strict=True)
    ]
    sums = {state: own.sum() for state, own in sums_of(states, data.tables[data.history]).items()}
    ended = set(range(len(moves))) - {arrow.source for arrow in arrows}
    arrows += [Arrow(state, None, -1, state, Fraction(1)) for state in ended]
    classes = recurrent_classes(Transducer.of(arrows, states=range(len(moves))))
    kept = max(classes, key=lambda own: sum(sums.get(int(state), 0) for state in own))
    place = np.full(len(moves) + 1, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    return kept, place[moves[kept]]


def _places(data: Histories, states: dict[int, int], kept: Ints) -> Ints:
    """(step,): the recurrent state of the history before it by its last symbols alone, -1 where it
    has none.
    """
    place = {int(state): number for number, state in enumerate(kept)}
    codes, back = np.unique(data.codes(data.history), return_inverse=True)
    return np.array([place.get(states[code], -1) for code in codes.tolist()], dtype=np.int64)[
        back.reshape(-1)
    ]


def _followed(data: Histories, places: Ints, moves: Ints) -> tuple[Ints, int]:
    """(state, joint symbol), how often the data used it; and the steps that the machine has no
    way for.
    """
    counts = np.zeros(moves.shape, dtype=np.int64)
    return counts, int(_follow(data.joint[data.first :], places, moves, counts))


@njit
def _follow(joint: Ints, places: Ints, moves: Ints, counts: Ints) -> int:
    """Count where the data are, step by step through the machine; where it cannot go on, by their
    last symbols.
    """
    state, unexplained = -1, 0
    for step in range(len(joint)):
        if state < 0:
            state = places[step]
            if state < 0:
                continue
        counts[state, joint[step]] += 1
        then = moves[state, joint[step]]
        if then < 0:
            unexplained += 1
        state = then
    return unexplained
