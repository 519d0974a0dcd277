"""All that is said of recorded states, in plain numbers: what `score capacity` and `score dynamics` print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.measures.memory import FACTOR, P_VALUE, Harvest, effective_rank, ranks
from quickstudy.measures.memory_terms import processing_capacity


def describe(
    harvest: Harvest,
    inputs: NDArray[np.float64],
    delays: Sequence[int] | None = None,
    train: int | None = None,
    basis: str = "legendre",
    p: float = P_VALUE,
    factor: float = FACTOR,
) -> dict[str, Any]:
    """Memory by delay from 0 on, processing capacity by degree, singular values and ranks.

    inputs: (time,) up to the last row of the harvest, washout included. delays: the largest per degree; None: memory up
    to twice as many delays as states, or as the washout allows, processing capacity as far as anything is found.
    """
    threshold = harvest.threshold(p, factor)
    longest = delays[0] if delays else min(2 * harvest.size, len(inputs) - harvest.steps)
    memory = range(longest + 1)
    found = processing_capacity(harvest, inputs, threshold, delays, basis)
    return {
        "steps": harvest.steps,
        "states": harvest.size,
        "constant": harvest.constant,
        "dimensions": harvest.rank,
        "basis": basis,
        "threshold": threshold,
        "memory_in_sample": harvest.memory(inputs, memory),
        "memory_split": harvest.memory_split(inputs, memory, harvest.steps // 2 if train is None else train),
        "ipc": {
            str(degree): {"terms": int((found.degree == degree).sum()), "total": found.total(degree)}
            for degree in np.unique(found.degree)
        },
        "ipc_total": found.total(),
        "ipc_complete": found.complete,
        "cross_memory": found.total(2, window=2),
        "quadratic_memory": found.total(2, window=1),
        "singular_values": harvest.singular_values,
        "effective_rank": effective_rank(harvest.singular_values),
        "rank": ranks(harvest.singular_values),
    }
