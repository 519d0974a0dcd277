"""Questions as rows: what is read before a question is asked, cut where the question stands.

A learner that reads a row as a whole, in any order or both ways, cannot look ahead: the row ends at the question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.lesson import Exam
from quickstudy.learners.lanes import grown, rounded


@dataclass(frozen=True, eq=False)
class Rows:
    """The questions of some examples, numbered by example, then time.

    symbols: (row, place), 0 after the row's end. sizes: (row,) places in use. targets: (row,). of_example: (example,
    question) numbers of an example's rows. shares: the same shape, a row's part in its example's loss, 0 in padding.
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


Reading = Callable[[Examples, NDArray[np.int64]], tuple[NDArray[Any], NDArray[np.int64]]]
"""From examples and the (time, example) of questions to symbols (row, place) and sizes (row,)."""


def in_order(examples: Examples, found: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Everything read up to the question, as it was read."""
    sizes = found[:, 0] + 1
    symbols = examples.inputs.T[:, : int(sizes.max())]
    if len(found) == examples.count and (sizes == examples.lengths).all():
        return symbols, sizes  # one question at the end of each example: no copy of what may be large
    rows = symbols[found[:, 1]]
    rows[np.arange(rows.shape[1]) >= sizes[:, None]] = 0
    return rows, sizes


def distinct(examples: Examples, found: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The different symbols read up to the question, by number."""
    bags = [np.unique(examples.inputs[: time + 1, index]) for time, index in found.tolist()]
    sizes = np.array([len(bag) for bag in bags], dtype=np.int64)
    rows = np.zeros((len(bags), int(sizes.max())), dtype=examples.inputs.dtype)
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = np.concatenate(bags)
    return rows, sizes


def rows_of(examples: Examples, reading: Reading) -> Rows:
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


def rows_of_lanes(examples: Sequence[Examples], reading: Reading) -> list[Rows]:
    """The rows of every lane, in one shape; of one lane only, where all are shown the same examples."""
    different = examples[:1] if all(lane is examples[0] for lane in examples) else examples
    rows = [rows_of(lane, reading) for lane in different]
    shapes = [(*lane.symbols.shape, *lane.of_example.shape) for lane in rows]
    count, places, items, questions = (max(sizes) for sizes in zip(*shapes, strict=True))
    return [lane.padded(rounded(count, 4), rounded(places, 4), rounded(items, 4), questions) for lane in rows]
