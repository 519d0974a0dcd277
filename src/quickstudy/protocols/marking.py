"""Right answers in a string: marks of single steps, and of strings by the setups in which symbols
are not predicted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Answering, distribution, face, finite
from quickstudy.measures.grammar import forgiven
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.lists import TestList

MOST_TOKENS = 1 << 21
"""Of the strings that are put to a pupil in one exam, where it does not go step by step."""

Bools = NDArray[np.bool_]
Outcomes = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Marking:
    """What counts. metric: `det`, the likeliest symbol is the next one, where that is certain;
    `majority`, the next one has more than half of the probability, there; `cat`, at every step,
    exactly the symbols that may follow have more probability than the margin. margins: for `cat`,
    one column each. bits: also the cross-entropy of every string.
    """

    metric: str
    margins: tuple[float, ...] = (0.0, 0.005)
    bits: bool = False

    @property
    def everywhere(self) -> bool:
        """Whether every step counts, not only those that are certain."""
        return self.metric == "cat" or self.bits

    def columns(self) -> list[str]:
        """Names of the counts of wrong steps."""
        return (
            [f"wrong-{margin:g}" for margin in self.margins] if self.metric == "cat" else ["wrong"]
        )

    def mark(
        self, scores: NDArray[Any], scale: str, targets: NDArray[Any], valid: Any, counts: Bools
    ) -> Outcomes:
        """(..., time, row) marks of scores (..., time, row, symbol)."""
        finite("the learner's scores", scores)
        found: Outcomes = (
            {"wrong": (largest(scores) != targets) & counts} if self.metric == "det" else {}
        )
        if found and not self.bits:
            return found
        chances = distribution(scores, scale)
        shape = np.broadcast_shapes(chances.shape[:-1], targets.shape)
        wanted = np.broadcast_to(targets, shape)[..., None].astype(np.int64)
        own = np.take_along_axis(np.broadcast_to(chances, (*shape, chances.shape[-1])), wanted, -1)[
            ..., 0
        ]
        if self.metric == "majority":
            found["wrong"] = (own <= 0.5) & counts
        elif self.metric == "cat":
            for name, margin in zip(self.columns(), self.margins, strict=True):
                found[name] = ((chances > margin) != valid).any(axis=-1) & counts
        if self.bits:
            with np.errstate(divide="ignore"):
                found["bits"] = -np.log2(own)
        return found


def largest(scores: NDArray[Any]) -> NDArray[np.int8]:
    """The symbol of the largest score, the first among equals: as `argmax`, four times as fast for
    few symbols.
    """
    best, place = scores[..., 0], np.zeros(scores.shape[:-1], np.int8)
    for symbol in range(1, scores.shape[-1]):
        place[scores[..., symbol] > best] = symbol
        best = np.maximum(best, scores[..., symbol])
    return place


def exam_groups(strings: Iterable[NDArray[np.int8]]) -> Iterator[list[NDArray[np.int8]]]:
    """As many at a time as make an exam of moderate size."""
    some, longest = list[NDArray[np.int8]](), 0
    for string in strings:
        longest = max(longest, len(string))
        if some and longest * (len(some) + 1) > MOST_TOKENS:
            yield some
            some, longest = [], len(string)
        some.append(string)
    if some:
        yield some


@dataclass(frozen=True)
class Row:
    """One string: what is read, what comes next, which steps count, what may follow (where that is
    asked).
    """

    inputs: NDArray[np.int8]
    targets: NDArray[np.int8]
    counts: Bools
    valid: Bools | None

    @classmethod
    def of(cls, string: NDArray[np.int8], certain: Bools, grammar: Any, marking: Marking) -> Row:
        """With whether each of its symbols is certain; those arrays are the row's own from now
        on.
        """
        everywhere = marking.metric == "cat"
        counts = np.ones(len(certain), np.bool_) if everywhere else certain
        counts[:1] &= (
            # at the first step nothing has been read that could make the next symbol certain
            everywhere
        )
        valid = grammar.conditionals(string[:-1]) > 0 if everywhere else None
        return cls(string[:-1], string[1:], counts, valid)

    def behind(self, start: int) -> Row:
        """Without its first steps."""
        valid = None if self.valid is None else self.valid[start:]
        return Row(self.inputs[start:], self.targets[start:], self.counts[start:], valid)


class Block:
    """Rows side by side: (time, row) inputs, targets, mask of scored steps, mask of steps
    without padding; (time, row, symbol) valid.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
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
    def _filled(rows: Sequence[Row], name: str, whole: NDArray[Any]) -> NDArray[Any]:
        for place, row in zip(whole, rows, strict=True):
            place[: len(row.inputs)] = getattr(row, name)
        return whole


