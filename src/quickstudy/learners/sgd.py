"""Online stochastic gradient descent on a softmax readout, as the paper of the language tasks writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from quickstudy.base.catalogue import training
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.gateway import jax, jnp
from quickstudy.learners.readout import ReadoutPupil, check_frozen
from quickstudy.learners.standard import Statistics
from quickstudy.learners.trained import Usual


class GradientState(NamedTuple):
    """weights (V, F) and bias (V,) on standardised features; rate and decay as arrays; classes (V,): seen so far.

    A symbol that has never been an answer is never given as one: with weights still near zero it would often win.
    """

    weights: Any
    bias: Any
    statistics: Statistics
    rate: Any
    decay: Any
    classes: Any


def gradient_state(features: int, outputs: int, rate: float, decay: float, known: bool = False) -> GradientState:
    """Zero weights, nothing seen; known: all classes count as seen from the start."""
    return GradientState(
        jnp.zeros((outputs, features)),
        jnp.zeros(outputs),
        Statistics.empty(features),
        jnp.float32(rate),
        jnp.float32(decay),
        jnp.full(outputs, known),
    )


def among_seen(classes: Any, scores: Any) -> Any:
    """Scores with those of other classes put out of reach."""
    return jnp.where(classes, scores, -1e30)


@dataclass(frozen=True)
class SoftmaxRule:
    """w_c <- (1 - rate decay) w_c + rate (1[y = c] - p_c) z, with z the standardised features and p the softmax over
    the classes seen so far. plain: z are the features as they are.
    """

    plain: bool = False

    @property
    def peek(self) -> bool:
        """Never."""
        return False

    def prepare(self, state: GradientState, rows: Any, targets: Any, counted: Any) -> GradientState:
        """Nothing: the rule is online."""
        return state

    def update(self, state: GradientState, row: Any, target: Any) -> GradientState:
        """Statistics first, so that the very first row has some. Empty ones leave a row as it is."""
        statistics = state.statistics if self.plain else state.statistics.seen(row)
        features = statistics.standardised(row)
        classes = state.classes.at[target].set(True)
        chances = jax.nn.softmax(state.weights @ features + state.bias, where=classes)
        wrong = jax.nn.one_hot(target, len(state.bias)) - chances
        weights = (1.0 - state.rate * state.decay) * state.weights + state.rate * wrong[:, None] * features
        bias = state.bias + state.rate * wrong
        return state._replace(weights=weights, bias=bias, statistics=statistics, classes=classes)

    @property
    def scale(self) -> str:
        """A softmax makes probabilities of them."""
        return "logits"

    def scores(self, state: GradientState, rows: Any) -> Any:
        """Logits; a class that has not been seen never wins."""
        return among_seen(state.classes, state.statistics.linear(state.weights, state.bias, rows))

    def trained(self, state: GradientState) -> int:
        """Weights and bias."""
        return int(state.weights.size + state.bias.size)


@training("sgd", version=1)
@dataclass(frozen=True)
class OnlineSoftmax:
    """Online softmax readout: one gradient step of cross-entropy per question.

    rate: step size. decay: L2 strength on the weights. passes: times the material is shown (1: each example once;
    more is replay; for whole strings, 10). Features are standardised by running statistics, and a symbol that has never
    been an answer is never given as one; plain: as printed, neither. Source: Cisneros et al. 2022, Table 6.
    """

    rate: float = parameter(0.001, above=0)
    decay: float = parameter(0.001, at_least=0)
    passes: int = parameter(1, at_least=1)
    plain: bool = False

    batch: ClassVar[int] = 1
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    programs: ClassVar[int] = 4
    usual_for: ClassVar[tuple[Usual, ...]] = (Usual("symbols", frozen=True), Usual("strings", frozen=True))
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {"strings": {"passes": 10}}
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"written": {"plain": True}}

    def check_core(self, core: CoreSpec) -> None:
        """Reservoirs only."""
        check_frozen("sgd", core)

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ReadoutPupil:
        """A fresh pupil."""

        def start(features: int) -> GradientState:
            return gradient_state(features, brief.outputs.width, self.rate, self.decay, known=self.plain)

        return ReadoutPupil(core, SoftmaxRule(self.plain), start, brief, streams)
