"""How a pupil does on many strings: every step that counts is marked, and nothing is read twice
that need not be.

Strings stand side by side in blocks. What the strings of a block begin with is read once, from
where the block before has stopped. A pupil whose state comes back, bit for bit, while it reads the
same symbol again and again, repeats itself for ever: those steps are marked and not read, and
strings that differ in them alone are read as one. All of it is exact: every string is marked as if
it had been read alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Answering, Stepping, face
from quickstudy.base.offers import (
    ByStates,
    Comparing,
    Dividing,
    Fitting,
    Judging,
    Unrolling,
    Weighing,
    offers,
)
from quickstudy.base.stated import PupilFacts, stated
from quickstudy.protocols.marking import Block, ByExam, Marking, Outcomes, Row
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.lists import TestList

FIRST_ROWS = (32, 1024)
"""Strings of the first blocks, so that an early failure is found early; all further ones are as
large as may be.
"""


@dataclass(frozen=True)
class _Size:
    """Strings of a block, steps of one call, and bytes that the state of all rows may take, about:
    an external memory is read and written at every step.
    """

    rows: int
    steps: int
    bytes: int


ALONE, BESIDE = _Size(256, 64, 1 << 22), _Size(1 << 14, 512, 1 << 30)
"""For one lane, on a processor, where a reservoir of 200 units takes 1.4 times as long for a step
of each of 512 rows as of 256; and for several, on an accelerator, to which more rows are no more
work.
"""
HEAVY = 1 << 16
"""Bytes of one string's state from which on lanes that have been asked enough do not go along with
the others.
"""
COLUMNS = 128
"""Fewer are filled up to so many where a pupil is compiled, its state is small and strings are
short: every number of them is a program, which takes longer than its steps do.
"""


def outcomes(
    pupil: Any,
    strings: Iterable[NDArray[np.int8]],
    grammar: Any,
    marking: Marking,
    enough: Callable[[int, Outcomes], bool] = lambda lane, so_far: False,
    before: Sequence[Outcomes] = (),
    note: Callable[[list[Outcomes]], None] = lambda so_far: None,
) -> list[Outcomes]:
    """Of every lane, by string, in their order: `size`, `steps` that count, how many of them are
    wrong by column; perhaps `bits` and `optimum`, the bits that the grammar itself needs.

    enough: asked of every lane after every block, with its marks so far; it is then asked about no
    later string. before: what there was when it was last noted; blocks that are in it are not read
    again. note: told after every block what there is. Strings are gone through once, and no more
    than a block of them is in memory.
    """
    if offers(pupil, ByStates):
        from quickstudy.protocols.states import by_states  # with Numba, which others do without

        if (known := by_states(pupil, strings, grammar, marking)) is not None:
            return [known]
    read = (
        _Steps(pupil, marking) if _steps_itself(pupil) else ByExam(face(pupil, Answering), marking)
    )
    lanes: list[Outcomes] = [{} for _ in range(pupil.lanes)]
    left, done = list(range(pupil.lanes)), 0
    for some in read.grouped(iter(strings)):
        block = slice(done, done + len(some))
        if before and all(len(before[lane].get("steps", ())) >= block.stop for lane in left):
            parts = [
                {name: values[block] for name, values in before[lane].items()} for lane in left
            ]
        else:
            rows, shared = _described(some, strings, done, grammar, marking)
            found = read(rows)
            parts = [
                {**shared, **{name: values[place] for name, values in found.items()}}
                for place in range(len(left))
            ]
        done = block.stop
        for lane, part in zip(left, parts, strict=True):
            own = lanes[lane]
            lanes[lane] = (
                {name: np.concatenate([own[name], part[name]]) for name in part} if own else part
            )
        note(lanes)
        going = [place for place, lane in enumerate(left) if not enough(lane, lanes[lane])]
        if not going:
            break
        if len(going) < len(left) and read.keep(going):
            left = [left[place] for place in going]
    return lanes


def _described(
    some: Sequence[NDArray[np.int8]], strings: Any, done: int, grammar: Any, marking: Marking
) -> tuple[list[Row], Outcomes]:
    """Some of the strings, after those that are done, as rows; and what is the same for all
    lanes.
    """
    shared: Outcomes = {}
    if isinstance(strings, TestList) and isinstance(grammar, Counting) and not marking.bits:
        # What the list knows of its strings need not be found in them: that takes half as long as
        # to read them.
        values = strings.values[done : done + len(some)]
        certain, shared["size"] = [grammar.certain_at(own) for own in values], values.sum(axis=1)
    else:
        likely = [grammar.likely(string) for string in some]
        certain, shared["size"] = (
            [one == 1 for one in likely],
            np.array([grammar.size(string) for string in some]),
        )
        if marking.bits:
            shared["optimum"] = np.array([-np.log2(chances).sum() for chances in likely])
    rows = [
        Row.of(string, own, grammar, marking) for string, own in zip(some, certain, strict=True)
    ]
    shared["steps"] = np.array([row.counts.sum() for row in rows])
    return rows, shared


def _steps_itself(pupil: Any) -> bool:
    if stated(pupil, PupilFacts).by_prediction:
        return False
    try:
        face(pupil, Stepping).start(1, 2)
    except NotApplicable:
        return False
    return True


class _Steps:
    """Step by step, all strings of a block at once."""

    def __init__(self, pupil: Any, marking: Marking) -> None:
        self._pupil, self._marking = pupil, marking
        self._size = ALONE if pupil.lanes == 1 else BESIDE
        self._read: NDArray[np.int8] = np.zeros(0, np.int8)
        self._state: Any = None
        self._capacity = 0
        self._rests = -1
        """The symbol that restores the state with every call, after the last input."""

    def grouped(self, strings: Iterator[NDArray[np.int8]]) -> Iterator[list[NDArray[np.int8]]]:
        """Few at first."""
        sizes = itertools.chain(FIRST_ROWS, itertools.repeat(self._size.rows))
        while some := list(itertools.islice(strings, min(next(sizes), self._size.rows))):
            # A state may be as large as its string is long: rows are then fewer.
            longest = len(some[-1])
            while some:
                most = max(
                    8, self._size.bytes // max(1, self._weight(self._pupil.start(1, longest)))
                )
                yield some[:most]
                some = some[most:]

    def keep(self, lanes: Sequence[int]) -> bool:
        """Go on with these lanes alone, if that is worth new programs and they can be had alone."""
        heavy = self._state is not None and self._weight(self._state) > HEAVY * self._pupil.lanes
        if not heavy or 2 * len(lanes) > self._pupil.lanes or not offers(self._pupil, Dividing):
            return False
        self._pupil = self._pupil.of_lanes(lanes)
        self._forget()
        return True

    def _weight(self, state: Any) -> int:
        return int(self._pupil.weight(state)) if offers(self._pupil, Weighing) else 0

    def __call__(self, rows: Sequence[Row]) -> Outcomes:
        """(lane, string) wrong steps, and bits."""
        everywhere, steps = self._marking.everywhere, self._size.steps
        firsts = [
            0 if everywhere else int(np.argmax(row.counts)) or len(row.counts) for row in rows
        ]
        shared = min(min(firsts), *(_shared(rows[0].inputs, row.inputs) for row in rows))
        state, start = self._behind(rows[0].inputs[:shared], max(len(row.inputs) for row in rows))
        # Behind a state that comes back, strings are read from where they differ in more than how
        # often it did.
        idle = [
            _shared(row.inputs[start:first], np.full_like(row.inputs, self._rests))
            for row, first in zip(rows, firsts, strict=True)
        ]
        block = Block(
            [
                row.behind(start + many // steps * steps)
                for row, many in zip(rows, idle, strict=True)
            ]
        )
        classes = np.unique(np.array(idle) % steps, return_inverse=True)[1]
        by_length = np.argsort(block.lengths, kind="stable")
        longest = np.zeros(classes.max() + 1, np.int64)
        longest[classes[by_length]] = by_length
        if not ((block.inputs == block.inputs[:, longest[classes]]) | ~block.inside).all():
            longest = classes = np.arange(len(rows))
        return self._through(state, start, block, longest, classes)

    def _through(
        self,
        state: Any,
        start: int,
        block: Block,
        columns: NDArray[np.int64],
        of: NDArray[np.int64],
    ) -> Outcomes:
        """Read these columns of a block to the end, after `start` steps, and mark all rows, each by
        the column `of` it. Columns are filled up to a power of two, or half as many more: each
        number is a program.
        """
        short = self._capacity <= 4 * self._size.steps
        small = (
            short
            and offers(self._pupil, Weighing)
            and COLUMNS * self._pupil.weight(state) <= self._size.bytes
        )
        count = max(len(columns), COLUMNS if small else 1)
        power = 1 << (count - 1).bit_length()
        filled = np.resize(columns, power * 3 // 4 if count <= power * 3 // 4 else power)
        place, steps = 0, len(block.inputs)
        # Calls are no longer than the strings: after them there is padding, which is read as well.
        span = min(self._size.steps, max(ALONE.steps, 1 << (steps - 1).bit_length()))
        state = self._fitted(state, start + span, steps)
        state = self._pupil.rows(state, np.zeros(len(filled), np.int64))
        # A pupil that is not compiled need not read as much every time: numbers that are fractions
        # grow with every step.
        more = span if offers(self._pupil, Unrolling) else 0
        inputs, targets, counts = (
            np.pad(part[:, filled], [(0, more), (0, 0)])
            for part in (block.inputs, block.targets, block.counts)
        )
        sums: Outcomes = {}
        while place < steps:
            before, part = (
                self._fitted(state, start + place + span, steps - place),
                slice(place, place + span),
            )
            if self._counts_itself and len(columns) == len(of):
                state, said, wrong = self._pupil.judged(
                    before, inputs[part], targets[part], counts[part]
                )
                sums["wrong"] = sums.get("wrong", 0) + wrong[:, of]
            else:
                state, said = self._said(before, inputs[part])
                self._add(sums, said, block, place, of)
            place += span
            if (
                place < steps
                and (inputs[part] == inputs[part][0, 0]).all()
                and self._same(before, state)
            ):
                # The same again, for as many whole calls as nothing else is read.
                others = (inputs[place:steps] != inputs[part][0, 0]).any(axis=1)
                for _ in range((int(np.argmax(others)) if others.any() else len(others)) // span):
                    self._add(sums, said, block, place, of)
                    place += span
        return sums

    @property
    def _counts_itself(self) -> bool:
        """Whether the pupil's own program finds the likeliest symbols, and those are all that is
        asked for.
        """
        return (
            self._marking.metric == "det"
            and not self._marking.bits
            and offers(self._pupil, Judging)
        )

    def _said(self, state: Any, inputs: NDArray[np.int8]) -> tuple[Any, Any]:
        """After many steps (time, row): the state, and (lane, time, row, ...) scores or likeliest
        symbols.
        """
        if self._counts_itself:
            state, said, _ = self._pupil.judged(state, inputs, inputs, inputs != inputs)
            return state, said
        whole = np.broadcast_to(inputs.astype(np.int32), (self._pupil.lanes, *inputs.shape))
        if offers(self._pupil, Unrolling):
            return self._pupil.unroll(state, whole)
        scores = []
        for time in range(len(inputs)):
            state, given = self._pupil.step(state, whole[:, time])
            scores.append(given)
        return state, np.stack(scores, axis=1)

    def _fitted(self, state: Any, past: int, future: int) -> Any:
        """The state, in no more room than is needed, where the pupil can do that."""
        if not offers(self._pupil, Fitting):
            return state
        return self._pupil.fitted(state, past, future)

    def _same(self, state: Any, other: Any) -> bool:
        return offers(self._pupil, Comparing) and bool(self._pupil.same(state, other))

    def _add(
        self, sums: Outcomes, said: Any, block: Block, place: int, of: NDArray[np.int64]
    ) -> None:
        """Marks of the outputs (lane, time, column, ...), from a position on, row by row."""
        said = np.asarray(said)[:, : len(block.inputs) - place][:, :, of]
        part = slice(place, place + said.shape[1])
        targets, counts = block.targets[part], block.counts[part]
        if self._counts_itself:
            marks: Outcomes = {"wrong": (said != targets) & counts}
        else:
            valid = None if block.valid is None else block.valid[part]
            marks = self._marking.mark(said, self._pupil.scale, targets, valid, counts)
        for name, found in marks.items():
            kept = np.where(block.inside[part], found, 0.0) if name == "bits" else found
            sums[name] = sums.get(name, 0) + kept.sum(axis=1)

    def _behind(self, prefix: NDArray[np.int8], capacity: int) -> tuple[Any, int]:
        """The state of one row after a prefix, or a given part of it: where a symbol is
        repeated and the state recurs with every call, whole calls only. More capacity than before
        means a new start.
        """
        span = self._size.steps
        if self._state is None or capacity > self._capacity:
            self._capacity = max(capacity, self._capacity * 3 // 2)
            self._forget()
        if _shared(self._read, prefix) < len(self._read):
            self._forget()
        done = len(self._read)
        while done < len(prefix):
            symbol = prefix[done]
            run = _shared(prefix[done:], np.full_like(prefix, symbol))
            if run >= span and symbol != self._rests:
                before, self._rests = self._state, -1
                self._state, _ = self._said(before, np.full((span, 1), symbol, np.int8))
                self._rests = int(symbol) if self._same(before, self._state) else -1
                done += span
            elif symbol == self._rests:
                done += run // span * span
                if done + run % span == len(prefix):
                    break
                self._rests = -1
            else:
                self._rests = -1
                one = np.full((self._pupil.lanes, 1), symbol, np.int32)
                self._state, _ = self._pupil.step(self._state, one)
                done += 1
        self._read = prefix[:done].copy()
        return self._state, done

    def _forget(self) -> None:
        self._state, self._read, self._rests = (
            self._pupil.start(1, self._capacity),
            np.zeros(0, np.int8),
            -1,
        )


def _shared(one: NDArray[np.int8], other: NDArray[np.int8]) -> int:
    """How many symbols two strings begin with alike."""
    length = min(len(one), len(other))
    differ = one[:length] != other[:length]
    return int(np.argmax(differ)) if differ.any() else length
