"""Scores of the properties of a memory: capacities, ranks, stability."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace
from quickstudy.measures.memory import effective_rank, ranks, significance

MOST_NOISE, MOST_SPREAD = 30.0, 0.1
"""Distances of paths count where they are above so many times the rounding, and below this share of
the spread.
"""
MET = 1e-3
"""Of the spread of the states: paths that are nearer to each other than that have met."""


@measure(
    "memory-capacity",
    version=1,
    kinds=("properties",),
    equation=(
        "sum over delays k >= 1 of the squared correlation of u(t-k) with its fit, on steps not"
        " fitted to"
    ),
    chance="0: what no memory would reach is below the threshold",
    scores=(
        Score("capacity-over-size", unit="of the states", better="higher", range=(0, 1)),
        Score("memory-capacity", unit="steps of input", better="higher", range=(0, math.inf)),
        Score(
            "memory-capacity-raw",
            unit="steps of input, no threshold",
            better="higher",
            range=(0, math.inf),
        ),
        Score(
            "memory-capacity-in-sample", unit="steps of input", better="higher", range=(0, math.inf)
        ),
    ),
)
def memory_capacity(trace: Trace) -> dict[str, float]:
    """Memory from delay 1 on. A delay counts from 2 t / T on, t the upper 1e-4 quantile of
    chi-squared.
    """
    arrays, facts = trace.arrays, trace.facts
    tested, inside = arrays["memory"], arrays["memory_in_sample"]
    counted = float(tested[tested >= significance(1, facts["tested_steps"])].sum())
    return {
        "capacity-over-size": counted / facts["size"],
        "memory-capacity": counted,
        "memory-capacity-raw": float(tested.sum()),
        "memory-capacity-in-sample": float(inside[inside >= facts["threshold"]].sum()),
    }


@measure(
    "processing-capacity",
    version=1,
    kinds=("properties",),
    equation=(
        "sum over products of orthonormal polynomials of u(t-k) of z' X (X'X)^-1 X' z / z'z, where"
        " >= 2 t / T"
    ),
    chance="0: what no memory would reach is below the threshold",
    scores=(
        Score(
            "processing-capacity",
            unit="functions of the input",
            better="higher",
            range=(0, math.inf),
        ),
        Score("processing-over-size", unit="of the states", better="higher", range=(0, math.inf)),
        Score(
            "processing-degree-*",
            "degree",
            unit="functions of the input",
            better="higher",
            range=(0, math.inf),
        ),
        Score("cross-memory", unit="products of two delays", better="higher", range=(0, math.inf)),
        Score(
            "quadratic-memory", unit="squares at one delay", better="higher", range=(0, math.inf)
        ),
        Score(
            "processing-complete",
            unit="1: nothing more would count, 0: it was cut",
            better="higher",
            range=(0, 1),
        ),
    ),
)
def processing(trace: Trace) -> dict[str, float]:
    """Information processing capacity, in all and by degree; delay 0 included."""
    arrays, facts = trace.arrays, trace.facts
    counted = np.where(arrays["capacity"] >= facts["threshold"], arrays["capacity"], 0.0)
    degree, window = arrays["degree"], arrays["window"]
    total = float(counted.sum())
    by_degree = {
        f"processing-degree-{d}": float(counted[degree == d].sum()) for d in np.unique(degree)
    }
    return {
        "processing-capacity": total,
        "processing-over-size": total / facts["size"],
        **by_degree,
        "cross-memory": float(counted[(degree == 2) & (window == 2)].sum()),
        "quadratic-memory": float(counted[(degree == 2) & (window == 1)].sum()),
        "processing-complete": float(facts["complete"]),
    }


def _rank_scores() -> tuple[Score, ...]:
    named = {"kernel-rank": "higher", "generalisation-rank": "lower"}
    found = [
        Score(name, unit="states", better=better, range=(0, math.inf))
        for name, better in named.items()
    ]
    for name, better in {
        **named,
        "kernel-rank-stream": "higher",
        "generalisation-rank-stream": "lower",
    }.items():
        found.append(Score(f"{name}-at-*", unit="states", better=better, range=(0, math.inf)))
    return (*found, Score("effective-rank", unit="states", better="higher", range=(0, math.inf)))


@measure(
    "state-ranks",
    version=1,
    kinds=("properties",),
    equation=(
        "#{i: s_i > h s_1}, h in 0.1, 0.01, 0.001, 1e-6; charc: least r with s_1 + .. + s_r >= 0.99"
        " sum s; effective: exp(-sum p ln p), p = s / sum s"
    ),
    chance="1 for a state that is the input just read",
    scores=_rank_scores(),
)
def state_ranks(trace: Trace) -> dict[str, float]:
    """Kernel and generalisation rank under 0.01, of last states of streams; with -at- all
    thresholds, with -stream- those of all states of one stream. Effective rank: of the whole
    harvest. States are not centred.
    """
    found: dict[str, float] = {}
    for name in ("kernel", "generalisation", "kernel_stream", "generalisation_stream"):
        if f"{name}_values" not in trace.arrays:  # of a recording
            continue
        label = name.replace("_", "-rank-") if "_" in name else f"{name}-rank"
        by_threshold = ranks(trace.arrays[f"{name}_values"])
        if "_" not in name:
            found[label] = float(by_threshold["0.01"])
        found |= {
            f"{label}-at-{threshold}": float(rank) for threshold, rank in by_threshold.items()
        }
    return {**found, "effective-rank": effective_rank(trace.arrays["singular_values"])}


@measure(
    "stability",
    version=1,
    kinds=("properties",),
    equation=(
        "number of groups of paths, from different pasts, that one future does not bring together; "
        "slope of the mean ln |x'(t) - x(t)| under one input, while it is small and above rounding"
    ),
    chance="1; none where a nudge is forgotten at once",
    scores=(
        Score(
            "echo-index",
            unit="different responses to one input",
            better="lower",
            range=(1, math.inf),
        ),
        Score("lyapunov-exponent", unit="per step, under the same input", better="lower"),
    ),
)
def stability(trace: Trace) -> dict[str, float]:
    """Echo-state index (1: the past is forgotten) and largest conditional Lyapunov exponent.

    Where one future brings paths together, their distances show how fast, over more orders of
    magnitude than those from nudged copies; where it does not, the copies do. Neither is given for
    states with noise of their own, or of a recording.
    """
    if "noise" in trace.facts or "gaps" not in trace.arrays:
        return {}
    arrays, rounding, spread = trace.arrays, trace.facts["rounding"], trace.facts["spread"]
    found = {"echo-index": float(groups(arrays["gaps"], MET * spread))}
    apart = arrays["apart"]
    meeting = bool((apart[-1] < MET * apart[0]).all())
    exponent = growth(apart if meeting else arrays["distance"], rounding, spread)
    return found if exponent is None else {**found, "lyapunov-exponent": exponent}


def groups(gaps: Any, met: float) -> int:
    """How many groups of paths there are that no gap up to `met` joins.

    >>> groups(np.array([[0, 0.1, 5], [0.1, 0, 5], [5, 5, 0]]), 0.2)
    2
    """
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(np.asarray(gaps) <= met, directed=False)[0])


def growth(distance: Any, rounding: float, spread: float) -> float | None:
    """The slope of the mean logarithm of distances (step, path), over the later half of the steps
    at which they are small against the spread and above rounding, in a row; None where these are
    fewer than 4.

    >>> round(growth(np.exp(-0.2 * np.arange(100))[:, None], 1e-7, 1.0), 6)
    -0.2
    """
    small, seen = distance < MOST_SPREAD * spread, distance > max(MOST_NOISE * rounding, 0.0)
    fair = (small & seen).all(axis=1)
    start = int(fair.argmax())
    steps = len(fair) - start if fair[start:].all() else int(fair[start:].argmin())
    if steps < 4:
        return None
    late = np.arange(start + steps // 2, start + steps)
    return float(np.polyfit(late, np.log(distance[late]).mean(axis=1), 1)[0])
