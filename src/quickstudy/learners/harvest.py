"""Features of the asked positions: run a core over sequences, keep the rows that are needed, forget the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.gateway import eqx, jnp
from quickstudy.learners.lanes import over_lanes, rounded

TOGETHER = 64
"""Sequences that run through a core side by side: large enough to be fast, small enough to stay in the cache."""


@eqx.filter_jit
def rows_at(cores: Any, inputs: Any, positions: Any, lanes: int) -> Any:
    """(lane, row, feature) features at positions (lane, row, 2) of inputs (lane, time, example, ...)."""

    def single(core: Any, inputs: Any, positions: Any) -> Any:
        steps, batch = inputs.shape[:2]
        features = core.unroll(core.start(batch, steps), inputs)[1]
        return features[positions[:, 0], positions[:, 1]]

    return over_lanes(single, lanes)(cores, inputs, positions)


def harvest(cores: Any, examples: Sequence[Examples], positions: Sequence[NDArray[np.int64]]) -> Any:
    """(lane, row, feature) for every lane's positions (row, 2), which must be ordered by example.

    Lanes are padded with copies of row 0 to equal numbers of rows, rounded up so that seeds share programs.
    """
    lanes = len(examples)
    count = max(lane.count for lane in examples)
    steps = rounded(max(lane.steps for lane in examples), 4)
    chunks = range(0, count, TOGETHER)
    parts = [[lane[(lane[:, 1] >= c) & (lane[:, 1] < c + TOGETHER)] - [0, c] for c in chunks] for lane in positions]
    most = rounded(max(1, max(len(part) for lane in parts for part in lane)), 2)
    pieces = []
    for number, first in enumerate(chunks):
        inputs = np.stack([_chunk(lane, first, steps) for lane in examples])
        where = np.stack([np.pad(lane[number], [(0, most - len(lane[number])), (0, 0)]) for lane in parts])
        pieces.append(rows_at(cores, jnp.asarray(inputs), jnp.asarray(where), lanes))
    taken = [_taken([len(part) for part in lane], most) for lane in parts]
    rows = max(len(lane) for lane in taken)
    index = np.stack([np.pad(lane, (0, rows - len(lane))) for lane in taken])
    joined = jnp.concatenate(pieces, axis=1) if len(pieces) > 1 else pieces[0]
    if index.shape[1] == joined.shape[1]:
        return joined
    return jnp.take_along_axis(joined, jnp.asarray(index)[..., None], axis=1)


def _chunk(examples: Examples, first: int, steps: int) -> NDArray[Any]:
    """Some examples' inputs, padded in time and filled up to TOGETHER examples."""
    inputs = examples.inputs[:, first : first + TOGETHER]
    grow = [(0, steps - inputs.shape[0]), (0, TOGETHER - inputs.shape[1])] + [(0, 0)] * (inputs.ndim - 2)
    return np.pad(inputs, grow)


def _taken(lengths: list[int], most: int) -> NDArray[np.int64]:
    """Places of the real rows in the joined pieces."""
    return np.concatenate([np.arange(length) + number * most for number, length in enumerate(lengths)])
