"""What is reached without any learning, of tasks alone: the base cases of the review's Table 9, and how they come
about.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quickstudy.base.catalogue import quantity
from quickstudy.base.errors import NotApplicable
from quickstudy.base.seeds import Streams
from quickstudy.measures.errors import nmse

STREAMS, STEPS = 100, 1000
"""Drives of a driven system, and values of each."""


@quantity(
    "persistence-error",
    version=1,
    unit="NRMSE",
    equation="sqrt(mean (x(t) - x(t-1))^2 / var x) over a whole measured series; of a driven system the mean over 100 "
    "drives of 1,000 values behind its transient",
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
    equation="the same of a driven system, with the zeros at which it starts among the 1,000 values",
)
def persistence_error_from_zero(task: Any) -> float:
    """The error of answering with the value before, as it is published of NARMA-10."""
    return _of_drives(task, 0)


def _of_drives(task: Any, transient: int) -> float:
    if not hasattr(task, "lead"):
        raise NotApplicable(f"{task.id} is not a driven system")
    rng = Streams(0, task.id, 0).numpy("base-case")
    found: list[float] = []
    while len(found) < STREAMS:
        x = task.values(rng.uniform(0.0, task.high, transient + STEPS))[transient : transient + STEPS, None]
        if not np.isnan(x).any():
            found.append(float(np.sqrt(nmse(x[:-1], x[1:]))))
    return float(np.mean(found))
