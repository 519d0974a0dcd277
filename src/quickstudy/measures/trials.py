"""How well control was learned by trial, and what a learner in its teacher's place has kept up."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace


@measure(
    "trials",
    version=1,
    kinds=("trials",),
    equation=(
        "share of the exam's starts that the best held to the end, in the last test; trials before"
        " the first test that solved it"
    ),
    chance="0",
    scores=(
        Score("held", unit="share of the starts", better="higher", range=(0, 1)),
        Score("held-starts", "starts held", "starts", "higher", (0, math.inf), least=1),
        Score(
            "trials-to-success",
            "trials to success",
            "trials",
            "lower",
            (0, math.inf),
            shown="median",
            least=1,
            words={"inf": "never"},
        ),
        Score(
            "endured", unit="steps of the long run", better="higher", range=(0, math.inf), least=1
        ),
        Score("best-fitness", "best fitness", "of a trial", "higher", (-math.inf, math.inf)),
    ),
)
def trials(trace: Trace) -> Mapping[str, float]:
    """Of the last test, which is the one that solved it where one did."""
    held, solved = trace.arrays["held"][-1], trace.facts.get("solved")
    found = {
        "held": float(held.mean()),
        "held-starts": float(held.sum()),
        "best-fitness": float(trace.arrays["fitness"].max()),
    }
    if trace.arrays["endured"].any() or trace.facts.get("endurance"):
        found["endured"] = float(trace.arrays["endured"][-1])
        found["trials-to-success"] = math.inf if solved is None else float(solved)
    return found


@measure(
    "balance",
    version=1,
    kinds=("predictions",),
    equation=(
        "share of starts from which it is up to the end; mean over starts of the steps until it"
        " is not"
    ),
    chance="0",
    scores=(
        Score("held", unit="share of the starts", better="higher", range=(0, 1)),
        Score("held-starts", "starts held", "starts", "higher", (0, math.inf), least=1),
        Score(
            "balanced-steps",
            "steps balanced",
            "steps, mean over starts",
            "higher",
            (0, math.inf),
            least=1,
        ),
    ),
)
def balance(trace: Trace) -> Mapping[str, float]:
    """Of learners in the place of a teacher who keeps something up; 1 while it is, 0 from then
    on.
    """
    if "balance_answer" not in trace.arrays:
        return {}
    up = trace.arrays["balance_answer"][:, :, 0] > 0.5
    held = up.all(axis=1)
    steps = np.where(held, up.shape[1], up.argmin(axis=1))
    return {
        "held": float(held.mean()),
        "held-starts": float(held.sum()),
        "balanced-steps": float(steps.mean()),
    }


@measure(
    "reaching",
    version=1,
    kinds=("predictions",),
    equation=(
        "mean and last distance of the hand from where it should be; share of targets whose last"
        " distance is at most 5 % of the way; correlation of the hand's speed with the perfect one,"
        " mean over targets"
    ),
    chance="the whole way, and 0",
    scores=(
        Score("reached", unit="share of the targets", better="higher", range=(0, 1)),
        Score(
            "hand-distance",
            "distance of the hand",
            "metres, mean of the way",
            "lower",
            (0, math.inf),
            read="log",
        ),
        Score("last-distance", "distance at the end", "metres", "lower", (0, math.inf), read="log"),
        Score("speed-correlation", "likeness of speed", "correlation", "higher", (-1, 1)),
    ),
)
def reaching(trace: Trace) -> Mapping[str, float]:
    """Of a hand that was moved towards some points by a learner's torques."""
    if "situ_answer" not in trace.arrays or "reach" not in trace.facts:
        return {}
    hand, wanted = trace.arrays["situ_answer"], trace.arrays["situ_target"]
    apart = np.linalg.norm(hand - wanted, axis=2)
    speeds = [np.linalg.norm(np.diff(path, axis=1), axis=2) for path in (hand, wanted)]
    alike = [
        np.corrcoef(given, right)[0, 1] if given.std() > 0 else 0.0
        for given, right in zip(*speeds, strict=True)
    ]
    return {
        "reached": float((apart[:, -1] <= 0.05 * trace.facts["reach"]).mean()),
        "hand-distance": float(apart.mean()),
        "last-distance": float(apart[:, -1].mean()),
        "speed-correlation": float(np.mean(alike)),
    }
