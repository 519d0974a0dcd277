"""Drawing an episode: a space, its stimuli, a language's renaming, and all games with what either player is shown.

What is drawn here is everything that chance decides; playing (`play`) draws nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from quickstudy.gateway import eqx, jax, jnp
from quickstudy.tasks.games.shelves import Shelves
from quickstudy.tasks.games.spaces import Limits, draw_stimuli, grid, pick_targets, split, stimulus_shape

KEPT, FROM_SUPPORT, FROM_QUERY = 0, 1, 2
"""Where the stimulus in the target's place comes from: it is the target, or a foil of either pool."""


@dataclass(frozen=True)
class Sizes:
    """What the shapes of a compiled program depend on; the parameters of the same names are in `MetaGame`.

    support, query: the most games of either phase. repeats: times that the support games are played. columns: stimuli
    that are drawn for a value, at least as many as there are samples. whole: pools that are played as a whole, 0, 1 (of
    the query) or 2; ordered: in the order of their numbers. language: of the speaker that is part of the world.
    """

    dimensions: int
    most: int
    distractors: int
    words: int
    length: int
    rounds: int
    support: int
    query: int
    repeats: int
    columns: int
    whole: int
    ordered: bool
    descriptive: bool
    feedback: bool
    language: str

    @property
    def games(self) -> int:
        """The most games of an episode."""
        return self.support * self.repeats + self.query

    @property
    def decisions(self) -> int:
        """One for each stimulus, and perhaps one for none of them."""
        return self.distractors + 1 + self.descriptive

    @property
    def turns(self) -> int:
        """Steps of a game."""
        return self.rounds + 1 + self.feedback

    @property
    def horizon(self) -> int:
        """The most steps of an episode: with feedback, it is over when the last feedback is seen."""
        return self.turns * self.games - self.feedback


class Rules(eqx.Module):
    """What changes no shape, as arrays: settings that differ in these alone share compiled programs.

    structures: (structure, dimension) numbers of values that may be drawn. shots, samples: S and O. kept: the
    probability that the target is among the stimuli of a descriptive game. balanced: foils of query games come from the
    query pool, and all stimuli of a game mean something else. strict: a kept target is shown by another sample than
    the speaker's. renaming: 0 none, 1 one for all positions, 2 one for each. partial: the speaker sees the target only.
    unequal, warp: see `draw_stimuli`. threshold: odd values that put a meaning into the query pool.
    """

    structures: Any
    shots: Any
    samples: Any
    kept: Any
    balanced: Any
    strict: Any
    renaming: Any
    partial: Any
    unequal: Any
    warp: Any
    threshold: Any


class Episode(NamedTuple):
    """values: (dimension,). renamed: (position, token), what the listener reads for each token. count: games, of which
    the first `support` are of the support phase. By game, padded: target (game, dimension); shown to the speaker and to
    the listener (game, stimulus, dimension), and what that means; correct: the right decision; foil: where it comes
    from; message (game, token): what the world's own speaker says of the target.
    """

    values: Any
    renamed: Any
    support: Any
    count: Any
    target: Any
    speaker: Any
    listener: Any
    speaker_means: Any
    listener_means: Any
    correct: Any
    foil: Any
    message: Any


