"""Linear readouts that learn online, one update per question: by gradient, softmax as the paper of
the language tasks writes it or one-vs-rest as its programs do, and by recursive least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from quickstudy.base.errors import UsageError
from quickstudy.base.learner import OUT_OF_REACH, Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Space, Tokens
from quickstudy.base.stated import CoreFacts, stated
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import jax, jnp, lax
from quickstudy.learners.core_with_training import Usual
from quickstudy.learners.readout import ReadoutPupil, Rule, check_frozen, one_hot


class Statistics(NamedTuple):
    """Welford's running mean and sum of squared deviations (F,), over `count` rows."""

    count: Any
    mean: Any
    squares: Any

    @classmethod
    def empty(cls, width: int) -> Statistics:
        """Nothing seen."""
        return cls(jnp.zeros(()), jnp.zeros(width), jnp.zeros(width))

    @classmethod
    def whole(cls, rows: Any, counted: Any) -> Statistics:
        """Of all counted rows, in two passes over blocks of them: a copy of all would be as large
        as all.
        """
        block = min(1024, len(rows))
        starts = jnp.arange(0, len(rows), block)

        def total(value: Any) -> Any:
            def add(sums: Any, start: Any) -> Any:
                # The last block begins early enough to be whole; what it shares with the one before
                # counts once.
                first = jnp.minimum(start, len(rows) - block)
                part = lax.dynamic_slice_in_dim(rows, first, block)
                fresh = first + jnp.arange(block) >= start
                weight = (lax.dynamic_slice_in_dim(counted, first, block) & fresh)[:, None].astype(
                    rows.dtype
                )
                return sums + (value(part) * weight).sum(axis=0), None

            return lax.scan(add, jnp.zeros(rows.shape[1], rows.dtype), starts)[0]

        count = counted.sum().astype(rows.dtype)
        mean = total(lambda part: part) / count
        return cls(count, mean, total(lambda part: (part - mean) ** 2))

    def seen(self, row: Any) -> Statistics:
        """With one more row."""
        count = self.count + 1.0
        difference = row - self.mean
        mean = self.mean + difference / count
        return Statistics(count, mean, self.squares + difference * (row - mean))

    def inverse(self) -> Any:
        """One over the population deviation; 1 for a column that has not varied."""
        variance = self.squares / jnp.maximum(self.count, 1.0)
        constant = variance <= 1e-12
        return jnp.where(constant, 1.0, lax.rsqrt(jnp.where(constant, 1.0, variance)))

    def standardised(self, row: Any) -> Any:
        """The row with the mean taken off, over the deviation."""
        return (row - self.mean) * self.inverse()

    def linear(self, weights: Any, bias: Any, rows: Any) -> Any:
        """(R, V) values of weights (V, F) on standardised rows, without standardising the rows
        themselves.
        """
        scaled = weights * self.inverse()
        # Row by row: a matrix product may round the last rows differently, and classes that are
        # level would not be.
        return rows @ scaled.T + (bias - (scaled * self.mean).sum(axis=1))


class ReadoutTraining:
    """What the online readouts have in common: reservoirs only, and a program for every kind of
    call.
    """

    id: ClassVar[str]
    batch: ClassVar[int] = 1
    programs: ClassVar[int] = 2  # to read and to update; to answer takes no time to compile
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """Reservoirs only, and none that is to be shaken."""
        check_frozen(self.id, core)
        own = stated(core, CoreFacts)
        if own.state_noise or own.input_noise:
            raise UsageError(
                f"{self.id} learns online, without noise; use +ridge, or leave the noise out"
            )


class GradientState(NamedTuple):
    """weights (V, F) and bias (V,) on standardised features; rate and decay as arrays; classes
    (V,): seen so far.

    A symbol that has never been an answer is never given as one: with weights still near zero it
    would often win.
    """

    weights: Any
    bias: Any
    statistics: Statistics
    rate: Any
    decay: Any
    classes: Any

    @classmethod
    def fresh(
        cls, features: int, outputs: int, rate: float, decay: float, known: bool = False
    ) -> GradientState:
        """Zero weights, nothing seen; known: all classes count as seen from the start."""
        weights, bias, none = (
            jnp.zeros((outputs, features)),
            jnp.zeros(outputs),
            Statistics.empty(features),
        )
        return cls(
            weights, bias, none, jnp.float32(rate), jnp.float32(decay), jnp.full(outputs, known)
        )

    def pushed(
        self, push: Any, features: Any, statistics: Statistics, classes: Any
    ) -> GradientState:
        """One step: w <- (1 - rate decay) w + rate push z, and the bias without decay."""
        weights = (1.0 - self.rate * self.decay) * self.weights + self.rate * push[
            :, None
        ] * features
        bias = self.bias + self.rate * push
        return self._replace(weights=weights, bias=bias, statistics=statistics, classes=classes)


