"""How a pupil does on many strings: every step that counts is marked, and nothing is read twice that need not be.

Strings stand side by side in blocks. What the strings of a block begin with is read once, from where the block before
has stopped. A pupil whose state comes back, bit for bit, while it reads the same symbol again and again, goes on for
ever as it is: those steps are marked and not read, and strings that differ in them alone are read as one. All of it is
exact: every string is marked as if it had been read alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, NotApplicable
from quickstudy.base.examples import Examples
from quickstudy.base.learner import Answering, Stepping, face
from quickstudy.base.lesson import Exam
from quickstudy.protocols.marking import Bools, Marking, Outcomes, exam_groups

FIRST_ROWS, ROWS, STEPS = 32, 512, 64
"""Strings of the first block, so that an early failure is found early, and of the others; steps of one call."""
MOST_BYTES = 1 << 22
"""Of the state of all rows, about: a memory beside a network is read and written at every step."""


@dataclass(frozen=True)
class _Row:
    """One string: what is read, what comes next, which steps count, what may follow (where that is asked)."""

    inputs: NDArray[np.int8]
    targets: NDArray[np.int8]
    counts: Bools
    valid: Bools | None

    @classmethod
    def of(cls, string: NDArray[np.int8], likely: NDArray[np.float64], grammar: Any, marking: Marking) -> _Row:
        everywhere = marking.metric == "cat"
        counts = np.ones(len(likely), np.bool_) if everywhere else likely == 1
        counts[:1] &= everywhere  # at the first step nothing has been read that could make the next symbol certain
        valid = grammar.conditionals(string[:-1]) > 0 if everywhere else None
        return cls(string[:-1], string[1:], counts, valid)

    def behind(self, start: int) -> _Row:
        """Without its first steps."""
        valid = None if self.valid is None else self.valid[start:]
        return _Row(self.inputs[start:], self.targets[start:], self.counts[start:], valid)


class _Block:
    """Rows side by side: (time, row) inputs, targets, what counts, what is no padding; (time, row, symbol) valid."""

    def __init__(self, rows: Sequence[_Row]) -> None:
        self.lengths = np.array([len(row.inputs) for row in rows])
        shape = len(rows), int(self.lengths.max(initial=0))
        self.inside = (np.arange(shape[1]) < self.lengths[:, None]).T
        self.inputs, self.targets = (
            self._filled(rows, name, np.zeros(shape, np.int8)).T for name in ("inputs", "targets")
        )
        self.counts = self._filled(rows, "counts", np.zeros(shape, np.bool_)).T
        self.valid: Bools | None = None
        if rows[0].valid is not None:
            whole = np.zeros((*shape, rows[0].valid.shape[1]), np.bool_)
            self.valid = self._filled(rows, "valid", whole).swapaxes(0, 1)

    @staticmethod
    def _filled(rows: Sequence[_Row], name: str, whole: NDArray[Any]) -> NDArray[Any]:
        for place, row in zip(whole, rows, strict=True):
            place[: len(row.inputs)] = getattr(row, name)
        return whole


def outcomes(
    pupil: Any, strings: Iterable[NDArray[np.int8]], grammar: Any, marking: Marking, first_wrong: bool = False
) -> Outcomes:
    """By string, in their order: `size`, `steps` that count, how many of them are wrong by column; perhaps `bits` and
    `optimum`, the bits that the grammar itself needs.

    first_wrong: stop with the first string that is wrong (at the first margin). The strings are gone through once, and
    no more than a block of them is in memory.
    """
    read = _Steps(pupil, marking) if _steps_itself(pupil) else _Answers(face(pupil, Answering), marking)
    parts: list[Outcomes] = []
    for some in read.grouped(iter(strings)):
        likely = [grammar.likely(string) for string in some]
        rows = [_Row.of(string, chances, grammar, marking) for string, chances in zip(some, likely, strict=True)]
        part = {
            "size": np.array([grammar.size(string) for string in some]),
            "steps": np.array([row.counts.sum() for row in rows]),
            **read(rows),
        }
        if marking.bits:
            part["optimum"] = np.array([-np.log2(chances).sum() for chances in likely])
        parts.append(part)
        wrong = np.flatnonzero(part[marking.columns()[0]])
        if first_wrong and len(wrong):
            parts[-1] = {name: values[: wrong[0] + 1] for name, values in part.items()}
            break
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}


def _steps_itself(pupil: Any) -> bool:
    if getattr(pupil, "by_prediction", False):
        return False
    try:
        face(pupil, Stepping).start(1, 2)
    except NotApplicable:
        return False
    return True


class _Answers:
    """By whole strings, for pupils to whom a step costs as much as all before it."""

    def __init__(self, pupil: Any, marking: Marking) -> None:
        self._pupil, self._marking = pupil, marking

    def grouped(self, strings: Iterator[NDArray[np.int8]]) -> Iterator[list[NDArray[np.int8]]]:
        """For one exam after another."""
        return exam_groups(strings)

    def __call__(self, rows: Sequence[_Row]) -> Outcomes:
        """Wrong steps, and bits, of every string."""
        block = _Block(rows)
        asked = block.inside if self._marking.everywhere else block.counts
        exam = Exam([Examples(block.inputs.astype(np.int32), block.targets.astype(np.int32), asked, block.lengths)])
        scores = np.asarray(self._pupil.answer(exam))
        times, numbers = exam.positions[0].T
        if scores.shape[:2] != (1, len(times)):
            raise LearnerFault(f"answer must give scores of shape (1, {len(times)}, outputs), got {scores.shape}")
        valid = None if block.valid is None else block.valid[times, numbers][None]
        marks = self._marking.mark(
            scores, self._pupil.scale, block.targets[times, numbers][None], valid, block.counts[times, numbers][None]
        )
        whole = len(block.lengths)
        sums = {name: np.bincount(numbers, found[0], whole) for name, found in marks.items()}
        return {name: total if name == "bits" else total.astype(np.int64) for name, total in sums.items()}


class _Steps:
    """Step by step, all strings of a block at once."""

    def __init__(self, pupil: Any, marking: Marking) -> None:
        self._pupil, self._marking = pupil, marking
        self._read: NDArray[np.int8] = np.zeros(0, np.int8)
        self._state: Any = None
        self._capacity = 0
        self._rests = -1
        """The symbol that brings the state back with every call, behind what was read last."""

    def grouped(self, strings: Iterator[NDArray[np.int8]]) -> Iterator[list[NDArray[np.int8]]]:
        """Few at first."""
        rows = FIRST_ROWS
        while some := list(itertools.islice(strings, rows)):
            # A state may be as large as its string is long: rows are then fewer.
            weight = getattr(self._pupil, "weight", lambda state: 0)(self._pupil.start(1, len(some[-1])))
            if weight * len(some) > MOST_BYTES:
                most = max(8, MOST_BYTES // weight)
                yield from (some[first : first + most] for first in range(0, len(some), most))
            else:
                yield some
            rows = ROWS

    def __call__(self, rows: Sequence[_Row]) -> Outcomes:
        """Wrong steps, and bits, of every string."""
        everywhere = self._marking.everywhere
        firsts = [0 if everywhere else int(np.argmax(row.counts)) or len(row.counts) for row in rows]
        shared = min(min(firsts), *(_shared(rows[0].inputs, row.inputs) for row in rows))
        state, start = self._behind(rows[0].inputs[:shared], max(len(row.inputs) for row in rows))
        # Behind a state that comes back, strings are read from where they differ in more than how often it did.
        idle = [
            _shared(row.inputs[start:first], np.full_like(row.inputs, self._rests))
            for row, first in zip(rows, firsts, strict=True)
        ]
        block = _Block([row.behind(start + many // STEPS * STEPS) for row, many in zip(rows, idle, strict=True)])
        classes = np.unique(np.array(idle) % STEPS, return_inverse=True)[1]
        by_length = np.argsort(block.lengths, kind="stable")
        longest = np.zeros(classes.max() + 1, np.int64)
        longest[classes[by_length]] = by_length
        if not ((block.inputs == block.inputs[:, longest[classes]]) | ~block.inside).all():
            longest = classes = np.arange(len(rows))
        return self._through(state, block, longest, classes)

    def _through(self, state: Any, block: _Block, columns: NDArray[np.int64], of: NDArray[np.int64]) -> Outcomes:
        """Read these columns of a block to the end, and mark all rows, each by the column `of` it. Columns are filled
        up to a power of two.
        """
        filled = np.resize(columns, 1 << (len(columns) - 1).bit_length())
        state = self._pupil.rows(state, np.zeros(len(filled), np.int64))
        inputs, place, steps = block.inputs[:, filled].astype(np.int32), 0, len(block.inputs)
        inputs = np.pad(inputs, [(0, STEPS), (0, 0)])
        sums: Outcomes = {}
        while place < steps:
            before, part = state, inputs[place : place + STEPS]
            state, scores = _unrolled(self._pupil, before, part[None])
            scores = scores[0, : steps - place][:, of if len(columns) < len(of) else slice(len(of))]
            self._add(sums, scores, block, place)
            place += STEPS
            if place < steps and (part == part[0, 0]).all() and self._same(before, state):
                # The same again, for as many whole calls as nothing else is read.
                others = (inputs[place:steps] != part[0, 0]).any(axis=1)
                for _ in range((int(np.argmax(others)) if others.any() else len(others)) // STEPS):
                    self._add(sums, scores, block, place)
                    place += STEPS
        return sums

    def _same(self, state: Any, other: Any) -> bool:
        return hasattr(self._pupil, "same") and bool(self._pupil.same(state, other))

    def _add(self, sums: Outcomes, scores: NDArray[Any], block: _Block, place: int) -> None:
        """Marks of scores (time, row, symbol) from a place on."""
        part = slice(place, place + len(scores))
        valid = None if block.valid is None else block.valid[part]
        marks = self._marking.mark(scores, self._pupil.scale, block.targets[part], valid, block.counts[part])
        for name, found in marks.items():
            kept = np.where(block.inside[part], found, 0.0) if name == "bits" else found
            sums[name] = sums.get(name, 0) + kept.sum(axis=0)

    def _behind(self, prefix: NDArray[np.int8], capacity: int) -> tuple[Any, int]:
        """The state of one row behind a prefix, or as much of it as is told: where a symbol is read again and again and
        the state comes back with every call, whole calls only. More capacity than before begins anew.
        """
        if self._state is None or capacity > self._capacity:
            self._capacity = max(capacity, 2 * self._capacity)
            self._forget()
        if _shared(self._read, prefix) < len(self._read):
            self._forget()
        done = len(self._read)
        while done < len(prefix):
            symbol = prefix[done]
            run = _shared(prefix[done:], np.full_like(prefix, symbol))
            if run >= STEPS and symbol != self._rests:
                before, self._rests = self._state, -1
                self._state, _ = _unrolled(self._pupil, before, np.full((1, STEPS, 1), symbol, np.int32))
                self._rests = int(symbol) if self._same(before, self._state) else -1
                done += STEPS
            elif symbol == self._rests:
                done += run // STEPS * STEPS
                if done + run % STEPS == len(prefix):
                    break
                self._rests = -1
            else:
                self._rests = -1
                self._state, _ = self._pupil.step(self._state, np.full((1, 1), symbol, np.int32))
                done += 1
        self._read = prefix[:done].copy()
        return self._state, done

    def _forget(self) -> None:
        self._state, self._read, self._rests = self._pupil.start(1, self._capacity), np.zeros(0, np.int8), -1


def _shared(one: NDArray[np.int8], other: NDArray[np.int8]) -> int:
    """How many symbols two strings begin with alike."""
    length = min(len(one), len(other))
    differ = one[:length] != other[:length]
    return int(np.argmax(differ)) if differ.any() else length


def _unrolled(pupil: Any, state: Any, inputs: NDArray[np.int32]) -> tuple[Any, NDArray[Any]]:
    """Many steps (1, time, row): at once where the pupil can, else one by one."""
    if hasattr(pupil, "unroll"):
        return pupil.unroll(state, inputs)  # type: ignore[no-any-return]
    scores = []
    for time in range(inputs.shape[1]):
        state, given = pupil.step(state, inputs[:, time])
        scores.append(given)
    return state, np.stack(scores, axis=1)
