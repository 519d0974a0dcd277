"""The symmetric mean absolute percentage error of free runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace


@measure(
    "smape",
    version=1,
    kinds=("predictions",),
    equation="sMAPE = 200 mean(|y - t| / (|y| + |t|)) over all steps of the free runs; 0 / 0 is 0",
    chance="that of the mean of the targets",
    scores=(
        Score("smape", "sMAPE", "per cent of the size of answer and target", "lower", (0, 200)),
    ),
)
def smape(trace: Trace) -> Mapping[str, float]:
    """Of a learner that reads its own answers, from 0 to 200; nothing where none ran free."""
    if "free_answer" not in trace.arrays:
        return {}
    answer, target = trace.arrays["free_answer"], trace.arrays["free_target"]
    size = np.abs(answer) + np.abs(target)
    wrong = np.divide(np.abs(answer - target), size, out=np.zeros_like(size), where=size > 0)
    return {"smape": float(200.0 * wrong.mean())}
