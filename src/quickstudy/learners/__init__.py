"""Learners: cores with a head and a training, and host learners.

The names needed to write a training can be imported from here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quickstudy.jax_gateway import eqx, jax, jnp, lax, optax
    from quickstudy.learners.core_with_training import Usual
    from quickstudy.learners.episode_training import Agent, EpisodeTraining, Played
    from quickstudy.learners.gradient_training import Batch, GradientTraining
    from quickstudy.learners.optimiser import OptimiserConfig, begin_moments, optimiser_step
    from quickstudy.learners.stepping import Head, Model

_PUBLIC = {
    **dict.fromkeys(("eqx", "jax", "jnp", "lax", "optax"), "quickstudy.jax_gateway"),
    **dict.fromkeys(("Batch", "GradientTraining"), "quickstudy.learners.gradient_training"),
    **dict.fromkeys(("Agent", "EpisodeTraining", "Played"), "quickstudy.learners.episode_training"),
    **dict.fromkeys(
        ("OptimiserConfig", "begin_moments", "optimiser_step"), "quickstudy.learners.optimiser"
    ),
    **dict.fromkeys(("Head", "Model"), "quickstudy.learners.stepping"),
    "Usual": "quickstudy.learners.core_with_training",
}

__all__ = [
    "Agent",
    "Batch",
    "EpisodeTraining",
    "GradientTraining",
    "Head",
    "Model",
    "OptimiserConfig",
    "Played",
    "Usual",
    "begin_moments",
    "eqx",
    "jax",
    "jnp",
    "lax",
    "optax",
    "optimiser_step",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'quickstudy.learners' has no attribute {name!r}")
