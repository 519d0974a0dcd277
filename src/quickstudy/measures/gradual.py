"""Gradual learning as numbers: the gain by what was learned before, and what is lost by what was
learned since.

They read traces of kind `transfer` and `forgetting` (see `quickstudy.protocols.gradual`). rho is
the number of steps that a task took until it was passed. All are the same under every convention.
"""

from __future__ import annotations

import numpy as np

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace

INFINITE = {"inf": "not kept"}


def _gain(after: float, fresh: float, budget: float) -> float | None:
    """1 - after / fresh, where -1 means more than the budget; None where neither is known."""
    if after < 0 and fresh < 0:
        return None
    return 1.0 - (after if after >= 0 else budget) / (fresh if fresh >= 0 else budget)


@measure(
    "transfer",
    version=2,
    kinds=("transfer",),
    equation=(
        "1 - rho(after the tasks before) / rho(fresh), on the same instances; the same of the"
        " controls; the same of the questions of the first instance"
    ),
    chance=(
        "0; a gain from the warm-up is not transfer, and a gain on renamed tasks does not come"
        " from their symbols"
    ),
    scores=(
        Score(
            "transfer-gain",
            unit="share of the fresh learner's steps",
            better="higher",
            range=(-np.inf, 1),
        ),
        Score(
            "gain-of-warm-up",
            unit="share of the fresh learner's steps",
            better="lower",
            range=(-np.inf, 1),
        ),
        Score(
            "gain-of-renamed",
            unit="share of the fresh learner's steps",
            better="higher",
            range=(-np.inf, 1),
        ),
        Score(
            "first-instance-gain",
            unit="share of the fresh learner's questions",
            better="higher",
            range=(-np.inf, 1),
        ),
        Score("passed-after", unit="share of runs", better="higher", range=(0, 1)),
        Score("passed-fresh", unit="share of runs", better="higher", range=(0, 1)),
    ),
)
def transfer(trace: Trace) -> dict[str, float]:
    """Definition 4: gradual learning has occurred where the gain is above 0, and above that of the
    controls.
    """
    fresh, after, unrelated, renamed = map(float, trace.arrays["steps"])
    budget = float(trace.facts["budget"])
    first = trace.arrays["first"]
    # Older traces do not say it: a course that was passed ends before its budget does.
    renamed_passed = trace.facts.get("renamed_passed", trace.arrays["before"][3] < budget)
    found = {
        "transfer-gain": _gain(after, fresh, budget) if trace.facts["before_passed"] else None,
        "gain-of-warm-up": _gain(unrelated, fresh, budget),
        "gain-of-renamed": _gain(renamed, fresh, budget) if renamed_passed else None,
        "first-instance-gain": 1.0 - first[1] / first[0] if first[0] > 0 and first[1] > 0 else None,
        "passed-after": float(after >= 0),
        "passed-fresh": float(fresh >= 0),
    }
    return {name: float(value) for name, value in found.items() if value is not None}


@measure(
    "kept",
    version=1,
    kinds=("forgetting",),
    equation=(
        "c(i, j) = rho(task i after tasks 1..j) / rho(task i after tasks 1..i), i < j: the largest,"
        " and their geometric mean"
    ),
    chance=(
        "1 is nothing forgotten; a learner that restarts every time has 1 too, and learns nothing"
    ),
    scores=(
        Score(
            "forgetting-constant",
            unit="times as many steps, at most",
            better="lower",
            range=(0, np.inf),
            shown="median",
            least=0.05,
            words=INFINITE,
        ),
        Score(
            "forgetting-ratio",
            unit="times as many steps",
            better="lower",
            range=(0, np.inf),
            shown="median",
            least=0.05,
            words=INFINITE,
        ),
        Score("tasks-learned", unit="share of the tasks", better="higher", range=(0, 1)),
    ),
)
def kept(trace: Trace) -> dict[str, float]:
    """Definition 5: the smallest constant c that holds for all pairs of tasks."""
    ratios = ratio_matrix(trace)
    known = ratios[np.tril_indices(len(ratios), -1)]
    known = known[~np.isnan(known)]
    found = {"tasks-learned": float(np.mean(trace.arrays["learned"] >= 0))}
    if len(known):
        found |= {
            "forgetting-constant": float(known.max()),
            "forgetting-ratio": float(np.exp(np.mean(np.log(known)))),
        }
    return found


def ratio_matrix(trace: Trace) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """(j, i) c(i, j); infinite where the task was not passed again, nan where it is not known."""
    steps = trace.arrays["steps"].astype(np.float64)
    steps[steps == -1] = np.inf
    steps[steps == -2] = np.nan
    right_after = np.diag(steps).copy()
    right_after[np.isinf(right_after)] = np.nan
    return np.asarray(steps / right_after)
