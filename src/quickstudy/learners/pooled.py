"""Questions as rows: what is read before a question is asked, cut where the question stands.

A learner that reads a row as a whole, in any order or both ways, cannot look ahead: the row ends at
the question.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.lanes import grown, rounded


class Rows(NamedTuple):
    """The questions of some examples, numbered by example, then time.

    symbols: (row, place), 0 after the row's end. sizes: (row,) places in use. targets: (row,).
    of_example: (example, question) numbers of an example's rows. shares: the same shape, a row's
    part in its example's loss, 0 in padding.
    """

    symbols: NDArray[Any]
    sizes: NDArray[np.int64]
    targets: NDArray[Any]
    of_example: NDArray[np.int64]
    shares: NDArray[np.float64]

    def padded(self, rows: int, places: int, examples: int, questions: int) -> Rows:
        """Grown to a shape that lanes and seeds can share."""
        return Rows(
            grown(self.symbols, rows, places),
            np.maximum(grown(self.sizes, rows), 1),
            grown(self.targets, rows),
            grown(self.of_example, examples, questions),
            grown(self.shares, examples, questions),
        )


RowReader = Callable[[Examples, NDArray[np.int64]], tuple[NDArray[Any], NDArray[np.int64]]]
"""From examples and the (time, example) of questions to symbols (row, place) and sizes (row,)."""


def in_order(
    examples: Examples, found: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The raw inputs up to the question."""
    sizes = found[:, 0] + 1
    symbols = examples.inputs.T[:, : int(sizes.max())]
    if len(found) == examples.count and (sizes == examples.lengths).all():
        return (
            symbols,
            sizes,
        )  # one question at the end of each example: no copy of what may be large
    rows = symbols[found[:, 1]]
    rows[np.arange(rows.shape[1]) >= sizes[:, None]] = 0
    return rows, sizes


