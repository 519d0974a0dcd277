"""How easily a language is acquired: fresh listeners of the ordinary referential game, each
trained on the messages of one episode (Denamganaï et al. 2022, after Chaabouni et al. 2020).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import jax, jnp, lax
from quickstudy.learners.optimiser import OptimiserConfig, begin_moments, optimiser_step

EPOCHS, BATCH, RATE, WIDTH, HIDDEN = 512, 32, 3e-4, 32, 64
"""As published, except the hidden layer, which the publication does not describe."""


def acquired(
    task: Any, streams: Sequence[Streams], played: Sequence[Mapping[str, Any]], count: int
) -> list[NDArray[np.bool_]]:
    """By lane: (decision,), whether fresh listeners decide rightly in the query games of the first
    test episodes.

    A listener learns one episode's language by heart: pairs of the speaker's message in a support
    game and a stimulus, of the same meaning or of that of another support game, half and half. It
    has no memory, and no more is learned in the query games, which are those of the episode: the
    message there, and the stimuli of its own listener. The publication lets the speaker name all
    stimuli at the end of an episode; here names are those that were given in it. For games with one
    stimulus (K = 0) of which the target may be missing.
    """
    found = []
    for stream, own in zip(streams, played, strict=True):
        drawn = task.episodes(stream.jax("test"), 0, count, tested=True)
        games = drawn.correct.shape[1]
        said = np.zeros((count, games, task.length), np.int32)
        # Every game is spoken of once, in the order of playing.
        for number in range(count):
            lines = own["utterances"][own["speaks_in"] == number]
            said[number, : len(lines)] = lines
        words = task.words + 1
        tokens = np.eye(words, dtype=np.float32)[said]  # (episode, game, place, token)
        keys = jax.random.split(stream.jax("acquisition"), count)
        parts = drawn.support, drawn.speaker[:, :, 0], drawn.listener[:, :, 0]
        decided = np.asarray(_acquired(keys, tokens, *parts))
        query = (np.arange(games) >= drawn.support[:, None]) & (
            np.arange(games) < drawn.count[:, None]
        )
        found.append((decided == (drawn.correct == 0))[query])
    return found


@jax.jit
def _acquired(keys: Any, tokens: Any, support: Any, speaker: Any, listener: Any) -> Any:
    """(episode, game): whether a fresh listener holds the stimulus to be what was named."""
    return jax.vmap(_of_episode)(keys, tokens, support, speaker, listener)


def _of_episode(key: Any, tokens: Any, support: Any, speaker: Any, listener: Any) -> Any:
    games, length, words = tokens.shape
    of_weights, of_batches = jax.random.split(key)
    # (prefix, game, place * token): all that was heard of a message after one token, after two ...
    heard = jnp.arange(length) <= jnp.arange(length)[:, None]
    prefixes = (tokens * heard[:, None, :, None]).reshape(length, games, length * words)
    config = OptimiserConfig(RATE)
    begun = _drawn(of_weights, (speaker.shape[-1], length * words))

    def loss(weights: Any, key: Any) -> Any:
        first, second, coin = jax.random.uniform(key, (3, BATCH))
        named = jnp.floor(first * support).astype(jnp.int32)
        # Another support game: any but this one.
        other = (
            named + 1 + jnp.floor(second * jnp.maximum(support - 1, 1)).astype(jnp.int32)
        ) % jnp.maximum(support, 1)
        same = (coin < 0.5) | (support < 2)
        stimuli = speaker[jnp.where(same, named, other)]
        same |= (stimuli == speaker[named]).all(axis=-1)
        scores = _scores(weights, stimuli, prefixes[:, named])
        return jnp.maximum(0.0, 1 - jnp.where(same, 1.0, -1.0) * scores).mean()

    def update(number: Any, carry: Any) -> Any:
        weights, moments = carry
        gradient = jax.grad(loss)(weights, jax.random.fold_in(of_batches, number))
        return optimiser_step(weights, moments, gradient, config)

    updates = EPOCHS * -(-support // BATCH)
    weights, _ = lax.fori_loop(0, updates, update, (begun, begin_moments(begun)))
    return _scores(weights, listener, prefixes[-1:])[0] > 0


def _drawn(key: Any, widths: Sequence[int]) -> list[Any]:
    """Two layers for the stimulus, two for the message, and what a product must exceed."""
    made: list[Any] = []
    for width, own in zip(widths, jax.random.split(key, len(widths)), strict=True):
        for inputs, outputs, part in zip(
            (width, HIDDEN), (HIDDEN, WIDTH), jax.random.split(own), strict=True
        ):
            made.append(
                jax.random.uniform(part, (inputs + 1, outputs), minval=-1, maxval=1)
                / np.sqrt(inputs)
            )
    return [*made, jnp.zeros(())]


def _scores(weights: Any, stimuli: Any, messages: Any) -> Any:
    """(prefix, game): how well what was heard goes with what is seen."""
    seen, heard = (
        _layers(weights[0], weights[1], stimuli),
        _layers(weights[2], weights[3], messages),
    )
    return (seen * heard).sum(axis=-1) + weights[4]


def _layers(first: Any, second: Any, rows: Any) -> Any:
    hidden = jax.nn.relu(rows @ first[:-1] + first[-1])
    return hidden @ second[:-1] + second[-1]
