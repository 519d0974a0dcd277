"""Learning curves of several runs on common steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
MOST_POINTS = 96


def align(curves: Sequence[tuple[ArrayLike, ArrayLike]]) -> tuple[Floats, Floats]:
    """Common steps (point,) and the value of every run there (run, point).

    Each curve is (steps, values) and is read as a step function: its value holds until its next step, the last one for
    ever. The common steps are those of all the runs together, from the first at which every run has a value; when there
    are more than 96, they are thinned evenly in the logarithm, first and last kept.

    >>> steps, values = align([([1, 4], [0.0, 1.0]), ([2, 3], [0.5, 0.6])])
    >>> steps.tolist(), values.tolist()
    ([2.0, 3.0, 4.0], [[0.0, 0.0, 1.0], [0.5, 0.6, 0.6]])
    """
    cleaned = [_clean(steps, values) for steps, values in curves]
    cleaned = [curve for curve in cleaned if len(curve[0])]
    if not cleaned:
        return np.zeros(0), np.zeros((0, 0))
    common = np.unique(np.concatenate([steps for steps, _ in cleaned]))
    common = _thin(common[common >= max(steps[0] for steps, _ in cleaned)])
    return common, np.stack([values[np.searchsorted(steps, common, side="right") - 1] for steps, values in cleaned])


def _clean(steps: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    """Finite points in the order of the steps; of two at one step the later counts."""
    step, value = np.asarray(steps, dtype=np.float64).ravel(), np.asarray(values, dtype=np.float64).ravel()
    shortest = min(len(step), len(value))
    step, value = step[:shortest], value[:shortest]
    kept = np.isfinite(step) & np.isfinite(value)
    step, value = step[kept], value[kept]
    order = np.argsort(step, kind="stable")
    step, value = step[order], value[order]
    last = np.append(step[1:] != step[:-1], True) if len(step) else np.zeros(0, dtype=bool)
    return step[last], value[last]


def _thin(steps: Floats) -> Floats:
    if len(steps) <= MOST_POINTS:
        return steps
    # Steps at or before 0 have no logarithm: they are counted from the first step instead.
    position = np.log(steps - steps[0] + 1.0) if steps[0] <= 0 else np.log(steps)
    wanted = np.linspace(position[0], position[-1], MOST_POINTS)
    nearest = np.clip(np.searchsorted(position, wanted), 0, len(steps) - 1)
    nearest[0], nearest[-1] = 0, len(steps) - 1
    thinned: Floats = steps[np.unique(nearest)]
    return thinned
