"""What two machines share: how much of the one is found in the other under another name.

Shared structure is a set of pairs of states and an injective renaming of symbols, such that every
edge of the first machine between chosen states exists in the second, renamed, with the same
reward. Chances play no part. The set with the most edges is searched for, by branch and bound;
where that is not ended, what was found is a lower bound.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.machines.likeness import Graph, Label, looks
from quickstudy.machines.transducer import Transducer

EXACT = 50
"""States of either machine up to which the search goes on until it is ended, or has taken too many
steps.
"""
STEPS = 20_000
_RENAMINGS = 5_000
_ROOTS, _SEEDS, _EACH, _TRIED = 8, 3_000, 3, 4
"""Of a search that does not turn back: how often it is begun, pairs of states that it may begin
islands with, of every state with so many others, and renamings that are tried.
"""


@dataclass(frozen=True)
class Shared:
    """pairs: (state of the first, state of the second), by number. inputs, seen: how symbols are
    renamed. edges: of the first that were found. containment, coverage: that over all edges of the
    first, of the second. state_containment, state_coverage: the same for states. exact: nothing
    greater exists; else it is a lower bound.
    """

    pairs: tuple[tuple[int, int], ...]
    inputs: Mapping[Hashable, Hashable]
    seen: Mapping[Hashable, Hashable]
    edges: int
    containment: float
    coverage: float
    state_containment: float
    state_coverage: float
    exact: bool


def shared_structure(first: Transducer, second: Transducer, steps: int = STEPS) -> Shared:
    """The greatest structure of the first machine that was found in the second. steps: of the
    search, at most.
    """
    one, other = Graph(first), Graph(second)
    small = max(first.size, second.size) <= EXACT
    renamings, all_of_them = _renamings(one, other)
    search, most = _Search(one, other, steps), min(len(one.edges), len(other.edges))
    for renaming in renamings if small else itertools.islice(renamings, _TRIED):
        if small:
            search.begin(renaming)
        else:
            search.dive(renaming)
        if search.best == most:
            break
    exact = search.best == most or (small and all_of_them and search.left > 0)
    inputs, seen = search.renaming
    count = max(1, len(one.edges)), max(1, len(other.edges))
    return Shared(
        tuple(sorted(search.pairs.items())),
        inputs,
        seen,
        search.best,
        search.best / count[0],
        search.best / count[1],
        len(search.pairs) / first.size,
        len(search.pairs) / second.size,
        exact,
    )


_NOWHERE: Label = (None, None, "not renamed")
"""A label that no edge has."""
Renaming = tuple[Mapping[Hashable, Hashable], Mapping[Hashable, Hashable]]


def _renamings(one: Graph, other: Graph) -> tuple[Iterator[Renaming], bool]:
    """Renamings of inputs and of what is seen, and whether these are all: else the likeliest
    alone.
    """
    counts = [
        math.perm(max(len(mine), len(theirs)), min(len(mine), len(theirs)))
        for mine, theirs in ((one.inputs, other.inputs), (one.seen, other.seen))
    ]
    if math.prod(counts) > _RENAMINGS:
        usual = _likeliest(one, other, 0), _likeliest(one, other, 1)
        return iter([usual]), False
    pairs = itertools.product(
        _injections(one.inputs, other.inputs), _injections(one.seen, other.seen)
    )
    same = {symbol: symbol for symbol in one.inputs}, {symbol: symbol for symbol in one.seen}
    # As they are called already comes first: it is often the best.
    found = sorted(
        pairs, key=lambda pair: -_agreeing(pair[0], same[0]) - _agreeing(pair[1], same[1])
    )
    return iter(found), True


def _agreeing(renaming: Mapping[Any, Any], same: Mapping[Any, Any]) -> int:
    return sum(same.get(symbol) == target for symbol, target in renaming.items())


def _injections(
    mine: Sequence[Hashable], theirs: Sequence[Hashable]
) -> list[Mapping[Hashable, Hashable]]:
    """All ways to rename as many symbols as can be."""
    if len(mine) <= len(theirs):
        return [
            dict(zip(mine, some, strict=True)) for some in itertools.permutations(theirs, len(mine))
        ]
    return [
        dict(zip(some, theirs, strict=True)) for some in itertools.permutations(mine, len(theirs))
    ]


def _likeliest(one: Graph, other: Graph, place: int) -> Mapping[Hashable, Hashable]:
    """Symbols that both have stay what they are; the others go by how often they occur."""
    mine, theirs = (
        [symbol for symbol, _ in Counter(label[place] for _, label, _ in graph.edges).most_common()]
        for graph in (one, other)
    )
    common = {symbol: symbol for symbol in mine if symbol in set(theirs)}
    rest = zip(
        [one for one in mine if one not in common],
        [one for one in theirs if one not in common],
        strict=False,
    )
    return {**common, **dict(rest)}


class _Search:
    """The best that was found so far, over all renamings."""

    def __init__(self, one: Graph, other: Graph, steps: int) -> None:
        self.one, self.other, self.left = one, other, steps
        self.best, self.pairs, self.renaming = 0, dict[int, int](), ({}, {})  # type: ignore[var-annotated]

    def _rename(self, renaming: Renaming) -> None:
        inputs, seen = renaming
        labels = {label for _, label, _ in self.one.edges}
        self.labels = {
            label: (inputs[label[0]], seen[label[1]], label[2])
            for label in labels
            if label[0] in inputs and label[1] in seen
        }
        self.now = renaming
        renamed = Counter(
            (source, target) for source, label, target in self.one.edges if label in self.labels
        )
        self.hopeful = [(source, target, count) for (source, target), count in renamed.items()]

    def _first(self) -> list[int]:
        """By state of the first machine, those of the second that it may be alone: with the same
        loops.
        """
        everything = (1 << self.other.size) - 1
        masks = []
        for state in range(self.one.size):
            mask = everything
            for target, label, _ in self.one.next[state]:
                if target == state:
                    looped = self.labels.get(label, _NOWHERE)
                    after = self.other.after
                    mask &= sum(
                        1 << place
                        for place in range(self.other.size)
                        if after[place].get(looped, 0) >> place & 1
                    )
            masks.append(mask)
        return masks

    def _narrowed(self, state: int, place: int, masks: Mapping[int, int]) -> dict[int, int]:
        """What the neighbours of a state may still be once it is paired. masks: of those that are
        not decided.
        """
        found: dict[int, int] = {}
        for other, label, forward in self.one.next[state]:
            if other == state or other not in masks:
                continue
            renamed = self.labels.get(label, _NOWHERE)
            ways = self.other.after if forward else self.other.before
            mask = found.get(other, masks[other]) & ways[place].get(renamed, 0)
            found[other] = mask
        return found

    def begin(self, renaming: Renaming) -> None:
        """Search through everything, for one renaming."""
        self._rename(renaming)
        self._go_on({}, dict(enumerate(self._first())), 0)

    def _keep(self, paired: Mapping[int, int], matched: int) -> None:
        if matched > self.best or (matched == self.best and len(paired) > len(self.pairs)):
            self.best, self.pairs, self.renaming = matched, dict(paired), self.now  # type: ignore[assignment]

    def _go_on(self, paired: dict[int, int], masks: dict[int, int], matched: int) -> None:
        """Pair one more state, in every way, or none; masks: of the states that are not decided."""
        self._keep(paired, matched)
        self.left -= 1
        alive = {state for state, mask in masks.items() if mask} | paired.keys()
        hoped = sum(
            count for source, target, count in self.hopeful if source in alive and target in alive
        )
        open_ = [state for state, mask in masks.items() if mask]
        if not open_ or hoped <= self.best or self.left <= 0:
            return
        ties = {
            state: sum(other in paired for other, _, _ in self.one.next[state]) for state in open_
        }
        state = max(
            open_, key=lambda one: (ties[one], -masks[one].bit_count(), one == self.one.root)
        )
        rest = {other: mask for other, mask in masks.items() if other != state}
        for place in self._likely(state, masks[state]):
            narrowed = {other: mask & ~(1 << place) for other, mask in rest.items()}
            for other, mask in self._narrowed(state, place, rest).items():
                narrowed[other] &= mask
            gained = sum(other in paired or other == state for other, _, _ in self.one.next[state])
            self._go_on({**paired, state: place}, narrowed, matched + gained)
            if self.left <= 0 or self.best == len(self.one.edges):
                return
        self._go_on(paired, rest, matched)

    def _likely(self, state: int, mask: int) -> list[int]:
        """The states it may be, those with as many edges first."""
        places = [place for place in range(mask.bit_length()) if mask >> place & 1]
        degree = len(self.one.next[state])
        return sorted(places, key=lambda place: (abs(len(self.other.next[place]) - degree), place))

    def dive(self, renaming: Renaming) -> None:
        """Grow islands of pairs, never turning back: from pairs of states that look alike far
        around, several times, each time begun with another pair.
        """
        self._rename(renaming)
        first = self._first()
        seeds = [pair for pair in _seeds(self.one, self.other) if first[pair[0]] >> pair[1] & 1]
        for begin in range(0, len(seeds), max(1, len(seeds) // _ROOTS)):
            self._grow([*seeds[begin:], *seeds[:begin]], first)

    def _grow(self, seeds: Sequence[tuple[int, int]], first: Sequence[int]) -> None:
        paired, used, matched = dict[int, int](), 0, 0
        edge: dict[int, int] = {}
        given_up: set[int] = set()
        for seed in seeds:
            if seed[0] in paired or seed[0] in given_up or used >> seed[1] & 1:
                continue
            edge[seed[0]] = 1 << seed[1]
            while edge:
                state = min(edge, key=lambda one: edge[one].bit_count())
                mask = edge.pop(state) & ~used
                if not mask:
                    given_up.add(state)
                    continue
                place = self._likely(state, mask)[0]
                matched += sum(
                    other in paired or other == state for other, _, _ in self.one.next[state]
                )
                paired[state], used = place, used | 1 << place
                open_ = {
                    other: edge.get(other, first[other]) for other, _, _ in self.one.next[state]
                }
                for other, narrowed in self._narrowed(state, place, open_).items():
                    if other not in paired and other not in given_up:
                        edge[other] = narrowed
        self._keep(paired, matched)


def _seeds(one: Graph, other: Graph) -> list[tuple[int, int]]:
    """Pairs of states that look alike, those that do so farthest around first."""
    found: list[list[tuple[int, int]]] = []
    for mine, theirs in looks([one.machine, other.machine]):
        places: dict[int, list[int]] = {}
        for place, colour in enumerate(theirs.tolist()):
            places.setdefault(colour, []).append(place)
        own = mine.tolist()
        common = Counter(own)
        states = sorted(range(one.size), key=lambda state: common[own[state]])
        found.append(
            [(state, place) for state in states for place in places.get(own[state], ())[:_EACH]]
        )
    return list(dict.fromkeys(pair for alike in reversed(found) for pair in alike))[:_SEEDS]
