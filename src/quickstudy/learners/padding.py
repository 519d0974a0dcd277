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
from quickstudy.learners.packing import asked_steps


def padded_lanes(examples: Sequence[Examples], leaks: bool) -> list[Examples]:
    """Lanes of one length, which seeds share; for a core that leaks, with the answers in the inputs."""
    steps = rounded(max(lane.steps for lane in examples) + leaks, 4)
    padded = [lane.padded(steps) for lane in examples]
    return [with_answers(lane) for lane in padded] if leaks else padded


def _stacked(arrays: Sequence[NDArray[Any]], *lengths: int) -> NDArray[Any]:
    """(lane, ...) from one array per lane, whose first axes get these lengths."""

    def whole(array: NDArray[Any]) -> NDArray[Any]:
        grow = [(0, length - size) for length, size in zip(lengths, array.shape, strict=False)]
        return np.pad(array, grow + [(0, 0)] * (array.ndim - len(lengths)))

    return np.stack([whole(array) for array in arrays])


class PaddedLesson(NamedTuple):
    """A lesson padded to one shape, with a lane axis.

    inputs: (lane, T, example, ...). places: (lane, example, Q), steps of every example's questions. targets: (lane,
    example, Q, ...), their answers. shares: what a question counts in its example, 0 in the padding. order: (lane,
    item).
    lengths: of each batch, which of the allowed lengths it is cut to.
    """

    inputs: Any
    places: Any
    targets: Any
    shares: Any
    order: Any
    lengths: Any


def padded_lesson(
    lesson: Lesson, batch: int, leaks: bool, weights: Sequence[NDArray[np.float64]] | None = None
) -> tuple[PaddedLesson, tuple[int, ...]]:
    """Device arrays of shapes that seeds share, and the lengths that batches may have.

    weights: of each lane's examples, what each counts beside the others.
    """
    padded = padded_lanes(lesson.examples, leaks)
    steps = padded[0].steps
    # Examples are only looked up: lessons of other sizes share the program, and no number depends on the padding.
    count = rounded(max(lane.count for lane in lesson.examples), 1)
    order = np.pad(lesson.order, [(0, 0), (0, rounded(lesson.items, 1) - lesson.items)])
    lengths = Lengths((steps,), np.zeros(order.shape[1] // batch, np.int32))
    if len(padded) == 1:  # lanes side by side would all wait for the longest
        needed = lesson.examples[0].lengths[order[0, : len(lengths.chosen) * batch]].reshape(-1, batch).max(axis=1)
        lengths = Lengths.fitted(needed + leaks, steps)
    places, there = zip(*(asked_steps(lane) for lane in padded), strict=True)
    targets = [lane.targets[table, np.arange(lane.count)[:, None]] for lane, table in zip(padded, places, strict=True)]
    shares = [part / np.maximum(part.sum(axis=1, keepdims=True), 1) for part in there]
    if weights is not None:
        shares = [part * own[:, None].astype(np.float32) for part, own in zip(shares, weights, strict=True)]
    width = max(table.shape[1] for table in places)
    inputs = _stacked([lane.inputs for lane in padded], steps, count)
    by_question = (_stacked(arrays, count, width) for arrays in (places, targets, shares))
    chosen = np.tile(lengths.chosen, (len(padded), 1))
    return PaddedLesson(*map(jnp.asarray, (inputs, *by_question, order.astype(np.int32), chosen))), lengths.allowed
