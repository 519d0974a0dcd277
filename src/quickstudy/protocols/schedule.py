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


def thinning(total: int, stride: int, dense: int, per_octave: int) -> NDArray[np.int64]:
    """Every `stride` items up to `dense` of them, then `per_octave` times per doubling, and at the end.

    Scores built on first-passage times hardly notice: they need points evenly spaced in log time.

    >>> thinning(100, 1, 4, 2).tolist()
    [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 100]
    """
    updates = total // stride
    octaves = max(0.0, np.log2(max(updates, 1) / dense))
    later = dense * 2 ** (np.arange(1, int(octaves * per_octave) + 1) / per_octave)
    numbers = np.concatenate([np.arange(1, min(dense, updates) + 1), np.round(later).astype(np.int64), [updates]])
    return np.unique(numbers[(numbers > 0) & (numbers <= updates)]) * stride
