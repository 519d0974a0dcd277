"""An agent that learns from whole episodes of a pure world, for a user's file: it defines the
loss of a transcript, and everything else is done here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from quickstudy.base.actions import Policy
from quickstudy.base.errors import UsageError
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.task import players_of
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import eqx, jax, jnp, lax
from quickstudy.learners.episodes import (
    EpisodePupil,
    as_rows,
    begin_episodes,
    by_player,
    played_in_parts,
)
from quickstudy.learners.lanes import over_lanes
from quickstudy.learners.optimiser import OptimiserConfig, optimiser_step
from quickstudy.learners.rollout import (
    Arena,
    Slots,
    Step,
    action_keys,
    by_episode,
    play,
    rollout,
    step_keys,
)
from quickstudy.learners.stepping import Head


class Agent(eqx.Module):
    """A memory, scores of actions, and what it expects."""

    core: Any
    policy: Head
    value: Head

    @classmethod
    def drawn(cls, core: CoreSpec, brief: Brief, streams: Streams) -> Agent:
        """Weights of the core, then of both heads."""
        rng = streams.numpy("core")
        built = core.build(brief.inputs, rng)
        return cls(built, *(Head.drawn(built, width, rng) for width in (brief.outputs.width, 1)))

    def explore(self, world: Any, memory: Any, seen: Any, keys: Any) -> tuple[Any, Any, Any, Any]:
        """(memory, features, policy, drawn actions) after what is seen (episode, ...)."""
        memory, features = self.core.step(memory, as_rows(world, seen))
        policy = Policy(world.outputs, by_player(world, self.policy(features)))
        uniform = jax.vmap(lambda key: jax.random.uniform(key, policy.scores.shape[1:]))(keys)
        return memory, features, policy, policy.draw(uniform)

    def trainable(self) -> Any:
        """What the core lets be trained, and both heads."""
        heads = jax.tree.map(lambda _: True, (self.policy, self.value))
        return Agent(self.core.trainable(), *heads)


class Played(NamedTuple):
    """A batch of episodes, (step, episode, ...), with the players after the episode where there are
    several.

    observations, actions, rewards: what was seen, what was done then, and what that brought.
    there: (step, episode, ...) 1 up to the end of each episode, 0 after it.
    world: that they were played in.
    """

    observations: Any
    actions: Any
    rewards: Any
    there: Any
    world: Any

    def read(self, agent: Agent) -> tuple[Any, Any]:
        """(policy, values) of the agent with its present weights at every step; gradients pass."""
        world = self.world
        inputs = jax.vmap(partial(as_rows, world))(self.observations)
        rows = jax.tree.leaves(inputs)[0].shape[1]
        features = agent.core.unroll(agent.core.start(rows, world.horizon), inputs)[1]
        per_player = jax.vmap(partial(by_player, world))
        policy = Policy(world.outputs, per_player(agent.policy(features)))
        return policy, per_player(agent.value(features)[..., 0])

    def log_probability(self, agent: Agent) -> Any:
        """(step, episode, ...) of the actions that were taken."""
        return self.read(agent)[0].log_probability(self.actions)

    def returns(self, gamma: float) -> Any:
        """(step, episode, ...): the reward of a step, and gamma times the return after it."""

        def back(total: Any, reward: Any) -> Any:
            total = reward + gamma * total
            return total, total

        rewards = self.rewards * self.there
        return lax.scan(back, jnp.zeros_like(rewards[0]), rewards, reverse=True)[1]

    def mean(self, numbers: Any) -> Any:
        """The mean over all steps before the ends of episodes."""
        return (numbers * self.there).sum() / self.there.sum()


@dataclass(frozen=True)
class EpisodeTraining:
    """Plays batches of whole episodes by drawn actions, and makes an update by Adam after each. A
    base: give a `loss`. Where it is tested, it takes the likeliest actions.

    rate: step size.
    batch: episodes that are played for an update.
    """

    rate: float = parameter(0.003, above=0)
    batch: int = parameter(32, at_least=1)

    id: ClassVar[str]
    programs: ClassVar[int] = 3
    passes: ClassVar[int] = 1
    losses: ClassVar[tuple[str, ...]] = ("reward",)
    by_question: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """Any core: of a reservoir, only the heads are trained."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> AgentPupil:
        """A fresh pupil."""
        return AgentPupil(self, core, brief, streams)

    def loss(self, agent: Agent, played: Played) -> Any:
        """The number that is minimised."""
        raise NotImplementedError

    def update(self, agent: Agent, moments: Any, played: Played) -> tuple[Agent, Any]:
        """(agent, moments) after an update."""
        trained, fixed = eqx.partition(agent, agent.trainable())
        gradient = jax.grad(lambda trained: self.loss(eqx.combine(trained, fixed), played))(trained)
        trained, moments = optimiser_step(trained, moments, gradient, OptimiserConfig(self.rate))
        return eqx.combine(trained, fixed), moments


