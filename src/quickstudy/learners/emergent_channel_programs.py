"""The compiled programs of pairs that learn through their channel: an update from whole episodes,
and play.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.exchange import Transcript
from quickstudy.base.learner import OUT_OF_REACH
from quickstudy.jax_gateway import eqx, jax, jnp, lax, optax
from quickstudy.learners.lanes import over_lanes
from quickstudy.learners.optimiser import FALLS_AFTER, OptimiserConfig, optimiser_step
from quickstudy.learners.rollout import play
from quickstudy.learners.stepping import Model


class Settings(NamedTuple):
    """What changes no shape, as arrays."""

    rate: Any
    planned: Any
    clip: Any
    heat: Any
    foretell: Any
    rebuild: Any


class Echo(eqx.Module):
    """What a speaker takes its own words for: of every place, a number for each token; and which
    dimension of a stimulus a place is about, as scores (place, dimension), of more dimensions than
    there may be.
    """

    numbers: Any
    about: Any

    @classmethod
    def drawn(cls, places: int, tokens: int, width: int, rng: np.random.Generator) -> Echo:
        """Numbers uniform in -1 .. 1; every place leans to some dimension."""
        parts = rng.uniform(-1, 1, (places, tokens)), rng.normal(0, 1, (places, width))
        return cls(*(jnp.asarray(part, jnp.float32) for part in parts))

    def __call__(self, said: Any, dimensions: int) -> Any:
        """(..., dimension) from one-hot tokens (..., place, token)."""
        scores = 5 * self.about[:, :dimensions]
        for _ in range(
            10
        ):  # a position is about one dimension, and every dimension has a position (Sinkhorn)
            scores = scores - jax.nn.logsumexp(scores, axis=0, keepdims=True)
            scores = scores - jax.nn.logsumexp(scores, axis=1, keepdims=True)
        return (said * self.numbers).sum(axis=-1) @ jnp.exp(scores)


def scores_of(world: Any, model: Model, features: Any) -> Any:
    """(..., place, token): of the message; its end is out of reach."""
    scores = model.head(features).reshape(
        *features.shape[:-1], world.sizes.length, world.sizes.words + 1
    )
    return scores.at[..., 0].set(OUT_OF_REACH)


@eqx.filter_jit
def learned(
    world: Any,
    trainable: Any,
    pairs: Any,
    moments: Any,
    episodes: Any,
    noise: Any,
    first: Any,
    settings: Settings,
    games: int,
    lanes: int,
) -> Any:
    """(pairs, moments) after one update from the first games of some episodes, (lane, episode,
    ...).
    """
    speaker, listener = world.channel.speaker, world.channel.listener

    def single(pair: Any, moments: Any, episodes: Any, noise: Any) -> Any:
        trained, fixed = eqx.partition(pair, trainable)
        rows, number = len(episodes.count), jnp.arange(games)
        own, others, correct = (
            episodes.speaker[:, :games],
            episodes.listener[:, :games],
            episodes.correct[:, :games],
        )
        query = number >= episodes.support[:, None]
        counted = (
            (number < episodes.count[:, None]) / jnp.minimum(episodes.count, games)[:, None] / rows
        )
        shape = rows, games, world.sizes.length, world.sizes.words + 1
        gumbel = jax.random.gumbel(jax.random.fold_in(noise, first), shape)
        renamed = jax.nn.one_hot(
            episodes.renamed, world.sizes.words + 1
        )  # (row, place, said, heard)

        def vectors(stimuli: Any, tokens: Any, turn: int, role: int) -> Any:
            def each(stimuli: Any, tokens: Any, query: Any) -> Any:
                return world.channel.vectors(stimuli, tokens, query, turn, role)

            return jnp.swapaxes(jax.vmap(each)(stimuli, tokens, query), 0, 1)  # (game, row, width)

        def loss(trained: Any) -> Any:
            pair = eqx.combine(trained, fixed)
            seen = vectors(own, jnp.zeros(shape), 0, speaker)
            features = pair.speaker.core.unroll(pair.speaker.core.start(rows, games), seen)[1]
            scores = jnp.swapaxes(scores_of(world, pair.speaker, features), 0, 1) + gumbel
            soft = jax.nn.softmax(scores / settings.heat)
            hard = jax.nn.one_hot(jnp.argmax(scores, axis=-1), shape[-1])
            said = hard + soft - lax.stop_gradient(soft)
            heard = jnp.einsum("bgps,bpsh->bgph", said, renamed)
            views = [vectors(others, heard, 1, listener), vectors(own, heard, 2, listener)]
            inputs = jnp.stack(views, axis=1).reshape(2 * games, rows, -1)
            features = pair.listener.core.unroll(pair.listener.core.start(rows, 2 * games), inputs)[
                1
            ][::2]
            outputs, decisions = (
                jnp.swapaxes(pair.listener.head(features), 0, 1),
                world.sizes.decisions,
            )
            each = optax.softmax_cross_entropy_with_integer_labels(
                outputs[..., :decisions], correct
            )
            if outputs.shape[-1] > decisions:
                foretold = outputs[..., decisions : decisions + world.sizes.dimensions]
                each += settings.foretell * jnp.square(foretold - own[:, :, 0]).mean(axis=-1)
            if pair.echo is not None:
                given = pair.echo(said, world.sizes.dimensions)
                each += settings.rebuild * jnp.square(given - own[:, :, 0]).mean(axis=-1)
            return (each * counted).sum()

        config = OptimiserConfig(
            settings.rate,
            clip=settings.clip,
            planned=settings.planned,
            falls_after=FALLS_AFTER["late"],
        )
        trained, moments = optimiser_step(trained, moments, jax.grad(loss)(trained), config)
        return eqx.combine(trained, fixed), moments

    return over_lanes(single, lanes)(pairs, moments, episodes, noise)


@eqx.filter_jit
def performed(world: Any, pairs: Any, begun: Any, keys: Any, numbers: Any, lanes: int) -> Any:
    """A transcript of episodes, played by the likeliest tokens and decisions."""
    speaker, listener = world.channel.speaker, world.channel.listener

    def single(pair: Any, begun: Any, keys: Any, numbers: Any) -> Transcript:
        rows = len(numbers)

        def speak(memories: Any, seen: Any) -> Any:
            own, features = pair.speaker.core.step(
                memories[0], seen[:, speaker] * world.channel.shown_to(speaker)
            )
            said = jnp.argmax(scores_of(world, pair.speaker, features), axis=-1)
            return (own, memories[1]), said, jnp.zeros(rows, jnp.int32)

        def listen(memories: Any, seen: Any, said: Any) -> Any:
            own, features = pair.listener.core.step(
                memories[1], seen[:, listener] * world.channel.shown_to(listener)
            )
            scores = pair.listener.head(features)[:, : world.sizes.decisions]
            return (memories[0], own), said, jnp.argmax(scores, axis=-1).astype(jnp.int32)

        def step(state: Any, seen: Any, key: Any) -> Any:
            time, memories, said = state
            memories, said, decision = lax.cond(
                time % world.sizes.turns == 0,
                lambda: speak(memories, seen),
                lambda: listen(memories, seen, said),
            )
            both = jnp.stack([decision, decision], axis=1)
            tokens = {
                str(place): jnp.stack([said[:, place]] * 2, axis=1)
                for place in range(world.sizes.length)
            }
            return (time + 1, memories, said), {"decision": both, "message": tokens}

        memories = (
            pair.speaker.core.start(rows, world.sizes.games),
            pair.listener.core.start(rows, 2 * world.sizes.games),
        )
        state = jnp.int32(0), memories, jnp.zeros((rows, world.sizes.length), jnp.int32)
        of_world, noise = keys
        return play(world, state, step, of_world, noise, numbers, begun)[1]

    return over_lanes(single, lanes)(pairs, begun, keys, numbers)
