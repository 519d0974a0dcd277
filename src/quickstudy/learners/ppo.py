"""Learning from reward in whole episodes of a pure world: proximal policy optimisation with a
memory.
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
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.task import players_of
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import eqx, jax, jnp, lax
from quickstudy.learners.core_with_training import Usual
from quickstudy.learners.episode_batches import in_batches
from quickstudy.learners.episode_training import Agent, performed
from quickstudy.learners.episodes import (
    EpisodePupil,
    Lived,
    as_rows,
    begin_episodes,
    by_player,
    played_in_parts,
)
from quickstudy.learners.lanes import over_lanes, rounded
from quickstudy.learners.optimiser import OptimiserConfig, optimiser_step
from quickstudy.learners.rollout import (
    Arena,
    Slots,
    Step,
    action_keys,
    rollout,
    step_keys,
)


class Settings(NamedTuple):
    """What changes no shape, as arrays."""

    rate: Any
    planned: Any
    clip: Any
    discount: Any
    decay: Any
    ratio: Any
    entropy: Any


@training("ppo", version=2)
@dataclass(frozen=True)
class PPO:
    """Proximal policy optimisation with a memory: collect a batch of whole episodes, then update on
    it.

    Where a world announces the length of its episodes, a batch has episodes of similar length.
    Several players share one network, each with its own memory. Actions are sampled during training
    and greedy in the test.

    Source: Schulman et al. 2017; generalised advantage of Schulman et al. 2016.

    Parameters
    ----------
    rate:
        Step size of Adam, rising over the first 3 % of all updates and falling to 0.
    batch:
        Episodes played in parallel.
    parts:
        Minibatches of episodes per epoch.
    epochs:
        Passes over a batch.
    discount:
        gamma of the return. With 0 only the immediate reward counts, which is right where an action
        has no later effect.
    decay:
        lambda of the generalised advantage estimate.
    ratio:
        Clipping range of the probability ratio.
    entropy:
        Weight of the policy's entropy.
    clip:
        Largest norm of a gradient; 0 for no limit.
    """

    rate: float = parameter(0.001, above=0)
    batch: int = parameter(64, at_least=1)
    parts: int = parameter(2, at_least=1)
    epochs: int = parameter(2, at_least=1)
    discount: float = parameter(0.9, at_least=0, at_most=1)
    decay: float = parameter(0.9, at_least=0, at_most=1)
    ratio: float = parameter(0.2, above=0)
    entropy: float = parameter(0.01, at_least=0)
    clip: float = parameter(0.5, at_least=0)

    programs: ClassVar[int] = 4
    passes: ClassVar[int] = 1
    losses: ClassVar[tuple[str, ...]] = ("reward",)
    usual_for: ClassVar[tuple[Usual, ...]] = (Usual("episodes"),)
    by_question: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __post_init__(self) -> None:
        if self.batch % self.parts:
            raise ValueError(f"batch must be a multiple of parts ({self.parts}), got {self.batch}")

    def check_core(self, core: CoreSpec) -> None:
        """Any core: of a reservoir, only the heads are trained."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> PPOPupil:
        """A fresh pupil."""
        return PPOPupil(self, core, brief, streams)


