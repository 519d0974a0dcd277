"""The course of one repetition through a stream: what is shown, in which order, and what is held out of every part."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.seeds import Streams
from quickstudy.protocols.material import draw_material
from quickstudy.tasks.sampling import Split, sequence_keys


@dataclass(frozen=True, eq=False)
class Course:
    """train, test: the sequences of all segments, segment after segment. order: (item,) numbers of training sequences
    as they are shown. boundaries: (segment + 1,) items shown before each segment begins, and in all. tests: (segment,)
    test sequences of each.
    """

    train: Examples
    test: Examples
    order: NDArray[np.int64]
    boundaries: NDArray[np.int64]
    tests: NDArray[np.int64]

    def segment_of(self, examples: NDArray[np.int64]) -> NDArray[np.int64]:
        """The segment that each test sequence, given by its number, belongs to."""
        return np.searchsorted(np.cumsum(self.tests), examples, side="right")

    def answers(self) -> list[NDArray[Any]]:
        """The right answers to the test questions of each segment."""
        parts = pairwise([0, *np.cumsum(self.tests)])
        return [self.test.targets[:, start:end][self.test.asked[:, start:end]] for start, end in parts]


def make_course(segments: Sequence[Any], streams: Streams, sequences: int, share: float, passes: int) -> Course:
    """The course of a repetition.

    sequences: different sequences of a segment of average length, learned from and held out; a segment that is twice as
    long has twice as many. passes: how often a segment is shown before the next begins, in a new order each time. What
    is held out of one segment is learned from in none.
    """
    parts = [
        draw_material(segment.task, own, max(2, round(sequences * len(segments) * segment.share)), share)
        for segment, own in zip(segments, _streams(segments, streams), strict=True)
    ]
    held_out = {key for part in parts for key in sequence_keys(part.test)}
    kept = [_without(part, held_out) for part in parts]
    for segment, train, part in zip(segments, kept, parts, strict=True):
        if not train.count or not part.test.count:
            raise UsageError(
                f"{segment.label}: {train.count} sequences to learn from and {part.test.count} to be tested on; "
                "give more sequences, or a task that has more of them"
            )
    firsts = np.cumsum([0, *(train.count for train in kept[:-1])])
    rngs = [own.numpy("order") for own in _streams(segments, streams)]
    orders = [
        first + np.concatenate([rng.permutation(train.count) for _ in range(passes)])
        for first, train, rng in zip(firsts, kept, rngs, strict=True)
    ]
    return Course(
        Examples.joined(kept),
        Examples.joined([part.test for part in parts]),
        np.concatenate(orders),
        np.cumsum([0, *map(len, orders)]),
        np.array([part.test.count for part in parts]),
    )


def _streams(segments: Sequence[Any], streams: Streams) -> list[Streams]:
    """The random streams of each segment: those of its task, so that it shows what the task by itself would show at
    this repetition, wherever in the stream it stands. From the second time on a task has streams of their own.
    """
    found, times = [], dict[str, int]()
    for segment in segments:
        id = str(segment.task.id)
        times[id] = times.get(id, 0) + 1
        found.append(dataclasses.replace(streams, task=id if times[id] == 1 else f"{id}#{times[id]}"))
    return found


def _without(part: Split, held_out: set[bytes]) -> Examples:
    return part.train.take([place for place, key in enumerate(sequence_keys(part.train)) if key not in held_out])
