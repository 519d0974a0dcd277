"""One optimiser step, Adam with a schedule, clipping and penalties, and how it is configured.

A training rule builds an `OptimiserConfig`, begins with `begin_moments`, and calls
`optimiser_step` with every gradient:

    config = OptimiserConfig(rate=0.001, clip=1.0)
    moments = begin_moments(weights)
    weights, moments = optimiser_step(weights, moments, gradient, config)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.jax_gateway import jax, jnp, optax
from quickstudy.learners.auxiliary_losses import AuxiliaryLosses

RISE = 0.03
"""The part of all planned updates over which a rate with a schedule rises."""
FALLS_AFTER = {"cosine": 0.0, "late": 0.75}
"""By the name of a schedule, the part of all planned updates after which the rate falls."""


@dataclass(frozen=True)
class OptimiserConfig:
    """How weights change with a gradient.

    Numbers may be traced arrays, so that settings share a compiled program. Settings that are None
    are left out of the program.

    rate: step size.
    scale: factor of the loss; examples of a batch where their losses are added.
    l1: weight of the sum of absolute values of all trained numbers, added to the loss.
    l2: weight of the sum of their squares, added to the loss.
    clip: largest norm of a gradient; a longer one is scaled down to it; 0: any.
    planned: updates that will be made; the rate rises over the first 3 % of them and falls along a
        cosine to 0 with the last; 0: the rate is constant.
    falls_after: part of the planned updates after which the rate falls; before, it is constant.
    epsilon: number that Adam adds to the root of the second moment.
    auxiliary: further losses, from outputs of the head besides those that are asked for.
    """

    rate: Any
    scale: Any = 1.0
    l1: Any = None
    l2: Any = None
    clip: Any = None
    planned: Any = None
    falls_after: Any = 0.0
    epsilon: float = 1e-8
    auxiliary: AuxiliaryLosses | None = None

    def __post_init__(self) -> None:
        if (self.l1 is None) != (self.l2 is None):
            raise UsageError(f"give both penalties or neither, got l1={self.l1}, l2={self.l2}")

    @classmethod
    def of_lanes(cls, lanes: Sequence[OptimiserConfig]) -> OptimiserConfig:
        """One configuration with arrays (lane,) from one for every batched seed.

        Raises UsageError unless all leave out the same parts.
        """
        first = lanes[0]
        if len({jax.tree.structure(lane) for lane in lanes}) > 1:
            raise UsageError(f"configurations of one program must have the same parts, got {lanes}")
        arrays: dict[str, Any] = {
            name: np.array([getattr(lane, name) for lane in lanes], np.float32)
            for name in _TRACED
            if getattr(first, name) is not None
        }
        return replace(first, **arrays)


_STATIC = ("epsilon", "auxiliary")
_TRACED = tuple(one.name for one in fields(OptimiserConfig) if one.name not in _STATIC)
jax.tree_util.register_dataclass(OptimiserConfig, _TRACED, _STATIC)


def begin_moments(trained: Any) -> Any:
    """Adam's moments before the first update; their `count` is the number of updates made."""
    return optax.scale_by_adam().init(trained)


def optimiser_step(
    trained: Any, moments: Any, gradient: Any, config: OptimiserConfig
) -> tuple[Any, Any]:
    """Weights and moments after one update.

    The step size is applied here, as an array: a new setting is not a new program.
    """
    if config.clip is not None:
        gradient = clipped(gradient, config.clip)
    rate = config.rate
    if config.planned is not None:
        rate = rate * share_of_rate(moments.count, config.planned, config.falls_after)
    steps, moments = optax.scale_by_adam(eps=config.epsilon).update(gradient, moments)
    return jax.tree.map(lambda weight, step: weight - rate * step, trained, steps), moments


def penalty(trained: Any, config: OptimiserConfig) -> Any:
    """What the configuration adds to the loss for the size of the weights."""
    if config.l1 is None:
        return 0.0
    sizes = [(jnp.abs(leaf).sum(), jnp.square(leaf).sum()) for leaf in jax.tree.leaves(trained)]
    return sum(config.l1 * first + config.l2 * second for first, second in sizes)


def share_of_rate(count: Any, planned: Any, falls_after: Any = 0.0) -> Any:
    """The factor of the rate after `count` of `planned` updates; 1 where none are planned."""
    part = count / jnp.maximum(planned, 1.0)
    falling = 0.5 * (
        1 + jnp.cos(jnp.pi * jnp.clip((part - falls_after) / (1 - falls_after), 0.0, 1.0))
    )
    return jnp.where(planned > 0, jnp.minimum(1.0, (count + 1) / (RISE * planned)) * falling, 1.0)


def clipped(gradient: Any, length: Any) -> Any:
    """A gradient scaled down to a norm of at most `length`; any, where it is 0."""
    norm = jnp.sqrt(sum(jnp.square(part).sum() for part in jax.tree.leaves(gradient)))
    factor = jnp.where((length > 0) & (norm > length), length / jnp.maximum(norm, 1e-30), 1.0)
    return jax.tree.map(lambda part: part * factor, gradient)
