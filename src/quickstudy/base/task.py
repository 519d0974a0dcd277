"""What is to be learned. A task is a frozen dataclass of parameters with a pure sampler, or with a world that answers.

A task keeps no state, imports no learner and draws only from the stream it is handed. Its docstring is its spec sheet:
what the learner sees, what it must answer, how it is scored, chance, ceiling, source, departures.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples, Series
from quickstudy.base.spaces import Space, Tokens


@runtime_checkable
class ExampleTask(Protocol):
    """Independent sequences with questions in them.

    Says what goes in and out by `vocabulary` (a sequence of words: tokens in, tokens out) or by `inputs` and
    `outputs` (spaces).
    """

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent draws."""


@runtime_checkable
class SeriesTask(Protocol):
    """One long driven series per repetition. Has `inputs` and `outputs` (spaces)."""

    def drive(self, rng: np.random.Generator) -> Series:
        """A fresh series."""


class Turn(NamedTuple):
    """What a world says back: the next observation, the reward for the action just taken, whether it is over.

    info: what the protocol may log and the learner may not see (an instance passed, support or query, ...), by name.
    """

    observation: Any
    reward: Any
    done: Any
    info: Mapping[str, Any] = MappingProxyType({})


class World(Protocol):
    """An environment that answers, on the host."""

    def reset(self) -> Any:
        """Start (again) and give the first observation."""

    def step(self, action: Any) -> Turn:
        """Take one action."""


@runtime_checkable
class WorldTask(Protocol):
    """A sampler of worlds. Has `inputs` (observations) and `outputs` (actions).

    horizon: the most steps that may come before the world is over, or before a learner's memory may start again; it
    is the capacity a learner is told.
    """

    horizon: int

    def open(self, rng: np.random.Generator) -> World:
        """A fresh world; the whole interaction depends only on the stream and the actions."""


@runtime_checkable
class PureWorldTask(Protocol):
    """A world as pure JAX functions, so that whole episodes are one compiled program. Has `inputs` and `outputs`.

    horizon: steps of an episode; one that is over earlier goes on unrewarded. Hashable: it is a constant of the
    compiled program.
    """

    horizon: int

    def reset(self, key: Any) -> tuple[Any, Any]:
        """(state, first observation)."""

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """(state, turn); everything in the turn is an array, `info` a mapping of arrays."""


ASKED = ("symbols", "reals", "strings", "reward", "episodes")
"""What can be asked of a learner: one of some symbols; real numbers; the next symbol everywhere in many whole strings;
actions for which a world gives reward step by step; whole episodes of a pure world. The usual training of a core, and
the usual parameters of both, follow from it."""


def asked_of(task: Any, protocol: Any = None) -> str:
    """What a task asks of a learner: the word of the protocol, `asks`, if it has one; else by the task's kind and
    outputs. Outputs that are no symbols (bits and fields as well) are asked for as reals.
    """
    asks = getattr(protocol, "asks", None)
    if asks is not None:
        if asks not in ASKED:
            raise UsageError(f'protocol {protocol.id}: asks must be one of {", ".join(ASKED)}, got "{asks}"')
        return str(asks)
    if isinstance(task, ExampleTask | SeriesTask):
        return "symbols" if isinstance(spaces_of(task)[1], Tokens) else "reals"
    if isinstance(task, WorldTask):
        return "reward"
    return "episodes" if isinstance(task, PureWorldTask) else "symbols"


def spaces_of(task: Any) -> tuple[Space, Space]:
    """What a task's learner reads and gives."""
    if hasattr(task, "inputs") and hasattr(task, "outputs"):
        return task.inputs, task.outputs
    if hasattr(task, "vocabulary"):
        size = len(task.vocabulary)
        return Tokens(size), Tokens(size)
    raise UsageError(f"{type(task).__name__}: a task needs `vocabulary`, or `inputs` and `outputs`")
