"""Learning from the reward of one's own decisions where they change nothing that is seen: a policy gradient over whole
sequences at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import training
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.gateway import jax, jnp, lax
from quickstudy.learners.adam import Adam, AdamPupil

PAYOFF = "payoff"
"""The loss of a lesson whose targets are what every decision would bring."""


@training("bandit", version=1)
@dataclass(frozen=True)
class Bandit:
    """Decides at every question by chance, as its scores say, and is told what that has brought, and nothing else.

    An update from a batch of sequences: decisions that brought more than was expected become likelier, by the policy
    gradient, and what is expected moves to what came. No right answer is shown: of the payoffs in a lesson the one of
    the decision that was drawn is read, and no other. rate, batch, schedule, clip: as for `adam`. entropy: weight of
    the policy's entropy, which keeps it deciding by chance. value: weight of the expectation's squared error.

    For lessons of payoffs only (the games family's `teaching=payoff`): there a decision changes nothing that is seen
    later, so that all of a sequence can be decided at once. Source: Williams 1992, with a learned baseline.
    """

    rate: float = parameter(0.001, above=0)
    batch: int = parameter(16, at_least=1)
    entropy: float = parameter(0.005, at_least=0)
    value: float = parameter(0.5, at_least=0)
    schedule: str = parameter("late", choices=("constant", "cosine", "late"))
    clip: float = parameter(1.0, at_least=0)

    programs: ClassVar[int] = 2
    passes: ClassVar[int] = 1
    by_question: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = (PAYOFF,)
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """Any core: of a reservoir, only the head is trained."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> BanditPupil:
        """A fresh pupil."""
        return BanditPupil(self, core, brief, streams)


class BanditPupil(AdamPupil):
    """Models in training; the last output is what it expects."""

    def __init__(self, training: Bandit, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> None:
        plain = Adam(
            rate=training.rate, batch=training.batch, passes=1, among="all", schedule=training.schedule,
            clip=training.clip,
        )  # fmt: skip
        super().__init__(plain, core, brief, streams, [plain] * len(streams), further=1)
        self.reads_streams = True
        self._losses = Drawn(training.entropy, training.value)
        # It throws dice, whether its core does or not.
        self._keys = jnp.stack([jax.random.key_data(stream.jax("noise")) for stream in streams])

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """All updates whose batch fills up between start and stop."""
        if lesson.item != "example":
            raise UsageError("bandit learns from whole examples, not from single questions")
        self._learn_stream(lesson, start, stop)

    def answer(self, exam: Exam) -> NDArray[np.float32]:
        """(lane, question, output) logits."""
        return self._answered(exam)[..., :-1]

    def _read(self, state: Any, inputs: Any, program: Any, axis: int) -> tuple[Any, NDArray[Any]]:
        state, scores = super()._read(state, inputs, program, axis)
        return state, scores[..., :-1]


@dataclass(frozen=True)
class Drawn:
    """The loss at every question, (question,), from outputs (question, decision + 1), payoffs (question, decision) and
    a key, by which a decision is drawn.
    """

    entropy: float
    value: float

    def __call__(self, outputs: Any, payoffs: Any, key: Any) -> Any:
        """A surrogate: its gradient is the policy's."""
        logs, expected = jax.nn.log_softmax(outputs[:, :-1]), outputs[:, -1]
        drawn = jax.random.categorical(key, lax.stop_gradient(logs))[:, None]
        brought, chance = (jnp.take_along_axis(rows, drawn, axis=1)[:, 0] for rows in (payoffs, logs))
        spread = -(jnp.exp(logs) * logs).sum(axis=1)
        surprise = brought - expected
        return self.value * jnp.square(surprise) - lax.stop_gradient(surprise) * chance - self.entropy * spread
