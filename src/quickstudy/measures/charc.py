"""How much of the space of behaviours a search has reached."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import measure
from quickstudy.base.measure import Score
from quickstudy.base.trace import Trace

AXES = ("kernel-rank", "generalisation-rank", "memory")
POINTS = 4
"""Coverage is also given after a quarter, a half ... of all evaluations."""


def covered(behaviours: NDArray[np.float64], voxel: float) -> NDArray[np.int64]:
    """(evaluation,): the number of different voxels reached so far, each of which is rounded to the nearest corner.

    >>> covered(np.array([[0.0, 0, 0], [4, 0, 0], [6, 0, 0], [14, 0, 0]]), 10).tolist()
    [1, 1, 2, 2]
    """
    _, first = np.unique(np.round(behaviours / voxel), axis=0, return_index=True)
    new = np.zeros(len(behaviours), dtype=np.int64)
    new[first] = 1
    return np.cumsum(new)


def _spread(axis: str, words: str) -> Score:
    return Score(f"{axis}-{words}", unit="states" if "rank" in axis else "steps of input", better="higher")


@measure(
    "coverage",
    version=1,
    kinds=("behaviours",),
    equation="number of different round(b / voxel), b = (kernel rank, generalisation rank, memory capacity)",
    chance="as many as a random search of the same number of evaluations reaches",
    scores=(
        Score("voxels", unit="different behaviours", better="higher", range=(0, math.inf), least=1),
        Score("voxels-at-random", unit="different behaviours", better="higher", range=(0, math.inf), least=1),
        Score("voxels-gained", "gained over random", "times as many", "higher", (0, math.inf)),
        Score("voxels-after-*", "voxels after", "different behaviours", "higher", (0, math.inf), least=1),
        *(_spread(axis, words) for axis in AXES for words in ("range", "deviation", "quartiles", "median-deviation")),
    ),
)
def coverage(trace: Trace, convention: str) -> Mapping[str, float]:
    """Voxels reached by the search and by as many random draws; and how far the behaviours of the search are spread:
    range, standard deviation, distance of the quartiles, median distance from the median.
    """
    voxel, found = trace.facts["voxel"], trace.arrays["behaviour"]
    searched, at_random = (covered(trace.arrays[name], voxel) for name in ("behaviour", "at_random"))
    scores = {
        "voxels": float(searched[-1]),
        "voxels-at-random": float(at_random[-1]),
        "voxels-gained": float(searched[-1] / at_random[-1]),
    }
    for point in range(1, POINTS):
        count = max(1, point * len(searched) // POINTS)
        scores[f"voxels-after-{count}"] = float(searched[count - 1])
    for axis, values in zip(AXES, found.T, strict=True):
        low, high = np.quantile(values, (0.25, 0.75))
        scores |= {
            f"{axis}-range": float(np.ptp(values)),
            f"{axis}-deviation": float(values.std()),
            f"{axis}-quartiles": float(high - low),
            f"{axis}-median-deviation": float(np.median(np.abs(values - np.median(values)))),
        }
    return scores
