"""Learning from the reward of decisions that do not affect the observations: a policy
gradient over whole sequences at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.errors import UsageError
from quickstudy.base.exchange import Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import jax, jnp, lax
from quickstudy.learners.adam import Adam, AdamPupil

PAYOFF = "payoff"
"""The loss of a lesson whose targets are what every decision would bring."""


@training("bandit", version=1)
@dataclass(frozen=True)
class Bandit:
    """Policy gradient on single decisions: an action is sampled at every question and only its
    reward is shown.

    Of the payoffs in a lesson only the one of the sampled action is read. It is for lessons of
    payoffs (`teaching=payoff` of the games), where an action changes nothing that is seen later, so
    that all of a sequence can be decided at once.

    Source: Williams 1992, with a learned baseline; the likelihood estimate is ours.

    Parameters
    ----------
    rate:
        Step size of Adam.
    batch:
        Episodes per update.
    entropy:
        Weight of the policy's entropy; for `gradient`.
    value:
        Weight of the squared error of the baseline; for `gradient`.
    schedule:
        As for `adam`.
    clip:
        Largest norm of a gradient; 0 for no limit.
    estimate:
        `gradient`: the policy gradient with the baseline. `likelihood`, for games that are won or
        lost: an action's score is its predicted probability to win, and the loss is minus the
        log-likelihood of the outcome (a win is a reward above 0). With two actions this is as
        informative as a teacher, with more it is not.
    rebuild:
        Weight of an auxiliary loss, as for `adam`.
    foretell:
        Weight of an auxiliary loss, as for `adam`.
    numbers:
        As for `adam`.
    bits:
        As for `adam`.
    """

    rate: float = parameter(0.001, above=0)
    batch: int = parameter(16, at_least=1)
    entropy: float = parameter(0.005, at_least=0)
    value: float = parameter(0.5, at_least=0)
    schedule: str = parameter("late", choices=("constant", "cosine", "late"))
    clip: float = parameter(1.0, at_least=0)
    estimate: str = parameter("gradient", choices=("gradient", "likelihood"), added=True)
    rebuild: float = parameter(0.0, at_least=0, added=True)
    foretell: float = parameter(0.0, at_least=0, added=True)
    numbers: int = parameter(0, at_least=0, added=True)
    bits: int = parameter(0, at_least=0, added=True)

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
    """Models in training; with the policy gradient, the output after those of the decisions is
    the baseline.
    """

    def __init__(
        self, training: Bandit, core: CoreSpec, brief: Brief, streams: Sequence[Streams]
    ) -> None:
        plain = Adam(
            rate=training.rate,
            batch=training.batch,
            passes=1,
            among="all",
            schedule=training.schedule,
            clip=training.clip,
            rebuild=training.rebuild,
            foretell=training.foretell,
            numbers=training.numbers,
            bits=training.bits,
        )
        by_gradient = training.estimate == "gradient"
        super().__init__(
            plain, core, brief, streams, [plain] * len(streams), further=int(by_gradient)
        )
        self.reads_streams = True
        self._losses = Drawn(training.entropy, training.value) if by_gradient else won_or_lost
        # It throws dice, whether its core does or not.
        self._keys = jnp.stack([jax.random.key_data(stream.jax("noise")) for stream in streams])

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """All updates whose batch fills up between start and stop."""
        if lesson.item != "example":
            raise UsageError("bandit learns from whole examples, not from single questions")
        self._learn_stream(lesson, start, stop)


@dataclass(frozen=True)
class Drawn:
    """The loss at every question, (question,), from outputs (question, decision + 1), payoffs
    (question, decision) and a key, by which a decision is drawn.
    """

    entropy: float
    value: float

    def __call__(self, outputs: Any, payoffs: Any, key: Any) -> Any:
        """A surrogate: its gradient is the policy's."""
        logs, expected = jax.nn.log_softmax(outputs[:, :-1]), outputs[:, -1]
        drawn = jax.random.categorical(key, lax.stop_gradient(logs))[:, None]
        brought, chance = (
            jnp.take_along_axis(rows, drawn, axis=1)[:, 0] for rows in (payoffs, logs)
        )
        spread = -(jnp.exp(logs) * logs).sum(axis=1)
        surprise = brought - expected
        return (
            self.value * jnp.square(surprise)
            - lax.stop_gradient(surprise) * chance
            - self.entropy * spread
        )


def won_or_lost(outputs: Any, payoffs: Any, key: Any) -> Any:
    """(question,): minus the logarithm of the probability of what has happened, from outputs and
    payoffs (question, decision): that the decision that was drawn wins, or that another would have.
    """
    logs = jax.nn.log_softmax(outputs)
    drawn = jax.nn.one_hot(
        jax.random.categorical(key, lax.stop_gradient(logs)), logs.shape[1], dtype=bool
    )
    won = jnp.where(drawn, payoffs, 0.0).sum(axis=1) > 0
    held_likely = jnp.where(drawn == won[:, None], logs, -jnp.inf)
    return -jax.nn.logsumexp(held_likely, axis=1)
