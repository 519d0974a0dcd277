"""What can be read off a learning curve: test accuracy against training steps.

Every function takes the steps and the accuracies as two equally long sequences and refuses anything
but a curve (`Curve`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError

Times = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From step numbers (at least 1, increasing) to times T (at least 1, increasing)."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Accuracy by step: at least one evaluation, steps whole and increasing from 0 or later,
    accuracies within 0..1.

    Step 0 is an evaluation before any learning: it is allowed, and nothing that counts steps looks
    at it.
    """

    steps: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.steps.ndim != 1 or self.steps.shape != self.accuracy.shape:
            raise UsageError(
                "steps and accuracies must be two equally long sequences, "
                f"got shapes {self.steps.shape} and {self.accuracy.shape}"
            )
        if not len(self.steps):
            raise UsageError("a learning curve needs at least one evaluation, got none")
        found = fault(self.steps, self.accuracy)
        if found is not None:
            raise UsageError(f"evaluation {found[0]}: {found[1]}")

    @classmethod
    def of(cls, steps: ArrayLike, accuracy: ArrayLike) -> Curve:
        """A curve from anything that NumPy reads as numbers."""
        return cls(np.asarray(steps, dtype=np.float64), np.asarray(accuracy, dtype=np.float64))

    def learning(self) -> Curve | None:
        """The evaluations at step 1 or later; None when there are none."""
        first = int(np.searchsorted(self.steps, 1.0))
        return Curve(self.steps[first:], self.accuracy[first:]) if first < len(self.steps) else None


def fault(steps: NDArray[np.float64], accuracy: NDArray[np.float64]) -> tuple[int, str] | None:
    """The first evaluation that cannot be part of a curve, counted from 1, and what is wrong with
    it.
    """
    fits = (accuracy >= 0) & (accuracy <= 1)  # False for nan as well
    whole = np.isfinite(steps) & (steps >= 0) & (steps == np.floor(steps))
    rises = np.concatenate([[True], steps[1:] > steps[:-1]])
    wrong = np.flatnonzero(~(fits & whole & rises))
    if not len(wrong):
        return None
    index = int(wrong[0])
    if not fits[index]:
        return index + 1, f"accuracy must be between 0 and 1, got {_number(accuracy[index])}"
    if not whole[index]:
        return index + 1, f"step must be a whole number, 0 or more, got {_number(steps[index])}"
    return (
        index + 1,
        (
            f"step must be above the one before ({_number(steps[index - 1])}), got"
            f" {_number(steps[index])}"
        ),
    )


def step_itself(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """T = step."""
    return steps


def threshold_times(
    steps: ArrayLike,
    accuracy: ArrayLike,
    thresholds: ArrayLike,
    *,
    strict: bool = False,
    time: Times = step_itself,
) -> NDArray[np.float64]:
    """T(α) for every threshold α: the time of the first evaluation that reaches it, inf where none
    does.

    Reached means accuracy ≥ α, or > α when `strict`. Only evaluations at step 1 or later count.

    >>> threshold_times([1, 2, 3], [0.2, 0.2, 0.7], [0.1, 0.7, 0.8])
    array([ 1.,  3., inf])
    """
    levels = np.asarray(thresholds, dtype=np.float64)
    curve = Curve.of(steps, accuracy).learning()
    if curve is None:
        return np.full(levels.shape, np.inf)
    # The running maximum is sorted, so the first evaluation that reaches a level is found by
    # bisection.
    best = np.maximum.accumulate(curve.accuracy)
    first = np.searchsorted(best, levels, side="right" if strict else "left")
    return np.append(time(curve.steps), np.inf)[first]


def confirmed(accuracy: ArrayLike) -> NDArray[np.float64]:
    """What each evaluation and the one after it both reach; the last evaluation stands by itself.

    A threshold reached by this curve is reached twice in a row by the original one: a single lucky
    test does not count.

    >>> confirmed([0.9, 0.5, 0.6, 0.6])
    array([0.5, 0.5, 0.6, 0.6])
    """
    values = np.asarray(accuracy, dtype=np.float64)
    return np.append(np.minimum(values[:-1], values[1:]), values[-1:])


def final_accuracy(steps: ArrayLike, accuracy: ArrayLike) -> float:
    """Accuracy at the last evaluation."""
    return float(Curve.of(steps, accuracy).accuracy[-1])


def maximum_accuracy(steps: ArrayLike, accuracy: ArrayLike) -> float:
    """The highest accuracy at any evaluation. Noise of a small test raises it; `final_accuracy` has
    no such bias.
    """
    return float(Curve.of(steps, accuracy).accuracy.max())


def log_area(
    steps: ArrayLike, accuracy: ArrayLike, *, before: float, end: float, time: Times = step_itself
) -> float:
    """Mean accuracy over the logarithm of time, from time 1 to `end`, whenever the evaluations
    were.

    Up to the first evaluation at step 1 or later the accuracy is `before`, between two it runs
    straight in the logarithm, after the last it stays. An evaluation before time 1 counts as at 1,
    one after the end as at the end. The last accuracy where the end is time 1; nan without an
    evaluation. The base of the logarithm does not matter.

    >>> # 0.25 for one doubling, 0.75 on the way, 1 for the last
    >>> log_area([2, 4], [0.5, 1.0], before=0.25, end=8)
    0.6666666666666666
    """
    curve = Curve.of(steps, accuracy).learning()
    if curve is None:
        return float("nan")
    place, whole = np.log(np.clip(time(curve.steps), 1.0, end)), np.log(end)
    if whole <= 0:
        return float(curve.accuracy[-1])
    tested = np.trapezoid(curve.accuracy, place)
    return float((before * place[0] + tested + curve.accuracy[-1] * (whole - place[-1])) / whole)


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")
