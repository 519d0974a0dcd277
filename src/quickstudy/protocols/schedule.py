"""When a learner is examined while it learns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def every(total: int, stride: int, first: int | None = None) -> NDArray[np.int64]:
    """After `first` items (if given), then every `stride`, and at the end.

    >>> every(20, 8, first=1).tolist()
    [1, 9, 17, 20]
    """
    start = 0 if first is None else first
    points = np.arange(start + (stride if first is None else 0), total + 1, stride)
    return np.unique(np.append(points[points > 0], total))


def thinned(points: NDArray[np.int64], dense: int, per_octave: int) -> NDArray[np.int64]:
    """The first `dense` of some points, then about `per_octave` per doubling, and the last.

    Scores built on first-passage times hardly notice: they need points evenly spaced in log time.

    >>> thinned(np.arange(1, 101), 4, 2).tolist()
    [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 100]
    """
    count = len(points)
    octaves = max(0.0, np.log2(max(count, 1) / dense))
    later = np.round(dense * 2 ** (np.arange(1, int(octaves * per_octave) + 1) / per_octave)).astype(np.int64)
    numbers = np.unique(np.concatenate([np.arange(1, min(dense, count) + 1), later, [count]]))
    return np.asarray(points[numbers[(numbers > 0) & (numbers <= count)] - 1])
