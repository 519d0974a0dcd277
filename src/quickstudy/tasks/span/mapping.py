"""Span items by reward: mappings from cues to actions, learned by trial, kept, and learned
faster.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping as Named
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import control, task
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.tasks.span.item import Axis
from quickstudy.tasks.span.script import Script, ScriptWorld

ACTIONS = 8
RULES = ["random-action", "best-single-action"]


class WorldItem(Axis):
    """An item by reward: one step is one cue and one action of 8, rewarded with 1 if it is right.

    parts: checkpoints, for which different steps of the world count.
    """

    family: ClassVar[str] = "curriculum"
    conventions: ClassVar[Named[str, Named[str, Any]]] = {}
    parts: ClassVar[int] = 1
    outputs: ClassVar[Tokens] = Tokens(ACTIONS)
    horizon: int

    @property
    @abstractmethod
    def inputs(self) -> Tokens:
        """The cues."""

    @abstractmethod
    def script(self, rng: np.random.Generator) -> Script:
        """Cues and right actions of a whole run."""

    def open(self, streams: Streams) -> ScriptWorld:
        """A fresh world."""
        return ScriptWorld(self.script(streams.numpy("data")))

    def chances(self) -> NDArray[np.float64]:
        """Accuracy of a random action, in every bin."""
        return np.full(len(self.grid), 1 / ACTIONS)


class Blocks(WorldItem):
    """Blocks of one mapping each. A round has one block of every k of the grid, in random order."""

    rounds: int
    block: int

    @property
    def inputs(self) -> Tokens:
        """As many cues as actions."""
        return Tokens(ACTIONS)

    @property
    def horizon(self) -> int:  # type: ignore[override]
        """Steps of all blocks."""
        return self.rounds * len(self.grid) * self.block

    def script(self, rng: np.random.Generator) -> Script:
        """Cues in random order; the right actions of a block are all different."""
        levels = np.concatenate([rng.permutation(len(self.grid)) for _ in range(self.rounds)])
        cues, actions = [], []
        for level in levels:
            known = rng.permutation(ACTIONS)[: self.grid[level]]
            mapped = rng.permutation(ACTIONS)[: len(known)]
            drawn = rng.integers(len(known), size=self.block)
            cues.append(known[drawn])
            actions.append(mapped[drawn])
        number, time = np.divmod(np.arange(self.horizon), self.block)
        part = number // len(self.grid) * self.parts // self.rounds
        scored = time >= self.block - self.block // 3
        cue, action = (np.concatenate(column).astype(np.int32) for column in (cues, actions))
        part = np.where(scored, part, -1)
        return Script(cue, action, number, levels[number], part, self.horizon)


@task("span/mapping", version=1, controls=RULES, oracle="watches-mapping", protocol="span-world")
@dataclass(frozen=True)
class Mapping(Blocks):
    """Learn by reward which action belongs to which cue, and learn again when the mapping changes.

    Sees: one of k cues, of 8 symbols. Does: one of 8 actions. Reward: 1 for the right action, else
        0. A block has one mapping of k cues to k different actions; then comes another k and a new
        mapping, unannounced.
    Scored: the rewards in the last third of each block, by k.
    Chance: 1/8.
    Ceiling: 1. Best rule that ignores the cue: 1/k, a span of 1.67.
    Source: ours.

    Parameters
    ----------
    longest:
        The largest k.
    rounds:
        How often every k comes.
    block:
        Steps of a block.
    """

    unit: ClassVar[str] = "cues mapped"
    can: ClassVar[str] = "learns {} cues by reward"
    longest: int = parameter(8, at_least=1, at_most=ACTIONS)
    rounds: int = parameter(2, at_least=1)
    block: int = parameter(1500, at_least=3)


@task("span/reuse", version=1, controls=RULES, oracle="watches-mapping", protocol="span-world")
@dataclass(frozen=True)
class Reuse(Blocks):
    """Learn many mappings, each in few steps: practice with earlier ones may make later ones
    faster.

    Sees and does: as in `span/mapping`, with many short blocks.

    Scored: the rewards in the last third of each block, by k. The span is that of the last third of
        the run; the checkpoints before it are those of its first and second third; the rise between
        them shows reuse. A learner that is fast from the beginning (a table of actions) has a long
        span and no rise.
    Chance: 1/8.
    Ceiling: 1. Best rule that ignores the cue: 1/k, a span of 1.67.
    Source: ours.

    Parameters
    ----------
    longest:
        The largest k.
    rounds:
        How often every k comes.
    block:
        Steps of a block.
    """

    unit: ClassVar[str] = "cues mapped in a short block, after practice"
    can: ClassVar[str] = "learns {} cues within 100 rewards, after practice"
    parts: ClassVar[int] = 3
    longest: int = parameter(8, at_least=1, at_most=ACTIONS)
    rounds: int = parameter(18, at_least=3)
    block: int = parameter(150, at_least=3)


@task(
    "span/keep",
    version=1,
    controls=["random-action"],
    oracle="watches-mapping",
    protocol="span-world",
)
@dataclass(frozen=True)
class Keep(WorldItem):
    """Keep a mapping while others are learned.

    Sees: a cue. Does: one of 8 actions. Reward: 1 for the right action, else 0. Mappings of 2 cues
        to 2 different actions are learned one after another, each with cues of its own, which come
        in no other block. Then all cues are asked in random order; nothing is learned or rewarded
        there.
    Scored: the answers to this test, by the number of mappings learned since. The last mapping is
        asked but not scored: nothing was learned since.
    Chance: 1/8.
    Ceiling: 1.
    Source: ours.

    Parameters
    ----------
    longest:
        The most mappings learned since.
    block:
        Steps of a block.
    tests:
        Questions for every cue.
    """

    unit: ClassVar[str] = "mappings learned since"
    can: ClassVar[str] = "keeps a mapping while {} others are learned"
    longest: int = parameter(8, at_least=1)
    block: int = parameter(1500, at_least=1)
    tests: int = parameter(24, at_least=1)

    @property
    def mappings(self) -> int:
        """How many are learned: one more than the last point of the grid."""
        return self.grid[-1] + 1

    @property
    def inputs(self) -> Tokens:
        """Two cues for every mapping."""
        return Tokens(2 * self.mappings)

    @property
    def horizon(self) -> int:  # type: ignore[override]
        """Steps of all blocks, and of the test."""
        return self.mappings * (self.block + 2 * self.tests)

    def script(self, rng: np.random.Generator) -> Script:
        """Blocks in a random order of cues, then the test."""
        mappings = self.mappings
        cues = rng.permutation(2 * mappings).reshape(mappings, 2)
        actions = np.stack([rng.permutation(ACTIONS)[:2] for _ in range(mappings)])
        learned, taught = np.repeat(np.arange(mappings), self.block), mappings * self.block
        asked = rng.permutation(np.repeat(np.arange(2 * mappings), self.tests))
        number = np.concatenate([learned, asked // 2])
        which = np.concatenate([rng.integers(2, size=taught), asked % 2])
        since = mappings - 1 - number
        scored = (np.arange(self.horizon) >= taught) & (since > 0)
        level = np.searchsorted(self.grid, np.maximum(since, 1))  # bin j: above the point before it
        shown, right = (table[number, which].astype(np.int32) for table in (cues, actions))
        return Script(shown, right, number, level, np.where(scored, 0, -1), taught)


@control("random-action", version=1, role="control")
class RandomAction:
    """A random action, each equally likely."""

    learns = False

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._rng, self._count = np.random.default_rng(seed), brief.outputs.width

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """Any of them."""
        return int(self._rng.integers(self._count))


@control("watches-mapping", version=1, role="oracle")
class WatchesMapping:
    """Is shown the right action."""

    learns = False

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._world: Any = None

    def watch(self, world: ScriptWorld) -> None:
        """Look at this world from now on."""
        self._world = world

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """The right action of the current step."""
        return int(self._world.script.action[self._world.at])


@control("best-single-action", version=1, role="control")
class BestSingleAction(WatchesMapping):
    """Ignores the cue: one right action of the current mapping, held for the whole block."""

    def watch(self, world: ScriptWorld) -> None:
        """Look up the right action at the first step of every mapping."""
        super().watch(world)
        _, first = np.unique(world.script.mapping, return_index=True)
        self._held = world.script.action[first]

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """The held action."""
        return int(self._held[self._world.script.mapping[self._world.at]])
