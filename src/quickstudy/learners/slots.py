"""Episodes played side by side in slots, one after another in each, with nothing padded: where one
has ended, the next step begins another, whatever is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.lesson import Rehearsal, Transcript
from quickstudy.base.seeds import Streams
from quickstudy.gateway import eqx, jax, jnp
from quickstudy.learners.episodes import opened
from quickstudy.learners.lanes import over_lanes
from quickstudy.tasks.games.episodes import draw_games
from quickstudy.tasks.games.play import GameWorld
from quickstudy.tasks.games.slots import Row
from quickstudy.tasks.worlds import episode_keys

LESSON = 512
"""Episodes that are drawn at once to see how long they are."""


def drawn(rehearsal: Rehearsal, numbers: Any) -> Any:
    """What it takes to play the lanes' episodes of these numbers (lane, episode): a program by
    itself, which all share who play in a world.
    """
    return _drawn(rehearsal.world, rehearsal.keys, numbers, len(numbers))


@eqx.filter_jit
def _drawn(world: Any, keys: Any, numbers: Any, lanes: int) -> Any:
    def single(key: Any, numbers: Any) -> Any:
        own = jax.vmap(lambda number: episode_keys(key, number)[0])(numbers)
        if isinstance(world, GameWorld):
            return draw_games(world.sizes, world.rules, own)
        return opened(world, own, numbers)

    return over_lanes(single, lanes)(keys, numbers)


def laid_out(world: Any, material: Any) -> Any:
    """(a world, states, first observations) of a lane's episodes. Games are played in a row: each
    of their episodes would else have to be as long as the longest can be, and be carried from step
    to step.
    """
    if isinstance(world, GameWorld):
        row = Row(world, *material)
        return row, row.begun()
    return world, material


def in_batches(rehearsal: Rehearsal, start: int, stop: int, batch: int) -> Any:
    """(lane, batch, episode): numbers of the episodes start .. stop-1 in whole batches; (lane,
    rest): those left over.

    Where it is known beforehand how long episodes are, a batch has some of about equal length:
    played side by side to the end of the longest, and learned from as one block, most of it would
    else be padding. All lanes have short batches and long ones at the same time, in an order that
    does not depend on what is in them.
    """
    lanes, count = len(rehearsal.keys), stop - start
    whole = count // batch * batch
    order = np.tile(np.arange(start, stop), (lanes, 1))
    if isinstance(rehearsal.world, GameWorld) and whole > batch:
        room = -(-count // LESSON) * LESSON  # few shapes
        parts = [
            np.asarray(
                drawn(rehearsal, jnp.tile(jnp.arange(first, first + LESSON), (lanes, 1)))[0].count
            )
            for first in range(start, start + room, LESSON)
        ]
        games = np.concatenate(parts, axis=1)[:, :whole]
        shuffled = (
            Streams(0, "games, lengths", 0).numpy(f"batches-{start}").permutation(whole // batch)
        )
        by_length = np.argsort(games, axis=1, kind="stable").reshape(lanes, -1, batch)[:, shuffled]
        order[:, :whole] = start + by_length.reshape(lanes, -1)
    return order[:, :whole].reshape(lanes, -1, batch), order[:, whole:]


class Slots(NamedTuple):
    """(slot,): number of the episode, steps in it so far, whether it has ended; its state, and what
    is seen there. taken: how many episodes were begun.
    """

    number: Any
    time: Any
    ended: Any
    place: Any
    seen: Any
    taken: Any

    @classmethod
    def first(cls, begun: Any, count: int, stop: Any) -> Slots:
        """So many slots with the first episodes in them; where there are fewer, the rest have
        ended.
        """
        number = jnp.arange(count)
        place, seen = jax.tree.map(lambda leaf: leaf[jnp.minimum(number, len(leaf) - 1)], begun)
        return cls(
            number,
            jnp.zeros(count, jnp.int32),
            number >= stop,
            place,
            seen,
            jnp.minimum(count, stop),
        )

    def over(self, stop: int) -> bool:
        """Whether the first so many episodes have all ended, in all lanes; for use outside compiled
        functions.
        """
        return bool(np.asarray(self.ended).all() and (np.asarray(self.taken) >= stop).all())

    def step(
        self, world: Any, begun: Any, keys: Any, action: Any, stop: Any
    ) -> tuple[Slots, Any, Any]:
        """One step in every slot, what was said to it, and in which slots an episode was begun
        instead. begun: (states, first observations) of all episodes, of which the first `stop` are
        played.
        """
        place, said = jax.vmap(world.step)(keys, self.place, action)
        number = self.taken + jnp.cumsum(self.ended) - 1
        fresh = self.ended & (number < stop)
        number = jnp.where(fresh, number, self.number)
        place, seen = jax.tree.map(
            lambda first, now: jnp.where(_beside(fresh, now), first[number], now),
            begun,
            (place, said.observation),
        )
        time = jnp.where(fresh, 0, self.time + 1)
        ended = ~fresh & (self.ended | said.done | (time >= world.horizon))
        return Slots(number, time, ended, place, seen, self.taken + fresh.sum()), said, fresh


def restarted(fresh: Any, first: Any, now: Any) -> Any:
    """A tree of (slot, ...), begun anew where an episode is fresh; first: as it is at the
    beginning.
    """
    return jax.tree.map(lambda one, other: jnp.where(_beside(fresh, other), one, other), first, now)


def _beside(flags: Any, leaf: Any) -> Any:
    return flags.reshape(-1, *[1] * (leaf.ndim - 1))


def transcript(
    logs: Sequence[tuple[Any, Any, Transcript]], episodes: int, horizon: int
) -> Transcript:
    """By episode, what was logged by step and slot in some calls: number of the episode (lane,
    step, slot), -1 where there is none; its time; what happened. What lies behind the end of an
    episode is zeros, and done.
    """
    number, time = (
        np.concatenate([np.asarray(log[part]) for log in logs], axis=1) for part in (0, 1)
    )
    lane, step, slot = np.nonzero(number >= 0)
    at = lane, number[lane, step, slot], time[lane, step, slot]

    def whole(*parts: Any) -> Any:
        log = np.concatenate([np.asarray(part) for part in parts], axis=1)
        rows = np.zeros((len(log), episodes, horizon, *log.shape[3:]), log.dtype)
        rows[at] = log[lane, step, slot]
        return rows

    found: Transcript = jax.tree.map(whole, *[log[2] for log in logs])
    there = np.zeros(found.done.shape, bool)
    there[at] = True
    return found._replace(done=found.done | ~there)
