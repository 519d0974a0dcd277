"""Many episodes played side by side without padding: in a slot, a new episode begins where one ends."""

from __future__ import annotations

from typing import Any, NamedTuple

from quickstudy.base.task import Turn
from quickstudy.gateway import jax, jnp
from quickstudy.tasks.games.episodes import Episode, Games, Spaces
from quickstudy.tasks.games.play import GameWorld, Standing, begin


class Slot(NamedTuple):
    """game: the place of the present game among all that were drawn; end: behind the last game of this slot; standing:
    that of the episode, in which the present game has the number 0.
    """

    game: Any
    end: Any
    standing: Standing


def opened(world: GameWorld, spaces: Spaces, games: Games, count: int) -> tuple[Slot, Any]:
    """So many slots, each at the beginning of an episode, and what is seen there. Every slot has whole episodes, and
    about as many games as any other.
    """
    total = games.starts[-1]
    shares = jnp.floor(jnp.arange(1, count) * (total / count)).astype(jnp.int32)
    ends = games.starts[jnp.searchsorted(games.starts, shares)]
    firsts = jnp.pad(ends, (1, 0))
    slot = jax.vmap(lambda first, end: Slot(first, end, begin(world.sizes)))(firsts, jnp.append(ends, total))
    return slot, jax.vmap(lambda one: world.seen(_present(spaces, games, one.game), one.standing))(slot)


def step_on(world: GameWorld, spaces: Spaces, games: Games, slot: Slot, action: Any) -> tuple[Slot, Turn, Any]:
    """One step in one slot, and whether it belongs to an episode. Behind the end of an episode, whatever is done, the
    next one begins; where there is none, nothing happens.
    """
    standing, reward, info = world.acted(_present(spaces, games, slot.game), slot.standing, action)
    over, another = slot.standing.over, slot.game + 1 < slot.end
    fresh = over & another
    game = slot.game + jnp.where(over, fresh, standing.game)
    standing = jax.tree.map(lambda new, old: jnp.where(fresh, new, old), begin(world.sizes), standing)
    slot = Slot(game, slot.end, standing._replace(game=jnp.zeros_like(standing.game)))
    seen = world.seen(_present(spaces, games, game), slot.standing)
    return slot, Turn(seen, reward, standing.over, info), ~over


def _present(spaces: Spaces, games: Games, game: Any) -> Episode:
    """One game as if it were all of its episode that is left: the rules of playing need no more."""
    episode, query = games.episode[game], games.query[game]
    shown = {name: getattr(games, name)[game][None] for name in Episode._fields[len(Spaces._fields) :]}
    support, count = jnp.where(query, 0, 1), jnp.where(games.last[game], 1, 2)
    return Episode(spaces.values[episode], spaces.renamed[episode], support, count, **shown)
