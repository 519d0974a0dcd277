"""Does every number of a code represent one factor? MIG, modularity, FactorVAE score."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError
from quickstudy.measures.compositionality import codes_of, information

BINS = 20
BATCH = 64
VOTES = 800
"""FactorVAE: codes whose variances make one vote, and votes to learn from; half as many are
tested.
"""

Floats = NDArray[np.float64]


def disentanglement_scores(factors: ArrayLike, codes: ArrayLike) -> dict[str, float]:
    """`mig` and `modularity` of rows of discrete factors and of real codes, by the mutual
    information of each code, cut into 20 equal parts between its least and its greatest value, with
    each factor.

    MIG (Chen et al. 2018): mean over factors of (largest - second largest) / H(factor); factors
    that do not vary are left out. Modularity (Ridgeway and Mozer 2018): mean over codes of 1 - (sum
    - max) / (max (factors - 1)) of squared informations; 0 for a code without information.

    >>> codes = [[0.1, 0.5], [0.1, 0.9], [0.7, 0.5], [0.7, 0.9]]
    >>> disentanglement_scores([[0, 0], [0, 1], [1, 0], [1, 1]], codes)
    {'mig': 1.0, 'modularity': 1.0}
    """
    of_factors, numbers = codes_of(factors), np.asarray(codes, dtype=np.float64)
    if len(of_factors) != len(numbers):
        raise UsageError(f"{len(of_factors)} rows of factors but {len(numbers)} rows of codes")
    shared, _, entropy = information(_binned(numbers), of_factors)
    ordered = np.sort(np.pad(shared, ((1, 0), (0, 0))), axis=0)
    varied = entropy > 1e-9
    gaps = (ordered[-1] - ordered[-2])[varied] / entropy[varied]
    squared = np.square(shared)
    largest, others = squared.max(axis=1), max(shared.shape[1] - 1, 1)
    wasted = (squared.sum(axis=1) - largest) / (np.where(largest > 0, largest, 1.0) * others)
    return {
        "mig": float(gaps.mean()) if len(gaps) else 0.0,
        "modularity": float(np.where(largest > 0, 1 - wasted, 0.0).mean()),
    }


def _binned(numbers: Floats) -> NDArray[np.int64]:
    """(row, code): the part, of 20 between the extremes, in which each number lies."""
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    edges = np.linspace(low, np.where(high > low, high, low + 1), BINS + 1)[1:-1]
    places: NDArray[np.int64] = (numbers[:, :, None] >= np.moveaxis(edges, 0, -1)).sum(axis=-1)
    return places


def factor_vae_score(
    draw: Callable[[np.random.Generator, int], tuple[NDArray[np.int64], Floats]],
    fix: Callable[[np.random.Generator, int, int], Floats],
    rng: np.random.Generator,
) -> float:
    """The FactorVAE score (Kim and Mnih 2018): a factor is fixed in a batch; the code that varies
    least, over its usual variance, votes for it; a classifier by majority is learned from some
    votes and tested on others.

    draw(rng, count) -> (factors, codes); fix(rng, factor, count) -> codes of a batch with one value
    of that factor.
    """
    factors, codes = draw(rng, 10_000)
    usual = codes.var(axis=0)
    alive = usual > 0
    if not alive.any():
        return 0.0

    def votes(count: int) -> NDArray[np.int64]:
        table = np.zeros((codes.shape[1], factors.shape[1]), dtype=np.int64)
        for factor in rng.integers(factors.shape[1], size=count):
            spread = np.where(
                alive, fix(rng, int(factor), BATCH).var(axis=0) / np.where(alive, usual, 1), np.inf
            )
            table[spread.argmin(), factor] += 1
        return table

    learned, tested = votes(VOTES), votes(VOTES // 2)
    answer = learned.argmax(axis=1)
    return float(tested[np.arange(len(answer)), answer].sum() / tested.sum())