class PPOPupil(EpisodePupil):
    """Actors in training, one per lane."""

    def __init__(
        self, training: PPO, core: CoreSpec, brief: Brief, streams: Sequence[Streams]
    ) -> None:
        actors = [Agent.drawn(core, brief, stream) for stream in streams]
        super().__init__(actors, streams)
        self._training = training
        planned = max(1, brief.budget // training.batch) * training.epochs * training.parts
        values = (
            training.rate,
            planned,
            training.clip,
            training.discount,
            training.decay,
            training.ratio,
        )
        self._settings = Settings(*(jnp.float32(value) for value in (*values, training.entropy)))

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes in batches, and learn from each. The rest of a batch is only played."""
        if stop <= start:
            raise UsageError(f"no episodes between {start} and {stop}")
        batches, rest = in_batches(rehearsal, start, stop, self._training.batch)
        parts = [
            self._played(rehearsal, batches[:, number], True) for number in range(batches.shape[1])
        ]
        parts += [self._played(rehearsal, rest, False)] if rest.size else []
        # Back in the order of their numbers.
        order = np.argsort(np.concatenate([batches.reshape(self.lanes, -1), rest], axis=1), axis=1)
        lane = np.arange(self.lanes)[:, None]
        return jax.tree.map(  # type: ignore[no-any-return]
            lambda *rows: np.concatenate(rows, axis=1)[lane, order], *parts
        )

    def _played(self, rehearsal: Rehearsal, numbers: Any, learns: bool) -> Transcript:
        """Episodes of these numbers (lane, episode), from which it perhaps learns."""
        world, numbers = rehearsal.world, jnp.asarray(numbers)
        begun = begin_episodes(rehearsal, numbers)
        lived = _live(
            world, self._models, begun, (rehearsal.keys, self._noise), numbers, self.lanes
        )
        played: Transcript = jax.tree.map(np.asarray, lived.transcript())
        self._steps += played.steps()
        if learns:
            longest = int((np.cumsum(played.done, axis=-1) == 0).sum(axis=-1).max()) + 1
            steps = min(world.horizon, rounded(longest, 2))
            cropped = jax.tree.map(lambda leaf: leaf[:, :steps], lived.learned_from())
            self._models, self._moments = _learn(
                world,
                self._trainable,
                self._models,
                self._moments,
                cropped,
                self._noise,
                numbers[:, 0],
                self._settings,
                self._training.epochs,
                self._training.parts,
                self.lanes,
            )
        return played

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
def _live(world: Any, actors: Any, begun: Any, keys: Any, numbers: Any, lanes: int) -> Lived:
    """Play episodes by drawn actions, until all are over: steps after it are zeros, and done."""

    def single(actor: Any, begun: Any, keys: Any, numbers: Any) -> Lived:
        world_key, noise = keys
        arena = Arena(world, begun, action_keys(noise, numbers), step_keys(world_key, numbers))

        def act(memory: Any, slots: Slots, keys: Any) -> Any:
            memory, features, policy, action = actor.explore(world, memory, slots.seen, keys)
            expected = by_player(world, actor.value(features)[:, 0])
            return memory, action, (policy.log_probability(action), expected)

        def log(step: Step) -> Lived:
            chances, expected = step.kept
            return Lived(
                step.before.seen,
                step.action,
                chances,
                expected,
                step.reward,
                step.done,
                step.info,
            )

        memory = actor.core.start(len(numbers) * players_of(world), world.horizon)
        lived: Lived = rollout(arena, act, memory, log=log)[1]
        return lived

    return over_lanes(single, lanes)(actors, begun, keys, numbers)  # type: ignore[no-any-return]


@eqx.filter_jit
def _learn(
    world: Any,
    trainable: Any,
    actors: Any,
    moments: Any,
    lived: Any,
    noise: Any,
    first: Any,
    settings: Settings,
    epochs: int,
    parts: int,
    lanes: int,
) -> Any:
    def single(actor: Any, moments: Any, lived: Lived, noise: Any, first: Any) -> Any:
        trained, fixed = eqx.partition(actor, trainable)
        players = players_of(world)
        there = jnp.cumsum(lived.done, axis=0) - lived.done == 0  # (step, episode)
        mask = there if players == 1 else jnp.broadcast_to(there[..., None], lived.rewards.shape)
        advantage = _advantages(lived, mask, settings)
        returns = advantage + lived.expected
        count = mask.sum()
        mean = (advantage * mask).sum() / count
        spread = jnp.sqrt((jnp.square(advantage - mean) * mask).sum() / count)
        advantage = (advantage - mean) / (spread + 1e-6)

        def loss(trained: Any, chosen: Any) -> Any:
            actor = eqx.combine(trained, fixed)
            part = jax.tree.map(lambda leaf: leaf[:, chosen], (lived, advantage, returns, mask))
            shown, gained, wanted, counted = part
            inputs = jax.vmap(partial(as_rows, world))(shown.observations)
            rows = jax.tree.leaves(inputs)[0].shape[1]
            features = actor.core.unroll(actor.core.start(rows, world.horizon), inputs)[1]
            policy = Policy(
                world.outputs, jax.vmap(partial(by_player, world))(actor.policy(features))
            )
            ratio = jnp.exp(policy.log_probability(shown.actions) - shown.chances)
            near = jnp.clip(ratio, 1 - settings.ratio, 1 + settings.ratio)
            expected = jax.vmap(partial(by_player, world))(actor.value(features)[..., 0])
            each = (
                -jnp.minimum(ratio * gained, near * gained)
                + 0.5 * jnp.square(expected - wanted)
                - settings.entropy * policy.entropy()
            )
            return (each * counted).sum() / counted.sum()

        def update(number: Any, carry: Any) -> Any:
            trained, moments = carry
            episodes = lived.done.shape[1]
            key = jax.random.fold_in(jax.random.fold_in(noise, first), number // parts)
            order = jax.random.permutation(key, episodes).reshape(parts, -1)
            gradient = jax.grad(loss)(trained, order[number % parts])
            config = OptimiserConfig(settings.rate, clip=settings.clip, planned=settings.planned)
            return optimiser_step(trained, moments, gradient, config)

        trained, moments = lax.fori_loop(0, epochs * parts, update, (trained, moments))
        return eqx.combine(trained, fixed), moments

    return over_lanes(single, lanes)(actors, moments, lived, noise, first)


def _advantages(lived: Lived, mask: Any, settings: Settings) -> Any:
    """How much better each action came out than was expected (generalised advantage estimate)."""
    later = jnp.concatenate([lived.expected[1:] * mask[1:], jnp.zeros_like(lived.expected[:1])])
    surprise = (lived.rewards + settings.discount * later - lived.expected) * mask

    def back(total: Any, now: Any) -> Any:
        total = now + settings.discount * settings.decay * total
        return total, total

    return lax.scan(back, jnp.zeros_like(surprise[0]), surprise, reverse=True)[1]
