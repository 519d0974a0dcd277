"""Updates from lessons that follow one another without end, each seen once: a call for every batch, cut to a length
that its examples need, so that lessons of any task share a few programs and no step of padding is paid for twice.

The inputs of a lesson may lie on the device, where they were drawn: they never leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.lesson import Lesson
from quickstudy.gateway import jax, jnp
from quickstudy.learners.batching import SHORT
from quickstudy.learners.lanes import Frame, over_lanes, rounded
from quickstudy.learners.updates import updated_once


class Cut(NamedTuple):
    """A batch, with a lane axis: inputs (lane, T, row, ...), places (lane, row, Q) of the questions, their targets, and
    what each counts, 0 in the padding.
    """

    inputs: Any
    places: Any
    targets: Any
    shares: Any


class StreamedLesson:
    """A lesson in batches of examples that follow one another in its order."""

    def __init__(self, lesson: Lesson, batch: int) -> None:
        self._examples, self._batch = lesson.examples, batch
        self._order = lesson.order[:, : lesson.items // batch * batch].reshape(len(lesson.order), -1, batch)
        tables = [_questions(examples) for examples in lesson.examples]
        self._places = [places for places, _ in tables]
        self._counts = np.stack([counts for _, counts in tables])
        self._inputs = jnp.stack([jnp.asarray(lane.inputs) for lane in _equally_long(lesson.examples)])

    def cuts(self, first: int, last: int) -> Iterator[Cut]:
        """Batches first .. last-1. Those of about the same length have the same shapes."""
        for number in range(first, last):
            chosen = self._order[:, number]
            steps = max(int(lane.lengths[own].max(initial=1)) for lane, own in zip(self._examples, chosen, strict=True))
            counts = np.take_along_axis(self._counts, chosen, axis=1)
            width, length = rounded(int(counts.max(initial=1)), 1), rounded(max(steps, SHORT), 1)
            places, targets = [], []
            for lane, own, table in zip(self._examples, chosen, self._places, strict=True):
                rows = np.zeros((self._batch, width), np.int32)
                rows[:, : table.shape[1]] = table[own, :width]
                places.append(np.minimum(rows, length - 1))
                targets.append(np.asarray(lane.targets)[rows, own[:, None]])
            there = np.arange(width) < counts[..., None]
            shares = there / np.maximum(counts[..., None], 1) / self._batch
            inputs = _cut(self._inputs, chosen.astype(np.int32), length)
            yield Cut(inputs, np.stack(places), np.stack(targets), shares.astype(np.float32))


def _questions(examples: Examples) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(example, Q): the steps of every example's questions, 0 behind the last; and how many there are."""
    counts = np.asarray(examples.asked.sum(axis=0))
    example, step = np.nonzero(examples.asked.T)
    table = np.zeros((examples.count, int(counts.max(initial=1))), np.int32)
    table[example, np.arange(len(example)) - np.repeat(np.cumsum(counts) - counts, counts)] = step
    return table, counts


def _equally_long(examples: Sequence[Examples]) -> Sequence[Examples]:
    steps = max(lane.steps for lane in examples)
    return [lane if lane.steps == steps else lane.padded(steps) for lane in examples]


@partial(jax.jit, static_argnums=2)
def _cut(inputs: Any, chosen: Any, length: int) -> Any:
    """(lane, T, row, ...): some examples, as many steps of them as that, zeros where there are fewer."""
    there = min(length, inputs.shape[1])
    taken = jax.vmap(lambda own, numbers: own[:there, numbers])(inputs, chosen)
    return jnp.pad(taken, [(0, 0), (0, length - there), *[(0, 0)] * (taken.ndim - 2)])


@lru_cache
def streaming(frame: Frame, losses: Callable[[Any, Any, Any], Any], lanes: int) -> Callable[..., list[Any]]:
    """The arrays of (model, moments) after one update, from those before, a cut, settings and keys as in `updating`.

    losses: at every question, of outputs, targets and a key.
    """

    def single(model: Any, moments: Any, cut: Cut, settings: Any, words: Any) -> Any:
        return updated_once(model, moments, cut, settings, words, losses)

    @jax.jit
    def updated(arrays: Any, cut: Cut, settings: Any, words: Any) -> list[Any]:
        return Frame.of(over_lanes(single, lanes)(*frame.filled(arrays), cut, settings, words))[0]

    return updated
