"""How well the numbers of a stimulus represent the underlying values: of the symbolic spaces
themselves.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.registries import quantity
from quickstudy.base.seeds import Streams
from quickstudy.measures.disentanglement import disentanglement_scores, factor_vae_score

SPACES, DRAWN = 20, 10_000
"""Symbolic spaces that are drawn, and stimuli of each."""

_SHARE = "of 1"


@quantity(
    "disentanglement",
    version=1,
    unit={"factor-vae": _SHARE, "mig": _SHARE, "modularity": _SHARE},
    equation=(
        "FactorVAE score, MIG and modularity of 10,000 stimuli with values drawn uniformly; mean of"
        " 20 spaces"
    ),
)
def disentanglement(task: Any) -> dict[str, float]:
    """Of the numbers by which a space shows its values. All dimensions have as many values as there
    can be most.
    """
    if not hasattr(task, "rules") or not hasattr(task, "samples"):
        raise NotApplicable(f"{task.id} has no symbolic spaces")
    return dict(_scores(task.dimensions, task.most, task.samples, task.unequal, task.warp))


@lru_cache(maxsize=32)
def _scores(
    dimensions: int, most: int, samples: int, unequal: float, warp: float
) -> dict[str, float]:
    from quickstudy.jax_gateway import jax, jnp
    from quickstudy.tasks.games.spaces import draw_stimuli, stimulus_shape

    values = jnp.full(dimensions, most)
    draw_space = jax.jit(lambda uniform: draw_stimuli(uniform, values, unequal, warp))
    found = []
    for number in range(SPACES):
        rng = Streams(0, "disentanglement", number).numpy("data")
        uniform = rng.random(stimulus_shape(dimensions, most, samples), dtype=np.float32)
        space = Space(np.asarray(draw_space(uniform), np.float64))
        scores = disentanglement_scores(*space.draw(rng, DRAWN))
        found.append({**scores, "factor-vae": factor_vae_score(space.draw, space.fix, rng)})
    return {
        name: float(np.mean([one[name] for one in found]))
        for name in ("factor-vae", "mig", "modularity")
    }


class Space:
    """The stimuli of one space, (dimension, value, sample)."""

    def __init__(self, stimuli: NDArray[np.float64]) -> None:
        self._stimuli = stimuli

    def draw(
        self, rng: np.random.Generator, count: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Values, uniform and independent, and the numbers that show them, by one sample for all
        dimensions.
        """
        dimensions, most, _ = self._stimuli.shape
        factors = rng.integers(most, size=(count, dimensions))
        return factors, self._shown(factors, rng)

    def fix(self, rng: np.random.Generator, factor: int, count: int) -> NDArray[np.float64]:
        """Numbers of stimuli that have one value of a factor in common."""
        factors, _ = self.draw(rng, count)
        factors[:, factor] = factors[0, factor]
        return self._shown(factors, rng)

    def _shown(self, factors: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        sample = rng.integers(self._stimuli.shape[2], size=(len(factors), 1))
        return self._stimuli[np.arange(factors.shape[1]), factors, sample]