def among_seen(classes: Any, scores: Any) -> Any:
    """Scores with those of other classes put out of reach."""
    return jnp.where(classes, scores, OUT_OF_REACH)


class GradientRule(Rule):
    """What the rules by gradient have in common: linear values of standardised features."""

    def scores(self, state: GradientState, rows: Any) -> Any:
        """Logits or decision values; a class that has not been seen never wins."""
        return among_seen(state.classes, state.statistics.linear(state.weights, state.bias, rows))

    def trained(self, state: GradientState) -> int:
        """Weights and bias."""
        return int(state.weights.size + state.bias.size)


@dataclass(frozen=True)
class SoftmaxRule(GradientRule):
    """w_c <- (1 - rate decay) w_c + rate (1[y = c] - p_c) z, with z the standardised features and p
    the softmax over the classes seen so far. plain: z are the raw features.
    """

    plain: bool = False

    scale = "logits"

    def update(self, state: GradientState, row: Any, target: Any) -> GradientState:
        """Statistics first, so that the very first row has some. Empty ones do not change a row."""
        statistics = state.statistics if self.plain else state.statistics.seen(row)
        features = statistics.standardised(row)
        classes = state.classes.at[target].set(True)
        chances = jax.nn.softmax(state.weights @ features + state.bias, where=classes)
        return state.pushed(
            jax.nn.one_hot(target, len(state.bias)) - chances, features, statistics, classes
        )


@training("sgd", version=1)
@dataclass(frozen=True)
class OnlineSoftmax(ReadoutTraining):
    """Online softmax readout: one gradient step of cross-entropy per question.

    Source: Cisneros et al. 2022, Table 6.

    Parameters
    ----------
    rate:
        Step size.
    decay:
        L2 penalty on the weights.
    passes:
        Times that the material is shown; more than 1 is replay (for whole strings, 10).
    plain:
        As printed in the paper. Otherwise features are standardised by running statistics, and a
        symbol that was never an answer is never given as one.
    """

    rate: float = parameter(0.001, above=0)
    decay: float = parameter(0.001, at_least=0)
    passes: int = parameter(1, at_least=1)
    plain: bool = False

    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    usual_for: ClassVar[tuple[Usual, ...]] = tuple(
        Usual(asked, frozen=True) for asked in ("symbols", "spans", "strings")
    )
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {"strings": {"passes": 10}}
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"written": {"plain": True}}

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ReadoutPupil:
        """A fresh pupil."""

        def start(features: int) -> GradientState:
            return GradientState.fresh(
                features, brief.outputs.width, self.rate, self.decay, known=self.plain
            )

        return ReadoutPupil(core, SoftmaxRule(self.plain), start, brief, streams)


@dataclass(frozen=True)
class OneVersusRestRule(GradientRule):
    """For every class c with y = +1 or -1: w_c <- (1 - rate decay) w_c - rate d/dw log(1 + exp(-y
    (w_c z + b_c))).

    peek: standardise by the statistics of the whole lesson, and allow only its classes, before the
    first update. With two classes the two regressions are mirror images: the same decisions as one
    binary regression. Of real targets each, cut off at 0 and 1, is a chance: b <- b + rate (target
    - sigmoid), and the answers are chances too.
    """

    peek: bool = False
    reals: bool = False

    def prepare(self, state: GradientState, rows: Any, targets: Any, counted: Any) -> GradientState:
        """The published programs look at the whole training set first."""
        seen = jnp.zeros_like(state.classes).at[targets].max(counted)
        return state._replace(statistics=Statistics.whole(rows, counted), classes=seen)

    def update(self, state: GradientState, row: Any, target: Any) -> GradientState:
        """All classes at once."""
        statistics = state.statistics if self.peek else state.statistics.seen(row)
        features = statistics.standardised(row)
        if self.reals:
            push = jnp.clip(target, 0.0, 1.0) - jax.nn.sigmoid(
                state.weights @ features + state.bias
            )
            return state.pushed(push, features, statistics, state.classes)
        sign = 2.0 * jax.nn.one_hot(target, len(state.bias)) - 1.0
        push = sign * jax.nn.sigmoid(-sign * (state.weights @ features + state.bias))
        return state.pushed(push, features, statistics, state.classes.at[target].set(True))

    def scores(self, state: GradientState, rows: Any) -> Any:
        """Decision values of symbols; of real numbers chances."""
        values = super().scores(state, rows)
        return jax.nn.sigmoid(values) if self.reals else values


