"""Lessons that follow one another without end, each seen once: a call for every batch, cut to one
of few lengths, so that lessons and tests of any task share a handful of programs.

The inputs of a lesson may lie on the device, where they were drawn: they never leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.lanes import Frame, grown, over_lanes
from quickstudy.learners.updates import answers_at, updated_once

SHORTEST = 64
"""Batches are this long, or a power of two above: on a GPU a program takes ten seconds to compile,
and to halve the padding would take twice as many.
"""
ROOM = 256
"""The same for a core that stops: what is not read costs nothing, and most lessons have one
program.
"""
TESTED_TOGETHER = 64
"""Sequences of a test that are read side by side."""


class Cut(NamedTuple):
    """A batch, with a lane axis: inputs (lane, T, row, ...), places (lane, row, Q) of the
    questions, their targets, and what each counts, 0 in the padding.
    """

    inputs: Any
    places: Any
    targets: Any
    shares: Any


class Batches:
    """Examples of several lanes in batches. order: (lane, batch, row), their numbers. stops:
    whether the core reads no further than to the last question: then all batches have one shape.
    """

    def __init__(
        self, examples: Sequence[Examples], order: NDArray[np.int64], stops: bool = False
    ) -> None:
        self._examples, self.order, self._stops = examples, order, stops
        tables = [_questions(lane) for lane in examples]
        self._places = [places for places, _ in tables]
        self.counts = [counts for _, counts in tables]
        sizes = [max(lane.asked.shape[axis] for lane in examples) for axis in (0, 1)]
        # Samples on the device stay there; on a CPU they are sliced in place, without a program.
        self._cut = (
            _cut_here if all(isinstance(lane.inputs, np.ndarray) for lane in examples) else _cut
        )
        parts = [_filled(lane.inputs, sizes) for lane in examples]
        self._inputs = (np if self._cut is _cut_here else jnp).stack(parts)

    @classmethod
    def of_lesson(cls, lesson: Lesson, batch: int, stops: bool = False) -> Batches:
        """Examples that follow one another in the order of the lesson are a batch."""
        order = lesson.order[:, : lesson.items // batch * batch]
        return cls(lesson.examples, order.reshape(len(order), -1, batch), stops)

    @classmethod
    def of_exam(cls, exam: Exam, stops: bool = False) -> Batches:
        """By length; the last example fills up the last batch."""
        most = max(lane.count for lane in exam.examples)
        size = -(-most // TESTED_TOGETHER) * TESTED_TOGETHER
        by_length = [np.argsort(lane.lengths, kind="stable") for lane in exam.examples]
        order = np.stack([np.pad(one, (0, size - len(one)), "edge") for one in by_length])
        return cls(exam.examples, order.reshape(len(order), -1, TESTED_TOGETHER), stops)

    def cuts(self, first: int, last: int) -> Iterator[Cut]:
        """Batches first .. last-1. Those of about the same length have the same shapes."""
        for number in range(first, last):
            chosen = self.order[:, number]
            own = list(zip(self._examples, chosen, self.counts, self._places, strict=True))
            longest = max(int(lane.lengths[rows].max(initial=1)) for lane, rows, *_ in own)
            length = _power(longest, ROOM if self._stops else SHORTEST)
            counts = np.stack([known[rows] for _, rows, known, _ in own])
            width = min(
                length, _power(int(counts.max(initial=1)), (ROOM if self._stops else SHORTEST) // 2)
            )
            places, targets = [], []
            for lane, rows, _, table in own:
                at = np.zeros((len(rows), width), np.int32)
                at[:, : table.shape[1]] = table[rows, :width]
                places.append(np.minimum(at, length - 1))
                targets.append(np.asarray(lane.targets)[at, rows[:, None]])
            there = np.arange(width) < counts[..., None]
            shares = there / np.maximum(counts[..., None], 1) / chosen.shape[1]
            inputs = self._cut(self._inputs, chosen.astype(np.int32), length)
            yield Cut(inputs, np.stack(places), np.stack(targets), shares.astype(np.float32))

    def by_question(self, answered: Sequence[NDArray[Any]], questions: int) -> NDArray[Any]:
        """(lane, question, ...) from what was answered to every batch, (lane, row, Q, ...)."""
        whole = np.zeros((len(self.order), questions, *answered[0].shape[3:]), answered[0].dtype)
        for number, scores in enumerate(answered):
            for lane, counts in enumerate(self.counts):
                rows = self.order[lane, number]
                there = np.arange(scores.shape[2]) < counts[rows][:, None]
                place = (np.cumsum(counts) - counts)[rows][:, None] + np.arange(scores.shape[2])
                whole[lane, place[there]] = scores[lane][there]
        return whole


def _power(count: int, least: int) -> int:
    """The least power of two that is no less than either.

    >>> _power(65, 64), _power(3, 64)
    (128, 64)
    """
    return max(least, 1 << (count - 1).bit_length())


def _questions(examples: Examples) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(example, Q): the steps of every example's questions, 0 after the last; and how many there
    are.
    """
    counts = np.asarray(examples.asked.sum(axis=0))
    example, step = np.nonzero(examples.asked.T)
    table = np.zeros((examples.count, int(counts.max(initial=1))), np.int32)
    table[example, np.arange(len(example)) - np.repeat(np.cumsum(counts) - counts, counts)] = step
    return table, counts


