"""The learner under test, in a recording wrapper, and its material: a lesson, the same with
shuffled answers, and exams made from one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, Learner, name_of, pace_of
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import ExampleTask, asked_of, spaces_of
from quickstudy.learners.host import Hosted
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.lookahead_check import disturbed
from quickstudy.learners.resolved_learner import Choice
from quickstudy.testing.check_result import Broken, as_bytes

_GUARDED = ("learn", "predict", "act", "states")


ROUNDING = 1e-6
"""Scores of a compiled learner may differ by this much, relative to the largest, where nothing has
changed.
"""


class Shield:
    """Passes copies on to a host learner. changed: which method has written into what it was
    handed, if any.

    Without it a learner that changes its inputs would fail every check; with it, the one that is
    about that.
    """

    def __init__(self, host: Any) -> None:
        self.host = host
        self.changed = ""

    @property
    def called(self) -> str:
        """As the host is."""
        return name_of(self.host)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.host, name)
        return partial(self._guarded, name, found) if name in _GUARDED else found

    def _guarded(self, name: str, method: Any, *given: Any, **named: Any) -> Any:
        copies = [_copied(value) for value in given]
        # The host may return the array that it was given.
        result = _copied(method(*copies, **named))
        if as_bytes(copies) != as_bytes(given):
            self.changed = name
        return result


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copied(part) for name, part in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


@dataclass(frozen=True)
class Examinee:
    """A learner, the tolerance for its answers, and the glass in front of it if it is a host
    learner.
    """

    learner: Learner
    tolerance: float
    shields: list[Shield]

    @classmethod
    def of(cls, learner: Any, task: Any) -> Examinee:
        """The learner of a name, a `Choice`, a learner with `begin`, or a host class made by
        make(brief, seed).
        """
        choice = (
            choose_learner(learner, "corrected", task, asked_of(task))
            if isinstance(learner, str)
            else learner
        )
        made: Any = choice.make(task) if isinstance(choice, Choice) else choice
        shields: list[Shield] = []
        if not isinstance(made, Hosted) and callable(getattr(made, "begin", None)):
            return cls(
                configure(made.__name__, made, {}) if isinstance(made, type) else made,
                ROUNDING,
                shields,
            )
        hosted = made if isinstance(made, Hosted) else Hosted(made, made)

        def shielded(brief: Any, seed: int) -> Any:
            shields.append(Shield(hosted.make(brief, seed)))
            return shields[-1]

        return cls(replace(hosted, make=shielded), 0.0, shields)

    @property
    def passes(self) -> int:
        """How often it is shown its material."""
        return pace_of(self.learner).passes

    @property
    def stride(self) -> int:
        """Items after which something may have changed."""
        return pace_of(self.learner).stride

    def close(self) -> None:
        """Let all host learners close what they have opened."""
        for shield in self.shields:
            with contextlib.suppress(Exception):  # the findings are valid even if closing fails
                getattr(shield.host, "close", lambda: None)()

    def check_unchanged(self) -> None:
        """Broken if a host learner wrote into what it was handed."""
        changed = sorted({shield.changed for shield in self.shields} - {""})
        if changed:
            raise Broken(
                f"{' and '.join(changed)} wrote into the arrays passed in; copy them first"
            )


@dataclass(frozen=True)
class CheckMaterial:
    """All that a check needs of a task, drawn from one set of streams."""

    streams: Streams
    brief: Brief
    lesson: Lesson
    shuffled: Lesson
    exam: Exam

    @classmethod
    def of(cls, task: Any, passes: int, sequences: int, seed: int) -> CheckMaterial:
        """`sequences` examples to learn from, `passes` times over, and a third as many to be tested
        on.

        Of a series, the part for training is one example, and that for the test another.
        """
        streams = Streams(seed, getattr(task, "id", type(task).__name__), 0)
        if isinstance(task, ExampleTask):
            train = task.sample(streams.numpy("data"), sequences)
            test = task.sample(streams.numpy("split"), max(8, sequences // 3))
        else:
            series = task.drive(streams.numpy("data"))
            train, test = series.part("training"), series.part("test")
        rng = streams.numpy("order")
        order = np.concatenate([rng.permutation(train.count) for _ in range(passes)])[None]
        inputs, outputs = spaces_of(task)
        loss = "cross-entropy" if isinstance(outputs, Tokens) else "squared"
        return cls(
            streams,
            Brief(inputs, outputs, loss, train.steps, order.shape[1]),
            Lesson([train], order),
            Lesson([_with_shuffled_answers(train, rng)], order),
            Exam([test]),
        )

    def disturbed(self, rng: np.random.Generator) -> tuple[Exam, NDArray[np.bool_]]:
        """The exam with all changed from the answer of a random question of each example on; the
        questions up to there.
        """
        cuts = np.array(
            [rng.choice(np.flatnonzero(asked)) for asked in self.exam.examples[0].asked.T]
        )
        exam, early = disturbed(self.exam, [cuts], self.brief, rng)
        return exam, early[0]

    def reversed(self) -> tuple[Exam, NDArray[np.int64]]:
        """The exam with its examples in reverse order, and the position of each of its
        questions there.
        """
        test = self.exam.examples[0]
        exam = Exam([test.take(np.arange(test.count)[::-1]).padded(test.steps)])
        positions = exam.positions[0].copy()
        positions[:, 1] = test.count - 1 - positions[:, 1]
        return exam, np.lexsort((positions[:, 0], positions[:, 1]))


def _with_shuffled_answers(examples: Examples, rng: np.random.Generator) -> Examples:
    targets = examples.targets.copy()
    targets[examples.asked] = rng.permutation(targets[examples.asked])
    return replace(examples, targets=targets)