class AgentPupil(EpisodePupil):
    """Agents in training, one per lane."""

    def __init__(
        self, training: EpisodeTraining, core: CoreSpec, brief: Brief, streams: Sequence[Streams]
    ) -> None:
        super().__init__([Agent.drawn(core, brief, stream) for stream in streams], streams)
        self._training = training

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes in batches, and learn from each. The rest of a batch is only played."""
        if stop <= start:
            raise UsageError(f"no episodes between {start} and {stop}")
        batch, parts = self._training.batch, []
        for first in range(start, stop, batch):
            episodes = np.arange(first, min(first + batch, stop), dtype=np.int32)
            numbers = np.tile(episodes, (self.lanes, 1))
            begun, keys = begin_episodes(rehearsal, numbers), (rehearsal.keys, self._noise)
            learned, played = _learn(
                rehearsal.world,
                self._models,
                self._moments,
                begun,
                keys,
                numbers,
                self._training if len(episodes) == batch else None,
                self.lanes,
            )
            self._models, self._moments = learned
            parts.append(jax.tree.map(np.asarray, played))
        whole: Transcript = jax.tree.map(lambda *rows: np.concatenate(rows, axis=1), *parts)
        self._steps += whole.steps()
        return whole

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes by the likeliest actions."""
        world, keys = rehearsal.world, (rehearsal.keys, self._noise)
        return played_in_parts(
            rehearsal,
            start,
            stop,
            lambda begun, numbers: performed(world, self._models, begun, keys, numbers, self.lanes),
        )


@eqx.filter_jit
def _learn(
    world: Any,
    agents: Any,
    moments: Any,
    begun: Any,
    keys: Any,
    numbers: Any,
    training: EpisodeTraining | None,
    lanes: int,
) -> Any:
    """((agents, moments) after an update, or unchanged without a training; the transcript)."""

    def single(agent: Any, moments: Any, begun: Any, keys: Any, numbers: Any) -> Any:
        world_key, noise = keys
        arena = Arena(world, begun, action_keys(noise, numbers), step_keys(world_key, numbers))

        def act(memory: Any, slots: Slots, keys: Any) -> Any:
            memory, _, _, action = agent.explore(world, memory, slots.seen, keys)
            return memory, action, None

        def log(step: Step) -> Logged:
            return Logged(step.before.seen, step.done, step.transcript())

        memory = agent.core.start(len(numbers) * players_of(world), world.horizon)
        logged: Logged = rollout(arena, act, memory, log=log)[1]
        transcript = logged.transcript._replace(done=logged.done)
        if training is not None:
            there = jnp.cumsum(logged.done, axis=0) - logged.done == 0
            rewards = transcript.rewards
            if rewards.ndim > there.ndim:
                there = jnp.broadcast_to(there[..., None], rewards.shape)
            there = there.astype(rewards.dtype)
            played = Played(logged.observations, transcript.actions, rewards, there, world)
            return training.update(agent, moments, played), by_episode(transcript)
        return (agent, moments), by_episode(transcript)

    return over_lanes(single, lanes)(agents, moments, begun, keys, numbers)


class Logged(NamedTuple):
    """The logged fields of a step."""

    observations: Any
    done: Any
    transcript: Transcript


@eqx.filter_jit
def performed(
    world: Any, agents: Any, begun: Any, keys: Any, numbers: Any, lanes: int
) -> Transcript:
    """A transcript of episodes, played by the likeliest actions."""

    def single(agent: Any, begun: Any, keys: Any, numbers: Any) -> Transcript:
        def step(memory: Any, seen: Any, key: Any) -> Any:
            memory, features = agent.core.step(memory, as_rows(world, seen))
            return memory, Policy(world.outputs, by_player(world, agent.policy(features))).draw()

        memory = agent.core.start(len(numbers) * players_of(world), world.horizon)
        world_key, noise = keys
        return play(world, memory, step, world_key, noise, numbers, begun)[1]

    return over_lanes(single, lanes)(agents, begun, keys, numbers)  # type: ignore[no-any-return]
