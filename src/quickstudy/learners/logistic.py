"""One-vs-rest logistic readout by stochastic gradient descent, as the published programs train it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.catalogue import training
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.gateway import jax, jnp
from quickstudy.learners.readout import ReadoutPupil, check_frozen
from quickstudy.learners.sgd import GradientState, among_seen, gradient_state
from quickstudy.learners.standard import Statistics
from quickstudy.learners.trained import Usual


@dataclass(frozen=True)
class OneVersusRestRule:
    """For every class c with y = +1 or -1: w_c <- (1 - rate decay) w_c - rate d/dw log(1 + exp(-y (w_c z + b_c))).

    peek: standardise by the statistics of the whole lesson, and allow only its classes, before the first update.
    With two classes the two regressions are mirror images: the same decisions as one binary regression.
    """

    peek: bool

    def prepare(self, state: GradientState, rows: Any, targets: Any, counted: Any) -> GradientState:
        """The published programs look at the whole training set first."""
        seen = jnp.zeros_like(state.classes).at[targets].max(counted)
        return state._replace(statistics=Statistics.whole(rows, counted), classes=seen)

    def update(self, state: GradientState, row: Any, target: Any) -> GradientState:
        """All classes at once."""
        statistics = state.statistics if self.peek else state.statistics.seen(row)
        features = statistics.standardised(row)
        sign = 2.0 * jax.nn.one_hot(target, len(state.bias)) - 1.0
        push = sign * jax.nn.sigmoid(-sign * (state.weights @ features + state.bias))
        weights = (1.0 - state.rate * state.decay) * state.weights + state.rate * push[:, None] * features
        classes = state.classes.at[target].set(True)
        return state._replace(
            weights=weights, bias=state.bias + state.rate * push, statistics=statistics, classes=classes
        )

    @property
    def scale(self) -> str:
        """The largest wins; no probabilities are meant."""
        return "order"

    def scores(self, state: GradientState, rows: Any) -> Any:
        """Decision values; a class that has not been seen never wins."""
        return among_seen(state.classes, state.statistics.linear(state.weights, state.bias, rows))

    def trained(self, state: GradientState) -> int:
        """Weights and bias."""
        return int(state.weights.size + state.bias.size)


@training("logistic", version=2)
@dataclass(frozen=True)
class OnlineLogistic:
    """Online one-vs-rest logistic readout: one gradient step per question and class.

    rate: step size. decay: L2 strength on the weights, none on the intercept. passes: times the material is shown.
    peek: standardise features by the whole training set before the first update and count only its classes, as the
    published programs do; otherwise by running statistics. Source: the programs of Cisneros et al. 2022.
    """

    rate: float = parameter(0.001, above=0)
    decay: float = parameter(0.001, at_least=0)
    passes: int = parameter(1, at_least=1)
    peek: bool = False

    batch: ClassVar[int] = 1
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    programs: ClassVar[int] = 4
    usual_for: ClassVar[tuple[Usual, ...]] = (Usual("symbols", frozen=True, convention="published"),)
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"peek": True}}

    def check_core(self, core: CoreSpec) -> None:
        """Reservoirs only."""
        check_frozen("logistic", core)

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ReadoutPupil:
        """A fresh pupil."""

        def start(features: int) -> GradientState:
            return gradient_state(features, brief.outputs.width, self.rate, self.decay)

        return ReadoutPupil(core, OneVersusRestRule(self.peek), start, brief, streams)
