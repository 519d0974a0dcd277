"""How much of the space of behaviours a search has reached."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace

AXES = ("kernel-rank", "generalisation-rank", "memory")
POINTS = 4
"""Coverage is also given after a quarter, a half ... of all evaluations."""


def covered(behaviours: NDArray[np.float64], voxel: float) -> NDArray[np.int64]:
    """(evaluation,): the number of different voxels reached so far, each of which is rounded to the
    nearest corner.

    >>> covered(np.array([[0.0, 0, 0], [4, 0, 0], [6, 0, 0], [14, 0, 0]]), 10).tolist()
    [1, 1, 2, 2]
    """
    _, first = np.unique(np.round(behaviours / voxel), axis=0, return_index=True)
    new = np.zeros(len(behaviours), dtype=np.int64)
    new[first] = 1
    return np.cumsum(new)


def _spread(axis: str, words: str) -> Score:
    return Score(
        f"{axis}-{words}", unit="states" if "rank" in axis else "steps of input", better="higher"
    )


@measure(
    "coverage",
    version=1,
    kinds=("behaviours",),
    equation=(
        "number of different round(b / voxel), b = (kernel rank, generalisation rank, memory"
        " capacity)"
    ),
    chance="as many as a random search of the same number of evaluations reaches",
    scores=(
        Score("voxels", unit="different behaviours", better="higher", range=(0, math.inf), least=1),
        Score(
            "voxels-at-random",
            unit="different behaviours",
            better="higher",
            range=(0, math.inf),
            least=1,
        ),
        Score("voxels-gained", "gained over random", "times as many", "higher", (0, math.inf)),
        Score(
            "voxels-after-*",
            "voxels after",
            "different behaviours",
            "higher",
            (0, math.inf),
            least=1,
        ),
        *(
            _spread(axis, words)
            for axis in AXES
            for words in ("range", "deviation", "quartiles", "median-deviation")
        ),
    ),
)
def coverage(trace: Trace) -> Mapping[str, float]:
    """Voxels reached by the search and by as many random draws; and how far the behaviours of the
    search are spread: range, standard deviation, distance of the quartiles, median distance from
    the median.
    """
    voxel, found = trace.facts["voxel"], trace.arrays["behaviour"]
    searched, at_random = (
        covered(trace.arrays[name], voxel) for name in ("behaviour", "at_random")
    )
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


@measure(
    "task-places",
    version=1,
    kinds=("behaviours",),
    equation=(
        "least NRMSE of all cores that were placed; R^2 of ln NRMSE on a line in the behaviours"
    ),
    chance="NRMSE 1; R^2 0",
    scores=(
        Score(
            "best-nrmse-*",
            "least NRMSE",
            "deviations of the target",
            "lower",
            (0, math.inf),
            read="log",
        ),
        Score("explained-*", "explained by behaviour", "share of the variance", "higher", (0, 1)),
    ),
)
def task_places(trace: Trace) -> Mapping[str, float]:
    """How well the best core does each task, and how much of its error the three axes tell."""
    found: dict[str, float] = {}
    for name, errors in zip(
        trace.facts.get("tasks", ()), trace.arrays.get("errors", np.zeros((0, 0))).T, strict=True
    ):
        found[f"best-nrmse-{name}"] = float(errors.min())
        share = explained(trace.arrays["placed"], errors)
        if share is not None:
            found[f"explained-{name}"] = share
    return found


def explained(placed: NDArray[np.float64], errors: NDArray[np.float64]) -> float | None:
    """How much of the variance of ln errors (core,) a plane in their behaviours (core, 3) explains;
    None where there is none.

    >>> placed = np.array([[0.0, 0, 1], [1, 0, 2], [2, 1, 2], [3, 0, 1], [0, 2, 0]])
    >>> explained(placed, np.exp([1.0, 3, 4, 4, 2]))
    0.969919786096
    """
    rows, wrong = np.column_stack([placed, np.ones(len(errors))]), np.log(errors)
    rest = wrong - rows @ np.linalg.lstsq(rows, wrong, rcond=None)[0]
    return max(0.0, round(1.0 - float(rest.var() / wrong.var()), 12)) if wrong.var() > 0 else None


def places(trace: Trace) -> NDArray[np.float64]:
    """(task, 3): where a task is done best, the mean behaviour of the tenth of the cores with the
    least error.
    """
    errors, placed = trace.arrays["errors"], trace.arrays["placed"]
    best = np.argsort(errors, axis=0)[: max(1, len(errors) // 10)]
    return np.asarray(placed[best].mean(axis=0))


def spanning(points: NDArray[np.float64], count: int) -> list[int]:
    """The numbers of points (point, axis) that span most: the two that are furthest apart, then
    always the one that is furthest from those chosen.

    >>> spanning(np.array([[0.0], [1.0], [9.0], [5.0]]), 3)
    [0, 2, 3]
    """
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    chosen = sorted(map(int, np.unravel_index(apart.argmax(), apart.shape)))[
        : min(count, len(points))
    ]
    while len(chosen) < min(count, len(points)):
        nearest = apart[:, chosen].min(axis=1)
        nearest[chosen] = -1
        chosen.append(int(nearest.argmax()))
    return chosen
