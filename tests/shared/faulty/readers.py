"""Learners that answer and also step, show their states, can be kept, or say what their scores
mean; with a fault of choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faulty.learners import Table
from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, Cost, Snapshot
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.host import HostPupil


class _Pairs:
    """Remembers which answer followed a pair of tokens last. The score of it is 1; the token before
    has 0.1 more.
    """

    def __init__(self, brief: Brief, seed: int, fault: str) -> None:
        tokens, self._width, self._fault = brief.inputs.width, brief.outputs.width, fault
        self._table = np.random.default_rng(seed).integers(self._width, size=(tokens, tokens))

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        for before, token, answer in zip(_before(inputs), inputs, targets, strict=True):
            if answer >= 0:
                self._table[before, token] = answer

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return self._scores(_before(inputs), inputs)

    def start(self, rows: int, capacity: int) -> NDArray[Any]:
        return np.zeros(rows, dtype=np.int64)

    def step(self, state: NDArray[Any], inputs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        scores = self._scores(0 * state if self._fault == "steps" else state, inputs)
        if self._fault == "one state":
            state[:] = inputs
            return state, scores
        return np.array(inputs), scores

    def rows(self, state: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
        """With the fault `rows`, the first ones."""
        return state[: len(numbers)].copy() if self._fault == "rows" else state[numbers]

    def states(self, inputs: NDArray[Any]) -> NDArray[Any]:
        if self._fault == "looked at":
            self._table[:] = 0
        states = np.stack([_before(inputs), inputs], axis=1).astype(np.float64)
        faulty = {
            "last state": states[-1:],
            "ahead": states[::-1],
            "not finite": np.full_like(states, np.inf),
        }
        return faulty.get(self._fault, states)

    def snapshot(self) -> Snapshot:
        return Snapshot({"table": self._table.copy()})

    def restore(self, snapshot: Snapshot) -> None:
        """With the fault `forgets`, nothing."""
        if self._fault != "forgets":
            self._table = np.array(snapshot.arrays["table"])

    def _scores(self, before: NDArray[Any], tokens: NDArray[Any]) -> NDArray[Any]:
        marks = np.eye(self._width)
        return np.asarray(marks[self._table[before, tokens]] + 0.1 * marks[before % self._width])


def _before(tokens: NDArray[Any]) -> NDArray[Any]:
    return np.append(0, tokens[:-1])


class _PairsPupil(HostPupil):
    """Steps as its host does, in one lane."""

    def __init__(self, host: _Pairs, brief: Brief) -> None:
        super().__init__(host, brief)
        self.start, self.rows, self.step = host.start, host.rows, self._one_step

    def _one_step(self, state: Any, inputs: Any) -> tuple[Any, NDArray[Any]]:
        state, scores = self.host.step(state, inputs[0])  # type: ignore[attr-defined]
        return state, scores[None]


@dataclass(frozen=True)
class FaultyReader:
    """A table of pairs of tokens that can be stepped, looked into and kept."""

    fault: str = "none"

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> _PairsPupil:
        if not isinstance(brief.outputs, Tokens):
            raise NotApplicable("it answers with symbols")
        return _PairsPupil(_Pairs(brief, streams[0].integer("host"), self.fault), brief)


READERS = {
    "steps": "steps to the answers that it gives",
    "one state": "goes on from a state as often as it likes",
    "rows": "picks rows of a state",
    "last state": "shows a state for every step, all finite",
    "not finite": "shows a state for every step, all finite",
    "looked at": "learns nothing by being looked at",
    "ahead": "its states do not look ahead",
    "forgets": "comes back from a snapshot",
}
"""Every fault of `FaultyReader`, and the finding that is about it."""


class _Slope:
    """y = w u, with w changed a little by every error."""

    def __init__(self, brief: Brief, seed: int) -> None:
        self._slope = 0.0

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        for now, target in zip(inputs[:, 0], targets[:, 0], strict=True):
            self._slope += 0.05 * now * (target - self._slope * now)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._slope * inputs)


class _SpeakingPupil:
    """Says by itself how its scores are to be read, and offers nothing but to learn and to
    answer.
    """

    lanes = 1

    def __init__(self, host: Any, brief: Brief, fault: str) -> None:
        self._pupil, self._fault = HostPupil(host, brief), fault
        honest = "probabilities" if isinstance(brief.outputs, Tokens) else "values"
        self.scale = "loud" if fault == "scale" else honest

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        self._pupil.learn(lesson, start, stop)

    def answer(self, exam: Exam) -> NDArray[np.float64]:
        """What the host says, nine times out of ten; with a fault, a little more, or nothing that
        is a number.
        """
        scores = self._pupil.answer(exam)
        if self.scale == "probabilities":
            scores = 0.9 * scores + 0.1 / scores.shape[-1]
        return {"sum": 1.1 * scores, "not finite": np.full_like(scores, np.nan)}.get(
            self._fault, scores
        )

    def cost(self) -> list[Cost]:
        return self._pupil.cost()


@dataclass(frozen=True)
class FaultySpeaker:
    """Answers symbols by probabilities, or real numbers by values. With a fault of choice."""

    fault: str = "none"
    reals: bool = False

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> _SpeakingPupil:
        if isinstance(brief.outputs, Tokens) == self.reals:
            raise NotApplicable(f"it answers with {'real numbers' if self.reals else 'symbols'}")
        host: Any = (_Slope if self.reals else Table)(brief, streams[0].integer("host"))
        return _SpeakingPupil(host, brief, self.fault)


SPEAKERS = {
    "not finite": "answers in the right shape, all finite",
    "scale": "declares how its scores are to be read",
    "sum": "declares how its scores are to be read",
}
"""Every fault of `FaultySpeaker`, and the finding that is about it; `sum` is one of probabilities
only.
"""
