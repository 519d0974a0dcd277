"""Uniform numbers turned into choices.

Every sequence of the tasks built on this consumes one row of uniform numbers, of the same width for all sequences. So
the draws do not depend on how they are grouped: sampling 3 and then 4 sequences from a stream gives the same seven as
sampling 7 at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def between(uniform: NDArray[np.float64], low: Any, high: Any) -> NDArray[np.int64]:
    """Integers uniform in low .. high, both included, from numbers uniform in [0, 1). Bounds may be arrays.

    >>> between(np.array([0.0, 0.3, 0.999]), 1, 4).tolist()
    [1, 2, 4]
    """
    # floor(u * n) is below n for every double u < 1: u * n is never rounded up to n.
    return np.asarray(low + np.floor(uniform * (np.asarray(high) - low + 1)), dtype=np.int64)


def heads(uniform: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Fair coins."""
    return uniform < 0.5


def shuffled(uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """A uniformly random order of 0 .. width-1 for every row of a (count, width) table.

    >>> shuffled(np.array([[0.5, 0.9, 0.1]])).tolist()
    [[2, 0, 1]]
    """
    return np.argsort(uniform, axis=1, kind="stable")
