"""Learning curves of several runs on common steps, and their mean, in units that all learners of a
task share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.trace import Trace
from quickstudy.measures.curve import threshold_times
from quickstudy.stats.intervals import mean_band

Floats = NDArray[np.float64]
MOST_POINTS = 96
LEARNING_CURVE = "learning-curve"
LEVELS = tuple(tenth / 10 for tenth in range(1, 11))
"""Accuracies whose T is read off one run."""
SHARE = (0.0, 1.0)
"""The range of an accuracy."""


@dataclass(frozen=True)
class Curve:
    """Curves of several runs on common steps: the mean, its 95 % interval and the standard
    deviation at every step.

    Equal low, mean and high, and a deviation of 0: one run only.
    """

    quantity: str
    unit: str
    runs: int
    steps: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    deviation: tuple[float, ...]


@dataclass(frozen=True)
class Example:
    """One run's learning curve, and the step at which it first reaches each level (infinity where
    it never does).
    """

    curve: Curve
    levels: tuple[float, ...]
    times: tuple[float, ...]


def mean_curve(
    curves: Sequence[tuple[ArrayLike, ArrayLike]],
    quantity: str,
    unit: str,
    range: tuple[float, float] = SHARE,
) -> Curve | None:
    """The mean of runs, each (steps, values), with its interval at every common step, cut at the
    ends of the range.

    None where no run has a point. `align` describes how the curves get common steps.
    """
    steps, values = align(curves)
    if not len(steps):
        return None
    mean = values.mean(axis=0)
    low = high = mean
    deviation = np.zeros(len(steps))
    if len(values) > 1:
        low, high = (np.clip(end, *range) for end in mean_band(values))
        deviation = values.std(axis=0, ddof=1)
    parts = (tuple(part.tolist()) for part in (steps, mean, low, high, deviation))
    return Curve(quantity, unit, len(values), *parts)


def learning_curve(traces: Sequence[Trace]) -> Curve | None:
    """The mean accuracy of runs against training sequences; None when no trace is a learning
    curve.
    """
    curves = [trace for trace in traces if is_curve(trace)]
    unit = _unit(curves[0]) if curves else ""
    return mean_curve(
        [(_sequences(trace), trace.arrays["accuracy"]) for trace in curves], "accuracy", unit
    )


def example_run(trace: Trace) -> Example | None:
    """One run, and T(α) for α = 0.1, 0.2 ... 1; None if it is not a learning curve or is
    damaged.
    """
    curve = learning_curve([trace])
    if curve is None:
        return None
    try:
        times = threshold_times(trace.arrays["step"], trace.arrays["accuracy"], LEVELS)
    except UsageError:
        return None
    return Example(curve, LEVELS, tuple(max(1.0, float(time) / _tokens(trace)) for time in times))


def is_curve(trace: Trace) -> bool:
    """Whether the trace has steps and accuracies."""
    return trace.kind == LEARNING_CURVE and {"step", "accuracy"} <= set(trace.arrays)


def _tokens(trace: Trace) -> float:
    """What the trace's steps are divided by to have sequences: 1, or the tokens in a sequence."""
    tokens = float(trace.facts.get("tokens_per_sequence") or 0)
    return tokens if trace.facts.get("unit") == "tokens" and tokens > 0 else 1.0


def _unit(trace: Trace) -> str:
    unit = str(trace.facts.get("unit", "steps"))
    return "sequences" if unit == "tokens" and _tokens(trace) != 1.0 else unit


def _sequences(trace: Trace) -> Floats:
    return np.asarray(trace.arrays["step"], dtype=np.float64) / _tokens(trace)


def align(curves: Sequence[tuple[ArrayLike, ArrayLike]]) -> tuple[Floats, Floats]:
    """Common steps (point,) and the value of every run there (run, point).

    Each curve is (steps, values) and is read as a step function: its value holds until its next
    step, the last one for ever. The common steps are those of all the runs together, from the first
    at which every run has a value; when there are more than 96, they are thinned evenly in the
    logarithm, first and last kept.

    >>> steps, values = align([([1, 4], [0.0, 1.0]), ([2, 3], [0.5, 0.6])])
    >>> steps.tolist(), values.tolist()
    ([2.0, 3.0, 4.0], [[0.0, 0.0, 1.0], [0.5, 0.6, 0.6]])
    """
    if len({np.shape(part) for curve in curves for part in curve}) == 1:
        steps, values = np.asarray(curves, dtype=np.float64).swapaxes(0, 1)
        alike = (
            steps.ndim == 2 and (steps == steps[0]).all() and (steps[0, 1:] > steps[0, :-1]).all()
        )
        if alike and np.isfinite(steps[0] + values).all():  # as in nearly all reports
            common = _thin(steps[0])
            return common, values[:, np.searchsorted(steps[0], common)]
    cleaned = [_clean(steps, values) for steps, values in curves]
    cleaned = [curve for curve in cleaned if len(curve[0])]
    if not cleaned:
        return np.zeros(0), np.zeros((0, 0))
    every = np.sort(np.concatenate([steps for steps, _ in cleaned]))
    common = every[
        np.append(True, every[1:] != every[:-1])
    ]  # np.unique, which first imports masked arrays
    common = _thin(common[common >= max(steps[0] for steps, _ in cleaned)])
    return common, np.stack(
        [values[np.searchsorted(steps, common, side="right") - 1] for steps, values in cleaned]
    )


def _clean(steps: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    """Finite points in the order of the steps; of two at one step the later counts."""
    step, value = (
        np.asarray(steps, dtype=np.float64).ravel(),
        np.asarray(values, dtype=np.float64).ravel(),
    )
    shortest = min(len(step), len(value))
    step, value = step[:shortest], value[:shortest]
    kept = np.isfinite(step) & np.isfinite(value)
    step, value = step[kept], value[kept]
    order = np.argsort(step, kind="stable")
    step, value = step[order], value[order]
    last = np.append(step[1:] != step[:-1], True) if len(step) else np.zeros(0, dtype=bool)
    return step[last], value[last]


def _thin(steps: Floats) -> Floats:
    if len(steps) <= MOST_POINTS:
        return steps
    # Steps at or before 0 have no logarithm: they are counted from the first step instead.
    position = np.log(steps - steps[0] + 1.0) if steps[0] <= 0 else np.log(steps)
    wanted = np.linspace(position[0], position[-1], MOST_POINTS)
    nearest = np.clip(np.searchsorted(position, wanted), 0, len(steps) - 1)
    nearest[0], nearest[-1] = 0, len(steps) - 1
    return steps[sorted({*nearest.tolist()})]
