"""Channel equalisation: what was sent, from what a channel with echoes, distortion and noise has
made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.tasks.dynamics.series import RULES, Floats, Parts, taxonomy

SYMBOLS = (-3.0, -1.0, 1.0, 3.0)
RULES = {"controls": [*RULES["controls"], "slicer"], "oracle": "the noise hides what was sent"}


@task("dynamics/channel-32", version=1, **RULES)
@dataclass(frozen=True)
class Channel(Parts):
    """Recover the symbols sent through a channel, at 32 dB (Jaeger and Haas 2004).

    Sees: u(n) = q(n) + 0.036 q(n)^2 - 0.011 q(n)^3 + noise, where q(n) = 0.08 d(n+2) - 0.12 d(n+1)
        + d(n) + 0.18 d(n-1) - 0.1 d(n-2) + third d(n-3) - 0.05 d(n-4) + 0.04 d(n-5) + 0.03 d(n-6) +
        0.01 d(n-7).
    Answers: d(n-lag), one of -3, -1, 1 and 3 with equal probability.
    Scored: NRMSE, and the share of wrong symbols (each answer rounded to the nearest symbol).
    Chance: NRMSE 1, and 3/4 of the symbols wrong.
    Ceiling: unknown. The baseline `slicer` answers u(n-lag) itself.
    Departures: `third` is 0.09 (Mathews and Lee; Rodan and Tino), and 0.091 in programs derived
        from Jaeger's supplement.
    Source: Wringe, Trefzer and Stepney 2024, section 4.2. The usual grid is 12, 16 ... 32 dB; error
        rates of 1e-5 need a million symbols.

    Parameters
    ----------
    snr:
        Signal-to-noise ratio in dB: variance of the noiseless u over that of the Gaussian noise;
        none: no noise.
    lag:
        Age of the symbol to recover, in steps.
    third:
        Coefficient of d(n-3).
    offset:
        Constant added to what is seen.
    """

    test: int = parameter(6000, at_least=2)
    training: int = parameter(3000, at_least=10)
    snr: float | None = parameter(32.0)
    lag: int = parameter(2, at_least=0)
    third: float = parameter(0.09, choices=(0.09, 0.091))
    offset: float = 0.0

    inputs: ClassVar[Reals] = Reals(1)
    outputs: ClassVar[Reals] = Reals(1)
    taps: ClassVar[int] = 11
    levels: ClassVar[tuple[float, ...]] = SYMBOLS
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("imitation", "unknown")

    def received(self, sent: Floats) -> Floats:
        """The noiseless u(n) of d(n-7) .. d(n+2), for every n that has them all."""
        echoes = (0.08, -0.12, 1.0, 0.18, -0.1, self.third, -0.05, 0.04, 0.03, 0.01)
        q = np.convolve(sent, echoes, mode="valid")
        return q + 0.036 * q**2 - 0.011 * q**3

    def drive(self, rng: np.random.Generator) -> Series:
        """Fresh symbols and noise."""
        before = max(7, self.lag)
        sent = rng.choice(SYMBOLS, before + self.steps + 2)  # d(-before) .. d(steps+1)
        u = self.received(sent[before - 7 :])
        deviation = 0.0 if self.snr is None else float(np.sqrt(u.var() / 10 ** (self.snr / 10)))
        inputs = u + deviation * rng.standard_normal(self.steps) + self.offset
        targets = sent[before - self.lag : before - self.lag + self.steps]
        facts = {
            "levels": list(SYMBOLS),
            "noise_deviation": deviation,
            "varies": ["inputs", "weights"],
        }
        return self.series(inputs[:, None], targets[:, None], **facts)


task.variant(
    "dynamics/channel-12", version=1, of=Channel, summary="The sent symbol, at 12 dB.", snr=12.0
)
task.variant(
    "dynamics/channel-16", version=1, of=Channel, summary="The sent symbol, at 16 dB.", snr=16.0
)
task.variant(
    "dynamics/channel-20", version=1, of=Channel, summary="The sent symbol, at 20 dB.", snr=20.0
)
task.variant(
    "dynamics/channel-24", version=1, of=Channel, summary="The sent symbol, at 24 dB.", snr=24.0
)
task.variant(
    "dynamics/channel-28", version=1, of=Channel, summary="The sent symbol, at 28 dB.", snr=28.0
)
task.variant(
    "dynamics/channel-rodan",
    version=1,
    of=Channel,
    summary="The sent symbol, without noise, the input raised by 30 (Rodan and Tino 2011).",
    snr=None,
    offset=30.0,
    training=2000,
    validation=3000,
    test=3000,
)
