"""How far answers are from what was asked for: errors of driven series, of symbols in them, of free
runs, of training lengths, of sequences that are to be classified; and what is reached without any
learning, the base cases of the review's Table 9.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.measure import Score
from quickstudy.base.registries import measure, quantity
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace
from quickstudy.measures.classes import roc

Floats = NDArray[np.float64]

MOST_DIMENSIONS = 8
"""Of an answer, up to which each has an error of its own."""
HORIZONS = (84, 120)
WINDOWS = ((1, 300), (301, 1000), (1001, 10_000))
"""Steps of a free run, both included, that have an error of their own."""
TOO_FAR = 0.4
"""The error, over the root mean square of the series, up to which a free run counts as valid."""
SATURATED = 1.05
"""A training length is enough if the error there is at most so many times that of the whole."""


def nmse(answer: Floats, target: Floats) -> float:
    """Squared errors over squared deviations of the target from its own mean, (time, width), pooled
    over the width.

    The variance is that of the population of the scored targets, so that their mean scores exactly
    1; nan where they are all the same.

    >>> nmse(np.array([[2.0], [2.0]]), np.array([[1.0], [3.0]]))
    1.0
    """
    spread = float(np.square(target - target.mean(axis=0)).sum())
    return float(np.square(answer - target).sum()) / spread if spread else math.nan


def aligned(trace: Trace) -> tuple[Floats, Floats]:
    """Answers and targets (time, width). Where sign and delay cannot be known, with those that fit
    best: of the delays that the trace allows, and both signs, the one with the fewest wrong signs,
    of equals the one with the least error.
    """
    answer, target = trace.arrays["answer"], trace.arrays["target"]
    delays = int(trace.facts.get("delays", 0))
    if not delays:
        return answer, target
    later = answer[delays - 1 :]
    found = []
    for delay in range(delays):
        sent = target[delays - 1 - delay : len(target) - delay]
        for sign in (1.0, -1.0):
            wrong = int((np.sign(sign * later) != np.sign(sent)).sum())
            found.append((wrong, float(np.square(sign * later - sent).sum()), delay, sign, sent))
    _, _, _, sign, sent = min(found, key=lambda one: one[:3])
    return sign * later, sent


def _error(name: str, title: str, unit: str) -> Score:
    return Score(name, title, unit, "lower", (0, math.inf), read="log")


_DEVIATIONS = "deviations of the target"


@measure(
    "errors",
    version=1,
    kinds=("predictions",),
    equation=(
        "MSE = mean (y - t)^2; NMSE = MSE / mean (t - mean t)^2; NRMSE = sqrt NMSE, pooled over"
        " dimensions"
    ),
    chance="NRMSE 1, by the mean of the targets",
    scores=(
        _error("nrmse", "NRMSE", _DEVIATIONS),
        _error("nmse", "NMSE", "variances of the target"),
        _error("rmse", "RMSE", "as the target"),
        _error("mse", "MSE", "squared target"),
        _error("dimension-nrmse-*", "NRMSE of dimension", _DEVIATIONS),
    ),
)
def errors(trace: Trace) -> Mapping[str, float]:
    """The errors over the test part, all dimensions together; each alone where there are a few.
    Targets that never change have no normalised error.
    """
    answer, target = aligned(trace)
    squared = float(np.square(answer - target).mean())
    found = {"nrmse": math.sqrt(nmse(answer, target)), "nmse": nmse(answer, target)}
    found |= {"rmse": math.sqrt(squared), "mse": squared}
    if 1 < target.shape[1] <= MOST_DIMENSIONS:
        parts = [(answer[:, [place]], target[:, [place]]) for place in range(target.shape[1])]
        found |= {
            f"dimension-nrmse-{place + 1}": math.sqrt(nmse(*part))
            for place, part in enumerate(parts)
        }
    return {name: value for name, value in found.items() if not math.isnan(value)}


@measure(
    "symbol-errors",
    version=1,
    kinds=("predictions",),
    equation=(
        "share of answers whose nearest symbol is not the target; the upper bound of its exact 95 %"
        " interval; of two symbols, the upper as the positive, shares of false positives and"
        " negatives, and the area under their curve"
    ),
    chance="1 less the share of the most frequent symbol; AUC 0.5",
    scores=(
        Score("symbol-error-rate", "SER", "share of the symbols", "lower", (0, 1), least=1e-5),
        Score(
            "symbol-error-bound",
            "SER at most",
            "share of the symbols, 95 %",
            "lower",
            (0, 1),
            read="log",
        ),
        Score("symbol-accuracy", "accuracy", "share of the symbols", "higher", (0, 1)),
        Score("false-positive-rate", "false positives", "share of the negatives", "lower", (0, 1)),
        Score("false-negative-rate", "false negatives", "share of the positives", "lower", (0, 1)),
        Score("symbol-auc", "AUC", "area under true over false positives", "higher", (0, 1)),
    ),
)
def symbol_errors(trace: Trace) -> Mapping[str, float]:
    """Of series whose answers are a few symbols. Of no error in n symbols the bound is about
    3/n.
    """
    if "levels" not in trace.facts:
        return {}
    from scipy.special import betaincinv

    levels = np.asarray(trace.facts["levels"])

    def nearest(values: Floats) -> NDArray[np.int64]:
        return np.asarray(np.abs(values[..., None] - levels).argmin(axis=-1))

    answer, target = aligned(trace)
    given, right = nearest(answer), nearest(target)
    wrong = given != right
    count, total = int(wrong.sum()), wrong.size
    bound = 1.0 if count == total else float(betaincinv(count + 1, total - count, 0.95))
    found = {
        "symbol-error-rate": count / total,
        "symbol-error-bound": bound,
        "symbol-accuracy": 1 - count / total,
    }
    positive = right == 1
    if len(levels) == 2 and 0 < positive.sum() < total:
        found["false-positive-rate"] = float(given[~positive].mean())
        found["false-negative-rate"] = float(1 - given[positive].mean())
        found["symbol-auc"] = float(np.trapezoid(*roc(answer.ravel(), positive.ravel())[::-1]))
    return found


@measure(
    "free-running",
    version=1,
    kinds=("predictions",),
    equation=(
        "NRMSE_h = sqrt(mean over starts (y(h) - t(h))^2 / var t); valid time: first t with |y - t|"
        " > 0.4 sqrt(mean |t|^2), mean over starts; of a closed curve the same of the distance to"
        " its nearest point"
    ),
    chance="NRMSE 1, by the mean of the targets",
    scores=(
        _error("free-nrmse", "NRMSE free", _DEVIATIONS),
        _error("nrmse-84", "NRMSE 84", _DEVIATIONS),
        _error("nrmse-120", "NRMSE 120", _DEVIATIONS),
        Score("valid-time", "valid time", "Lyapunov times", "higher", (0, math.inf)),
        Score(
            "valid-duration", "valid duration", "time units of the system", "higher", (0, math.inf)
        ),
        Score(
            "still-valid",
            "still valid",
            "share of starts that are valid to the end",
            "higher",
            (0, 1),
        ),
        _error("window-nrmse-*", "NRMSE in steps", _DEVIATIONS),
        _error("curve-distance", "distance from the curve", "root mean square, as the target"),
        _error("loop-nrmse", "NRMSE of the first loop", _DEVIATIONS),
        Score(
            "steps-on-curve",
            "steps on the curve",
            "steps, mean over starts",
            "higher",
            (0, math.inf),
        ),
    ),
)
def free_running(trace: Trace) -> Mapping[str, float]:
    """Of what a learner made of its own answers. A run that is valid to its end counts with its
    full length.
    """
    if "free_answer" not in trace.arrays:
        return {}
    answer, target = trace.arrays["free_answer"], trace.arrays["free_target"]
    series = trace.arrays["target"]
    wrong, variance = (
        np.square(answer - target),
        float(np.square(series - series.mean(axis=0)).mean()),
    )
    found = {"free-nrmse": math.sqrt(wrong.mean() / variance)}
    steps = answer.shape[1]
    found |= {
        f"nrmse-{h}": math.sqrt(wrong[:, h - 1].mean() / variance) for h in HORIZONS if steps >= h
    }
    for first, last in WINDOWS if steps >= WINDOWS[0][1] else ():
        if steps > first:
            part = wrong[:, first - 1 : last].mean()
            found[f"window-nrmse-{first}-{min(last, steps)}"] = math.sqrt(part / variance)
    relative = np.sqrt(wrong.sum(axis=2) / np.square(series).sum(axis=1).mean())
    valid = np.where((relative > TOO_FAR).any(axis=1), (relative > TOO_FAR).argmax(axis=1), steps)
    found["valid-duration"] = float(valid.mean() * trace.facts.get("interval", 1.0))
    found["still-valid"] = float((valid == steps).mean())
    if trace.facts.get("lyapunov"):
        found["valid-time"] = found["valid-duration"] * trace.facts["lyapunov"]
    if trace.facts.get("closed_curve"):
        rows = answer.reshape(-1, 1, answer.shape[2])
        pieces = np.split(
            rows, range(500, len(rows), 500)
        )  # all pairs of 10,000 steps would be gigabytes
        apart = np.concatenate(
            [np.linalg.norm(piece - target[0], axis=2).min(axis=1) for piece in pieces]
        )
        found["curve-distance"] = float(np.sqrt(np.square(apart).mean()))
        left = apart.reshape(wrong.shape[:2]) > TOO_FAR * math.sqrt(
            np.square(series).sum(axis=1).mean()
        )
        found["steps-on-curve"] = float(
            np.where(left.any(axis=1), left.argmax(axis=1), steps).mean()
        )
        loop = trace.facts.get("loop")
        if loop and steps >= loop:
            found["loop-nrmse"] = math.sqrt(wrong[:, :loop].mean() / variance)
    return found


@measure(
    "in-situ",
    version=1,
    kinds=("predictions", "trials"),
    equation=(
        "NRMSE of the states that were reached against the reference, from a settling time on, over"
        " all starts; share of starts that stay within ten times the reference"
    ),
    chance="NRMSE 1, by standing still at the mean of the reference",
    scores=(
        _error("in-situ-nrmse", "NRMSE in situ", "deviations of the reference"),
        Score("bounded", unit="share of starts", better="higher", range=(0, 1)),
    ),
)
def in_situ(trace: Trace) -> Mapping[str, float]:
    """Of learners whose answers have moved a system, measured at the system and not at the
    answers.
    """
    if "situ_answer" not in trace.arrays:
        return {}
    reached, target = trace.arrays["situ_answer"], trace.arrays["situ_target"]
    settled = slice(int(trace.facts.get("settled", 0)), None)
    width = target.shape[2]
    error = math.sqrt(
        nmse(reached[:, settled].reshape(-1, width), target[:, settled].reshape(-1, width))
    )
    bounded = (np.abs(reached) <= 10 * np.abs(target).max()).all(axis=(1, 2))
    return {"in-situ-nrmse": error, "bounded": float(bounded.mean())}


@measure(
    "training-length",
    version=1,
    kinds=("predictions",),
    equation=(
        f"least training length whose NRMSE is at most {SATURATED} times that of the whole; NRMSE"
        " at each"
    ),
    chance="none",
    scores=(
        Score("saturation-length", "saturation length", "training steps", "lower", (0, math.inf)),
        _error("nrmse-after-*", "NRMSE after", _DEVIATIONS),
    ),
)
def training_length(trace: Trace) -> Mapping[str, float]:
    """Of runs that were tested after several training lengths."""
    if len(trace.arrays.get("lengths", ())) < 2:
        return {}
    lengths, target = trace.arrays["lengths"], trace.arrays["driven_target"]
    found = [math.sqrt(nmse(answer, target)) for answer in trace.arrays["answers"]]
    enough = next(
        length
        for length, error in zip(lengths, found, strict=True)
        if error <= SATURATED * found[-1]
    )
    named = {f"nrmse-after-{length}": error for length, error in zip(lengths, found, strict=True)}
    return {"saturation-length": float(enough), **named}


STREAMS, STEPS = 100, 1000
"""Drives of a driven system, and values of each."""


@quantity(
    "persistence-error",
    version=1,
    unit="NRMSE",
    equation=(
        "sqrt(mean (x(t) - x(t-1))^2 / var x) over a whole measured series; of a driven system the"
        " mean over 100 drives of 1,000 values after its transient"
    ),
)
def persistence_error(task: Any) -> float:
    """The error of answering with the value before."""
    if not hasattr(task, "whole"):
        return _of_drives(task, max(200, 10 * getattr(task, "order", 0)))
    whole = task.whole()
    return float(np.sqrt(nmse(whole[:-1], whole[1:])))


@quantity(
    "persistence-error-from-zero",
    version=1,
    unit="NRMSE",
    equation=(
        "the same of a driven system, with the zeros at which it starts among the 1,000 values"
    ),
)
def persistence_error_from_zero(task: Any) -> float:
    """The error of answering with the value before, as published for NARMA-10."""
    return _of_drives(task, 0)


def _of_drives(task: Any, transient: int) -> float:
    if not hasattr(task, "lead"):
        raise NotApplicable(f"{task.id} is not a driven system")
    rng = Streams(0, task.id, 0).numpy("base-case")
    found: list[float] = []
    while len(found) < STREAMS:
        x = task.values(rng.uniform(0.0, task.high, transient + STEPS))[
            transient : transient + STEPS, None
        ]
        if not np.isnan(x).any():
            found.append(float(np.sqrt(nmse(x[:-1], x[1:]))))
    return float(np.mean(found))
