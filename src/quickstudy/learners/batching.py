"""Lessons laid out for a core that is trained in batches: sequences of different lengths packed
without padding, for cores that can read them so (`unroll_packed`), or padded to a few lengths.

Only steps that a question depends on are packed: what follows the last question of a sequence
changes nothing. Plans are made on the host, for all batches at once, and their sizes are rounded so
that seeds share compiled programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import ABSENT, Core
from quickstudy.jax_gateway import handed_over, jnp
from quickstudy.learners.lanes import grown, rounded

LOOKED_UP = 8192
"""Steps of a lesson of which there is room at least: short ones share a program."""
SHORT = 32
"""Sequences up to so many steps are all padded alike: every further length is compiled for
itself.
"""


class PackedPlan(NamedTuple):
    """How batches are read. Of batch u, with every sequence's steps (T, examples) numbered time *
    examples + example:

    places (u, N): the steps in packed order; steps (u, P): how long each phase lasts; asked (u, Q):
    packed rows of the questions; shares (u, Q): what a question counts, its example's share in the
    batch, and 0 for padding.
    """

    places: Any
    steps: Any
    asked: Any
    shares: Any


def phase_rows(batch: int) -> tuple[int, ...]:
    """The sequences of the phases: all, and then always half, down to two.

    >>> phase_rows(8), phase_rows(1)
    ((8, 4, 2), (1,))
    """
    rows = [batch]
    while rows[-1] >= 4:
        rows.append(rows[-1] // 2)
    return tuple(rows)


def needed_steps(examples: Examples) -> NDArray[np.int64]:
    """(example,): steps up to the last question."""
    last = examples.steps - np.argmax(examples.asked[::-1], axis=0)
    return np.asarray(np.where(examples.asked.any(axis=0), last, 0))


def whole_lesson(
    lesson: Lesson, by_question: bool = False
) -> tuple[Lesson, list[NDArray[np.float64]]]:
    """A lesson as one batch: every different example once, and (example,) the weight of each, by
    lane.

    Equal examples are one that counts more: the same loss for less work. Empty examples fill up to
    a number that lessons share. by_question: an example counts by its questions, so that all
    questions count alike. Raises UsageError where an update would not see every example as often as
    the lesson has it.
    """
    lanes, counts = [], []
    for examples, order in zip(lesson.examples, lesson.order, strict=True):
        passes = order[: (order >= 0).sum() // examples.count * examples.count].reshape(
            -1, examples.count
        )
        if (np.sort(passes, axis=1) != np.arange(examples.count)).any():
            raise UsageError(
                "with the whole lesson as batch, every pass must show every example once; give a"
                " batch"
            )
        parts = examples.inputs, examples.targets, examples.asked, examples.lengths[None]
        content = [np.moveaxis(part, 1, 0).reshape(examples.count, -1) for part in parts]
        keys = np.concatenate(
            [np.ascontiguousarray(part).view(np.uint8) for part in content], axis=1
        )
        _, firsts, times = np.unique(keys, axis=0, return_index=True, return_counts=True)
        shown = np.argsort(firsts)  # in the order of the lesson
        lanes.append(examples.take(firsts[shown]))
        counts.append(times[shown] * (lanes[-1].asked.sum(axis=0) if by_question else 1))
    size = rounded(max(lane.count for lane in lanes), 2)
    weights = [np.pad(times * size / times.sum(), (0, size - len(times))) for times in counts]
    filled = [_filled(lane, size) for lane in lanes]
    return Lesson(filled, np.tile(np.arange(size), (len(filled), 1))), weights


def _filled(examples: Examples, count: int) -> Examples:
    inputs, targets, asked = (
        grown(part, examples.steps, count)
        for part in (examples.inputs, examples.targets, examples.asked)
    )
    return Examples(inputs, targets, asked, grown(examples.lengths, count))


def packed_lesson(
    lesson: Lesson, batch: int, weights: Sequence[NDArray[np.float64]] | None = None
) -> tuple[tuple[Any, ...], PackedPlan]:
    """The steps of a lesson of one lane as inputs and targets (1, T * examples, ...), and how its
    batches are read.

    weights: of the lane's examples, the weight of each. Everything has a lane axis.
    """
    (examples,) = lesson.examples
    order = lesson.order[0, : lesson.items // batch * batch].reshape(-1, batch)
    rows = phase_rows(batch)
    lengths = needed_steps(examples)[order]
    longest_first = np.argsort(-lengths, axis=1, kind="stable")
    order, lengths = (
        np.take_along_axis(array, longest_first, axis=1) for array in (order, lengths)
    )
    ends = lengths[
        :, [*rows[1:], 0]
    ]  # a phase lasts as long as the longest sequence that the next one drops
    steps = np.diff(ends, axis=1, prepend=0)
    going = _going(ends, rows, examples.steps)
    first = np.cumsum(going, axis=1) - going
    fineness = 1 if lesson.stream else 3
    places = np.zeros(
        (len(order), rounded(int(going.sum(axis=1).max(initial=1)), fineness)), np.int32
    )
    batches, times, row = np.nonzero(np.arange(batch) < going[:, :, None])
    places[batches, first[batches, times] + row] = times * examples.count + order[batches, row]
    batches, row, times = np.nonzero(np.moveaxis(examples.asked[:, order], 0, 2))
    asked, shares = _by_batch(
        len(order), batches, first[batches, times] + row, 1 if lesson.stream else 2
    )
    of_example = 1.0 / (batch * examples.asked.sum(axis=0)[order[batches, row]])
    if weights is not None:
        of_example *= weights[0][order[batches, row]]
    shares[shares > 0] = of_example
    # Arrays that are only indexed are rounded more: lessons of other sizes share the program, and
    # no number depends on it.
    count = rounded(len(order), 1)
    plan = PackedPlan(
        *(_lengthened(array, count) for array in (places, steps.astype(np.int32), asked, shares))
    )
    length = max(LOOKED_UP, rounded(examples.steps * examples.count, 0))
    flat = (array.reshape(-1, *array.shape[2:]) for array in (examples.inputs, examples.targets))
    return tuple(_lengthened(array, length) for array in flat), plan


def asked_steps(examples: Examples, fineness: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """(example, Q): the steps of every example's questions, with 0 after the last; and 1.0 where
    there is one.
    """
    example, step = np.nonzero(examples.asked.T)
    table, there = _by_batch(examples.count, example, step, fineness)
    return table[:, : examples.steps], there[:, : examples.steps]


def _going(ends: NDArray[np.int64], rows: tuple[int, ...], steps: int) -> NDArray[np.int64]:
    """(batch, T): sequences that are still read at each time."""
    phase = (np.arange(steps)[None, :, None] >= ends[:, None, :]).sum(axis=2)
    return np.asarray(np.array([*rows, 0])[phase])


def _by_batch(
    batches: int, batch: NDArray[np.int64], values: NDArray[np.int64], fineness: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """(batches, Q) values by ascending batch, padded with 0; and 1.0 where there is one."""
    counts = np.bincount(batch, minlength=batches)
    inside = np.arange(len(batch)) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.zeros((batches, rounded(int(counts.max(initial=1)), fineness)), np.int32)
    there = np.zeros(table.shape, np.float32)
    table[batch, inside], there[batch, inside] = values, 1.0
    return table, there


def _lengthened(array: NDArray[Any], length: int) -> Any:
    """(1, length, ...): padded with zeros at the end, and with an axis for the one lane."""
    return jnp.asarray(grown(array, length)[None])


class Lengths(NamedTuple):
    """allowed: the lengths, ascending, constants of a program. chosen (group,): which of them each
    group has.
    """

    allowed: tuple[int, ...]
    chosen: NDArray[np.int32]

    @classmethod
    def fitted(cls, needed: NDArray[np.int64], steps: int) -> Lengths:
        """For groups that need so many steps of at most `steps`: those of six equal parts that pay.

        A length is left out if fewer than one group in ten has it: its groups have the next.
        """
        if steps <= SHORT:
            return cls((steps,), np.zeros(len(needed), np.int32))
        all = _ends(steps, 6)
        counts = np.bincount(np.searchsorted(all, needed), minlength=len(all))
        allowed = all[(counts > 0.1 * len(needed)) | (all == steps)]
        return cls(tuple(allowed.tolist()), np.searchsorted(allowed, needed).astype(np.int32))

    @classmethod
    def even(cls, needed: NDArray[np.int64], steps: int) -> Lengths:
        """For groups that need so many steps: four equal parts of all steps, for any groups."""
        allowed = np.unique(_ends(steps, 4))
        return cls(tuple(allowed.tolist()), np.searchsorted(allowed, needed).astype(np.int32))


def _ends(steps: int, parts: int) -> NDArray[np.int64]:
    """Where equal parts of so many steps end."""
    return np.asarray(-(-np.arange(1, parts + 1) * steps // parts))


def padded_lanes(examples: Sequence[Examples], leaks: bool, stops: bool) -> list[Examples]:
    """Lanes of one length, which seeds share; for a core that leaks, with the answers in the
    inputs. One that stops is not kept busy by padding, and tasks share its lengths too.
    """
    longest = max(lane.steps for lane in examples) + leaks
    steps = max(SHORT, rounded(longest, 0)) if stops else rounded(longest, 4)
    padded = [lane.padded(steps) for lane in examples]
    return [with_answers(lane) for lane in padded] if leaks else padded


class PaddedLesson(NamedTuple):
    """A lesson padded to one shape, with a lane axis.

    inputs: (lane, T, example, ...). places: (lane, example, Q), steps of every example's questions.
    targets: (lane, example, Q, ...), their answers. shares: what a question counts in its example,
    0 in the padding. order: (lane, item).
    lengths: of each batch, which of the allowed lengths it is cut to.
    """

    inputs: Any
    places: Any
    targets: Any
    shares: Any
    order: Any
    lengths: Any


def padded_lesson(
    lesson: Lesson, batch: int, core: Core, weights: Sequence[NDArray[np.float64]] | None
) -> tuple[PaddedLesson, tuple[int, ...]]:
    """Device arrays of shapes that seeds share, and the lengths that batches may have.

    weights: of each lane's examples, the weight of each.
    """
    leaks, stops = core.capabilities.leaks, core.capabilities.stops
    padded = padded_lanes(lesson.examples, leaks, stops)
    steps = padded[0].steps
    # Examples are only looked up: lessons of other sizes share the program, and no number depends
    # on the padding.
    count = rounded(max(lane.count for lane in lesson.examples), 1)
    order = grown(lesson.order, len(padded), rounded(lesson.items, 1))
    lengths = Lengths((steps,), np.zeros(order.shape[1] // batch, np.int32))
    if len(padded) == 1 and not stops:  # lanes side by side would all wait for the longest
        needed = (
            lesson.examples[0]
            .lengths[order[0, : len(lengths.chosen) * batch]]
            .reshape(-1, batch)
            .max(axis=1)
        )
        lengths = (
            Lengths.even(needed + leaks, steps)
            if lesson.stream
            else Lengths.fitted(needed + leaks, steps)
        )
    fineness = 0 if lesson.stream or stops else 3
    places, there = zip(*(asked_steps(lane, fineness) for lane in padded), strict=True)
    targets = [
        lane.targets[table, np.arange(lane.count)[:, None]]
        for lane, table in zip(padded, places, strict=True)
    ]
    shares = [part / np.maximum(part.sum(axis=1, keepdims=True), 1) for part in there]
    if weights is not None:
        shares = [
            part * own[:, None].astype(np.float32)
            for part, own in zip(shares, weights, strict=True)
        ]
    width = max(table.shape[1] for table in places)
    inputs = np.stack([grown(lane.inputs, steps, count) for lane in padded])
    where, wanted, counted = (
        np.stack([grown(part, count, width) for part in lanes])
        for lanes in (places, targets, shares)
    )
    chosen = np.tile(lengths.chosen, (len(padded), 1))
    return (
        handed_over(PaddedLesson(inputs, where, wanted, counted, order.astype(np.int32), chosen)),
        lengths.allowed,
    )


def check_leak(brief: Brief) -> None:
    """Raise NotApplicable unless answers are symbols of the kind that is read, so that they can be
    among the inputs.
    """
    if brief.inputs != brief.outputs or not isinstance(brief.inputs, Tokens):
        raise NotApplicable(
            f"the published leak needs answers that are inputs as well, not {brief.inputs} and"
            f" {brief.outputs}; give causal=true"
        )


def with_answers(examples: Examples) -> Examples:
    """THE PUBLISHED LEAK: the examples with the last answer written after the last input, and
    `ABSENT` after that.

    The published transformer attends to the whole sequence, in both directions, and the answer is
    part of it, one step after the place where it has to be given: it reads the answers off its
    inputs, and its published scores measure nothing else. No core does this unless its parameters
    ask for it, as they do under the convention `published` alone; the checkers rightly find that it
    looks ahead. The other answers are in the inputs already: they are the next inputs. There must
    be a step of padding for the last one.
    """
    places = np.arange(examples.steps)[:, None]
    last = examples.targets[examples.lengths - 1, np.arange(examples.count)]
    after = np.where(places == examples.lengths, last, ABSENT)
    return replace(examples, inputs=np.where(places < examples.lengths, examples.inputs, after))
