"""What a learner has to learn. A task is a frozen dataclass of parameters with a pure sampler, or
with a world that answers.

A task keeps no state, imports no learner and draws only from the stream it is handed. Its docstring
is its spec sheet: what the learner sees, what it must answer, how it is scored, chance, ceiling,
source, departures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples, Series
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens


@runtime_checkable
class ExampleTask(Protocol):
    """Independent sequences with questions in them.

    Says what goes in and out by `vocabulary` (a sequence of words: tokens in, tokens out) or by
    `inputs` and `outputs` (spaces).
    """

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent draws."""


@runtime_checkable
class SeriesTask(Protocol):
    """One long driven series per repetition. Has `inputs` and `outputs` (spaces)."""

    def drive(self, rng: np.random.Generator) -> Series:
        """A fresh series."""


class Turn(NamedTuple):
    """A world's reply: the next observation, the reward for the action just taken, whether
    it is over.

    info: what the protocol may log and the learner may not see (an instance passed, support or
    query, ...), by name. A plain mapping, never written to: the default is one for all, and turns
    leave compiled functions.
    """

    observation: Any
    reward: Any
    done: Any
    info: Mapping[str, Any] = {}


class Life(NamedTuple):
    """A trajectory: the steps of episodes in a world, in order; `observations`, `actions` and
    `rewards` have one entry a step.

    observations: what the learner saw; actions: what it did then; rewards: what that brought.
    Lists, or a smaller type that gives the same entries (bytes, an array). events: (step, info)
    of every step whose turn had info, steps counted from 0 in this call. done: the world was over
    after the last step.
    """

    observations: Sequence[Any]
    actions: Sequence[Any]
    rewards: Sequence[Any]
    events: Sequence[tuple[int, Mapping[str, Any]]]
    done: bool


class World(ABC):
    """An environment that answers, on the host. Its user either steps it or lets a program
    live in it.

    players: as many as its task has (see `players_of`).
    """

    players = 1
    __turn: Turn | None = None

    @abstractmethod
    def reset(self) -> Any:
        """Start (again) and give the first observation."""

    @abstractmethod
    def step(self, action: Any) -> Turn:
        """Take one action."""

    def live(self, act: Callable[[Any, Any], Any], steps: int) -> Life:
        """Take up to `steps` steps, fewer only if the world is over before; another call goes on
        from there.

        act(observation, reward) -> action, in plain Python values. The reward is that for the
        action before, 0 at first; the one for an episode's last action comes with the first
        observation of the next. A world that is fresh or over is reset first. A world may have a
        loop of its own (a `Turn` costs 0.25 microseconds before anything happens): what `act` is
        given and what comes back must equal this one, wherever the calls are cut.
        """
        turn = self.__turn or Turn(None, 0.0 if self.players == 1 else np.zeros(self.players), True)
        observations, actions, rewards, events = list[Any](), list[Any](), list[Any](), list[Any]()
        for step in range(steps):
            if step == 0 and turn.done:
                turn = Turn(self.reset(), turn.reward, False)
            observations.append(turn.observation)
            actions.append(act(turn.observation, turn.reward))
            turn = self.step(actions[-1])
            rewards.append(turn.reward)
            if turn.info:
                events.append((step, turn.info))
            if turn.done:
                break
        self.__turn = turn
        return Life(observations, actions, rewards, events, bool(actions) and bool(turn.done))


@runtime_checkable
class WorldTask(Protocol):
    """A sampler of worlds. Has `inputs` (observations) and `outputs` (actions), perhaps `players`.

    horizon: the most steps that may come before the world is over, or before a learner's memory may
    start again; it is the capacity in a learner's brief.
    """

    horizon: int

    def open(self, streams: Streams) -> World:
        """A fresh world; the whole interaction depends only on the streams and the actions.

        Each kind of sample has its own purpose, and so its own stream. A world made of others opens
        each with `dataclasses.replace(streams, task=member.id)`: it shows the same there, alone and
        after others.
        """


@runtime_checkable
class PureWorldTask(Protocol):
    """A world as pure JAX functions, so that whole episodes are one compiled program. Has `inputs`
    and `outputs`, perhaps `players`.

    horizon: steps of an episode; one that is over earlier goes on unrewarded. Hashable: it is a
    constant of the compiled program. What else it may offer: `NumberedWorld`, `DrawnWorld`,
    `PackedWorld`, `ChannelWorld`.
    """

    horizon: int

    def reset(self, key: Any) -> tuple[Any, Any]:
        """(state, first observation)."""

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """(state, turn); everything in the turn is an array, `info` a mapping of arrays."""


@runtime_checkable
class NumberedWorld(Protocol):
    """A pure world whose episodes are numbered, as where each has a start of its own."""

    def episode(self, key: Any, number: Any) -> tuple[Any, Any]:
        """(state, first observation) of the episode of that number; asked instead of `reset`."""


@runtime_checkable
class DrawnWorld(Protocol):
    """A pure world that can draw whole episodes by themselves, before anything is played."""

    def drawn(self, keys: Any, numbers: Any) -> Any:
        """Episodes of these numbers (lane, episode), of the lanes' keys."""

    def started(self, episode: Any) -> tuple[Any, Any]:
        """(state, first observation) of one of them."""


@runtime_checkable
class PackedWorld(Protocol):
    """A pure world whose episodes can be drawn one after another in one block, without padding."""

    def pack(self, keys: Any) -> Any:
        """The block with the episodes of these keys for their resets."""

    def unpack(self, block: Any) -> tuple[Any, Any]:
        """(a pure world that plays the block, (states, first observations) of all episodes)."""

    def lengths(self, block: Any) -> Any:
        """(episode,) how long each is, in any unit."""


@runtime_checkable
class ChannelWorld(Protocol):
    """A pure world in which players send messages through which gradients could pass."""

    @property
    def channel(self) -> Any:
        """Sizes and encoding of what passes (`Channel` of the games); None where its rules are of
        another kind.
        """


@runtime_checkable
class Composed(Protocol):
    """A task that is made of others, by their names."""

    def made_of(self) -> tuple[type, ...]:
        """Their classes. The code of those from a user's files is part of the task's identity."""


def players_of(task: Any) -> int:
    """How many act in a world at every step: its `players`, or 1.

    `inputs` and `outputs` are those of one player. With one player nothing more is needed; with
    several, observations, actions and rewards have an axis of that size in front of all others, and
    the world is over for all at once.
    """
    return int(getattr(task, "players", 1))


ASKED = ("symbols", "spans", "reals", "strings", "reward", "episodes", "fitness")
"""What can be asked of a learner: one of some symbols; the same in sequences of all difficulties;
real numbers; the next symbol everywhere in many whole strings;
actions for which a world gives reward step by step; whole episodes of a pure world; answers of
which the right answers are not shown, but how good they all were. The usual training of a
core, and the usual parameters of both, follow from it.
"""


def asked_of(task: Any, protocol: Any = None) -> str:
    """What a task asks of a learner: the word of the protocol, `asks`, if it has one, or the task's
    own; else by the task's kind and outputs. Outputs that are not symbols (bits and fields as well)
    are asked for as reals.
    """
    for kind, owner in (("protocol", protocol), ("task", task)):
        asks = getattr(owner, "asks", None)
        if asks is not None:
            if asks not in ASKED:
                raise UsageError(
                    f'{kind} {owner.id}: asks must be one of {", ".join(ASKED)}, got "{asks}"'
                )
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
