"""The machine of a finite task: all that it can be in, what may follow, and the smallest transducer
with the same text.

A finite task has `configurations()`, which gives a `Configurations`. The input is what the learner
does, the output a pair (observation, reward) that follows. The machine is that of the stream
without end, instance after instance.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.machines.beliefs import MOST, unifilar
from quickstudy.machines.chains import Floats, long_run, matrix, recurrent_classes, stationary
from quickstudy.machines.entropies import entropy, topological
from quickstudy.machines.minimal import minimised
from quickstudy.machines.transducer import Arrow, Transducer

Output = tuple[Any, int]
"""The next observation, and the reward of the action."""
Following = Mapping[tuple[Output, Hashable], Fraction]
"""By output and configuration, the chance that both follow."""


@runtime_checkable
class Configurations(Protocol):
    """Everything that a finite task can be in, hidden or not. Samples of the task are exact
    probabilities here.
    """

    inputs: Sequence[Hashable]

    def first(self) -> Following:
        """What may be seen first, and where the task may be then; the reward is 0."""

    def after(self, configuration: Any, given: Any) -> Following:
        """What may follow an input."""

    def right(self, configuration: Any) -> Hashable:
        """The input of an agent that knows the configuration and makes no mistake."""

    def name(self, configurations: Sequence[Any]) -> str:
        """Of a belief that holds all of these for possible; short, for pictures."""


@dataclass(frozen=True, eq=False)
class FiniteMachine:
    """hidden: the task as generated, one state for every configuration; it may not be unifilar.
    machine: the smallest transducer, all states that can be reached. began: by what is seen first,
    its state. configurations: of the hidden states.
    """

    hidden: Transducer
    machine: Transducer
    began: Mapping[Output, int]
    configurations: Sequence[Any]
    source: Configurations

    @cached_property
    def recurrent(self) -> Transducer:
        """The part of the machine that is never left. Raises UsageError if there are several."""
        classes = recurrent_classes(self.machine)
        if len(classes) > 1:
            raise NotApplicable(
                f"{len(classes)} parts of it are never left: no one distribution in the long run"
            )
        return self.machine.only(classes[0])

    @property
    def transient(self) -> int:
        """How many states are left for ever."""
        return self.machine.size - self.recurrent.size

    @cached_property
    def right(self) -> Floats:
        """(state,) of the machine: in the long run with an agent that is always right.

        A closed loop: what is done goes by the hidden configuration, which a learner does not know.
        So it is tracked together with the causal state.
        """
        inputs = {symbol: place for place, symbol in enumerate(self.machine.inputs)}
        outputs = {symbol: place for place, symbol in enumerate(self.machine.outputs)}
        step = {(one[0], one[1], one[2]): one[3] for one in self.machine.edges.tolist()}
        start: dict[tuple[Any, int], float] = {}
        for (shown, configuration), chance in self.source.first().items():
            pair = (configuration, self.began[shown])
            start[pair] = start.get(pair, 0.0) + float(chance)
        numbers = {pair: number for number, pair in enumerate(start)}
        pairs, rows, columns, weights = list(start), list[int](), list[int](), list[float]()
        for number, (configuration, state) in enumerate(pairs):  # which grows while it is iterated
            done = self.source.right(configuration)
            for (shown, later), chance in self.source.after(configuration, done).items():
                pair = (later, step[state, inputs[done], outputs[shown]])
                if pair not in numbers:
                    numbers[pair] = len(numbers)
                    pairs.append(pair)
                rows.append(number)
                columns.append(numbers[pair])
                weights.append(float(chance))
        began = np.zeros(len(pairs))
        began[: len(start)] = list(start.values())
        chain = matrix(len(pairs), np.array(rows), np.array(columns), np.array(weights))
        found = np.zeros(self.machine.size)
        np.add.at(found, [state for _, state in pairs], long_run(chain, began))
        return found

    def figures(self) -> dict[str, float]:
        """states: recurrent ones; transient_states; topological_complexity, C_0 of the recurrent
        ones; complexity_uniform, C_X of memoryless uniform inputs; complexity_right, in the closed
        loop with an agent that makes no mistake; states_as_drawn, before beliefs.
        """
        return {
            "states": self.recurrent.size,
            "transient_states": self.transient,
            "topological_complexity": topological(self.recurrent),
            "complexity_uniform": entropy(stationary(self.recurrent)),
            "complexity_right": entropy(self.right),
            "states_as_drawn": self.hidden.size,
        }


def machine_of(task: Any, most: int = MOST) -> FiniteMachine:
    """The machine of a finite task. most: configurations, and beliefs, that it may have. Raises
    NotApplicable for a task that does not say what it can be in, or with more.
    """
    if not hasattr(task, "configurations"):
        named = getattr(task, "id", type(task).__name__)
        raise NotApplicable(
            f"{named} has no finite machine: it does not say by `configurations()` what it can"
            " be in"
        )
    return constructed(task.configurations(), most)


def constructed(source: Configurations, most: int = MOST) -> FiniteMachine:
    """The machine of everything that a task can be in: enumerated, made unifilar by beliefs,
    minimised.
    """
    first = source.first()
    numbers: dict[Any, int] = {}
    for _, configuration in first:
        numbers.setdefault(configuration, len(numbers))
    configurations, arrows = list(numbers), list[Arrow]()
    for number, configuration in enumerate(configurations):  # which grows while it is iterated
        for given in source.inputs:
            for (shown, later), chance in source.after(configuration, given).items():
                if later not in numbers:
                    if len(numbers) >= most:
                        raise NotApplicable(
                            f"more than {most:,} configurations: reduce the task to fewer"
                        )
                    numbers[later] = len(numbers)
                    configurations.append(later)
                arrows.append(Arrow(number, given, shown, numbers[later], chance))
    hidden = Transducer.of(arrows, states=range(len(configurations)))
    beliefs: dict[Output, dict[int, Fraction]] = {}
    for (shown, configuration), chance in first.items():
        own = beliefs.setdefault(shown, {})
        own[numbers[configuration]] = own.get(numbers[configuration], Fraction(0)) + chance
    causal = unifilar(
        hidden,
        [(belief, sum(belief.values(), Fraction(0))) for belief in beliefs.values()],
        most,
        lambda states: source.name([configurations[state] for state in states]),
    )
    small = minimised(causal.machine)
    began = {
        shown: int(small.classes[state]) for shown, state in zip(beliefs, causal.began, strict=True)
    }
    return FiniteMachine(
        _named(hidden, configurations, source), small.machine, began, configurations, source
    )


def _named(hidden: Transducer, configurations: Sequence[Any], source: Configurations) -> Transducer:
    from dataclasses import replace

    start: dict[int, Fraction] = {}
    places = {configuration: place for place, configuration in enumerate(configurations)}
    for (_, configuration), chance in source.first().items():
        start[places[configuration]] = start.get(places[configuration], Fraction(0)) + chance
    return replace(
        hidden,
        states=tuple(source.name([one]) for one in configurations),
        start=tuple(start.items()),
    )