def draw_episode(sizes: Sizes, rules: Rules, key: Any) -> Episode:
    """One episode."""
    meanings = jnp.asarray(grid(sizes.dimensions, sizes.most))
    shapes = (
        (), stimulus_shape(sizes.dimensions, sizes.most, sizes.columns), (sizes.support + sizes.query, 3),
        (2, len(meanings)),
        (sizes.games, game_width(sizes)), (sizes.length, sizes.words),
        (sizes.words**sizes.length if sizes.language == "holistic" else 0,),
    )  # fmt: skip
    of_structure, of_stimuli, of_picks, of_order, of_games, of_words, of_names = uniforms(key, shapes)
    values = rules.structures[jnp.floor(of_structure * len(rules.structures)).astype(jnp.int32)]
    stimuli = draw_stimuli(of_stimuli, values, rules.unequal, rules.warp)
    pools = split(values, meanings, rules.threshold)
    limits = Limits(sizes.support, sizes.query)
    picked = pick_targets(
        of_picks, of_order, values, pools, sizes.most, rules.shots, rules.samples, limits, sizes.whole, sizes.ordered
    )
    number, repeated = jnp.arange(sizes.games), picked.support * sizes.repeats
    asked, count = number >= repeated, picked.count - picked.support + repeated
    place = jnp.where(asked, number - repeated + picked.support, number % jnp.maximum(picked.support, 1))
    targets = picked.targets[jnp.minimum(place, len(picked.targets) - 1)]
    # What the other stimuli of a game are drawn from: picks, however often they are played.
    in_support, in_query = number < picked.support, asked & (number < count)
    around = Shelves.of(targets, [in_support, in_query | (in_support & ~rules.balanced)], len(meanings))
    coming = (
        Shelves(targets[None], jnp.where(rules.balanced, count, 0)[None]) if sizes.whole and not sizes.ordered else None
    )
    draw = partial(draw_game, sizes, rules, pools, around, coming=coming)
    games = jax.vmap(lambda *game: draw(*game))(of_games, targets, asked, number)
    shown = [materialised(stimuli, meanings[means], sample) for means, sample in (games.speaker, games.listener)]
    alone = jnp.arange(sizes.distractors + 1) > 0
    seen = jnp.where((rules.partial & alone)[:, None], 0.0, shown[0])
    message = named(sizes, of_names, meanings[targets], targets, seen[:, 0])
    return Episode(
        values, _renaming(sizes, rules, of_words), repeated, count, meanings[targets],
        seen, shown[1], meanings[games.speaker[0]], meanings[games.listener[0]], games.correct, games.foil, message,
    )  # fmt: skip


