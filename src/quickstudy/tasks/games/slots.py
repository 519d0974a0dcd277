"""Many episodes whose games lie one after another, as a world in which an episode is the place of
its present game: nothing is padded, and where one ends another can begin at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quickstudy.base.task import Turn
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.tasks.games.episodes import Episode, Games, Spaces

if TYPE_CHECKING:
    from quickstudy.tasks.games.play import GameWorld


class Row(eqx.Module):
    """The world of some episodes that were drawn. A state: where the present game is among all, and
    the standing of its episode, in which the present game has the number 0.
    """

    world: GameWorld
    spaces: Spaces
    games: Games

    @property
    def horizon(self) -> int:
        """Steps of the longest episode that there can be."""
        return self.world.horizon

    def begun(self) -> Any:
        """(states, first observations) of all episodes."""
        standing = self.world.standing()
        places = jax.vmap(lambda game: (game, standing))(self.games.starts[:-1])
        return places, jax.vmap(self._seen)(*places)

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """One step of an episode; nothing is drawn."""
        game, standing = state
        standing, reward, info = self.world.acted(self._present(game), standing, action)
        number = game - self.games.starts[self.games.episode[game]]
        game = game + standing.game
        standing = standing._replace(game=jnp.zeros_like(standing.game))
        turn = Turn(self._seen(game, standing), reward, standing.over, {**info, "game": number})
        return (game, standing), turn

    def _seen(self, game: Any, standing: Any) -> Any:
        return self.world.seen(self._present(game), standing)

    def _present(self, game: Any) -> Episode:
        """One game as if it were all of its episode that is left: the rules of playing need no
        more.
        """
        episode, query = self.games.episode[game], self.games.query[game]
        own = {"support": jnp.where(query, 0, 1), "count": jnp.where(self.games.last[game], 1, 2)}
        own |= {"values": self.spaces.values[episode], "renamed": self.spaces.renamed[episode]}
        return Episode(**own, **self.games.games_at(game[None]))
