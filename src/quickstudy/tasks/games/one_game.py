"""Drawing one game: the stimuli with the target, the view of each player, and the message."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quickstudy.jax_gateway import jnp
from quickstudy.tasks.games.settings import Rules, Sizes
from quickstudy.tasks.games.spaces import Pools, section_of
from quickstudy.tasks.games.stimulus_sampling import Decks

KEPT, FROM_SUPPORT, FROM_QUERY = 0, 1, 2
"""Where the stimulus in the target's place comes from: it is the target, or a foil of either
pool.
"""


class Game(NamedTuple):
    """(means, sample), each (stimulus,), of what either player sees; the right decision; where the
    foil is from.
    """

    speaker: Any
    listener: Any
    correct: Any
    foil: Any


def game_width(sizes: Sizes) -> int:
    """Uniform numbers that a game takes."""
    return 5 + 3 * sizes.distractors + (sizes.distractors > 0)


class Store(NamedTuple):
    """What the stimuli of games are drawn from, of many episodes. query: (episode, meaning), those
    of the query pool. around: what was picked, two decks an episode, one for either phase. spare:
    three decks, both pools and all there is, where there are distractors. coming: all targets in
    the order of playing, where each comes once.
    """

    query: Any
    around: Decks
    spare: Decks | None = None
    coming: Decks | None = None


def spare_of(pools: Pools) -> Decks:
    """The decks `spare` of a `Store`; pools have the episodes in front."""
    there = jnp.stack([pools.support, pools.query, pools.support | pools.query], axis=1)
    return Decks.counted(there.reshape(-1, there.shape[-1]).astype(jnp.int32), there.shape[-1])


def draw_game(
    sizes: Sizes,
    rules: Rules,
    store: Store,
    uniform: Any,
    target: Any,
    query: Any,
    episode: Any = 0,
    played: Any = 0,
) -> Game:
    """One game about a target. Others are drawn from what was picked in the episode, as often as it
    was picked.

    played: games before this one. Where each target comes once, the other stimuli of a query game
    are first of all those that are yet to come: what was a target is none again, and who remembers
    that would need no message. Only after the last there is none to come.
    """
    others, around, coming, spare = sizes.distractors, store.around, store.coming, store.spare
    deck = 2 * episode + query.astype(jnp.int32)
    own, coin, of_sample, of_foil, of_foil_sample = uniform[:5]
    picks, samples, shuffle = jnp.split(uniform[5:], [others, 2 * others])

    def sample(uniform: Any) -> Any:
        return jnp.floor(uniform * rules.samples).astype(jnp.int32)

    def draw(uniform: Any, taken: Any, used: Any) -> tuple[Any, Any]:
        """A meaning, and its place. taken: blocks of entries; used: meanings that it must not
        be.
        """
        drawn, place, there = around.drawn(deck, uniform, taken)
        if coming is not None:
            other, at, more = coming.drawn(episode, uniform, later)
            more &= query
            drawn = jnp.where(more, other, drawn)
            later.append((jnp.where(more, at, 0), jnp.where(more, 1, 0)))
            place, there = jnp.where(more, around.block(deck, drawn)[0], place), there | more
        # In the place of entries that are missing: the phase's pool, then all there is.
        for pool in (query.astype(jnp.int32), 2):
            if spare is None:
                break
            row = 3 * episode + pool
            other, _, more = spare.drawn(row, uniform, [spare.block(row, one) for one in used])
            drawn, there = jnp.where(there, drawn, other), there | more
        return drawn, place

    whole = around.block(deck, target)
    # With one sample only the target's own entry is left out, as published: a repeat of it may be a
    # distractor.
    taken = [(whole[0], jnp.where(~rules.balanced & (rules.samples == 1), 1, whole[1]))]
    means, later = [target], [(jnp.zeros((), jnp.int32), jnp.asarray(played + 1, jnp.int32))]
    for uniform_of_pick in picks:
        drawn, place = draw(uniform_of_pick, taken, means)
        block = around.block(deck, drawn)
        taken.append(
            (jnp.where(rules.balanced, block[0], place), jnp.where(rules.balanced, block[1], 1))
        )
        means.append(drawn)
    # As published, a foil may be the same as a distractor.
    free = [(first, jnp.where(rules.balanced, count, 0)) for first, count in taken[1:]]
    foil = draw(of_foil, [whole, *free], means)[0]
    kept = (coin < rules.kept) | (not sizes.descriptive)
    speaker_sample = sample(own)
    another = 1 + jnp.floor(of_sample * (rules.samples - 1)).astype(jnp.int32)
    kept_sample = jnp.where(
        rules.strict, (speaker_sample + another) % rules.samples, sample(of_sample)
    )
    beside, distant = jnp.stack(means)[1:], sample(samples)
    first = jnp.where(kept, target, foil), jnp.where(kept, kept_sample, sample(of_foil_sample))
    rank = (shuffle < shuffle[:, None]).sum(axis=1) if others else jnp.zeros(1, jnp.int32)
    order = (rank == jnp.arange(others + 1)[:, None]).argmax(axis=1)
    return Game(
        (jnp.append(target, beside), jnp.append(speaker_sample, distant)),
        (jnp.append(first[0], beside)[order], jnp.append(first[1], distant)[order]),
        jnp.where(kept, jnp.argmin(order), others + 1).astype(jnp.int32),
        jnp.where(kept, KEPT, jnp.where(store.query[episode, foil], FROM_QUERY, FROM_SUPPORT)),
    )


def stimuli_of(stimuli: Any, episode: Any, means: Any, sample: Any, axes: Any = None) -> Any:
    """(stimulus, dimension): the numbers that represent meanings in an episode; one sample for all
    dimensions. axes: (episode, dimension), in which order they stand, where it is not that of the
    dimensions.
    """
    own = jnp.arange(means.shape[-1]) if axes is None else axes[episode]
    return stimuli[episode, own, means[..., own] if axes is not None else means, sample[..., None]]


def drawn_names(sizes: Sizes, uniform: Any) -> Any:
    """(meaning,): the names of all meanings, where each has one of its own; else nothing."""
    return (
        jnp.argsort(uniform)[: sizes.most**sizes.dimensions]
        if sizes.language == "holistic"
        else uniform
    )


def named(sizes: Sizes, names: Any, latents: Any, target: Any, stimulus: Any) -> Any:
    """(token,): the whole message about a target, in the language of the world's own speaker.

    posdis: token i is the value of dimension i, plus 1. bosdis: every value of every dimension has
    a token of its own, in any order. holistic: every meaning has a name of its own,
    drawn for the episode. quantised: token i is the part of -1 .. 1, cut into as many equal parts
    as there are words, in which coordinate i lies.
    """
    dimensions, words, width = sizes.dimensions, sizes.words, max(sizes.dimensions, sizes.length)
    if sizes.speaker is not None:
        tokens = jnp.asarray(sizes.speaker.message(latents, stimulus))
    elif sizes.language == "bosdis":
        tokens = jnp.roll(latents + 1 + sizes.most * jnp.arange(dimensions), latents.sum())
    elif sizes.language == "holistic":
        tokens = names[target] // words ** np.arange(sizes.length) % words + 1
    elif sizes.language == "quantised":
        tokens = section_of(stimulus, words) + 1
    else:
        tokens = latents + 1
    return jnp.pad(tokens, (0, width - len(tokens))).astype(jnp.int32)