def uniforms(key: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """Uniform numbers in 0 .. 1 in several shapes: drawn at once, since every draw takes long to compile."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    drawn = jax.random.uniform(key, (int(ends[-1]),))
    return [part.reshape(shape) for part, shape in zip(jnp.split(drawn, ends[:-1]), shapes, strict=True)]


class Game(NamedTuple):
    """(means, sample), each (stimulus,), of what either player sees; the right decision; where the foil is from."""

    speaker: Any
    listener: Any
    correct: Any
    foil: Any


def game_width(sizes: Sizes) -> int:
    """Uniform numbers that a game takes."""
    return 5 + 3 * sizes.distractors + (sizes.distractors > 0)


def draw_game(
    sizes: Sizes, rules: Rules, pools: Any, around: Any, uniform: Any, target: Any, query: Any,
    played: Any = 0, coming: Shelves | None = None,
) -> Game:  # fmt: skip
    """One game about a target. Others are drawn from what was picked in the episode, as often as it was picked.

    coming: all targets in the order of playing, where each comes once; played: games before this one. The other
    stimuli of a query game are then first of all those that are yet to come: what was a target is none again, and who
    remembers that would need no message. Only behind the last there is none to come.
    """
    others, phase = sizes.distractors, query.astype(jnp.int32)
    own, coin, of_sample, of_foil, of_foil_sample = uniform[:5]
    picks, samples, shuffle = jnp.split(uniform[5:], [others, 2 * others])
    if others:  # in the place of entries that are missing: the phase's pool, then all there is
        number = jnp.arange(len(pools.query))
        spare = Shelves.of(number, [pools.support, pools.query, pools.support | pools.query], len(number))

    def sample(uniform: Any) -> Any:
        return jnp.floor(uniform * rules.samples).astype(jnp.int32)

    def draw(uniform: Any, taken: Any, used: Any) -> tuple[Any, Any]:
        """A meaning, and its place. taken: blocks of entries; used: meanings that it must not be."""
        drawn, place, there = around.drawn(phase, uniform, taken)
        if coming is not None:
            other, at, more = coming.drawn(0, uniform, later)
            more &= query
            drawn = jnp.where(more, other, drawn)
            later.append((jnp.where(more, at, 0), jnp.where(more, 1, 0)))
            place, there = jnp.where(more, around.block(phase, drawn)[0], place), there | more
        for shelf in (phase, 2) if others else ():
            other, _, more = spare.drawn(shelf, uniform, [spare.block(shelf, one) for one in used])
            drawn, there = jnp.where(there, drawn, other), there | more
        return drawn, place

    whole = around.block(phase, target)
    # With one sample only the target's own entry is left out, as published: a repeat of it may be a distractor.
    taken = [(whole[0], jnp.where(~rules.balanced & (rules.samples == 1), 1, whole[1]))]
    means, later = [target], [(jnp.zeros((), jnp.int32), jnp.asarray(played + 1, jnp.int32))]
    for uniform_of_pick in picks:
        drawn, place = draw(uniform_of_pick, taken, means)
        block = around.block(phase, drawn)
        taken.append((jnp.where(rules.balanced, block[0], place), jnp.where(rules.balanced, block[1], 1)))
        means.append(drawn)
    # As published, a foil may be the same as a distractor.
    free = [(first, jnp.where(rules.balanced, count, 0)) for first, count in taken[1:]]
    foil = draw(of_foil, [whole, *free], means)[0]
    kept = (coin < rules.kept) | (not sizes.descriptive)
    speaker_sample = sample(own)
    another = 1 + jnp.floor(of_sample * (rules.samples - 1)).astype(jnp.int32)
    kept_sample = jnp.where(rules.strict, (speaker_sample + another) % rules.samples, sample(of_sample))
    beside, distant = jnp.stack(means)[1:], sample(samples)
    first = jnp.where(kept, target, foil), jnp.where(kept, kept_sample, sample(of_foil_sample))
    rank = (shuffle < shuffle[:, None]).sum(axis=1) if others else jnp.zeros(1, jnp.int32)
    order = (rank == jnp.arange(others + 1)[:, None]).argmax(axis=1)
    return Game(
        (jnp.append(target, beside), jnp.append(speaker_sample, distant)),
        (jnp.append(first[0], beside)[order], jnp.append(first[1], distant)[order]),
        jnp.where(kept, jnp.argmin(order), others + 1).astype(jnp.int32),
        jnp.where(kept, KEPT, jnp.where(pools.query[foil], FROM_QUERY, FROM_SUPPORT)),
    )


def materialised(stimuli: Any, means: Any, sample: Any) -> Any:
    """(game, stimulus, dimension) numbers of meanings; one sample for all dimensions."""
    return stimuli[jnp.arange(means.shape[-1]), means, sample[..., None]]


def _renaming(sizes: Sizes, rules: Rules, uniform: Any) -> Any:
    """(position, token): a random bijection that leaves 0, the end of a message, as it is."""
    order = jnp.argsort(uniform, axis=1) + 1
    order = jnp.where(rules.renaming == 2, order, order[:1])
    order = jnp.where(rules.renaming == 0, jnp.arange(1, sizes.words + 1), order)
    return jnp.pad(order, ((0, 0), (1, 0))).astype(jnp.int32)


def named(sizes: Sizes, uniform: Any, latents: Any, targets: Any, stimuli: Any) -> Any:
    """(game, token): the whole message about every target, in the language of the world's own speaker.

    posdis: token i is the value of dimension i, plus 1. bosdis: every value of every dimension has a token of its own,
    and their order says nothing. holistic: every meaning has a name of its own, drawn for the episode. quantised: token
    i is the part of -1 .. 1, cut into as many equal parts as there are words, in which coordinate i lies.
    """
    dimensions, words, width = sizes.dimensions, sizes.words, max(sizes.dimensions, sizes.length)
    if sizes.language == "bosdis":
        tokens = latents + 1 + sizes.most * jnp.arange(dimensions)
        tokens = jax.vmap(jnp.roll)(tokens, latents.sum(axis=1))
    elif sizes.language == "holistic":
        names = jnp.argsort(uniform)[: sizes.most**dimensions]
        tokens = names[targets][:, None] // words ** np.arange(sizes.length) % words + 1
    elif sizes.language == "quantised":
        tokens = jnp.clip(jnp.floor((stimuli + 1) * words / 2), 0, words - 1).astype(jnp.int32) + 1
    else:
        tokens = latents + 1
    return jnp.pad(tokens, ((0, 0), (0, width - tokens.shape[1]))).astype(jnp.int32)