@training("logistic", version=2)
@dataclass(frozen=True)
class OnlineLogistic(ReadoutTraining):
    """Online one-vs-rest logistic readout: one gradient step per question and class.

    Real targets are read as probabilities, clipped to 0 and 1, as where sequences are classified
    (there rate 0.01 and 20 passes).

    Source: the programs of Cisneros et al. 2022.

    Parameters
    ----------
    rate:
        Step size.
    decay:
        L2 penalty on the weights, not on the intercept.
    passes:
        Times that the material is shown; more than 1 is replay.
    peek:
        Standardise features by the whole training set before the first update and count only its
        classes, as the published programs do; otherwise by running statistics.
    """

    rate: float = parameter(0.001, above=0)
    decay: float = parameter(0.001, at_least=0)
    passes: int = parameter(1, at_least=1)
    peek: bool = False

    gives: ClassVar[tuple[type[Space], ...]] = (Tokens, Reals)
    usual_for: ClassVar[tuple[Usual, ...]] = (
        Usual("symbols", frozen=True, convention="published"),
    )
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {"reals": {"rate": 0.01, "passes": 20}}
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"peek": True}}

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ReadoutPupil:
        """A fresh pupil."""

        def start(features: int) -> GradientState:
            return GradientState.fresh(
                features, brief.outputs.width, self.rate, self.decay, known=reals
            )

        reals = not isinstance(brief.outputs, Tokens)
        return ReadoutPupil(
            core, OneVersusRestRule(self.peek and not reals, reals), start, brief, streams
        )


class SquaresState(NamedTuple):
    """weights (V, F+1), the last column the bias; inverse (F+1, F+1), of the regularised second
    moment; forgetting; classes (V,): symbols that have been answers, or all outputs when they are
    real numbers.
    """

    weights: Any
    inverse: Any
    forgetting: Any
    classes: Any


@dataclass(frozen=True)
class SquaresRule(Rule):
    """k = P z / (f + z P z), W <- W + (y - W z) k, P <- (P - k (P z)) / f, with z the features and
    a constant 1.
    """

    def update(self, state: SquaresState, row: Any, target: Any) -> SquaresState:
        """One rank-one change of the inverse."""
        features = jnp.append(row, 1.0)
        spread = state.inverse @ features
        gain = spread / (state.forgetting + features @ spread)
        wrong = one_hot(target, len(state.weights)) - state.weights @ features
        inverse = (state.inverse - gain[:, None] * spread) / state.forgetting
        classes = state.classes | (one_hot(target, len(state.weights)) > 0)
        return state._replace(
            weights=state.weights + wrong[:, None] * gain, inverse=inverse, classes=classes
        )

    def scores(self, state: SquaresState, rows: Any) -> Any:
        """The regression's values; a symbol that has not been seen never wins."""
        return among_seen(state.classes, rows @ state.weights[:, :-1].T + state.weights[:, -1])

    def trained(self, state: SquaresState) -> int:
        """The weights; the inverse is memory of the past, not a parameter of the answer."""
        return int(state.weights.size)


@training("rls", version=1)
@dataclass(frozen=True)
class RecursiveLeastSquares(ReadoutTraining):
    """Recursive least squares readout: ridge regression on all questions so far, updated after
    each.

    Symbols are one-hot targets.

    Parameters
    ----------
    ridge:
        Strength of the prior that weights are zero. Below 0.001 float32 loses the inverse (measured
        on NARMA-10: errors ten times too large at 1e-6).
    forgetting:
        Factor by which the past is discounted per question; 1 keeps all.
    passes:
        Times that the material is shown; more than 1 counts it several times.
    """

    ridge: float = parameter(1.0, at_least=1e-3)
    forgetting: float = parameter(1.0, above=0, at_most=1)
    passes: int = parameter(1, at_least=1)

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ReadoutPupil:
        """A fresh pupil, for symbols or real numbers."""

        def start(features: int) -> SquaresState:
            weights = jnp.zeros((brief.outputs.width, features + 1))
            known = jnp.full(brief.outputs.width, not isinstance(brief.outputs, Tokens))
            return SquaresState(
                weights, jnp.eye(features + 1) / self.ridge, jnp.float32(self.forgetting), known
            )

        return ReadoutPupil(core, SquaresRule(), start, brief, streams)