@dataclass(frozen=True)
class Stop:
    """Where nothing more need be asked of a list. columns: in each of them something must be wrong.
    share, allowed: where they are above 0, one string must besides have more than that share of its
    steps wrong, and all together more than so many. least: strings that are asked anyway. Without
    columns everything is asked.
    """

    columns: tuple[str, ...] = ()
    share: float = 0.0
    allowed: float = 0.0
    least: int = 0

    @classmethod
    def of(
        cls,
        upto: str,
        marking: Marking,
        grammar: Any,
        strings: Iterable[NDArray[np.int8]],
        least: int,
    ) -> Stop:
        """upto: `whole`; `decided`: where no margin can be kept any more, and `least` have been
        asked; `first-wrong`: the first that is wrong, by every column.
        """
        if upto == "whole":
            return cls()
        columns, share = tuple(marking.columns()), max(marking.margins)
        if upto == "first-wrong" or marking.metric == "cat" or not share:
            return cls(columns, least=0 if upto == "first-wrong" else least)
        if isinstance(strings, TestList) and isinstance(grammar, Counting):
            total = int(grammar.certain(strings.values).sum())
        else:
            total = sum(int((grammar.likely(string)[1:] == 1).sum()) for string in strings)
        return cls(columns, share, forgiven(share, total), least)

    def cut(self, so_far: Outcomes) -> int | None:
        """After how many strings it is reached; None where it is not."""
        if not self.columns:
            return None
        reached = [so_far[column] > 0 for column in self.columns]
        if self.share:
            wrong = so_far[self.columns[0]]
            reached += [
                wrong > forgiven(self.share, so_far["steps"]),
                np.cumsum(wrong) > self.allowed,
            ]
        places = [int(np.argmax(one)) + 1 for one in reached if one.any()]
        if len(places) < len(reached) or len(so_far["steps"]) < self.least:
            return None
        return max(*places, self.least)


def judged(
    pupil: Any,
    lists: Iterable[Iterable[NDArray[np.int8]]],
    task: Any,
    rngs: Iterable[np.random.Generator],
) -> list[Outcomes]:
    """As `outcomes`, of a list for each lane, for the two other setups. `valid`: a step is wrong
    unless the values of exactly those symbols that may follow are above a half. `accept`: every
    string is asked together with one that is not of the language, from the lane's generator.
    """
    return [
        _judged(pupil, lane, strings, task, rng)
        for lane, (strings, rng) in enumerate(zip(lists, rngs, strict=True))
    ]


def _judged(
    pupil: Any, lane: int, strings: Iterable[NDArray[np.int8]], task: Any, rng: np.random.Generator
) -> Outcomes:
    parts: list[Outcomes] = []
    pairs = task.setup == "accept"
    for some in exam_groups(strings):
        asked = (
            [other for string in some for other in (string, task.corrupted(rng, string))]
            if pairs
            else some
        )
        exam = Exam([task.examples(asked)] * pupil.lanes)
        scores, targets = np.asarray(face(pupil, Answering).answer(exam))[lane], exam.targets[lane]
        wrong = (
            largest(scores) != targets
            if pairs
            else ((scores > 0.5) != (targets > 0.5)).any(axis=-1)
        )
        numbers = exam.positions[0, :, 1] // (1 + pairs)
        part = {"size": np.array([task.grammar.size(string) for string in some])}
        parts.append(
            {
                **part,
                "steps": np.bincount(numbers),
                "wrong": np.bincount(numbers, wrong).astype(np.int64),
            }
        )
    return joined(parts)


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """One after another."""
    return (
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
    )


class ByExam:
    """By whole strings, for pupils to whom a step costs as much as all before it."""

    def __init__(self, pupil: Any, marking: Marking) -> None:
        self._pupil, self._marking = pupil, marking

    def grouped(self, strings: Iterator[NDArray[np.int8]]) -> Iterator[list[NDArray[np.int8]]]:
        """For one exam after another."""
        return exam_groups(strings)

    def keep(self, lanes: Sequence[int]) -> bool:
        """An exam is for all lanes."""
        return False

    def __call__(self, rows: Sequence[Row]) -> Outcomes:
        """(lane, string) wrong steps, and bits."""
        block, lanes = Block(rows), self._pupil.lanes
        asked = block.inside if self._marking.everywhere else block.counts
        examples = Examples(
            block.inputs.astype(np.int32), block.targets.astype(np.int32), asked, block.lengths
        )
        exam = Exam([examples] * lanes)
        scores = np.asarray(self._pupil.answer(exam))
        times, numbers = exam.positions[0].T
        if scores.shape[:2] != (lanes, len(times)):
            raise LearnerFault(
                f"answer must give scores of shape ({lanes}, {len(times)}, outputs), got"
                f" {scores.shape}"
            )
        valid = None if block.valid is None else block.valid[times, numbers]
        marks = self._marking.mark(
            scores,
            self._pupil.scale,
            block.targets[times, numbers],
            valid,
            block.counts[times, numbers],
        )
        whole = len(block.lengths)
        return {
            name: (
                np.stack([np.bincount(numbers, own, whole) for own in found]).astype(
                    float if name == "bits" else int
                )
            )
            for name, found in marks.items()
        }
