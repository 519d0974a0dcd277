"""Bits through a channel: told what was sent, and blind, by what answers must look like alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Series
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import control, task
from quickstudy.base.spaces import Reals
from quickstudy.numba_gateway import njit
from quickstudy.tasks.controls import FixedRule
from quickstudy.tasks.dynamics.rules import Linear
from quickstudy.tasks.dynamics.series import RULES, Floats, Parts, taxonomy

BITS = (-1.0, 1.0)
DELAYS = 8
"""Blind, what was sent 0 .. 7 steps ago may be found."""


@task(
    "dynamics/binary-channel",
    version=1,
    controls=[*RULES["controls"], "slicer"],
    oracle="posterior",
)
@dataclass(frozen=True)
class BinaryChannel(Parts):
    """Recover the bits sent through a channel whose echo is louder than the signal.

    Sees: u(n) = s + cubic s^3 + noise, where s = echoes[0] d(n) + echoes[1] d(n-1) + ...
    Answers: d(n-lag), -1 or 1 with equal probability.
    Scored: NRMSE, and the share of wrong bits (each answer rounded to the nearer value).
    Chance: NRMSE 1, and half of the bits wrong.
    Ceiling: the posterior mean of what was sent, given all that was received and the channel.
    Source: after Boccato et al. 2011 and 2012, whose channels could not be confirmed: these are
        ours. Wringe, Trefzer and Stepney 2024, section 4.2.

    Parameters
    ----------
    echoes:
        Coefficients of the channel.
    cubic:
        Strength of the cubic distortion.
    snr:
        Signal-to-noise ratio in dB: variance of the noiseless u over that of the Gaussian noise.
    lag:
        Age of the bit to recover, in steps.
    """

    test: int = parameter(6000, at_least=20)
    training: int = parameter(3000, at_least=10)
    echoes: tuple[float, ...] = (0.5, 1.0)
    cubic: float = 0.0
    snr: float = 20.0
    lag: int = parameter(2, at_least=0, at_most=DELAYS - 1)

    inputs: ClassVar[Reals] = Reals(1)
    outputs: ClassVar[Reals] = Reals(1)
    taps: ClassVar[int] = 8
    offset: ClassVar[float] = 0.0
    levels: ClassVar[tuple[float, ...]] = BITS
    asked_lag: ClassVar[int | None] = None
    blind: ClassVar[Mapping[str, Any]] = {}
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("imitation", "unknown", output="binary")

    def __post_init__(self) -> None:
        if not 1 <= len(self.echoes) <= DELAYS or not any(self.echoes):
            raise ValueError(
                f"echoes must be 1 to {DELAYS} numbers, not all of them 0, got {self.echoes}"
            )

    def bent(self, heard: Floats) -> Floats:
        """The received sum of echoes, without the noise."""
        return heard + self.cubic * heard**3

    @property
    def noise(self) -> float:
        """Deviation of the noise: by the variance over all bits that can be heard at once."""
        heard = self.bent(
            np.array(list(product(BITS, repeat=len(self.echoes)))) @ np.array(self.echoes)
        )
        return float(np.sqrt(heard.var() / 10 ** (self.snr / 10)))

    def drive(self, rng: np.random.Generator) -> Series:
        """Fresh bits and noise."""
        before = DELAYS - 1
        sent = rng.choice(BITS, before + self.steps)
        heard = np.convolve(sent, self.echoes)[before : before + self.steps]
        received = self.bent(heard) + self.noise * rng.standard_normal(self.steps)
        lag = self.lag if self.asked_lag is None else self.asked_lag
        targets = sent[before - lag : before - lag + self.steps]
        facts = {
            "levels": list(BITS),
            "noise_deviation": self.noise,
            "varies": ["inputs", "weights"],
        }
        return self.series(received[:, None], targets[:, None], **facts, **self.blind)


task.variant(
    "dynamics/binary-channel-closed",
    version=1,
    of=BinaryChannel,
    summary="Say which bits were sent through a channel whose echoes together drown the voice.",
    echoes=(0.5, 1.0, 0.6),
)
task.variant(
    "dynamics/binary-channel-cubic",
    version=1,
    of=BinaryChannel,
    summary="Say which bits were sent through a channel that bends what it is given.",
    echoes=(1.0, 0.6),
    cubic=0.1,
)


@task("dynamics/blind-channel", version=1, controls=["slicer", "blind-linear"], oracle="posterior")
@dataclass(frozen=True)
class BlindChannel(BinaryChannel):
    """Recover the bits sent through a channel without ever seeing a correct answer.

    Sees: the same as in dynamics/binary-channel.
    Answers: a number whose square is 1.
    Scored: share of wrong bits and NRMSE, for the sign and the delay of 0 to 7 steps with the
        fewest wrong bits: neither can be known without an answer.
    Chance: NRMSE 1, and half of the bits wrong.
    Ceiling: the posterior mean of what was sent, given all that was received and the channel.
    Source: as dynamics/binary-channel; the criterion is that of Godard 1980.

    In training the learner gets the modulus 1 in place of every answer, and the criterion: the mean
    of (y^2 - 1)^2, where y is its answer less the mean of all answers, plus the square of that mean
    (since -1 and 1 are equally likely, a constant is not a solution).
    """

    asks: ClassVar[str] = "fitness"
    criterion: ClassVar[str] = "modulus"
    asked_lag: ClassVar[int | None] = 0
    blind: ClassVar[Mapping[str, Any]] = {"delays": DELAYS}
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "imitation", "unknown", output="binary", supervised=False
    )


task.variant(
    "dynamics/blind-channel-closed",
    version=1,
    of=BlindChannel,
    summary=(
        "Say which bits were sent through a channel whose echoes together drown the voice, told"
        " nothing but that."
    ),
    echoes=(0.5, 1.0, 0.6),
)
task.variant(
    "dynamics/blind-channel-cubic",
    version=1,
    of=BlindChannel,
    summary=(
        "Say which bits were sent through a channel that bends what it is given, told nothing but"
        " that."
    ),
    echoes=(1.0, 0.6),
    cubic=0.1,
)


@control("posterior", version=1, role="oracle")
class Posterior(FixedRule):
    """The posterior mean of what was sent, given all that was received so far, the channel and its
    noise. For the blind tasks, at the longest delay that counts.
    """

    reads = gives = (Reals,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._task = task
        self._lag = DELAYS - 1 if task.blind else task.lag

    def predict(self, inputs: Floats) -> Floats:
        """One answer per row."""
        expected, sent = _expected(self._task)
        return _filtered(
            np.ascontiguousarray(inputs[:, 0]),
            expected,
            sent[:, self._lag].copy(),
            self._task.noise,
        )


@lru_cache
def _expected(task: BinaryChannel) -> tuple[Floats, Floats]:
    """(state,) what is received and (state, DELAYS) what was sent, the latest first, in each of 256
    states: bit k of its number is what was sent k steps ago.
    """
    sent = np.asarray(
        2.0 * ((np.arange(2**DELAYS)[:, None] >> np.arange(DELAYS)) & 1) - 1.0, dtype=np.float64
    )
    return task.bent(sent[:, : len(task.echoes)] @ np.array(task.echoes)), sent


@njit
def _filtered(received: Floats, expected: Floats, asked: Floats, noise: float) -> Floats:
    states = len(expected)
    chance, answers = np.full(states, 1.0 / states), np.empty((len(received), 1))
    following = np.empty(states)
    for step in range(len(received)):
        least = np.inf
        for state in range(states):  # one more bit came in, the oldest went
            older = state >> 1
            following[state] = chance[older] + chance[older + states // 2]
            least = min(least, (received[step] - expected[state]) ** 2)
        total = 0.0
        for state in range(states):
            away = (received[step] - expected[state]) ** 2 - least
            following[state] *= np.exp(-away / (2.0 * noise * noise))
            total += following[state]
        mean = 0.0
        for state in range(states):
            chance[state] = following[state] / total
            mean += chance[state] * asked[state]
        answers[step, 0] = mean
    return answers


@control("blind-linear", version=1, role="control")
class BlindLinear(Linear):
    """A linear filter without a constant, with the least mean of (y^2 - 1)^2 found by descent from
    every single tap. The task gives the number of taps.
    """

    def learn(self, inputs: Floats, targets: Floats) -> None:
        """The inputs before every answer; of the answers only their modulus, if it is shown."""
        shown = ~np.isnan(targets).any(axis=1)
        self._rows.append(self._windows(inputs)[shown])
        self._answers.append(np.abs(targets[shown]))
        self._weights = None

    def _fitted(self) -> Floats:
        if self._weights is None:
            rows, modulus = np.concatenate(self._rows)[:, :-1], np.concatenate(self._answers)[:, 0]
            found = [_least_modulus(rows, modulus, place) for place in range(rows.shape[1])]
            self._weights = np.append(min(found, key=lambda one: one[0])[1], 0.0)[:, None]
        return np.asarray(self._weights)


def _least_modulus(rows: Floats, modulus: Floats, place: int) -> tuple[float, NDArray[np.float64]]:
    from scipy.optimize import minimize

    def criterion(taps: Floats) -> tuple[float, Floats]:
        given = rows @ taps
        off = given**2 - modulus**2
        return float(np.mean(off**2)), 4.0 * rows.T @ (off * given) / len(rows)

    start = np.zeros(rows.shape[1])
    start[place] = 1.0
    best = minimize(criterion, start, jac=True, method="L-BFGS-B")
    return float(best.fun), np.asarray(best.x)
