"""Machines without their chances, and how alike their states look whatever the symbols are called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quickstudy.machines.transducer import Transducer

AROUND = 8
"""How many steps around a state are looked at."""

Label = tuple[Any, Any, Any]
"""Input, what is seen, reward."""


class Graph:
    """A machine without its chances: (source, label, target), and who is before and after whom."""

    def __init__(self, machine: Transducer) -> None:
        self.size, self.inputs = machine.size, machine.inputs
        parts = [
            output if isinstance(output, tuple) and len(output) == 2 else (output, None) for output in machine.outputs
        ]
        self.edges: list[tuple[int, Label, int]] = []
        self.after: list[dict[Label, int]] = [{} for _ in machine.states]
        self.before: list[dict[Label, int]] = [{} for _ in machine.states]
        for source, given, shown, target, _ in machine.edges.tolist():
            label = (machine.inputs[given], *parts[shown])
            self.edges.append((source, label, target))
            self.after[source][label] = self.after[source].get(label, 0) | 1 << target
            self.before[target][label] = self.before[target].get(label, 0) | 1 << source
        self.seen = list(dict.fromkeys(label[1] for _, label, _ in self.edges))
        self.root = machine.start[0][0] if machine.start else 0
        self.next: list[list[tuple[int, Label, bool]]] = [[] for _ in machine.states]
        for source, label, target in self.edges:
            self.next[source].append((target, label, True))
            if source != target:
                self.next[target].append((source, label, False))


def looks(one: Graph, other: Graph) -> Iterator[tuple[list[int], list[int]]]:
    """For one step around, two, and so on: numbers of the states of both, equal where they look alike.

    Two look alike if the same rewards may follow and lead to states that look alike one step less far, whatever the
    symbols are called and however many there are.
    """
    colours = [0] * one.size, [0] * other.size
    for _ in range(AROUND):
        names: dict[Any, int] = {}
        rows = [[set[tuple[str, int]]() for _ in own] for own in colours]
        for graph, own, row in zip((one, other), colours, rows, strict=True):
            for source, label, target in graph.edges:
                row[source].add((str(label[2]), own[target]))
        colours = tuple(  # type: ignore[assignment]
            [names.setdefault((before, frozenset(seen)), len(names)) for before, seen in zip(own, row, strict=True)]
            for own, row in zip(colours, rows, strict=True)
        )
        yield colours


def resemblance(first: Transducer, second: Transducer) -> float:
    """The share of states of the second machine that look like one of the first, a mean over one step around to eight.

    Cheap, and of machines of any size: rewards alone are compared, no symbol has to be renamed. 1 if all of the second
    is known from the first as far as one looks.
    """
    shares = []
    for mine, theirs in looks(Graph(first), Graph(second)):
        known = set(mine)
        shares.append(sum(colour in known for colour in theirs) / len(theirs))
    return sum(shares) / len(shares)
