"""Whether a learner that runs on its own answers has the climate of the system that it was
shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace

Floats = NDArray[np.float64]

BINS = 50
"""Of a histogram, over the range of the true series; what is outside counts as a bin of its own on
either side.
"""
SEGMENT = 512
"""Steps of the pieces whose spectra are averaged."""


@measure(
    "climate",
    version=1,
    kinds=("predictions",),
    equation=(
        "|l - l*| of the largest Lyapunov exponent; half the sum of the differences of two"
        " histograms, mean over dimensions; half the sum of the differences of two normalised power"
        " spectra, mean over dimensions"
    ),
    chance=(
        "exponents of a fixed point are below 0; histograms and spectra of unlike series are up to"
        " 1 apart"
    ),
    scores=(
        Score(
            "exponent-error",
            "error of the exponent",
            "per unit of time",
            "lower",
            (0, math.inf),
            read="log",
        ),
        Score(
            "exponent-*", "Lyapunov exponent", "per unit of time", "higher", (-math.inf, math.inf)
        ),
        Score(
            "true-exponent-*", "true exponent", "per unit of time", "higher", (-math.inf, math.inf)
        ),
        Score(
            "histogram-distance", "distance of histograms", "share of the steps", "lower", (0, 1)
        ),
        Score("spectrum-distance", "distance of spectra", "share of the power", "lower", (0, 1)),
    ),
)
def climate(trace: Trace) -> Mapping[str, float]:
    """Of a long run on a learner's own answers, compared with an equally long true series from
    another start.
    """
    if "climate_exponents" not in trace.arrays:
        return {}
    rates, truth = trace.arrays["climate_exponents"], trace.facts["exponents"]
    given, wanted = trace.arrays["climate_answer"], trace.arrays["climate_target"]
    named = {f"exponent-{place + 1}": float(rate) for place, rate in enumerate(rates)}
    known = {f"true-exponent-{place + 1}": float(rate) for place, rate in enumerate(truth)}
    columns = range(wanted.shape[1])
    return {
        "exponent-error": abs(float(rates[0]) - float(truth[0])),
        **named,
        **known,
        "histogram-distance": float(
            np.mean([histogram_distance(given[:, c], wanted[:, c]) for c in columns])
        ),
        "spectrum-distance": float(
            np.mean([spectrum_distance(given[:, c], wanted[:, c]) for c in columns])
        ),
    }


def histogram_distance(given: Floats, wanted: Floats) -> float:
    """Half the sum of the differences of two histograms, 0 to 1.

    >>> histogram_distance(np.array([0.0, 0.0, 5.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    0.25
    """
    low, high = float(wanted.min()), float(wanted.max())
    edges = np.concatenate([[-np.inf], np.linspace(low, high, BINS + 1), [np.inf]])
    edges[-2] = np.nextafter(high, np.inf)
    shares = [np.histogram(values, edges)[0] / len(values) for values in (given, wanted)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def spectrum_distance(given: Floats, wanted: Floats) -> float:
    """Half the sum of the differences of two power spectra that are 1 in sum each, 0 to 1; 1 where
    one has no power.
    """
    shares = []
    for values in (given, wanted):
        size = min(SEGMENT, len(values))
        pieces = values[: len(values) // size * size].reshape(-1, size)
        pieces = (pieces - values.mean()) * np.hanning(size)
        power = np.square(np.abs(np.fft.rfft(pieces, axis=1))).mean(axis=0)
        if not power.sum() > 0:
            return 1.0
        shares.append(power / power.sum())
    return float(np.abs(shares[0] - shares[1]).sum() / 2)
