"""Random binary patterns, and how long a learner may look at one before it is asked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.tasks.language.draws import between, heads


class Patterns(NamedTuple):
    """periods: (count,) lengths; bits: (count, longest), row i holds its pattern in the first periods[i] places;
    delays: (count,) tokens between the earliest place at which the pattern can be asked about and the first question.
    """

    periods: NDArray[np.int64]
    bits: NDArray[np.int64]
    delays: NDArray[np.int64]


def draw_patterns(rng: np.random.Generator, count: int, shortest: int, longest: int) -> Patterns:
    """Period uniform in shortest .. longest, each bit a fair coin, delay uniform in 0 .. latest_delay(period)."""
    uniform = rng.random((count, 2 + longest))
    periods = between(uniform[:, 0], shortest, longest)
    delays = between(uniform[:, 1], 0, latest_delay(periods))
    return Patterns(periods, heads(uniform[:, 2:]).astype(np.int64), delays)


def latest_delay(period: Any) -> Any:
    """The longest delay for a period or for an array of periods: period - 2, and 0 for periods 1 and 2."""
    return np.maximum(period - 2, 0)
