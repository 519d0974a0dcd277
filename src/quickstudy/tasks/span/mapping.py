"""Span items by reward: how many symbols a learner maps, and how many mappings it keeps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import control, task
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import Turn, World
from quickstudy.tasks.span.item import Axis


class CueWorld(World):
    """A step is a cue and an action, reward 1 if the action is right. goal: the right action by cue."""

    def __init__(self, task: Any, rng: np.random.Generator) -> None:
        self._task, self._rng = task, rng
        self.goal: dict[int, int] = {}
        self.now = 0
        self._block, self._left = -1, 0

    def reset(self) -> int:
        """The first cue."""
        self._next_block()
        return self._cue()

    def step(self, action: Any) -> Turn:
        """One cue answered."""
        right = int(action) == self.goal[self.now]
        info = self._scored(right)
        self._left -= 1
        if not self._left:
            self._next_block()
        return Turn(self._cue(), float(right), False, info)

    def _cue(self) -> int:
        self.now = int(self._cues[self._rng.integers(len(self._cues))])
        return self.now

    @abstractmethod
    def _next_block(self) -> None:
        """Set `_cues`, `_left` and what belongs to a block."""

    @abstractmethod
    def _scored(self, right: bool) -> MappingOf[str, Any]:
        """What the protocol logs of a step: level, won and asked, or nothing."""


class MappingWorld(CueWorld):
    """Blocks of one mapping each. All levels come in random order, then again."""

    def _next_block(self) -> None:
        self._block += 1
        levels = len(self._task.grid)
        if self._block % levels == 0:
            self._order = self._rng.permutation(levels)
        self._level = int(self._order[self._block % levels])
        size, symbols = self._task.grid[self._level], self._task.symbols
        self._cues = self._rng.permutation(symbols)[:size]
        actions = self._rng.permutation(symbols)[:size]
        self.goal = dict(zip(self._cues.tolist(), actions.tolist(), strict=True))
        self._left = self._task.block

    def _scored(self, right: bool) -> MappingOf[str, Any]:
        judged = self._left <= self._task.block // 3
        return {"level": self._level, "won": int(right), "asked": 1} if judged else {}


class KeepWorld(CueWorld):
    """Mappings of two cues, one after another, each with cues of its own; then all cues, mixed."""

    def reset(self) -> int:
        """Draw all mappings."""
        count = 2 * self._task.longest
        self._all = self._rng.permutation(count)
        self.goal = dict(zip(self._all.tolist(), self._rng.permutation(count).tolist(), strict=True))
        return super().reset()

    def _next_block(self) -> None:
        self._block += 1
        mapping = self._block
        known = mapping < self._task.longest
        self._cues = self._all[2 * mapping : 2 * mapping + 2] if known else self._all
        self._left = self._task.block if known else self._task.tested

    def _scored(self, right: bool) -> MappingOf[str, Any]:
        if self._block < self._task.longest:
            return {}
        since = self._task.longest - int(np.flatnonzero(self._all == self.now)[0]) // 2
        return {"level": int(np.searchsorted(self._task.grid, since)), "won": int(right), "asked": 1}


class RewardItem(Axis):
    """An item in a world of cues.

    block: steps of a block. steps: of the whole run. tested: steps at its end, without learning.
    """

    family: ClassVar[str] = "curriculum"
    conventions: ClassVar[MappingOf[str, MappingOf[str, Any]]] = {}
    horizon: ClassVar[int] = 1_000_000
    tested: ClassVar[int] = 0
    block: int

    @property
    @abstractmethod
    def width(self) -> int:
        """Cues, and actions."""

    @property
    def inputs(self) -> Tokens:
        """Cues."""
        return Tokens(self.width)

    @property
    def outputs(self) -> Tokens:
        """Actions."""
        return Tokens(self.width)

    def chances(self) -> NDArray[np.float64]:
        """One action of all, at every difficulty."""
        return np.full(len(self.grid), 1 / self.width)


@task("span/mapping", version=1, controls=["random-action"], oracle="knows-mapping", protocol="span-world")
@dataclass(frozen=True)
class Mapping(RewardItem):
    """Find out by reward which action belongs to which cue, again and again with new mappings.

    Sees: a cue of `symbols`. Does: one of as many actions. Reward: 1 for the right action, 0 else.
    A block has k cues and lasts `block` steps; then k changes and the mapping is new. The learner is
    not told where a block ends. Scored: rewards in the last third of blocks, by k.
    Chance: 1/symbols. Ceiling: 1. Source: ours; arbitrary visuomotor mapping of animal learning.

    symbols: cues, and actions. block: steps of a block. blocks: how many. longest: cues of the largest mapping.
    """

    unit: ClassVar[str] = "symbols mapped by reward"
    can: ClassVar[str] = "maps {} symbols by reward"
    symbols: int = parameter(8, at_least=2)
    block: int = parameter(1500, at_least=12)
    blocks: int = parameter(12, at_least=1)
    longest: int = parameter(8, at_least=1)

    @property
    def width(self) -> int:
        """Cues, and actions."""
        return self.symbols

    @property
    def steps(self) -> int:
        """Of the whole run."""
        return self.block * self.blocks

    def open(self, streams: Streams) -> MappingWorld:
        """A fresh world."""
        return MappingWorld(self, streams.numpy("data"))


@task("span/keep", version=1, controls=["random-action"], oracle="knows-mapping", protocol="span-world")
@dataclass(frozen=True)
class Keep(RewardItem):
    """Keep mappings while others are learned.

    Sees: a cue. Does: one of as many actions. Reward: 1 for the right action, 0 else.
    Mappings of two cues each are learned one after another, each with cues and actions of its own.
    Then all cues come, mixed, and nothing is learned. Difficulty: how many mappings ago, 1 for the last one.
    Chance: one action of all. Ceiling: 1. Source: ours; catastrophic interference (McCloskey and Cohen 1989).

    block: steps of a mapping. longest: how many mappings.
    """

    unit: ClassVar[str] = "mappings kept"
    can: ClassVar[str] = "keeps {} mappings"
    tested: ClassVar[int] = 1600
    block: int = parameter(1000, at_least=2)
    longest: int = parameter(8, at_least=1)

    @property
    def width(self) -> int:
        """Cues, and actions."""
        return 2 * self.longest

    @property
    def steps(self) -> int:
        """Of the whole run."""
        return self.block * self.longest + self.tested

    def open(self, streams: Streams) -> KeepWorld:
        """A fresh world."""
        return KeepWorld(self, streams.numpy("data"))


@control("random-action", version=1, role="control")
class RandomAction:
    """Any action, each as likely as the others."""

    learns = False

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._rng, self._width = np.random.default_rng(seed), brief.outputs.width

    def act(self, observation: Any, reward: Any, first: Any, learning: bool = True) -> int:
        """A guess."""
        return int(self._rng.integers(self._width))


@control("knows-mapping", version=1, role="oracle")
class KnowsMapping:
    """Sees the mapping."""

    learns = False

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._world: Any = None

    def watch(self, world: Any) -> None:
        """Look inside the world."""
        self._world = world

    def act(self, observation: Any, reward: Any, first: Any, learning: bool = True) -> int:
        """The right action."""
        return int(self._world.goal[int(observation)])
