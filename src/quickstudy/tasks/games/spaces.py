"""Symbolic spaces: how many values each dimension has, which stimuli represent them, which
combinations are held out, and which of them are played, in JAX with explicit keys.

A meaning is a value of every dimension. Meanings are numbered on the largest grid there is, the
last dimension fastest, so that all spaces of a setting have one shape.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.jax_gateway import jax, jnp, lax

REJECTED = 10
"""Repeated meanings that are thrown away in an episode before repeats are allowed."""
RETRIES = 5
"""Repeated meanings that are thrown away for one target where repeats are allowed."""
MEANINGS = 2**14
"""The most meanings of a space: every episode of a call has room for all of them."""


def few_enough(values: int, dimensions: int, named: str = "most") -> tuple[bool, str]:
    """Whether a space with so many values of every dimension has no more meanings than there is
    room for, and the inequality; named: the parameter with the number of values.
    """
    meanings = values**dimensions
    return meanings <= MEANINGS, f"{named}^dimensions <= {MEANINGS}, got {meanings}"


@lru_cache
def grid(dimensions: int, most: int) -> NDArray[np.int32]:
    """(meaning, dimension): the values of every meaning on the largest grid.

    >>> grid(2, 3)[:4].tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0]]
    """
    return np.stack(
        np.unravel_index(np.arange(most**dimensions), (most,) * dimensions), axis=1
    ).astype(np.int32)


class Pools(NamedTuple):
    """(meaning,) booleans: those that may be targets in the support phase, and in the query
    phase.
    """

    support: Any
    query: Any


def split(values: Any, meanings: Any, threshold: Any = 2) -> Pools:
    """The meanings of a space with (dimension,) values: those with at least `threshold` odd values
    are held out.

    >>> [int(pool.sum()) for pool in split(jnp.array([3, 4, 5]), grid(3, 5))]
    [38, 22]
    """
    there = (meanings < values).all(axis=1)
    held_out = there & ((meanings % 2).sum(axis=1) >= threshold)
    return Pools(there & ~held_out, held_out)


def stimulus_shape(dimensions: int, most: int, samples: int) -> tuple[int, int, int]:
    """Of the uniform numbers that `draw_stimuli` takes."""
    return 4 + samples, dimensions, most


def draw_stimuli(uniform: Any, values: Any, unequal: Any, warp: Any, mirrored: Any = False) -> Any:
    """(dimension, value, sample): the real numbers that represent every value throughout an
    episode.

    Of the range -1 .. 1 every value has a section; its numbers are normal around a mean that is at
    least 3 deviations away from either end, with a deviation of 1/12 to 1/6 of the section. Nothing
    is clipped. unequal: how different the sections may be (0: all alike). warp: every axis is bent
    by a random power between exp(-warp) and exp(warp). mirrored: of any axis the order of values
    may be the other way round.
    """
    of_sigma, of_mean, of_width, of_bend, *of_samples = uniform
    there = jnp.arange(uniform.shape[2]) < values[:, None]
    parts = jnp.where(there, 1.0 + unequal * (2 * of_width - 1), 0.0)
    width = 2.0 * parts / parts.sum(axis=1, keepdims=True)
    start = -1.0 + jnp.cumsum(width, axis=1) - width
    sigma = width * (1 + of_sigma) / 12
    mean = start + 3 * sigma + of_mean * (width - 6 * sigma)
    normal = jax.scipy.special.ndtri(jnp.clip(jnp.stack(of_samples, axis=-1), 6e-8, 1 - 6e-8))
    drawn = mean[..., None] + sigma[..., None] * normal
    power = jnp.exp(warp * (2 * of_bend[:, :1, None] - 1))
    bent = jnp.where(warp > 0, 2 * jnp.maximum((drawn + 1) / 2, 0.0) ** power - 1, drawn)
    return jnp.where(mirrored & (_spare(uniform) < 0.5)[:, None, None], -bent, bent)


def section_of(coordinates: Any, count: Any) -> Any:
    """In which of so many equal sections of -1 .. 1 a coordinate lies; beyond either end, in the
    last there.
    """
    return jnp.clip(jnp.floor((coordinates + 1) * count / 2), 0, count - 1).astype(jnp.int32)


def drawn_axes(uniform: Any) -> Any:
    """(dimension,): a random order of the axes of a stimulus, by the numbers of
    `draw_stimuli`.
    """
    return jnp.argsort(2 * _spare(uniform) % 1)


def _spare(uniform: Any) -> Any:
    """(dimension,): numbers that nothing else is drawn by."""
    return uniform[3][:, 1]


def chosen_by(uniform: Any, weights: Any, most: int) -> Any:
    """The number of a meaning, drawn with probability proportional to its weight by a number
    uniform in 0 .. 1; weights have the meanings on the first axis, then what the uniform numbers
    have.

    Value by value, the first dimension first: a running sum over all meanings would cost a compiled
    program the square of their number.
    """
    number = jnp.zeros(jnp.shape(uniform), jnp.int32)
    while len(weights) > 1:
        rows = weights.reshape(most, -1, *weights.shape[1:])
        reached = [jnp.zeros(jnp.shape(uniform))]
        for total in rows.sum(axis=1):
            reached.append(reached[-1] + total)
        point = uniform * reached[-1]
        # By rounding, the point may lie after the last row that has any weight.
        passed = [(end <= point) & (reached[-1] > end) for end in reached[1:-1]]
        # A value past an end is past those before it, so that no position must be looked up.
        ends, behind = jnp.stack(reached[1:]), jnp.stack([*passed, jnp.zeros_like(passed[0])])
        value = behind.sum(axis=0, dtype=jnp.int32)
        before = jnp.where(behind, ends, 0.0).max(axis=0)
        after = jnp.where(behind, jnp.inf, ends).min(axis=0)
        weights = rows[0]
        for at, row in enumerate(rows[1:], start=1):
            weights = jnp.where(value == at, row, weights)
        uniform = (point - before) / jnp.maximum(after - before, 1e-30)
        number = number * most + value
    return number


class Picked(NamedTuple):
    """targets: (episode, game) meanings in the order in which they are played, support first; both
    counts of games.
    """

    targets: Any
    support: Any
    count: Any


class Limits(NamedTuple):
    """The most games of the support phase and of the query phase."""

    support: int
    query: int


def pick_targets(
    uniform: Any,
    of_order: Any,
    values: Any,
    pools: Pools,
    most: int,
    shots: Any,
    samples: Any,
    limits: Limits,
    whole: int,
    ordered: bool,
) -> Picked:
    """Targets out of either pool until every value of every dimension has come up at least `shots`
    times in it, for many episodes at once: what is given has them in front.

    A value has weight 100 for every time that it is still due, and 100 more. A meaning is drawn by
    these weights, dimension by dimension. One that was picked already is thrown away: up to 10
    times in a phase, then up to 5 times for each target, after which it is taken; where the pool
    has fewer stimuli than are due, 5 times from the start. A meaning outside the pool gives way to
    one in it, the more likely the nearer. How often a repeated meaning is thrown away is drawn as a
    number, so that no loop waits for it. Where only as many games are left as values are due (one
    episode in some 100,000), meanings with such values alone are drawn.

    A query pool with fewer stimuli than are due is played as a whole, in the order of its numbers,
    each meaning once for every sample. whole: pools that always are, 0, 1 (the query's) or 2, in
    random order and each meaning once, or, where they are ordered, as above. uniform: (episode,
    game, 3) numbers in 0 .. 1; of_order (episode, pool, meaning).

    Within, episodes are the last axis: sums over meanings are then sums of rows. Facts of an
    episode come out of a sum or the like: a compiler recomputes anything else wherever it is used,
    for each of the meanings.
    """
    pools = Pools(*(pool.T for pool in pools))
    number, room = jnp.arange(len(pools.query))[:, None], limits.support + limits.query
    place = most ** np.arange(values.shape[1])[::-1, None]
    there = jnp.arange(most)[:, None] < values.T[:, None]
    uniform = jnp.moveaxis(jnp.maximum(uniform, 1e-7), 0, -1)
    stimuli = jnp.stack([pool.sum(axis=0) for pool in pools]) * samples
    few = shots * values.sum(axis=1) > stimuli
    all_due, thrown_at_first = jnp.where(there, shots, 0), jnp.where(few, REJECTED + 1, 0)
    last_phase = jnp.where((whole > 0) | few[1], 0, 1) - (whole > 1)

    def more(state: Any) -> Any:
        *_, phase, _, _, at = state
        return (phase <= last_phase).any() & (at < room)

    def once(state: Any) -> Any:
        targets, due, picked, thrown, phase, support, count, at = state
        goes_on = (
            phase <= last_phase
        )  # after the last target of an episode, nothing more is written
        pool = jnp.where(phase == 0, *pools)
        left = jnp.where(phase == 0, limits.support, support + limits.query) - at
        of_run, of_draw, of_neighbour = uniform[at]
        weights = _on_grid(jnp.where(there, due + 1.0, 0.0), jnp.multiply)
        repeated = (weights * picked).sum(axis=0) / weights.sum(axis=0)
        run = jnp.floor(jnp.log(of_run) / jnp.log(jnp.clip(repeated, 1e-30, 1 - 1e-7)))
        allowed = jnp.where(thrown > REJECTED, 0, REJECTED + 1 - thrown) + RETRIES
        fresh = jnp.stack([run <= allowed, repeated < 1]).all(axis=0)
        thrown = thrown + jnp.where(repeated > 0, jnp.minimum(run, allowed), 0).astype(jnp.int32)
        drawn = chosen_by(of_draw, jnp.where(picked == fresh, 0.0, weights), most)
        apart = jnp.arange(most)[:, None] - (drawn // place % most)[:, None]
        distance = _on_grid(jnp.square(10.0 * apart), jnp.add)
        hurried = left <= due.sum(axis=(0, 1))
        owing = pool & (_on_grid(due, jnp.add) > 0)
        instead = jnp.where(hurried, 1.0 * owing, pool / (distance + 0.001))
        inside = (pool & (number == drawn)).any(axis=0)
        keeps, other = inside & ~hurried, chosen_by(of_neighbour, instead, most)
        drawn = jnp.stack([jnp.where(keeps, drawn, 0), jnp.where(keeps, 0, other)]).sum(axis=0)
        due = jnp.maximum(due - (jnp.arange(most)[:, None] == (drawn // place % most)[:, None]), 0)
        targets = lax.dynamic_update_index_in_dim(targets, jnp.where(goes_on, drawn, 0), at, 0)
        over = ~(due > 0).any(axis=(0, 1))
        return (
            targets,
            jnp.where(over, all_due, due),
            (picked | (number == drawn)) & ~over,
            jnp.where(over, thrown_at_first[1], thrown),
            phase + over,
            support + (goes_on & (phase == 0)),
            count + goes_on,
            at + 1,
        )

    none = jnp.zeros(len(values), jnp.int32)
    begun = (
        jnp.zeros((room, len(values)), jnp.int32),
        all_due,
        jnp.zeros(pools.query.shape, bool),
        thrown_at_first[0],
        none,
        none,
        none,
        jnp.zeros((), jnp.int32),
    )
    targets, *_, support, count, _ = lax.while_loop(more, once, begun)
    shuffled, repeats = whole > 0 and not ordered, 1 if whole and not ordered else samples

    def listed(pool: Any, uniform: Any, first: Any) -> Any:
        """(game, episode): all meanings of a pool, from a place on."""
        order = jnp.argsort(
            jnp.where(pool, uniform.T if shuffled else number / len(number), 2.0), axis=0
        )
        at = jnp.clip((jnp.arange(room)[:, None] - first) // repeats, 0, len(number) - 1)
        return jnp.take_along_axis(order.astype(jnp.int32), at, axis=0)

    if whole > 1:
        support = pools.support.sum(axis=0) * repeats
        targets = listed(pools.support, of_order[:, 0], 0)
    every = last_phase < 1
    later = every & (jnp.arange(room)[:, None] >= support)
    targets = jnp.where(later, listed(pools.query, of_order[:, 1], support), targets)
    return Picked(
        targets.T, support, jnp.where(every, support + pools.query.sum(axis=0) * repeats, count)
    )


def _on_grid(rows: Any, join: Any) -> Any:
    """(meaning, episode): numbers by dimension and value, joined for the values of every
    meaning.
    """
    whole = rows[0]
    for row in rows[1:]:
        whole = join(whole[:, None], row).reshape(-1, whole.shape[-1])
    return whole
