"""Settings of the training by reward, compared on worlds that belong to no study and no battery.

    python benchmarks/reward_defaults.py gru:rate=0.005 gru:rate=0.01

Prints the mean reward in the last third of the blocks, over seeds. `switch`: 5 cues, 5 actions, a
new mapping every 700 steps. `wide`: 12 cues, 40 actions, one mapping for 12,000 steps. `late`: 5
cues, 5 actions, 2,000 steps a block; the reward for an action comes one step late.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.base.learner import Acting, Brief, face
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import Turn
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.protocols.examination import Clock
from quickstudy.protocols.lifetime import Lifetime
from quickstudy.tasks.span.script import Script, ScriptWorld


class LateWorld(ScriptWorld):
    """Pays for every action one step later."""

    _owed = 0.0

    def compiled_with(self, others: Any) -> Any:
        """None: the compiled form pays at once."""
        return None

    def step(self, action: Any) -> Turn:
        """The reward of the action before."""
        turn = super().step(action)
        paid, self._owed = self._owed, turn.reward
        return turn._replace(reward=paid)


@dataclass(frozen=True)
class Bandit:
    """A contextual bandit whose mapping changes after every block."""

    cues: int
    actions: int
    block: int
    blocks: int
    world: Any = ScriptWorld

    id = "benchmark/bandit"

    @property
    def inputs(self) -> Tokens:
        return Tokens(self.cues)

    @property
    def outputs(self) -> Tokens:
        return Tokens(self.actions)

    @property
    def horizon(self) -> int:
        return self.block * self.blocks

    def open(self, streams: Streams) -> ScriptWorld:
        rng = streams.numpy("data")
        number, time = np.divmod(np.arange(self.horizon), self.block)
        mapped = np.stack([rng.permutation(self.actions)[: self.cues] for _ in range(self.blocks)])
        cue = rng.integers(self.cues, size=self.horizon)
        part = np.where(time >= self.block - self.block // 3, 0, -1)
        right = mapped[number, cue].astype(np.int32)
        script = Script(cue.astype(np.int32), right, number, number * 0, part, self.horizon)
        return self.world(script)


WORLDS = {
    "switch": Bandit(5, 5, 700, 12),
    "wide": Bandit(12, 40, 12_000, 1),
    "late": Bandit(5, 5, 2000, 2, LateWorld),
}


def share_right(task: Any, name: str, seed: int) -> float:
    """The share of right actions in the last third of the blocks."""
    learner = choose_learner(name, "corrected", asked="reward").make(task)
    streams = [Streams(11, task.id, seed)]
    brief = Brief(task.inputs, task.outputs, "reward", task.horizon, task.horizon)
    pupil = face(learner.begin(brief, [stream.for_learner() for stream in streams]), Acting)
    lifetime = Lifetime(pupil, task, streams, Clock())
    (life,) = lifetime.go_on(task.horizon)
    script = lifetime.worlds[0].script  # type: ignore[attr-defined]
    return float((script.action == np.array(life.actions))[script.part == 0].mean())


if __name__ == "__main__":
    for name in sys.argv[1:]:
        means = {
            world: np.mean([share_right(task, name, seed) for seed in range(3)])
            for world, task in WORLDS.items()
        }
        print(name, *(f"{world} {mean:.2f}" for world, mean in means.items()), flush=True)