def _filled(inputs: Any, sizes: Sequence[int]) -> Any:
    """With zeros up to so many steps and examples."""
    more = [(0, size - there) for size, there in zip(sizes, inputs.shape, strict=False)]
    pad = np.pad if isinstance(inputs, np.ndarray) else jnp.pad
    return (
        pad(inputs, [*more, *[(0, 0)] * (inputs.ndim - 2)])
        if any(one for _, one in more)
        else inputs
    )


def first_answers(lesson: Lesson, symbols: int) -> NDArray[np.int64]:
    """(lane, symbol): the item of the lesson with which it is first an answer; as many as there
    are, if with none.
    """
    first = np.full((len(lesson.examples), symbols), lesson.items, np.int64)
    for lane, (examples, order) in enumerate(zip(lesson.examples, lesson.order, strict=True)):
        answers = np.zeros(
            (examples.count + 1, symbols), bool
        )  # the last row is for -1, where an order has ended
        answers[np.nonzero(examples.asked)[1], examples.targets[examples.asked]] = True
        given = answers[order]
        first[lane] = np.where(given.any(axis=0), given.argmax(axis=0), lesson.items)
    return first


@partial(jax.jit, static_argnums=2)
def _cut(inputs: Any, chosen: Any, length: int) -> Any:
    """(lane, T, row, ...): some examples, as many steps of them as that, zeros where there are
    fewer.
    """
    there = min(length, inputs.shape[1])
    taken = jax.vmap(lambda own, numbers: own[:there, numbers])(inputs, chosen)
    return jnp.pad(taken, [(0, 0), (0, length - there), *[(0, 0)] * (taken.ndim - 2)])


def _cut_here(inputs: NDArray[Any], chosen: NDArray[np.int32], length: int) -> NDArray[Any]:
    """The same, on the host."""
    return np.stack(
        [grown(own[:length, numbers], length) for own, numbers in zip(inputs, chosen, strict=True)]
    )


@lru_cache
def streaming(frame: Frame, losses: Callable[..., Any], lanes: int) -> Callable[..., list[Any]]:
    """The arrays of (model, moments) after one update, from those before, a cut, the optimiser's
    configuration and keys as in `updating`.

    losses: at every question, as in `updated_once`.
    """

    def single(model: Any, moments: Any, cut: Cut, config: Any, words: Any) -> Any:
        return updated_once(model, moments, cut, config, words, losses)

    @jax.jit
    def updated(arrays: Any, cut: Cut, config: Any, words: Any) -> list[Any]:
        return Frame.of(over_lanes(single, lanes)(*frame.filled(arrays), cut, config, words))[0]

    return updated


@lru_cache
def answering_streams(frame: Frame, lanes: int) -> Callable[..., Any]:
    """(lane, row, Q, output) from the arrays of (model, moments), and inputs and places of a
    cut.
    """

    @jax.jit
    def answered(arrays: Any, inputs: Any, places: Any) -> Any:
        return over_lanes(answers_at, lanes)(frame.filled(arrays)[0], inputs, places)

    return answered
