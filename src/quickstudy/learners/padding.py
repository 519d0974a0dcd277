"""Lessons padded to one shape, with a lane axis, for cores that read whole batches at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.lesson import Lesson
from quickstudy.gateway import jnp
from quickstudy.learners.lanes import rounded
from quickstudy.learners.leak import with_answers
from quickstudy.learners.lengths import Lengths


def padded_lanes(examples: Sequence[Examples], leaks: bool) -> list[Examples]:
    """Lanes of one length, which seeds share; for a core that leaks, with the answers in the inputs."""
    steps = rounded(max(lane.steps for lane in examples), 4)
    return [with_answers(lane.padded(steps + 1)) if leaks else lane.padded(steps) for lane in examples]


def _stacked(arrays: Sequence[NDArray[Any]], count: int) -> NDArray[Any]:
    """(lane, T, count, ...) from one (T, examples, ...) per lane."""
    return np.stack([np.pad(a, [(0, 0), (0, count - a.shape[1])] + [(0, 0)] * (a.ndim - 2)) for a in arrays])


class PaddedLesson(NamedTuple):
    """A lesson padded to one shape, with a lane axis: inputs, targets and asked (lane, T, example, ...), order.

    lengths: of each batch, which of the allowed lengths it is cut to.
    """

    inputs: Any
    targets: Any
    asked: Any
    order: Any
    lengths: Any


def padded_lesson(lesson: Lesson, batch: int, leaks: bool) -> tuple[PaddedLesson, tuple[int, ...]]:
    """Device arrays of shapes that seeds share, and the lengths that batches may have."""
    padded = padded_lanes(lesson.examples, leaks)
    count = rounded(max(lane.count for lane in lesson.examples), 4)
    order = np.pad(lesson.order, [(0, 0), (0, rounded(lesson.items, 4) - lesson.items)])
    lengths = Lengths((padded[0].steps,), np.zeros(order.shape[1] // batch, np.int32))
    if len(padded) == 1:  # lanes side by side would all wait for the longest
        needed = lesson.examples[0].lengths[order[0, : len(lengths.chosen) * batch]].reshape(-1, batch).max(axis=1)
        lengths = Lengths.fitted(needed + leaks, padded[0].steps)
    arrays = (_stacked([getattr(lane, name) for lane in padded], count) for name in ("inputs", "targets", "asked"))
    chosen = np.tile(lengths.chosen, (len(padded), 1))
    return PaddedLesson(*map(jnp.asarray, (*arrays, order.astype(np.int32), chosen))), lengths.allowed
