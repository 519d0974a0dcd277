"""A few lengths instead of one: groups of sequences are padded to the next of them, not to the longest of all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHORT = 32
"""Sequences up to so many steps are all padded alike: every further length is compiled for itself."""


class Lengths(NamedTuple):
    """allowed: the lengths, ascending, constants of a program. chosen (group,): which of them each group has."""

    allowed: tuple[int, ...]
    chosen: NDArray[np.int32]

    @classmethod
    def fitted(cls, needed: NDArray[np.int64], steps: int, parts: int = 6) -> Lengths:
        """For groups that need so many steps of at most `steps`: those of `parts` equal parts that pay.

        A length is left out if fewer than one group in ten has it: its groups have the next.
        """
        if steps <= SHORT:
            return cls((steps,), np.zeros(len(needed), np.int32))
        all = -(-np.arange(1, parts + 1) * steps // parts)
        counts = np.bincount(np.searchsorted(all, needed), minlength=parts)
        allowed = all[(counts > 0.1 * len(needed)) | (all == steps)]
        return cls(tuple(allowed.tolist()), np.searchsorted(allowed, needed).astype(np.int32))