def distinct(
    examples: Examples, found: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The different symbols read up to the question, by number."""
    bags = [np.unique(examples.inputs[: time + 1, index]) for time, index in found.tolist()]
    sizes = np.array([len(bag) for bag in bags], dtype=np.int64)
    rows = np.zeros((len(bags), int(sizes.max())), dtype=examples.inputs.dtype)
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = np.concatenate(bags)
    return rows, sizes


def rows_of(examples: Examples, reading: RowReader) -> Rows:
    """The rows of all questions."""
    found = Exam([examples]).found[0]
    counts = np.bincount(found[:, 1], minlength=examples.count)
    firsts = np.cumsum(counts) - counts
    places = np.arange(max(1, int(counts.max())))
    counted = places < counts[:, None]
    return Rows(
        *reading(examples, found),
        examples.targets[found[:, 0], found[:, 1]],
        np.where(counted, firsts[:, None] + places, 0),
        counted / np.maximum(counts, 1)[:, None],
    )


def rows_of_lanes(examples: Sequence[Examples], reading: RowReader) -> list[Rows]:
    """The rows of every lane, in one shape; of one lane only, where all are shown the same
    examples.
    """
    different = examples[:1] if all(lane is examples[0] for lane in examples) else examples
    rows = [rows_of(lane, reading) for lane in different]
    shapes = [(*lane.symbols.shape, *lane.of_example.shape) for lane in rows]
    count, places, items, questions = (max(sizes) for sizes in zip(*shapes, strict=True))
    return [
        lane.padded(rounded(count, 4), rounded(places, 4), rounded(items, 4), questions)
        for lane in rows
    ]


@dataclass(frozen=True)
class RowSettings:
    """How batches are made. reading: from examples to rows. rate, batch: of Adam. smallest: places
    that even the shortest batch is given; with few sizes, many updates are one call. together:
    places answered in one call. pairs: pairs of places of the same row that are, at most, where
    each place looks at all others. padding_counts: whether a row's padding, up to the longest row
    of its batch, is part of it.
    """

    reading: RowReader
    rate: float
    batch: int
    smallest: int
    together: int
    pairs: int | None = None
    padding_counts: bool = False

    def rows_together(self, places: int) -> int:
        """Rows of so many places that are answered in one call: a power of two."""
        room = (
            self.together // places
            if self.pairs is None
            else min(self.together, self.pairs // places) // places
        )
        return 1 << max(0, room.bit_length() - 1)


class Batch(NamedTuple):
    """symbols: (row, place). sizes: (row,) places in use. limits: (row,) places that count, padding
    included where a model counts it. shares: (row,) parts of the batch, 0 for rows that are not
    there.
    """

    symbols: Any
    sizes: Any
    limits: Any
    shares: Any


class RowLesson:
    """A lesson's rows and order on the device, and the places that each update needs."""

    def __init__(self, lesson: Lesson, settings: RowSettings) -> None:
        rows = rows_of_lanes(lesson.examples, settings.reading)
        self.shared = len(rows) == 1
        self.rows = _on_device(rows, self.shared)
        order = grown(lesson.order, len(lesson.order), rounded(lesson.items, 4))
        self.order = jnp.asarray(order, jnp.int32)
        updates = lesson.items // settings.batch
        needed = np.zeros(updates, dtype=np.int64)
        for lane, order in enumerate(lesson.order):
            own = rows[0 if self.shared else lane]
            longest = np.where(own.shares > 0, own.sizes[own.of_example], 1).max(axis=1)
            batches = longest[order[: updates * settings.batch]].reshape(updates, settings.batch)
            needed = np.maximum(needed, batches.max(axis=1))
        most = rows[0].symbols.shape[1]
        self._places = {
            size: min(max(rounded(size, 1), settings.smallest), most)
            for size in np.unique(needed).tolist()
        }
        self._needed = needed

    def calls(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """(first, last, places) of the calls for updates first .. last-1."""
        places = np.array(
            [self._places[needed] for needed in self._needed[first:last].tolist()], dtype=np.int64
        )
        if not len(places):
            return []
        cuts = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(places)]
        return [
            (first + begin, first + end, int(places[begin]))
            for begin, end in itertools.pairwise(cuts)
        ]


class RowExam:
    """An exam's rows in batches of about equal size. places: (lane or 1, question) where each
    question's answer is.
    """

    def __init__(self, exam: Exam, settings: RowSettings) -> None:
        rows = rows_of_lanes(exam.examples, settings.reading)
        self.shared = len(rows) == 1
        limits = np.stack([_limits(lane.sizes, settings) for lane in rows])
        orders = np.argsort(limits, axis=1, kind="stable")
        ordered = np.take_along_axis(limits, orders, axis=1).max(axis=0)
        most = rows[0].symbols.shape[1]
        self.batches = []
        # Where the row that is n-th by size has its answer, batch after batch; and so for each
        # question.
        at, done, stop = np.zeros(len(ordered), dtype=np.int64), 0, len(ordered)
        while stop:  # from the longest down, so that a batch has the size of its first
            places = min(rounded(int(ordered[stop - 1]), 2), most)
            count = settings.rows_together(places)
            first = max(0, stop - count)
            chosen = [
                np.pad(order[first:stop], (0, count - (stop - first)), mode="edge")
                for order in orders
            ]
            lanes = [
                Batch(
                    lane.symbols[own][:, :places],
                    lane.sizes[own],
                    limit[own],
                    np.ones(count, np.float32),
                )
                for lane, limit, own in zip(rows, limits, chosen, strict=True)
            ]
            self.batches.append(_on_device(lanes, self.shared))
            at[first:stop] = done + np.arange(stop - first)
            done, stop = done + count, first
        self.places = np.zeros(orders.shape, dtype=np.int64)
        np.put_along_axis(self.places, orders, np.broadcast_to(at, orders.shape), axis=1)


def _limits(sizes: NDArray[np.int64], settings: RowSettings) -> NDArray[np.int64]:
    """Places that count: a row's own, or those of the longest in its batch, taken in the order of
    the questions.
    """
    if not settings.padding_counts:
        return sizes
    groups = np.arange(len(sizes)) // settings.batch
    longest = np.zeros(groups[-1] + 1, dtype=np.int64)
    np.maximum.at(longest, groups, sizes)
    return longest[groups]


def _on_device(lanes: Sequence[Any], shared: bool) -> Any:
    """Trees of arrays with a lane axis, unless all lanes share the one there is."""
    if shared:
        return jax.tree.map(_device_array, lanes[0])
    return jax.tree.map(lambda *leaves: _device_array(np.stack(leaves)), *lanes)


def _device_array(array: NDArray[Any]) -> Any:
    if array.dtype in (np.uint16, np.int32):
        return jnp.asarray(array)
    return jnp.asarray(array, jnp.float32 if np.issubdtype(array.dtype, np.floating) else jnp.int32)
