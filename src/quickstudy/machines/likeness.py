"""Machines without their probabilities, and how alike their states are under renaming of
symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from quickstudy.machines.chains import Floats
from quickstudy.machines.minimal import alike
from quickstudy.machines.transducer import OUTPUT, SOURCE, TARGET, Ints, Transducer

AROUND = 8
"""How many steps around a state are looked at."""

Label = tuple[Any, Any, Any]
"""Input, what is seen, reward."""


class Graph:
    """A machine without its chances: (source, label, target), and who is before and after whom."""

    def __init__(self, machine: Transducer) -> None:
        self.machine, self.size, self.inputs = machine, machine.size, machine.inputs
        parts = [
            output if isinstance(output, tuple) and len(output) == 2 else (output, None)
            for output in machine.outputs
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


def looks(machines: Sequence[Transducer]) -> Iterator[list[Ints]]:
    """For one step around, two, and so on: by machine, numbers of its states, equal wherever they
    look alike.

    Two look alike if the same rewards may follow and lead to states that look alike one step less
    far, for any names of the symbols and however many there are.
    """
    starts = np.cumsum([0, *(machine.size for machine in machines)])
    rewards: dict[Any, int] = {}
    parts = []
    for machine, start in zip(machines, starts, strict=False):
        kinds = [rewards.setdefault(reward_of(output), len(rewards)) for output in machine.outputs]
        edges = machine.edges
        parts.append(
            (edges[:, SOURCE] + start, np.array(kinds)[edges[:, OUTPUT]], edges[:, TARGET] + start)
        )
    sources, kind, targets = (np.concatenate(some) for some in zip(*parts, strict=True))
    colours: Ints = np.zeros(int(starts[-1]), dtype=np.int64)
    for _ in range(AROUND):
        count = int(colours.max()) + 1
        keys = np.unique((sources * len(rewards) + kind) * count + colours[targets])
        colours = alike(len(colours), keys // (len(rewards) * count), keys % (len(rewards) * count))
        yield np.split(colours, starts[1:-1])


def reward_of(output: Any) -> Any:
    """The reward of an output (observation, reward); None of any other."""
    return output[1] if isinstance(output, tuple) and len(output) == 2 else None


def resemblances(machines: Sequence[Transducer]) -> Floats:
    """(first, second): the share of states of the second machine that look like one of the first, a
    mean over one step around to eight.

    Cheap, and of machines of any size: rewards alone are compared, no symbol has to be renamed. 1
    if all of the second is known from the first as far as one looks.
    """
    shares = np.zeros((len(machines), len(machines)))
    for colours in looks(machines):
        for first, mine in enumerate(colours):
            for second, theirs in enumerate(colours):
                shares[first, second] += np.isin(theirs, mine).mean()
    return shares / AROUND


def resemblance(first: Transducer, second: Transducer) -> float:
    """The same for two machines."""
    return float(resemblances([first, second])[0, 1])
