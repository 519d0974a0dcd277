"""Drawing an episode: a space, its stimuli, a language's renaming, and all games with what either player is shown.

What is drawn here is everything that chance decides; playing (`play`) draws nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from quickstudy.gateway import eqx, jax, jnp, lax
from quickstudy.tasks.games.shelves import Shelves
from quickstudy.tasks.games.spaces import Limits, Pools, draw_stimuli, grid, pick_targets, split, stimulus_shape

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


class Games(NamedTuple):
    """The games of many episodes, one after another: those of the first episode, those of the second, and so on.

    starts: (episode,) where each begins, and behind the last the number of all games. By game: episode, its number;
    query; last: no game of the episode follows; the rest as in `Episode`.
    """

    starts: Any
    episode: Any
    query: Any
    last: Any
    target: Any
    speaker: Any
    listener: Any
    speaker_means: Any
    listener_means: Any
    correct: Any
    foil: Any
    message: Any


class Spaces(NamedTuple):
    """What the games of an episode have in common, of many episodes: see `Episode`."""

    values: Any
    renamed: Any
    support: Any
    count: Any


def draw_episode(sizes: Sizes, rules: Rules, key: Any) -> Episode:
    """One episode."""
    return jax.tree.map(lambda part: part[0], draw_episodes(sizes, rules, key[None]))  # type: ignore[no-any-return]


def draw_episodes(sizes: Sizes, rules: Rules, keys: Any) -> Episode:
    """Episodes of these keys, in front."""
    return as_episodes(sizes, *draw_games(sizes, rules, keys))


def as_episodes(sizes: Sizes, spaces: Spaces, games: Games) -> Episode:
    """Games one after another as episodes, in front: each has room for the longest, and behind its last game repeats it."""
    number = jnp.minimum(jnp.arange(sizes.games), spaces.count[:, None] - 1) + games.starts[:-1, None]
    shown = games._asdict()
    return Episode(*spaces, *(shown[name][number] for name in Episode._fields[len(Spaces._fields) :]))


def draw_games(sizes: Sizes, rules: Rules, keys: Any) -> tuple[Spaces, Games]:
    """The episodes of these keys, as games one after another. There is room for the longest episodes; what lies behind
    the last game says nothing.

    Games are drawn in as many parts as it takes: all that an episode could have would be five times as many.
    """
    meanings = jnp.asarray(grid(sizes.dimensions, sizes.most))
    shapes = (
        (), stimulus_shape(sizes.dimensions, sizes.most, sizes.columns), (sizes.support + sizes.query, 3),
        (2, len(meanings)),
        (sizes.games, game_width(sizes)), (sizes.length, sizes.words),
        (sizes.words**sizes.length if sizes.language == "holistic" else 0,),
    )  # fmt: skip
    drawn = jax.vmap(lambda key: uniforms(key, shapes))(keys)
    of_structure, of_stimuli, of_picks, of_order, of_games, of_words, of_names = drawn
    values = rules.structures[jnp.floor(of_structure * len(rules.structures)).astype(jnp.int32)]
    stimuli = jax.vmap(draw_stimuli, (0, 0, None, None))(of_stimuli, values, rules.unequal, rules.warp)
    pools = jax.vmap(split, (0, None, None))(values, meanings, rules.threshold)
    limits = Limits(sizes.support, sizes.query)
    picked = pick_targets(
        of_picks, of_order, values, pools, sizes.most, rules.shots, rules.samples, limits, sizes.whole, sizes.ordered
    )
    number, again = jnp.arange(sizes.games), picked.support[:, None]
    support = picked.support * sizes.repeats
    asked, count = number >= support[:, None], picked.count - picked.support + support
    place = jnp.where(asked, number - support[:, None] + again, number % jnp.maximum(again, 1))
    targets = jnp.take_along_axis(picked.targets, jnp.minimum(place, picked.targets.shape[1] - 1), axis=1)
    # What the other stimuli of a game are drawn from: picks, however often they are played.
    in_support, in_query = number < again, asked & (number < count[:, None])
    beside = jnp.stack([in_support, in_query | (in_support & ~rules.balanced)], axis=1)
    around = Shelves.of(jnp.repeat(targets, 2, axis=0), beside.reshape(-1, sizes.games), len(meanings))
    waits = sizes.whole and not sizes.ordered
    coming = Shelves(targets, jnp.where(rules.balanced, count, 0)) if waits else None
    store = Store(pools.query, around, spare_of(pools) if sizes.distractors else None, coming)
    names = jax.vmap(lambda uniform: drawn_names(sizes, uniform))(of_names)
    starts = jnp.pad(jnp.cumsum(count), (1, 0)).astype(jnp.int32)

    def game(at: Any) -> Games:
        """The game of that number, of all."""
        episode = jnp.minimum(jnp.searchsorted(starts[1:], at, side="right"), len(keys) - 1).astype(jnp.int32)
        number = jnp.minimum(at - starts[episode], sizes.games - 1)
        target, query = targets[episode, number], number >= support[episode]
        found = draw_game(sizes, rules, store, of_games[episode, number], target, query, episode, number)
        shown = [stimuli_of(stimuli, episode, meanings[means], own) for means, own in (found.speaker, found.listener)]
        alone = jnp.arange(sizes.distractors + 1) > 0
        seen = jnp.where((rules.partial & alone)[:, None], 0.0, shown[0])
        return Games(
            starts, episode, query, number + 1 >= count[episode], meanings[target], seen, shown[1],
            meanings[found.speaker[0]], meanings[found.listener[0]], found.correct, found.foil,
            named(sizes, names[episode], meanings[target], target, seen[0]),
        )  # fmt: skip

    most = len(keys) * sizes.games
    part = min(most, max(1024, 4 * len(keys)))

    def some(first: Any) -> Any:
        return jax.vmap(game)(first + jnp.arange(part))._replace(starts=None)

    def write(state: Any) -> Any:
        first, games = state
        return first + part, jax.tree.map(
            lambda all_games, new: lax.dynamic_update_slice_in_dim(all_games, new, first, 0), games, some(first)
        )

    if part == most:
        games = some(0)
    else:
        shapes_of = jax.eval_shape(some, 0)
        room = -(-most // part) * part
        empty = jax.tree.map(lambda one: jnp.zeros((room, *one.shape[1:]), one.dtype), shapes_of)
        none = jnp.zeros((), jnp.int32)
        games = lax.while_loop(lambda state: state[0] < starts[-1], write, (none, empty))[1]
    return Spaces(values, jax.vmap(lambda one: _renaming(sizes, rules, one))(of_words), support, count), games._replace(
        starts=starts
    )


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


class Store(NamedTuple):
    """What the stimuli of games are drawn from, of many episodes. query: (episode, meaning), those of the query pool.
    around: what was picked, two shelves an episode, one for either phase. spare: three shelves, both pools and all
    there is, where there are distractors. coming: all targets in the order of playing, where each comes once.
    """

    query: Any
    around: Shelves
    spare: Shelves | None = None
    coming: Shelves | None = None


def spare_of(pools: Pools) -> Shelves:
    """The shelves `spare` of a `Store`; pools have the episodes in front."""
    there = jnp.stack([pools.support, pools.query, pools.support | pools.query], axis=1)
    return Shelves.counted(there.reshape(-1, there.shape[-1]).astype(jnp.int32), there.shape[-1])


def draw_game(
    sizes: Sizes, rules: Rules, store: Store, uniform: Any, target: Any, query: Any, episode: Any = 0, played: Any = 0
) -> Game:
    """One game about a target. Others are drawn from what was picked in the episode, as often as it was picked.

    played: games before this one. Where each target comes once, the other stimuli of a query game are first of all
    those that are yet to come: what was a target is none again, and who remembers that would need no message. Only
    behind the last there is none to come.
    """
    others, around, coming, spare = sizes.distractors, store.around, store.coming, store.spare
    shelf = 2 * episode + query.astype(jnp.int32)
    own, coin, of_sample, of_foil, of_foil_sample = uniform[:5]
    picks, samples, shuffle = jnp.split(uniform[5:], [others, 2 * others])

    def sample(uniform: Any) -> Any:
        return jnp.floor(uniform * rules.samples).astype(jnp.int32)

    def draw(uniform: Any, taken: Any, used: Any) -> tuple[Any, Any]:
        """A meaning, and its place. taken: blocks of entries; used: meanings that it must not be."""
        drawn, place, there = around.drawn(shelf, uniform, taken)
        if coming is not None:
            other, at, more = coming.drawn(episode, uniform, later)
            more &= query
            drawn = jnp.where(more, other, drawn)
            later.append((jnp.where(more, at, 0), jnp.where(more, 1, 0)))
            place, there = jnp.where(more, around.block(shelf, drawn)[0], place), there | more
        # In the place of entries that are missing: the phase's pool, then all there is.
        for pool in (query.astype(jnp.int32), 2) if spare is not None else ():
            row = 3 * episode + pool
            other, _, more = spare.drawn(row, uniform, [spare.block(row, one) for one in used])
            drawn, there = jnp.where(there, drawn, other), there | more
        return drawn, place

    whole = around.block(shelf, target)
    # With one sample only the target's own entry is left out, as published: a repeat of it may be a distractor.
    taken = [(whole[0], jnp.where(~rules.balanced & (rules.samples == 1), 1, whole[1]))]
    means, later = [target], [(jnp.zeros((), jnp.int32), jnp.asarray(played + 1, jnp.int32))]
    for uniform_of_pick in picks:
        drawn, place = draw(uniform_of_pick, taken, means)
        block = around.block(shelf, drawn)
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
        jnp.where(kept, KEPT, jnp.where(store.query[episode, foil], FROM_QUERY, FROM_SUPPORT)),
    )


def stimuli_of(stimuli: Any, episode: Any, means: Any, sample: Any) -> Any:
    """(stimulus, dimension): the numbers that stand for meanings in an episode; one sample for all dimensions."""
    return stimuli[episode, jnp.arange(means.shape[-1]), means, sample[..., None]]


def _renaming(sizes: Sizes, rules: Rules, uniform: Any) -> Any:
    """(position, token): a random bijection that leaves 0, the end of a message, as it is."""
    order = jnp.argsort(uniform, axis=1) + 1
    order = jnp.where(rules.renaming == 2, order, order[:1])
    order = jnp.where(rules.renaming == 0, jnp.arange(1, sizes.words + 1), order)
    return jnp.pad(order, ((0, 0), (1, 0))).astype(jnp.int32)


def drawn_names(sizes: Sizes, uniform: Any) -> Any:
    """(meaning,): the names of all meanings, where each has one of its own; else nothing."""
    return jnp.argsort(uniform)[: sizes.most**sizes.dimensions] if sizes.language == "holistic" else uniform


def named(sizes: Sizes, names: Any, latents: Any, target: Any, stimulus: Any) -> Any:
    """(token,): the whole message about a target, in the language of the world's own speaker.

    posdis: token i is the value of dimension i, plus 1. bosdis: every value of every dimension has a token of its own,
    and their order says nothing. holistic: every meaning has a name of its own, drawn for the episode. quantised: token
    i is the part of -1 .. 1, cut into as many equal parts as there are words, in which coordinate i lies.
    """
    dimensions, words, width = sizes.dimensions, sizes.words, max(sizes.dimensions, sizes.length)
    if sizes.language == "bosdis":
        tokens = jnp.roll(latents + 1 + sizes.most * jnp.arange(dimensions), latents.sum())
    elif sizes.language == "holistic":
        tokens = names[target] // words ** np.arange(sizes.length) % words + 1
    elif sizes.language == "quantised":
        tokens = jnp.clip(jnp.floor((stimulus + 1) * words / 2), 0, words - 1).astype(jnp.int32) + 1
    else:
        tokens = latents + 1
    return jnp.pad(tokens, (0, width - len(tokens))).astype(jnp.int32)
