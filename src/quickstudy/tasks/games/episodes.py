"""Drawing episodes: a space, its stimuli, a language's renaming, and all games with what either
player is shown.

All random choices are sampled here; playing (`play`) samples nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from quickstudy.jax_gateway import eqx, jax, jnp, lax
from quickstudy.tasks.games.one_game import (
    Store,
    draw_game,
    drawn_names,
    game_width,
    named,
    spare_of,
    stimuli_of,
)
from quickstudy.tasks.games.settings import Rules, Sizes
from quickstudy.tasks.games.spaces import (
    Limits,
    draw_stimuli,
    drawn_axes,
    grid,
    pick_targets,
    split,
    stimulus_shape,
)
from quickstudy.tasks.games.stimulus_sampling import Decks


class Spaces(eqx.Module):
    """What the games of an episode have in common. values: (dimension,). renamed: (position,
    token), what the listener reads for each token. count: games, of which the first `support` are
    of the support phase.
    """

    values: Any
    renamed: Any
    support: Any
    count: Any


class Shown(eqx.Module):
    """Games, on the first axis. target: (dimension,). The stimuli of the speaker and the listener,
    (stimulus, dimension), and their meanings; correct: the right decision; foil: where it comes
    from; message: (token,) what the world's own speaker sends about the target.
    """

    target: Any
    speaker: Any
    listener: Any
    speaker_means: Any
    listener_means: Any
    correct: Any
    foil: Any
    message: Any

    def games_at(self, number: Any) -> dict[str, Any]:
        """The stimuli of the games of these numbers, by name."""
        return {field.name: getattr(self, field.name)[number] for field in fields(Shown)}


class Episode(Spaces, Shown):
    """An episode: a space, and games up to the longest that there can be; or many of them, in
    front.
    """

    def alone(self, number: int) -> Episode:
        """One of many."""
        return jax.tree.map(lambda part: part[number], self)  # type: ignore[no-any-return]


class Games(Shown):
    """The games of many episodes, one after another: those of the first episode, those of the
    second, and so on.

    starts: (episode,) where each begins, and after the last the number of all games. By game:
    episode, its number; query; last: no game of the episode follows.
    """

    starts: Any
    episode: Any
    query: Any
    last: Any


def draw_episode(sizes: Sizes, rules: Rules, key: Any) -> Episode:
    """One episode."""
    return draw_episodes(sizes, rules, key[None]).alone(0)


def draw_episodes(sizes: Sizes, rules: Rules, keys: Any) -> Episode:
    """Episodes of these keys, in front."""
    return as_episodes(sizes, *draw_games(sizes, rules, keys))


def as_episodes(sizes: Sizes, spaces: Spaces, games: Games) -> Episode:
    """Games one after another as episodes, in front. Each has room for the longest, and repeats its
    last game.
    """
    number = (
        jnp.minimum(jnp.arange(sizes.games), spaces.count[:, None] - 1) + games.starts[:-1, None]
    )
    return Episode(**vars(spaces), **games.games_at(number))


def draw_games(sizes: Sizes, rules: Rules, keys: Any) -> tuple[Spaces, Games]:
    """The episodes of these keys, as games one after another. There is room for the longest
    episodes; what follows the last game is unused.

    Games are drawn in as many parts as it takes: all that an episode could have would be five times
    as many.
    """
    meanings = jnp.asarray(grid(sizes.dimensions, sizes.most))
    shapes = (
        (),
        stimulus_shape(sizes.dimensions, sizes.most, sizes.columns),
        (sizes.support + sizes.query, 3),
        (2, len(meanings)),
        (sizes.games, game_width(sizes)),
        (sizes.length, sizes.words),
        (sizes.words**sizes.length if sizes.language == "holistic" else 0,),
    )
    drawn = jax.vmap(lambda key: uniforms(key, shapes))(keys)
    of_structure, of_stimuli, of_picks, of_order, of_games, of_words, of_names = drawn
    values = rules.structures[jnp.floor(of_structure * len(rules.structures)).astype(jnp.int32)]
    stimuli = jax.vmap(draw_stimuli, (0, 0, None, None, None))(
        of_stimuli, values, rules.unequal, rules.warp, rules.mirrored
    )
    axes = jax.vmap(drawn_axes)(of_stimuli) if sizes.shuffled else None
    pools = jax.vmap(split, (0, None, None))(values, meanings, rules.threshold)
    limits = Limits(sizes.support, sizes.query)
    picked = pick_targets(
        of_picks,
        of_order,
        values,
        pools,
        sizes.most,
        rules.shots,
        rules.samples,
        limits,
        sizes.whole,
        sizes.ordered,
    )
    number, again = jnp.arange(sizes.games), picked.support[:, None]
    support = picked.support * sizes.repeats
    asked, count = number >= support[:, None], picked.count - picked.support + support
    place = jnp.where(asked, number - support[:, None] + again, number % jnp.maximum(again, 1))
    targets = jnp.take_along_axis(
        picked.targets, jnp.minimum(place, picked.targets.shape[1] - 1), axis=1
    )
    # What the other stimuli of a game are drawn from: picks, however often they are played.
    in_support, in_query = number < again, asked & (number < count[:, None])
    beside = jnp.stack([in_support, in_query | (in_support & ~rules.balanced)], axis=1)
    around = Decks.of(
        jnp.repeat(targets, 2, axis=0), beside.reshape(-1, sizes.games), len(meanings)
    )
    waits = sizes.whole and not sizes.ordered
    coming = Decks(targets, jnp.where(rules.balanced, count, 0)) if waits else None
    store = Store(pools.query, around, spare_of(pools) if sizes.distractors else None, coming)
    names = jax.vmap(lambda uniform: drawn_names(sizes, uniform))(of_names)
    starts = jnp.pad(jnp.cumsum(count), (1, 0)).astype(jnp.int32)

    def game(at: Any) -> Games:
        """The game of that number, of all."""
        episode = jnp.minimum(jnp.searchsorted(starts[1:], at, side="right"), len(keys) - 1).astype(
            jnp.int32
        )
        number = jnp.minimum(at - starts[episode], sizes.games - 1)
        target, query = targets[episode, number], number >= support[episode]
        found = draw_game(
            sizes, rules, store, of_games[episode, number], target, query, episode, number
        )
        shown = [
            stimuli_of(stimuli, episode, meanings[means], own, axes)
            for means, own in (found.speaker, found.listener)
        ]
        alone = jnp.arange(sizes.distractors + 1) > 0
        seen = jnp.where((rules.partial & alone)[:, None], 0.0, shown[0])
        said = named(sizes, names[episode], meanings[target], target, seen[0])
        return Games(
            meanings[target],
            seen,
            shown[1],
            meanings[found.speaker[0]],
            meanings[found.listener[0]],
            found.correct,
            found.foil,
            said,
            None,
            episode,
            query,
            number + 1 >= count[episode],
        )

    most = len(keys) * sizes.games
    part = min(most, max(1024, 4 * len(keys)))

    def some(first: Any) -> Any:
        return jax.vmap(game)(first + jnp.arange(part))

    def write(state: Any) -> Any:
        first, games = state
        return first + part, jax.tree.map(
            lambda all_games, new: lax.dynamic_update_slice_in_dim(all_games, new, first, 0),
            games,
            some(first),
        )

    if part == most:
        games = some(0)
    else:
        shapes_of = jax.eval_shape(some, 0)
        room = -(-most // part) * part
        empty = jax.tree.map(lambda one: jnp.zeros((room, *one.shape[1:]), one.dtype), shapes_of)
        none = jnp.zeros((), jnp.int32)
        games = lax.while_loop(lambda state: state[0] < starts[-1], write, (none, empty))[1]
    renamed = jax.vmap(lambda one: _renaming(sizes, rules, one))(of_words)
    return Spaces(values, renamed, support, count), replace(games, starts=starts)


def uniforms(key: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """Uniform numbers in 0 .. 1 in several shapes: drawn at once, since every draw takes long to
    compile.
    """
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    drawn = jax.random.uniform(key, (int(ends[-1]),))
    return [
        part.reshape(shape) for part, shape in zip(jnp.split(drawn, ends[:-1]), shapes, strict=True)
    ]


def _renaming(sizes: Sizes, rules: Rules, uniform: Any) -> Any:
    """(position, token): a random bijection that leaves 0, the end of a message, unchanged."""
    order = jnp.argsort(uniform, axis=1) + 1
    order = jnp.where(rules.renaming == 2, order, order[:1])
    order = jnp.where(rules.renaming == 0, jnp.arange(1, sizes.words + 1), order)
    return jnp.pad(order, ((0, 0), (1, 0))).astype(jnp.int32)
