"""Weighted average data efficiency: how early in training a learner reaches each of many
accuracies.

    WADE(a) = Σ w(α) / T(α, a)  ÷  Σ w(α)          over the thresholds α, with 1/∞ = 0

T(α, a) is the time at which the curve a first reaches the threshold α. The formula is one function
(`wade`); grid, weights, inequality and unit of time are its arguments, because they differ between
the paper and the programs that made its tables. Each combination in use has a name: `paper`,
`published-nets`, `published-reservoirs`, `published-imdb`, and our own `above-chance`.

Source: Cisneros, Sivic, Mikolov, "Benchmarking Learning Efficiency in Deep Reservoir Computing",
2022, section 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError, nearest
from quickstudy.measures.curve import Times, confirmed, step_itself, threshold_times

UNIT = "share of the greatest possible efficiency"
PRESETS = ("paper", "published-nets", "published-reservoirs", "published-imdb", "above-chance")
TOKENS_BETWEEN_EVALUATIONS = 8
"""In the published reservoir runs: one evaluation after the first token, then one every 8
tokens.
"""

MOST_THRESHOLDS = 1_000_000
"""Each takes some bytes of memory: two hundred million filled five gigabytes."""

_ROUNDING = 1e-12
_HUNDREDTHS = tuple(k / 100 for k in range(100))


def wade(
    steps: ArrayLike,
    accuracy: ArrayLike,
    *,
    thresholds: Sequence[float] | NDArray[np.float64],
    weights: Sequence[float] | NDArray[np.float64],
    strict: bool,
    time: Times = step_itself,
) -> float:
    """The weighted average of 1/T over the thresholds: 1 when all are reached at time 1, 0 when
    none ever is.

    steps, accuracy: the curve; evaluations before step 1 are ignored. thresholds, weights: equally
    many, weights not negative. strict: reached means accuracy > threshold, else ≥. time: from step
    numbers to times T.

    >>> tenths = np.arange(1, 11) / 10
    >>> round(wade([1, 2, 3], [0.2, 0.2, 0.7], thresholds=tenths, weights=tenths, strict=False), 4)
    0.2061
    """
    shares = np.asarray(weights, dtype=np.float64)
    if len(shares) != len(thresholds):
        raise UsageError(
            f"there must be one weight per threshold, got {len(shares)} and {len(thresholds)}"
        )
    if not (np.all(shares >= 0) and 0 < shares.sum() < np.inf):
        raise UsageError("weights must be finite, not negative, and not all 0")
    times = threshold_times(steps, accuracy, thresholds, strict=strict, time=time)
    return mean_efficiency(shares, times)


def mean_efficiency(weights: NDArray[np.float64], times: NDArray[np.float64]) -> float:
    """The weighted average of 1/T: what `wade` is once the times are known."""
    return math.fsum((weights / times).tolist()) / math.fsum(weights.tolist())


@dataclass(frozen=True)
class Preset:
    """A complete choice of what `wade` leaves open.

    thresholds, weights, strict, time: as in `wade`. confirm: a threshold counts as reached only if
    the following evaluation reaches it as well (the last evaluation needs only itself).
    """

    id: str
    thresholds: tuple[float, ...]
    weights: tuple[float, ...]
    strict: bool
    time: Times = step_itself
    confirm: bool = False

    def times(self, steps: ArrayLike, accuracy: ArrayLike) -> NDArray[np.float64]:
        """T for every threshold, inf where it is never reached."""
        return threshold_times(
            steps, self._curve(accuracy), self.thresholds, strict=self.strict, time=self.time
        )

    def score(self, steps: ArrayLike, accuracy: ArrayLike) -> float:
        """WADE of a curve."""
        curve = self._curve(accuracy)
        return wade(
            steps,
            curve,
            thresholds=self.thresholds,
            weights=self.weights,
            strict=self.strict,
            time=self.time,
        )

    def _curve(self, accuracy: ArrayLike) -> ArrayLike:
        return confirmed(accuracy) if self.confirm else accuracy


def paper(count: int = 10, time: Times = step_itself) -> Preset:
    """The formula as printed: thresholds 1/count, 2/count ... 1, each its own weight, reached at ≥,
    T = step.
    """
    if not 1 <= count <= MOST_THRESHOLDS:
        wanted = "at least 1" if count < 1 else f"at most {MOST_THRESHOLDS:,}"
        raise UsageError(
            f"the number of thresholds must be {wanted}, got {count}; usual are 10 and 100"
        )
    # A quotient of whole numbers is the float nearest to the decimal fraction: 7/10 is 0.7, while 7
    # * 0.1 is not.
    grid = tuple(k / count for k in range(1, count + 1))
    return Preset("paper", grid, grid, strict=False, time=time)


def published_nets() -> Preset:
    """What scored the trained networks: thresholds 0, 0.01 ... 0.99, each its own weight, reached
    at >, T = step.

    A step there is one update of the weights from 8 sequences, so that T is counted in units of 8
    sequences.
    """
    return Preset("published-nets", _HUNDREDTHS, _HUNDREDTHS, strict=True)


def published_reservoirs(tokens_per_sequence: float) -> Preset:
    """What scored the reservoirs: as `published_nets`, but T = 1 + (step - 1) 8 / m, counted in
    sequences.

    m is the mean number of supervised tokens in a sequence. A step is one evaluation: the first
    comes after a single token, the others 8 tokens apart.
    """
    if not 0 < tokens_per_sequence < np.inf:
        raise UsageError(
            f"tokens per sequence must be a number above 0, got {tokens_per_sequence}; "
            "give the mean number of supervised tokens in a sequence of the task"
        )

    def sequences(steps: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1 + (steps - 1) * TOKENS_BETWEEN_EVALUATIONS / tokens_per_sequence

    return Preset("published-reservoirs", _HUNDREDTHS, _HUNDREDTHS, strict=True, time=sequences)


def published_imdb() -> Preset:
    """What scored the text classifiers: thresholds 0.50, 0.51 ... 0.99, weights on a line from 1 to
    10, reached at >.

    T = step, where a step there is one evaluation, 400 examples after the one before.
    """
    return Preset(
        "published-imdb", _HUNDREDTHS[50:], tuple(1 + 9 * j / 49 for j in range(50)), strict=True
    )


def above_chance(constant: float, time: Times = step_itself) -> Preset:
    """WADE that does not pay for a lucky first guess, the default headline.

    With c the accuracy of the best constant answer on the test questions, thresholds are c + (1 -
    c) k/100 with weights k/100, k = 1..100; a threshold is reached at the first evaluation that is
    at or above it together with the evaluation after it (the last evaluation needs only itself).

    Why: T = 1 is worth ten times T = 10, so under the published forms most of a score can come from
    the accuracy of the first evaluation, before anything can have been learned; measured
    from 0, one answer given to every question already scores. And because a score rests on the
    running maximum, each noisy test is one more chance to be lucky. Here a learner that never beats
    the best constant answer scores exactly 0, and one that is perfect from the first step scores 1.
    c is taken from the test questions themselves, since that is the most a constant answer can get
    there. Undefined for c = 1: nothing is left to learn.
    """
    if not 0 <= constant < 1:
        raise UsageError(
            f"the best constant answer's accuracy must be at least 0 and below 1, got {constant}"
        )
    shares = tuple(k / 100 for k in range(1, 101))
    # Accuracies are often exactly on this grid, and c + (1 - c) k/100 may come out one rounding
    # error too high. Lowered by 1e-12, it decides as exact fractions would for any test of fewer
    # than a thousand million questions.
    grid = tuple(constant + (1 - constant) * share - _ROUNDING for share in shares)
    return Preset("above-chance", grid, shares, strict=False, time=time, confirm=True)


def wade_above_chance(
    steps: ArrayLike, accuracy: ArrayLike, constant: float, time: Times = step_itself
) -> float:
    """WADE of a curve under `above_chance`; nan where it is undefined (the best constant answer is
    always right).
    """
    return math.nan if constant == 1 else above_chance(constant, time).score(steps, accuracy)


def wade_preset(
    name: str,
    thresholds: int | None = None,
    tokens_per_sequence: float | None = None,
    constant: float | None = None,
) -> Preset:
    """A preset by its name.

    thresholds: how many, for `paper` only (10 unless given). tokens_per_sequence: for
    `published-reservoirs` only, which needs it. constant: the accuracy of the best constant answer,
    for `above-chance` only, which needs it.
    """
    if name not in PRESETS:
        raise UsageError(f'no WADE preset "{name}"; {nearest(name, PRESETS)}')
    if thresholds is not None and name != "paper":
        raise UsageError(
            f"{name} has its own thresholds, got {thresholds}; leave them out, or choose the preset"
            " paper"
        )
    m = _needed_by(
        "published-reservoirs",
        name,
        "tokens per sequence",
        tokens_per_sequence,
        "the mean number of supervised tokens in a sequence of the task",
    )
    c = _needed_by(
        "above-chance",
        name,
        "the best constant answer",
        constant,
        "its accuracy on the test questions",
    )
    if name == "paper":
        return paper(10 if thresholds is None else thresholds)
    if name == "published-nets":
        return published_nets()
    if name == "published-imdb":
        return published_imdb()
    return published_reservoirs(m) if name == "published-reservoirs" else above_chance(c)


def _needed_by(owner: str, name: str, what: str, value: float | None, meaning: str) -> float:
    """The value of an option that one preset needs and no other may have; nan for the others."""
    if name == owner:
        if value is None:
            raise UsageError(f"{owner} needs {what}, none given; give {meaning}")
        return value
    if value is not None:
        raise UsageError(
            f"{name} does not use {what}, got {value}; leave it out, or choose the preset {owner}"
        )
    return math.nan
