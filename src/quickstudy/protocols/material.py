"""What is learned from and what is held out, the same for every learner of a seed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.tasks.sampling import Split, draw_unique, split


def draw_material(task: Any, streams: Streams, sequences: int, share: float) -> Split:
    """Different sequences of a task, split. Kept where the task can be hashed, since the next learner gets the same.

    Raises UsageError for a task that has only one.
    """
    draw: Any = _drawn if _hashable(task) else _drawn.__wrapped__
    return draw(task, streams, sequences, share)  # type: ignore[no-any-return]


def padded_orders(orders: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """(lane, item): one order per lane; a lane with fewer items than the others ends in -1."""
    longest = max(len(order) for order in orders)
    return np.stack([np.pad(order, (0, longest - len(order)), constant_values=-1) for order in orders])


@lru_cache(maxsize=128)
def _drawn(task: Any, streams: Streams, sequences: int, share: float) -> Split:
    unique = draw_unique(task, streams.numpy("data"), sequences)
    if unique.count < 2:
        raise UsageError(
            f"{task.id}: only {unique.count} different sequence can be drawn, {sequences} were asked for; there must "
            "be one to learn from and another to be tested on"
        )
    return split(unique, streams.numpy("split"), share)


def _hashable(task: Any) -> bool:
    """Whether a task can be remembered: one with a list among its parameters cannot."""
    try:
        hash(task)
    except TypeError:
        return False
    return True
