"""Spans: the area under a psychometric function, back in natural units.

They read traces of kind `span`: array `difficulty` (the grid), fact `least` (d_0), and either
`correct` and `asked` with `chance` by bin, or `covariance` (point, bin, 3) of answers and targets.
The first axis of `correct` and of `covariance` is the checkpoint, with `step` examples shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace


def span(p: ArrayLike, difficulty: ArrayLike, least: float = 0.0) -> NDArray[np.float64]:
    """Span of psychometric functions p (..., bin) on the axis ln(1 + d) (Spearman-Karber).

    S = exp(ln(1 + d_0) + sum_j p_j [ln(1 + d_j) - ln(1 + d_{j-1})]) - 1. The sum is clipped to the
    axis, single p_j are not: chance is an expectation, and clipping noise would lift every floor.

    p: share of what can be gained in each bin: 0 at chance, 1 where all is right.
    difficulty: the grid d_1 < ... < d_m.
    least: d_0, the difficulty that costs nothing.

    >>> span([1, 1, 0, 0], [1, 2, 3, 4]), span([0, 0, 0, 0], [1, 2, 3, 4])
    (array(2.), array(0.))
    """
    ends = np.log1p(np.concatenate([[least], np.asarray(difficulty, np.float64)]))
    area = (np.asarray(p, np.float64) * np.diff(ends)).sum(axis=-1)
    return np.asarray(np.expm1(ends[0] + np.clip(area, 0.0, ends[-1] - ends[0])))


def linear_span(p: ArrayLike, difficulty: ArrayLike, least: float = 0.0) -> NDArray[np.float64]:
    """The same area on a linear axis. With p = r^2 at delays 1, 2, 3 ... it is memory capacity.

    >>> linear_span([0.9, 0.5, 0.1], [1, 2, 3])
    array(1.5)
    """
    ends = np.concatenate([[least], np.asarray(difficulty, np.float64)])
    return np.asarray(least + (np.asarray(p, np.float64) * np.diff(ends)).sum(axis=-1))


def psychometric(trace: Trace) -> NDArray[np.float64]:
    """(point, bin): p of every bin at every checkpoint; a bin in which nothing was asked is at
    chance.
    """
    arrays = trace.arrays
    if "covariance" in arrays:
        targets, both, answers = np.moveaxis(np.asarray(arrays["covariance"], np.float64), -1, 0)
        return np.asarray(np.maximum(both, 0.0) ** 2 / np.maximum(targets * answers, 1e-300))
    chance = np.asarray(arrays["chance"], np.float64)
    asked = np.asarray(arrays["asked"])
    accuracy = np.where(asked > 0, arrays["correct"] / np.maximum(asked, 1), chance)
    return np.asarray((accuracy - chance) / (1.0 - chance))


SPAN = Score("span", unit="of the item", better="higher", range=(0.0, math.inf), least=0.1)
SHARE = Score("share", "share of the axis", "", "higher", (0.0, 1.0))


@measure(
    "span",
    version=1,
    kinds=("span",),
    equation="S = exp(ln(1 + d_0) + sum_j p_j [ln(1 + d_j) - ln(1 + d_{j-1})]) - 1",
    chance="d_0: 0, or 1 where the axis begins at 2",
    scores=(
        SPAN,
        SHARE,
        Score("whole-span", "span of whole sequences", SPAN.unit, "higher", SPAN.range, least=0.1),
        Score(
            "span-within", "span within what was taught", SPAN.unit, "higher", SPAN.range, least=0.1
        ),
        Score(
            "mean-span", "mean span over log examples", SPAN.unit, "higher", SPAN.range, least=0.1
        ),
    ),
)
def span_scores(trace: Trace) -> Mapping[str, float]:
    """Span at the end, its share of the axis, of whole sequences, within the lesson's range, over
    data.

    share: ln(1 + S) / ln(1 + d_m). whole-span: p is the share of sequences without a mistake, with
    no correction for chance. span-within: only bins that were taught, where tests go further.
    mean-span: mean over the checkpoints. Those of sequences are equally spaced in log examples
    shown, those of a world are equal parts of the run.
    """
    difficulty, least = trace.arrays["difficulty"], float(trace.facts["least"])
    p = psychometric(trace)
    spans = span(p, difficulty, least)
    scores = {
        "span": float(spans[-1]),
        "share": float(np.log1p(spans[-1]) / np.log1p(difficulty[-1])),
        "mean-span": float(np.expm1(np.log1p(spans).mean())),
    }
    if "whole" in trace.arrays:
        whole = trace.arrays["whole"][-1] / trace.arrays["tests"]
        scores["whole-span"] = float(span(whole, difficulty, least))
    if taught := int(trace.facts.get("taught") or 0):
        within = np.asarray(difficulty) <= taught
        scores["span-within"] = float(span(p[-1, within], difficulty[within], least))
    return scores


@measure(
    "examples-to-span",
    version=1,
    kinds=("span",),
    equation="n(d) = min {n: S(n) >= d}, over the checkpoints n",
    chance="never",
    scores=(
        Score(
            "examples-to-*",
            "examples shown before a span of",
            "examples",
            "lower",
            (0.0, math.inf),
            "median",
            words={"inf": "never"},
        ),
    ),
)
def examples_to_span(trace: Trace) -> Mapping[str, float]:
    """Examples shown until the span first reaches 1, 2, 4, 8 ..., as far as the axis goes."""
    end, least = float(trace.arrays["difficulty"][-1]), float(trace.facts["least"])
    wanted = [2**k for k in range(int(math.log2(end)) + 1) if 2**k > least]
    return {f"examples-to-{size}": examples_to(trace, size) for size in wanted}


def examples_to(trace: Trace, wanted: float) -> float:
    """Examples shown until a span is first reached, at the checkpoints; infinite where it never
    is.
    """
    spans = span(psychometric(trace), trace.arrays["difficulty"], float(trace.facts["least"]))
    reached = np.flatnonzero(spans >= wanted - 1e-9)
    return float(trace.arrays["step"][reached[0]]) if len(reached) else math.inf


@measure(
    "prediction-horizon",
    version=1,
    kinds=("span",),
    equation="S * lambda, with the largest Lyapunov exponent lambda of the series per step",
    chance="0",
    scores=(
        Score(
            "horizon", "prediction horizon", "Lyapunov times", "higher", (0.0, math.inf), least=0.01
        ),
    ),
)
def prediction_horizon(trace: Trace) -> Mapping[str, float]:
    """The span of a prediction in Lyapunov times; nothing where the exponent is not known."""
    exponent = float(trace.facts.get("lyapunov") or 0.0)
    return {"horizon": span_scores(trace)["span"] * exponent} if exponent else {}


def axis_facts(task: Any) -> dict[str, Any]:
    """What a trace keeps of an item's axis."""
    return {"unit": task.unit, "least": task.least, "taught": getattr(task, "taught", 0)}
