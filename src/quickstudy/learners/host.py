"""The adapter that makes a pupil of anything with `learn` and `predict`, in plain Python and NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.learner import (
    Brief,
    Cost,
    HostLearner,
    Pace,
    Snapshot,
    check_distributions,
    check_scale,
    face,
    pace_of,
)
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens, check_spaces


@dataclass(frozen=True)
class Hosted:
    """A learner made of make(brief, seed). One lane. declared: the class that says its pace and what it is for, if
    `make` is not that class itself.
    """

    make: Callable[[Brief, int], HostLearner]
    declared: Any = None

    @property
    def pace(self) -> Pace:
        """As its class says; once, and no batches, if it says nothing."""
        return pace_of(self.declared or self.make)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """A fresh host learner, seeded from the stream `host`. Raises NotApplicable for spaces that it is not for."""
        said = self.declared or self.make
        check_spaces(getattr(said, "id", getattr(said, "__name__", "")), said, brief.inputs, brief.outputs)
        if len(streams) != 1:
            raise UsageError(f"a host learner has one lane, not {len(streams)}")
        return HostPupil(self.make(brief, streams[0].integer("host")), brief)


class HostPupil:
    """Talks to a host learner, one sequence a call, and checks every answer."""

    lanes = 1

    def __init__(self, host: HostLearner, brief: Brief) -> None:
        self.host = host
        self._brief = brief
        usual = "order" if isinstance(brief.outputs, Tokens) else "values"
        self._scale = check_scale(getattr(host, "scale", usual), brief.outputs)
        self._shown = 0
        self._fixed: tuple[Exam, NDArray[np.float64]] | None = None
        for name in ("act", "states", "snapshot", "restore"):
            if hasattr(host, name):
                setattr(self, name, getattr(self, f"_{name}"))

    @property
    def scale(self) -> str:
        """As the host says; else the largest score is the answer, or scores are values."""
        return self._scale

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """Show the items one after another."""
        face(self.host, HostLearner)
        examples = lesson.examples[0]
        if lesson.item == "example":
            for index in lesson.order[0, start:stop]:
                self._show(examples, int(index), examples.asked[:, index])
        else:
            positions = Exam(lesson.examples).positions[0]
            for time, index in positions[lesson.order[0, start:stop]]:
                self._show(examples, int(index), np.arange(examples.steps) == time)
        self._shown += stop - start

    def answer(self, exam: Exam) -> NDArray[np.float64]:
        """Scores of every question; an answer that is a token becomes a score of 1 for that token.

        A host that never learns is asked once for the exam that comes again and again.
        """
        if getattr(self.host, "learns", True):
            return self._asked(exam)
        if self._fixed is None or self._fixed[0] is not exam:
            self._fixed = exam, self._asked(exam)
        return self._fixed[1].copy()

    def _asked(self, exam: Exam) -> NDArray[np.float64]:
        face(self.host, HostLearner)
        examples, positions = exam.examples[0], exam.positions[0]
        scores = np.zeros((1, len(positions), self._brief.outputs.width))
        counted = positions[exam.counted[0]]
        starts = np.flatnonzero(np.diff(counted[:, 1], prepend=-1))
        for first, last in zip(starts, [*starts[1:], len(counted)], strict=True):
            index, times = int(counted[first, 1]), counted[first:last, 0]
            inputs = _locked(examples.inputs[: times[-1] + 1, index])
            scores[0, first:last] = self._rows(self.host.predict(inputs), len(inputs))[times]
        return scores

    def cost(self) -> list[Cost]:
        """Items shown; parameters and bits where the host says them."""
        count, bits = getattr(self.host, "parameters", 0), getattr(self.host, "bits", None)
        return [Cost(self._shown, self._shown, count if isinstance(count, int) else 0, bits=bits)]

    def close(self) -> None:
        """Let the host close what it has opened."""
        getattr(self.host, "close", lambda: None)()

    def _show(self, examples: Examples, index: int, asked: NDArray[np.bool_]) -> None:
        if not asked.any():
            return
        length = int(np.flatnonzero(asked)[-1]) + 1
        targets = examples.targets[:length, index]
        nothing = -1 if np.issubdtype(targets.dtype, np.integer) else np.nan
        mask = asked[:length].reshape(-1, *[1] * (targets.ndim - 1))
        self.host.learn(_locked(examples.inputs[:length, index]), _locked(np.where(mask, targets, nothing)))

    def _rows(self, predicted: Any, length: int) -> NDArray[np.float64]:
        rows = np.asarray(predicted)
        width = self._brief.outputs.width
        if rows.shape == (length,) and isinstance(self._brief.outputs, Tokens):
            if not np.issubdtype(rows.dtype, np.integer) or rows.min() < 0 or rows.max() >= width:
                raise LearnerFault(f"predict must give tokens 0..{width - 1}, got {rows.min()}..{rows.max()}")
            return np.asarray(rows[:, None] == np.arange(width), dtype=np.float64)
        if rows.shape != (length, width):
            raise LearnerFault(f"predict must give one row per input row: ({length}, {width}), got {rows.shape}")
        if not np.isfinite(rows).all():
            raise LearnerFault("predict gave a score that is not finite")
        if self.scale == "probabilities":
            check_distributions(rows)
        return rows.astype(np.float64)

    def _act(
        self, observation: Any, reward: NDArray[np.float32], first: NDArray[np.bool_], learning: bool = True
    ) -> NDArray[Any]:
        frozen = {} if learning else {"learning": False}  # a host that cannot hold still need not know the word
        action = self.host.act(_first_lane(observation), float(reward[0]), bool(first[0]), **frozen)  # type: ignore[attr-defined]
        return np.asarray([action])

    def _states(self, inputs: NDArray[Any]) -> NDArray[Any]:
        columns = [self.host.states(_locked(inputs[:, index])) for index in range(inputs.shape[1])]  # type: ignore[attr-defined]
        return np.stack([np.asarray(column) for column in columns], axis=1)

    def _snapshot(self) -> Snapshot:
        kept = self.host.snapshot()  # type: ignore[attr-defined]
        lanes = {name: np.asarray(array)[None] for name, array in kept.arrays.items()}
        return Snapshot(lanes, {**kept.facts, "shown": self._shown})

    def _restore(self, snapshot: Snapshot) -> None:
        self._shown = int(snapshot.facts["shown"])
        lane = {name: array[0] for name, array in snapshot.arrays.items()}
        self.host.restore(Snapshot(lane, snapshot.facts))  # type: ignore[attr-defined]


def _first_lane(observation: Any) -> Any:
    """An observation without its lane axis, through all the fields it has."""
    if isinstance(observation, Mapping):
        return {name: _first_lane(part) for name, part in observation.items()}
    return observation[0]


def _locked(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to: a learner that changes its inputs would change another learner's data."""
    view = array.view()
    view.flags.writeable = False
    return view
