"""What is right in a string: marks of single steps, and of strings by the setups in which symbols are not predicted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault
from quickstudy.base.learner import Answering, distribution, face
from quickstudy.base.lesson import Exam

MOST_TOKENS = 1 << 21
"""Of the strings that are put to a pupil in one exam, where it does not go step by step."""

Bools = NDArray[np.bool_]
Outcomes = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Marking:
    """What counts. metric: `det`, the likeliest symbol is the next one, where that is certain; `majority`, the next one
    has more than half of the probability, there; `cat`, at every step, exactly the symbols that may follow have more
    probability than the margin. margins: for `cat`, one column each. bits: also the cross-entropy of every string.
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
        return [f"wrong-{margin:g}" for margin in self.margins] if self.metric == "cat" else ["wrong"]

    def mark(self, scores: NDArray[Any], scale: str, targets: NDArray[Any], valid: Any, counts: Bools) -> Outcomes:
        """(time, row) marks of scores (time, row or 1, symbol)."""
        if not np.isfinite(scores).all():
            raise LearnerFault("the learner's scores are not finite: it has diverged")
        if self.metric == "det" and not self.bits:
            return {"wrong": (largest(scores) != targets) & counts}
        chances = distribution(scores, scale)
        shape = np.broadcast_shapes(chances.shape[:-1], targets.shape)
        found: Outcomes = {}
        own = np.take_along_axis(
            np.broadcast_to(chances, (*shape, chances.shape[-1])), targets[..., None].astype(np.int64), -1
        )[..., 0]
        if self.metric == "det":
            found["wrong"] = (largest(scores) != targets) & counts
        elif self.metric == "majority":
            found["wrong"] = (own <= 0.5) & counts
        else:
            for name, margin in zip(self.columns(), self.margins, strict=True):
                found[name] = ((chances > margin) != valid).any(axis=-1) & counts
        if self.bits:
            with np.errstate(divide="ignore"):
                found["bits"] = -np.log2(own)
        return found


def largest(scores: NDArray[Any]) -> NDArray[np.int8]:
    """The symbol of the largest score, the first among equals: as `argmax`, four times as fast for few symbols."""
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


def judged(pupil: Any, strings: Iterable[NDArray[np.int8]], task: Any, rng: np.random.Generator) -> Outcomes:
    """As `outcomes`, for the two other setups. `valid`: a step is wrong unless the values of exactly those symbols that
    may follow are above a half. `accept`: every string is asked with one beside it that is not of the language.
    """
    parts: list[Outcomes] = []
    pairs = task.setup == "accept"
    for some in exam_groups(strings):
        asked = [other for string in some for other in (string, task.corrupted(rng, string))] if pairs else some
        exam = Exam([task.examples(asked)])
        scores, targets = np.asarray(face(pupil, Answering).answer(exam))[0], exam.targets[0]
        wrong = largest(scores) != targets if pairs else ((scores > 0.5) != (targets > 0.5)).any(axis=-1)
        numbers = exam.positions[0, :, 1] // (1 + pairs)
        part = {"size": np.array([task.grammar.size(string) for string in some])}
        parts.append({**part, "steps": np.bincount(numbers), "wrong": np.bincount(numbers, wrong).astype(np.int64)})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
