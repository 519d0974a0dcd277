"""The measures of a continual run in the curriculum: what was passed, after how many steps, and
where it became faster.

They read traces of kind `curriculum-life` (see `quickstudy.protocols.curriculum`): arrays `end`,
`task`, `success`, `passed` and `questions`, one entry per instance, and `outcome`, one per
question; facts `tasks`, `oracle`, `steps` and `reward`. All are the same under every convention.

In the equations rho(k) is the number of steps spent on the instances of task k until it was passed,
infinite where it was not within the budget, and o(k) that of the perfect learner on the same
instances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace

KIND = "curriculum-life"
NEVER = {"inf": "never"}
LAST = 5
"""Instances at the end of a task that count as learned: those that pass it."""


@dataclass(frozen=True, eq=False)
class Way:
    """A way through the tasks. steps: (task,) rho; oracle: (task,) o, nan where it is not known."""

    steps: NDArray[np.float64]
    oracle: NDArray[np.float64]

    @classmethod
    def of(cls, trace: Trace) -> Way:
        """Of a continual run."""
        tasks, arrays = len(trace.facts["tasks"]), trace.arrays
        spent = np.diff(arrays["end"], prepend=0)
        steps = np.full(tasks, np.inf)
        for task in range(tasks):
            own = np.flatnonzero(arrays["task"] == task)
            passed = np.flatnonzero(arrays["passed"][own])
            if len(passed):
                steps[task] = spent[own[: passed[0] + 1]].sum()
        return cls(steps, np.asarray(trace.facts.get("oracle") or [np.nan] * tasks, np.float64))

    @property
    def passed(self) -> NDArray[np.bool_]:
        """(task,)."""
        return np.isfinite(self.steps)


@measure(
    "tasks-passed",
    version=1,
    kinds=(KIND,),
    equation="share of the tasks with rho(k) finite; mean reward of a step",
    chance="that of the controls: a learner without output passes none",
    scores=(
        Score("tasks-passed", unit="share of the tasks", better="higher", range=(0, 1)),
        Score("reward-rate", unit="reward per step", better="higher", range=(-1, 1)),
    ),
)
def tasks_passed(trace: Trace) -> dict[str, float]:
    """The headline of the family, and what there is to go by where nothing is passed."""
    rate = trace.facts["reward"] / max(1, trace.facts["steps"])
    return {"tasks-passed": float(Way.of(trace).passed.mean()), "reward-rate": float(rate)}


@measure(
    "steps-to-pass",
    version=1,
    kinds=(KIND,),
    equation=(
        "sum of rho(k) over all tasks; sum of rho(k) over sum of o(k), of the tasks that were"
        " passed; rho(k)"
    ),
    chance="infinite; 1 is the perfect learner",
    scores=(
        Score(
            "steps-to-pass",
            unit="steps",
            better="lower",
            range=(0, np.inf),
            shown="median",
            least=1,
            words=NEVER,
        ),
        Score(
            "ratio-to-oracle",
            unit="of the perfect learner's steps",
            better="lower",
            range=(0, np.inf),
        ),
        Score(
            "steps-on-*",
            unit="steps",
            better="lower",
            range=(0, np.inf),
            shown="median",
            least=1,
            words=NEVER,
        ),
    ),
)
def steps_to_pass(trace: Trace) -> dict[str, float]:
    """Definition 3: the steps of the whole curriculum, and of every task that was begun."""
    way = Way.of(trace)
    begun = set(np.unique(trace.arrays["task"]).tolist())
    scores = {
        f"steps-on-{name}": float(way.steps[k])
        for k, name in enumerate(trace.facts["tasks"])
        if k in begun
    }
    scores["steps-to-pass"] = float(way.steps.sum())
    known = way.passed & np.isfinite(way.oracle)
    if known.any():
        scores["ratio-to-oracle"] = float(way.steps[known].sum() / way.oracle[known].sum())
    return scores


@measure(
    "levels",
    version=1,
    kinds=(KIND,),
    equation=(
        "within instances: median number of questions of one, infinite where it was not solved."
        " Over instances: geometric mean over passed tasks of (questions of the first instance) /"
        " (mean of the last five)"
    ),
    chance="infinite; 1",
    scores=(
        Score(
            "questions-to-solve",
            unit="questions, 10 at least",
            better="lower",
            range=(10, np.inf),
            shown="median",
            least=1,
            words=NEVER,
        ),
        Score(
            "speed-up",
            unit="first instance's questions over the last five's",
            better="higher",
            range=(0, np.inf),
        ),
    ),
)
def levels(trace: Trace) -> dict[str, float]:
    """Figure 1 of the paper, levels A and B; level C, between tasks, is measured by transfer."""
    arrays = trace.arrays
    if not len(arrays["end"]):
        return {"questions-to-solve": np.inf}
    micro = np.isin(
        arrays["task"],
        [k for k, name in enumerate(trace.facts["tasks"]) if not name.startswith("mini-")],
    )
    solved = np.where(arrays["success"], arrays["questions"].astype(np.float64), np.inf)[micro]
    found = {"questions-to-solve": float(np.median(solved))} if len(solved) else {}
    ratios = []
    for task in np.flatnonzero(Way.of(trace).passed):
        questions = arrays["questions"][(arrays["task"] == task) & micro]
        if len(questions):
            ratios.append(questions[0] / questions[-LAST:].mean())
    if ratios:
        found["speed-up"] = float(np.exp(np.log(ratios).mean()))
    return found
