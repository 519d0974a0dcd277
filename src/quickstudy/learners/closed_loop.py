"""A learner whose answers decide what it reads next, as one compiled program: what it reaches, and
how fast two of its futures part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.exchange import FED_BACK
from quickstudy.jax_gateway import eqx, jax, jnp, lax
from quickstudy.learners.lanes import over_lanes

EVERY = 5
"""Steps between QR re-orthonormalisations of the tangents."""


def reached(
    voice: Any, warm: NDArray[Any], plants: Any, advance: Callable[..., Any], steps: int, lanes: int
) -> NDArray[np.float64]:
    """(lane, row, step, width): what speakers with a lane axis reach that first read warm (lane,
    time, row, width).

    plants: with a lane axis, what they act on. advance(plant, answers, step, xp) -> (plant, what is
    read next, what was reached), hashable, in JAX.
    """
    found = _reached(
        voice, jnp.asarray(warm, float), jax.tree.map(_single, plants), advance, steps, lanes
    )
    return np.asarray(found, np.float64)


def _single(part: Any) -> Any:
    array = np.asarray(part)
    return jnp.asarray(array, float if array.dtype.kind == "f" else array.dtype)


@eqx.filter_jit
def _reached(voice: Any, warm: Any, plants: Any, advance: Any, steps: int, lanes: int) -> Any:
    def single(voice: Any, warm: Any, plant: Any) -> Any:
        start = voice.start(warm.shape[1], warm.shape[0] + steps)
        state, answers = lax.scan(lambda state, x: voice.step(state, x), start, warm)

        def go_on(carry: Any, step: Any) -> Any:
            state, answers, plant = carry
            plant, following, there = advance(plant, answers, step, jnp)
            state, answers = voice.step(state, following)
            return (state, answers, plant), there

        return jnp.swapaxes(
            lax.scan(go_on, (state, answers[-1], plant), jnp.arange(steps))[1], 0, 1
        )

    return over_lanes(single, lanes)(voice, warm, plants)


def exponents(
    voice: Any, warm: NDArray[Any], count: int, steps: int, lanes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per lane, of a learner that reads its own answers from warm (lane, time, width) on: its
    largest Lyapunov exponents (lane, count), per step, and its answers (lane, step, width).

    By the growth of tangents that are kept at right angles (Benettin et al. 1980), through all that
    it keeps in mind, counted after a fifth of all steps.
    """
    found, answers = _exponents(
        voice, jnp.asarray(warm, float), count, max(5, steps // EVERY), lanes
    )
    return np.asarray(found, np.float64), np.asarray(answers, np.float64)


@eqx.filter_jit
def _exponents(voice: Any, warm: Any, count: int, blocks: int, lanes: int) -> Any:
    def single(voice: Any, warm: Any) -> Any:
        begin = voice.start(1, warm.shape[0] + blocks * EVERY)
        state, answers = lax.scan(lambda state, x: voice.step(state, x[None]), begin, warm)
        smooth, rest = eqx.partition((state, answers[-1]), eqx.is_inexact_array)
        flat = _raveled(smooth)
        many = min(count, len(flat))
        tangents = jnp.linalg.qr(
            jnp.asarray(np.random.default_rng(0).normal(size=(len(flat), many)), flat.dtype)
        )[0]

        def once(flat: Any, rest: Any) -> Any:
            state, x = eqx.combine(_unraveled(flat, smooth), rest)
            after = voice.step(state, jnp.clip(x, -FED_BACK, FED_BACK))
            followed, rest = eqx.partition(after, eqx.is_inexact_array)
            return _raveled(followed), (rest, after[1][0])

        def step(carry: Any, _: Any) -> Any:
            flat, rest, tangents = carry
            following, pushed, (rest, answer) = jax.linearize(
                lambda flat: once(flat, rest), flat, has_aux=True
            )
            return (following, rest, jax.vmap(pushed, 1, 1)(tangents)), answer

        def block(carry: Any, _: Any) -> Any:
            (flat, rest, tangents), answers = lax.scan(step, carry, None, EVERY)
            tangents, upper = jnp.linalg.qr(tangents)
            return (flat, rest, tangents), (jnp.log(jnp.abs(jnp.diag(upper))), answers)

        _, (grown, answers) = lax.scan(block, (flat, rest, tangents), None, blocks)
        counted = grown[blocks // 5 :]
        return counted.mean(axis=0) / EVERY, answers.reshape(blocks * EVERY, -1)

    return over_lanes(single, lanes)(voice, warm)


def _raveled(tree: Any) -> Any:
    """All numbers of a tree in one vector."""
    return jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(tree)])


def _unraveled(flat: Any, like: Any) -> Any:
    """The inverse, for a tree of the shape of another."""
    leaves, structure = jax.tree.flatten(like)
    ends = np.cumsum([leaf.size for leaf in leaves])
    parts = [
        flat[end - leaf.size : end].reshape(leaf.shape)
        for leaf, end in zip(leaves, ends, strict=True)
    ]
    return jax.tree.unflatten(structure, parts)
