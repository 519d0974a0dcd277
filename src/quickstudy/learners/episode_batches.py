"""Which episodes are drawn, played and learned from together, and their log in the order of
episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.seeds import Streams
from quickstudy.base.task import PackedWorld
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.lanes import over_lanes
from quickstudy.learners.rollout import opened
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
        if isinstance(world, PackedWorld):
            return world.pack(own)
        return opened(world, own, numbers)

    return over_lanes(single, lanes)(keys, numbers)


def laid_out(world: Any, material: Any) -> Any:
    """(a world that plays them, (states, first observations)) of a lane's episodes."""
    return world.unpack(material) if isinstance(world, PackedWorld) else (world, material)


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
    world = rehearsal.world
    if isinstance(world, PackedWorld) and whole > batch:
        room = -(-count // LESSON) * LESSON  # few shapes
        parts = [
            np.asarray(
                world.lengths(
                    drawn(rehearsal, jnp.tile(jnp.arange(first, first + LESSON), (lanes, 1)))
                )
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


def transcript(
    logs: Sequence[tuple[Any, Any, Transcript]], episodes: int, horizon: int
) -> Transcript:
    """By episode, what was logged by step and slot in some calls: number of the episode (lane,
    step, slot), -1 where there is none; its time; what happened. Steps after the end of an episode
    are zeros, and done.
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
