"""CMA-ES: a cloud of candidates that moves, widens and turns towards what does well. No slope is
asked for.

Source: Hansen, "The CMA Evolution Strategy: A Tutorial" (2016), with its constants and without
negative weights; for many numbers the separable form of Ros and Hansen (2008), whose cloud is
widened but not turned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_TURNED = 100
"""Numbers of a candidate up to which the whole covariance is learned: its square root then takes 2
ms a generation.
"""


@dataclass(frozen=True)
class Strategy:
    """The constants of a search in `size` numbers, with so many candidates a generation (none: 4 +
    3 ln size).
    """

    size: int
    candidates: int | None = None

    @cached_property
    def population(self) -> int:
        """Candidates of a generation."""
        return self.candidates or 4 + int(3 * np.log(self.size))

    @property
    def turned(self) -> bool:
        """Whether the whole covariance is learned, or its diagonal alone."""
        return self.size <= MOST_TURNED

    @cached_property
    def weights(self) -> Floats:
        """Of the better half, best first."""
        parents = max(1, self.population // 2)
        raw = np.log((self.population + 1) / 2) - np.log(np.arange(1, parents + 1))
        return np.asarray(raw / raw.sum()) if raw.sum() > 0 else np.full(parents, 1 / parents)

    @cached_property
    def _rates(self) -> tuple[float, float, float, float, float, float]:
        """Effective parents; of the step path its rate and damping; of the covariance path, its
        rate; of a parent's direction and of all parents, what they add to the covariance.
        """
        n, effective = self.size, 1 / float(np.square(self.weights).sum())
        of_step = (effective + 2) / (n + effective + 5)
        damping = 1 + 2 * max(0.0, np.sqrt((effective - 1) / (n + 1)) - 1) + of_step
        of_path = (4 + effective / n) / (n + 4 + 2 * effective / n)
        faster = 1.0 if self.turned else (n + 2) / 3
        one = min(1.0, faster * 2 / ((n + 1.3) ** 2 + effective))
        all_of_them = min(
            1 - one, faster * 2 * (effective - 2 + 1 / effective) / ((n + 2) ** 2 + effective)
        )
        return effective, of_step, damping, of_path, one, max(0.0, all_of_them)

    def start(self, spread: float) -> dict[str, Any]:
        """The cloud at first: around 0, equally wide everywhere."""
        n = self.size
        return {
            "mean": np.zeros(n),
            "spread": np.float64(spread),
            "shape": np.eye(n) if self.turned else np.ones(n),
            "root": np.eye(n) if self.turned else np.ones(n),
            "inverse": np.eye(n) if self.turned else np.ones(n),
            "path": np.zeros(n),
            "step_path": np.zeros(n),
            "generation": np.int64(0),
            "best": np.zeros(n),
            "least": np.float64(np.inf),
        }

    def drawn(self, cloud: Mapping[str, Any], rng: np.random.Generator) -> Floats:
        """(candidate, number): a generation."""
        normal = rng.standard_normal((self.population, self.size))
        away = normal @ cloud["root"] if self.turned else normal * cloud["root"]
        return np.asarray(cloud["mean"] + cloud["spread"] * away)

    def judged(
        self, cloud: Mapping[str, Any], candidates: Floats, losses: Floats
    ) -> dict[str, Any]:
        """The cloud after a generation, given its candidates and their losses, of which less is
        better.
        """
        effective, of_step, damping, of_path, one, all_of_them = self._rates
        order = np.argsort(losses, kind="stable")
        chosen = (candidates[order[: len(self.weights)]] - cloud["mean"]) / cloud["spread"]
        moved = self.weights @ chosen
        whitened = cloud["inverse"] @ moved if self.turned else cloud["inverse"] * moved
        step_path = (1 - of_step) * cloud["step_path"] + np.sqrt(
            of_step * (2 - of_step) * effective
        ) * whitened
        generation = int(cloud["generation"]) + 1
        usual = np.sqrt(self.size) * (1 - 1 / (4 * self.size) + 1 / (21 * self.size**2))
        length = float(np.linalg.norm(step_path))
        still = (
            length / np.sqrt(1 - (1 - of_step) ** (2 * generation))
            < (1.4 + 2 / (self.size + 1)) * usual
        )
        path = (1 - of_path) * cloud["path"] + still * np.sqrt(
            of_path * (2 - of_path) * effective
        ) * moved
        kept = 1 - one - all_of_them + (0.0 if still else one * of_path * (2 - of_path))
        if self.turned:
            added = one * np.outer(path, path) + all_of_them * (chosen.T * self.weights) @ chosen
        else:
            added = one * path**2 + all_of_them * self.weights @ chosen**2
        shape = kept * cloud["shape"] + added
        root, inverse = self._roots(shape)
        better = losses[order[0]] <= cloud["least"]
        return {
            "mean": cloud["mean"] + cloud["spread"] * moved,
            "spread": np.float64(
                cloud["spread"] * np.exp(min(1.0, of_step / damping * (length / usual - 1)))
            ),
            "shape": shape,
            "root": root,
            "inverse": inverse,
            "path": path,
            "step_path": step_path,
            "generation": np.int64(generation),
            "best": candidates[order[0]].copy() if better else cloud["best"],
            "least": np.float64(losses[order[0]]) if better else cloud["least"],
        }

    def _roots(self, shape: Floats) -> tuple[Floats, Floats]:
        """The symmetric square root of a covariance and its inverse; without turning, those of its
        diagonal. Unlike eigenvectors, which any rotation among equal eigenvalues leaves as good, it
        is unique, and candidates do not depend on the linear algebra library or the processor.
        """
        if not self.turned:
            root = np.sqrt(np.maximum(shape, 1e-30))
            return root, 1 / root
        squares, axes = np.linalg.eigh((shape + shape.T) / 2)
        lengths = np.sqrt(np.maximum(squares, 1e-30))
        return (axes * lengths) @ axes.T, (axes / lengths) @ axes.T
