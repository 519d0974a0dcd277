"""Recursive least squares: the readout that ridge regression would give on everything seen so far, after every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from quickstudy.base.catalogue import training
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.gateway import jnp
from quickstudy.learners.readout import ReadoutPupil, check_frozen, one_hot
from quickstudy.learners.sgd import among_seen


class SquaresState(NamedTuple):
    """weights (V, F+1), the last column the bias; inverse (F+1, F+1), of the regularised second moment; forgetting;
    classes (V,): symbols that have been answers, or all outputs when they are real numbers.
    """

    weights: Any
    inverse: Any
    forgetting: Any
    classes: Any


@dataclass(frozen=True)
class SquaresRule:
    """k = P z / (f + z P z), W <- W + (y - W z) k, P <- (P - k (P z)) / f, with z the features and a constant 1."""

    @property
    def peek(self) -> bool:
        """Never."""
        return False

    def prepare(self, state: SquaresState, rows: Any, targets: Any, counted: Any) -> SquaresState:
        """Nothing: the rule is online."""
        return state

    def update(self, state: SquaresState, row: Any, target: Any) -> SquaresState:
        """One rank-one change of the inverse."""
        features = jnp.append(row, 1.0)
        spread = state.inverse @ features
        gain = spread / (state.forgetting + features @ spread)
        wrong = one_hot(target, len(state.weights)) - state.weights @ features
        inverse = (state.inverse - gain[:, None] * spread) / state.forgetting
        classes = state.classes | (one_hot(target, len(state.weights)) > 0)
        return state._replace(weights=state.weights + wrong[:, None] * gain, inverse=inverse, classes=classes)

    @property
    def scale(self) -> str:
        """The largest wins; no probabilities are meant."""
        return "order"

    def scores(self, state: SquaresState, rows: Any) -> Any:
        """The regression's values; a symbol that has not been seen never wins."""
        return among_seen(state.classes, rows @ state.weights[:, :-1].T + state.weights[:, -1])

    def trained(self, state: SquaresState) -> int:
        """The weights; the inverse is memory of the past, not a parameter of the answer."""
        return int(state.weights.size)


@training("rls", version=1)
@dataclass(frozen=True)
class RecursiveLeastSquares:
    """Recursive least squares readout: ridge regression on all questions so far, renewed after each.

    ridge: strength of the prior that weights are zero; below 0.001 float32 loses the inverse (measured on NARMA-10:
    errors ten times too large at 1e-6). forgetting: weight of the past per question, 1 keeps all.
    passes: times the material is shown (more than 1 counts it several times). Symbols are one-hot targets.
    """

    ridge: float = parameter(1.0, at_least=1e-3)
    forgetting: float = parameter(1.0, above=0, at_most=1)
    passes: int = parameter(1, at_least=1)

    batch: ClassVar[int] = 1
    programs: ClassVar[int] = 4
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """Reservoirs only."""
        check_frozen("rls", core)

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ReadoutPupil:
        """A fresh pupil, for symbols or real numbers."""

        def start(features: int) -> SquaresState:
            weights = jnp.zeros((brief.outputs.width, features + 1))
            known = jnp.full(brief.outputs.width, not isinstance(brief.outputs, Tokens))
            return SquaresState(weights, jnp.eye(features + 1) / self.ridge, jnp.float32(self.forgetting), known)

        return ReadoutPupil(core, SquaresRule(), start, brief, streams)
