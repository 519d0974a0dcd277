"""The learning curves of one learner's runs, in units that all learners of a task share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.trace import Trace
from quickstudy.measures.curve import threshold_times
from quickstudy.report.align import align
from quickstudy.report.intervals import band
from quickstudy.report.model import Curve, Example

KIND = "learning-curve"
LEVELS = tuple(tenth / 10 for tenth in range(1, 11))
"""Accuracies whose T is read off the example run."""
RANGE = (0.0, 1.0)
"""Of an accuracy."""


def mean_curve(traces: Sequence[Trace]) -> Curve | None:
    """The mean of the runs with its interval at every step; None when no trace is a learning curve."""
    curves = [trace for trace in traces if is_curve(trace)]
    steps, values = align([(_sequences(trace), trace.arrays["accuracy"]) for trace in curves])
    return band("accuracy", _unit(curves[0]), steps, values, RANGE) if len(steps) else None


def example_run(trace: Trace) -> Example | None:
    """One run as it was, and T(α) for α = 0.1, 0.2 ... 1; None when it is no learning curve or a damaged one."""
    if not is_curve(trace):
        return None
    steps, values = align([(_sequences(trace), trace.arrays["accuracy"])])
    if not len(steps):
        return None
    try:
        times = threshold_times(trace.arrays["step"], trace.arrays["accuracy"], LEVELS)
    except UsageError:
        return None
    exact = tuple(max(1.0, float(time) / _tokens(trace)) for time in times)
    return Example(band("accuracy", _unit(trace), steps, values, RANGE), LEVELS, exact)


def is_curve(trace: Trace) -> bool:
    """Whether the trace has steps and accuracies."""
    return trace.kind == KIND and {"step", "accuracy"} <= set(trace.arrays)


def _tokens(trace: Trace) -> float:
    """What the trace's steps are divided by to have sequences: 1, or the tokens in a sequence."""
    tokens = float(trace.facts.get("tokens_per_sequence") or 0)
    return tokens if trace.facts.get("unit") == "tokens" and tokens > 0 else 1.0


def _unit(trace: Trace) -> str:
    unit = str(trace.facts.get("unit", "steps"))
    return "sequences" if unit == "tokens" and _tokens(trace) != 1.0 else unit


def _sequences(trace: Trace) -> NDArray[np.float64]:
    return np.asarray(trace.arrays["step"], dtype=np.float64) / _tokens(trace)
